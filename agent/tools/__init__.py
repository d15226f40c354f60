"""The agent's tools: memory, files and skills."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

from agent.clock import Clock
from agent.memory.history import Author
from agent.memory.scope import Scope
from agent.search.results import Search
from agent.settings import MemorySettings
from agent.skills import Skills
from agent.tools.base import Tool
from agent.tools.context import ToolContext, TranscriptReader
from agent.tools.files import file_tools
from agent.tools.memory import memory_tools
from agent.tools.skills import skill_tools


def _nobody(path: Path) -> None: ...


def build(
    scope: Scope,
    clock: Clock,
    settings: MemorySettings,
    search: Search,
    files: bool = True,
    wrote: Callable[[Path], None] = _nobody,
    skills: Skills | None = None,
    author: Author | None = None,
    talks: TranscriptReader | None = None,
    sealed: Mapping[str, str] | None = None,
    said_on: Callable[[Clock], date | None] = Clock.today,
) -> tuple[Tool, ...]:
    """The tools of one conversation, always in the same order: the memory tools, with `files` the file tools, with
    `skills` the tool that reads them.

    They know what this conversation has read, so build them once for it. `wrote` is called in the event loop with the
    path (in `scope.folder`) of each changed file; `author` signs changes in the history; `talks` opens past sessions,
    None for a scope that is not private; `sealed` as in `TurnRequest`, `said_on` as in `ToolContext`.
    """
    own_talks = talks if scope.is_private else None
    context = ToolContext(scope, clock, settings, wrote, search, author, own_talks, sealed or {}, said_on=said_on)
    return (
        memory_tools(context)
        + (file_tools(context) if files else ())
        + (skill_tools(context, skills) if skills else ())
    )
