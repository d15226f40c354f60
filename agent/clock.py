"""The only source of "now" and "today", in the user's configured zone, never UTC's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """A time zone with a source of time; `read` returns an aware datetime, replaced in tests."""

    zone: ZoneInfo
    read: Callable[[], datetime] = _utc_now

    def now(self) -> datetime:
        return self.read().astimezone(self.zone)

    def instant(self) -> datetime:
        """The present moment in UTC. Use it for spans and deadlines: two local times differ by an hour too much or too
        little across a change of the clock."""
        return self.read().astimezone(UTC)

    def today(self) -> date:
        return self.now().date()

    def local(self, moment: datetime) -> datetime:
        """An aware moment in the user's zone. Raises `ValueError` for a naive one."""
        if moment.tzinfo is None:
            raise ValueError("a moment without a zone")
        return moment.astimezone(self.zone)


def utc_stamp(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds: `2026-11-21T08:30:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
