"""A server that misbehaves on demand, as a program of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.features.mcp.config import LocalMcpServer
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.servers import ManagedServer, McpServers

PROGRAM = Path(__file__).parents[3] / "fakes" / "mcp_server.py"


@dataclass(slots=True)
class FakeProgram:
    """`log` holds what the program did, over all its lives."""

    servers: McpServers
    log: Path

    def server(self, *modes: str, timeout: float = 30, env: dict[str, str] | None = None) -> ManagedServer:
        command = (sys.executable, str(PROGRAM), str(self.log), *modes)
        config = LocalMcpServer.model_validate({"command": command, "timeout_s": timeout, "env": env or {}})
        return self.servers.server("fake", config)

    def events(self, kind: str) -> list[dict[str, Any]]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    async def until(self, kind: str, count: int = 1) -> None:
        await until(lambda: len(self.events(kind)) >= count)


async def until(happened: Callable[[], object]) -> None:
    """Of another process, which rings no bell here."""
    async with asyncio.timeout(60):
        while not happened():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.fixture
async def fake(tmp_path: Path) -> AsyncIterator[FakeProgram]:
    async with McpServers(KeptMcp(tmp_path / "mcp")) as servers:
        yield FakeProgram(servers, tmp_path / "log")
