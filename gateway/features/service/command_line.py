"""`daybook service`: has systemd or launchd start Daybook, at a login or with the machine, and again when it fails."""

from __future__ import annotations

import hashlib
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from agent.fs import atomic_write
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from gateway.config import Config
from gateway.features.service.systemd import Owner, can_have_namespace, unit, written_elsewhere
from gateway.home import Home, HomeError, find_home
from gateway.terminal.context import CliContext, CommandFailed

_DRY_RUN = click.option("--dry-run", is_flag=True, help="Only show what would be written and run.")
_SYSTEM = click.option(
    "--system", is_flag=True, help="As a service of the system, which starts with the machine (systemd)."
)
_AT_LOGIN = Sentence("when you log in")


@dataclass(frozen=True, slots=True)
class Manager:
    """What runs the service: where its file is, and the commands."""

    file: Path
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    status: tuple[str, ...]
    log: str
    """The command that shows what it logs."""
    begins: str
    hint: str = ""


def manager_of(home: Home, platform: str, *, system: bool = False) -> Manager:
    """Raises `CommandFailed` where there is none."""
    if platform == "darwin" and not system:
        file = Path.home() / "Library" / "LaunchAgents" / f"{_label(home)}.plist"
        domain = f"gui/{os.getuid()}"
        return Manager(
            file=file,
            start=(("launchctl", "bootstrap", domain, str(file)),),
            stop=(("launchctl", "bootout", f"{domain}/{_label(home)}"),),
            status=("launchctl", "print", f"{domain}/{_label(home)}"),
            log=f"tail -f {_launchd_log(home)}",
            begins=_AT_LOGIN,
        )
    if not platform.startswith("linux"):
        raise CommandFailed(
            Sentence("{platform} has no such service. Start `daybook gateway` when you log in.", platform=platform)
        )
    service = f"daybook{_mark(home)}.service"
    folder = Path("/etc") if system else Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    systemctl = ("systemctl",) if system else ("systemctl", "--user")
    lingers = Sentence("It runs while you are logged in; `loginctl enable-linger` lets it run without that, too.")
    return Manager(
        file=folder / "systemd" / ("system" if system else "user") / service,
        start=((*systemctl, "daemon-reload"), (*systemctl, "enable", "--now", service)),
        stop=((*systemctl, "disable", "--now", service),),
        status=(*systemctl, "status", "--no-pager", service),
        log=f"journalctl {'' if system else '--user '}-u {service} -f",
        begins=Sentence("with the machine") if system else _AT_LOGIN,
        hint="" if system else lingers,
    )


def description(home: Home, config: Config, platform: str, owner: Owner) -> str:
    """The text of the service's file. Blocks: it tries out what systemd can confine."""
    program = [sys.executable, "-m", "gateway", "--home", str(home.path), "gateway"]
    if platform == "darwin":
        return plistlib.dumps(
            {
                "Label": _label(home),
                "ProgramArguments": program,
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": 10,
                "StandardOutPath": _launchd_log(home),
                "StandardErrorPath": _launchd_log(home),
            }
        ).decode()
    namespaced = bool(owner.name) or can_have_namespace()
    return unit(home, program, owner, written_elsewhere(home, config, owner), namespaced=namespaced)


def _label(home: Home) -> str:
    return f"org.daybook.daybook{_mark(home)}"


def _launchd_log(home: Home) -> str:
    return str(home.state / "service.log")


def owner_of(home: Home, *, system: bool) -> Owner:
    """Whom the service runs as: this user, or for the system's the one to whom the home belongs. Raises
    `CommandFailed`."""
    if not system:
        return Owner("", "", Path.home())
    again = shlex.join(["daybook", "--home", str(home.path), "init"])
    try:
        name, group = home.path.owner(), home.path.group()
    except OSError as error:
        raise CommandFailed(
            Sentence("There is no home at {home}. As the user who is to run it: `{init}`", home=home.path, init=again)
        ) from error
    except KeyError as error:
        raise CommandFailed(
            Sentence("{home} belongs to no user of this machine; give it to one (`chown -R`).", home=home.path)
        ) from error
    if name == "root":
        raise CommandFailed(
            Sentence(
                "{home} belongs to root, and Daybook is not to run as root. As another user: `{init}`",
                home=home.path,
                init=again,
            )
        )
    return Owner(name, group, Path(f"~{name}").expanduser())


