"""The configuration: defaults, and errors that a person can act on."""

from __future__ import annotations

from datetime import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.config import Config, ConfigError, LoadedConfig, load, schema, secrets_of, shown
from gateway.config.loader import parse
from gateway.config.schema import ModelConfig
from gateway.config.whole import whole
from gateway.home import Home

FILE = "config.yaml"


def failed(text: str, **variables: str) -> ConfigError:
    with pytest.raises(ConfigError) as raised:
        parse(text, variables)
    return raised.value


def problems(text: str, **variables: str) -> list[str]:
    return [str(problem) for problem in failed(text, **variables).problems]


def warnings(text: str, **variables: str) -> list[str]:
    return [str(warning) for warning in parse(text, variables).warnings]


def config(text: str = "", **variables: str) -> Config:
    return parse(text, variables).config


# defaults


def test_nothing_written_is_the_offline_assistant_with_specs_defaults() -> None:
    made = config()
    assert made.model.provider == "offline"
    assert not made.channels.telegram.enabled
    assert made.agents["main"].workspace == "workspace"
    assert (made.session.reserve_tokens, made.session.flush.soft_threshold_tokens) == (20000, 4000)
    assert (made.memory.max_index_lines, made.memory.max_index_bytes) == (200, 25000)
    assert made.schedule.daily_summary.time == time(21, 0)


def test_keys_are_taken_from_the_environment_without_a_line_of_configuration() -> None:
    made = config(ANTHROPIC_API_KEY="sk-1", TELEGRAM_BOT_TOKEN="1:a")
    assert made.model.provider == "anthropic"
    assert made.channels.telegram.enabled


def test_an_image_says_where_the_page_listens_unless_the_configuration_does() -> None:
    assert config().channels.web.host == "127.0.0.1"
    assert config("channels: {web: {port: 1}}", DAYBOOK_WEB_HOST="0.0.0.0").channels.web.host == "0.0.0.0"
    assert config("channels: {web: {host: '::1'}}", DAYBOOK_WEB_HOST="0.0.0.0").channels.web.host == "::1"
    (warning,) = [one for one in warnings("", DAYBOOK_WEB_HOST="0.0.0.0") if "0.0.0.0" in one]
    assert "other machines can open the web page" in warning


def test_an_explicit_null_takes_no_key_from_the_environment() -> None:
    assert config("model: {api_key: null}", ANTHROPIC_API_KEY="sk-1").model.provider == "offline"


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert config("model: {base_url: 'http://127.0.0.1:9'}").model.provider == "anthropic"


BOTH_KEYS = {"ANTHROPIC_API_KEY": "sk-ant-1", "OPENAI_API_KEY": "sk-oai-1"}


def keys_of(made: ModelConfig, *providers: str) -> list[str]:
    servers = [made.server(provider) for provider in providers]
    return [one.api_key.get_secret_value() if one.api_key else "" for one in servers]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("", ["sk-ant-1", "sk-ant-1", "sk-oai-1"]),
        ("model: {provider: openai, name: m}", ["sk-oai-1", "sk-ant-1", "sk-oai-1"]),
        ("model: {provider: '${WHICH:-openai}', name: m}", ["sk-oai-1", "sk-ant-1", "sk-oai-1"]),
        ("model: {provider: openai, name: m, api_key: own}", ["own", "sk-ant-1", "own"]),
        ("model: {servers: {openai: {api_key: own}}}", ["sk-ant-1", "sk-ant-1", "own"]),
    ],
)
def test_a_key_goes_to_its_own_provider_only(text: str, keys: list[str]) -> None:
    assert keys_of(config(text, **BOTH_KEYS).model, "", "anthropic", "openai") == keys


def test_an_agent_of_another_provider_inherits_neither_key_nor_address() -> None:
    text = (
        "model: {base_url: 'http://127.0.0.1:9', api_key: own}\n"
        "agents: {main: null, work: {model: {provider: openai, name: m}}, third: {model: {provider: anthropic}}}"
    )
    agents = config(text, OPENAI_API_KEY="sk-oai-1").agents
    assert (keys_of(agents["work"].model, ""), agents["work"].model.server().base_url) == (["sk-oai-1"], None)
    assert (keys_of(agents["third"].model, ""), agents["third"].model.base_url) == (["own"], "http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("model: {provider: openai, name: m}", "model.provider"),
        ("model: {provider: openai, base_url: 'http://127.0.0.1:9'}", "model.name"),
        ("model: {base_url: 'http://127.0.0.1:9', fallbacks: [a, 'openai:b', 'llama3:8b']}", "model.fallbacks[1]"),
    ],
)
def test_what_an_openai_model_lacks_is_a_warning(text: str, key: str) -> None:
    found = warnings(text)
    assert len(found) == 1 and f"{key}: " in found[0]


