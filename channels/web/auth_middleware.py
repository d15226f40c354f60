"""Checks every request's host, origin and token, in this order (SPEC 11).

Every route needs the token or both halves of a session (`guard`), except those in the two tables here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web

from channels.json_fields import load_json
from channels.web.auth import SESSION_SECONDS, Auth, WebSession

SOCKET = "/ws"
FILE = "/files/{id:[A-Za-z0-9_-]{8,64}}/{place:[0-9]{1,2}}"
SIGNED_FILE = FILE + "/{proof:[0-9a-f.]{1,100}}"
OPEN_ROUTES = frozenset({"/", "/login", "/healthz", "/readyz", "/metrics"})
"""Canonical routes that check the token themselves, or need none."""
PROVEN_ROUTES = frozenset({SOCKET, "/files/{id}/{place}/{proof}"})
"""Routes to which a browser sends the cookie alone; the handler checks the second half."""

KEY_HEADER = "Daybook-Page-Key"

BEARER = WebSession("", 0)
"""The session of a program that sends the token itself."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class AuthMiddleware:
    guard: Auth

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
        resource = request.match_info.route.resource
        route = resource.canonical if resource else ""
        if route not in OPEN_ROUTES | PROVEN_ROUTES and self.let_in(request) is None:
            raise unauthorized()
        return await handler(request)

    def _is_our_page(self, request: web.Request, host: str) -> bool:
        """True if the request comes from our page, or from a program, which has no Origin and must send the token
        itself."""
        origins = request.headers.getall("Origin", [])
        if origins:
            return len(origins) == 1 and self.guard.is_our_origin(origins[0], host)
        if request.path == SOCKET:
            return False
        if request.method not in ("GET", "HEAD"):
            return "Authorization" in request.headers
        is_foreign = request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin")
        return not is_foreign or (request.path == "/" and request.headers.get("Sec-Fetch-Mode") == "navigate")

    def let_in(self, request: web.Request, proof: Callable[[WebSession], bool] | None = None) -> WebSession | None:
        """The authenticated session, or None. `proof` checks the second half; by default the header must hold the page
        key. Raises `HTTPTooManyRequests`."""
        session = self.half_session(request)
        if session is None:
            return None
        key = request.headers.get(KEY_HEADER, "")
        if session is not BEARER and not (proof(session) if proof else self.guard.is_page_key(key, session)):
            return None
        self._welcome(request)
        return session

    def half_session(self, request: web.Request) -> WebSession | None:
        """The session of the cookie, which is not sufficient, or of the bearer token. Raises `HTTPTooManyRequests`."""
        kind, _, shown = request.headers.get("Authorization", "").partition(" ")
        if not kind:
            return self.guard.session(request.cookies.get(self._cookie(request), ""))
        return BEARER if kind.lower() == "bearer" and self._is_token(request, shown.strip()) else None

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
    def _cookie(request: web.Request) -> str:
        return f"daybook-{request.url.port}"

    async def log_in(self, request: web.Request) -> web.StreamResponse:
        try:
            shown = load_json(await request.text())["token"]
        except (ValueError, KeyError, TypeError, LookupError) as error:
            raise web.HTTPBadRequest(text='Send {"token": "…"}.\n') from error
        if not isinstance(shown, str) or not self._is_token(request, shown.strip()):
            raise web.HTTPUnauthorized(text="That is not the token.\n")
        session = self.guard.new_session()
        response = web.json_response({"key": self.guard.page_key(session)})
        self._set_cookie(request, response, session)
        return response

    def renew(self, request: web.Request, response: web.StreamResponse, session: WebSession) -> None:
        if session is not BEARER and (renewed := self.guard.renewed(session)):
            self._set_cookie(request, response, renewed)

    def _set_cookie(self, request: web.Request, response: web.StreamResponse, session: WebSession) -> None:
        value = self.guard.cookie(session)
        response.set_cookie(self._cookie(request), value, max_age=SESSION_SECONDS, httponly=True, samesite="Strict")

    def without_cookie(self, request: web.Request, response: web.Response) -> web.Response:
        response.del_cookie(self._cookie(request), httponly=True, samesite="Strict")
        return response


def unauthorized() -> web.HTTPException:
    refusal = "Show the token: at the page's login, or as Authorization: Bearer.\n"
    return web.HTTPUnauthorized(text=refusal, headers={"WWW-Authenticate": "Bearer"})


def _named_by_target(request: web.Request, host: str) -> str:
    target = request.raw_path
    return host if target.startswith("/") or target == "*" else urlsplit(target).netloc


def _reached_at(request: web.Request) -> str:
    name = request.transport.get_extra_info("sockname") if request.transport else None
    return str(name[0]) if isinstance(name, tuple) else ""
