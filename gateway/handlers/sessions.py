"""Transcripts: the operations behind `daybook sessions`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from agent.agent import Agent
from agent.clock import utc_stamp
from agent.model.base import Json
from agent.session.archive import SessionInfo
from gateway.commands.context import Services
from gateway.handlers.parameters import required
from gateway.rpc.protocol import Operation, OperationError, Params


class SessionOperations:
    def __init__(self, services: Services) -> None:
        self.services = services

    def table(self) -> Mapping[str, Operation]:
        return {
            "sessions.list": self.list,
            "sessions.show": self.show,
            "sessions.export": self.show,
            "sessions.prune": self.prune,
        }

    async def list(self, _: Params) -> Json:
        infos = [info for agent in self.services.agents.values() for info in await agent.sessions()]
        return [_session_json(info) for info in sorted(infos, key=lambda info: info.last, reverse=True)]

    async def show(self, parameters: Params) -> Json:
        agent, info = await self._find(required(parameters, "id"))
        return {**_session_json(info), "text": await agent.export(info.key, info.id)}

    async def prune(self, parameters: Params) -> Json:
        days = parameters.get("days")
        if not isinstance(days, int) or days < 1:
            raise OperationError("days must be a whole number of at least 1")
        before = self.services.clock.now() - timedelta(days=days)
        removed = [one for agent in self.services.agents.values() for one in await agent.prune(before)]
        return {"removed": [info.id for info in removed]}

    async def _find(self, session: str) -> tuple[Agent, SessionInfo]:
        """The session of an id, a key, or the path that a search shows."""
        session = session.removeprefix("sessions/").removesuffix(".jsonl")
        for agent in self.services.agents.values():
            for info in await agent.sessions():
                if session in (info.id, str(info.key)):
                    return agent, info
        raise OperationError(f"there is no session {session} (`daybook sessions list` shows them)")


def _session_json(info: SessionInfo) -> dict[str, Json]:
    return {
        "id": info.id,
        "key": str(info.key),
        "started": utc_stamp(info.started),
        "last": utc_stamp(info.last),
        "messages": info.messages,
    }
