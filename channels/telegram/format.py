"""Markdown as text and entities. No character in the text can make Telegram refuse them, unlike markup. Offsets and
lengths count UTF-16 code units (https://core.telegram.org/api/entities)."""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from channels.table import columns, draw_table
from channels.text import (
    Block,
    CodeBlock,
    CodeSpan,
    Formula,
    Heading,
    Inline,
    Link,
    ListBlock,
    Mark,
    Marked,
    Paragraph,
    QuoteBlock,
    Rule,
    Table,
    Text,
    clean,
    parse,
    spelled_out,
    utf16_len,
    visible,
    web_host,
)

MAX_TEXT = 4096
"""UTF-16 code units of a message, counted after formatting."""
MAX_ENTITIES = 100

_RULE = "—" * 10
_APP_LINK = re.compile("tg://[^/?#]", re.IGNORECASE)
_WIDEST_TABLE = 48
"""Characters; a wider table would wrap on a phone."""


class EntityType(enum.StrEnum):
    BOLD = "bold"
    ITALIC = "italic"
    STRIKETHROUGH = "strikethrough"
    SPOILER = "spoiler"
    CODE = "code"
    PRE = "pre"
    TEXT_LINK = "text_link"
    BLOCKQUOTE = "blockquote"


@dataclass(frozen=True, slots=True)
class Entity:
    type: EntityType
    offset: int
    length: int
    url: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Formatted:
    text: str
    entities: tuple[Entity, ...]


def formatted(markdown: str) -> Formatted:
    """The text with at most 100 entities, links and code first."""
    text, entities = _render(markdown)
    kept = sorted(sorted(entities, key=_importance)[:MAX_ENTITIES], key=lambda entity: (entity.offset, -entity.length))
    return Formatted(text, tuple(kept))


def plain(markdown: str) -> str:
    source = clean(markdown)
    spelled = _join(_blocks(parse(source), _Style(links=False)))[0]
    text = spelled if utf16_len(spelled) <= MAX_TEXT else formatted(markdown).text
    return text if text.strip() else source


