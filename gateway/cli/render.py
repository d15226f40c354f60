"""Output of commands: JSON, and tables for people."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from agent.model.base import Json


def print_json(value: Json) -> None:
    """Prints the one document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(heads: Sequence[str], lines: Sequence[Sequence[object]], empty: str) -> None:
    """Prints aligned columns under their heads; `empty` where there are no lines."""
    if not lines:
        click.echo(empty)
        return
    cells = [list(heads), *([_text(cell) for cell in line] for line in lines)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    for row in cells:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _text(cell: object) -> str:
    return "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell)
