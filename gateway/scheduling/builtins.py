"""Daybook's own jobs: they are in every list and run by name, but are in no file.

Each has a name, a time, and an async function of the due time. After a crash they may run a second time for one due
time, unlike other jobs, so what they do must be idempotent per due time: an outbox key made of it, or an entry that is
looked for before it is written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from gateway.recurrence import Cron, Every, When
from gateway.recurrence import interval as _interval

JOURNAL = "journal"
DAILY_SUMMARY = "daily-summary"
HEARTBEAT = "heartbeat"
MEMORY_TEST = "memory-test"
NAMES = (JOURNAL, DAILY_SUMMARY, HEARTBEAT)
"""Those that stand in every list."""
RESERVED = frozenset({*NAMES, MEMORY_TEST})
"""No other job may have these names."""

NIGHTLY = Cron("5 0 * * *")
"""The journal."""
MEMORY_TESTED = Cron("40 4 * * *")
_HEARTBEAT_OFF = timedelta(minutes=30)


def beating(every: timedelta | None) -> Every:
    """How often the heartbeat runs; None: as it would by default."""
    return Every(every or _HEARTBEAT_OFF)


def daily_at(at: time) -> Cron:
    return Cron(f"{at.minute} {at.hour} * * *")


def summary_of(chat: str) -> str:
    """The id of the job of a chat that chose a time of its own for its daily summary."""
    return f"{DAILY_SUMMARY}-{chat.replace(':', '-')}"


class JobFailed(Exception):
    """The job failed for now. One sentence for the owner; it is tried again like any other."""


@dataclass(frozen=True, slots=True)
class DueTime:
    """`by_hand`: somebody asked for it now. `late`: its time is long past."""

    moment: datetime
    late: bool = False
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """`silent`: there was nothing to say. `note`: a few words for the list of runs."""

    silent: bool = False
    note: str = ""


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """`run` raises `JobFailed`; any other exception is a bug and reported like a failure. `heeds_quiet`: waits in quiet
    hours. `is_of_use`: whether lists show it now; blocks for one look at the disk. `instead`: ids of jobs that do its
    work while it is off; its next run is the first of theirs. `reports`: it sends to a chat, so it needs a gateway.

    A job that is not `enabled` still runs by name.
    """

    id: str
    when: When
    run: Callable[[DueTime], Awaitable[JobOutcome]]
    enabled: bool = True
    heeds_quiet: bool = True
    text: str = ""
    is_of_use: Callable[[], bool] = _always
    instead: tuple[str, ...] = ()
    reports: bool = True


async def _nothing_yet(_: DueTime) -> JobOutcome:
    raise JobFailed("this Daybook has nothing to do for it yet")


def with_absent(given: tuple[BuiltIn, ...]) -> tuple[BuiltIn, ...]:
    """All built-in jobs; those without anything to do are off."""
    known = {one.id: one for one in given}
    absent = Every(_interval("1d"))
    return tuple(known.get(name) or BuiltIn(name, absent, _nothing_yet, enabled=False) for name in NAMES) + tuple(
        one for one in given if one.id not in NAMES
    )
