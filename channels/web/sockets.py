"""A page's WebSocket: what it says goes to the chat, and what it is to be shown is sent, until one of them ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from aiohttp import WSCloseCode, WSMsgType, web

from channels.web import frames
from channels.web.chat import Chat, NotKept
from channels.web.connection import Connection
from channels.web.frames import BadFrame, Older, Open, Press, Say
from channels.web.pages import Pages
from channels.web.record import NotRecorded

log = logging.getLogger(__name__)

MOST_PAGES = 64
"""Open at a time. A person has a handful; more is a program gone wrong, and must not take the files of the process."""
_HEARTBEAT = 30.0
_FIRST_FRAME = 30.0
"""Seconds: between two signs of life of a page, until it says which chat it is."""
CLOSING = 1.0
"""Seconds that a page has to answer a goodbye."""


class Sockets:
    """All that are open."""

    def __init__(self, chat: Chat, pages: Pages) -> None:
        self._chat = chat
        self._pages = pages
        self._open: dict[web.WebSocketResponse, str] = {}

    async def aclose(self) -> None:
        """Say goodbye to every page."""
        await _goodbye(self._open, WSCloseCode.GOING_AWAY, "Daybook is stopping")

    async def end(self, session: str) -> None:
        """Close the pages of a browser that logs out."""
        theirs = [socket for socket, opened_by in self._open.items() if session and opened_by == session]
        await _goodbye(theirs, WSCloseCode.POLICY_VIOLATION, "logged out")

    async def converse(self, request: web.Request, session: str) -> web.StreamResponse:
        """`session`: of the browser, where it has one."""
        if len(self._open) >= MOST_PAGES:
            raise web.HTTPServiceUnavailable(text="Too many pages are open.\n")
        socket = web.WebSocketResponse(
            max_msg_size=frames.MAX_FRAME, heartbeat=_HEARTBEAT, compress=False, timeout=CLOSING
        )
        self._open[socket] = session
        try:
            await socket.prepare(request)
            opened = await self._opened(socket)
            if opened is not None:
                await self._shown(request, socket, Connection(opened.chat))
        except ConnectionError:
            log.debug("a page has gone")
        finally:
            self._open.pop(socket, None)
        return socket

    async def _opened(self, socket: web.WebSocketResponse) -> Open | None:
        """The first frame; None where it is none, and the page was told so."""
        try:
            first = await socket.receive(_FIRST_FRAME)
            if first.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR):
                return None
            asked = _read(first.type, first.data)
            if isinstance(asked, Open):
                return asked
            why = "the first frame says which chat is opened"
        except TimeoutError:
            why = "which chat is opened was not said"
        except BadFrame as error:
            why = str(error)
        await _dismiss(socket, why)
        return None

    async def _shown(self, request: web.Request, socket: web.WebSocketResponse, connection: Connection) -> None:
        """Talk with a page until it leaves, or takes too little."""
        with self._pages.attached(connection):
            async with asyncio.TaskGroup() as group:
                hearing = group.create_task(self._heard(socket, connection))
                showing = group.create_task(_pumped(socket, connection))
                slow = group.create_task(connection.cut_off())
                await asyncio.wait({hearing, showing, slow}, return_when=asyncio.FIRST_COMPLETED)
                if slow.done() and request.transport is not None:
                    log.info("a page that took too little was cut off")
                    request.transport.abort()
                for task in (hearing, showing, slow):
                    task.cancel()

    async def _heard(self, socket: web.WebSocketResponse, connection: Connection) -> None:
        try:
            await self._pages.begin(connection)
            async for received in socket:
                try:
                    await self._answer(connection, _read(received.type, received.data))
                except BadFrame as error:
                    if error.hopeless:
                        return await _dismiss(socket, str(error))
                    connection.show(frames.failed(str(error)))
        except NotRecorded as error:
            await _dismiss(socket, str(error), WSCloseCode.TRY_AGAIN_LATER)
        return None

    async def _answer(self, connection: Connection, asked: frames.Asked) -> None:
        match asked:
            case Say() | Press():
                try:
                    if isinstance(asked, Say):
                        await self._chat.say(connection.chat, asked)
                    else:
                        await self._chat.press(connection.chat, asked)
                except NotKept as error:
                    connection.show(frames.refused(asked.id, str(error), again=error.again))
                else:
                    connection.show(frames.kept(asked.id))
            case Older(before):
                await self._pages.older(connection, before)
            case Open():
                raise BadFrame("a chat is open already")


def _read(kind: WSMsgType, data: object) -> frames.Asked:
    """Raises `BadFrame`."""
    if kind is not WSMsgType.TEXT or not isinstance(data, str):
        raise BadFrame("only text is spoken here", hopeless=True)
    return frames.read(data)


async def _pumped(socket: web.WebSocketResponse, connection: Connection) -> None:
    try:
        await connection.pump(socket.send_str)
    except ConnectionError:
        log.debug("a page has gone")


async def _goodbye(sockets: Iterable[web.WebSocketResponse], code: WSCloseCode, why: str) -> None:
    await asyncio.gather(*(one.close(code=code, message=why.encode()) for one in sockets), return_exceptions=True)


async def _dismiss(socket: web.WebSocketResponse, why: str, code: WSCloseCode = WSCloseCode.POLICY_VIOLATION) -> None:
    await socket.close(code=code, message=why.encode()[:120])
