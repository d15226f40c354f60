"""HTTP server: the page, its files, health and metrics. Every answer, errors included, has security headers."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from aiohttp import web
from pydantic import TypeAdapter

from agent.languages.sentences import Sentence, all_translated
from channels.json_fields import load_json
from channels.web.auth import WebSession
from channels.web.auth_middleware import BEARER, FILE, SIGNED_FILE, SOCKET, STATIC, AuthMiddleware, unauthorized
from channels.web.clients import OpenPages
from channels.web.connection_limiter import ConnectionLimiter
from channels.web.format import file_name
from channels.web.markup_process import MarkupProcess
from channels.web.protocols import WebChat, WebHost
from channels.web.record import ChatRecord, NotRecorded
from channels.web.shell import ANSWER_PATH, drawn, login_answer, policy_at, shell, static_files
from channels.web.texts import Refusal, accepted_by
from channels.web.uploads import Uploads, shown_type
from channels.web.views.registry import BY_NAME, VIEWS
from channels.web.views.view import ActionFailed, View
from channels.web.websocket import CLOSING, PageSockets

log = logging.getLogger(__name__)

_UPLOAD = 600.0
"""Seconds for a whole upload."""
_CHUNK = 1 << 18
_MOST_JSON = 8_192
_MOST_PARAMETERS = 4_000_000
"""Bytes of an operation's parameters; a file of memory is the largest."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Server": "Daybook",
}
_NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'; sandbox"


@dataclass(frozen=True, slots=True)
class _MarkupRequest:
    kind: Literal["code", "block", "inline"]
    text: str
    language: str = ""


