"""Asking the model for the next answer of a turn, in a talk that is kept within its window."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from agent.ending import FULL
from agent.model.base import Completed, ContextOverflow, ModelError, Restarted, TextDelta
from agent.model.closing import closing
from agent.room import Room
from agent.turn import Discard, Text

_LONG_WAIT = 5.0
"""Seconds from which on a person is told why nothing happens."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The whole answer, and the name of all that was sent for it (`replay.Context.prefix`)."""

    answer: Completed
    prefix: str


class Asking:
    """Each call asks once, and again where request or answer did not fit: `room` then has made it smaller."""

    def __init__(self, room: Room, purpose: str) -> None:
        self._room = room
        self._purpose = purpose

    async def __call__(self) -> AsyncGenerator[Text | Discard | Answered, None]:
        """What streams, then one `Answered`. Raises `ModelError`: `ContextOverflow` where no room could be made."""
        while True:
            async with aclosing(self._room.before_call()) as notes:
                async for note in notes:
                    yield note
            talk = self._room.talk
            now = talk.context()
            answer: Completed | None = None
            overflow: ContextOverflow | None = None
            try:
                async with closing(talk.model.stream(talk.request(now.messages, self._purpose))) as events:
                    async for event in events:
                        match event:
                            case TextDelta(text):
                                yield Text(text)
                            case Restarted(why=why, wait=wait):
                                yield Discard(why if wait >= _LONG_WAIT else "")
                            case Completed():
                                answer = event
            except ContextOverflow as error:
                overflow = error
            if overflow is not None or (answer is not None and answer.stop_reason == FULL):
                try:
                    async with aclosing(self._room.after_overflow()) as notes:
                        async for note in notes:
                            yield note
                except ContextOverflow:
                    if answer is None:
                        raise
                else:
                    yield Discard()
                    continue
            if answer is None:
                raise ModelError("The model's answer ended before it was complete. Please try again.")
            yield Answered(answer, now.prefix)
            return
