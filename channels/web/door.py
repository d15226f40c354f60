"""Who asks is looked at before anything is served: place, page, token, in this order (SPEC 11)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

from channels.fields import load_json
from channels.web.guard import SESSION_SECONDS, Guard, Session

_OPEN_FOR_ALL = frozenset({"/healthz", "/readyz", "/metrics"})
_SERVES_STRANGERS = frozenset({"/", "/login", *_OPEN_FOR_ALL})
"""These look at the token themselves, or need none."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Door:
    """`guard` is there before the first request is. `welcome` is told of each request that shows who it is."""

    guard: Guard

    def __init__(self, welcome: Callable[[web.Request], None]) -> None:
        self._welcome = welcome

    @web.middleware
    async def checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        hosts = request.headers.getall("Host", [])
        is_ours = len(hosts) == 1 and self.guard.is_our_host(hosts[0], _reached_at(request))
        if not is_ours or _named_by_target(request, hosts[0]).lower() != hosts[0].lower():
            raise web.HTTPForbidden(text="This is not the address of this Daybook; open it by the one that it names.\n")
        if not self._is_our_page(request, hosts[0]):
            raise web.HTTPForbidden(text="Another page asks for this. Only Daybook's own may.\n")
        if request.path not in _SERVES_STRANGERS and not self.is_let_in(request):
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

    def is_let_in(self, request: web.Request) -> bool:
        """Raises `HTTPTooManyRequests`."""
        if is_in := self._has_shown(request):
            self._welcome(request)
        return is_in

    def _has_shown(self, request: web.Request) -> bool:
        kind, _, shown = request.headers.get("Authorization", "").partition(" ")
        if not kind:
            return self.guard.session(self.session(request)) is not None
        return kind.lower() == "bearer" and self._is_token(request, shown.strip())

    def session(self, request: web.Request) -> str:
        """What the browser's cookie says; empty without one."""
        return request.cookies.get(self._cookie(request), "")

    def _is_token(self, request: web.Request, shown: str) -> bool:
        """Raises `HTTPTooManyRequests`."""
        address = request.remote or ""
        is_token = self.guard.is_token(shown)
        if is_token and self.guard.is_beyond_guessing:
            return True
        if wait := self.guard.wait(address):
            raise web.HTTPTooManyRequests(
                text=f"Too many wrong tokens; wait {wait} s.\n", headers={"Retry-After": str(wait)}
            )
        if not is_token:
            self.guard.was_wrong(address)
        return is_token

    @staticmethod
    def _stranger(request: web.Request) -> web.HTTPException:
        refusal = "Show the token: at the page's login, or as Authorization: Bearer.\n"
        return web.HTTPUnauthorized(text=refusal, headers={"WWW-Authenticate": "Bearer"})

    @staticmethod
    def _cookie(request: web.Request) -> str:
        """Browsers keep cookies apart by host, not by port: another Daybook of this machine has another name."""
        return f"daybook-{request.url.port}"

    async def log_in(self, request: web.Request) -> web.StreamResponse:
        try:
            shown = load_json(await request.text())["token"]
        except (ValueError, KeyError, TypeError, LookupError) as error:
            raise web.HTTPBadRequest(text='Send {"token": "…"}.\n') from error
        if not isinstance(shown, str) or not self._is_token(request, shown.strip()):
            raise web.HTTPUnauthorized(text="That is not the token.\n")
        response = web.Response(status=204)
        response.set_cookie(
            self._cookie(request), self.guard.new_session(), max_age=SESSION_SECONDS, httponly=True, samesite="Strict"
        )
        return response

    def log_out(self, request: web.Request) -> Session | None:
        """The browser's cookie opens nothing any more; None where it did not anyway."""
        session = self.guard.session(self.session(request))
        if session is not None:
            self.guard.end(session)
        return session

    def without_cookie(self, request: web.Request, response: web.Response) -> web.Response:
        response.del_cookie(self._cookie(request), httponly=True, samesite="Strict")
        return response


def _named_by_target(request: web.Request, host: str) -> str:
    """The place that the request's first line names; `host` where it names only a path."""
    target = request.raw_path
    return host if target.startswith("/") or target == "*" else urlsplit(target).netloc


def _reached_at(request: web.Request) -> str:
    """The address on this machine on which the connection came in; empty where that cannot be told."""
    name = request.transport.get_extra_info("sockname") if request.transport else None
    return str(name[0]) if isinstance(name, tuple) else ""
