"""WebSockets of the page: receives its frames and sends what it shows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import WSCloseCode, WSMsgType, web

from agent.languages.codes import Language
from agent.languages.sentences import Sentence, translated
from channels.web import frames
from channels.web.auth import WebSession
from channels.web.clients import OpenPages, PageConnection
from channels.web.frames import BadFrame, Earlier, Older, Open, PressFrame, ResendFrame, SayFrame, StopFrame
from channels.web.protocols import WebChat, WebMessageNotKept
from channels.web.record import NotRecorded
from channels.web.texts import accepted_by

log = logging.getLogger(__name__)

MOST_PAGES = 64
"""Open pages, so that a broken program does not use up the file descriptors."""
_HEARTBEAT = 30.0
"""Seconds between heartbeats."""
_MOST_UNAUTHENTICATED = 16
"""Unauthenticated sockets; one more closes the oldest."""
_LONGEST_FIRST = 2_000
"""Characters of the first frame."""
_LONGEST_REASON = 120
"""Bytes of what a close may say; the protocol has room for 123."""
CLOSING = 1.0
"""Seconds that a page has to answer a close."""


Admit = Callable[[str], WebSession | None]
"""Returns the session that a page key completes."""


@dataclass(frozen=True, slots=True)
class _OpenSocket:
    session: WebSession
    language: Language


class PageSockets:
    def __init__(self, chat: WebChat, pages: OpenPages, auth_timeout: float) -> None:
        self._chat = chat
        self._pages = pages
        self._auth_timeout = auth_timeout
        self._unauthenticated: dict[web.WebSocketResponse, web.Request] = {}
        self._open: dict[web.WebSocketResponse, _OpenSocket] = {}

    async def aclose(self) -> None:
        why = Sentence("Daybook is stopping.")
        languages = {socket: accepted_by(request) for socket, request in self._unauthenticated.items()}
        languages |= {socket: opened.language for socket, opened in self._open.items()}
        await _close_all(languages, WSCloseCode.GOING_AWAY, why)

    async def end(self, session: WebSession) -> None:
        theirs = {socket: opened.language for socket, opened in self._open.items() if opened.session.id == session.id}
        await _close_all(theirs, WSCloseCode.POLICY_VIOLATION, Sentence("You are logged out."))

    async def converse(self, request: web.Request, admit: Admit) -> web.StreamResponse:
        """Nothing of a chat is sent before its first frame is admitted."""
        while len(self._unauthenticated) >= _MOST_UNAUTHENTICATED:
            oldest = next(iter(self._unauthenticated))
            _abort(self._unauthenticated.pop(oldest))
        socket = web.WebSocketResponse(
            max_msg_size=frames.MAX_FRAME, heartbeat=_HEARTBEAT, compress=False, timeout=CLOSING
        )
        self._unauthenticated[socket] = request
        language = accepted_by(request)
        try:
            await socket.prepare(request)
            opened = await self._read_open(socket, language)
            if opened is not None and await self._admit(socket, admit(opened.key), language):
                await self._serve_page(request, socket, PageConnection(opened.chat, language))
        except ConnectionError:
            log.debug("a page was closed")
        finally:
            self._unauthenticated.pop(socket, None)
            self._open.pop(socket, None)
        return socket

    async def _admit(self, socket: web.WebSocketResponse, session: WebSession | None, language: Language) -> bool:
        if session is None:
            await _dismiss(socket, language, Sentence("Please log in again."))
        elif len(self._open) >= MOST_PAGES:
            why = Sentence("Too many pages are open. Close one.")
            await _dismiss(socket, language, why, WSCloseCode.TRY_AGAIN_LATER)
        else:
            self._unauthenticated.pop(socket, None)
            self._open[socket] = _OpenSocket(session, language)
            return True
        return False

    async def _read_open(self, socket: web.WebSocketResponse, language: Language) -> Open | None:
        try:
            first = await socket.receive(self._auth_timeout)
            if first.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR):
                return None
            if len(first.data) > _LONGEST_FIRST:
                raise BadFrame("that is too long for a first frame", hopeless=True)
            frame = _read(first.type, first.data)
            if isinstance(frame, Open):
                return frame
            why = "the first frame says which chat is opened"
        except TimeoutError:
            why = "which chat is opened was not said"
        except BadFrame as error:
            why = str(error)
        await _dismiss(socket, language, why)
        return None

    async def _serve_page(
        self, request: web.Request, socket: web.WebSocketResponse, connection: PageConnection
    ) -> None:
        with self._pages.attached(connection):
            async with asyncio.TaskGroup() as group:
                receiving = group.create_task(self._receive_frames(socket, connection))
                sending = group.create_task(_send_frames(socket, connection))
                slow = group.create_task(connection.cut_off())
                await asyncio.wait({receiving, sending, slow}, return_when=asyncio.FIRST_COMPLETED)
                if slow.done():
                    log.info("a page was too slow, so it was disconnected")
                    _abort(request)
                for task in (receiving, sending, slow):
                    task.cancel()

    async def _receive_frames(self, socket: web.WebSocketResponse, connection: PageConnection) -> None:
        try:
            await self._pages.begin(connection)
            async for received in socket:
                try:
                    await self._answer(connection, _read(received.type, received.data))
                except BadFrame as error:
                    if error.hopeless:
                        return await _dismiss(socket, connection.language, str(error))
                    connection.show(frames.failed(str(translated(connection.language, error))))
        except NotRecorded as error:
            await _dismiss(socket, connection.language, str(error), WSCloseCode.TRY_AGAIN_LATER)
        return None

    async def _answer(self, connection: PageConnection, frame: frames.PageFrame) -> None:
        match frame:
            case SayFrame() | ResendFrame() | PressFrame() | StopFrame():
                try:
                    match frame:
                        case SayFrame():
                            await self._chat.say(connection.chat, frame, connection.language)
                        case ResendFrame():
                            await self._chat.resend(connection.chat, frame, connection.language)
                        case PressFrame():
                            await self._chat.press(connection.chat, frame, connection.language)
                        case StopFrame():
                            await self._chat.stop(connection.chat, frame, connection.language)
                except WebMessageNotKept as error:
                    why = str(translated(connection.language, error))
                    connection.show(frames.refused(frame.id, why, again=error.again))
                else:
                    connection.show(frames.kept(frame.id))
            case Older(before):
                await self._pages.older(connection, before)
            case Earlier(message):
                await self._pages.earlier(connection, message)
            case Open():
                raise BadFrame("a chat is open already")


def _read(kind: WSMsgType, data: object) -> frames.PageFrame:
    """Raises `BadFrame`."""
    if kind is not WSMsgType.TEXT or not isinstance(data, str):
        raise BadFrame("only text can be sent here", hopeless=True)
    return frames.read(data)


async def _send_frames(socket: web.WebSocketResponse, connection: PageConnection) -> None:
    try:
        await connection.pump(socket.send_str)
    except ConnectionError:
        log.debug("a page was closed")


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


async def _close_all(sockets: Mapping[web.WebSocketResponse, Language], code: WSCloseCode, why: str) -> None:
    closing = (_dismiss(socket, language, why, code) for socket, language in sockets.items())
    await asyncio.gather(*closing, return_exceptions=True)


async def _dismiss(
    socket: web.WebSocketResponse, language: Language, why: str, code: WSCloseCode = WSCloseCode.POLICY_VIOLATION
) -> None:
    told = str(translated(language, why)).encode()[:_LONGEST_REASON].decode(errors="ignore")
    await socket.close(code=code, message=told.encode())
