"""Tools that act on the gateway, made for each conversation; the agent's are in `agent/tools`."""

from __future__ import annotations

from typing import Protocol

from agent.tools.base import Tool
from gateway.store.inbox_rows import InboxRow


class ToolSource(Protocol):
    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tools of the turn that answers a message."""
