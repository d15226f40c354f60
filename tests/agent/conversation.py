"""One conversation's tools, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.memory.scope import Scope
from agent.model.base import Json
from agent.settings import MemorySettings
from agent.tools import build
from agent.tools.base import Tool, ToolError
from tests.agent.places import Watch, morning, search


class Talk:
    """One conversation's tools, called by name as the loop calls them."""

    def __init__(self, scope: Scope, watch: Watch | None = None, limits: MemorySettings | None = None) -> None:
        self.written: list[str] = []
        self.scope = scope
        self.watch = watch or morning()
        built = build(scope, self.watch.clock, limits or MemorySettings(), search, wrote=self._wrote)
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in built}

    def _wrote(self, path: Path) -> None:
        self.written.append(path.relative_to(self.scope.folder).as_posix())

    async def call(self, name: str, /, **arguments: Json) -> str:
        return (await self.tools[name].run(dict(arguments), "1")).text

    async def refused(self, name: str, /, **arguments: Json) -> str:
        with pytest.raises(ToolError) as refusal:
            await self.call(name, **arguments)
        return str(refusal.value)
