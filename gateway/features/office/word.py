"""A Word document as Markdown: headings, lists with their numbers, tables, notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.media.markdown import Markdown, heading_mark, list_mark
from gateway.features.office.parts import Attributes, Parts, number, value

_NOTES = re.compile(r"word/(foot|end)notes\.xml")
_HEADING = re.compile(r"heading ([1-9])")
_PLACE = re.compile(r"%([1-9])")
_HIDDEN = frozenset({"Fallback", "moveFrom"})
"""Repeated content for older programs, and the old place of a moved paragraph."""
_BROKEN = {"br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEVELS = 9
_MOST_BASES = 10
_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
)


def from_word(parts: Parts) -> Iterator[str]:
    styles, lists = _Styles(), _Lists()
    parts.parse_whole("word/styles.xml", styles)
    parts.parse_whole("word/numbering.xml", lists)
    for name in ("word/document.xml", *sorted(filter(_NOTES.fullmatch, parts.names))):
        text = _Text(styles, lists)
        for _ in parts.parse(name, text):
            yield text.markdown.take()
        text.markdown.end()
        yield text.markdown.take()


@dataclass
class _Format:
    """The heading and list that a paragraph or its style names, if any."""

    heading: int | None = None
    list: str = ""
    level: str = ""


@dataclass
class _Style(_Format):
    base: str = ""


@dataclass
class _Styles:
    """Reads `word/styles.xml`."""

    _styles: dict[str, _Style] = field(default_factory=dict)
    _open: _Style = field(default_factory=_Style)

    def start(self, tag: str, given: Attributes) -> None:
        said = value(given, "val")
        match tag:
            case "style":
                self._open = self._styles[value(given, "styleId")] = _Style()
            case "name":
                if found := _HEADING.fullmatch(said.casefold()):
                    self._open.heading = int(found[1])
                elif said.casefold() == "title":
                    self._open.heading = 1
            case "basedOn":
                self._open.base = said
            case "outlineLvl" if self._open.heading is None:
                self._open.heading = number(said) + 1
            case "numId":
                self._open.list = said
            case "ilvl":
                self._open.level = said

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass

    def of(self, name: str) -> _Format:
        found = _Format()
        for _ in range(_MOST_BASES):
            style = self._styles.get(name)
            if style is None:
                break
            found.heading = style.heading if found.heading is None else found.heading
            found.list, found.level = found.list or style.list, found.level or style.level
            name = style.base
        return found


@dataclass
class _Level:
    kind: str = "decimal"
    text: str = ""
    start: int = 1


@dataclass
class _Lists:
    """Reads `word/numbering.xml`, and counts."""

    _abstract: dict[str, list[_Level]] = field(default_factory=dict)
    _used: dict[str, str] = field(default_factory=dict)
    _restarts: dict[str, dict[int, int]] = field(default_factory=dict)
    _counts: dict[str, list[int | None]] = field(default_factory=dict)
    _levels: list[_Level] = field(default_factory=list)
    _at: int = 0
    _list: str = ""

    def start(self, tag: str, given: Attributes) -> None:
        said = value(given, "val")
        level = self._levels[self._at] if self._levels else _Level()
        match tag:
            case "abstractNum":
                self._levels = self._abstract[value(given, "abstractNumId")] = [_Level() for _ in range(_LEVELS)]
                self._at = 0
            case "lvl" | "lvlOverride":
                self._at = min(number(value(given, "ilvl")), _LEVELS - 1)
            case "numFmt":
                level.kind = said
            case "lvlText":
                level.text = said
            case "start":
                level.start = number(said, 1)
            case "num":
                self._list, self._levels = value(given, "numId"), []
            case "abstractNumId":
                self._used[self._list] = said
            case "startOverride":
                self._restarts.setdefault(self._list, {})[self._at] = number(said, 1)

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass

    def next(self, name: str, at: int) -> str:
        """The next item's mark; empty where the list shows none."""
        abstract = self._used.get(name, "")
        levels = self._abstract.get(abstract)
        if levels is None:
            return "-"
        counts = self._counts.setdefault(abstract, [None] * _LEVELS)
        for level, start in self._restarts.pop(name, {}).items():
            counts[level] = start - 1
        before = counts[at]
        counts[at] = levels[at].start if before is None else before + 1
        counts[at + 1 :] = [None] * (_LEVELS - 1 - at)
        if levels[at].kind in ("bullet", "none"):
            return "-" if levels[at].kind == "bullet" else ""

        def shown(place: re.Match[str]) -> str:
            level = int(place[1]) - 1
            count = counts[level]
            return _number_as(levels[level].start if count is None else count, levels[level].kind)

        return _PLACE.sub(shown, levels[at].text[:100])


class _Text:
    """Reads the paragraphs and tables of a part."""

    def __init__(self, styles: _Styles, lists: _Lists) -> None:
        self.markdown = Markdown()
        self._styles = styles
        self._lists = lists
        self._own = _Format()
        self._style = ""
        self._span = 1
        self._hidden = 0
        self._open: list[str] = []

    def start(self, tag: str, given: Attributes) -> None:
        parent = self._open[-1] if self._open else ""
        self._open.append(tag)
        self._hidden += tag in _HIDDEN
        match tag:
            case "p":
                self.markdown.end_paragraph()
                self._own, self._style = _Format(), ""
            case "pStyle":
                self._style = value(given, "val")
            case "numId":
                self._own.list = value(given, "val")
            case "ilvl":
                self._own.level = value(given, "val")
            case "outlineLvl" if number(value(given, "val"), 9) < _LEVELS:
                self._own.heading = number(value(given, "val")) + 1
            case "tab" if parent != "tabs":
                self.markdown.add("\t")
            case "br" | "cr" | "noBreakHyphen":
                self.markdown.add(_BROKEN[tag])
            case "tbl":
                self.markdown.start_table()
            case "tr":
                self.markdown.start_row()
            case "tc":
                self.markdown.start_cell()
            case "gridSpan":
                self.markdown.widen(number(value(given, "val"), 1))

    def end(self, tag: str) -> None:
        self._open.pop()
        self._hidden -= tag in _HIDDEN
        match tag:
            case "pPr":
                self._begin()
            case "p":
                self.markdown.end_paragraph()
            case "tr":
                self.markdown.end_row()
            case "tbl":
                self.markdown.end_table()

    def data(self, text: str) -> None:
        if self._open[-1] == "t" and not self._hidden:
            self.markdown.add(text)

    def _begin(self) -> None:
        style, own = self._styles.of(self._style), self._own
        heading = style.heading if own.heading is None else own.heading
        name = own.list or style.list
        level = min(number(own.level or style.level), _LEVELS - 1)
        mark = self._lists.next(name, level) if name and name != "0" and not self._hidden else ""
        if heading is not None:
            self.markdown.blank()
            self.markdown.mark(heading_mark(heading) + (f"{mark} " if mark else ""))
        elif mark:
            self.markdown.mark(list_mark(mark, level))


def _number_as(count: int, kind: str) -> str:
    if kind.endswith("Letter") and 0 < count <= 26 * 3:
        text = chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)
    elif kind.endswith("Roman") and 0 < count < 4_000:
        text, left = "", count
        for worth, letters in _ROMAN:
            text += letters * (left // worth)
            left %= worth
    else:
        return str(count)
    return text.upper() if kind.startswith("upper") else text
