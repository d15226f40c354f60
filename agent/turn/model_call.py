"""Asks the model within its window, and without pictures that cannot be sent."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from agent.clock import utc_stamp
from agent.context.budget import is_credible
from agent.languages.sentences import Sentence
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
    TakenBack,
    TextDelta,
    ThinkingRejected,
)
from agent.model.client import closing
from agent.model.tokens import estimate_blocks
from agent.session.pictures import MissingPicture, hide_entry, suspects, with_bytes
from agent.session.taint import taint
from agent.tools.foreign_text import ForeignText
from agent.turn.window import ContextWindow
from agent.values import Emit, ReplyText, TextReset

_log = logging.getLogger(__name__)

_LONG_WAIT = 5.0
"""Seconds from which on a person is told why nothing happens."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """`prefix` as in `replay.Context`; `reading`: of what it was made from."""

    answer: Completed
    prefix: str
    reading: ReadEpoch
    foreign: tuple[ForeignText, ...]
    doubted: bool
    """The server's count of tokens cannot be right."""


class ModelCaller:
    """Asks once, and again after `window` made a request that did not fit smaller, or a failing picture (of `store`) is
    hidden for good."""

    def __init__(self, window: ContextWindow, purpose: str, store: Store) -> None:
        self._window = window
        self._purpose = purpose
        self._store = store

    async def __call__(self, emit: Emit) -> ModelAnswer:
        """Raises `ModelError`."""
        while True:
            try:
                await self._window.before_call(emit)
            except ContextOverflow:
                if not await self._hide(
                    suspects(self._window.builder.context().messages, None), "there is no room for them"
                ):
                    raise
                continue
            builder = self._window.builder
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
                                await emit(ReplyText(text))
                            case TakenBack():
                                await emit(TextReset())
                            case Restarted(why=why, wait=wait):
                                await emit(TextReset(why if wait >= _LONG_WAIT else ""))
                            case Completed():
                                answer = event
            except MissingPicture as gone:
                await self._hide(gone.paths, "their files are gone")
                continue
            except StaleRequest:
                await emit(TextReset())
                continue
            except (ModelNotFound, ThinkingRejected):
                raise
            except InvalidRequest as error:
                problem = error
            if isinstance(problem, ContextOverflow) or (answer is not None and answer.stop_reason == FULL):
                try:
                    window = problem.window if isinstance(problem, ContextOverflow) else None
                    await self._window.after_overflow(emit, window)
                except ContextOverflow as error:
                    problem = error
                else:
                    await emit(TextReset())
                    continue
            if problem is not None and answer is None:
                if not await self._hide(suspects(asked.messages, problem.at), str(problem)):
                    raise problem
                await emit(TextReset())
                continue
            if answer is None:
                raise ModelError(Sentence("The model's answer was cut off. Please try again."))
            found = taint(builder.transcript, builder.scope, "")
            doubted = not is_credible(answer.usage.context, expected + estimate_blocks(answer.content))
            return ModelAnswer(answer, now.prefix, reading, found.of_answers(builder.scope), doubted)

    async def _with_pictures(self, request: ModelRequest) -> ModelRequest:
        """Raises `MissingPicture`."""
        if not suspects(request.messages, None):
            return request
        return dataclasses.replace(request, messages=await asyncio.to_thread(with_bytes, request.messages, self._store))

    async def _hide(self, paths: Sequence[str], why: str) -> bool:
        """Hides pictures; False if there was none."""
        if paths:
            builder = self._window.builder
            _log.warning("%s: pictures are not shown any more (%s): %s", builder.session, why, ", ".join(paths))
            await builder.transcript.append(
                hide_entry(builder.transcript.new_id(), utc_stamp(builder.clock.now()), paths)
            )
        return bool(paths)
