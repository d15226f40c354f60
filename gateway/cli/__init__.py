"""The command line. Commands are imported when called, so that each starts fast."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

import click

from agent.formats.imports import without_collector
from agent.languages.sentences import translated
from gateway.file_system import PATIENCE, Question, no_answer
from gateway.home import HomeError, find_home, version
from gateway.manifest import CommandLine, features
from gateway.terminal.context import CliContext, CommandFailed, terminal_language
from gateway.terminal.words import in_words_of, say_in, translate_click

_KERNEL = {
    "init": "Set up Daybook. Each question can also be answered by an option.",
    "gateway": "Run Daybook in the foreground until you stop it.",
    "chat": "Chat with Daybook in this terminal.",
    "web": "Open the web page, logged in.",
    "doctor": "Check everything, and say how to fix each problem.",
    "status": "Show what Daybook is doing.",
    "memory": "Search what Daybook remembers; see and undo changes.",
    "sessions": "List, show, name, archive, export and delete conversations.",
    "schedule": "List and change reminders and jobs.",
    "pair": "See and choose who can talk to Daybook.",
    "skills": "See what Daybook has learned to do, and what is missing.",
    "usage": "Show tokens and cost.",
    "logs": "Show what the gateway has logged.",
    "config": "Check, show and change the configuration.",
    "update": "See whether there is a newer Daybook.",
    "migrate": "Move the messages to PostgreSQL, for several gateways, or back.",
    "completion": "Let your shell complete commands.",
}
"""The commands of the kernel, with the help that a list shows. Each is in the module of its name, but for these."""
_ELSEWHERE = {
    "usage": "gateway.cli.status:usage_command",
    "schedule": "gateway.handlers.schedule:ScheduleOperations",
    "pair": "gateway.handlers.people:PeopleOperations",
}


def _commands() -> Mapping[str, CommandLine]:
    """All commands, a feature's behind the command that it follows."""
    known = {
        name: CommandLine(help, _ELSEWHERE.get(name, f"gateway.cli.{name}:{name}_command"))
        for name, help in _KERNEL.items()
    }
    listed = [*known]
    for feature in features():
        for name, command in feature.commands.items():
            known[name] = command
            listed.insert(listed.index(command.after) + 1 if command.after in listed else len(listed), name)
    return {name: known[name] for name in listed}


COMMANDS = _commands()

_SAY_IT_THEMSELVES = ("doctor", "gateway")
"""That the home's file system does not answer."""


class _Words(click.types.StringParamType):
    """Typed text: UTF-8 if possible, whatever the locale, without lone surrogates."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        with contextlib.suppress(UnicodeEncodeError):
            return text.encode().decode()
        raw = os.fsencode(text)
        with contextlib.suppress(UnicodeDecodeError):
            return raw.decode()
        return raw.decode("cp1252", "replace")


translate_click()


def command_of(name: str) -> click.Command:
    """One of `COMMANDS`, as it is written."""
    with without_collector():
        command: click.Command = resolve_name(COMMANDS[name].command)
        if not isinstance(command, click.Command):
            command = resolve_name("gateway.terminal.operations:group_of")(name, COMMANDS[name].help, [command])
    _take_words(command)
    return command


class _Commands(click.Group):
    """Works as copies in the terminal's language: a command itself stays as it is written."""

    def main(self, *args: Any, **options: Any) -> Any:
        return click.Group.main(in_words_of(self, say_in(terminal_language())), *args, **options)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return in_words_of(command_of(cmd_name), say_in(terminal_language()))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the table: click's own would import every command for its first line."""
        say = say_in(terminal_language())
        with formatter.section(say("Commands")):
            formatter.write_dl([(name, say(command.help)) for name, command in COMMANDS.items()])


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
        found = find_home(home, os.environ)
    except HomeError as error:
        raise click.UsageError(str(translated(terminal_language(), error))) from error
    if ctx.invoked_subcommand not in _SAY_IT_THEMSELVES and not Question(found.path).is_answered(PATIENCE):
        raise CommandFailed(no_answer(found.path))
    ctx.obj = CliContext(found)
