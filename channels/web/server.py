"""HTTP: who asks is looked at first, then served. Every answer, an error too, has headers that keep it to itself."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from aiohttp import WSCloseCode, WSMsgType, web

from channels.message import Health
from channels.web import frames
from channels.web.chat import Chat, NotKept
from channels.web.connection import Connection
from channels.web.frames import BadFrame, Older, Open, Press, Say
from channels.web.guard import SESSION_SECONDS, Guard
from channels.web.house import House
from channels.web.page import page
from channels.web.record import NotRecorded, Record
from channels.web.uploads import Uploads

log = logging.getLogger(__name__)

MOST_CONNECTIONS = 256
MOST_PAGES = 64
"""Open at a time. A person has a handful; more is a program gone wrong, and must not take the files of the process."""
_OPEN_FOR_ALL = frozenset({"/healthz", "/readyz", "/metrics"})
_SERVES_STRANGERS = frozenset({"/", "/login", *_OPEN_FOR_ALL})
"""These look at the token themselves, or need none."""
_HEARTBEAT = 30.0
_FIRST_FRAME = 30.0
_UPLOAD = 600.0
"""Seconds: between two signs of life of a page, until it says which chat it is, for a whole upload."""
_CLOSING = 1.0
"""Seconds that a page has to answer a goodbye."""
_CHUNK = 1 << 18
_MOST_JSON = 8_192
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Server": "Daybook",
}
_NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'; sandbox"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """`guard` is there before the first request is. `protocol` is one connection, for the listening end."""

    guard: Guard

    def __init__(self, chat: Chat, house: House, record: Record, uploads: Uploads, largest_upload: int) -> None:
        self._chat = chat
        self._house = house
        self._record = record
        self._uploads = uploads
        self._largest_upload = largest_upload
        self._sockets: set[web.WebSocketResponse] = set()
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Once; before the first connection."""
        if self._runner is not None:
            return
        app = web.Application(middlewares=[self._checked], client_max_size=_MOST_JSON)
        app.on_response_prepare.append(_sealed)
        app.router.add_get("/", self._page)
        app.router.add_post("/login", self._log_in)
        app.router.add_post("/logout", self._log_out)
        app.router.add_get("/session", self._session)
        app.router.add_get("/ws", self._converse)
        app.router.add_post("/files", self._upload)
        app.router.add_get("/files/{id:[A-Za-z0-9_-]{8,64}}/{place:[0-9]{1,2}}", self._download)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        await asyncio.to_thread(page)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_CLOSING)
        await self._runner.setup()

    def protocol(self) -> asyncio.BaseProtocol:
        server = self._runner.server if self._runner else None
        if server is None or len(server.connections) >= MOST_CONNECTIONS:
            return _TurnedAway()
        return server()

    async def aclose(self) -> None:
        """Say goodbye to every page and end every connection, within some seconds."""
        if self._runner is None:
            return
        goodbyes = [one.close(code=WSCloseCode.GOING_AWAY, message=b"Daybook is stopping") for one in self._sockets]
        await asyncio.gather(*goodbyes, return_exceptions=True)
        await self._runner.cleanup()

    # who asks

    @web.middleware
    async def _checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Place, page, token, in this order (SPEC 11)."""
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or not self.guard.is_our_host(hosts[0], _reached_at(request)):
            raise web.HTTPForbidden(text="This is not the address of this Daybook; open it by the one that it names.\n")
        if not self._is_our_page(request, hosts[0]):
            raise web.HTTPForbidden(text="Another page asks for this. Only Daybook's own may.\n")
        if request.path not in _SERVES_STRANGERS and not self._is_let_in(request):
            raise self._stranger(request)
        return await handler(request)

    def _is_our_page(self, request: web.Request, host: str) -> bool:
        """A browser names the page that asks; a program names none, and then must show the token by itself."""
        origins = request.headers.getall("Origin", [])
        if origins:
            return len(origins) == 1 and self.guard.is_our_origin(origins[0], host)
        if request.path == "/ws":
            return False
        if request.method not in ("GET", "HEAD"):
            return "Authorization" in request.headers
        is_foreign = request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin")
        return not is_foreign or (request.path == "/" and request.headers.get("Sec-Fetch-Mode") == "navigate")

    def _is_let_in(self, request: web.Request) -> bool:
        """Raises `HTTPTooManyRequests`."""
        kind, _, shown = request.headers.get("Authorization", "").partition(" ")
        if not kind:
            return self.guard.is_session(request.cookies.get(self._cookie(request), ""))
        return kind.lower() == "bearer" and self._is_token(request, shown.strip())

    def _is_token(self, request: web.Request, shown: str) -> bool:
        """Raises `HTTPTooManyRequests`."""
        address = request.remote or ""
        if wait := self.guard.wait(address):
            raise web.HTTPTooManyRequests(
                text=f"Too many wrong tokens; wait {wait} s.\n", headers={"Retry-After": str(wait)}
            )
        if self.guard.is_token(shown):
            return True
        self.guard.was_wrong(address)
        return False

    @staticmethod
    def _stranger(request: web.Request) -> web.HTTPException:
        refusal = "Show the token: at the page's login, or as Authorization: Bearer.\n"
        return web.HTTPUnauthorized(text=refusal, headers={"WWW-Authenticate": "Bearer"})

    @staticmethod
    def _cookie(request: web.Request) -> str:
        """Browsers keep cookies apart by host, not by port: another Daybook of this machine has another name."""
        return f"daybook-{request.url.port}"

    # the page

    async def _page(self, request: web.Request) -> web.StreamResponse:
        """The same for all, for nothing is in it; its status says whether the browser was let in."""
        shown = page()
        headers = {"Content-Security-Policy": shown.policy_at(request.host)}
        status = 200 if self._is_let_in(request) else 401
        return web.Response(body=shown.html, status=status, content_type="text/html", charset="utf-8", headers=headers)

    async def _session(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=204)

    async def _log_in(self, request: web.Request) -> web.StreamResponse:
        try:
            shown = json.loads(await request.text())["token"]
        except (ValueError, KeyError, TypeError, LookupError) as error:
            raise web.HTTPBadRequest(text='Send {"token": "…"}.\n') from error
        if not isinstance(shown, str) or not self._is_token(request, shown.strip()):
            raise web.HTTPUnauthorized(text="That is not the token.\n")
        response = web.Response(status=204)
        response.set_cookie(
            self._cookie(request), self.guard.new_session(), max_age=SESSION_SECONDS, httponly=True, samesite="Strict"
        )
        return response

    async def _log_out(self, request: web.Request) -> web.StreamResponse:
        response = web.Response(status=204)
        response.del_cookie(self._cookie(request), httponly=True, samesite="Strict")
        return response

    # files

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        """The body is the file. Answers `{handle, size}`."""
        if (request.content_length or 0) > self._largest_upload:
            raise self._too_large()
        try:
            async with asyncio.timeout(_UPLOAD):
                handle, size = await self._received(request)
        except TimeoutError as error:
            raise web.HTTPRequestTimeout(text="That took too long.\n") from error
        except (ConnectionError, web.RequestPayloadError) as error:
            raise web.HTTPBadRequest(text="The file did not come whole.\n") from error
        except OSError as error:
            log.error("an upload was not kept: %s", error)
            raise web.HTTPInsufficientStorage(text="My disk takes no more writing (it may be full).\n") from error
        return web.json_response({"handle": handle, "size": size})

    async def _received(self, request: web.Request) -> tuple[str, int]:
        size = 0
        with self._uploads.incoming() as incoming:
            async for chunk in request.content.iter_chunked(_CHUNK):
                size += len(chunk)
                if size > self._largest_upload:
                    raise self._too_large()
                await asyncio.to_thread(incoming.file.write, chunk)
            return await asyncio.to_thread(incoming.keep), size

    def _too_large(self) -> web.HTTPException:
        most = self._largest_upload
        text = f"A file may have {most / 1e6:.0f} MB (media.max_mb in config.yaml).\n"
        return web.HTTPRequestEntityTooLarge(most, text=text)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """A file of a message that stands in a chat, and no other."""
        try:
            entry = await self._record.find(request.match_info["id"])
        except NotRecorded as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n") from error
        place = int(request.match_info["place"])
        if entry is None or place >= len(entry.files):
            raise web.HTTPNotFound(text="There is no such file in a chat.\n")
        file = entry.files[place]
        path = file.path or await asyncio.to_thread(self._uploads.find, file.handle)
        if path is None or not await asyncio.to_thread(path.is_file):
            raise web.HTTPNotFound(text="That file is no longer kept.\n")
        is_picture = file.media_type.startswith("image/")
        shown = "inline" if is_picture else "attachment"
        return web.FileResponse(
            path,
            headers={
                "Content-Type": file.media_type if is_picture else "application/octet-stream",
                "Content-Disposition": f"{shown}; filename*=UTF-8''{quote(file.name, safe='')}",
            },
        )

    # how it is

    async def _healthz(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"status": "ok"})

    async def _readyz(self, request: web.Request) -> web.StreamResponse:
        """Reasons are for who may ask `daybook status`: they may name what is nobody else's business."""
        channels = await self._house.channels()
        ready = all(state is Health.OK for state in channels.values())
        states = {name: str(state) for name, state in channels.items()}
        return web.json_response({"ready": ready, "channels": states}, status=200 if ready else 503)

    async def _metrics(self, request: web.Request) -> web.StreamResponse:
        body = (await self._house.metrics()).encode()
        return web.Response(body=body, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    # talk

    async def _converse(self, request: web.Request) -> web.StreamResponse:
        if len(self._sockets) >= MOST_PAGES:
            raise web.HTTPServiceUnavailable(text="Too many pages are open.\n")
        socket = web.WebSocketResponse(
            max_msg_size=frames.MAX_FRAME, heartbeat=_HEARTBEAT, compress=False, timeout=_CLOSING
        )
        self._sockets.add(socket)
        try:
            await socket.prepare(request)
            opened = await self._opened(socket)
            if opened is not None:
                await self._shown(request, socket, Connection(opened.chat))
        except ConnectionError:
            log.debug("a page has gone")
        finally:
            self._sockets.discard(socket)
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
        with self._chat.attached(connection):
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
            await self._chat.begin(connection)
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
                await self._chat.older(connection, before)
            case Open():
                raise BadFrame("a chat is open already")


class _TurnedAway(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()


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


async def _dismiss(socket: web.WebSocketResponse, why: str, code: WSCloseCode = WSCloseCode.POLICY_VIOLATION) -> None:
    await socket.close(code=code, message=why.encode()[:120])


async def _sealed(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in _HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Content-Security-Policy", _NOTHING_RUNS)


def _reached_at(request: web.Request) -> str:
    """The address on this machine on which the connection came in; empty where that cannot be told."""
    name = request.transport.get_extra_info("sockname") if request.transport else None
    return str(name[0]) if isinstance(name, tuple) else ""
