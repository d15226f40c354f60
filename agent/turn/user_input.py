"""Brings messages into the transcript, with what changed on disk meanwhile and the memories they recall."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from agent.clock import Clock
from agent.context.file_changes import seen_by
from agent.context.header import rendered
from agent.context.open_session import OpenSession
from agent.context.recall import Recall
from agent.formats import untrusted
from agent.memory.redaction_lock import RedactionLock, StaleRead
from agent.model.tokens import IMAGE_TOKENS
from agent.session.entries import RecalledPassage, SeenFile
from agent.session.pictures import MOST_SHOWN, picture_block
from agent.session.taint import in_message
from agent.session.turn_journal import TurnJournal, turns_of_said
from agent.tools.foreign_text import ForeignText, in_memory, unique
from agent.values import UserMessage

P = ParamSpec("P")
T = TypeVar("T")

_SMALL = 10_000
"""Characters that are worked through in less than a millisecond."""
_ENTRY_CHARS = 500


@dataclass(frozen=True, slots=True)
class _News:
    """Blocks for a message, and what its meta keeps of them."""

    blocks: tuple[str, ...] = ()
    files: Mapping[str, SeenFile] = field(default_factory=dict)
    recalled: tuple[RecalledPassage, ...] = ()
    foreign: tuple[ForeignText, ...] = ()


@dataclass(frozen=True, slots=True)
class UserInput:
    """`window` is the model's, in tokens."""

    conversation: OpenSession
    steps: TurnJournal
    window: int
    recall: Recall
    redaction_lock: RedactionLock
    clock: Clock

    async def journal(self, said: Sequence[UserMessage]) -> None:
        """Writes the messages unless they are written, with what changed on disk before the last of them. Raises
        `TranscriptNotWritten`."""
        known = turns_of_said(self.conversation.transcript.entries)
        fresh = [one for one in said if one.id not in known]
        for one in fresh:
            while not await self._journaled(one, newest=one is fresh[-1]):
                pass  # something was forgotten meanwhile: what goes with it is looked for anew

    async def _journaled(self, one: UserMessage, *, newest: bool) -> bool:
        """False where something was forgotten since the additions to the message were read."""
        reading = self.redaction_lock.reading(self.conversation.scope)
        news = await self._news(one) if newest else _News()
        one = _within(one, self.window // 4)
        text = await _off_the_loop(_size(one), rendered, one, self.clock, self.window // 4, news.blocks)
        shown = [
            picture_block(untrusted.label(picture.name), picture.path, picture.original) for picture in one.pictures
        ]
        try:
            async with reading.writing():
                await self.steps.said(
                    [text],
                    [one.id],
                    one.sender,
                    news.files,
                    news.recalled,
                    shown,
                    (*in_message(one), *news.foreign),
                    one.by,
                )
        except StaleRead:
            return False
        return True

    async def _news(self, said: UserMessage) -> _News:
        """The additions to the newest message."""
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
        found_in = (*recollection.foreign, *(one for block in changes.blocks for one in in_memory(block, scope)))
        return _News(blocks, changes.files, recollection.passages, unique(found_in))


async def _off_the_loop(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Works on so many characters: in a thread where that is worth it."""
    return work(*args, **kwargs) if size < _SMALL else await asyncio.to_thread(work, *args, **kwargs)


def _size(said: UserMessage) -> int:
    """The size in characters."""
    return len(said.text) + sum(len(document.text) for document in said.documents)


def _within(said: UserMessage, room: int) -> UserMessage:
    """The message with no more pictures than fit into `room` tokens."""
    most = min(MOST_SHOWN, room // IMAGE_TOKENS)
    left = said.pictures[most:]
    if not left:
        return said
    notes = (f"{picture.name} is not shown, for want of room; it is kept at {picture.original}" for picture in left)
    return dataclasses.replace(said, pictures=said.pictures[:most], enclosed=(*said.enclosed, *notes))
