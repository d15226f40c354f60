"""`daybook config get` and `set`, as a shell calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gateway.cli.test_cli import TOKEN, invoke


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("# mine\nlog: {level: info}  # usual\n")
    return home


def test_a_key_is_set_with_comments_kept_and_read_back(home: Path) -> None:
    done = invoke(home, "config", "set", "log.level", "debug")
    assert (done.exit_code, done.stdout) == (0, "log.level is set. Restart Daybook if it is running.\n")
    assert (home / "config.yaml").read_text() == "# mine\nlog: {level: debug}  # usual\n"
    assert invoke(home, "config", "get", "log.level").stdout == "debug\n"
    assert invoke(home, "config", "get", "log").stdout == "level: debug\nformat: text\n"
    assert invoke(home, "config", "get", "channels.web.enabled").stdout == "true\n"


def test_what_is_not_allowed_is_said_and_not_written(home: Path) -> None:
    before = (home / "config.yaml").read_text()
    wrong = invoke(home, "config", "set", "timezone", "CEST")
    assert wrong.exit_code == 2 and "did you mean 'Europe/Berlin'?" in wrong.stderr
    unknown = invoke(home, "config", "set", "log.levle", "debug")
    assert unknown.exit_code == 2 and "did you mean 'log.level'?" in unknown.stderr
    assert (home / "config.yaml").read_text() == before


def test_a_secret_is_set_and_never_shown(home: Path) -> None:
    assert TOKEN not in invoke(home, "config", "set", "channels.telegram.token", TOKEN).output
    assert TOKEN in (home / ".env").read_text()
    assert invoke(home, "config", "get", "channels.telegram.token").stdout == "***\n"
