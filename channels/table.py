"""Tables as monospaced text, for platforms without their own."""

from __future__ import annotations

import unicodedata

from channels.text import Align, Table, visible

_WIDEST_COLUMN = 40
"""Columns of a table are padded up to this width; a longer cell pushes its row out."""


def draw_table(table: Table) -> list[str]:
    rows = [[_in_one_line(visible(cell)) for cell in row] for row in table.rows]
    widths = [min(max(map(columns, column)), _WIDEST_COLUMN) for column in zip(*rows, strict=True)]
    lines = [" | ".join(_pad(*cell) for cell in zip(row, widths, table.aligns, strict=True)).rstrip() for row in rows]
    return [lines[0], "-+-".join("-" * width for width in widths), *lines[1:]]


def _in_one_line(cell: str) -> str:
    lines = (" ".join(line.split()) for line in cell.split("\n"))
    return " / ".join(filter(None, lines))


def _pad(cell: str, width: int, align: Align) -> str:
    space = max(0, width - columns(cell))
    before = {Align.LEFT: 0, Align.CENTER: space // 2, Align.RIGHT: space}[align]
    return " " * before + cell + " " * (space - before)


def columns(text: str) -> int:
    """Monospaced width: East Asian characters and emoji take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
