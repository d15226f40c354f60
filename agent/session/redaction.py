"""Redaction of transcripts (`/forget`). Pure.

A transcript is append-only: older lines keep the text, and a `redaction` entry says which are read as a mark. It has
places, no text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from agent.model.base import THINKING, Block, Json
from agent.session.entries import CompactionEntry, Entry, MessageEntry, RedactionEntry

_NEVER = re.compile(r"</?daybook-|\[\d{4}-\d{2}-\d{2} \w{3} \d{2}:\d{2} ")
"""Lines that say what the others are: a block's tags, a message's header."""

_Change = Callable[[int, int, str], str]
"""Number of the text in its entry, number of the line in the text, the line; gives the line to be shown."""


def places(entries: Iterable[Entry], holds: Callable[[str], bool]) -> dict[str, list[tuple[int, int]]]:
    """The places to redact: by entry, numbers of text and line."""
    found: dict[str, list[tuple[int, int]]] = {}
    for entry in entries:
        here: list[tuple[int, int]] = []

        def look(text: int, line: int, words: str, here: list[tuple[int, int]] = here) -> str:
            if not _NEVER.match(words) and holds(words):
                here.append((text, line))
            return words

        _changed(entry, look)
        if here or _thinks_of(entry, holds):
            found[entry.id] = here
    return found


def blocks(entries: Iterable[Entry], openings: tuple[str, ...]) -> dict[str, list[tuple[int, int]]]:
    """The places of the lines in marked blocks that begin with one of `openings`."""
    found: dict[str, list[tuple[int, int]]] = {}
    for entry in entries:
        here: list[tuple[int, int]] = []
        inside = False

        def look(text: int, line: int, words: str, here: list[tuple[int, int]] = here) -> str:
            nonlocal inside
            if line == 0 or words.startswith("</daybook-"):
                inside = False
            if inside:
                here.append((text, line))
            elif words.startswith(openings):
                inside = True
            return words

        _changed(entry, look)
        if here:
            found[entry.id] = here
    return found


def redacted(entries: Sequence[Entry]) -> list[Entry]:
    lifted = {entry.lifts for entry in entries if isinstance(entry, RedactionEntry)}
    marks: dict[str, dict[tuple[int, int], str]] = {}
    for entry in entries:
        if isinstance(entry, RedactionEntry) and entry.id not in lifted:
            for id, lines in entry.lines.items():
                marks.setdefault(id, {}).update((line, f"[forgotten {entry.day}]") for line in lines)
    return (
        [_marked(entry, marks[entry.id]) if entry.id in marks else entry for entry in entries] if marks else [*entries]
    )


def open_redactions(entries: Sequence[Entry], change: str) -> list[RedactionEntry]:
    """The redactions of a change of memory that were not undone."""
    lifted = {entry.lifts for entry in entries if isinstance(entry, RedactionEntry)}
    return [e for e in entries if isinstance(e, RedactionEntry) and e.change == change and e.id not in lifted]


def _marked(entry: Entry, marks: Mapping[tuple[int, int], str]) -> Entry:
    changed = _changed(entry, lambda text, line, words: marks.get((text, line), words))
    if isinstance(changed, MessageEntry):  # thinking cannot be changed, for it is signed
        content = tuple(block for block in changed.content if block.get("type") not in THINKING)
        found = changed.meta.foreign
        lineless = found and tuple(dataclasses.replace(foreign, line="") for foreign in found)
        return dataclasses.replace(changed, content=content, meta=dataclasses.replace(changed.meta, foreign=lineless))
    return changed


def _thinks_of(entry: Entry, holds: Callable[[str], bool]) -> bool:
    if not isinstance(entry, MessageEntry):
        return False
    return any(holds(str(block.get("thinking") or "")) for block in entry.content if block.get("type") in THINKING)


def _changed(entry: Entry, change: _Change) -> Entry:
    walk = _Walk(change)
    match entry:
        case MessageEntry():
            return dataclasses.replace(entry, content=tuple(walk.block(block) for block in entry.content))
        case CompactionEntry():
            return dataclasses.replace(entry, summary=walk.text(entry.summary))
        case _:
            return entry


class _Walk:
    """Visits an entry's texts in the order of its line."""

    def __init__(self, change: _Change) -> None:
        self._change = change
        self._next = 0

    def block(self, block: Block) -> Block:
        match block.get("type"):
            case "text":
                return {**block, "text": self.text(str(block.get("text")))}
            case "tool_use":
                return {**block, "input": self._value(block.get("input"))}
            case "tool_result":
                content = block.get("content")
                if isinstance(content, list):
                    return {**block, "content": [self.block(p) if isinstance(p, dict) else p for p in content]}
                return {**block, "content": self._value(content)}
            case _:
                return block

    def text(self, text: str) -> str:
        number, self._next = self._next, self._next + 1
        return "\n".join(self._change(number, line, words) for line, words in enumerate(text.split("\n")))

    def _value(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        return value
