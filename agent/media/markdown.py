"""Structure of any format as lines of Markdown. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

AFTER_LINKS = "\f"
"""Parts the links of a page, one `[number] address` a line, from its text."""
_MOST_SPANNED = 50
"""Columns or rows: a page may claim that a cell spans a million."""
_MOST_COLUMNS = 200
"""Further cells of a row are shown in its last cell."""
_DEEPEST = 6
"""Indentation of nested lists: deeper ones would make the text grow faster than the file."""


def list_mark(mark: str, depth: int) -> str:
    """The beginning of an item; `depth` is 0 for the outermost list."""
    return f"{'  ' * min(depth, _DEEPEST)}{mark} "


def heading_mark(level: int) -> str:
    """The beginning of a heading; `level` is 1 for the highest."""
    return "#" * max(1, min(level, 6)) + " "


@dataclass
class _Table:
    rows: int = 0
    cells: list[list[str]] | None = None
    """The paragraphs of each cell of the open row."""
    at: int = 0
    """The open cell."""
    is_layout: bool = False
    """It has a table in it, so it only arranges things: its cells are shown as paragraphs."""
    spanned: dict[int, int] = field(default_factory=dict)
    """Rows below that a cell spans, by column."""


class Markdown:
    """Takes text and structure in the document's order. An element may stay open: the next one ends it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._text: list[str] = []
        self._mark = ""
        self._tables: list[_Table] = []
        self._blank = self._is_begun = False

    def take(self) -> str:
        text = "".join(self._lines)
        self._lines.clear()
        return text

    def add(self, text: str) -> None:
        self._text.append(text)

    def mark(self, mark: str) -> None:
        """Puts the mark of a heading or list before the open paragraph."""
        self._mark = mark

    @property
    def ends_in_space(self) -> bool:
        return not self._text or self._text[-1][-1:].isspace()

    def end_paragraph(self) -> None:
        text, mark = "".join(self._text).strip(), self._mark
        self._text.clear()
        if not text:
            return
        self._mark = ""
        table = self._tables[-1] if self._tables else None
        if table is None or table.is_layout or not table.cells:
            self.line(mark + text)
        else:
            table.cells[table.at].append(("" if mark.startswith("#") else mark.lstrip()) + text)

    def blank(self) -> None:
        self.end_paragraph()
        self._blank = True

    def line(self, text: str) -> None:
        if self._blank and self._is_begun:
            self._lines.append("\n")
        self._blank, self._is_begun = False, True
        self._lines.append(text + "\n")

    def start_table(self) -> None:
        self.blank()
        if self._tables and not self._tables[-1].is_layout:
            outer = self._tables[-1]
            outer.is_layout = True
            self._write_cells(outer)
        self._tables.append(_Table())

    def end_table(self) -> None:
        self.end_row()
        if self._tables:
            self._tables.pop()
        self.blank()

    def start_row(self) -> None:
        self.end_row()
        if self._tables:
            self._tables[-1].cells = []

    def start_cell(self, columns: int = 1, rows: int = 1) -> None:
        self.end_paragraph()
        self._mark = ""
        if not self._tables:
            return
        table = self._tables[-1]
        if table.cells is None:
            table.cells = []
        _skip_spanned(table, table.cells)
        table.at = min(len(table.cells), _MOST_COLUMNS - 1)
        for _ in range(min(max(1, min(columns, _MOST_SPANNED)), _MOST_COLUMNS - len(table.cells))):
            if rows > 1:
                table.spanned[len(table.cells)] = min(rows, _MOST_SPANNED) - 1
            table.cells.append([])

    def widen(self, columns: int) -> None:
        """Makes the open cell, the row's last, span `columns`."""
        if self._tables and self._tables[-1].cells:
            cells = self._tables[-1].cells
            cells += [[] for _ in range(min(columns, _MOST_SPANNED, _MOST_COLUMNS - len(cells) + 1) - 1)]

    def end_row(self) -> None:
        self.end_paragraph()
        self._mark = ""
        if not self._tables or self._tables[-1].cells is None:
            return
        table = self._tables[-1]
        cells = table.cells or []
        _skip_spanned(table, cells)
        if table.is_layout or len(cells) < 2:
            self._write_cells(table)
        elif any(cells):
            shown = (" / ".join(cell).replace("\n", " / ").replace("|", "\\|") for cell in cells)
            self.line(f"| {' | '.join(shown)} |")
            if not table.rows:
                self.line("|" + " --- |" * len(cells))
            table.rows += 1
        table.cells = None

    def end(self) -> None:
        while self._tables:
            self.end_table()
        self.end_paragraph()

    def _write_cells(self, table: _Table) -> None:
        for cell in table.cells or []:
            for paragraph in cell:
                self.line(paragraph)
        table.cells = [[]] if table.cells else table.cells
        table.at = 0


def _skip_spanned(table: _Table, cells: list[list[str]]) -> None:
    while len(cells) < _MOST_COLUMNS and table.spanned.get(len(cells)):
        table.spanned[len(cells)] -= 1
        cells.append([])
