"""A talk in a small window, for tests of what happens when it is full."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from agent.agent import Agent
from agent.compaction.summary import PARTS
from agent.memory.scope import Scope
from agent.model.base import Json, ModelRequest, Usage
from agent.model.scripted import Reply, ScriptedAnswer, ScriptedModel, Step
from agent.model.tokens import estimate, estimate_blocks, estimate_tools
from agent.settings import AgentSettings, FlushSettings, ModelSettings, SessionSettings
from agent.tools.base import Tool
from agent.values import SessionKey, TextReset, TurnEvent, TurnRequest, TurnResult, UserMessage
from tests.agent.places import morning, owner
from tests.agent.streamed import streamed

OWNER = SessionKey("main", "owner")
SUMMARY = "\n".join(f"{part}\nnone" for part in PARTS)


def counted(request: ModelRequest, output: int = 20) -> Usage:
    """What a server would count."""
    told = sum(map(estimate, request.system)) + estimate_tools(request.tools)
    return Usage(input=told + sum(estimate_blocks(m.content) for m in request.messages), output=output)


def told(request: ModelRequest) -> str:
    """Every text of a request."""
    return json.dumps([[m.role, list(m.content)] for m in request.messages], ensure_ascii=False)


class LongTalk:
    """`answers` and `behind` as in `ScriptedModel`; by default every turn is answered with a few words, a summary with
    one that will do, all else with NO_REPLY. `first`: number of the first turn, for a talk that goes on."""

    def __init__(
        self,
        root: Path,
        *answers: Step,
        window: int = 8_000,
        keep: int = 800,
        reserve: int = 2_000,
        flush: FlushSettings | None = None,
        scope: Callable[[Path], Scope] = owner,
        idle: int | None = None,
        first: int = 0,
        **behind: Step,
    ) -> None:
        self.watch = morning()
        self.workspace = root / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.scope = scope(self.workspace)
        self.sessions = root / "sessions"
        self.behind: dict[str, Step] = {"compaction": SUMMARY, **behind}
        self.order: list[str] = []
        self.model = ScriptedModel(*answers, otherwise=self._answer, behind=self._silent, window=window)
        session = SessionSettings(reserve, keep, 500, flush=flush or FlushSettings(), idle_reset_minutes=idle)
        self.settings = AgentSettings(model=ModelSettings(max_tokens=1_000), session=session)
        self.agent = self.started_anew()
        self._number = first

    def started_anew(self) -> Agent:
        """The agent of the next process."""
        self.agent = Agent(self.settings, self.workspace, self.sessions, self.model, self.watch.clock)
        return self.agent

    async def say(self, text: str = "hi", *tools: Tool, size: int = 0) -> TurnResult:
        """One turn; `size` in tokens, about, of what is said."""
        *_, end = await self.events(text, *tools, size=size)
        assert isinstance(end, TurnResult)
        return end

    async def events(self, text: str = "hi", *tools: Tool, size: int = 0) -> list[object]:
        return [event async for event in self.streamed(text, *tools, size=size)]

    async def again(self, text: str, size: int = 0) -> TurnResult:
        """The last turn, asked for once more."""
        self._number -= 1
        return await self.say(text, size=size)

    def streamed(self, text: str = "hi", *tools: Tool, size: int = 0) -> AsyncGenerator[TurnEvent | TurnResult, None]:
        self._number += 1
        words = f"{text} {'word ' * (size * 4 // 5)}".strip()
        said = UserMessage(f"m{self._number}", words, "Alice", "Telegram", self.watch.clock.now())
        request = TurnRequest(f"t{self._number}", OWNER, self.scope, (said,), tools=tools)
        return streamed(self.agent, request)

    async def fill(self, turns: int = 1, size: int = 600) -> None:
        for number in range(turns):
            await self.say(f"turn {number}", size=size)

    async def until(self, type: str, size: int = 600) -> None:
        """Talk until an entry of that type stands in the transcript."""
        for _ in range(40):
            if self.entries(type):
                return
            await self.say("more", size=size)
        raise AssertionError(f"no {type} in forty turns")

    @asynccontextmanager
    async def behind_it(self) -> AsyncIterator[None]:
        """With what is done behind the answers; at the end all of it is done."""
        task = asyncio.create_task(self.agent.run())
        try:
            yield
            await self.agent.idle()
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def entries(self, type: str) -> list[dict[str, Json]]:
        """Entries of the newest transcript, as they stand on disk."""
        found = sorted(self.sessions.rglob("*.jsonl"))
        lines = found[-1].read_bytes().splitlines()[1:] if found else []
        return [entry for entry in map(json.loads, lines) if entry["type"] == type]

    def flushes(self, state: str = "done") -> list[dict[str, Json]]:
        return [entry for entry in self.entries("flush") if entry["state"] == state]

    def read(self, path: str) -> str:
        return (self.workspace / path).read_text("utf-8")

    def asked_for(self, purpose: str) -> list[ModelRequest]:
        return [request for request in self.model.silent if request.purpose == purpose]

    def _answer(self, request: ModelRequest) -> Reply:
        self.order.append("turn")
        return ScriptedAnswer("Fine.", usage=counted(request))

    def _silent(self, request: ModelRequest) -> Reply:
        self.order.append(request.purpose)
        step = self.behind.get(request.purpose, "NO_REPLY")
        return step(request) if callable(step) else step


class LoopClock:
    """The event loop's clock, standing still until it is moved: timeouts come when a test says so."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._now = loop.time()
        loop.time = lambda: self._now  # type: ignore[method-assign]

    async def pass_(self, seconds: float) -> None:
        """All timers up to then have gone off, and what waited for them has run."""
        self._now += seconds
        for _ in range(10):
            await asyncio.sleep(0)


def in_turn(*replies: Reply) -> Step:
    """Gives one reply after the other; the last one for ever."""
    left = list(replies)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


def is_note(event: object) -> bool:
    return isinstance(event, TextReset) and bool(event.note)
