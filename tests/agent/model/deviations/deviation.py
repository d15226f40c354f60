"""One deviation: what a server sends, byte for byte, and what must come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.model.base import ModelError
from tests.fakes.raw_http import Reply


@dataclass(frozen=True)
class Deviation:
    """`name` begins with the server. `sends` answers the call, `then` a repeat of it (the last one every further).

    An answer comes of it:
    text, calls, stop   what is shown and kept; names and arguments of the tools called; the stop reason
    invalid             how many calls have an input that nobody can read
    Or an error:
    error, says         its type, and an expression that its text fits
    window              the context window that the error tells, or (without an error) that the server says it has
    unsaid              what must not stand in the error's text
    asked               the `max_tokens` of each request
    raw                 the one text that the model writes, where there is nothing else
    """

    name: str
    sends: Reply
    then: Reply | None = None
    text: str | None = None
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    stop: str = ""
    invalid: int = 0
    error: type[ModelError] | None = None
    says: str = ""
    unsaid: str = ""
    window: int | None = None
    pages: Mapping[str, bytes] = field(default_factory=dict)
    asked: tuple[int, ...] = ()
    max_tokens: int = 8192
    cache: str = "5m"
    raw: str = ""

    def __str__(self) -> str:
        return self.name
