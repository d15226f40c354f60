"""Questions for a yes or no at the terminal."""

from __future__ import annotations

import click

from agent.languages.registry import LANGUAGES
from gateway.i18n import answer_of
from gateway.terminal.context import terminal_language


def is_confirmed(question: str, *, default: bool) -> bool:
    """Asks until the answer is a yes or a no, in any of our languages or by its first letter, or empty for `default`.
    Raises `click.Abort` at the input's end."""
    table = LANGUAGES[terminal_language()]
    words = [words.partition("|")[0] for words in (table.yes, table.no)]
    yes, no = (word[0] if table.spaced else word for word in words)
    choice = f"{yes.upper()}/{no}" if default else f"{yes}/{no.upper()}"
    while True:
        answer = str(click.prompt(f"{question} [{choice}]", default="", show_default=False)).strip()
        said_so = {"": default, yes: True, no: False}.get(answer.lower(), answer_of(answer))
        if said_so is not None:
            return said_so


def confirm(question: str) -> None:
    """Ends the command where the answer is no. Raises `click.Abort`."""
    if not is_confirmed(question, default=False):
        raise click.Abort
