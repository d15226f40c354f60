"""A home on disk, and what is asked of the agents in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent.agent import Agent
from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.model.base import Json, Message
from agent.model.scripted import ScriptedModel, Step
from agent.settings import AgentSettings, MemorySettings, RecallSettings
from agent.tools.base import Tool, ToolResult
from agent.tools.schema import Arguments, spec, takes
from agent.values import SessionKey, TurnEvent, TurnRequest, TurnResult, UserMessage
from tests.agent.streamed import ignored, streamed

OWNER = SessionKey("main", "owner")
UNHURRIED = MemorySettings(recall=RecallSettings(timeout_ms=60_000))
"""A slow machine recalls the same memories as a quick one."""


class Home:
    """A home on disk, and the agents that come and go in it: each `agent()` is a process started anew."""

    def __init__(self, root: Path) -> None:
        self.workspace = root / "workspace"
        self.sessions = root / "sessions"
        self.workspace.mkdir()
        self.now = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)
        self.clock = Clock(ZoneInfo("Europe/Berlin"), lambda: self.now)
        self.settings = AgentSettings(memory=UNHURRIED)
        self.numbers = iter(range(1, 10_000))

    def agent(self, *answers: Step, otherwise: Step | None = None) -> tuple[Agent, ScriptedModel]:
        model = ScriptedModel(*answers, otherwise=otherwise)
        return Agent(self.settings, self.workspace, self.sessions, model, self.clock), model

    @property
    def owner(self) -> Scope:
        return Scope(Audience.OWNER, self.workspace)

    def said(self, text: str, id: str = "") -> UserMessage:
        return UserMessage(id or f"m{next(self.numbers)}", text, "Alice", "Telegram", self.now)

    def request(
        self,
        text: str = "hi",
        *tools: Tool,
        session: SessionKey = OWNER,
        scope: Scope | None = None,
        arrived: Callable[[], Sequence[UserMessage]] = tuple,
    ) -> TurnRequest:
        one = self.said(text)

        async def since() -> Sequence[UserMessage]:
            return arrived()

        return TurnRequest(f"turn-{one.id}", session, scope or self.owner, (one,), since, tools)

    def lines(self) -> list[dict[str, object]]:
        """The newest transcript's entries as they are on disk."""
        path = max(self.sessions.rglob("*.jsonl"))
        return [json.loads(line) for line in path.read_bytes().splitlines()][1:]


async def events(agent: Agent, request: TurnRequest) -> list[TurnEvent | TurnResult]:
    return [event async for event in streamed(agent, request)]


async def end(agent: Agent, request: TurnRequest) -> TurnResult:
    return await agent.turn(request, ignored)


class Numbered(Arguments):
    n: int | None = None


def tool(name: str, run: Callable[[Numbered], object], reads_only: bool = False) -> Tool:
    async def call(arguments: Numbered) -> ToolResult:
        result = run(arguments)
        return ToolResult(str(await result if asyncio.iscoroutine(result) else result))

    return Tool(spec(name, f"The {name}.", Numbered), takes(Numbered, call), reads_only=reads_only)


def results(message: Message) -> list[Json]:
    return [block["content"] for block in message.content if block.get("type") == "tool_result"]


def texts(message: Message) -> str:
    return "\n".join(str(block["text"]) for block in message.content if block.get("type") == "text")
