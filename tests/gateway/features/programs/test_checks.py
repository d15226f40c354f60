"""What the doctor says of programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config import Config
from gateway.doctor.examine import examine
from gateway.doctor.security import security
from gateway.features.programs.sandbox import find_sandbox
from gateway.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def test_programs_without_a_sandbox_are_named(home: Home) -> None:
    assert "programs" not in {finding.check for finding in examine(home, {})}
    home.config_file.write_text("tools: {exec: true}\n")
    home.config_file.chmod(0o600)
    (found,) = [finding for finding in examine(home, {}) if finding.check == "programs"]
    sandbox = find_sandbox(home, Config())
    has_one, lacks = sandbox.is_tight, "runs as root" if sandbox.is_root else "there is no sandbox here"
    assert found.ok and ("run in a sandbox" if has_one else lacks) in found.message
    home.had_sandbox.touch()
    (found,) = [finding for finding in examine(home, {}) if finding.check == "programs"]
    assert found.ok is has_one and ("programs are off" in found.message) is not has_one
    assert has_one or str(home.had_sandbox) in found.fix


def test_programs_that_start_anything(home: Home) -> None:
    messages = bad(home, "tools: {exec: true, exec_allow: [[git, status], [env], [python3]]}")
    assert [message for message in messages if "`env`" in message or "`python3`" in message] == messages[-2:]
    assert not any("git" in message for message in messages)
    assert any("without a sandbox" in message for message in messages) is not find_sandbox(home, Config()).is_tight
    assert bad(home, "tools: {exec: false, exec_allow: [[env]]}") == []


def bad(home: Home, config: str) -> list[str]:
    home.config_file.write_text(config)
    home.config_file.chmod(0o600)
    return [finding.message for finding in security(home, {}) if finding.check == "programs" and not finding.ok]
