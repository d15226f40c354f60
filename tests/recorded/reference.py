"""`python -m tests.recorded.reference` writes the parts of the docs that list commands and settings, as they are now;
`--check` only says which page is stale."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from gateway.cli import COMMANDS, command_of
from gateway.commands.registry import all_commands
from gateway.config.reference import markdown

DOCS = Path(__file__).parents[2] / "docs"
_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
"""Between these marks a page is made anew: `python -m tests.recorded.reference`."""
_EVERYWHERE = frozenset({"as_json", "agent", "help"})
"""Options that the page explains once."""


def pages() -> Mapping[Path, str]:
    """The pages with what is to be in them."""
    parts = {"chat": _chat_commands, "terminal": _commands}
    page = DOCS / "commands.md"
    listed = _PART.sub(lambda part: f"{part[1]}{_table(parts[part[2]]())}{part[3]}", page.read_text("utf-8"))
    return {page: listed, DOCS / "configuration.md": markdown()}


def stale() -> list[str]:
    return [path.name for path, text in pages().items() if path.read_text("utf-8") != text]


def _table(rows: Iterator[tuple[str, str]]) -> str:
    lines = (f"| {what} | {' '.join(text.split())} |\n" for what, text in rows)
    return "| command | does |\n|---|---|\n" + "".join(lines)


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _chat_commands() -> Iterator[tuple[str, str]]:
    for command in all_commands().menu:
        whose = " (the owner's, in private)" if command.owner_only else ""
        yield _code(f"/{command.name} {command.usage}".rstrip()), f"{command.description}{whose}"


def _commands() -> Iterator[tuple[str, str]]:
    for name in COMMANDS:
        yield from _rows(command_of(name), f"daybook {name}")


def _rows(command: click.Command, path: str) -> Iterator[tuple[str, str]]:
    """A row for each command, followed by its options."""
    if isinstance(command, click.Group):
        for name, inner in sorted(command.commands.items()):
            yield from _rows(inner, f"{path} {name}")
        return
    context = click.Context(command)
    typed = [path, *(parameter.make_metavar(context) for parameter in command.params if not _is_option(parameter))]
    yield _code(" ".join(typed)), command.help or ""
    for option in filter(_is_option, command.params):
        if option.name not in _EVERYWHERE and (shown := option.get_help_record(context)):
            yield f"· {_code(shown[0])}", shown[1]


def _is_option(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option)


def main() -> None:
    os.environ["LC_ALL"] = "C"  # else click says its own words in this terminal's language
    if "--check" in sys.argv:
        sys.exit(f"run `python -m tests.recorded.reference`: {', '.join(names)}" if (names := stale()) else 0)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
