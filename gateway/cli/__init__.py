"""The command line. A command's module is imported when the command is called, so that every one starts fast."""

from __future__ import annotations

import contextlib
import importlib
import os

import click

from agent.formats.imports import without_collector
from gateway.cli.context import CliContext
from gateway.home import HomeError, find_home, version

_COMMANDS = {
    "init": "Set Daybook up: questions, each also a flag.",
    "gateway": "Run the gateway in the foreground until it is told to stop.",
    "chat": "Talk to the agent in this terminal.",
    "web": "Where the web page is, and its token.",
    "doctor": "Check everything; each problem comes with its cure.",
    "status": "What the running gateway does.",
    "memory": "Search what is remembered; see and undo its changes.",
    "sessions": "The transcripts of talks.",
    "schedule": "Jobs and reminders.",
    "pair": "Who may talk to it.",
    "skills": "What it has learnt to do, and what is missing.",
    "usage": "Tokens and cost.",
    "config": "Check and show the configuration.",
}
"""Each name is a module of this package with a command of that name, and what `--help` says of it."""


class _Words(click.types.StringParamType):
    """Text that somebody typed: read as UTF-8 where possible, whatever the locale says, and without lone surrogates,
    which no file and no other process accepts."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        with contextlib.suppress(UnicodeEncodeError):
            return text.encode().decode()
        raw = os.fsencode(text)
        with contextlib.suppress(UnicodeDecodeError):
            return raw.decode()
        return raw.decode("cp1252", "replace")


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        with without_collector():
            module = importlib.import_module(f"gateway.cli.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        _take_words(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the table: click's own would import every command for its first line."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _take_words(command: click.Command) -> None:
    for param in command.params:
        if param.type is click.STRING:
            param.type = _Words()
    for inner in getattr(command, "commands", {}).values():
        _take_words(inner)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--home", metavar="DIR", help="Where Daybook lives (else $DAYBOOK_HOME, else ~/.daybook).")
@click.version_option(version(), prog_name="daybook")
@click.pass_context
def daybook(ctx: click.Context, home: str | None) -> None:
    """A personal assistant in the chats you already use, which keeps its memory in plain Markdown."""
    try:
        ctx.obj = CliContext(find_home(home, os.environ))
    except HomeError as error:
        raise click.UsageError(str(error)) from error
