"""Moments as people read them: `2026-11-22 Sun 15:00 Europe/Berlin`, whatever the process's locale."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"))


def local(moment: datetime, zone: ZoneInfo) -> str:
    """With the zone's name."""
    here = moment.astimezone(zone)
    return f"{here:%Y-%m-%d} {_DAYS[here.weekday()]} {here:%H:%M} {zone.key}"


def soon(moment: datetime, now: datetime, zone: ZoneInfo) -> str:
    """`tomorrow at 15:00`; empty for what is neither today nor tomorrow."""
    here = moment.astimezone(zone)
    days = (here.date() - now.astimezone(zone).date()).days
    return f"{('today', 'tomorrow')[days]} at {here:%H:%M}" if days in (0, 1) else ""


def iso(moment: datetime | None, zone: ZoneInfo) -> str | None:
    """For programs: ISO 8601 with the zone's offset, to the second."""
    return moment.astimezone(zone).isoformat(timespec="seconds") if moment is not None else None


def shown(stamp: object, zone: str) -> str:
    """What `iso` wrote, for people's eyes; empty for None. `zone`: the name of the zone it was written in."""
    return local(datetime.fromisoformat(stamp), ZoneInfo(zone)) if isinstance(stamp, str) and stamp else ""


def away(time: timedelta) -> str:
    """`in 20 minutes`, in the largest unit that says it to a tenth."""
    seconds = max(0, round(time.total_seconds()))
    for size, name in _UNITS:
        if seconds >= size * 0.95:
            number = round(seconds / size, 0 if seconds >= 10 * size else 1)
            return f"in {number:g} {name}{'' if number == 1 else 's'}"
    return "in a moment"
