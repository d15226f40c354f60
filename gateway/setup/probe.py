"""Results of checks, requests to servers, checks of the clock and the time zone."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
import zoneinfo
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum

from agent.formats.network import BadEnvironment
from agent.formats.parsing import load_json
from agent.languages.codes import Language
from agent.languages.sentences import Sentence, Translatable, said, translated
from agent.languages.zones import is_utc
from agent.model.base import Json
from channels.network import WrongVariable, certificates_problem, proxy_for, tls
from gateway.config import Config
from gateway.config.edit import is_zone_chosen
from gateway.config.errors import did_you_mean
from gateway.config.values import named_zone
from gateway.home import Home
from gateway.spoken_time import span


@dataclass(frozen=True, slots=True)
class Finding:
    """`fix` says what to do; empty where all is well."""

    check: str
    ok: bool
    message: str
    fix: str = ""


class Outcome(StrEnum):
    """What a check of the set-up found, for programs with sentences of their own."""

    FINE = "fine"
    MISSING = "missing"
    MALFORMED = "malformed"
    REFUSED = "refused"
    NO_SUCH_MODEL = "no_such_model"
    NO_API = "no_api"
    """The address leads to something else than a model's server of that kind."""
    NO_INTENT = "no_intent"
    UNREACHABLE = "unreachable"
    BUSY = "busy"
    """The server failed, or asks to wait."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a part of the set-up works: `text` as a clause, `fix` says what to do where it does not."""

    outcome: Outcome
    text: str
    fix: str = ""
    clock: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        return self.outcome is Outcome.FINE

    @property
    def refused(self) -> bool:
        """True if the given value is wrong; False also where it could not be checked now."""
        return self.outcome in (
            Outcome.MISSING,
            Outcome.MALFORMED,
            Outcome.REFUSED,
            Outcome.NO_SUCH_MODEL,
            Outcome.NO_API,
        )

    @property
    def sentence(self) -> str:
        """For people: `The key isn't accepted: create a new one.`"""
        return self.said(Language.ENGLISH)

    def said(self, language: Language) -> str:
        """The same in another language."""
        clauses = [self.text, self.fix] if self.fix and not self.ok else [self.text]
        known = (clause if isinstance(clause, Translatable) else Sentence(clause) for clause in clauses)
        whole = ": ".join(str(translated(language, clause)) for clause in known)
        whole = f"{whole[:1].upper()}{whole[1:]}"
        return whole if whole.endswith((".", "?", "!", "…", "。")) else said(language, "{why}.", why=whole)


TIMEOUT = 15.0
"""Seconds."""
_MOST = 5_000_000
"""Bytes of an answer; lists of models can be long."""


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """`status` 0: there was no answer, and `why` says why, without the address (it may hold a token)."""

    status: int
    why: str = ""
    body: Mapping[str, Json] = field(default_factory=dict)
    date: datetime | None = None


def get(url: str, headers: Mapping[str, str]) -> ProbeReply:
    """Asks once, by the client that turns use for a model. Blocks; never raises."""
    return asyncio.run(_asked_for_model(url, headers, None, TIMEOUT))


def post(url: str, headers: Mapping[str, str], body: Mapping[str, Json], timeout: float) -> ProbeReply:
    """Sends JSON once, as `get`."""
    headers = {**headers, "content-type": "application/json"}
    return asyncio.run(_asked_for_model(url, headers, json.dumps(body).encode(), timeout))


def get_of_platform(url: str, headers: Mapping[str, str]) -> ProbeReply:
    """Asks once, by a client like the channels'. Blocks; never raises."""
    return asyncio.run(_asked_for_channel(url, headers))


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
            return _reply(answer.status_code, answer.headers.get("Date"), await _beginning(answer.aiter_bytes()))
    except BadEnvironment as problem:
        return ProbeReply(0, Sentence(problem.english, **problem.values))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        return ProbeReply(0, _reason(error, timeout))


async def _asked_for_channel(url: str, headers: Mapping[str, str]) -> ProbeReply:
    import aiohttp  # noqa: PLC0415 (large: only where a platform is asked)

    try:
        async with (
            asyncio.timeout(TIMEOUT),
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls(strict=False))) as client,
            client.get(url, headers=headers, allow_redirects=False, proxy=proxy_for(url)) as answer,
        ):
            return _reply(answer.status, answer.headers.get("Date"), await _beginning(answer.content.iter_any()))
    except WrongVariable as problem:
        return ProbeReply(0, str(problem))
    except aiohttp.ClientConnectorCertificateError as error:
        return ProbeReply(0, f"{error.certificate_error}.{certificates_problem()}")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return ProbeReply(0, _reason(error, TIMEOUT))


async def _beginning(body: AsyncIterator[bytes]) -> bytes:
    data = bytearray()
    async for piece in body:
        data += piece
        if len(data) >= _MOST:
            break
    return bytes(data[:_MOST])


def _reply(status: int, date: str | None, data: bytes) -> ProbeReply:
    try:
        body = load_json(data)
    except ValueError:
        body = None
    return ProbeReply(status, body=body if isinstance(body, dict) else {}, date=_date(date))


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return date if date and date.tzinfo else None


def _reason(error: BaseException, timeout: float) -> str:
    """Why a request failed, in the system's words if it has some: the clients' own hold the address, or say little."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, TimeoutError) and not cause.errno:
            return Sentence("no answer within {timeout} s", timeout=f"{timeout:.0f}")
        if isinstance(cause, OSError) and cause.errno:
            is_own = isinstance(cause, ssl.SSLError | socket.gaierror)
            return cause.strerror or type(cause).__name__ if is_own else os.strerror(cause.errno)
        cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__ or cause.__context__
    return type(error).__name__


_TOLERANCE = timedelta(seconds=90)


def check_clock(reply: ProbeReply, where: str) -> list[Finding]:
    """Compares the clock with the Date header of the answer, if it has one."""
    return [] if reply.date is None else [compare_clock(reply.date, where, _TOLERANCE)]


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
