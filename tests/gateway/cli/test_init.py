"""`daybook init` as somebody answers it, against fakes of every server."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config import load
from gateway.home import Home
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import FakeDiscord
from tests.fakes.telegram import FakeTelegram
from tests.gateway.cli.test_cli import invoke

KEY = "sk-ant-fake-0123456789abcdef"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


def answers(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def test_a_model_is_tried_until_it_answers(home: Path) -> None:
    with FakeAnthropic.in_thread(KEY) as model:
        model.reply = lambda _: "Hello there."
        lines = answers("Ann", "Europe/Rome", "sk-wrong", model.base_url, KEY, "", "", "", "", "21:00", "n")
        done = invoke(home, "init", stdin=lines)
    assert done.exit_code == 0, done.output
    assert "doesn't accept the key" in done.stdout
    assert "The model claude-sonnet-5-5 answers." in done.stdout and "It says: Hello there." in done.stdout
    assert KEY in (home / ".env").read_text() and KEY not in done.stdout.replace(f"{KEY}\n", "")


def test_another_of_the_servers_models_is_offered(home: Path) -> None:
    with FakeAnthropic.in_thread(KEY) as model:
        del model.models["claude-sonnet-5-5"]
        model.reply = lambda _: "Hi."
        lines = answers("", "", KEY, model.base_url, "9", "claude-haiku-5-5", "", "", "", "", "n")
        done = invoke(home, "init", stdin=lines)
    assert done.exit_code == 0, done.output
    assert "1. claude-opus-5-5" in done.stdout and "type a number from 1 to 3" in done.output
    assert load(Home(home), {}).config.model.name == "claude-haiku-5-5"


def test_bots_are_named_and_refused_tokens_asked_for_again(home: Path) -> None:
    with FakeTelegram.in_thread() as telegram, FakeDiscord.in_thread() as thread:
        discord = thread.discord
        (home / "config.yaml").write_text(
            f"# mine\nchannels:\n  telegram: {{base_url: '{telegram.base_url}'}}  # a proxy\n"
            f"  discord: {{api_url: '{discord.api_url}'}}\n"
        )
        wrong = "123456789:AAF0123456789abcdefghijklmnopqrstuv"
        lines = answers("Ann", "", "", "", wrong, telegram.token, "42", "nonsense", discord.token, "")
        done = invoke(home, "init", stdin=lines)
    assert done.exit_code == 0, done.output
    assert "Connected as @daybook_test_bot." in done.stdout and "doesn't accept this token" in done.output
    assert f"client_id={discord.bot.id}" in done.stdout
    text = (home / "config.yaml").read_text()
    assert text.startswith("# mine\n") and "# a proxy" in text and "telegram:42" in text
    config = load(Home(home), {}).config
    assert config.channels.telegram.enabled and config.channels.discord.enabled


def test_run_again_it_shows_what_is_set_and_changes_one_answer(home: Path) -> None:
    words = ["--name", "Ann", "--timezone", "Europe/Rome", "--owner-id", "42", "--summary", "20:15"]
    assert invoke(home, "init", "--yes", "--no-embedder", *words).exit_code == 0
    before = (home / "config.yaml").read_text()
    done = invoke(home, "init", stdin=answers("", "", "", "", "", "", "", "off"))
    assert done.exit_code == 0, done.output
    assert all(f"[{one}]" in done.stdout for one in ("Ann", "Europe/Rome", "42", "20:15"))
    after = (home / "config.yaml").read_text()
    assert after.splitlines()[:6] == before.splitlines()[:6] and "enabled: false" in after
    assert not load(Home(home), {}).config.schedule.daily_summary.enabled


def test_a_secret_is_kept_or_removed(home: Path) -> None:
    assert invoke(home, "init", "--yes", "--discord-token", "abc.def.ghi").exit_code == 0
    kept = invoke(home, "init", stdin=answers("", "", "", "", "", "", "", ""))
    assert kept.exit_code == 0 and "leave empty to keep yours" in kept.stdout
    assert "abc.def.ghi" in (home / ".env").read_text()
    assert invoke(home, "init", stdin=answers("", "", "", "", "", "", "-", "")).exit_code == 0
    assert "abc.def.ghi" not in (home / ".env").read_text()
