"""Asks the process of `markup.py`: started when it is needed, ended when it takes too long or has nothing to do."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
from collections import OrderedDict
from html import unescape
from itertools import count
from typing import Literal

from channels.json_fields import load_json

log = logging.getLogger(__name__)

Kind = Literal["code", "block", "inline"]

MOST_CODE = 20_000
MOST_MATHS = 2_000
"""Characters; longer texts are shown as they are."""
_SECONDS = 2.0
"""For one text, from when the process works on it."""
_START_SECONDS = 20.0
_IDLE = 60.0
"""Seconds after which the process is ended."""
_KEPT = 2_000_000
"""Characters of results that are kept."""
_LANGUAGE = re.compile(r"[A-Za-z0-9_+\-.#]{1,40}")
_SPAN = re.compile(r'<span class="c-[a-z0-9]{1,4}">|</span>')
_LONGEST_LINE = 4_000_000
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "TMPDIR", "LANG")
"""All that the process knows of ours: no keys."""


class MarkupProcess:
    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._asking = asyncio.Lock()
        self._ids = count()
        self._idle: asyncio.TimerHandle | None = None
        self._known: OrderedDict[tuple[Kind, str, str], str] = OrderedDict()
        self._size = 0

    @property
    def pid(self) -> int:
        """The id of the process; 0 while there is none."""
        return self._process.pid if self._process is not None and self._process.returncode is None else 0

    async def html(self, kind: Kind, text: str, language: str = "") -> str:
        """Safe HTML for a text; empty where it is to be shown as it is."""
        if len(text) > (MOST_CODE if kind == "code" else MOST_MATHS) or not text.strip():
            return ""
        if kind == "code" and not _LANGUAGE.fullmatch(language):
            return ""
        key = (kind, language, text)
        if key not in self._known:
            async with self._asking:
                if key not in self._known:
                    found = await self._ask(kind, text, language)
                    self._keep(key, found if kind != "code" or _is_that_code(found, text) else "")
        self._known.move_to_end(key)
        return self._known[key]

    def _keep(self, key: tuple[Kind, str, str], html: str) -> None:
        self._known[key] = html
        self._size += len(html) + len(key[2])
        while self._size > _KEPT and len(self._known) > 1:
            (_, _, text), old = self._known.popitem(last=False)
            self._size -= len(old) + len(text)

    async def _ask(self, kind: Kind, text: str, language: str) -> str:
        if self._idle is not None:
            self._idle.cancel()
        id = next(self._ids)
        line = json.dumps({"id": id, "kind": kind, "language": language, "text": text})
        try:
            process = await self._running()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(line.encode() + b"\n")
            async with asyncio.timeout(_SECONDS):
                await process.stdin.drain()
                answer = load_json(await process.stdout.readline())
        except (TimeoutError, OSError, ValueError) as problem:
            log.info("a piece of %s is shown without colours: %s", language or "maths", problem or "it takes too long")
            await self.aclose()
            return ""
        except asyncio.CancelledError:
            await self.aclose()  # its answer would be taken for the next one's
            raise
        self._idle = asyncio.get_running_loop().call_later(_IDLE, self._end)
        return str(answer["html"]) if isinstance(answer, dict) and answer.get("id") == id else ""

    async def _running(self) -> asyncio.subprocess.Process:
        """Raises `OSError` and `TimeoutError`."""
        if self._process is None or self._process.returncode is not None:
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "channels.web.markup"),
                stdin=pipe,
                stdout=pipe,
                limit=_LONGEST_LINE,
                env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            )
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(b'{"id": "", "kind": "code", "language": "python", "text": "pass"}\n')
            async with asyncio.timeout(_START_SECONDS):
                await self._process.stdout.readline()
        return self._process

    def _end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def aclose(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.communicate()  # not `wait`, which waits for ever for a pipe that is full


def _is_that_code(html: str, code: str) -> bool:
    """True if it is the code, with nothing but our spans around its parts."""
    plain = _SPAN.sub("", html)
    return "<" not in plain and unescape(plain) == code
