"""A workspace and a clock for tests of memory and tools."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.search.engine import MemoryIndex
from agent.search.results import SearchResult


class Watch:
    """A clock that stands still until it is set."""

    def __init__(self, moment: datetime, zone: str = "Europe/Berlin") -> None:
        self.moment = moment
        self.clock = Clock(ZoneInfo(zone), lambda: self.moment)

    def later(self, **span: float) -> None:
        self.moment += timedelta(**span)


def morning() -> Watch:
    """2026-11-21 08:30 in Berlin."""
    return Watch(datetime(2026, 11, 21, 7, 30, tzinfo=UTC))


def owner(workspace: Path) -> Scope:
    return Scope(Audience.OWNER, workspace)


def person(workspace: Path, id: str = "alice") -> Scope:
    return Scope(Audience.PERSON, workspace, id)


def group(workspace: Path, id: str = "telegram--100") -> Scope:
    return Scope(Audience.GROUP, workspace, id)


unhurried = partial(MemoryIndex, within=600)
"""A slow machine finds the same as a quick one."""


def search(
    scope: Scope,
    clock: Clock,
    queries: Sequence[str],
    *,
    since: date | None = None,
    until: date | None = None,
    most: int = 40,
    below: str = "",
    deadline: float | None = None,
) -> SearchResult:
    """With an index made for it, as after a start on a new machine."""
    index = unhurried(None)
    try:
        return index.search(scope, clock, queries, since=since, until=until, most=most, below=below, deadline=deadline)
    finally:
        index.close()