_MARKUP = TypeAdapter(_MarkupRequest)


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
        self.middleware = AuthMiddleware(self._authenticated, gateway)
        self._sockets = PageSockets(chat, pages, auth_timeout)
        self._gateway = gateway
        self._record = record
        self._uploads = uploads
        self._markup = MarkupProcess()
        self._largest_upload = largest_upload
        self._auth_timeout = auth_timeout
        self._runner: web.AppRunner | None = None
        self._limiter: ConnectionLimiter | None = None

    async def start(self) -> None:
        if self._runner is not None:
            return
        app = web.Application(middlewares=[self.middleware.checked], client_max_size=_MOST_JSON)
        app.on_response_prepare.append(self._set_headers)
        for view in VIEWS:
            app.router.add_get(view.path, partial(self._page, view))
        app.router.add_get(STATIC, self._static)
        app.router.add_get("/sw.js", self._service_worker)
        app.router.add_post("/login", self.middleware.log_in)
        app.router.add_post("/logout", self._log_out)
        app.router.add_get(ANSWER_PATH, self._login_elsewhere, allow_head=False)
        app.router.add_get("/session", self._session)
        app.router.add_get(SOCKET, self._open_socket)
        app.router.add_post("/files", self._upload)
        app.router.add_get(FILE, self._sign_path)
        app.router.add_get(SIGNED_FILE, self._download)
        app.router.add_get("/view/{name:[a-z]{1,20}}", self._view)
        app.router.add_post("/call/{operation:[a-z._]{1,40}}", self._call)
        app.router.add_post("/markup", self._drawn_markup)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        await asyncio.to_thread(static_files)
        self._runner = web.AppRunner(app, shutdown_timeout=CLOSING)
        await self._runner.setup()
        assert self._runner.server is not None
        self._limiter = ConnectionLimiter(self._runner.server, _add_security_headers, self._auth_timeout)

    def protocol(self) -> asyncio.BaseProtocol:
        assert self._limiter is not None
        return self._limiter.protocol()

    def _authenticated(self, request: web.Request) -> None:
        if self._limiter is not None:
            self._limiter.authenticated(request)

    async def _set_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        _add_security_headers(response)
        if response.status == 101:  # a WebSocket, which authenticates by its first frame
            return
        if self._limiter is not None and not self._limiter.is_authenticated(request):
            response.force_close()
            response.headers["Connection"] = "close"  # aiohttp sets its own before this call

    async def aclose(self) -> None:
        if self._runner is None:
            return
        await self._sockets.aclose()
        await self._runner.cleanup()
        await self._markup.aclose()

    # the page

    async def _page(self, view: View, request: web.Request) -> web.StreamResponse:
        """The shell, which has no secrets; its status says if the browser's cookie has a session."""
        body = await asyncio.to_thread(shell, view, VIEWS, accepted_by(request))
        host = request.headers["Host"]
        policy = policy_at(host, is_encrypted=self.middleware.auth.is_encrypted(host))
        headers = {"Content-Security-Policy": policy, "Vary": "Accept-Language"}
        status = 401 if self.middleware.half_session(request) is None else 200
        return web.Response(body=body, status=status, content_type="text/html", charset="utf-8", headers=headers)

    async def _static(self, request: web.Request) -> web.StreamResponse:
        return _static_answer(request, request.match_info["name"])

    async def _service_worker(self, request: web.Request) -> web.StreamResponse:
        """At the root, because a worker serves only what is below its own address."""
        answer = _static_answer(request, "sw.js")
        answer.headers["Content-Security-Policy"] = "default-src 'none'; connect-src 'self'"
        return answer

    async def _view(self, request: web.Request) -> web.StreamResponse:
        """A view's content: HTML without a script, which the shell puts in its place."""
        view = BY_NAME.get(request.match_info["name"])
        if view is None or view.read is None:
            raise Refusal(HTTPStatus.NOT_FOUND, Sentence("There is no such page."))
        try:
            language, read = accepted_by(request), await view.read(self._gateway.call, request.query)
        except ActionFailed as problem:
            raise Refusal(HTTPStatus.CONFLICT, str(problem)) from problem
        values = {name: all_translated(language, value) for name, value in read.items()}
        html = await asyncio.to_thread(drawn, f"{view.name}.html", language, **values)
        return web.Response(text=html, content_type="text/html")

    async def _call(self, request: web.Request) -> web.StreamResponse:
        operation = request.match_info["operation"]
        if not self._gateway.offers(operation):
            raise Refusal(HTTPStatus.NOT_FOUND, Sentence("The page can't do that."))
        try:
            result = await self._gateway.call(operation, await _parameters(request))
        except ActionFailed as problem:
            raise Refusal(HTTPStatus.CONFLICT, str(problem)) from problem
        return web.json_response({"result": all_translated(accepted_by(request), result)})

    async def _session(self, request: web.Request) -> web.StreamResponse:
        response = web.Response(status=204)
        if session := self.middleware.authenticate(request):
            response.headers["Daybook-Zone"] = self._gateway.timezone
            self.middleware.renew(request, response, session)
        return response

    async def _login_elsewhere(self, request: web.Request) -> web.StreamResponse:
        """The answer of a login at a server of tools, which only the owner's link can bring about."""
        name = problem = ""
        try:
            logged_in = await self._gateway.call("mcp.answer", {"address": request.path_qs})
            name = str(logged_in["name"]) if isinstance(logged_in, dict) else ""
        except ActionFailed as failed:
            problem = str(failed)
        return await login_answer(request, name, problem)

    async def _open_socket(self, request: web.Request) -> web.StreamResponse:
        """The handshake has only the cookie; the first frame has the page key."""
        if self.middleware.half_session(request) is None:
            raise unauthorized()

        def admit(key: str) -> WebSession | None:
            return self.middleware.authenticate(request, lambda session: self.middleware.auth.is_page_key(key, session))

        return await self._sockets.converse(request, admit)

    async def _log_out(self, request: web.Request) -> web.StreamResponse:
        session = self.middleware.authenticate(request)
        response = web.Response(status=204)
        if session is not None and session is not BEARER:
            until = self.middleware.auth.end(session)
            await self._sockets.end(session)
            try:
                await self._record.log_out(session.id, until)
            except NotRecorded as error:
                log.error("a logged-out session becomes valid again after a restart: %s", error)
                why = Sentence("{why} Log in and out again later.", why=str(error))
                response = Refusal(HTTPStatus.SERVICE_UNAVAILABLE, why).answer(request)
        return self.middleware.without_cookie(request, response)

    # files

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        if (request.content_length or 0) > self._largest_upload:
            raise self._too_large()
        try:
            async with asyncio.timeout(_UPLOAD):
                handle, size = await self._receive_file(request)
        except TimeoutError as error:
            raise Refusal(HTTPStatus.REQUEST_TIMEOUT, Sentence("The upload took too long. Try again.")) from error
        except (ConnectionError, web.RequestPayloadError) as error:
            why = Sentence("The file did not arrive completely. Try again.")
            raise Refusal(HTTPStatus.BAD_REQUEST, why) from error
        except OSError as error:
            log.error("storing an upload failed: %s", error)
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            why = Sentence("the disk is full") if is_full else Sentence("the disk fails to read or write")
            told = Sentence("I couldn't save the file: {why}.", why=why)
            raise Refusal(HTTPStatus.INSUFFICIENT_STORAGE, told) from error
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

    def _too_large(self) -> Refusal:
        most = f"{self._largest_upload / 1e6:.0f}"
        why = Sentence("A file can have at most {most} MB (`media.max_mb` in config.yaml).", most=most)
        return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)

    async def _sign_path(self, request: web.Request) -> web.StreamResponse:
        """Signs the path of a file, from which the session's browser can load it for some minutes."""
        await self._file(request)
        session = self.middleware.authenticate(request)
        assert session is not None
        return web.json_response({"path": self.middleware.auth.signed_path(request.path, session)})

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Shows only pictures and sounds recognized by their bytes: HTML or SVG may hold a script."""
        is_signed = self.middleware.auth.is_signed_path
        if self.middleware.authenticate(request, lambda session: is_signed(request.path, session)) is None:
            why = Sentence("This link has expired. Open the file from the page.")
            raise Refusal(HTTPStatus.UNAUTHORIZED, why)
        path, name, shown_as = await self._file(request)
        shown = "inline" if shown_as else "attachment"
        return web.FileResponse(
            path,
            headers={
                "Content-Type": shown_as or "application/octet-stream",
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
            raise Refusal(HTTPStatus.NOT_FOUND, Sentence("No chat has this file."))
        file = entry.files[place]
        path = file.path or await asyncio.to_thread(self._uploads.find, file.handle)
        try:
            shown_as = await asyncio.to_thread(shown_type, path) if path else None
        except OSError:
            shown_as = None
        if path is None or shown_as is None:
            raise Refusal(HTTPStatus.NOT_FOUND, Sentence("This file is no longer kept."))
        return path, file.name, shown_as

    # health

    async def _drawn_markup(self, request: web.Request) -> web.StreamResponse:
        """`{kind, text, language?}` -> `{html}`: colours of code, or a formula; empty where it stays as it is."""
        try:
            asked = _MARKUP.validate_python(await _parameters(request))
        except ValueError as error:
            raise web.HTTPBadRequest(text="Send kind, text and language.\n") from error
        return web.json_response({"html": await self._markup.html(asked.kind, asked.text, asked.language)})

    async def _healthz(self, request: web.Request) -> web.StreamResponse:
        return web.json_response({"status": "ok"})

    async def _readyz(self, request: web.Request) -> web.StreamResponse:
        """Reasons are left to `daybook status`: they may be private."""
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


def _static_answer(request: web.Request, name: str) -> web.StreamResponse:
    file = static_files().get(name)
    if file is None:
        raise Refusal(HTTPStatus.NOT_FOUND, Sentence("There is no such file."))
    headers = {"ETag": f'"{file.etag}"', "Cache-Control": "no-cache"}
    if any(tag.value == file.etag for tag in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    return web.Response(body=file.body, headers={**headers, "Content-Type": file.media_type})


async def _parameters(request: web.Request) -> Mapping[str, object]:
    """Raises `Refusal`, `HTTPBadRequest`."""
    body = bytearray()
    async for chunk in request.content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > _MOST_PARAMETERS:
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, Sentence("That is too much to save at once."))
    try:
        read = load_json(bytes(body) or b"{}")
    except ValueError as error:
        raise web.HTTPBadRequest(text="The request is not JSON.\n") from error
    if not isinstance(read, dict):
        raise web.HTTPBadRequest(text="The request is not a JSON object.\n")
    return read


def _unavailable(error: NotRecorded) -> Refusal:
    return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error))


def _add_security_headers(response: web.StreamResponse) -> None:
    response.headers.setdefault("Cache-Control", "no-store")
    for name, value in _HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Content-Security-Policy", _NOTHING_RUNS)
