"""The record of one turn in its transcript: its steps are written and its state is read here only, so that a turn
continued after a crash goes the same way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from agent.clock import Clock, utc_stamp
from agent.formats.untrusted import NO_TEXT, enclosures, label, person_text
from agent.media.pictures import Picture
from agent.model.base import REFUSED, Block, Completed, Usage, result_block, text_in
from agent.search.result_text import QuotedLines
from agent.session.entries import Entry, MessageEntry, Meta, RecalledPassage, SeenFile
from agent.session.pictures import name_of, path_of, picture_block
from agent.session.transcript import Transcript
from agent.tools.foreign_text import ForeignText

STOPPED = "stopped"
"""Our own stop reason, of an answer that a person stopped."""
_VALID_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class TurnRecord:
    """The entries of a turn. `first`: ids of the messages that it begins with."""

    def __init__(self, transcript: Transcript, turn: str, clock: Clock, first: Iterable[str] = ()) -> None:
        self.transcript = transcript
        self.turn = turn
        self._clock = clock
        self.first = frozenset(first)
        self._mine = [
            at
            for at, entry in enumerate(transcript.entries)
            if isinstance(entry, MessageEntry) and entry.meta.turn == turn
        ]

    @property
    def entries(self) -> Sequence[MessageEntry]:
        entries = self.transcript.entries
        return [entry for at in self._mine if isinstance(entry := entries[at], MessageEntry)]

    @property
    def answers(self) -> Sequence[MessageEntry]:
        return [entry for entry in self.entries if entry.role == "assistant"]

    @property
    def noticed_last(self) -> bool:
        """True if a notice waits for its answer."""
        last = self.entries[-1] if self.entries else None
        return last is not None and last.role == "user" and not last.meta.said and not last.meta.tool

    @property
    def usage(self) -> Usage:
        counts = [answer.meta.usage for answer in self.answers if answer.meta.usage is not None]
        return Usage(
            input=sum(usage.input for usage in counts),
            output=sum(usage.output for usage in counts),
            cache_read=sum(usage.cache_read for usage in counts),
            cache_write=sum(usage.cache_write for usage in counts),
        )

    @property
    def open_calls(self) -> tuple[Block, ...]:
        entries = self.entries
        last = next((at for at in reversed(range(len(entries))) if entries[at].role == "assistant"), None)
        if last is None:
            return ()
        done = {block.get("tool_use_id") for entry in entries[last + 1 :] for block in entry.content}
        return tuple(block for block in calls_of(entries[last]) if block["id"] not in done)

    async def said(
        self,
        texts: Sequence[str],
        ids: Sequence[str],
        sender: str,
        files: Mapping[str, SeenFile] | None = None,
        recalled: tuple[RecalledPassage, ...] = (),
        pictures: Sequence[Block] = (),
        foreign: tuple[ForeignText, ...] = (),
        by: str = "",
    ) -> None:
        """Records a person's message: each text a block, then pictures."""
        blocks: tuple[Block, ...] = (*({"type": "text", "text": text} for text in texts), *pictures)
        meta = Meta(
            self.turn,
            said=tuple(ids),
            sender=sender,
            files=files or {},
            recalled=recalled,
            foreign=foreign,
            by=by,
        )
        await self._write("user", blocks, meta)

    async def noticed(self, text: str) -> None:
        await self._write("user", ({"type": "text", "text": text},), Meta(self.turn))

    async def answered(
        self, answer: Completed, prefix: str, foreign: tuple[ForeignText, ...] = (), *, doubted: bool = False
    ) -> MessageEntry:
        """Records an answer. `foreign`: the text of others that it was made from; `doubted` as in `Meta`."""
        content = self._distinct(answer.content)
        if answer.stop_reason == REFUSED:
            content = tuple(block for block in content if block.get("type") != "tool_use")
        meta = Meta(
            self.turn,
            model=answer.model,
            usage=answer.usage,
            stop_reason=answer.stop_reason or "end_turn",
            prefix=prefix,
            foreign=foreign or None,
            doubted=doubted,
        )
        return await self._write("assistant", content, meta)

    async def result(
        self,
        call: Block,
        text: str,
        *,
        error: bool = False,
        files: Mapping[str, SeenFile] | None = None,
        quoted: tuple[QuotedLines, ...] = (),
        foreign: tuple[ForeignText, ...] = (),
        pictures: tuple[Picture, ...] = (),
    ) -> None:
        # beside the result: the API takes nothing but text in one that is an error
        shown = (picture_block(label(picture.name), picture.path, picture.original) for picture in pictures)
        meta = Meta(self.turn, tool=str(call["name"]), error=error, files=files or {}, quoted=quoted, foreign=foreign)
        await self._write("user", (result_block(str(call["id"]), text, error=error), *shown), meta)

    async def stopped(self, text: str) -> None:
        await self._write("assistant", ({"type": "text", "text": text},), Meta(self.turn, stop_reason=STOPPED))

    async def _write(self, role: str, content: tuple[Block, ...], meta: Meta) -> MessageEntry:
        entry = MessageEntry(self.transcript.new_id(), utc_stamp(self._clock.now()), role, content, meta)
        await self.transcript.append(entry)
        entries = self.transcript.entries
        self._mine.append(next(at for at in reversed(range(len(entries))) if entries[at].id == entry.id))
        return entry

    def _distinct(self, content: tuple[Block, ...]) -> tuple[Block, ...]:
        """Makes ids of calls unique: some servers number them anew in every answer."""
        if not any(block.get("type") == "tool_use" for block in content):
            return content
        used = {str(block["id"]) for entry in self.transcript.entries for block in calls_of(entry)}
        blocks: list[Block] = []
        for block in content:
            if block.get("type") == "tool_use":
                given = block.get("id")
                id = given if isinstance(given, str) and _VALID_ID.fullmatch(given) else "call"
                fresh = id if id not in used else f"{id}_{self.transcript.new_id()}"
                used.add(fresh)
                block = block if fresh == given else {**block, "id": fresh}
            blocks.append(block)
        return tuple(blocks)


def turns_of_said(entries: Iterable[Entry]) -> dict[str, str]:
    """The turns of people's messages, by message id."""
    return {id: entry.meta.turn for entry in entries if isinstance(entry, MessageEntry) for id in entry.meta.said}


def turn_of(said: Sequence[str], transcript: Transcript, new: str) -> str:
    """The turn that all these messages joined; if there is none, the new turn."""
    turns = turns_of_said(transcript.all_entries)
    known = [turns.get(id) for id in said]
    return known[0] if known and known[0] and len(set(known)) == 1 else new


def entry_of(message: str, entries: Iterable[Entry]) -> MessageEntry | None:
    """The entry of a person's message, by the message's id."""
    return next((entry for entry in entries if isinstance(entry, MessageEntry) and message in entry.meta.said), None)


def calls_of(entry: Entry) -> tuple[Block, ...]:
    if not isinstance(entry, MessageEntry) or entry.role != "assistant":
        return ()
    return tuple(block for block in entry.content if block.get("type") == "tool_use")


def content_of(entry: Entry) -> tuple[Block, ...]:
    return entry.content if isinstance(entry, MessageEntry) else ()


def said_in(entry: MessageEntry) -> str:
    """A person's text, with the names of attachments."""
    came = [f"[{name}]" for name in enclosures(text_of(entry))]
    came += [f"[{name_of(block)}]" for block in entry.content if path_of(block)]
    spoken = person_text(text_of(entry))
    return "\n".join(came if spoken == NO_TEXT and came else [spoken, *came])


def text_of(entry: MessageEntry) -> str:
    return text_in(entry.content)
