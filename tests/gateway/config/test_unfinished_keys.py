"""Keys of the contract that do nothing yet: whoever sets one is told, at the start, in `validate` and in `doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli import daybook
from gateway.config.checks import NOT_YET
from gateway.config.loader import parse

SET = """
schedule: {heartbeat: {every: 2h, to: "telegram:5"}}
"""
KEY = "schedule.heartbeat.to"


def keys(text: str) -> list[str]:
    return [warning.key for warning in parse(text, {}).warnings]


def test_each_of_them_is_told_once_and_with_its_line() -> None:
    assert sorted(keys(SET)) == sorted(".".join(map(str, place)) for place in NOT_YET)
    found = {warning.key: warning for warning in parse(SET, {}).warnings}
    assert found[KEY].line == 2 and "does nothing in this version yet" in found[KEY].text
    assert "unknown" not in "\n".join(map(str, found.values()))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tools: {web: true, web_search: null, exec: true, exec_allow: [[git, log]], mcp: {}}",
        "tools:\nmedia: {speak: null, images: null}",
        "database_url: null\nbackup: null\nschedule: {heartbeat: {every: 2h, to: owner}}",
        "agents: {main: {tools: {web: true}}}\nmodel: {fallbacks: [claude-haiku-4-5]}",
    ],
)
def test_a_default_home_stays_silent(text: str) -> None:
    assert keys(text) == []


def test_it_is_said_by_every_command_by_validate_and_by_the_doctor(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f"{SET}channels: {{web: {{enabled: false}}}}\n")
    runner = CliRunner(env={"ANTHROPIC_API_KEY": "", "TELEGRAM_BOT_TOKEN": "", "DISCORD_BOT_TOKEN": ""})

    def ran(*words: str) -> tuple[int, str, str]:
        result = runner.invoke(daybook, ["--home", str(tmp_path), *words])
        return result.exit_code, result.stdout, result.stderr

    code, _, said = ran("config", "validate")
    assert code == 0 and f"{KEY}: does nothing in this version yet" in said
    assert f"{KEY}: does nothing" in ran("chat", "-m", "Hello")[2]
    findings = json.loads(ran("doctor", "--json")[1])
    assert any(f"{KEY}: does nothing" in one["message"] for one in findings if one["check"] == "config")
