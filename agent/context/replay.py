"""Turns a transcript into messages for a model, the same in memory and from disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent.model.base import REFUSED, THINKING, Block, Message
from agent.session.entries import CompactionEntry, Entry, MessageEntry, RedactionEntry, is_reset
from agent.session.pictures import Pictures
from agent.session.prune import Shortenings


@dataclass(frozen=True, slots=True)
class Context:
    messages: tuple[Message, ...]
    prefix: str
    """Names what is sent: the same for the same basis and entries, shown the same way."""


def context(entries: Sequence[Entry], basis: str, *, pictures: bool = True) -> Context:
    """The messages for a model. `basis` names everything before them: model, tools, system. Thinking is signed over
    everything before it, so it is sent only if exactly that is sent again."""
    prefix = hashlib.sha256(basis.encode())
    for entry in entries:  # words before any of the answers may be gone
        if isinstance(entry, RedactionEntry):
            prefix.update(entry.id.encode())
    parts: list[tuple[str, tuple[Block, ...]]] = []
    for entry in in_context(entries, pictures=pictures):
        match entry:
            case CompactionEntry():
                prefix.update(entry.id.encode())
                parts.append(("user", (summary_block(entry.summary),)))
            case MessageEntry(role="assistant") if not _stands(entry):
                continue
            case MessageEntry():
                content = entry.content
                kept = entry.role == "user" or not _thinks(content) or entry.meta.prefix == _name(prefix)
                if not kept:
                    content = tuple(block for block in content if block.get("type") not in THINKING)
                prefix.update((entry.id if kept else f"{entry.id}-").encode())
                parts.append((entry.role, content))
    return Context(tuple(_merged(parts)), _name(prefix))


def in_context(entries: Sequence[Entry], *, pictures: bool = True) -> Iterator[MessageEntry | CompactionEntry]:
    """The part of a transcript in the context: after the last reset, with summary, shortened results, and older
    pictures as words. What is shown differently has another id (see `id_of`)."""
    marks = [(at, entry) for at, entry in enumerate(entries) if not isinstance(entry, MessageEntry)]
    start = max((at + 1 for at, mark in marks if is_reset(mark)), default=0)
    live = entries[start:]
    compactions = [(at - start, mark) for at, mark in marks if at >= start and isinstance(mark, CompactionEntry)]
    if compactions:
        cut, compaction = compactions[-1]
        first = next((at for at, entry in enumerate(live[:cut]) if entry.id == compaction.first_kept), cut)
        yield compaction
        live = [*(entry for entry in live[:first] if entry.id in compaction.said), *live[first:]]
    shortenings = Shortenings(entries)
    seen = Pictures(entries, none=not pictures)
    yield from (seen.shown(shortenings.shown(entry)) for entry in live if isinstance(entry, MessageEntry))


def settled(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries up to the last answer."""
    begun = [
        isinstance(entry, MessageEntry) and (entry.role == "assistant" or bool(entry.meta.tool)) for entry in entries
    ]
    last = max((at for at, yes in enumerate(begun) if yes), default=len(entries))
    return [entry for at, entry in enumerate(entries) if at <= last or not isinstance(entry, MessageEntry)]


def id_of(shown: MessageEntry | CompactionEntry) -> str:
    """The id in the transcript of an entry of `in_context`."""
    return shown.id.partition("~")[0]


def _stands(entry: MessageEntry) -> bool:
    """True if an answer can be sent again: not blank, only thinking or refused."""
    if entry.meta.stop_reason == REFUSED:
        return False
    return any(_says_something(block) for block in entry.content)


def _says_something(block: Block) -> bool:
    type = block.get("type")
    return bool(str(block.get("text") or "").strip()) if type == "text" else type not in THINKING


def _thinks(content: Iterable[Block]) -> bool:
    return any(block.get("type") in THINKING for block in content)


def summary_block(summary: str) -> Block:
    return {"type": "text", "text": f"[Summary of the earlier part of this conversation]\n\n{summary}"}


def _merged(parts: Iterable[tuple[str, tuple[Block, ...]]]) -> Iterator[Message]:
    role = ""
    blocks: list[Block] = []
    for next_role, content in parts:
        if next_role != role and blocks:
            yield Message(role, tuple(blocks))
            blocks = []
        role = next_role
        blocks.extend(content)
    if blocks:
        yield Message(role, tuple(blocks))


def _name(prefix: hashlib._Hash) -> str:
    return prefix.copy().hexdigest()[:16]
