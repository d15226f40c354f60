"""The words of `--help` and of click itself, in the terminal's language."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import TypeVar

import click
from click import core, decorators, exceptions, formatting, parser, termui, types

from agent.languages.codes import Language
from agent.languages.sentences import Sentence, sentences_of
from gateway.terminal.context import terminal_language

Say = Callable[[str], str]
"""Translates a text."""
_Command = TypeVar("_Command", bound=click.Command)
_VERBATIM = "\b"
"""Begins a paragraph of help that shows what to type."""
_PLACEHOLDER = re.compile(r"[A-Z](?:[A-Z ]*[A-Z])?")
_CLICKS = frozenset(
    [
        Sentence("Usage:"),
        Sentence("Options"),
        Sentence("Commands"),
        Sentence("Show this message and exit."),
        Sentence("default: {default}"),
        Sentence("required"),
        Sentence("Aborted!"),
        Sentence("Error: {message}"),
        Sentence("Error: The two entered values do not match."),
        Sentence("Repeat for confirmation"),
        Sentence("Try '{command} {option}' for help."),
        Sentence("Did you mean {possibility}?"),
        Sentence("(Did you mean one of: {possibilities}?)"),
        Sentence("Missing command."),
        Sentence("Missing argument"),
        Sentence("Missing option"),
        Sentence("Choose from:\n\t{choices}"),
        Sentence("No such option {name!r}."),
        Sentence("No such command {name!r}."),
        Sentence("Option {name!r} does not take a value."),
        Sentence("Option {name!r} requires an argument."),
        Sentence("Got unexpected extra argument ({args})"),
        Sentence("Got unexpected extra arguments ({args})"),
        Sentence("Invalid value: {message}"),
        Sentence("Invalid value for {param_hint}: {message}"),
        Sentence("{value!r} is not a valid {number_type}."),
        Sentence("{value} is not in the range {range}."),
        Sentence("{value!r} is not one of {choices}."),
        Sentence("{name} {filename!r} does not exist."),
        Sentence("{name} {filename!r} is a file."),
        Sentence("{name} {filename!r} is a directory."),
        Sentence("{name} {filename!r} is not readable."),
    ]
)
"""Click's own texts that people may see."""


def translate_click() -> None:
    """Makes click take its own texts from here: gettext would need binary files."""
    for module in (core, decorators, exceptions, formatting, parser, termui, types):
        vars(module).update(_=_of_click, ngettext=_counted)


def _of_click(english: str) -> str:
    return sentences_of(terminal_language()).get(english, english) if english in _CLICKS else english


def _counted(singular: str, plural: str, count: int) -> str:
    return _of_click(singular if count == 1 else plural)


def say_in(language: Language) -> Say:
    known = sentences_of(language)
    return lambda english: known.get(english, english)


def in_words_of(command: _Command, say: Say) -> _Command:
    """Copies a command, its `--help` translated by `say`. Names of commands and options stay."""
    made = copy.copy(command)
    made.help, made.epilog = (_paragraphs(text, say) for text in (command.help, command.epilog))
    made.options_metavar = command.options_metavar and _placeholders(command.options_metavar, say)
    made.params = [_parameter(parameter, say) for parameter in command.params]
    if isinstance(made, click.Group):
        made.subcommand_metavar = made.subcommand_metavar and _placeholders(made.subcommand_metavar, say)
        made.commands = {name: in_words_of(inner, say) for name, inner in made.commands.items()}
    return made


def _parameter(parameter: click.Parameter, say: Say) -> click.Parameter:
    made = copy.copy(parameter)
    if not isinstance(made.type, click.Choice | types.BoolParamType):
        made.type = copy.copy(parameter.type)
        made.type.name = say(parameter.type.name)
    if isinstance(made, click.Option):
        made.help = made.help and _paragraphs(made.help, say)
        made.metavar = made.metavar and _placeholders(made.metavar, say)
    elif made.metavar or not isinstance(made.type, click.Choice):
        named = _placeholders(made.metavar or (made.name or "").upper(), say)
        made.metavar = named if made.metavar or made.required else f"[{named}]"
    return made


def _paragraphs(text: str | None, say: Say) -> str | None:
    if text is None:
        return None
    shown = (
        paragraph if paragraph.startswith(_VERBATIM) else say(" ".join(paragraph.split()))
        for paragraph in text.split("\n\n")
    )
    return "\n\n".join(shown).strip()


def _placeholders(metavar: str, say: Say) -> str:
    return _PLACEHOLDER.sub(lambda word: say(word[0]), metavar)
