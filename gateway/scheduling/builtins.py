"""Daybook's own jobs: in every list and run by name, but in no file.

After a crash a job may run again for the same due time, so its work must be idempotent per due time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from agent.languages.sentences import Sentence
from gateway.manifest import features
from gateway.recurrence import Cron, Every, When

JOURNAL = "journal"
DAILY_SUMMARY = "daily-summary"
HEARTBEAT = "heartbeat"
MEMORY_TEST = "memory-test"
NAMES = (JOURNAL, DAILY_SUMMARY, HEARTBEAT)
"""The jobs in every list."""

NIGHTLY = Cron("5 0 * * *")
"""When the journal is written."""
MEMORY_TESTED = Cron("40 4 * * *")
_HEARTBEAT_OFF = timedelta(minutes=30)


def beating(every: timedelta | None) -> Every:
    """When the heartbeat runs; `every` None: the default of a heartbeat that is off."""
    return Every(every or _HEARTBEAT_OFF)


def daily_at(at: time) -> Cron:
    return Cron(f"{at.minute} {at.hour} * * *")


def summary_of(chat: str) -> str:
    """The id of the daily summary of a chat that chose a time of its own."""
    return f"{DAILY_SUMMARY}-{chat.replace(':', '-')}"


_DOES = {
    JOURNAL: Sentence("I write down the day"),
    DAILY_SUMMARY: Sentence("I sum up the day"),
    HEARTBEAT: Sentence("I look for what needs attention"),
    MEMORY_TEST: Sentence("I test my memory"),
    **{id: does for feature in features() for id, does in feature.jobs.items()},
}
RESERVED = frozenset(_DOES)
"""No other job may have these names."""


def does_by_itself(id: str, text: str) -> str:
    """What Daybook does in a job of its own, in words; `text` for any other job."""
    return _DOES.get(DAILY_SUMMARY if id.startswith(f"{DAILY_SUMMARY}-") else id, text)


class JobFailed(Exception):
    """One sentence for the owner; the job is tried again."""


@dataclass(frozen=True, slots=True)
class DueTime:
    moment: datetime
    late: bool = False
    """Its time is long past."""
    by_hand: bool = False
    """It was asked for by a person."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    silent: bool = False
    """There was nothing to say."""
    note: str = ""
    """A few words for the list of runs."""


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A job of Daybook's own. A job that is not `enabled` still runs by name."""

    id: str
    when: When
    run: Callable[[DueTime], Awaitable[JobOutcome]]
    """Raises `JobFailed`."""
    enabled: bool = True
    heeds_quiet: bool = True
    """It waits in quiet hours."""
    text: str = ""
    is_of_use: Callable[[], bool] = _always
    """False: lists leave it out. Reads the disk."""
    instead: tuple[str, ...] = ()
    """Ids of jobs that do its work while it is off."""
    reports: bool = True
    """It sends to a chat, so needs a gateway."""


async def _nothing_yet(_: DueTime) -> JobOutcome:
    raise JobFailed(Sentence("this Daybook has nothing to do for it yet"))


def with_absent(given: tuple[BuiltIn, ...]) -> tuple[BuiltIn, ...]:
    """All built-in jobs; those without work are off."""
    absent = (BuiltIn(name, Every(timedelta(days=1)), _nothing_yet, enabled=False) for name in NAMES)
    return tuple({built_in.id: built_in for built_in in (*absent, *given)}.values())
