"""`daybook service` and `daybook completion`."""

from __future__ import annotations

import configparser
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.context import CommandFailed
from gateway.cli.service import plan
from gateway.home import Home
from tests.gateway.cli.test_cli import environment, invoke, shell

_MANAGER = """#!/bin/sh
echo "$@" >> "$HOME/asked"
[ "$2" != status ] || echo active
[ ! -e "$HOME/broken" ] || { echo "Failed to connect to bus" >&2; exit 1; }
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home beside a `systemctl` that writes down what it is asked."""
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(_MANAGER)
    program.chmod(0o755)
    return tmp_path / "home"


def service(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    around = environment(home)
    around["PATH"] = f"{home.parent / 'bin'}:{around['PATH']}"
    command = [sys.executable, "-m", "gateway", "service", *words]
    return subprocess.run(command, env=around, capture_output=True, text=True, timeout=120)


def asked(home: Path) -> list[str]:
    return (home.parent / "asked").read_text().splitlines()


def test_a_service_is_installed_seen_and_removed(home: Path) -> None:
    unit = _unit(home)
    assert "isn't installed" in service(home, "status").stdout
    done = service(home, "install")
    assert done.returncode == 0, done.stderr
    assert "starts when you log in" in done.stdout
    read = configparser.ConfigParser(interpolation=None, delimiters="=")
    read.read(unit)
    assert read["Service"]["ExecStart"].endswith(f"-m gateway --home {home} gateway")
    assert asked(home) == ["--user daemon-reload", f"--user enable --now {unit.name}"]
    assert service(home, "status").stdout == "active\n"
    assert service(home, "remove").returncode == 0
    assert not unit.exists() and asked(home)[-1] == f"--user disable --now {unit.name}"
    assert home.exists()


def _unit(home: Path) -> Path:
    shown = service(home, "install", "--dry-run").stdout
    return Path(shown.partition("Would write ")[2].partition(":\n")[0])


def test_a_dry_run_changes_nothing(home: Path) -> None:
    done = service(home, "install", "--dry-run")
    assert "WantedBy=default.target" in done.stdout and "systemctl --user enable --now" in done.stdout
    assert "disable --now" in service(home, "remove", "--dry-run").stdout
    assert sorted(path.name for path in home.parent.iterdir()) == ["bin"]


def test_what_the_manager_refuses_is_said(home: Path) -> None:
    (home.parent / "broken").touch()
    done = service(home, "install")
    assert done.returncode == 1 and "Failed to connect to bus" in done.stderr


def test_launchd_starts_it_again_only_when_it_failed(tmp_path: Path) -> None:
    home = Home(tmp_path / "a home")
    found = plistlib.loads(plan(home, "darwin").text.encode())
    assert found["ProgramArguments"][-3:] == ["--home", str(home.path), "gateway"]
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    with pytest.raises(CommandFailed, match="no service for win32"):
        plan(home, "win32")


def test_systemd_reads_a_home_with_odd_characters(tmp_path: Path) -> None:
    text = plan(Home(tmp_path / "100% mine $HOME"), "linux").text
    assert f'"{tmp_path}/100%% mine $$HOME"' in text


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands(home: Path) -> None:
    script = shell(home, "completion", "bash").stdout
    assert "_DAYBOOK_COMPLETE=bash_complete" in script
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert "_DAYBOOK_COMPLETE" in invoke(home, "completion", "zsh").stdout
    assert "fish" in invoke(home, "completion", "fish").stdout
    assert invoke(home, "completion", "tcsh").exit_code == 2
