"""A client of the local socket: asks a running gateway, and chats with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from agent.languages.codes import Language, of_environment
from agent.languages.sentences import Sentence
from agent.model.base import Json
from channels.message import Button
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


def _buttons(value: Json) -> tuple[Button, ...]:
    pairs = value if isinstance(value, list) else []
    return tuple(Button(str(pair[0]), str(pair[1])) for pair in pairs if isinstance(pair, list) and len(pair) == 2)


class NotRunning(Exception):
    """No gateway listens at this socket."""


@contextlib.asynccontextmanager
async def connect(path: Path) -> AsyncIterator[RpcConnection]:
    """A connection to a running gateway. Raises `NotRunning`, or `OperationError` where something else listens."""
    with short_path(path) as short:
        try:
            reader, writer = await asyncio.open_unix_connection(short, limit=MAX_ANSWER)
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
            raise NotRunning from error
        except OSError as error:
            reached = Sentence(
                "Can't reach the running gateway at {path}: {why}. Restart it.", path=path, why=error.strerror
            )
            raise OperationError(reached) from error
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
        raise OperationError(
            Sentence(
                "What answers at {path} is not a Daybook gateway. Stop it, and start the gateway again.", path=path
            )
        ) from error
    except ConnectionError as error:
        raise NotRunning from error
    if greeting is None:
        raise NotRunning
    if greeting.get("daybook") != PROTOCOL:
        other = greeting.get("version")
        raise OperationError(Sentence("The running gateway is another version ({version}). Restart it.", version=other))


_NOT_SENT = Sentence("The gateway has stopped, so your message was not sent. Start it and try again.")


class RpcConnection:
    """One connection: one question at a time, or one chat."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: Path) -> None:
        self._reader = reader
        self._writer = writer
        self._path = path

    async def call(self, operation: str, params: Params, language: Language = Language.ENGLISH) -> Json:
        """The result with its sentences in that language. Raises `OperationError`."""
        try:
            await write_line(self._writer, {"call": operation, "params": params, "language": language})
            answer = await read_line(self._reader)
        except (ConnectionError, ProtocolError) as error:
            raise OperationError(
                Sentence("The connection to the gateway broke during this: {why}. Try again.", why=str(error))
            ) from error
        if answer is None:
            raise OperationError(Sentence("The gateway stopped during this. Try again."))
        if "error" in answer:
            raise OperationError(str(answer["error"]))
        return answer.get("result")

    @contextlib.asynccontextmanager
    async def chat(self, session: str, listener: Listener) -> AsyncIterator[RemoteChat]:
        """A chat in a session; replies are acknowledged after `listener` has them."""
        await write_line(self._writer, {"chat": session})
        chat = RemoteChat(self._reader, self._writer, self._path)
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(chat.listen(listener), name="terminal")
            try:
                yield chat
            finally:
                await chat.leave(listening)


class RemoteChat:
    """Implements `gateway.terminal.repl.ChatConnection` with a gateway in another process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: Path) -> None:
        self._reader = reader
        self._writer = writer
        self._path = path
        self._said: asyncio.Queue[Mapping[str, Json]] = asyncio.Queue()
        self._saying = asyncio.Lock()
        self._ended = asyncio.Event()

    async def say(self, text: str, message_id: str, attached: Sequence[Path] = ()) -> None:
        async with self._saying:
            if self._ended.is_set():
                raise TerminalMessageNotKept(_NOT_SENT)
            try:
                files, language = [str(file) for file in attached], of_environment(os.environ) or ""
                await write_line(self._writer, {"say": text, "id": message_id, "attached": files, "language": language})
            except ConnectionError as error:
                raise TerminalMessageNotKept(_NOT_SENT) from error
            answer = await self._said.get()
        if "said" not in answer:
            raise TerminalMessageNotKept(str(answer.get("unsaid", "")))

    async def call(self, operation: str, params: Params) -> Json:
        """Calls an operation on a connection of its own. Raises `NotRunning`, `OperationError`."""
        async with connect(self._path) as connection:
            return await connection.call(operation, params)

    async def outcome(self, message_id: str) -> MessageOutcome:
        return MessageOutcome.read(await self.call("chat.outcome", {"id": message_id}))

    async def ended(self) -> None:
        await self._ended.wait()

    async def leave(self, listening: asyncio.Task[None]) -> None:
        try:
            await write_line(self._writer, {"leave": True})
            await asyncio.wait({listening}, timeout=_PARTED_WITHIN)
        except ConnectionError:
            pass  # it has gone already
        finally:
            listening.cancel()

    async def listen(self, listener: Listener) -> None:
        """Passes on everything that the gateway shows, until the end."""
        try:
            while (line := await read_line(self._reader)) is not None:
                await self._pass_on(line, listener)
        except (ConnectionError, ProtocolError):
            pass  # the caller sees that it ended
        finally:
            self._ended.set()
            self._said.put_nowait({"unsaid": "The gateway stopped before it confirmed your message. See if it came."})

    async def _pass_on(self, line: Mapping[str, Json], listener: Listener) -> None:
        if "preview" in line:
            await listener.show(TerminalPreview(str(line["preview"])))
        elif "busy" in line:
            await listener.show(Busy(bool(line["busy"])))
        elif "final" in line:
            id, text, reply_to, key = (str(line.get(name, "")) for name in ("id", "final", "reply_to", "key"))
            final = Final(id, text, reply_to, key, _buttons(line.get("buttons")))
            await listener.show(final)
            await write_line(self._writer, {"seen": final.id})
        else:
            self._said.put_nowait(line)