@pytest.mark.parametrize("empty", ["", "# nothing\n", "---\n", "null\n"])
def test_an_empty_file_is_all_defaults(empty: str) -> None:
    assert config(empty) == config()


def test_null_is_the_default_everywhere() -> None:
    assert config("session:\nmemory: {search: null}\nlog: {level: null}\nagents:\n") == config()


def test_an_agent_has_the_common_settings_with_its_own_over_them() -> None:
    made = config("model: {name: big, effort: high}\nagents:\n  main: {}\n  work:\n    model: {name: small}\n")
    assert made.agents["main"].model.name == "big"
    assert (made.agents["work"].model.name, made.agents["work"].model.effort) == ("small", "high")
    assert made.agents["work"].workspace == "workspace-work"


def test_without_a_main_agent_the_first_one_answers() -> None:
    assert config("agents: {work: {}, home: {}}").default_agent == "work"


# words that YAML 1.1 would take for something else


def test_off_is_a_word_and_a_time_is_a_time() -> None:
    made = config(
        "model: {cache: off}\nschedule: {daily_summary: {time: 21:30, enabled: no}, quiet_hours: 23:00-07:00}"
    )
    assert made.model.cache == "off"
    assert made.schedule.daily_summary.time == time(21, 30)
    assert not made.schedule.daily_summary.enabled
    assert made.schedule.quiet_hours == (time(23), time(7))


def test_ids_may_be_written_as_numbers() -> None:
    telegram = config("channels: {telegram: {allow: [11111], groups: {-100123: {allow: ['2']}}}}").channels.telegram
    assert telegram.allow == ("11111",)
    assert telegram.groups["-100123"].allow == ("2",)


def test_anchors_and_merges_are_read() -> None:
    made = config(
        "channels:\n  telegram:\n    groups:\n      1: &g {mention: optional}\n      2: {<<: *g, allow: [3]}\n"
    )
    assert made.channels.telegram.groups["2"].mention == "optional"


# errors


def test_an_error_names_file_line_key_found_allowed_and_nearest() -> None:
    (problem,) = problems("timezone: UTC\nchannels:\n  telegram:\n    dm_policy: paring\n")
    place = "config.yaml:4: channels.telegram.dm_policy: "
    assert problem == place + "found 'paring'; allowed: pairing, allowlist, open, off; did you mean 'pairing'?"


def test_all_errors_come_at_once_in_the_order_of_the_file() -> None:
    found = problems("timezone: Mars/Base\nmodel:\n  max_tokens: -1\n  effort: 3\nowners: ['telegram:@bob']\n")
    assert [one.split(": ")[1] for one in found] == ["timezone", "model.max_tokens", "model.effort", "owners[0]"]
    assert [one.split(":")[1] for one in found] == ["1", "3", "4", "5"]


def test_an_alias_bomb_is_refused_before_it_unfolds() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 9))
    assert "too many values" in problems(f"l0: &l0 [1]\n{levels}")[0]


def test_an_error_in_a_common_section_is_told_once_for_all_agents() -> None:
    assert len(problems("model: {max_tokens: no}\nagents: {a: {}, b: {}}")) == 1


def test_a_wrong_secret_is_never_shown() -> None:
    (found,) = problems("channels: {telegram: {token: '${T}'}}", T="my secret\ttoken")
    assert "my secret" not in found
    assert "***" in found


# unknown keys


@pytest.mark.parametrize(
    ("limit", "key"),
    [
        ("model: {name: qwen, daily_budget_usd: 1}", "model.daily_budget_usd"),
        ("model: {name: qwen}\nlimits: {person_daily_usd: 1}", "limits.person_daily_usd"),
        ("agents: {main: {model: {name: qwen}}}\nlimits: {group_daily_usd: 1}", "limits.group_daily_usd"),
    ],
)
def test_a_limit_of_costs_that_nobody_can_count_is_a_warning(limit: str, key: str) -> None:
    found = [one for one in warnings(limit, ANTHROPIC_API_KEY="k") if "price" in one]
    assert len(found) == 1 and f"{key}: has no effect, because the price of 'qwen' is unknown" in found[0]
    priced = limit.replace("name: qwen", "name: qwen, prices: {qwen: {input: 1, output: 2}}")
    known = limit.replace("qwen", "claude-sonnet-5-5-20261001")
    assert not [one for text in (priced, known) for one in warnings(text, ANTHROPIC_API_KEY="k") if "price" in one]


def test_an_unknown_key_is_a_warning_with_the_nearest_known_one() -> None:
    assert warnings("channels:\n  telegram:\n    dm_polcy: open\n") == [
        "config.yaml:3: channels.telegram.dm_polcy: unknown key, ignored; did you mean 'dm_policy'?"
    ]


