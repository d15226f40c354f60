"""Setting a key: the rest of the file stays, and nothing invalid is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config import ConfigError, load
from gateway.config.edit import path_of, set_values, value_of, with_value
from gateway.config.yaml_tree import Value, parse
from gateway.home import Home

WRITTEN = """\
# mine
timezone: Europe/Rome   # where I live
channels:
  # the page
  web: {port: 9000, host: 127.0.0.1}  # here

  telegram:
    allow:   # friends
      - 11111
      - 22222   # Bob

model:
owners: ["telegram:42"]
# the end
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def test_a_key_is_kept_under_the_name_of_its_provider(home: Home) -> None:
    home.config_file.write_text("model: {provider: openai, name: m}\n")
    set_values(home, {("model", "api_key"): "sk-oai-1"}, {})
    assert home.env_file.read_text() == "OPENAI_API_KEY=sk-oai-1\n"
    assert "sk-oai" not in home.config_file.read_text()


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("timezone", "Europe/Berlin", "timezone: Europe/Berlin   # where I live"),
        ("channels.web.port", 8080, "  web: {port: 8080, host: 127.0.0.1}  # here"),
        ("channels.web.enabled", False, "  web: {port: 9000, host: 127.0.0.1, enabled: false}  # here"),
        ("channels.telegram.allow", ["7"], "    allow: ['7']   # friends"),
        ("channels.telegram.reaction", "👀", "    reaction: 👀"),
        ("channels.discord.dm_policy", "off", "    dm_policy: 'off'"),
        ("model.name", "qwen", "  name: qwen"),
        ("log.level", "debug", "  level: debug"),
        ("owners", None, "owners: null"),
        ("schedule.daily_summary.time", "20:15", "    time: '20:15'"),
    ],
)
def test_one_key_changes_and_every_comment_stays(key: str, value: Value, line: str) -> None:
    after = with_value(WRITTEN, tuple(key.split(".")), value)
    assert line in after.splitlines()
    kept = ("# mine", "# where I live", "# the page", "# here", "# friends", "# the end")
    assert all(one in after for one in kept)
    found = parse(after, "").value
    for part in key.split("."):
        assert isinstance(found, dict)
        found = found[part]
    assert found == value


@pytest.mark.parametrize("text", ["", "# only a comment", "{}", "{timezone: UTC}", "timezone: UTC", "model: {}\n"])
def test_any_file_takes_a_key(text: str) -> None:
    after = with_value(text, ("model", "name"), "qwen")
    found = parse(after, "").value
    assert isinstance(found, dict) and found["model"] == {"name": "qwen"}


def test_windows_line_ends_and_a_missing_last_one_are_no_trouble() -> None:
    found = parse(with_value("a: 1\r\nb:\r\n  c: 2", ("b", "d"), "x"), "").value
    assert found == {"a": 1, "b": {"c": 2, "d": "x"}}


def test_what_an_alias_shares_is_not_changed_in_both_places() -> None:
    text = "agents:\n  a: &one {workspace: x}\n  b: *one\n"
    with pytest.raises(ConfigError, match="edit the file yourself"):
        with_value(text, ("agents", "b", "workspace"), "y")


def test_a_wrong_value_is_refused_before_anything_is_written(home: Home) -> None:
    home.config_file.write_text(WRITTEN)
    with pytest.raises(ConfigError, match="did you mean 'Europe/Berlin'"):
        set_values(home, {("timezone",): "CEST"}, {})
    with pytest.raises(ConfigError, match="allowed: debug, info"):
        set_values(home, {("log", "level"): "loud"}, {})
    assert home.config_file.read_text() == WRITTEN


def test_a_secret_goes_to_env_and_the_rest_of_that_stays(home: Home) -> None:
    home.env_file.write_text("# keys\nANTHROPIC_API_KEY=old\nOTHER=1")
    set_values(home, {("model", "api_key"): "sk-new", ("channels", "telegram", "token"): "1:a"}, {})
    assert home.env_file.read_text() == "# keys\nANTHROPIC_API_KEY=sk-new\nOTHER=1\nTELEGRAM_BOT_TOKEN=1:a\n"
    assert not home.config_file.exists()
    assert home.env_file.stat().st_mode & 0o777 == 0o600
    set_values(home, {("model", "api_key"): None}, {})
    assert "ANTHROPIC" not in home.env_file.read_text()


def test_a_secret_that_config_yaml_holds_is_changed_there(home: Home) -> None:
    home.config_file.write_text("model: {api_key: one}\n")
    set_values(home, {("model", "api_key"): "two"}, {})
    found = load(home, {}).config.model.api_key
    assert found is not None and found.get_secret_value() == "two"


@pytest.mark.parametrize("secret", ["'x", '"x"\\', "#x", "a#b"])
def test_any_secret_is_read_as_it_was_written(home: Home, secret: str) -> None:
    set_values(home, {("model", "api_key"): secret}, {})
    found = load(home, {}).config.model.api_key
    assert found is not None and found.get_secret_value() == secret


def test_an_unknown_key_names_the_one_that_was_meant() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'channels\.web\.port'"):
        path_of("channels.web.prt")
    assert path_of("model") == ("model",)
    assert path_of("people.ann") == ("people", "ann")


def test_what_is_typed_is_yaml_where_it_is_some() -> None:
    assert [value_of(one) for one in ("true", "8765", "21:00", "[a, b]", "null", "a: b: c", "{")] == [
        True,
        8765,
        "21:00",
        ["a", "b"],
        None,
        "a: b: c",
        "{",
    ]
