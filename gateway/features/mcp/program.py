"""A server as a program: MCP on its stdin and stdout, one JSON message a line.

The SDK's own transport takes lines of any length, and its programs outlive a killed gateway. Here a line is limited,
what is not JSON is skipped, and a launcher ends all that a program has started with it, and with us, however we end.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import socket
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from agent.formats.parsing import load_json
from agent.languages.sentences import Sentence
from gateway.features.mcp.values import McpFailure, ProgramLaunch
from gateway.processes.started import LaunchedProgram, launch

log = logging.getLogger(__name__)

MOST_BYTES = 10_000_000
"""Bytes of one message."""
_CHUNK = 65_536
_MOST_A_SECOND = 1_000
"""Messages: a program that sends more waits until they are read, so that it keeps no processor busy but its own."""
_BETWEEN_NOISES = 0.05
"""Seconds between two readings of stderr, for the same reason."""
_LONG = 65_536
"""Bytes from which on a line is parsed in a thread."""
_INHERITED = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
_ENDS_ITSELF = 2.0
_ENDS_WHEN_ASKED = 6.0
"""Seconds; the launcher kills it after one."""
_LAST_WORDS = 0.5
_LAST_LINES = 100
_LOOKS = 0.01
_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)


Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def program_streams(
    program: ProgramLaunch, said: deque[str], ended: Callable[[], None]
) -> AsyncIterator[Streams]:
    """The streams of a started program, which calls `ended`; its last lines on stderr go to `said`. Raises
    `McpFailure`."""
    launched = await _started(program)
    process = launched.process
    to_us, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_us = anyio.create_memory_object_stream[SessionMessage](64)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_read(process, to_us, ended)), group.create_task(_write(process, from_us, to_us))]
        listening = group.create_task(_listen(process, said))
        try:
            yield incoming, outgoing
        finally:
            for task in tasks:
                task.cancel()
            for stream in (to_us, incoming, outgoing, from_us):
                stream.close()
            await asyncio.shield(asyncio.ensure_future(_ended(launched)))
            await asyncio.wait([listening], timeout=_LAST_WORDS)
            listening.cancel()


async def _started(program: ProgramLaunch) -> LaunchedProgram:
    if os.name != "posix":
        raise McpFailure(Sentence("programs that speak MCP are started on Linux and macOS only"))
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    ours, theirs = socket.socketpair()
    with ours:
        try:
            with theirs:
                launched = await launch(
                    ("server", str(theirs.fileno()), *program.command),
                    stdin=PIPE,
                    env={**inherited, **program.env},
                    cwd=Path.home(),  # not ours: programs look for settings and keys where they start
                    pass_fds=(theirs.fileno(),),
                )
        except (OSError, ValueError) as error:
            raise _cannot_be_started(program, str(error)) from error
        try:
            reader, writer = await asyncio.open_unix_connection(sock=ours)
            with contextlib.closing(writer):
                if why := (await reader.read()).decode():
                    raise _cannot_be_started(program, why)
        except BaseException:
            await asyncio.shield(asyncio.ensure_future(_ended(launched)))
            raise
    return launched


def _cannot_be_started(program: ProgramLaunch, why: str) -> McpFailure:
    reason = Sentence("there is no such program") if why == os.strerror(errno.ENOENT) else why
    return McpFailure(Sentence("{program} cannot be started ({why})", program=program.command[0], why=reason))


def _parsed(line: bytes) -> SessionMessage | None:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(load_json(line), by_name=False))
    except ValueError:
        return None  # other output, of a program that was not made for this alone


async def _read(
    process: Process, to_us: MemoryObjectSendStream[SessionMessage | Exception], ended: Callable[[], None]
) -> None:
    assert process.stdout is not None
    loop = asyncio.get_running_loop()
    count, since = 0, loop.time()
    with contextlib.suppress(*_CLOSED):
        async with to_us:
            parts: list[bytes] = []
            while chunk := await process.stdout.read(_CHUNK):
                *lines, rest = chunk.split(b"\n")
                for line in lines:
                    whole, parts, count = b"".join([*parts, line]), [], count + 1
                    if count > _MOST_A_SECOND:
                        await asyncio.sleep(since + 1 - loop.time())
                        count, since = 0, loop.time()
                    message = _parsed(whole) if len(whole) < _LONG else await asyncio.to_thread(_parsed, whole)
                    if message is not None:
                        await to_us.send(message)
                parts.append(rest)
                if sum(map(len, parts)) > MOST_BYTES:
                    log.warning("a program's message has over %s bytes: it is ended", f"{MOST_BYTES:,}")
                    break
    ended()


async def _write(
    process: Process,
    from_us: MemoryObjectReceiveStream[SessionMessage],
    to_us: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert process.stdin is not None
    with contextlib.suppress(*_CLOSED):
        async with from_us:
            async for outgoing in from_us:
                line = outgoing.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(line.encode() + b"\n")
                try:
                    await process.stdin.drain()
                except OSError:  # it has ended: so does the session
                    await to_us.aclose()
                    return


async def _listen(process: Process, said: deque[str]) -> None:
    assert process.stderr is not None
    rest = b""
    while chunk := await process.stderr.read(_CHUNK):
        *lines, rest = (rest[-_CHUNK:] + chunk).split(b"\n")
        said.extend(line.decode(errors="replace") for line in lines[-_LAST_LINES:] if line.strip())
        await asyncio.sleep(_BETWEEN_NOISES)


async def _ended(launched: LaunchedProgram) -> None:
    """Closes its stdin, then has the launcher ask it to end, and kill it and all that it has started."""
    process = launched.process
    if process.stdin is not None:
        process.stdin.close()
    if not await _ends(process, _ENDS_ITSELF):
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        if not await _ends(process, _ENDS_WHEN_ASKED):
            log.warning("the program below process %d can't be ended", process.pid)
    launched.close()


async def _ends(process: Process, seconds: float) -> bool:
    # Not by `wait`: it also waits for pipes, which a child of the program may hold open.
    try:
        async with asyncio.timeout(seconds):
            while process.returncode is None:  # noqa: ASYNC110 (there is no event for this alone)
                await asyncio.sleep(_LOOKS)
    except TimeoutError:
        return False
    return True
