"""A model with scripted answers. Shipped, so that anyone can run the whole agent without a server."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agent.model.base import (
    SILENT,
    Block,
    Completed,
    Json,
    ModelError,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolCallStarted,
    Usage,
)
from agent.silence import NO_REPLY


class Hold:
    """Pauses a scripted stream: `reached` is set then; it continues once `released` is set."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.released = asyncio.Event()

    async def wait_here(self) -> None:
        self.reached.set()
        await self.released.wait()


@dataclass(frozen=True, slots=True)
class Call:
    """`arguments` as text is no JSON. An empty `id` is numbered by the model."""

    name: str
    arguments: Mapping[str, Json] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    text: str | Sequence[str] = ""
    """One text block; as a sequence, the pieces in which it streams."""
    calls: tuple[Call, ...] = ()
    blocks: tuple[Block, ...] = ()
    """Further blocks as they are, before the text: thinking, for one."""
    stop_reason: str = ""
    """Default: tool_use with calls, else end_turn."""
    usage: Usage = field(default_factory=lambda: Usage(input=10, output=5))
    hold: Hold | None = None
    hold_at: int = 0
    """The stream pauses at `hold` before the text's piece number `hold_at`; past the last piece: before the answer
    is completed."""
    breaks: ModelError | None = None
    """Raised in place of the answer's end, after everything streamed."""

    @property
    def pieces(self) -> tuple[str, ...]:
        return ((self.text,) if self.text else ()) if isinstance(self.text, str) else tuple(self.text)


Reply: TypeAlias = str | Call | ScriptedAnswer | ModelError
Step: TypeAlias = Reply | Callable[[ModelRequest], Reply]


class ScriptedModel:
    """Returns `answers` in order: a text, a call, a `ScriptedAnswer`, an error to raise, or a function of the request;
    then `otherwise`.

    `requests` are those of turns; `silent` those of the program (flush, compaction, consolidation), which `behind`
    answers.
    """

    def __init__(
        self,
        *answers: Step,
        otherwise: Step | None = None,
        behind: Step = NO_REPLY,
        window: int | None = 200_000,
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.silent: list[ModelRequest] = []
        self.closed = False
        self._answers = deque(answers)
        self._otherwise = otherwise
        self._behind = behind
        self._window = window
        self._ids = itertools.count(1)

    def then(self, *answers: Step) -> None:
        self._answers.extend(answers)

    @property
    def left(self) -> int:
        return len(self._answers)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        (self.silent if request.purpose in SILENT else self.requests).append(request)
        answer = self._next(request)
        pieces = answer.pieces
        for position, piece in enumerate(pieces):
            await self._park(answer, position)
            yield TextDelta(piece)
        for call in answer.calls:
            yield ToolCallStarted(call.name)
        await self._park(answer, len(pieces))
        await asyncio.sleep(0)
        if answer.breaks is not None:
            raise answer.breaks
        yield self._completed(answer, request.model)

    async def context_window(self, model: str) -> int | None:
        return self._window

    async def aclose(self) -> None:
        self.closed = True

    def _next(self, request: ModelRequest) -> ScriptedAnswer:
        if request.purpose in SILENT:
            step = self._behind
        elif self._answers:
            step = self._answers.popleft()
        elif self._otherwise is not None:
            step = self._otherwise
        else:
            raise AssertionError(f"the script has no answer for call {len(self.requests)}: {request.messages[-1:]}")
        reply = step(request) if callable(step) else step
        match reply:
            case str():
                return ScriptedAnswer(text=reply)
            case Call():
                return ScriptedAnswer(calls=(reply,))
            case ModelError():
                raise reply
            case ScriptedAnswer():
                return reply

    def _completed(self, answer: ScriptedAnswer, model: str) -> Completed:
        text = "".join(answer.pieces)
        content: list[Block] = [*answer.blocks]
        if text:
            content.append({"type": "text", "text": text})
        invalid: dict[str, str] = {}
        for call in answer.calls:
            call_id = call.id or f"toolu_{next(self._ids):04d}"
            if isinstance(call.arguments, str):
                invalid[call_id] = call.arguments
            arguments: Json = {} if isinstance(call.arguments, str) else dict(call.arguments)
            content.append({"type": "tool_use", "id": call_id, "name": call.name, "input": arguments})
        stop_reason = answer.stop_reason or ("tool_use" if answer.calls else "end_turn")
        return Completed(tuple(content), stop_reason, answer.usage, model, invalid)

    @staticmethod
    async def _park(answer: ScriptedAnswer, position: int) -> None:
        if answer.hold is not None and min(answer.hold_at, len(answer.pieces)) == position:
            await answer.hold.wait_here()