def test_unknown_keys_are_found_under_agents_routes_and_groups_too() -> None:
    text = "agents: {main: {model: {nmae: x}}}\nroutes: [{channel: telegram, agent: main, chta: 1}]\n"
    text += "channels: {telegram: {groups: {1: {mentoin: x}}}}\nmemory: {search: {embedding: {model_dir: m, oops: 1}}}"
    hints = [warning.rsplit("; ", 1)[1] for warning in warnings(text)]
    assert "did you mean 'name'?" in hints
    assert "did you mean 'chat'?" in hints
    assert "did you mean 'mention'?" in hints
    assert len(warnings(text)) == 4


@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), st.none() | st.integers() | st.text(), max_size=4)
)
def test_no_unknown_key_ever_refuses_the_start(keys: dict[str, int | str | None]) -> None:
    foreign = {f"x_{key}": value for key, value in keys.items()}
    value = {**foreign, "model": foreign, "channels": {"telegram": foreign}}
    text = yaml.safe_dump(value, allow_unicode=True)
    loaded = parse(text.replace("${", ""), {})
    assert loaded.config == config()
    assert len(loaded.warnings) == 3 * len(foreign)


@given(st.text(max_size=200))
def test_any_text_is_a_configuration_or_an_error_with_words(text: str) -> None:
    try:
        assert isinstance(parse(text, {}), LoadedConfig)
    except ConfigError as error:
        assert all(problem.text for problem in error.problems)


# variables


def test_a_variable_has_a_default_and_the_environment_wins() -> None:
    text = "model: {name: '${NAME:-small}'}\nchannels: {web: {port: '${PORT:-1}'}}"
    assert config(text).model.name == "small"
    assert config(text, NAME="big", PORT="7").model.name == "big"
    assert config(text, NAME="big", PORT="7").channels.web.port == 7


def test_a_missing_variable_that_is_needed_names_the_key() -> None:
    (problem,) = problems("channels:\n  telegram:\n    token: ${BOT}\n")
    assert problem.startswith("config.yaml:3: channels.telegram.token: needs ${BOT}")


def test_a_missing_variable_is_no_error_where_the_section_is_off() -> None:
    assert not config("channels: {telegram: {enabled: false, token: '${BOT}'}}").channels.telegram.enabled
    assert config("model: {provider: offline, api_key: '${KEY}'}").model.api_key is None


def test_what_a_variable_holds_is_taken_as_it_is() -> None:
    assert config("model: {name: '${A}'}", A="${B}: [1]").model.name == "${B}: [1]"


# files


def test_dotenv_is_read_and_the_environment_wins_over_it(tmp_path: Path) -> None:
    text = "\n".join(
        [
            "# keys",
            "export ANTHROPIC_API_KEY='sk-#1' # mine",
            'TELEGRAM_BOT_TOKEN="1:a\\"b"',
            "NAME = from-dotenv   # said here",
            "nonsense",
            'BROKEN="open',
        ]
    )
    (tmp_path / ".env").write_text(text)
    (tmp_path / "config.yaml").write_text("model: {name: '${NAME}', effort: '${EFFORT:-low}'}")
    loaded = load(Home(tmp_path), {"EFFORT": "high"})
    assert secrets_of(loaded.config) == {"sk-#1", '1:a"b'}
    assert (loaded.config.model.name, loaded.config.model.effort) == ("from-dotenv", "high")
    assert [(warning.line, warning.key) for warning in loaded.warnings] == [(5, ""), (6, "BROKEN")]
    assert load(Home(tmp_path), {"NAME": "environment"}).config.model.name == "environment"


def test_a_file_that_is_a_folder_or_no_utf8_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.config_file.mkdir()
    with pytest.raises(ConfigError, match="is a folder"):
        load(home, {})
    home.config_file.rmdir()
    home.config_file.write_bytes(b"model: {}\nname: \xff\n")
    with pytest.raises(ConfigError, match=r"config\.yaml:2: is not UTF-8"):
        load(home, {})
    home.config_file.write_bytes(b"#" * 1_000_001)
    with pytest.raises(ConfigError, match="larger than"):
        load(home, {})


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("log: {level: debug}", encoding="utf-8-sig")
    assert load(Home(tmp_path), {}).config.log.level == "debug"


# what may be seen


def test_secrets_are_hidden_wherever_a_configuration_is_printed() -> None:
    made = config(
        "memory: {search: {embedding: {base_url: 'http://e', model: m, api_key: key-3}}}", ANTHROPIC_API_KEY="key-1"
    )
    assert secrets_of(made) == {"key-1", "key-3"}
    for text in (shown(made), repr(made), str(made)):
        assert "key-" not in text
    assert "***" in shown(made)


def test_what_show_prints_is_a_valid_configuration_with_the_same_meaning() -> None:
    made = config(
        "timezone: Europe/Berlin\nschedule: {quiet_hours: 23:00-07:00}\nagents: {main: {}, b: {model: {name: q}}}"
    )
    assert config(shown(made)) == made


def test_the_schema_knows_every_section() -> None:
    assert set(yaml.safe_load(schema())["properties"]) == set(whole().model_fields)
