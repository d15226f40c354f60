"""A person's text as Markdown: Telegram sends the plain text and, separately, its marks (entities). Pure.

Bold, italic and underline are left out: they say nothing that the words do not. Offsets count UTF-16 code units
(https://core.telegram.org/bots/api#messageentity).
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from channels.json_fields import Json, get, moment_in_utc, object_of, objects_of, text_of
from channels.text import clean

_LANGUAGE = re.compile(r"[\w+#.-]{1,40}")
_BACKTICKS = re.compile(r"`+")
_SCHEME = re.compile(r"(?:https?://|mailto:|tel:)", re.IGNORECASE)


class _Layer(enum.Enum):
    """Kinds of marks, from the outside to the inside."""

    QUOTE = enum.auto()
    PRE = enum.auto()
    LINK = enum.auto()
    NOTE = enum.auto()
    SPOILER = enum.auto()
    STRIKE = enum.auto()
    CODE = enum.auto()


_LAYERS = {
    "blockquote": _Layer.QUOTE,
    "expandable_blockquote": _Layer.QUOTE,
    "pre": _Layer.PRE,
    "text_link": _Layer.LINK,
    "text_mention": _Layer.NOTE,
    "date_time": _Layer.NOTE,
    "spoiler": _Layer.SPOILER,
    "strikethrough": _Layer.STRIKE,
    "code": _Layer.CODE,
}


@dataclass(frozen=True, slots=True)
class TextMark:
    """An entity: `start` and `end` count characters. `detail`: its address, language, name or time."""

    type: str
    start: int
    end: int
    detail: str = ""
    user_id: int | None = None


def worded(parent: Json, field: str, entities: str) -> str:
    """A field as Markdown."""
    text, marks = marked(parent, field, entities)
    return marked_up(text, marks)


def marked(parent: Json, field: str, entities: str) -> tuple[str, tuple[TextMark, ...]]:
    """A field's text and its marks. Lone surrogates are replaced, which moves no offset."""
    text = (get(parent, field, str) or "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text, tuple(_marks(text, objects_of(parent, entities)))


def marked_up(text: str, marks: Sequence[TextMark], start: int = 0) -> str:
    """The text from `start` on, as Markdown."""
    edges = sorted({start, len(text), *(edge for mark in marks for edge in (mark.start, mark.end) if edge > start)})
    runs = [
        _Run(clean(text[begin:end]), tuple(_standing_on(text, marks, layer, begin) for layer in _Layer))
        for begin, end in pairwise(edges)
    ]
    return _rendered(runs, 0)


@dataclass(frozen=True, slots=True)
class _Run:
    """Text with the same marks throughout, one or none for each layer."""

    text: str
    layers: tuple[TextMark | None, ...]


def _marks(text: str, entities: Iterator[Json]) -> Iterator[TextMark]:
    units = text.encode("utf-16-le")
    for entity in entities:
        offset, length, kind = get(entity, "offset", int), get(entity, "length", int), get(entity, "type", str)
        if offset is None or length is None or kind is None or offset < 0 or length < 1:
            continue
        if 2 * (offset + length) > len(units):
            continue
        start, end = _characters(units, offset), _characters(units, offset + length, whole=True)
        user = object_of(entity, "user")
        yield TextMark(kind, start, end, _detail(entity, kind, user), get(user, "id", int) if user else None)


def _characters(units: bytes, offset: int, *, whole: bool = False) -> int:
    """The number of characters in `offset` code units. `whole`: a character that is cut counts."""
    return len(units[: 2 * offset].decode("utf-16-le", "replace" if whole else "ignore"))


def _detail(entity: Json, kind: str, user: Json | None) -> str:
    match kind:
        case "text_link":
            return "".join(text_of(entity, "url").split())
        case "pre":
            return text_of(entity, "language")
        case "text_mention":
            return name_of(user) if user else ""
        case "date_time":
            at = get(entity, "unix_time", int)
            return moment_in_utc(at) if at is not None else ""
        case _:
            return ""


def name_of(who: Json) -> str:
    full = " ".join(filter(None, (text_of(who, "first_name"), text_of(who, "last_name")))) or text_of(who, "title")
    return " ".join(full.split()) or str(who.get("id", "somebody"))


def _standing_on(text: str, marks: Sequence[TextMark], layer: _Layer, at: int) -> TextMark | None:
    return next((mark for mark in marks if mark.start <= at < mark.end and _layer(text, mark) is layer), None)


def _layer(text: str, mark: TextMark) -> _Layer | None:
    """Code of several lines is a block."""
    layer = _LAYERS.get(mark.type)
    return _Layer.PRE if layer is _Layer.CODE and "\n" in text[mark.start : mark.end].strip() else layer


def _rendered(runs: Sequence[_Run], depth: int) -> str:
    if depth == len(_Layer):
        return "".join(run.text for run in runs)
    layer = list(_Layer)[depth]
    text, gap = "", 0
    for mark, group in groupby(runs, key=lambda run: run.layers[depth]):
        inside = list(group)
        if mark is None:
            text, gap = _joined(text, _rendered(inside, depth + 1), gap), 0
        elif layer is _Layer.QUOTE:  # a line right behind would be part of it
            text, gap = _joined(text, quoted(_rendered(inside, depth + 1)), max(gap, 1)), 2
        elif layer is _Layer.PRE:
            text, gap = _joined(text, fenced("".join(run.text for run in inside), mark.detail), max(gap, 1)), 1
        else:
            text, gap = _joined(text, _within(layer, mark.detail, _rendered(inside, depth + 1)), gap), 0
    return text


def _joined(before: str, after: str, line_ends: int) -> str:
    """Two texts with at least `line_ends` between them."""
    if not (before and after):
        return before + after
    there = len(before) - len(before.rstrip("\n")) + len(after) - len(after.lstrip("\n"))
    return before + "\n" * max(0, line_ends - there) + after


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def fenced(text: str, language: str) -> str:
    fence = "`" * max(3, _longest_backticks(text) + 1)
    name = language if _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{name}\n{text.removesuffix(chr(10))}\n{fence}"


def link(label: str, url: str) -> str:
    """`[label](url)`, or the label alone where it is the address."""
    if not url or _bare(label) == _bare(url):
        return label
    address = f"<{url}>" if url.count("(") != url.count(")") else url
    return _each_line(label, "[", f"]({address})") if label.strip() else f"{label}[]({address})"


def _bare(address: str) -> str:
    return _SCHEME.sub("", address.strip(), count=1).rstrip("/")


def _within(layer: _Layer, detail: str, inner: str) -> str:
    match layer:
        case _Layer.LINK:
            return link(inner, detail)
        case _Layer.NOTE:
            return f"{inner} ({detail})" if detail and detail not in inner else inner
        case _Layer.SPOILER:
            return _each_line(inner, "||", "||")
        case _Layer.STRIKE:
            return _each_line(inner, "~~", "~~")
        case _:
            marks = "`" * (_longest_backticks(inner) + 1)
            space = " " if marks != "`" else ""
            return _each_line(inner, marks + space, space + marks)


def _longest_backticks(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _each_line(text: str, before: str, after: str) -> str:
    """Puts marks around each line, not around the spaces at its ends, where they would mean nothing."""
    return "\n".join(
        line.replace(bare, f"{before}{bare}{after}", 1) if (bare := line.strip()) else line for line in text.split("\n")
    )
