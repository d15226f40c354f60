"""A client of the local socket: asks a running gateway, and chats with it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from agent.model.base import Json
from channels.terminal import Busy, Final, Listener, TerminalMessageNotKept, TerminalPreview
from gateway.rpc.protocol import (
    MAX_ANSWER,
    PROTOCOL,
    MessageOutcome,
    OperationError,
    Params,
    ProtocolError,
    read_line,
    short_path,
    write_line,
)

_GREETED_WITHIN = 60.0
"""Seconds in which a gateway that lives greets, also on a slow machine; one that is dead is refused at once."""
_PARTED_WITHIN = 2.0
"""Seconds in which a gateway that lives lets us go."""


class NotRunning(Exception):
    """No gateway listens at this socket; it may be left over from one that was killed."""


@contextlib.asynccontextmanager
async def connect(path: Path) -> AsyncIterator[RpcConnection]:
    """A connection to a running gateway. Raises `NotRunning`, or `OperationError` where something else listens."""
    with short_path(path) as short:
        try:
            reader, writer = await asyncio.open_unix_connection(short, limit=MAX_ANSWER)
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
            raise NotRunning from error
        except OSError as error:
            raise OperationError(f"the running gateway cannot be reached at {path}: {error.strerror}") from error
    try:
        await _greeted(reader, path)
        yield RpcConnection(reader, writer, path)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def _greeted(reader: asyncio.StreamReader, path: Path) -> None:
    try:
        async with asyncio.timeout(_GREETED_WITHIN):
            greeting = await read_line(reader)
    except (TimeoutError, ProtocolError) as error:
        raise OperationError(f"what listens at {path} does not answer as a gateway does") from error
    except ConnectionError as error:
        raise NotRunning from error
    if greeting is None:
        raise NotRunning
    if greeting.get("daybook") != PROTOCOL:
        raise OperationError(f"the running gateway is Daybook {greeting.get('version')}; restart it after an update")


class RpcConnection:
    """One connection: one question at a time, or one chat."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: Path) -> None:
        self._reader = reader
        self._writer = writer
        self._path = path

    async def call(self, operation: str, params: Params) -> Json:
        """Calls an operation and returns its result. Raises `OperationError`."""
        try:
            await write_line(self._writer, {"call": operation, "params": params})
            answer = await read_line(self._reader)
        except (ConnectionError, ProtocolError) as error:
            raise OperationError(f"the running gateway broke off while answering {operation}: {error}") from error
        if answer is None:
            raise OperationError(f"the running gateway stopped while answering {operation}")
        if "error" in answer:
            raise OperationError(str(answer["error"]))
        return answer.get("result")

    @contextlib.asynccontextmanager
    async def chat(self, session: str, listener: Listener) -> AsyncIterator[RemoteChat]:
        """A chat in a session: what the gateway shows goes to `listener` and is acknowledged after that."""
        await write_line(self._writer, {"chat": session})
        talk = RemoteChat(self._reader, self._writer, self._path)
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(talk.listen(listener), name="terminal")
            try:
                yield talk
            finally:
                await talk.leave(listening)


class RemoteChat:
    """A chat with a gateway in another process. Implements `gateway.cli.repl.ChatConnection`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: Path) -> None:
        self._reader = reader
        self._writer = writer
        self._path = path
        self._said: asyncio.Queue[Mapping[str, Json]] = asyncio.Queue()
        self._saying = asyncio.Lock()
        self._ended = asyncio.Event()

    async def say(self, text: str, message_id: str) -> None:
        async with self._saying:
            if self._ended.is_set():
                raise TerminalMessageNotKept("the gateway has stopped")
            try:
                await write_line(self._writer, {"say": text, "id": message_id})
            except ConnectionError as error:
                raise TerminalMessageNotKept("the gateway has stopped") from error
            answer = await self._said.get()
        if "said" not in answer:
            raise TerminalMessageNotKept(str(answer.get("unsaid", "")))

    async def outcome(self, message_id: str) -> MessageOutcome:
        async with connect(self._path) as connection:
            return MessageOutcome.read(await connection.call("chat.outcome", {"id": message_id}))

    async def ended(self) -> None:
        """Waits until the gateway is gone."""
        await self._ended.wait()

    async def leave(self, listening: asyncio.Task[None]) -> None:
        """Closes in order: what was shown is acknowledged, and nothing more is sent."""
        try:
            await write_line(self._writer, {"leave": True})
            await asyncio.wait({listening}, timeout=_PARTED_WITHIN)
        except ConnectionError:
            pass  # it has gone already
        finally:
            listening.cancel()

    async def listen(self, listener: Listener) -> None:
        """Passes on what the gateway shows until the connection ends."""
        try:
            while (line := await read_line(self._reader)) is not None:
                await self._pass_on(line, listener)
        except (ConnectionError, ProtocolError):
            pass  # it ended, one way or another; whoever talks sees that
        finally:
            self._ended.set()
            self._said.put_nowait({"unsaid": "the gateway has stopped; it is not known whether it took the message"})

    async def _pass_on(self, line: Mapping[str, Json], listener: Listener) -> None:
        if "preview" in line:
            await listener.show(TerminalPreview(str(line["preview"])))
        elif "busy" in line:
            await listener.show(Busy(bool(line["busy"])))
        elif "final" in line:
            final = Final(*(str(line.get(key, "")) for key in ("id", "final", "reply_to", "key")))
            await listener.show(final)
            await write_line(self._writer, {"seen": final.id})
        else:
            self._said.put_nowait(line)
