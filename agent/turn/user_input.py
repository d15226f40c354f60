"""Brings messages into the transcript, with changes on disk and recalled memories."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from agent.clock import Clock, utc_stamp
from agent.context.file_changes import seen_by
from agent.context.header import rendered
from agent.context.recall import Recall
from agent.context.request import OpenSession
from agent.formats import untrusted
from agent.memory.redaction_lock import RedactionLock, StaleRead
from agent.model.tokens import IMAGE_TOKENS
from agent.session.entries import RecalledPassage, SeenFile, branch_mark
from agent.session.pictures import MOST_SHOWN, picture_block
from agent.session.taint import in_message
from agent.session.turn_record import TurnRecord, content_of, entry_of, turns_of_said
from agent.tools.base import OwnerConsent
from agent.tools.foreign_text import ForeignText, in_memory, unique
from agent.values import UserMessage

P = ParamSpec("P")
T = TypeVar("T")

_SMALL = 10_000
"""Characters that are worked through in less than a millisecond."""
_ENTRY_CHARS = 500
_ENCLOSED = "\n<daybook-enclosed "
"""Begins what a tool of others answered, in an outcome: marked by who wrote it down."""
_LOOKED_BACK = 200
"""Newest entries in which a notice is looked for, that a crash may have left unacknowledged."""


@dataclass(frozen=True, slots=True)
class _News:
    blocks: tuple[str, ...] = ()
    files: Mapping[str, SeenFile] = field(default_factory=dict)
    recalled: tuple[RecalledPassage, ...] = ()
    foreign: tuple[ForeignText, ...] = ()


@dataclass(frozen=True, slots=True)
class UserInput:
    conversation: OpenSession
    record: TurnRecord
    window: int
    """The model's, in tokens."""
    recall: Recall
    redaction_lock: RedactionLock
    clock: Clock

    async def record_messages(self, said: Sequence[UserMessage]) -> None:
        """Writes the messages unless they are written, with what changed on disk before the last of them. Raises
        `TranscriptNotWritten`."""
        known = turns_of_said(self.conversation.transcript.all_entries)
        fresh = [message for message in said if message.id not in known]
        for message in fresh:
            while not await self._recorded(message, newest=message is fresh[-1]):
                pass  # something was forgotten meanwhile: what goes with it is looked for anew

    async def _recorded(self, message: UserMessage, *, newest: bool) -> bool:
        """False if something was forgotten since its additions were read."""
        reading = self.redaction_lock.reading(self.conversation.scope)
        news = await self._news(message) if newest else _News()
        message = _within(message, self.window // 4)
        size = len(message.text) + sum(len(document.text) for document in message.documents)
        text = await _off_the_loop(size, rendered, message, self.clock, self.window // 4, news.blocks)
        shown = [
            picture_block(untrusted.label(picture.name), picture.path, picture.original) for picture in message.pictures
        ]
        try:
            async with reading.writing():
                await self.record.said(
                    [text],
                    [message.id],
                    message.sender,
                    news.files,
                    news.recalled,
                    shown,
                    (*in_message(message), *news.foreign),
                    message.by,
                )
        except StaleRead:
            return False
        return True

    async def _news(self, said: UserMessage) -> _News:
        transcript, scope = self.conversation.transcript, self.conversation.scope
        seen = seen_by(transcript.header, transcript.entries)
        changes, found = await asyncio.gather(
            asyncio.to_thread(self.conversation.freshness.changes, seen), self.recall.find(scope, said.text)
        )
        recollection = await asyncio.to_thread(
            self.recall.chosen,
            found,
            scope,
            seen | dict(changes.files),
            transcript.entries,
            said.text,
            self.window // 16,
        )
        blocks = (*changes.blocks, recollection.block) if recollection.block else changes.blocks
        found_in = (*recollection.foreign, *(text for block in changes.blocks for text in in_memory(block, scope)))
        return _News(blocks, changes.files, recollection.passages, unique(found_in))


async def tell_outcomes(record: TurnRecord, approvals: OwnerConsent) -> None:
    """Writes the outcomes of its approvals into the session, once over restarts."""
    known = {
        str(block.get("text")) for entry in record.transcript.entries[-_LOOKED_BACK:] for block in content_of(entry)
    }
    outcomes = await approvals.outcomes()
    for id, text in outcomes.items():
        ours, mark, others = text.partition(_ENCLOSED)
        notice = untrusted.marked_block("notice", ours, approval=id) + mark + others
        if notice not in known:
            await record.noticed(notice)
    if outcomes:
        await approvals.acknowledge(tuple(outcomes))


async def branch(
    conversation: OpenSession, said: Sequence[UserMessage], redaction_lock: RedactionLock, clock: Clock
) -> None:
    """Leaves the version of the conversation that begins with a replaced message; nothing is done where that was done.
    Raises `TranscriptNotWritten`."""
    transcript = conversation.transcript
    for message in said:
        if message.replaces and (replaced := entry_of(message.replaces, transcript.entries)) is not None:
            mark = branch_mark(transcript.new_id(), utc_stamp(clock.now()), replaced)
            async with redaction_lock.writing(conversation.scope):
                await transcript.append(mark)


async def _off_the_loop(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs `work`, in a thread if it has many characters."""
    return work(*args, **kwargs) if size < _SMALL else await asyncio.to_thread(work, *args, **kwargs)


def _within(said: UserMessage, room: int) -> UserMessage:
    """The message with as many pictures as fit."""
    most = min(MOST_SHOWN, room // IMAGE_TOKENS)
    left = said.pictures[most:]
    if not left:
        return said
    notes = (f"{picture.name} is not shown, for want of room; it is kept at {picture.original}" for picture in left)
    return dataclasses.replace(said, pictures=said.pictures[:most], enclosed=(*said.enclosed, *notes))
