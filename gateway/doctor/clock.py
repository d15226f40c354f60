"""This machine's clock against a server's Date header: reminders ring by it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gateway.doctor.finding import Finding
from gateway.doctor.reach import Reply

_TOLERANCE = timedelta(seconds=90)


def clock(reply: Reply, where: str) -> list[Finding]:
    """`where`: the server that gave that answer. Nothing where it told no time."""
    if reply.date is None:
        return []
    skew = datetime.now(UTC) - reply.date
    ok = abs(skew) <= _TOLERANCE
    seconds = round(abs(skew.total_seconds()))
    message = (
        f"agrees with {where}" if ok else f"is {seconds} s {'ahead of' if skew > timedelta() else 'behind'} {where}"
    )
    return [Finding("clock", ok, f"this machine's clock {message}", "" if ok else "turn on time synchronisation (NTP)")]
