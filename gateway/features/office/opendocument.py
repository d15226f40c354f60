"""A text or a presentation of OpenDocument as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.media.markdown import Markdown, heading_mark, list_mark
from gateway.features.office.parts import Attributes, Parts, number, value

_HIDDEN = frozenset({"tracked-changes"})
"""Elements with deleted text."""
_BLOCKS = frozenset({"p", "h"})


def from_open_document(parts: Parts) -> Iterator[str]:
    styles: dict[str, set[int]] = {}
    text = _Text(styles)
    parts.parse_whole("styles.xml", _Text(styles))
    for _ in parts.parse("content.xml", text):
        yield text.markdown.take()
    text.markdown.end()
    yield text.markdown.take()


@dataclass
class _Text:
    numbered: dict[str, set[int]]
    """The levels at which each style of lists counts."""
    markdown: Markdown = field(default_factory=Markdown)
    _hidden: int = 0
    _blocks: int = 0
    _slides: int = 0
    _style: str = ""
    _lists: list[tuple[str, int]] = field(default_factory=list)
    """The style and last number of each open list."""

    def start(self, tag: str, given: Attributes) -> None:
        self._hidden += tag in _HIDDEN
        match tag:
            case "list-style":
                self._style = value(given, "name")
            case "list-level-style-number" if value(given, "num-format"):
                self.numbered.setdefault(self._style, set()).add(number(value(given, "level")))
            case "page" if value(given, "master-page-name"):
                self._slides += 1
                self.markdown.blank()
                self.markdown.line(f"[Slide {self._slides}]")
            case "notes":
                self.markdown.blank()
                self.markdown.line("Notes:")
            case "p" | "h":
                self.markdown.end_paragraph()
                self._blocks += 1
                if tag == "h":
                    self.markdown.blank()
                    self.markdown.mark(heading_mark(number(value(given, "outline-level"), 1)))
            case "list":
                outer = self._lists[-1][0] if self._lists else ""
                self._lists.append((value(given, "style-name") or outer, 0))
            case "list-item" if self._lists and not self._hidden:
                style, count = self._lists[-1]
                self._lists[-1] = style, count + 1
                depth = len(self._lists)
                mark = f"{count + 1}." if depth in self.numbered.get(style, ()) else "-"
                self.markdown.mark(list_mark(mark, depth - 1))
            case "s":
                self.markdown.add(" " * min(number(value(given, "c"), 1), 100))
            case "tab":
                self.markdown.add("\t")
            case "line-break":
                self.markdown.add("\n")
            case "table":
                self.markdown.start_table()
            case "table-row":
                self.markdown.start_row()
            case "table-cell" | "covered-table-cell":
                self.markdown.start_cell(number(value(given, "number-columns-repeated"), 1))

    def end(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN
        match tag:
            case "p" | "h":
                self._blocks -= 1
                self.markdown.end_paragraph()
            case "list":
                self._lists.pop()
            case "table-row":
                self.markdown.end_row()
            case "table":
                self.markdown.end_table()

    def data(self, text: str) -> None:
        if self._blocks and not self._hidden:
            self.markdown.add(text)
