"""A session that is open in memory. A file of its own, for the cache and the turn share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.context.file_changes import FileWatch
from agent.memory.scope import Scope
from agent.session.transcript import Transcript
from agent.tools.base import Tool


@dataclass(frozen=True, slots=True)
class OpenSession:
    """`written` collects what its tools write; `sealed` as in `TurnRequest`."""

    transcript: Transcript
    scope: Scope
    tools: tuple[Tool, ...]
    freshness: FileWatch
    written: set[Path]
    sealed: Mapping[str, str]