def _mark(home: Home) -> str:
    """Nothing for the usual home, else what tells two homes apart."""
    try:
        if find_home(None, {}) == home:
            return ""
    except HomeError:  # the user has no folder, so no usual home
        pass
    return f"-{hashlib.sha256(os.fsencode(home.path)).hexdigest()[:8]}"


@click.group("service")
def service_command() -> None:
    """Run Daybook always, from the time you log in."""


@service_command.command()
@_SYSTEM
@_DRY_RUN
@click.pass_obj
def install(context: CliContext, system: bool, dry_run: bool) -> None:
    """Install the service and start it. Installing again brings it up to date.

    With --system it runs as the user to whom the home belongs, and root installs it.
    """
    home = context.home
    manager = manager_of(home, sys.platform, system=system)
    owner = owner_of(home, system=system)
    text = description(home, context.config(), sys.platform, owner)
    if dry_run:
        click.echo(f"{context.said('It would write {file}:', file=manager.file)}\n\n{text}\n")
        return _show(context, manager.start)
    _needs(manager.start)
    if not system:
        home.create()
    owner.make_tokens()
    if manager.file.exists():
        _run(manager.stop, fails=False)
    try:
        atomic_write(manager.file, text)
    except OSError as error:
        raise CommandFailed(
            Sentence("Can't write {file}: {why}.", file=manager.file, why=system_says(error))
        ) from error
    _run(manager.start)
    known = {"begins": manager.begins, "log": manager.log}
    click.echo(context.said("Daybook runs now, and starts {begins}. `{log}` shows what it logs.", **known))
    if manager.hint:
        click.echo(context.said_of(manager.hint))
    return None


@service_command.command()
@_SYSTEM
@click.pass_obj
def status(context: CliContext, system: bool) -> None:
    """Show whether the service is installed and running. Exits with 1 if not."""
    manager = manager_of(context.home, sys.platform, system=system)
    if not manager.file.exists():
        click.echo(context.said("The service isn't installed; `daybook service install` does that."))
        sys.exit(1)
    _needs([manager.status])
    sys.exit(1 if subprocess.run(manager.status, check=False).returncode else 0)


@service_command.command()
@_SYSTEM
@_DRY_RUN
@click.pass_obj
def remove(context: CliContext, system: bool, dry_run: bool) -> None:
    """Stop the service and remove it. Your files stay."""
    manager = manager_of(context.home, sys.platform, system=system)
    if dry_run:
        _show(context, manager.stop)
        return click.echo(context.said("It would remove {file}.", file=manager.file))
    if not manager.file.exists():
        return click.echo(context.said("The service isn't installed; `daybook service install` does that."))
    _needs(manager.stop)
    _run(manager.stop, fails=False)
    try:
        manager.file.unlink()
    except OSError as error:
        raise CommandFailed(
            Sentence("Can't remove {file}: {why}.", file=manager.file, why=system_says(error))
        ) from error
    return click.echo(context.said("The service is removed. Your files are where they were."))


def _show(context: CliContext, commands: Sequence[Sequence[str]]) -> None:
    click.echo(context.said("It would run:"))
    for command in commands:
        click.echo(f"  {' '.join(command)}")


def _needs(commands: Sequence[Sequence[str]]) -> None:
    program = commands[0][0]
    if shutil.which(program) is None:
        raise CommandFailed(
            Sentence(
                "This system has no `{program}`. Let what starts your programs run `daybook gateway`.", program=program
            )
        )


def _run(commands: Sequence[Sequence[str]], *, fails: bool = True) -> None:
    """Runs the manager's commands; what it says of a failure becomes the error, if that matters."""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode and fails:
            why = (done.stderr or done.stdout).strip() or Sentence("status {number}", number=done.returncode)
            raise CommandFailed(Sentence("`{command}` failed: {why}", command=" ".join(command), why=why))
