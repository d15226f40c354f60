"""Asks the model for the summary of a compaction: once, or in passes over parts; once more if the answer is
unusable."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from agent.compaction.cut import Shown, passes, size_of
from agent.compaction.summary import UnusableSummary, checked, extract, instruction
from agent.context.budget import shortened
from agent.context.replay import settled, summary_block
from agent.context.request import RequestBuilder
from agent.memory.redaction_lock import ReadEpoch
from agent.model.base import THINKING, Block, ContextOverflow, Message
from agent.model.client import ask
from agent.model.offline.model import NAME as OFFLINE
from agent.model.tokens import estimate
from agent.session.entries import CompactionEntry, MessageEntry
from agent.session.pictures import in_words

_log = logging.getLogger(__name__)

PURPOSE = "compaction"
_MOST_TOKENS = 4_096
_PROMPT_TOKENS = 700
_TRIES = 2
_HALVINGS = 3
"""How often a pass is halved because the server's window is smaller than it says."""


def room_of(builder: RequestBuilder) -> int:
    """Tokens that a summary may take: a small share of the window."""
    return max(200, min(_MOST_TOKENS, builder.budget.answer, builder.budget.window // 16))


@dataclass(frozen=True, slots=True)
class Summarizer:
    """Adds to the last request, which the server has cached; if that is too large, makes several requests over the
    dropped part."""

    builder: RequestBuilder
    reading: ReadEpoch
    dropped: Sequence[Shown]
    """The entries to be summarised: `replaced` tokens, without what stays word for word."""
    kept: Sequence[Shown]
    """The entries behind them, which the model sees too."""
    replaced: int
    focus: str
    overflowed: bool
    """True if the server has refused a request of the present size."""
    in_turn: bool
    """True if the cut is between two steps."""

    @property
    def room(self) -> int:
        return room_of(self.builder)

    async def summary(self) -> str:
        """Raises `UnusableSummary`, `ModelError` (`ContextOverflow` if no useful part fits) and `StaleRequest`."""
        budget = self.builder.budget
        sent = settled(self.builder.transcript.entries)
        size = self.builder.projected(sent) + _PROMPT_TOKENS + 2 * self.room
        if not self.overflowed and size <= budget.window:
            whole = self.builder.context(sent, pictures=False).messages
            try:
                return await self._asked(whole, self.replaced, self.kept)
            except ContextOverflow:
                _log.info(
                    "%s: the conversation exceeds the model's window; it is summarised in parts", self.builder.session
                )
        return await self._in_passes()

    async def _in_passes(self) -> str:
        taken = self.builder.fixed + _PROMPT_TOKENS + 4 * self.room
        room = max(self.room, min(self.builder.budget.window, self.builder.projected()) - taken)
        room = room // 2 if self.overflowed else room
        for left in reversed(range(_HALVINGS)):
            try:
                return await self._fold(passes(self.dropped, room), room)
            except ContextOverflow:
                if not left:
                    raise
                room //= 2
        raise AssertionError("unreachable")

    async def _fold(self, pieces: Sequence[Sequence[Shown]], room: int) -> str:
        so_far = ""
        for piece in pieces:
            replaced = self.replaced if piece is pieces[-1] else sum(map(size_of, piece)) + 2 * self.room
            so_far = await self._asked(_messages(so_far, piece, room), replaced, ())
        return so_far

    async def _asked(self, messages: Sequence[Message], replaced: int, kept: Sequence[Shown]) -> str:
        failed = ""
        for left in reversed(range(_TRIES)):
            text = instruction(self.room, kept, self.focus, failed, in_turn=self.in_turn)
            words = self.builder.words_of_ours(text)
            request = self.builder.request([*messages, words], self.reading, PURPOSE, 2 * self.room, aside=True)
            answer = await ask(self.builder.model, request)
            try:
                return checked(answer, replaced, self.room)
            except UnusableSummary as problem:
                if answer.model == OFFLINE:
                    return extract(self.dropped, self.room)
                _log.warning("%s: a summary is unusable: %s", self.builder.session, problem)
                if not left:
                    raise
                failed = f"{problem}."
        raise AssertionError("unreachable")


def _messages(so_far: str, piece: Sequence[Shown], room: int) -> list[Message]:
    """A piece as messages; in one larger than `room`, each block is cut to an equal share."""
    too_large = sum(map(size_of, piece)) > room
    blocks = sum(len(entry.content) for entry in piece if isinstance(entry, MessageEntry))
    share = room // max(1, blocks)
    messages = [Message("user", (summary_block(so_far),))] if so_far else []
    for entry in piece:
        if isinstance(entry, CompactionEntry):
            messages.append(Message("user", (summary_block(entry.summary),)))
            continue
        kept = [in_words(block) for block in entry.content if block.get("type") not in THINKING]
        messages.append(Message(entry.role, tuple(_cut(block, share) if too_large else block for block in kept)))
    return messages


def _cut(block: Block, room: int) -> Block:
    match block.get("type"):
        case "text":
            return {**block, "text": shortened(str(block.get("text")), room)}
        case "tool_result":
            content = block.get("content")
            whole = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            return {**block, "content": shortened(whole, room)}
        case "tool_use":
            whole = json.dumps(block.get("input"), ensure_ascii=False)
            return {**block, "input": {"shortened": shortened(whole, room)}} if estimate(whole) > room else block
        case _:
            return {"type": "text", "text": "[A picture or document is left out here]"}
