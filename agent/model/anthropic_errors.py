"""What a server's refusal means, by what the caller can do about it, said for the person in the chat. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from agent.model.base import (
    AccessDenied,
    ContextOverflow,
    InvalidRequest,
    ModelError,
    ModelNotFound,
    ThinkingRejected,
    TryLater,
)

_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The API's error types (https://docs.anthropic.com/en/api/errors): an error inside a stream has no status."""

_TOO_LONG = re.compile(
    r"prompt is too long|exceeds? (the )?(model's )?(available |maximum )?context|context (length|limit|window|size)",
    re.IGNORECASE,
)
"""Anthropic's own wording, and those of vLLM, llama.cpp, LM Studio and OpenRouter."""
_PLACE = re.compile(r"\bmessages\.(\d{1,6})\.content\.(\d{1,6})\b")
_MOST_TOKENS = re.compile(r"max_tokens: \d{1,9} > (\d{1,9})\b")
_CREDIT = re.compile(r"credit balance|billing|insufficient (funds|balance|credit)", re.IGNORECASE)
_SECRET = re.compile(r"\b(sk|key|tok)-[\w-]{6,}")
_LONGEST_QUOTE = 300


def status_of(kind: str) -> int:
    """HTTP status for an error type; 500 for one not known."""
    return _STATUS_OF_TYPE.get(kind, 500)


def refusal(status: int, kind: str, said: str, *, model: str, wait: float | None = None) -> ModelError:
    """The error for an answer of this status, error type and message. `said` must hold no secret (see `quoted`)."""
    if status == 429:
        return TryLater("The model's server limits how often it may be asked.", retry_after=wait)
    if status >= 500 or status in (408, 409, 425):
        return TryLater(_down(status), retry_after=wait, overloaded=status >= 500)
    if status == 402 or (status in (400, 403) and _CREDIT.search(said)):
        return AccessDenied("The model account has no credit left. Top it up where the API key was made.")
    if status == 401:
        return AccessDenied(
            "The model's server does not accept the API key. Check ANTHROPIC_API_KEY in .env "
            "(or model.api_key in config.yaml), then try again."
        )
    if status == 403:
        return AccessDenied(f"The API key has no right to do this{_because(said)}. Use another key or model.")
    if status == 404:
        return _not_found(kind, model)
    if status == 413 or _TOO_LONG.search(said):
        return ContextOverflow("The conversation is larger than the model can take.")
    if _is_about_thinking(said.casefold()):
        return ThinkingRejected(f"The model's server refused earlier thinking in this conversation{_because(said)}.")
    return InvalidRequest(f"The model's server refused the request ({status}){_because(said)}.", at=_place(said))


def quoted(text: str, secret: str) -> str:
    """A server's words fit to be shown: one line, not long, without `secret` or anything that looks like a key."""
    clean = " ".join(text.split())
    if secret:
        clean = clean.replace(secret, "***")
    clean = _SECRET.sub("***", clean)
    return clean if len(clean) <= _LONGEST_QUOTE else clean[: _LONGEST_QUOTE - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, else `retry-after` as seconds or as a date, which is
    read against the server's own `date`. None where it says nothing that can be read."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    then, now = _moment(value), _moment(headers.get("date", ""))
    return max(0.0, (then - now).total_seconds()) if then and now else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _down(status: int) -> str:
    return "The model is overloaded." if status in (503, 529) else f"The model's server had an error ({status})."


def _not_found(kind: str, model: str) -> ModelError:
    if kind == "not_found_error":
        return ModelNotFound(
            f"The model's server does not know a model named {model}. Choose another with /model or in config.yaml."
        )
    return InvalidRequest("There is no Messages API at the configured address. Check model.base_url in config.yaml.")


def _place(said: str) -> tuple[int, int] | None:
    match = _PLACE.search(said)
    return (int(match[1]), int(match[2])) if match else None


def _is_about_thinking(said: str) -> bool:
    behind = said.partition("thinking")[2]
    return any(word in behind for word in ("signature", "bound to", "block")) or (
        "thinking" in said.partition("signature")[2]
    )


def most_tokens(said: str) -> int:
    """The longest answer of a model, where a refusal says that a longer one was asked for; else 0."""
    match = _MOST_TOKENS.search(said)
    return int(match[1]) if match else 0


def _because(said: str) -> str:
    return f": {said.rstrip('.')}" if said else ""
