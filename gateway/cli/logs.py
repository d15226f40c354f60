"""`daybook logs`: what the gateway has logged."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import BinaryIO

import click

from agent.languages.sentences import Sentence
from agent.languages.system_reasons import reason_of
from gateway.home import shown
from gateway.log_setup import last_lines, older
from gateway.terminal.context import CliContext, CommandFailed, typed
from gateway.terminal.screen import plain

_LOOK_AGAIN = 0.3
"""Seconds between two looks at the file while following."""


@click.command("logs")
@click.option(
    "-n", "--lines", "count", type=click.IntRange(min=0), default=50, show_default=True, help="How many lines."
)
@click.option("-f", "--follow", is_flag=True, help="Go on with what is logged from now on, until Ctrl-C.")
@click.pass_obj
def logs_command(context: CliContext, count: int, follow: bool) -> None:
    """Show what the gateway has logged.

    Keys and tokens are not in it.
    """
    file = context.home.log_file
    if not file.exists() and not follow:
        raise CommandFailed(
            Sentence(
                "Nothing is logged in {file} yet. It is written while `{gateway}` runs.",
                file=shown(file),
                gateway=typed(context.home, "gateway"),
            )
        )
    try:
        lines, position = last_lines(file, count)
        for line in lines:
            _show(line)
        while follow:
            position = _show_new(file, position)
            time.sleep(_LOOK_AGAIN)
    except OSError as error:
        raise CommandFailed(Sentence("Can't read {file}: {why}.", file=shown(file), why=reason_of(error))) from error
    except KeyboardInterrupt:  # the way to end it
        click.echo()


def _show_new(file: Path, position: int) -> int:
    """Shows what was appended behind `position`, also where the file was replaced meanwhile; returns the new end."""
    if not file.exists():
        return 0
    with file.open("rb") as stream:
        if os.fstat(stream.fileno()).st_size < position:
            _show_rest(older(file), position)
            position = 0
        return _show_from(stream, position)


def _show_rest(file: Path, position: int) -> None:
    if file.exists():
        with file.open("rb") as stream:
            _show_from(stream, position)


def _show_from(stream: BinaryIO, position: int) -> int:
    """Shows whole lines only: a line that is being written comes next time. Returns where they end."""
    stream.seek(position)
    for line in stream:
        if not line.endswith(b"\n"):
            break
        _show(line)
        position += len(line)
    return position


def _show(line: bytes) -> None:
    text = line.decode("utf-8", "replace").rstrip("\n")
    click.echo(plain(text) if sys.stdout.isatty() else text)
