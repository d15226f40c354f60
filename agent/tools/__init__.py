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
from agent.tools.files import file_tools, skill_tools
from agent.tools.memory import memory_tools


def build(
    scope: Scope,
    clock: Clock,
    settings: MemorySettings,
    search: Search,
    files: bool = True,
    wrote: Callable[[Path], None] = lambda path: None,
    skills: Skills | None = None,
    author: Author | None = None,
    past: TranscriptReader | None = None,
    sealed: Mapping[str, str] | None = None,
    day_of_text: Callable[[Clock], date | None] = Clock.today,
) -> tuple[Tool, ...]:
    """The tools of one conversation, in fixed order. They keep what it has read: build them once.

    `wrote` gets each changed file's path in the event loop; `author` signs changes; `past` opens a private scope's past
    sessions; `sealed` as in `TurnRequest`, `day_of_text` as in `ToolContext`.
    """
    own_past = past if scope.is_private else None
    context = ToolContext(
        scope, clock, settings, wrote, search, author, own_past, sealed or {}, day_of_text=day_of_text
    )
    return (
        memory_tools(context)
        + (file_tools(context) if files else ())
        + (skill_tools(context, skills) if skills else ())
    )
