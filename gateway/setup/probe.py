"""Requests to a model's server, checks of the clock and the time zone."""

from __future__ import annotations

import asyncio
import json
import zoneinfo
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from agent.formats.network import BadEnvironment
from agent.languages.sentences import Sentence
from agent.languages.zones import is_utc
from agent.model.base import Json
from channels.checks import TIMEOUT, Finding, ProbeReply, ServerClock, reason_of
from gateway.config import Config
from gateway.config.edit import is_zone_chosen
from gateway.config.errors import did_you_mean
from gateway.config.values import named_zone
from gateway.home import Home
from gateway.spoken_time import span


def get(url: str, headers: Mapping[str, str]) -> ProbeReply:
    """Asks once, by the client that turns use for a model. Blocks; never raises."""
    return asyncio.run(_asked_for_model(url, headers, None, TIMEOUT))


def post(url: str, headers: Mapping[str, str], body: Mapping[str, Json], timeout: float) -> ProbeReply:
    """Sends JSON once, as `get`."""
    headers = {**headers, "content-type": "application/json"}
    return asyncio.run(_asked_for_model(url, headers, json.dumps(body).encode(), timeout))


async def _asked_for_model(url: str, headers: Mapping[str, str], data: bytes | None, timeout: float) -> ProbeReply:
    import httpx2  # noqa: PLC0415 (large: only where a server is asked)

    from agent.model.transport import http_client  # noqa: PLC0415

    method = "GET" if data is None else "POST"
    try:
        async with (
            asyncio.timeout(timeout),
            http_client(url, httpx2.Timeout(None)) as client,
            client.stream(method, url, headers=headers, content=data) as answer,
        ):
            return await ProbeReply.of(answer.status_code, answer.headers.get("Date"), answer.aiter_bytes())
    except BadEnvironment as problem:
        return ProbeReply(0, Sentence(problem.english, **problem.values))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        return ProbeReply(0, reason_of(error, timeout))


_TOLERANCE = timedelta(seconds=90)


def check_clock(there: ServerClock | None) -> list[Finding]:
    """Compares the clock with a server's, if it told the time."""
    return [] if there is None else [compare_clock(there.at, there.where, _TOLERANCE)]


def compare_clock(there: datetime, where: str, tolerance: timedelta) -> Finding:
    skew = datetime.now(UTC) - there
    if abs(skew) <= tolerance:
        return Finding("clock", True, Sentence("this machine's clock agrees with {where}", where=where))
    ahead, behind = "this machine's clock is {span} ahead of {where}", "this machine's clock is {span} behind {where}"
    what = Sentence(ahead if skew > timedelta() else behind, span=span(skew), where=where)
    return Finding("clock", False, what, "turn on time synchronisation (NTP)")


def check_zone(home: Home, config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Warns where `TZ` is no IANA name (`CET-1CEST`, a typo); says so where nobody chose the machine's UTC."""
    wanted = environ.get("TZ", "")
    if is_zone_chosen(home, config):
        return
    if not wanted or named_zone(wanted):
        if is_utc(config.timezone):
            what = Sentence(
                "my clock is on UTC ({time}), and nobody chose that; where it is another time, say where you are: "
                "`/timezone Berlin`, or `daybook config set timezone Europe/Berlin`",
                time=f"{datetime.now(UTC):%H:%M}",
            )
            yield Finding("time zone", True, what)
        return
    hint = did_you_mean(wanted.removeprefix(":"), zoneinfo.available_timezones())
    what = Sentence(
        "TZ is {value}, which is not an IANA zone{hint}; days and reminders use {timezone}",
        value=wanted[:80],
        hint=hint,
        timezone=config.timezone,
    )
    yield Finding("time zone", False, what, "write `timezone: Europe/Berlin`, or your own zone, into config.yaml")
