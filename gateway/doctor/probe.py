"""Findings, and a request to a server. With the standard library only, for `doctor` must start fast."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime

from agent.formats.parsing import load_json
from agent.model.base import Json
from channels.loopback import is_here


@dataclass(frozen=True, slots=True)
class Finding:
    """`cure` says what to do; empty where all is well."""

    check: str
    ok: bool
    message: str
    cure: str = ""


TIMEOUT = 15.0
"""Seconds."""
_MOST = 200_000


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """`status` 0: there was no answer, and `why` says why, without the address (it may hold a token)."""

    status: int
    why: str = ""
    body: Mapping[str, Json] = field(default_factory=dict)
    date: datetime | None = None


def get(url: str, headers: Mapping[str, str]) -> ProbeReply:
    """Asks once. A proxy from the environment is used for other machines, never for this one. Blocks; never raises."""
    handlers = [urllib.request.ProxyHandler({})] if is_here(url) else []
    opener = urllib.request.build_opener(*handlers)
    try:
        with opener.open(urllib.request.Request(url, headers=dict(headers)), timeout=TIMEOUT) as response:
            return _reply(response.status, response.headers.get("Date"), response.read(_MOST))
    except urllib.error.HTTPError as error:
        with error:
            return _reply(error.code, error.headers.get("Date"), error.read(_MOST))
    except urllib.error.URLError as error:
        return ProbeReply(0, _reason(error.reason))
    except (OSError, http.client.HTTPException, ValueError) as error:
        return ProbeReply(0, _reason(error))


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


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {TIMEOUT:.0f} s"
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else type(error).__name__
