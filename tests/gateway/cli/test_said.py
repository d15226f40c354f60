"""Whatever the command line shows is said in a language: no text of ours reaches a person as it stands in the code.
So are the texts of features, and what keeps a command from reaching the gateway."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway import cli, features, terminal
from gateway.rpc import client

FOLDERS = [Path(one.__file__).parent for one in (cli, terminal, features)]
FILES = [*(file for folder in FOLDERS for file in sorted(folder.rglob("*.py"))), Path(client.__file__)]
SHOWS = frozenset(
    {"echo", "secho", "prompt", "confirm", "is_confirmed", "progressbar", "print_table"}
    | {"ClickException", "UsageError", "BadParameter", "CommandFailed", "Misconfigured", "OperationError"}
    | {"ImportRefused", "skip"}
)
"""Functions and errors whose texts people read."""
LISTS = frozenset({"remarks"})
"""So are texts that are appended to these."""
SAYS = frozenset({"said", "Sentence", "said_of"})
NOT_SHOWN = frozenset({"get", "replace", "encode", "typed", "join", "partition"})
"""Calls whose texts are keys and ends."""
SAME_EVERYWHERE = frozenset({"ok", "daybook", "_DAYBOOK_COMPLETE", "MEMORY.md"})
"""The mark of a finding; names for the shell; a file."""
WORD = re.compile(r"[^\W\d_]{2,}")


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _shows(call: ast.Call) -> bool:
    kept = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "append" else None
    return _name(call) in SHOWS or (isinstance(kept, ast.Attribute) and kept.attr in LISTS)


def _texts(node: ast.AST) -> Iterator[ast.Constant]:
    """The literals in an expression that are shown as they are."""
    match node:
        case ast.Call() if _name(node) in SAYS | NOT_SHOWN:
            return
        case ast.Compare() | ast.Subscript() | ast.Slice():
            return
        case ast.IfExp():
            children: list[ast.AST] = [node.body, node.orelse]
        case ast.FormattedValue():
            children = [node.value]  # not its format
        case ast.Constant() if isinstance(node.value, str) and WORD.search(node.value):
            yield node
            return
        case _:
            children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _texts(child)


def unsaid(source: str) -> list[str]:
    """The texts that are shown without a language, with their lines; through names of the same function, too."""
    tree = ast.parse(source)
    found = {}
    for scope in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
        kept: dict[str, list[ast.expr]] = {}
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                kept.setdefault(node.targets[0].id, []).append(node.value)
        for call in (node for node in ast.walk(scope) if isinstance(node, ast.Call) and _shows(node)):
            shown = [*call.args, *(one.value for one in call.keywords if one.arg in ("label", "text"))]
            names = {one.id: None for part in shown for one in ast.walk(part) if isinstance(one, ast.Name)}
            named = [value for name in names for value in kept.get(name, []) if isinstance(value, ast.JoinedStr)]
            for text in (text for part in [*shown, *named] for text in _texts(part)):
                found[text.lineno, str(text.value)] = None
    return [f"{line}: {text}" for line, text in found if text not in SAME_EVERYWHERE]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_a_command_shows_is_said_in_a_language(file: Path) -> None:
    assert unsaid(file.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        'click.echo("Nothing found.")',
        'click.echo(f"Saved to {file}.", err=True)',
        'click.echo(context.said("It is {state}.", state=state) if state else "Nothing.")',
        'raise CommandFailed(f"{file} is missing")',
        'where = f"kept in {file}"\n    click.echo(where)',
        'return print_table(heads, lines, "No jobs yet.")',
        'click.progressbar(length=0, label="Indexing")',
        'click.prompt("Passphrase", hide_input=True)',
        'raise ImportRefused(f"{file} is empty.") from error',
        'raise ImportRefused(joined([f"{file} is empty.", hint], " "))',
        'findings.skip(file, "is no Markdown")',
        'findings.skip(f"conversation {file}", Sentence("has no date"))',
        'findings.remarks.append(f"{file} was read.")',
    ],
)
def test_a_text_that_is_shown_as_it_stands_is_found(line: str) -> None:
    assert len(unsaid(f"def command(context, file, state, heads, lines):\n    {line}\n")) == 1


@pytest.mark.parametrize(
    "line",
    [
        'click.echo(context.said("Nothing found."))',
        "click.echo(f\"  {row.get('date'):>10}  {found['id']}\\n\")",
        'click.echo(f"{size:.1f}")',
        'raise CommandFailed(Sentence("{file} is missing.", file=file))',
        'findings.skip(f"{file}/", Sentence("is no Markdown"))',
        'findings.remarks.append(Sentence("{file} was read.", file=file))',
        'lines.append("is no Markdown")',
    ],
)
def test_a_text_that_is_said_or_a_key_is_passed_over(line: str) -> None:
    assert unsaid(f"def command(context, row, found, size, file):\n    {line}\n") == []
