"""`daybook service`: has systemd or launchd start Daybook when its user logs in, and again when it fails."""

from __future__ import annotations

import hashlib
import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from agent.fs import atomic_write
from gateway.cli.context import CliContext, CommandFailed
from gateway.home import Home, HomeError, find_home

_DRY_RUN = click.option("--dry-run", is_flag=True, help="Only show what would be written and run.")


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """The file that describes the service, and the commands of the system's manager."""

    file: Path
    text: str
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    status: tuple[str, ...]
    log: str
    """The command that shows what it logs."""
    hint: str = ""


def plan(home: Home, platform: str) -> ServicePlan:
    """What describes the service on this platform. Raises `CommandFailed` where there is no manager for it."""
    program = [sys.executable, "-m", "gateway", "--home", str(home.path), "gateway"]
    name = f"daybook{_mark(home)}"
    if platform == "darwin":
        label = f"org.daybook.{name}"
        file = Path.home() / "Library" / "LaunchAgents" / f"{label}.plist"
        log = home.state / "service.log"
        text = plistlib.dumps(
            {
                "Label": label,
                "ProgramArguments": program,
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": 10,
                "StandardOutPath": str(log),
                "StandardErrorPath": str(log),
            }
        ).decode()
        domain = f"gui/{os.getuid()}"
        return ServicePlan(
            file=file,
            text=text,
            start=(("launchctl", "bootstrap", domain, str(file)),),
            stop=(("launchctl", "bootout", f"{domain}/{label}"),),
            status=("launchctl", "print", f"{domain}/{label}"),
            log=f"tail -f {log}",
        )
    if not platform.startswith("linux"):
        raise CommandFailed(f"There is no service for {platform}. Start `daybook gateway` when you log in.")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    unit = f"{name}.service"
    return ServicePlan(
        file=config / "systemd" / "user" / unit,
        text=_UNIT.format(home=str(home.path).replace("%", "%%"), program=" ".join(map(_quoted, program))),
        start=(("systemctl", "--user", "daemon-reload"), ("systemctl", "--user", "enable", "--now", unit)),
        stop=(("systemctl", "--user", "disable", "--now", unit),),
        status=("systemctl", "--user", "status", "--no-pager", unit),
        log=f"journalctl --user -u {unit} -f",
        hint="It runs while you are logged in; `loginctl enable-linger` lets it run without that, too.",
    )


_UNIT = """\
[Unit]
Description=Daybook ({home})
After=network-online.target

[Service]
ExecStart={program}
Restart=on-failure
RestartSec=10
TimeoutStopSec=40

[Install]
WantedBy=default.target
"""


def _mark(home: Home) -> str:
    """Nothing for the usual home, else what tells two homes apart."""
    try:
        if find_home(None, {}) == home:
            return ""
    except HomeError:  # the user has no folder, so no usual home
        pass
    return f"-{hashlib.sha256(os.fsencode(home.path)).hexdigest()[:8]}"


def _quoted(word: str) -> str:
    """A word of `ExecStart`, as systemd.syntax(7) reads it."""
    for found, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        word = word.replace(found, written)
    return f'"{word}"' if any(one in word for one in " \t'\"\\;") else word


@click.group("service")
def service_command() -> None:
    """Run Daybook always: it starts when you log in, and again when it fails (systemd, or launchd on macOS)."""


@service_command.command()
@_DRY_RUN
@click.pass_obj
def install(context: CliContext, dry_run: bool) -> None:
    """Install the service and start it. Installing again brings it up to date."""
    wanted = plan(context.home, sys.platform)
    if dry_run:
        click.echo(f"Would write {wanted.file}:\n\n{wanted.text}\nand run:")
        return _show(wanted.start)
    context.config()
    _needs(wanted.start)
    context.home.create()
    if wanted.file.exists():
        _run(wanted.stop, fails=False)
    try:
        atomic_write(wanted.file, wanted.text)
    except OSError as error:
        raise CommandFailed(f"Can't write {wanted.file}: {error.strerror or error}.") from error
    _run(wanted.start)
    click.echo(f"Daybook runs now, and starts when you log in. `{wanted.log}` shows what it logs.")
    if wanted.hint:
        click.echo(wanted.hint)
    return None


@service_command.command()
@click.pass_obj
def status(context: CliContext) -> None:
    """Show whether the service is installed and running. Exits with 1 if not."""
    wanted = plan(context.home, sys.platform)
    if not wanted.file.exists():
        click.echo("The service isn't installed; `daybook service install` does that.")
        sys.exit(1)
    _needs([wanted.status])
    sys.exit(1 if subprocess.run(wanted.status, check=False).returncode else 0)


@service_command.command()
@_DRY_RUN
@click.pass_obj
def remove(context: CliContext, dry_run: bool) -> None:
    """Stop the service and remove it. Your files stay."""
    wanted = plan(context.home, sys.platform)
    if dry_run:
        click.echo("Would run:")
        _show(wanted.stop)
        return click.echo(f"and remove {wanted.file}")
    if not wanted.file.exists():
        return click.echo("The service isn't installed.")
    _needs(wanted.stop)
    _run(wanted.stop, fails=False)
    try:
        wanted.file.unlink()
    except OSError as error:
        raise CommandFailed(f"Can't remove {wanted.file}: {error.strerror or error}.") from error
    return click.echo("The service is removed. Your files are where they were.")


def _show(commands: Sequence[Sequence[str]]) -> None:
    for command in commands:
        click.echo(f"  {' '.join(command)}")


def _needs(commands: Sequence[Sequence[str]]) -> None:
    program = commands[0][0]
    if shutil.which(program) is None:
        raise CommandFailed(f"This system has no {program}. Let what starts your programs run `daybook gateway`.")


def _run(commands: Sequence[Sequence[str]], *, fails: bool = True) -> None:
    """Runs the manager's commands; what it says of a failure becomes the error, if that matters."""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode and fails:
            said = (done.stderr or done.stdout).strip() or f"status {done.returncode}"
            raise CommandFailed(f"`{' '.join(command)}` failed: {said}")
