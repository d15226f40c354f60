"""HTTP: the page, its files, and how the house is. Every answer, an error too, has headers that keep it to itself."""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import quote

from aiohttp import web

from channels.message import Health
from channels.web.chat import Chat
from channels.web.door import Door
from channels.web.house import House
from channels.web.page import page
from channels.web.record import NotRecorded, Record
from channels.web.sockets import CLOSING, Sockets
from channels.web.uploads import Uploads

log = logging.getLogger(__name__)

MOST_CONNECTIONS = 256
_UPLOAD = 600.0
"""Seconds for a whole upload."""
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


class Server:
    """`protocol` is one connection, for the listening end."""

    def __init__(self, chat: Chat, house: House, record: Record, uploads: Uploads, largest_upload: int) -> None:
        self.door = Door()
        self._sockets = Sockets(chat)
        self._house = house
        self._record = record
        self._uploads = uploads
        self._largest_upload = largest_upload
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Once; before the first connection."""
        if self._runner is not None:
            return
        app = web.Application(middlewares=[self.door.checked], client_max_size=_MOST_JSON)
        app.on_response_prepare.append(_sealed)
        app.router.add_get("/", self._page)
        app.router.add_post("/login", self.door.log_in)
        app.router.add_post("/logout", self.door.log_out)
        app.router.add_get("/session", self._session)
        app.router.add_get("/ws", self._sockets.converse)
        app.router.add_post("/files", self._upload)
        app.router.add_get("/files/{id:[A-Za-z0-9_-]{8,64}}/{place:[0-9]{1,2}}", self._download)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        await asyncio.to_thread(page)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=CLOSING)
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
        await self._sockets.aclose()
        await self._runner.cleanup()

    # the page

    async def _page(self, request: web.Request) -> web.StreamResponse:
        """The same for all, for nothing is in it; its status says whether the browser was let in."""
        shown = page()
        headers = {"Content-Security-Policy": shown.policy_at(request.host)}
        status = 200 if self.door.is_let_in(request) else 401
        return web.Response(body=shown.html, status=status, content_type="text/html", charset="utf-8", headers=headers)

    async def _session(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=204)

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


class _TurnedAway(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()


async def _sealed(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in _HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Content-Security-Policy", _NOTHING_RUNS)
