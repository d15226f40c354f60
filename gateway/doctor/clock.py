"""Checks of this machine's clock, against a server's Date header, and of its time zone."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from gateway.config import Config
from gateway.config.errors import did_you_mean
from gateway.config.values import named_zone
from gateway.doctor.probe import Finding, ProbeReply

_TOLERANCE = timedelta(seconds=90)


def check_clock(reply: ProbeReply, where: str) -> list[Finding]:
    """Compares the clock with the answer of the server `where`; nothing where that has no date."""
    if reply.date is None:
        return []
    skew = datetime.now(UTC) - reply.date
    ok = abs(skew) <= _TOLERANCE
    seconds = round(abs(skew.total_seconds()))
    message = (
        f"agrees with {where}" if ok else f"is {seconds} s {'ahead of' if skew > timedelta() else 'behind'} {where}"
    )
    return [Finding("clock", ok, f"this machine's clock {message}", "" if ok else "turn on time synchronisation (NTP)")]


def check_zone(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Warns where `TZ` is no IANA name (`CET-1CEST`, a typing error): then the system's zone is used."""
    wanted = environ.get("TZ", "")
    if not wanted or named_zone(wanted) or "timezone" in config.model_fields_set:
        return
    hint = did_you_mean(wanted.removeprefix(":"), zoneinfo.available_timezones())
    what = f"TZ is {wanted[:80]!r}, which is no IANA zone{hint}; so days and reminders go by {config.timezone}"
    yield Finding("time zone", False, what, "write `timezone: Europe/Berlin`, or where you are, into config.yaml")
