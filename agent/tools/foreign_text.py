"""Text of others: its source and first line, for the owner. Pure.

Found in messages, in tool results (`in_text`), and for entries of earlier releases in marked blocks (`in_blocks`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.memory.paths import folded_name
from agent.memory.provenance import marked_lines, sources_in, without_mark
from agent.memory.scope import FOLDERS_OF_OTHERS, Audience, Scope
from agent.search.results import Hit

_EXPORTS = "exports"
_LINE_CHARS = 120
_MOST = 12
"""Sources that are kept of one message or result."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLOCK = re.compile(
    r'^<daybook-(document|quoted|overheard|enclosed|shown|changed|recalled)(?: name="([^"\n]*)")?', re.M
)
_FILE = re.compile(r'^<daybook-(?:file|changed) name="([^"\n]*)">', re.MULTILINE)
_KINDS = {
    "quoted": "a quoted message",
    "overheard": "messages of the group",
    "enclosed": "what came along",
    "shown": "a picture",
}
_CARRIERS = frozenset({"changed", "recalled"})
"""Blocks of memory: only their marked lines are foreign."""


@dataclass(frozen=True, slots=True)
class ForeignText:
    source: str
    """A name for people, as `report.pdf`."""
    line: str = ""
    """The first line."""
    is_talk: bool = False
    """Written in a group by its members. Open questions have this name on disk."""


def foreign(source: str, text: str = "", *, is_talk: bool = False) -> ForeignText:
    return ForeignText(visible(source, 60) or "somebody", first_line(text), is_talk)


def first_line(text: str) -> str:
    line = next((line for line in text.splitlines() if visible(line)), "")
    return visible(line, _LINE_CHARS)


def visible(text: str, longest: int = 0) -> str:
    """The text on one line, without invisible characters and changes of direction. `longest` 0: all of it."""
    cut = text[: 4 * longest] if longest else text
    blanked = (" " if unicodedata.category(character) in _UNSEEN else character for character in cut)
    shown = " ".join("".join(blanked).split())
    return shown if not longest or len(shown) <= longest else shown[: longest - 1].rstrip() + "…"


def in_text(text: str) -> tuple[ForeignText, ...]:
    return unique(
        ForeignText(visible(name, 60) or "somebody", shown)
        for line in marked_lines(text)
        # Once for a line, not for each of its sources: one line can have as many marks as it has room for.
        for shown in (first_line(without_mark(line)),)
        for name in sources_in(line)
    )


def in_blocks(text: str) -> tuple[ForeignText, ...]:
    """The marked blocks of a message, which never nest."""
    found: list[ForeignText] = []
    ends: dict[str, int] = {}
    for block in _BLOCK.finditer(text):
        kind, name = block[1], block[2] or ""
        if block.start() < ends.get(kind, 0):
            continue
        begin = text.find("\n", block.end()) + 1
        end = text.find(f"\n</daybook-{kind}>", block.end())
        ends[kind] = end if end >= 0 else len(text)
        body = text[begin : ends[kind]] if begin else ""
        if kind in _CARRIERS:
            found += in_text(body)
        else:
            found.append(
                foreign(
                    name.removeprefix("document ") or _KINDS.get(kind, "a document"), body, is_talk=kind == "overheard"
                )
            )
    return unique(found)


def in_hit(hit: Hit, scope: Scope) -> tuple[ForeignText, ...]:
    return of_others(hit.place, hit.text, scope) if is_of_others(hit.path, scope) else in_text(hit.text)


def of_others(source: str, text: str, scope: Scope) -> tuple[ForeignText, ...]:
    return (foreign(source, text, is_talk=scope.audience is Audience.GROUP),)


def in_memory(text: str, scope: Scope) -> tuple[ForeignText, ...]:
    """The foreign parts of blocks of the scope's own files."""
    if scope.audience is not Audience.GROUP:
        return in_text(text)
    found: list[ForeignText] = []
    end = 0
    for block in _FILE.finditer(text):
        if block.start() < end:
            continue
        closing = text.find("\n</daybook-", block.end())
        end = closing if closing >= 0 else len(text)
        body = text[block.end() : end]
        said = "\n".join(line for line in body.splitlines() if not line.startswith("#"))
        found.append(foreign(block[1], said, is_talk=True))
    return unique(found)


def is_of_others(path: str, scope: Scope) -> bool:
    """True for another scope's file, an exported session, any in a group. `path` is relative to the scope's folder."""
    top = folded_name(path.partition("/")[0])
    is_anothers = scope.audience is Audience.OWNER and top in FOLDERS_OF_OTHERS
    return is_anothers or top == _EXPORTS or scope.audience is Audience.GROUP


def unique(found: Iterable[ForeignText]) -> tuple[ForeignText, ...]:
    """The first text of each source, at most `_MOST`."""
    first: dict[str, ForeignText] = {}
    for text in found:
        first.setdefault(text.source, text)
    return tuple(first.values())[:_MOST]


def names(found: Sequence[ForeignText]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.source for text in found))
