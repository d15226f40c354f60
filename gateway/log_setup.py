"""The log: text or JSON on stderr, without any secret."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TextIO
from urllib.parse import quote

from agent.formats.plain_text import repair_surrogates

HIDDEN = "***"
_SHORTEST = 4
"""Secrets below this many characters are not looked for: they would tear every text to pieces."""

_TOKEN_LIKE = re.compile(
    r"""
      \d{6,14}:[A-Za-z0-9_-]{30,}                              # Telegram
    | sk-[A-Za-z0-9_-]{16,}                                    # Anthropic and others
    | [A-Za-z0-9_-]{23,30}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}   # Discord
    | (?<=bearer\s)[A-Za-z0-9._~+/=-]{8,}
    | (?<=x-api-key:\s)[!-~]{8,}
    | (?:(?<=/webhooks/)|(?<=/interactions/))\d{15,20}/[\w-]{40,}    # a call of Discord's about one command or press
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                           # user:password@ in an address
    """,
    re.VERBOSE | re.IGNORECASE,
)

_OURS = ("agent", "channels", "gateway")
"""Whose news are told below a warning. A library's are not: some tell addresses that hold tokens, some the bodies of
requests, and so what people wrote. That holds for every library, also for one that comes with the next version."""


class Redactor:
    """Hides known secrets, also where they are part of an address, and whatever looks like a token."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {form for secret in secrets if len(secret) >= _SHORTEST for form in (secret, quote(secret, safe=""))}
        words = sorted(map(re.escape, known), key=len, reverse=True)
        self._known = re.compile("|".join(words)) if words else None

    def __call__(self, text: str) -> str:
        if self._known:
            text = self._known.sub(HIDDEN, text)
        return _TOKEN_LIKE.sub(HIDDEN, text)


class _Text(logging.Formatter):
    def __init__(self, redact: Redactor) -> None:
        super().__init__("{asctime} {levelname:7} {name}: {message}", style="{")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return repair_surrogates(self._redact(super().format(record)))


class _Json(logging.Formatter):
    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._redact(record.getMessage()),
        }
        if record.exc_info:
            line["exception"] = self._redact(self.formatException(record.exc_info))
        return repair_surrogates(json.dumps(line, ensure_ascii=False))


def set_up(level: str, style: str, secrets: Iterable[str], stream: TextIO | None = None) -> None:
    """Logs to `stream` (stderr) from now on, replacing an earlier set-up. `level`: debug, info, warning or error;
    `style`: text or json."""
    redact = Redactor(secrets)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json(redact) if style == "json" else _Text(redact))
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(max(logging.getLevelNamesMapping()[level.upper()], logging.WARNING))
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(True)
