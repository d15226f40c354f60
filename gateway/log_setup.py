"""The log: text or JSON on stderr, without any secret."""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Protocol

from agent.formats.plain_text import repair_surrogates
from agent.formats.secrets import KnownSecrets
from agent.fs import locked
from agent.memory.paths import open_parent

HIDDEN = "***"
_SHORTEST = 4
"""Secrets below this many characters are not looked for: they would tear every text to pieces."""

_TOKEN_LIKE = re.compile(
    r"""
      \d{6,14}:[A-Za-z0-9_-]{30,}                              # Telegram
    | sk-[A-Za-z0-9_-]{16,}                                    # Anthropic and others
    | [A-Za-z0-9_-]{23,30}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,}   # Discord
    | (?<=bearer\s)[A-Za-z0-9._~+/=-]{8,}
    | (?<=\#once=)[A-Za-z0-9_-]{8,}                             # a link that logs in
    | (?<=x-api-key:\s)[!-~]{8,}
    | (?:(?<=/webhooks/)|(?<=/interactions/))\d{15,20}/[\w-]{40,}    # a call of Discord's about one command or press
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                           # user:password@ in an address
    """,
    re.VERBOSE | re.IGNORECASE,
)

_OURS = ("agent", "channels", "gateway")
"""The packages that log below warnings. Libraries do not: some log addresses that hold tokens, some the bodies of
requests, and so what people wrote. That holds for every library, also for one that a later version brings."""


class Redactor:
    """Hides known secrets, also inside addresses, and whatever looks like a token."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._known = KnownSecrets(secrets, _SHORTEST)

    def __call__(self, text: str) -> str:
        return _TOKEN_LIKE.sub(HIDDEN, self._known(text, HIDDEN))


class _Text(logging.Formatter):
    def __init__(self, redact: Redactor, zone: tzinfo | None) -> None:
        super().__init__("{asctime} {levelname:7} {name}: {message}", style="{")
        self._redact = redact
        self.converter = lambda seconds: datetime.fromtimestamp(seconds or 0, zone).timetuple()

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


class LogStream(Protocol):
    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


def set_up(
    level: str, style: str, secrets: Iterable[str], stream: LogStream | None = None, zone: tzinfo | None = None
) -> logging.StreamHandler[LogStream]:
    """Logs to `stream` (stderr), replacing an earlier set-up, with times of `zone` (the machine's) in text."""
    redact = Redactor(secrets)
    handler = logging.StreamHandler[LogStream](stream or sys.stderr)
    handler.setFormatter(_Json(redact) if style == "json" else _Text(redact, zone))
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(max(logging.getLevelNamesMapping()[level.upper()], logging.WARNING))
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper())
    logging.captureWarnings(True)
    return handler


_LARGEST_FILE = 5_000_000
"""Bytes of the log's file, after which it becomes the older one and replaces the one before."""


def keep(file: Path, largest: int = _LARGEST_FILE) -> None:
    """Logs to a private file of `largest` bytes, too, in the same form, for `daybook logs`. Raises `OSError`."""
    _make_private(file)
    handler = _LogFile(file, maxBytes=largest, backupCount=1, encoding="utf-8")
    root = logging.getLogger()
    handler.setFormatter(root.handlers[0].formatter)
    root.addHandler(handler)


def older(file: Path) -> Path:
    return file.with_name(f"{file.name}.1")


def last_lines(file: Path, count: int) -> tuple[list[bytes], int]:
    """The newest lines of the log in `file` and the older one, and the end of `file`. Blocks. Raises `OSError`."""
    last: deque[bytes] = deque(maxlen=count)
    end = 0
    for log_file in (older(file), file):
        if log_file.exists():
            with log_file.open("rb") as stream:
                last.extend(stream)
                end = stream.tell()
    return list(last), end


class _LogFile(RotatingFileHandler):
    """Several gateways of a computer may write one file."""

    has_failed = False

    def shouldRollover(self, record: logging.LogRecord) -> int:
        """Goes on in a new file where this one was deleted or moved."""
        file = Path(self.baseFilename)
        if self.stream is not None and not (
            file.exists() and os.path.samestat(file.stat(), os.fstat(self.stream.fileno()))
        ):
            self.stream.close()
            self.stream = None
            _make_private(file)
        return super().shouldRollover(record)

    def doRollover(self) -> None:
        file = Path(self.baseFilename)
        assert self.stream is not None
        with open_parent(file, file.parent) as (folder, name), locked(folder):
            there = folder.stat(name)
            if there is None or os.path.samestat(there, os.fstat(self.stream.fileno())):
                super().doRollover()
            else:  # another has done it
                self.stream.close()
                self.stream = self._open()

    def rotate(self, source: str, dest: str) -> None:
        Path(source).replace(dest)
        _make_private(Path(source))

    def handleError(self, record: logging.LogRecord) -> None:
        if not self.has_failed:
            print(f"Can't write {self.baseFilename} ({sys.exc_info()[1]}).", file=sys.stderr)
        self.has_failed = True


def _make_private(file: Path) -> None:
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
