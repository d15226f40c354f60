"""A PowerPoint presentation as Markdown: its slides in their order, with tables, lists and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.media.markdown import Markdown, heading_mark, list_mark
from gateway.features.office.parts import Attributes, Parts, number

_TITLES = frozenset({"title", "ctrTitle"})
_NOT_SHOWN = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_LISTS = frozenset({"", "body", "obj"})
"""Placeholders whose paragraphs are the items of a list, unless they say otherwise."""


def from_slides(parts: Parts) -> Iterator[str]:
    """Each slide after its number, then its speaker's notes."""
    order = _Order()
    parts.parse_whole("ppt/presentation.xml", order)
    slides = parts.relations("ppt/presentation.xml")
    paths = [slides[reference][1] for reference in order.references if reference in slides]
    for at, path in enumerate((path for path in paths if path in parts.names), start=1):
        yield f"\n[Slide {at}]\n"
        yield from _text(parts, path, _Text())
        notes = [other for kind, other in parts.relations(path).values() if kind == "notesSlide"]
        for note in notes:
            if note in parts.names:
                text = "".join(_text(parts, note, _Text(is_note=True)))
                yield f"\nNotes: {text}" if text else ""


def _text(parts: Parts, path: str, text: _Text) -> Iterator[str]:
    for _ in parts.parse(path, text):
        yield text.markdown.take()
    text.markdown.end()
    yield text.markdown.take()


@dataclass
class _Order:
    """Reads `ppt/presentation.xml`."""

    references: list[str] = field(default_factory=list)

    def start(self, tag: str, given: Attributes) -> None:
        if tag == "sldId":
            self.references += [found for key, found in given.items() if key.endswith(":id")]

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass


class _Text:
    """Reads the shapes of a slide, or of its notes."""

    def __init__(self, *, is_note: bool = False) -> None:
        self.markdown = Markdown()
        self._is_note = is_note
        self._open: list[str] = []
        self._place: str | None = None
        """The kind of the placeholder that is open; None for a text box."""
        self._depth = 0
        self._bullet = ""
        self._counts: dict[int, int] = {}

    def start(self, tag: str, given: Attributes) -> None:
        parent = self._open[-1] if self._open else ""
        self._open.append(tag)
        match tag:
            case "sp":
                self._place = None
                self._counts.clear()
            case "ph":
                self._place = given.get("type", "")
            case "p":
                self.markdown.end_paragraph()
                self._depth = 0
                self._bullet = "-" if self._place in _LISTS and not self._is_note else ""
            case "pPr":
                self._depth = min(number(given.get("lvl")), 8)
            case "buNone":
                self._bullet = ""
            case "buChar" | "buBlip" if parent == "pPr":
                self._bullet = "-"
            case "buAutoNum" if parent == "pPr":
                start = number(given.get("startAt"), 1)
                self._counts[self._depth] = self._counts.get(self._depth, start - 1) + 1
                self._bullet = f"{self._counts[self._depth]}."
            case "br":
                self.markdown.add("\n")
            case "tab" if parent != "tabLst":
                self.markdown.add("\t")
            case "tbl":
                self._place = None
                self.markdown.start_table()
            case "tr":
                self.markdown.start_row()
            case "tc":
                self.markdown.start_cell()

    def end(self, tag: str) -> None:
        self._open.pop()
        match tag:
            case "p":
                mark = list_mark(self._bullet, self._depth) if self._bullet else ""
                self.markdown.mark(heading_mark(1) if self._place in _TITLES else mark)
                self.markdown.end_paragraph()
            case "tr":
                self.markdown.end_row()
            case "tbl":
                self.markdown.end_table()

    def data(self, text: str) -> None:
        shown = self._place == "body" if self._is_note else self._place not in _NOT_SHOWN
        if shown and self._open[-1] == "t":
            self.markdown.add(text)
