"""`daybook mcp` and the doctor: what is configured, what works, and what to do where it does not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gateway.cli import daybook
from gateway.config import load
from gateway.features.mcp.checks import servers
from gateway.home import Home
from tests.gateway.features.mcp.conftest import PROGRAM


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    here = [sys.executable, str(PROGRAM), str(tmp_path / "log")]
    configured = {
        "good": {"command": here, "tools": ["look", "sign"]},
        "bad": {"command": [*here, "refuses"]},
        "none": {"command": ["no-such-program"]},
        "far": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer canary"}},
    }
    home.config_file.write_text(yaml.safe_dump({"tools": {"mcp": configured}}, sort_keys=False))
    return home


def invoke(home: Home, *words: str) -> Result:
    return CliRunner().invoke(daybook, ["--home", str(home.path), "mcp", *words])


def test_a_list_starts_nothing_and_knows_what_a_test_has_seen(home: Home, tmp_path: Path) -> None:
    first = {one["name"]: one["tools"] for one in json.loads(invoke(home, "list", "--json").stdout)}
    assert first == {"good": None, "bad": None, "none": None, "far": None} and not (tmp_path / "log").exists()
    assert "good" in invoke(home, "list").stdout and "unknown" in invoke(home, "list").stdout
    tested = json.loads(invoke(home, "test", "good", "--json").stdout)
    assert tested["ok"] and [(one["name"], one["reads_only"]) for one in tested["tools"]] == [
        ("look", True),
        ("sign", False),
    ]
    listed = invoke(home, "list", "--json")
    assert json.loads(listed.stdout)[0]["tools"] == ["look", "sign"]
    assert "canary" not in listed.stdout


def test_a_test_shows_what_a_server_has(home: Home) -> None:
    shown = invoke(home, "test", "good")
    assert shown.exit_code == 0 and "fake 1 works (protocol 2025-06-18)" in shown.stdout
    assert "Sign the guest book." in shown.stdout


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bad", "no licence was found"),
        ("none", "no-such-program cannot be started (there is no such program)"),
        ("far", "far"),
        ("other", "There is no server 'other'. There are: good, bad, none, far"),
    ],
)
def test_a_test_that_fails_says_why_and_exits_with_1(home: Home, name: str, says: str) -> None:
    failed = invoke(home, "test", name)
    assert failed.exit_code == 1 and says in failed.output and failed.stdout == ""
    document = invoke(home, "test", name, "--json")
    assert document.exit_code == 1 and json.loads(document.stdout)["ok"] is False


def test_the_doctor_tries_each_and_changes_nothing(home: Home) -> None:
    found = {one.message.split()[0].strip(":"): one for one in servers(home, load(home, {}).config)}
    assert found["good"].ok and "tools: 16" in found["good"].message
    assert not found["none"].ok and found["none"].message == "none: there is no program no-such-program"
    assert (
        not found["bad"].ok
        and "no licence was found" in found["bad"].message
        and "daybook mcp test" in found["bad"].fix
    )
    assert not found["far"].ok
    assert not home.mcp.exists()


def test_without_servers_the_doctor_says_nothing_of_them(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert list(servers(home, load(home, {}).config)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"a": {}},
        {"A b": {"command": ["x"]}},
        {"a": {"command": []}},
        {"a": {"command": ["x"], "env": {"A=": "1"}}},
        *({"a": {"command": ["x"], "env": {"A": f"ä{end}"}}} for end in ("\n", "\0", "\x85", "\u2028")),
        {"a": {"url": "ftp://x"}},
        {"a": {"command": ["x"], "scopes": ["everybody"]}},
        {"a": {"url": "http://x", "headers": {"A": "ä"}}},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(home: Home, wrong: object) -> None:
    home.config_file.write_text(yaml.safe_dump({"tools": {"mcp": wrong}}))
    refused = invoke(home, "list")
    assert refused.exit_code == 2 and "tools.mcp" in refused.output and "ä" not in refused.output
