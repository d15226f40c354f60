"""HTTP server: the page, its files, health and metrics. Every answer, errors included, has security headers."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from urllib.parse import quote

from aiohttp import web

from channels.json_fields import load_json
from channels.web.auth import WebSession
from channels.web.auth_middleware import BEARER, FILE, SIGNED_FILE, SOCKET, AuthMiddleware, unauthorized
from channels.web.clients import OpenPages
from channels.web.connection_limiter import ConnectionLimiter
from channels.web.format import file_name
from channels.web.page_file import load_page
from channels.web.protocols import WebChat, WebHost
from channels.web.record import ChatRecord, NotRecorded
from channels.web.uploads import Uploads, picture_type
from channels.web.websocket import CLOSING, PageSockets

log = logging.getLogger(__name__)

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


class WebServer:
    def __init__(
        self,
        chat: WebChat,
        pages: OpenPages,
        gateway: WebHost,
        record: ChatRecord,
        uploads: Uploads,
        largest_upload: int,
        auth_timeout: float,
    ) -> None:
        self.door = AuthMiddleware(self._let_in)
        self._sockets = PageSockets(chat, pages, auth_timeout)
        self._gateway = gateway
        self._record = record
        self._uploads = uploads
        self._largest_upload = largest_upload
        self._auth_timeout = auth_timeout
        self._runner: web.AppRunner | None = None
        self._limiter: ConnectionLimiter | None = None

    async def start(self) -> None:
        if self._runner is not None:
            return
        app = web.Application(middlewares=[self.door.checked], client_max_size=_MOST_JSON)
        app.on_response_prepare.append(self._set_headers)
        app.router.add_get("/", self._page)
        app.router.add_post("/login", self.door.log_in)
        app.router.add_post("/logout", self._log_out)
        app.router.add_get("/session", self._session)
        app.router.add_get(SOCKET, self._open_socket)
        app.router.add_post("/files", self._upload)
        app.router.add_get(FILE, self._sign_path)
        app.router.add_get(SIGNED_FILE, self._download)
        app.router.add_get("/embedder", self._embedder)
        app.router.add_post("/embedder", self._embedder)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        await asyncio.to_thread(load_page)
        self._runner = web.AppRunner(app, shutdown_timeout=CLOSING)
        await self._runner.setup()
        assert self._runner.server is not None
        self._limiter = ConnectionLimiter(self._runner.server, _add_security_headers, self._auth_timeout)

    def protocol(self) -> asyncio.BaseProtocol:
        assert self._limiter is not None
        return self._limiter.protocol()

    def _let_in(self, request: web.Request) -> None:
        if self._limiter is not None:
            self._limiter.let_in(request)

    async def _set_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        _add_security_headers(response)
        if response.status == 101:  # a WebSocket, which authenticates by its first frame
            return
        if self._limiter is not None and not self._limiter.knows(request):
            response.force_close()
            response.headers["Connection"] = "close"  # aiohttp sets its own before this call

    async def aclose(self) -> None:
        if self._runner is None:
            return
        await self._sockets.aclose()
        await self._runner.cleanup()

    # the page

    async def _page(self, request: web.Request) -> web.StreamResponse:
        """The page, which has no secrets; its status says if the browser's cookie has a session."""
        shown = load_page()
        headers = {"Content-Security-Policy": shown.policy_at(request.headers["Host"])}
        status = 401 if self.door.half_session(request) is None else 200
        return web.Response(body=shown.html, status=status, content_type="text/html", charset="utf-8", headers=headers)

    async def _session(self, request: web.Request) -> web.StreamResponse:
        response = web.Response(status=204)
        if session := self.door.let_in(request):
            self.door.renew(request, response, session)
        return response

    async def _open_socket(self, request: web.Request) -> web.StreamResponse:
        """The handshake has only the cookie; the first frame has the page key."""
        if self.door.half_session(request) is None:
            raise unauthorized()

        def admit(key: str) -> WebSession | None:
            return self.door.let_in(request, lambda session: self.door.guard.is_page_key(key, session))

        return await self._sockets.converse(request, admit)

    async def _log_out(self, request: web.Request) -> web.StreamResponse:
        session = self.door.let_in(request)
        response = web.Response(status=204)
        if session is not None and session is not BEARER:
            until = self.door.guard.end(session)
            await self._sockets.end(session)
            try:
                await self._record.log_out(session.id, until)
            except NotRecorded as error:
                log.error("a logged-out session becomes valid again after a restart: %s", error)
                response = web.Response(status=503, text=f"{error} Log in and out again when it does.\n")
        return self.door.without_cookie(request, response)

    # files

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        if (request.content_length or 0) > self._largest_upload:
            raise self._too_large()
        try:
            async with asyncio.timeout(_UPLOAD):
                handle, size = await self._receive_file(request)
        except TimeoutError as error:
            raise web.HTTPRequestTimeout(text="That took too long.\n") from error
        except (ConnectionError, web.RequestPayloadError) as error:
            raise web.HTTPBadRequest(text="The file did not come whole.\n") from error
        except OSError as error:
            log.error("storing an upload failed: %s", error)
            raise web.HTTPInsufficientStorage(text="My disk takes no more writing (it may be full).\n") from error
        return web.json_response({"handle": handle, "size": size})

    async def _receive_file(self, request: web.Request) -> tuple[str, int]:
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

    async def _sign_path(self, request: web.Request) -> web.StreamResponse:
        """The session's browser can load the file from the path for some minutes."""
        await self._file(request)
        session = self.door.let_in(request)
        assert session is not None
        return web.json_response({"path": self.door.guard.signed_path(request.path, session)})

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Shows only pictures recognized by their bytes: HTML or SVG may hold a script."""
        if self.door.let_in(request, lambda session: self.door.guard.is_signed_path(request.path, session)) is None:
            raise web.HTTPUnauthorized(text="That link is not good any more; open the file from the page.\n")
        path, name, picture = await self._file(request)
        shown = "inline" if picture else "attachment"
        return web.FileResponse(
            path,
            headers={
                "Content-Type": picture or "application/octet-stream",
                "Content-Disposition": f"{shown}; filename*=UTF-8''{quote(file_name(name), safe='')}",
            },
        )

    async def _file(self, request: web.Request) -> tuple[Path, str, str]:
        try:
            entry = await self._record.find(request.match_info["id"])
        except NotRecorded as error:
            raise _unavailable(error) from error
        place = int(request.match_info["place"])
        if entry is None or place >= len(entry.files):
            raise web.HTTPNotFound(text="There is no such file in a chat.\n")
        file = entry.files[place]
        path = file.path or await asyncio.to_thread(self._uploads.find, file.handle)
        try:
            picture = await asyncio.to_thread(picture_type, path) if path else None
        except OSError:
            picture = None
        if path is None or picture is None:
            raise web.HTTPNotFound(text="That file is no longer kept.\n")
        return path, file.name, picture

    # health

    async def _embedder(self, request: web.Request) -> web.StreamResponse:
        answer = ""
        if request.method == "POST":
            try:
                answer = load_json(await request.text())["answer"]
            except (ValueError, KeyError, TypeError, LookupError):
                answer = ""
            if answer not in ("yes", "no"):
                raise web.HTTPBadRequest(text='Send {"answer": "yes"} or {"answer": "no"}.\n')
        return web.json_response(await self._gateway.embedder(answer))

    async def _healthz(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"status": "ok"})

    async def _readyz(self, request: web.Request) -> web.StreamResponse:
        """Disk errors do not count, and reasons are left to `daybook status`: they may be private (SPEC 11)."""
        channels = await self._gateway.channels()
        ready = all(status.is_connected for status in channels.values())
        states = {name: str(status.state) for name, status in channels.items()}
        return web.json_response({"ready": ready, "channels": states}, status=200 if ready else 503)

    async def _metrics(self, request: web.Request) -> web.StreamResponse:
        try:
            body = (await self._gateway.metrics()).encode()
        except NotRecorded as error:
            raise _unavailable(error) from error
        return web.Response(body=body, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})


def _unavailable(error: NotRecorded) -> web.HTTPException:
    return web.HTTPServiceUnavailable(text=f"{error}\n")


def _add_security_headers(response: web.StreamResponse) -> None:
    for name, value in _HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Content-Security-Policy", _NOTHING_RUNS)
