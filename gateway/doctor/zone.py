"""What `doctor` looks for in the time zone: one that was asked for and is not what is used."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator, Mapping

from gateway.config import Config
from gateway.config.problem import did_you_mean
from gateway.config.values import named_zone
from gateway.doctor.finding import Finding


def check(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """`TZ` may hold what is no IANA name (`CET-1CEST`, a typing error): then the system's zone is taken."""
    wanted = environ.get("TZ", "")
    if not wanted or named_zone(wanted) or "timezone" in config.model_fields_set:
        return
    hint = did_you_mean(wanted.removeprefix(":"), zoneinfo.available_timezones())
    what = f"TZ is {wanted[:80]!r}, which is no IANA zone{hint}; so days and reminders go by {config.timezone}"
    yield Finding("time zone", False, what, "write `timezone: Europe/Berlin`, or where you are, into config.yaml")
