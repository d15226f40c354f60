"""What is found out about a channel: findings of the doctor, checks of the set-up, and asking a platform once."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from agent.languages.codes import Language
from agent.languages.sentences import Sentence, Translatable, said, translated
from channels.network import WrongVariable, certificates_problem, proxy_for, tls

TIMEOUT = 15.0
"""Seconds."""
_MOST = 5_000_000
"""Bytes of an answer; lists of models can be long."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`fix` says what to do; empty where all is well."""

    check: str
    ok: bool
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class ServerClock:
    """What time it was at a server when it answered."""

    where: str
    at: datetime


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
    """Whether a part of the set-up works: `text` as a clause, `fix` says what to do where it does not. `shown` is the
    page's own sentence, with `{names}` of fields in it; `invite` adds the bot to a server, `link` opens its chat."""

    outcome: Outcome
    text: str
    fix: str = ""
    shown: str = ""
    clock: ServerClock | None = None
    invite: str = ""
    link: str = ""

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


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """`status` 0: there was no answer, and `why` says why, without the address (it may hold a token)."""

    status: int
    why: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    date: datetime | None = None

    @classmethod
    async def of(cls, status: int, date: str | None, body: AsyncIterator[bytes]) -> ProbeReply:
        from channels.json_fields import load_json  # noqa: PLC0415 (it loads what reads Markdown; rare)

        data = bytearray()
        async for piece in body:
            data += piece
            if len(data) >= _MOST:
                break
        try:
            value = load_json(bytes(data[:_MOST]))
        except ValueError:
            value = None
        return cls(status, body=value if isinstance(value, dict) else {}, date=_date(date))

    def clock(self, where: str) -> ServerClock | None:
        return ServerClock(where, self.date) if self.date else None


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return date if date and date.tzinfo else None


def get_of_platform(url: str, headers: Mapping[str, str]) -> ProbeReply:
    """Asks once, by a client like the channels'. Blocks; never raises."""
    return asyncio.run(_asked(url, headers))


async def _asked(url: str, headers: Mapping[str, str]) -> ProbeReply:
    import aiohttp  # noqa: PLC0415 (large: only where a platform is asked)

    try:
        async with (
            asyncio.timeout(TIMEOUT),
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls(strict=False))) as client,
            client.get(url, headers=headers, allow_redirects=False, proxy=proxy_for(url)) as answer,
        ):
            return await ProbeReply.of(answer.status, answer.headers.get("Date"), answer.content.iter_any())
    except WrongVariable as problem:
        return ProbeReply(0, str(problem))
    except aiohttp.ClientConnectorCertificateError as error:
        return ProbeReply(0, f"{error.certificate_error}.{certificates_problem()}")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return ProbeReply(0, reason_of(error, TIMEOUT))


def reason_of(error: BaseException, timeout: float) -> str:
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
