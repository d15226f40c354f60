"""Asks the model for the next answer of a turn, within its window and without pictures that cannot be sent."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from agent.clock import utc_stamp
from agent.context.budget import is_credible
from agent.media.store import Store
from agent.memory.redaction_lock import ReadEpoch
from agent.model.base import (
    FULL,
    Completed,
    ContextOverflow,
    InvalidRequest,
    ModelError,
    ModelNotFound,
    ModelRequest,
    Restarted,
    StaleRequest,
    TextDelta,
    ThinkingRejected,
)
from agent.model.client import closing
from agent.model.tokens import estimate_blocks
from agent.session.pictures import MissingPicture, hide_entry, suspects, with_bytes
from agent.session.taint import taint
from agent.tools.foreign_text import ForeignText
from agent.turn.window import ContextWindow
from agent.values import ReplyText, TextReset

_log = logging.getLogger(__name__)

_LONG_WAIT = 5.0
"""Seconds from which on a person is told why nothing happens."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The whole answer, the name of the request (`replay.Context.prefix`), the epoch of what it was made from, and its
    foreign text. `doubted`: the server's count of tokens cannot be right."""

    answer: Completed
    prefix: str
    reading: ReadEpoch
    foreign: tuple[ForeignText, ...]
    doubted: bool


class ModelCaller:
    """Each call asks once, and again where the request or answer did not fit, after `room` has made it smaller, or
    where a picture (of `store`) failed, which is then hidden for good."""

    def __init__(self, room: ContextWindow, purpose: str, store: Store) -> None:
        self._room = room
        self._purpose = purpose
        self._store = store

    async def __call__(self) -> AsyncGenerator[ReplyText | TextReset | ModelAnswer, None]:
        """The streamed events, then one `ModelAnswer`. Raises `ModelError`: `ContextOverflow` where no room could be
        made."""
        while True:
            try:
                async with aclosing(self._room.before_call()) as notes:
                    async for note in notes:
                        yield note
            except ContextOverflow:
                if not await self._hide(
                    suspects(self._room.builder.context().messages, None), "there is no room for them"
                ):
                    raise
                continue
            builder = self._room.builder
            reading = builder.reading()
            now = builder.context()
            asked = builder.request(now.messages, reading, self._purpose)
            expected = builder.projected()
            answer: Completed | None = None
            problem: InvalidRequest | None = None
            try:
                async with closing(builder.model.stream(await self._with_pictures(asked))) as events:
                    async for event in events:
                        match event:
                            case TextDelta(text):
                                yield ReplyText(text)
                            case Restarted(why=why, wait=wait):
                                yield TextReset(why if wait >= _LONG_WAIT else "")
                            case Completed():
                                answer = event
            except MissingPicture as gone:
                await self._hide(gone.paths, "their files are gone")
                continue
            except StaleRequest:
                yield TextReset()
                continue
            except (ModelNotFound, ThinkingRejected):
                raise
            except InvalidRequest as error:
                problem = error
            if isinstance(problem, ContextOverflow) or (answer is not None and answer.stop_reason == FULL):
                try:
                    window = problem.window if isinstance(problem, ContextOverflow) else None
                    async with aclosing(self._room.after_overflow(window)) as notes:
                        async for note in notes:
                            yield note
                except ContextOverflow as error:
                    problem = error
                else:
                    yield TextReset()
                    continue
            if problem is not None and answer is None:
                if not await self._hide(suspects(asked.messages, problem.at), str(problem)):
                    raise problem
                yield TextReset()
                continue
            if answer is None:
                raise ModelError("The model's answer ended before it was complete. Please try again.")
            found = taint(builder.transcript, builder.scope, "")
            doubted = not is_credible(answer.usage.context, expected + estimate_blocks(answer.content))
            yield ModelAnswer(answer, now.prefix, reading, found.of_answers(builder.scope), doubted)
            return

    async def _with_pictures(self, request: ModelRequest) -> ModelRequest:
        """The request with its pictures. Raises `MissingPicture`."""
        if not suspects(request.messages, None):
            return request
        return dataclasses.replace(request, messages=await asyncio.to_thread(with_bytes, request.messages, self._store))

    async def _hide(self, paths: Sequence[str], why: str) -> bool:
        """Hides pictures; returns whether there was any."""
        if paths:
            builder = self._room.builder
            _log.warning("%s: pictures are not shown any more (%s): %s", builder.session, why, ", ".join(paths))
            await builder.transcript.append(
                hide_entry(builder.transcript.new_id(), utc_stamp(builder.clock.now()), paths)
            )
        return bool(paths)
