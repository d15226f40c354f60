"""Tables of the command line, as wide as the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

import click
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from gateway.terminal.screen import plain
from gateway.terminal.styled import is_styled, render

_GAP = 2
_NARROWEST = 16
"""Cells that a column of sentences keeps; a narrower one is hard to read."""


def print_table(heads: Sequence[str], lines: Sequence[Sequence[object]], empty: str) -> None:
    """Prints aligned columns, or `empty`. At a terminal they fit its width, and what is longer than it is paged."""
    if not lines:
        click.echo(empty)
        return
    cells = [
        ["" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in line] for line in lines
    ]
    if not is_styled(sys.stdout):
        everything = [list(heads), *cells]
        widths = [max(len(row[column]) for row in everything) for column in range(len(heads))]
        for row in everything:
            click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        return
    size = shutil.get_terminal_size()
    shown = _fitted(heads, [[" ".join(plain(cell).split()) for cell in row] for row in cells], size.columns)
    text = render(sys.stdout, shown)
    if text.count("\n") >= size.lines and sys.stdin.isatty():
        click.echo_via_pager(text, color=True)
    else:
        click.echo(text, nl=False, color=True)


def _fitted(heads: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> Table | Text:
    """Columns, where sentences wrap and ids do not; in a terminal too narrow for that, each row as lines."""
    columns = list(zip(heads, zip(*cells, strict=True), strict=True))
    needed = 0
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold cyan")
    for head, column in columns:
        widest = max(cell_len(cell) for cell in (head, *column))
        wraps = any(" " in cell for cell in column)
        needed += min(widest, _NARROWEST) if wraps else widest
        is_number = all(cell.replace(",", "").replace(".", "").isdigit() for cell in column if cell)
        table.add_column(
            Text(head),
            justify="right" if is_number and any(column) else "left",
            no_wrap=not wraps,
            min_width=min(widest, _NARROWEST) if wraps else widest,
        )
    if needed + _GAP * (len(columns) - 1) <= width:
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        return table
    label = max(cell_len(head) for head in heads)
    listed = Text()
    for number, row in enumerate(cells):
        listed.append("\n" if number else "")
        for head, cell in zip(heads, row, strict=True):
            if cell:
                listed.append(f"{head:<{label}}  ", "bold cyan").append(f"{cell}\n")
    listed.rstrip()
    return listed
