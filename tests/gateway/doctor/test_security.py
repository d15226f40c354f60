"""What others could reach: found, named without being shown, each with its fix."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from channels.checks import Finding
from gateway.doctor.security import security
from gateway.home import Home
from gateway.store.schema import migrate

BOT = "123456789:" + "A" * 35
KEY = "AKIA" + "B" * 16


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    one = Home(tmp_path / "home")
    one.state.mkdir(parents=True)
    one.path.chmod(0o700)
    (one.path / "workspace" / "skills").mkdir(parents=True)
    yield one


def found(home: Home, config: str = "", **environ: str) -> dict[str, list[Finding]]:
    home.config_file.write_text(config)
    home.config_file.chmod(0o600)
    by_check: dict[str, list[Finding]] = {}
    for one in security(home, environ):
        by_check.setdefault(one.check, []).append(one)
        assert one.ok or one.fix
    return by_check


def bad(home: Home, check: str, config: str = "", **environ: str) -> list[str]:
    return [one.message for one in found(home, config, **environ).get(check, []) if not one.ok]


def test_a_fresh_home_has_nothing_to_find(home: Home) -> None:
    assert [one for every in found(home).values() for one in every if not one.ok] == []


def test_a_home_that_others_may_enter(home: Home) -> None:
    home.env_file.write_text("ANTHROPIC_API_KEY=x\n")
    home.env_file.chmod(0o644)
    assert bad(home, "permissions") == [], "nobody else gets into the home"
    home.path.chmod(0o755)
    assert any(str(home.env_file) in one for one in bad(home, "permissions"))


def test_keys_in_the_configuration_are_named_and_not_shown(home: Home) -> None:
    config = f"channels: {{telegram: {{token: '{BOT}'}}}}\n"
    assert bad(home, "tokens", config) == ["channels.telegram.token stands in config.yaml itself"]
    assert BOT not in str(found(home, config))
    config = "channels: {telegram: {token: '${BOT}'}}\n"
    assert bad(home, "tokens", config, BOT=BOT) == []


@pytest.mark.parametrize(
    "text",
    [f"my key is {KEY}", f"token {BOT}.", "-----BEGIN RSA PRIVATE KEY-----", "ghp_" + "a" * 36, "it is hunter2hunter2"],
)
def test_secrets_in_the_workspace(home: Home, text: str) -> None:
    note = home.path / "workspace" / "memory" / "note.md"
    note.parent.mkdir()
    note.write_text(f"# Notes\n\n- {text}\n")
    config = "channels: {telegram: {token: '${BOT}'}}\n"
    (message,) = bad(home, "secrets", config, BOT="hunter2hunter2")
    assert str(note) in message and text not in message


def test_harmless_text_is_no_secret(home: Home) -> None:
    (home.path / "workspace" / "MEMORY.md").write_text(
        "# Memory\n\n- sk-ating on Monday, 12345678:30 o'clock, AKIA Motors\n"
    )
    (home.path / "workspace" / "link.md").symlink_to("/etc/passwd")
    assert bad(home, "secrets") == []


@pytest.mark.parametrize(
    ("config", "is_bad"),
    [
        ("", False),
        ("channels: {web: {host: 0.0.0.0}}", True),
        ("channels: {web: {host: '::'}}", True),
        ("channels: {web: {host: 0.0.0.0, enabled: false}}", False),
        ("channels: {web: {host: 0.0.0.0, public_url: 'https://daybook.example.org'}}", False),
    ],
)
def test_a_page_that_others_reach(home: Home, config: str, is_bad: bool) -> None:
    assert bool(bad(home, "page", config)) is is_bad


@pytest.mark.parametrize(
    ("config", "is_bad"),
    [
        ("channels: {telegram: {token: '${BOT}', groups: {-100: {}}}}", True),
        ("channels: {telegram: {token: '${BOT}', groups: {-100: {allow: [5]}}}}", False),
        ("channels: {telegram: {token: '${BOT}', groups: {-100: {}}}}\nlimits: {group_daily_usd: 1}", False),
        ("channels: {telegram: {token: '${BOT}', groups: {-100: {}}}}\ntools: {web: false}", False),
        ("channels: {discord: {token: '${BOT}', guilds: {100: {}}}}", True),
    ],
)
def test_groups_that_are_open_to_all(home: Home, config: str, is_bad: bool) -> None:
    assert bool(bad(home, "groups", config, BOT=BOT)) is is_bad


def test_everybody_may_write(home: Home) -> None:
    config = "channels: {telegram: {token: '${BOT}', dm_policy: open}}"
    assert bad(home, "people", config, BOT=BOT) == ["everybody on Telegram may write to it, at your cost"]


def test_who_was_approved_long_ago_and_writes_no_more(home: Home) -> None:
    old, new = (datetime.now(UTC) - timedelta(days=days) for days in (400, 3))
    with sqlite3.connect(home.database) as connection:
        migrate(connection, home.database)
        rows = [
            ("1", "Anna", "owner", old),
            ("2", "Bob", "person", old),
            ("3", "Carla", "person", old),
            ("4", "Dan", "person", new),
        ]
        for user, name, role, at in rows:
            connection.execute("INSERT INTO access VALUES ('telegram', ?, ?, ?, ?)", (user, name, role, at.isoformat()))
        usage = (new.isoformat(), "2026-11-20", "m", "chat", "main/person/telegram-3/x", 1, 1, 0, 0, None)
        connection.execute("INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", usage)
    (message,) = bad(home, "people")
    assert message.startswith("Bob (telegram:2)")


def test_a_skill_with_a_program(home: Home) -> None:
    script = home.path / "workspace" / "skills" / "weather" / "run.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    (finding,) = found(home)["skills"]
    assert finding.ok and str(script) in finding.message, "nothing runs it while exec is off"


@pytest.mark.parametrize(
    "words", ["[[]]", "[['']]", "[[git, '']]", "[' ']", "[[git], []]", "['']", "[[[]]]", "[{}]", "[null]"]
)
def test_words_that_would_allow_everything_are_a_finding_and_no_traceback(home: Home, words: str) -> None:
    (message,) = bad(home, "config", f"tools: {{exec: true, exec_allow: {words}}}")
    assert "exec_allow" in message


@pytest.mark.parametrize(
    "config", ["agents: {main: {workspace: '~nobody-of-that-name/x'}}", "backup: {to: '~nobody-x/y'}"]
)
def test_a_home_that_cannot_be_looked_at_is_a_finding_and_no_traceback(home: Home, config: str) -> None:
    assert [one for one in found(home, f"{config}\ntools: {{exec: true}}").values() if one]


@pytest.mark.parametrize(("ask", "is_bad"), [("none", True), ("writes", False), ("all", False)])
def test_mcp_servers_that_act_without_asking(home: Home, ask: str, is_bad: bool) -> None:
    config = f"tools: {{mcp: {{notes: {{command: [notes], ask: {ask}, scopes: [owner, people]}}}}}}"
    assert bool(bad(home, "mcp", config)) is is_bad
    if not is_bad:
        (finding,) = found(home, config)["mcp"]
        assert "owner, people" in finding.message


@pytest.mark.parametrize("config", ["owners: 5", "[", "zzz: {"])
def test_a_configuration_with_a_mistake_is_the_first_finding(home: Home, config: str) -> None:
    assert bad(home, "config", config)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the root user may read everything")
def test_what_cannot_be_read_is_left_out(home: Home) -> None:
    note = home.path / "workspace" / "note.md"
    note.write_text(KEY)
    note.chmod(0)
    assert bad(home, "secrets") == []
