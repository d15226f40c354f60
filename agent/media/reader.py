"""Reads untrusted files in a process with limits (`reading`), which ends with this one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.formats.parsing import load_json
from agent.media.markdown import AFTER_LINKS
from agent.media.sniff import TOO_MUCH, Kind, Unreadable

_log = logging.getLogger(__name__)

SECONDS = 30.0
"""The time to read a file once its process has begun; the text read by then counts."""
_STARTING = 60.0
"""Seconds for a process to begin, on a machine that is busy or slow."""
AT_ONCE = 3
"""Processes; callers decide whose file waits."""
_LONGEST_REMARK = 300
_PICTURES = frozenset({"jpg", "png"})
_READABLE = frozenset({Kind.PDF, Kind.HTML, Kind.MAIL, Kind.TEXT})
_NONE: Mapping[Kind, str] = {}
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "TMPDIR")
"""All that the reading process sees of the environment: no keys."""
_HINTS = {
    Kind.SVG: "it is an SVG drawing, which I can't open; send it as PNG",
    Kind.VIDEO: "I can't watch videos",
    Kind.EMPTY: "it is empty",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """`remark` says what is not in `text`, as the end of a sentence about the file."""

    text: str
    remark: str = ""
    links: tuple[str, ...] = ()
    """Of a page: `[number] address`."""


@dataclass(frozen=True, slots=True)
class _End:
    remark: str
    ending: str


class Reader:
    """Reads at most `most_chars` of a document and `most_pages` of a PDF, within `seconds` for each file. `readers`:
    names, as `module:function`, of what reads files of further kinds."""

    def __init__(
        self, most_chars: int, most_pages: int, seconds: float = SECONDS, readers: Mapping[Kind, str] = _NONE
    ) -> None:
        self._most_chars = most_chars
        self._most_pages = most_pages
        self._seconds = seconds
        self._readers = readers
        self._free = asyncio.Semaphore(AT_ONCE)

    async def text(self, file: Path, kind: Kind) -> Reading:
        """Raises `Unreadable`, `OSError`."""
        if kind not in _READABLE and kind not in self._readers:
            raise Unreadable(_HINTS.get(kind, f"it is a {kind}"))
        return self._read(await self._run(kind, file, os.devnull))

    async def page(self, file: Path, address: str, charset: str) -> Reading:
        """`charset`: as the server names it. Raises `Unreadable`, `OSError`."""
        return self._read(await self._run(Kind.LINKED_PAGE, file, f"{address} {charset or '-'}"))

    def _read(self, done: tuple[list[str], _End | None]) -> Reading:
        texts, end = done
        remark = TOO_MUCH if end is None else end.remark
        links, _, text = "".join(texts).rpartition(AFTER_LINKS)
        text = text.strip()[: self._most_chars]
        if not text:
            raise Unreadable(remark or "there is no text in it")
        return Reading(text, remark, tuple(links.splitlines()))

    async def picture(self, file: Path, target: Path) -> str:
        """Writes a picture to `target` for a model; returns its ending. Raises `Unreadable`, `OSError`."""
        _, end = await self._run(Kind.PICTURE, file, str(target))
        if end is None or end.ending not in _PICTURES:
            await asyncio.to_thread(target.unlink, missing_ok=True)
            raise Unreadable(end.remark if end is not None and end.remark else TOO_MUCH)
        return end.ending

    async def _run(self, kind: Kind, file: Path, about: str) -> tuple[list[str], _End | None]:
        """The process's texts, and its end, if sent. A file may control the process: its output is not trusted."""
        texts: list[str] = []
        left, has_begun = self._most_chars, False
        limits = (str(self._most_chars), str(self._most_pages), self._readers.get(kind, ""))
        async with self._free:
            process = await _started(
                *(sys.executable, "-P", "-m", "agent.media.reading", kind.value, str(file), about, *limits),
            )
            try:
                async with asyncio.timeout(_STARTING) as limit:
                    assert process.stdout is not None
                    async for line in process.stdout:
                        match load_json(line):
                            case {"begun": True} if not has_begun:
                                has_begun = True
                                limit.reschedule(asyncio.get_running_loop().time() + self._seconds)
                            case {"text": str(text)} if len(text) <= left:
                                left -= len(text)
                                texts.append(text)
                            case {"end": str(remark), "ending": str(ending)}:
                                return texts, _End(" ".join(remark.split())[:_LONGEST_REMARK], ending)
                            case _:
                                raise ValueError("its process does not speak as it should")
            except (TimeoutError, ValueError) as problem:  # a line cut by the process's end is no JSON
                _log.warning("reading %s was given up: %r", file.name, problem)
            finally:
                await ended(process)
        _log.warning("the process that read %s ended with %s", file.name, process.returncode)
        return texts, None


async def _started(*command: str) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | {"PYTHONUTF8": "1"},
        )
    except OSError as error:
        _log.error("no process could be started to read a file: %s", error)
        raise Unreadable("I could not start the program that reads it; try again later") from error


async def ended(process: asyncio.subprocess.Process) -> None:
    """Kills a process and its children, and waits for its end."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    await process.communicate()  # not `wait`, which waits for ever for a pipe that is full
