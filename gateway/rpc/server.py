"""The server of the local socket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from agent.languages.codes import Language, of_locale
from agent.languages.sentences import Sentence, all_translated, translated
from agent.model.base import Json
from channels.message import OutcomeUnknown
from channels.terminal import Busy, Final, Shown, TerminalChannel, TerminalMessageNotKept, TerminalPreview
from gateway.home import version
from gateway.rpc.protocol import (
    MAX_REQUEST,
    PROTOCOL,
    OperationError,
    ProtocolError,
    RpcHandler,
    read_line,
    short_path,
    write_line,
)

log = logging.getLogger(__name__)

_SEEN_WITHIN = 60.0
"""Seconds that a terminal may take to print a message; one that takes longer (suspended) is given up."""
_PREVIEW_BACKLOG = 100_000
"""Bytes on their way to a terminal above which previews are skipped."""


@contextlib.asynccontextmanager
async def serve(path: Path, operations: Mapping[str, RpcHandler], terminal: TerminalChannel) -> AsyncIterator[None]:
    """Listens at `path` (0600), replacing a dead socket: the caller holds the home's lock. Logs where it cannot."""
    try:
        listening = await asyncio.to_thread(_listen, path)
    except (OSError, AttributeError) as error:
        log.warning("other commands can't reach this gateway: no socket at %s (%s)", path, error)
        yield
        return
    connections: set[asyncio.Task[None]] = set()
    async with asyncio.TaskGroup() as group:

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = group.create_task(_converse(_Peer(reader, writer, operations, terminal)), name="control connection")
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_unix_server(accept, sock=listening, limit=MAX_REQUEST)
        try:
            yield
        finally:
            server.close()
            await asyncio.to_thread(path.unlink, missing_ok=True)
            for task in tuple(connections):
                task.cancel()


def _listen(path: Path) -> socket.socket:
    """A socket with permissions set between `bind` and `listen`, before anything can connect."""
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_path(path) as short:
            listening.bind(short)
        path.chmod(0o600)
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


async def _converse(peer: _Peer) -> None:
    """Serves one connection; its errors end no other."""
    try:
        await peer.serve()
    except ConnectionError:
        log.debug("a local connection was lost")
    except Exception:
        log.exception("a local connection broke")
    finally:
        await peer.aclose()


class _Peer:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        operations: Mapping[str, RpcHandler],
        terminal: TerminalChannel,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._operations = operations
        self._terminal = terminal

    async def serve(self) -> None:
        await self._write({"daybook": PROTOCOL, "version": version(), "pid": os.getpid()})
        try:
            while (request := await read_line(self._reader)) is not None:
                if "chat" in request:
                    return await self._chat(str(request["chat"]))
                await self._write(await self._call(request))
        except ProtocolError as error:
            await self._write({"error": str(error)})

    async def aclose(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _write(self, value: Mapping[str, Json]) -> None:
        await write_line(self._writer, value)

    async def _call(self, request: Mapping[str, Json]) -> Mapping[str, Json]:
        name, params = request.get("call"), request.get("params", {})
        operation = self._operations.get(name) if isinstance(name, str) else None
        language = of_locale(str(request.get("language"))) or Language.ENGLISH
        if operation is None or not isinstance(params, Mapping):
            unknown = Sentence(
                "The running gateway doesn't know {name}, so it is probably another version. Restart it.",
                name=repr(name),
            )
            return {"error": unknown.in_language(language)}
        try:
            return {"result": all_translated(language, await operation(params))}
        except OperationError as error:
            return {"error": str(translated(language, error))}
        except Exception:
            log.exception("the operation %s failed", name)
            failed = Sentence("{name} failed inside Daybook. The gateway's log has the details.", name=name)
            return {"error": failed.in_language(language)}

    async def _chat(self, session: str) -> None:
        screen = _Screen(self._writer)
        async with asyncio.TaskGroup() as group:
            try:
                with self._terminal.attach(session, screen):
                    while (line := await read_line(self._reader)) is not None and "leave" not in line:
                        if "say" in line:
                            group.create_task(self._say(line, session))
                        else:
                            screen.seen(line)
                while screen.unseen and (line := await read_line(self._reader)) is not None:
                    screen.seen(line)
            finally:
                screen.lost()

    async def _say(self, line: Mapping[str, Json], session: str) -> None:
        attached = line.get("attached")
        files = [Path(name) for name in attached if isinstance(name, str)] if isinstance(attached, list) else []
        try:
            id, language = str(line.get("id") or ""), str(line.get("language") or "")
            said = await self._terminal.say(str(line["say"]), session, id, files, language)
            answer: Mapping[str, Json] = {"said": said}
        except TerminalMessageNotKept as error:
            answer = {"unsaid": str(error)}
        with contextlib.suppress(ConnectionError):
            await self._write(answer)


class _Screen:
    """The terminal at the other end."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._shown: dict[str, asyncio.Future[None]] = {}
        self._lost = False

    async def show(self, shown: Shown) -> None:
        if self._lost:
            raise ConnectionResetError
        match shown:
            case TerminalPreview(text):
                if self._writer.transport.get_write_buffer_size() < _PREVIEW_BACKLOG:
                    await write_line(self._writer, {"preview": text})
            case Busy(on):
                await write_line(self._writer, {"busy": on})
            case Final():
                await self._show_final(shown)

    async def _show_final(self, final: Final) -> None:
        seen: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._shown[final.id] = seen
        try:
            async with asyncio.timeout(_SEEN_WITHIN):
                line = {"final": final.text, "id": final.id, "reply_to": final.reply_to, "key": final.key}
                buttons: list[Json] = [[button.label, button.data] for button in final.buttons]
                await write_line(self._writer, {**line, "buttons": buttons})
                await seen
        except (ConnectionError, TimeoutError) as error:
            raise OutcomeUnknown("the terminal was closed while the message was being shown") from error
        finally:
            self._shown.pop(final.id, None)

    @property
    def unseen(self) -> bool:
        return bool(self._shown)

    def seen(self, line: Mapping[str, Json]) -> None:
        seen = self._shown.pop(str(line.get("seen", "")), None)
        if seen and not seen.done():
            seen.set_result(None)

    def lost(self) -> None:
        self._lost = True
        for seen in self._shown.values():
            if not seen.done():
                seen.set_exception(ConnectionResetError())
