"""The only source of "now" and "today", in the user's configured zone, never UTC's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(slots=True, eq=False)
class Clock:
    """`read` returns an aware datetime."""

    zone: ZoneInfo
    """Changes when the person says where they are."""
    read: Callable[[], datetime] = lambda: datetime.now(UTC)

    def now(self) -> datetime:
        return self.read().astimezone(self.zone)

    def instant(self) -> datetime:
        """The moment in UTC, for spans and deadlines: local times are wrong across a change of the clock."""
        return self.read().astimezone(UTC)

    def today(self) -> date:
        return self.now().date()

    def local(self, moment: datetime) -> datetime:
        """Raises `ValueError` if `moment` is naive."""
        if moment.tzinfo is None:
            raise ValueError("a moment without a zone")
        return moment.astimezone(self.zone)


def utc_stamp(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds: `2026-11-21T08:30:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
