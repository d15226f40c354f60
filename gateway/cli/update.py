"""`daybook update --check`: whether there is a newer Daybook, and what to run for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from agent.languages.sentences import Sentence, said
from gateway.home import DISTRIBUTION, version
from gateway.terminal.context import CommandFailed, terminal_language

_PATIENCE = 60.0
_ROOT = Path(__file__).resolve().parents[2]
_AVAILABLE = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
_REASON = re.compile(r"^(?:fatal|ERROR): (.+?)\.?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Found:
    is_newer: bool
    newest: str
    commands: str
    """For a shell; they install the newest version."""


@click.command("update")
@click.option("--check", is_flag=True, required=True, help="Say whether there is a newer one, and what to run.")
def update_command(check: bool) -> None:
    """See whether there is a newer Daybook.

    It asks where yours came from, sends nothing about you, and never replaces itself.
    """
    found = _in_checkout(_ROOT) if (_ROOT / ".git").exists() else _in_index()
    language = terminal_language()
    click.echo(said(language, "Daybook {version} is installed.", version=version()))
    if not found.is_newer:
        click.echo(said(language, "There is no newer one."))
        return
    click.echo(
        said(
            language,
            "There is a newer one: {newest}. Make a backup first (`daybook backup FILE`), then run:",
            newest=found.newest,
        )
    )
    click.echo(f"  {found.commands}")
    click.echo(said(language, "Then start Daybook again."))


def _in_checkout(folder: Path) -> _Found:
    """Compares this commit with the newest commit of its branch at the origin."""
    branch = _ran(folder, "git", "rev-parse", "--abbrev-ref", "HEAD")
    here = _ran(folder, "git", "rev-parse", "HEAD")
    there = _ran(folder, "git", "ls-remote", "origin", f"refs/heads/{branch}").partition("\t")[0]
    known = subprocess.run(["git", "merge-base", "--is-ancestor", there or here, here], cwd=folder, capture_output=True)
    is_newer = bool(there) and known.returncode != 0
    return _Found(is_newer, there[:10], "git pull && make .venv/run")


def _in_index() -> _Found:
    """Asks the package index that pip is set up for."""
    text = _ran(Path.cwd(), sys.executable, "-m", "pip", "index", "versions", DISTRIBUTION, "--no-input")
    listed = _AVAILABLE.search(text)
    newest = listed[1].split(",")[0].strip() if listed else version()
    command = f"{Path(sys.executable).name} -m pip install --upgrade {DISTRIBUTION}"
    return _Found(_numbers(newest) > _numbers(version()), newest, command)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _ran(folder: Path, *command: str) -> str:
    if shutil.which(command[0]) is None:
        raise _unasked(Sentence("{program} is not installed", program=command[0]))
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=_PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise _unasked(Sentence("no answer in a minute")) from error
    if done.returncode:
        why = _REASON.search(done.stderr)
        raise _unasked(why[1] if why else Sentence("no reason was given"))
    return done.stdout.strip()


def _unasked(why: str) -> CommandFailed:
    return CommandFailed(Sentence("Can't ask whether there is a newer one: {why}. Are you connected?", why=why))
