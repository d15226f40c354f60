"""Runs one program in the sandbox, under limits, and ends it in time."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import logging
import os
import secrets
import shutil
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from agent.formats.parsing import load_json
from agent.memory.scope import Scope
from gateway.features.programs.output import ProgramOutput
from gateway.features.programs.sandbox import Sandbox
from gateway.features.programs.workspace import Workspaces
from gateway.processes.started import LaunchedProgram, launch

_log = logging.getLogger(__name__)

_CHUNK = 65_536
_LAST_WAIT_S = 6.0
"""The time for the launcher, which gives a program two seconds and kills it then."""
_FILE_TOO_LARGE = (signal.SIGXFSZ, 128 + signal.SIGXFSZ) if hasattr(signal, "SIGXFSZ") else ()


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """`memory`: bytes of each process, and of all; `file_size`: bytes of each file."""

    processes: int = 200
    memory: int = 2 * 1024**3
    file_size: int = 1024**3


class HowEnded(enum.StrEnum):
    """How a program ended: names on disk."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    STOPPED = "stopped"
    PROCESSES = "processes"
    MEMORY = "memory"
    FILE_SIZE = "file-size"
    REFUSED = "refused"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """The end of a program. `why`: of a program that could not be started."""

    how: HowEnded
    code: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProgramCall:
    argv: tuple[str, ...]
    folder: str
    """Below the scope's folder; empty: that folder."""
    network: bool
    seconds: int


class ProgramRunner:
    """Runs programs. `scratch`: a folder of its own, for what programs write to /tmp."""

    def __init__(
        self, sandbox: Sandbox, workspaces: Workspaces, scratch: Path, limits: ProgramLimits | None = None
    ) -> None:
        self.sandbox = sandbox
        self.workspaces = workspaces
        self._scratch = scratch
        self._limits = limits or ProgramLimits()

    async def run(self, call: ProgramCall, scope: Scope, output: ProgramOutput) -> ProgramEnd:
        """Runs a program to its end; cancelled, it ends the program first. Raises `OSError`."""
        stack = ExitStack()
        preparing = asyncio.create_task(asyncio.to_thread(self.prepare, call, scope, stack))
        try:
            command, environment = await asyncio.shield(preparing)
            return await self._run(command, environment, scope.folder / call.folder, call.seconds, output)
        finally:
            await asyncio.shield(_undone(preparing, stack))

    def prepare(self, call: ProgramCall, scope: Scope, stack: ExitStack) -> tuple[Sequence[str], dict[str, str]]:
        """The launcher's words and the environment, which hold until `stack` is closed. Blocks. Raises `OSError`."""
        scratch = self._scratch / secrets.token_hex(8)
        scratch.mkdir(parents=True, mode=0o700)
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        mounts = stack.enter_context(self.workspaces.lent(scope, scratch, call.argv))
        limits = (self._limits.processes, self._limits.memory, self._limits.file_size)
        argv = self.sandbox.command(call.argv, mounts.folder / call.folder, mounts, network=call.network)
        return ("program", *map(str, limits), *argv), self.sandbox.environment(os.environ, scratch)

    async def _run(
        self, command: Sequence[str], environment: dict[str, str], folder: Path, seconds: int, output: ProgramOutput
    ) -> ProgramEnd:
        launched = await launch(command, stdin=asyncio.subprocess.DEVNULL, env=environment, cwd=folder)
        process = launched.process
        reading = asyncio.create_task(_read(launched, output))
        is_late = False
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(reading)
        except TimeoutError:
            is_late = True
        finally:
            if not reading.done():
                _signal(process, signal.SIGTERM)
                await asyncio.shield(_last_word(process, reading))
        word = await reading
        return _end(word, is_late=is_late)


async def _undone(preparing: asyncio.Task[tuple[Sequence[str], dict[str, str]]], stack: ExitStack) -> None:
    await asyncio.wait({preparing})
    await asyncio.to_thread(stack.close)


async def _last_word(process: asyncio.subprocess.Process, reading: asyncio.Task[bytes]) -> None:
    done, _ = await asyncio.wait({reading}, timeout=_LAST_WAIT_S)
    if not done:
        _log.error("a program's launcher does not end; it is killed")
        _signal(process, signal.SIGKILL)
        await asyncio.wait({reading})


async def _read(launched: LaunchedProgram, output: ProgramOutput) -> bytes:
    """Reads until the program and all that it has started have ended; returns its launcher's word."""
    process = launched.process
    assert process.stdout is not None and process.stderr is not None
    printed = asyncio.create_task(_copy(process.stdout, output))
    word = await process.stderr.read()  # the launcher alone writes it
    done, _ = await asyncio.wait({printed}, timeout=_LAST_WAIT_S)
    if done:
        await process.wait()
    else:
        _log.warning("the output of a program is held open by another one, which it has given it to")
        printed.cancel()
    launched.close()
    return word


async def _copy(stream: asyncio.StreamReader, output: ProgramOutput) -> None:
    while data := await stream.read(_CHUNK):
        output.add(data)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        process.send_signal(number)


def _end(word: bytes, *, is_late: bool) -> ProgramEnd:
    lines = word.decode("utf-8", "replace").splitlines()
    try:
        told = load_json(lines[0]) if lines else {}
        code = int(told.get("code", 0))
    except (ValueError, TypeError, AttributeError) as error:
        _log.error("a program's launcher said nothing that can be read: %s", error)
        return ProgramEnd(HowEnded.LOST)
    if why := str(told.get("refused", "")):
        return ProgramEnd(HowEnded.REFUSED, why=why)
    if not lines:
        return ProgramEnd(HowEnded.LOST)
    if limit := str(told.get("limit", "")):
        return ProgramEnd(HowEnded(limit), code)
    if code in _FILE_TOO_LARGE or -code in _FILE_TOO_LARGE:
        return ProgramEnd(HowEnded.FILE_SIZE, code)
    if is_late:
        return ProgramEnd(HowEnded.TIMEOUT, code)
    return ProgramEnd(HowEnded.STOPPED if told.get("stopped") else HowEnded.EXITED, code)
