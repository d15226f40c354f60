"""`daybook service` and `daybook completion`."""

from __future__ import annotations

import configparser
import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.config.loader import parse
from gateway.features.service.command_line import description, manager_of, owner_of
from gateway.features.service.systemd import Owner, unit, written_elsewhere
from gateway.home import Home
from gateway.terminal.context import CommandFailed
from tests import forked
from tests.gateway.cli.test_cli import environment, invoke, shell

_MANAGER = """#!/bin/sh
echo "$@" >> "$HOME/asked"
[ "$2" != status ] || echo active
[ ! -e "$HOME/broken" ] || { echo "Failed to connect to bus" >&2; exit 1; }
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home beside a systemd that writes down what it is asked, and gives services no namespaces."""
    for name, text in (("systemctl", _MANAGER), ("systemd-run", "#!/bin/sh\nexit 1\n")):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    return tmp_path / "home"


def service(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    around = environment(home)
    around["PATH"] = f"{home.parent / 'bin'}:{around['PATH']}"
    command = [sys.executable, "-m", "gateway", "service", *words]
    return forked.run(command, env=around, capture_output=True, text=True, timeout=120)


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
    return Path(shown.partition("It would write ")[2].partition(":\n")[0])


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
    found = plistlib.loads(description(home, parse("", {}).config, "darwin", Owner("", "", tmp_path)).encode())
    assert found["ProgramArguments"][-3:] == ["--home", str(home.path), "gateway"]
    assert found["KeepAlive"] == {"SuccessfulExit": False}
    with pytest.raises(CommandFailed, match="win32 has no such service"):
        manager_of(home, "win32")
    with pytest.raises(CommandFailed, match="darwin has no such service"):
        manager_of(home, "darwin", system=True)


def test_a_service_of_the_system_runs_as_the_user_whose_home_it_is(home: Path) -> None:
    missing = service(home, "install", "--system", "--dry-run")
    assert missing.returncode == 1 and f"daybook --home {home} init" in missing.stderr
    home.mkdir()
    if home.owner() == "root":
        refused = service(home, "install", "--system", "--dry-run")
        assert refused.returncode == 1 and "not to run as root" in refused.stderr
        os.chown(home, *NOBODY)
    owner = owner_of(Home(home), system=True)
    text = service(home, "install", "--system", "--dry-run").stdout
    assert f"User={owner.name}\n" in text and owner.name != "root"
    assert "/etc/systemd/system/daybook" in text and "  systemctl enable --now" in text
    assert "WantedBy=multi-user.target" in text and "ProtectKernelLogs=yes" in text
    assert "isn't installed" in service(home, "status", "--system").stdout


NOBODY = (65534, 65534)


def test_nothing_is_written_outside_the_home_but_what_the_configuration_names(tmp_path: Path) -> None:
    settings = "backup: {to: '~/backups'}\nagents: {main: {workspace: workspace}, work: {workspace: /srv/work}}\n"
    owner = Owner("ann", "ann", tmp_path / "ann")
    found = written_elsewhere(Home(tmp_path / "home"), parse(settings, {}).config, owner)
    assert found == (Path("/srv/work"), tmp_path / "ann" / "backups")
    text = unit(Home(tmp_path / "home"), ["daybook"], owner, found, namespaced=True)
    (line,) = [line for line in text.splitlines() if line.startswith("ReadWritePaths=")]
    assert line.split("=")[1].split()[:3] == [f"{tmp_path}/home", "/srv/work", f"{tmp_path}/ann/backups"]


HIGHEST = {"user": 6.9, "namespaced": 3.4, "system": 2.7}
"""A little above the figures in docs/running.md: each version of systemd counts in its own way."""


@pytest.mark.requires("systemd-analyze")
@pytest.mark.parametrize("kind", HIGHEST)
def test_systemd_finds_the_unit_in_order_and_well_confined(kind: str, tmp_path: Path) -> None:
    home = Home(tmp_path / "100% mine $HOME")
    owner = Owner("daemon" if kind == "system" else "", "", tmp_path)
    program = ["/bin/true", "--home", str(home.path), "gateway"]
    file = tmp_path / "daybook.service"
    file.write_text(unit(home, program, owner, (tmp_path / 'a "b"',), namespaced=kind != "user"))
    by = [] if kind == "system" else ["--user"]
    verified = analyze(tmp_path, *by, "verify", "--man=no", str(file))
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")
    judged = analyze(tmp_path, *by, "security", "--offline=true", f"--threshold={HIGHEST[kind] * 10:.0f}", str(file))
    assert judged.returncode == 0, judged.stdout.splitlines()[-1:] or judged.stderr


def analyze(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    around = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder), "SYSTEMD_PAGER": "cat"}
    return subprocess.run(["systemd-analyze", *words], env=around, capture_output=True, text=True, timeout=120)


def test_systemd_reads_a_home_with_odd_characters(tmp_path: Path) -> None:
    text = unit(Home(tmp_path / "100% mine $HOME"), ["x $Y"], Owner("", "", tmp_path), (), namespaced=False)
    assert f'ReadWritePaths="{tmp_path}/100%% mine $HOME"' in text and 'ExecStart="x $$Y"' in text


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands(home: Path) -> None:
    script = shell(home, "completion", "bash").stdout
    assert "_DAYBOOK_COMPLETE=bash_complete" in script
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert "_DAYBOOK_COMPLETE" in invoke(home, "completion", "zsh").stdout
    assert "fish" in invoke(home, "completion", "fish").stdout
    assert invoke(home, "completion", "tcsh").exit_code == 2
