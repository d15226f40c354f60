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
from agent.model.base import Json, Message, ToolSpec
from agent.model.scripted import ScriptedModel, Step
from agent.settings import AgentSettings, MemorySettings, RecallSettings
from agent.tools.base import Arguments, Tool, ToolResult
from agent.values import SessionKey, TurnEvent, TurnRequest, TurnResult, UserMessage

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


async def events(agent: Agent, request: TurnRequest) -> list[TurnEvent]:
    return [event async for event in agent.turn(request)]


async def end(agent: Agent, request: TurnRequest) -> TurnResult:
    *before, last = await events(agent, request)
    assert isinstance(last, TurnResult) and not any(isinstance(event, TurnResult) for event in before)
    return last


def tool(name: str, run: Callable[[Arguments], object], reads_only: bool = False) -> Tool:
    async def call(arguments: Arguments) -> ToolResult:
        result = run(arguments)
        return ToolResult(str(await result if asyncio.iscoroutine(result) else result))

    schema: dict[str, Json] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    return Tool(ToolSpec(name, f"The {name}.", schema), call, reads_only=reads_only)


def results(message: Message) -> list[Json]:
    return [block["content"] for block in message.content if block.get("type") == "tool_result"]


def texts(message: Message) -> str:
    return "\n".join(str(block["text"]) for block in message.content if block.get("type") == "text")
