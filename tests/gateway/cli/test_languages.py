"""The command line in the terminal's language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agent.languages.codes import Language
from gateway.cli import COMMANDS, command_of
from tests.english import english_in
from tests.gateway.cli.test_cli import invoke

LANGUAGES = [Language(code) for code in ("de", "fr", "zh")]
TYPED = re.compile(r"(?<![\w-])--?[a-z][\w-]*|daybook(?: [a-z]+)*|[\w.-]+\.(?:com|json|md|yaml|web\.port)\b|\$\w+")
"""Names of options, commands, files and variables, which are the same in every language."""

NAMES = re.compile(r"^  [a-z]+(?=  )|\[(?:message\|prompt|bash\|zsh\|fish)\]|URL\|sqlite|\w+(?=\])", re.MULTILINE)
"""In a help: commands, values to choose from, defaults."""


def commands(command: click.Command, *words: str) -> Iterator[tuple[str, ...]]:
    """What is typed for the command and those in it."""
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *words, name)


EVERY = [(), *(words for name in COMMANDS for words in commands(command_of(name), name))]


def in_terminal(language: Language, home: Path, *words: str, stdin: str = "") -> str:
    done = invoke(home, *words, stdin=stdin, LC_ALL=f"{language}.UTF-8")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.output


def english(text: str, language: Language, *quoted: str) -> list[str]:
    return english_in(TYPED.sub(" ", text), language, *quoted)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_help_of_every_command_is_in_the_terminals_language(tmp_path: Path, language: Language) -> None:
    for words in EVERY:
        shown = in_terminal(language, tmp_path, *words, "--help")
        assert english(NAMES.sub(" ", shown), language) == [], shown


def test_the_table_says_of_a_command_what_its_help_begins_with() -> None:
    for name, text in COMMANDS.items():
        assert (command_of(name).help or "").split("\n\n")[0] == text


def test_an_english_terminal_after_another_is_answered_in_english(tmp_path: Path) -> None:
    assert "Befehle:" in in_terminal(LANGUAGES[0], tmp_path, "--help")
    for words in EVERY:
        shown = invoke(tmp_path, *words, "--help", LC_ALL="C").output
        assert shown.startswith("Usage: ") and "Show this message and exit." in shown


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "words",
    [
        ("dance",),
        ("statsu",),
        ("status", "--nothing"),
        ("status", "extra"),
        ("backup",),
        ("restore", "nowhere"),
        ("usage", "--days", "0"),
        ("usage", "--days", "many"),
        ("completion", "tcsh"),
        ("sessions", "prune"),
        ("chat", "-m"),
    ],
)
def test_wrong_usage_is_said_in_the_terminals_language(
    tmp_path: Path, language: Language, words: tuple[str, ...]
) -> None:
    said = in_terminal(language, tmp_path, *words)
    assert english(said, language, *words, "'status'", "'bash', 'zsh', 'fish'", "bash|zsh|fish", "x>=1") == [], said