def length(markdown: str) -> int:
    """UTF-16 code units once rendered. Too many links count as too long: an address without an entity would be lost."""
    text, entities = _render(markdown)
    links = sum(1 for entity in entities if entity.type is EntityType.TEXT_LINK)
    return max(utf16_len(text), links * MAX_TEXT // MAX_ENTITIES)


@lru_cache(maxsize=256)
def _render(markdown: str) -> tuple[str, tuple[Entity, ...]]:
    """Text and entities, cached: a piece is measured when cut, and rendered when sent."""
    source = clean(markdown)
    text, entities = _join(_blocks(parse(source), _Style()))
    if not text.strip():  # Markdown that shows nothing (an empty heading) is shown as it was written
        return source, ()
    return text, tuple(entities)


def _importance(entity: Entity) -> int:
    order = (EntityType.TEXT_LINK, EntityType.PRE, EntityType.CODE, EntityType.BLOCKQUOTE)
    return order.index(entity.type) if entity.type in order else len(order)


@dataclass(frozen=True, slots=True)
class _Layer:
    """`serial` keeps neighbours of the same kind apart."""

    type: EntityType
    serial: int
    url: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Style:
    layers: tuple[_Layer, ...] = ()
    links: bool = True
    serials: itertools.count[int] = field(default_factory=itertools.count)

    def within(self, kind: EntityType, *, url: str = "", language: str = "") -> _Style:
        """Nothing nests in itself, and code drops the layers around it except a quote and a link (Bot API, formatting
        options)."""
        if any(layer.type is kind for layer in self.layers):
            return self
        kept = self.layers
        if kind in (EntityType.CODE, EntityType.PRE):
            if any(layer.type is EntityType.TEXT_LINK for layer in kept):
                return self
            kept = tuple(layer for layer in kept if layer.type is EntityType.BLOCKQUOTE)
        return _Style((*kept, _Layer(kind, next(self.serials), url, language)), self.links, self.serials)

    @property
    def is_pre(self) -> bool:
        return any(layer.type is EntityType.PRE for layer in self.layers)


@dataclass(frozen=True, slots=True)
class _Run:
    text: str
    style: _Style


_Line = tuple[_Run, ...]
"""At least one run, so that an empty line keeps its quote or code style."""


def _blocks(blocks: Sequence[Block], style: _Style, *, apart: bool = True) -> list[_Line]:
    lines: list[_Line] = []
    for block in blocks:
        if lines and apart:
            lines.append((_Run("", style),))
        lines.extend(_block(block, style))
    return lines


def _block(block: Block, style: _Style) -> list[_Line]:
    match block:
        case Paragraph(inlines):
            return _inline_lines(inlines, style)
        case Heading(_, inlines):
            return _inline_lines(inlines, style.within(EntityType.BOLD))
        case ListBlock():
            return _list_lines(block, style)
        case CodeBlock(text, language):
            return _pre_lines(text, language, style)
        case Table():
            return _table_lines(block, style)
        case QuoteBlock(blocks):
            inner = style.within(EntityType.BLOCKQUOTE)
            lines = _blocks(blocks, inner) or [(_Run("", inner),)]
            # Telegram's quotes do not nest: an inner one shows its marks.
            return _indented(lines, "> ", "> ", style) if inner is style else lines
        case Rule():
            return [(_Run(_RULE, style),)]


def _list_lines(block: ListBlock, style: _Style) -> list[_Line]:
    lines: list[_Line] = []
    for number, item in enumerate(block.items, block.start or 0):
        if lines and not block.tight:
            lines.append((_Run("", style),))
        mark = "• " if block.start is None else f"{number}. "
        content = _blocks(item, style, apart=not block.tight) or [(_Run("", style),)]
        lines.extend(_indented(content, mark, " " * len(mark), style))
    return lines


def _indented(lines: Sequence[_Line], first: str, others: str, style: _Style) -> list[_Line]:
    """Code keeps its margin for copying."""
    indented: list[_Line] = []
    for index, line in enumerate(lines):
        if index == 0 and line[0].style.is_pre:
            indented.append((_Run(first.rstrip(), style),))
        if line[0].style.is_pre:
            indented.append(line)
        else:
            prefix = first if index == 0 else others if any(run.text for run in line) else others.rstrip()
            indented.append((_Run(prefix, style), *line))
    return indented


def _pre_lines(text: str, language: str, style: _Style) -> list[_Line]:
    inside = style.within(EntityType.PRE, language=language)
    return [(_Run(line, inside),) for line in text.split("\n")]


def _table_lines(table: Table, style: _Style) -> list[_Line]:
    """A narrow table in columns; each row of a wide one is a paragraph."""
    lines = draw_table(table)
    if len(table.rows) < 2 or max(map(columns, lines)) <= _WIDEST_TABLE:
        return _pre_lines("\n".join(lines), "", style)
    paragraphs: list[_Line] = []
    for row in table.rows[1:]:
        if paragraphs:
            paragraphs.append((_Run("", style),))
        bold = style.within(EntityType.BOLD)  # the first column names the row
        for number, (header, cell) in enumerate(zip(table.rows[0], row, strict=True)):
            inner = style if number else bold
            named = (*header, Text(": ")) if visible(header).strip() and visible(cell).strip() else header
            paragraphs.extend(_inline_lines((*named, *cell), inner))
    return paragraphs


def _inline_lines(inlines: Sequence[Inline], style: _Style) -> list[_Line]:
    lines: list[list[_Run]] = [[]]
    for run in _runs(inlines, style):
        first, *others = run.text.split("\n")
        lines[-1].append(_Run(first, run.style))
        lines.extend([_Run(other, run.style)] for other in others)
    return [tuple(line) or (_Run("", style),) for line in lines]


def _runs(inlines: Iterable[Inline], style: _Style) -> Iterable[_Run]:
    for inline in inlines:
        match inline:
            case Text(text):
                yield _Run(text, style)
            case Formula():
                yield _Run(inline.shown, style)
            case CodeSpan(text):
                yield _Run(text, style.within(EntityType.CODE))
            case Marked(mark, inner):
                yield from _runs(inner, style.within(_MARKS[mark]))
            case Link(url, inner):
                if style.links and is_linkable(url):
                    shown = inner if visible(inner).strip() else (Text(url),)
                    yield from _runs(shown, style.within(EntityType.TEXT_LINK, url=url))
                else:
                    yield from _spelled_out(url, inner, style)


_MARKS = {
    Mark.STRONG: EntityType.BOLD,
    Mark.EMPHASIS: EntityType.ITALIC,
    Mark.STRIKE: EntityType.STRIKETHROUGH,
    Mark.SPOILER: EntityType.SPOILER,
}


def _spelled_out(url: str, inner: Sequence[Inline], style: _Style) -> Iterable[_Run]:
    label = visible(inner)
    yield from _runs(inner, style)
    rest = spelled_out(label.strip(), url).removeprefix(label.strip())
    if rest:
        yield _Run(rest, style)


def is_linkable(url: str) -> bool:
    """True for a link to Telegram, which drops others silently."""
    return "." in web_host(url).strip(".") or _APP_LINK.match(url) is not None


def _join(lines: Sequence[_Line]) -> tuple[str, list[Entity]]:
    parts: list[str] = []
    entities: list[Entity] = []
    open_at: dict[_Layer, int] = {}
    position = 0

    def move_to(layers: tuple[_Layer, ...]) -> None:
        for layer in [layer for layer in open_at if layer not in layers]:
            start = open_at.pop(layer)
            if position > start:
                entities.append(Entity(layer.type, start, position - start, layer.url, layer.language))
        for layer in layers:
            open_at.setdefault(layer, position)

    previous: tuple[_Layer, ...] = ()
    for index, line in enumerate(lines):
        if index:
            move_to(tuple(layer for layer in previous if layer in line[0].style.layers))
            parts.append("\n")
            position += 1
        for run in line:
            move_to(run.style.layers)
            parts.append(run.text)
            position += utf16_len(run.text)
            previous = run.style.layers
    move_to(())
    return "".join(parts), sorted(entities, key=lambda entity: (entity.offset, -entity.length))
