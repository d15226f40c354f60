"""Checks every request's host, origin and token, in this order.

Every route needs the token or both halves of a session (`authenticate`), except those in the two tables here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from urllib.parse import urlsplit

from aiohttp import web

from agent.languages.sentences import Sentence
from channels.json_fields import load_json
from channels.web.auth import SESSION_SECONDS, Auth, WebSession
from channels.web.protocols import WebHost
from channels.web.shell import ANSWER_PATH
from channels.web.texts import Refusal
from channels.web.views.registry import VIEWS

SOCKET = "/ws"
FILE = "/files/{id:[A-Za-z0-9_-]{8,64}}/{place:[0-9]{1,2}}"
SIGNED_FILE = FILE + "/{proof:[0-9a-f.]{1,100}}"
STATIC = "/static/{name:[a-z0-9.-]{1,60}}"
SHELL_ROUTES = frozenset(view.path for view in VIEWS)
"""Where the browser opens the page; the same shell everywhere, without secrets."""
OPENED_FROM_ELSEWHERE = SHELL_ROUTES | {ANSWER_PATH}
"""Where a link or another site may lead the browser to."""
HEALTH_ROUTES = frozenset({"/healthz", "/readyz", "/metrics"})
OPEN_ROUTES = OPENED_FROM_ELSEWHERE | HEALTH_ROUTES | {"/login", "/static/{name}", "/sw.js"}
"""Canonical routes that check the token themselves, or need none."""
PROVEN_ROUTES = frozenset({SOCKET, "/files/{id}/{place}/{proof}"})
"""Routes to which a browser sends the cookie alone; the handler checks the second half."""

KEY_HEADER = "Daybook-Page-Key"

_LINK_IS_OVER = Sentence(
    "This link was already used, or is more than ten minutes old. Run daybook web to get a new one."
)

BEARER = WebSession("", 0)
"""The session of a program that sends the token itself."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class AuthMiddleware:
    auth: Auth

    def __init__(self, authenticated: Callable[[web.Request], None], host: WebHost) -> None:
        self._authenticated = authenticated
        self._host = host

    @web.middleware
    async def checked(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            self._check(request)
            return await handler(request)
        except Refusal as refusal:
            return refusal.answer(request)

    def _check(self, request: web.Request) -> None:
        """Raises `Refusal`."""
        hosts = request.headers.getall("Host", [])
        is_ours = len(hosts) == 1 and self.auth.is_our_host(hosts[0], _reached_at(request))
        if not is_ours or _named_by_target(request, hosts[0]).lower() != hosts[0].lower():
            why = Sentence("This is not Daybook's address. Open the one that daybook web shows.")
            raise Refusal(HTTPStatus.FORBIDDEN, why)
        if not self._is_our_page(request, hosts[0]):
            raise Refusal(HTTPStatus.FORBIDDEN, Sentence("Only Daybook's own page may ask for this."))
        resource = request.match_info.route.resource
        route = resource.canonical if resource else ""
        if route not in HEALTH_ROUTES and not self._host.serves:
            why = Sentence("Another gateway serves this page; daybook status says which.")
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, why)
        if route not in OPEN_ROUTES | PROVEN_ROUTES and self.authenticate(request) is None:
            raise unauthorized()

    def _is_our_page(self, request: web.Request, host: str) -> bool:
        """True if the request comes from our page, or from a program, which has no Origin and must send the token
        itself."""
        origins = request.headers.getall("Origin", [])
        if origins:
            return len(origins) == 1 and self.auth.is_our_origin(origins[0], host)
        if request.path == SOCKET:
            return False
        if request.method not in ("GET", "HEAD"):
            return "Authorization" in request.headers
        is_foreign = request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin")
        return not is_foreign or (
            request.path in OPENED_FROM_ELSEWHERE and request.headers.get("Sec-Fetch-Mode") == "navigate"
        )

    def authenticate(
        self, request: web.Request, proof: Callable[[WebSession], bool] | None = None
    ) -> WebSession | None:
        """The authenticated session, or None. `proof` checks the second half; by default the header must hold the page
        key. Raises `Refusal`."""
        session = self.half_session(request)
        if session is None:
            return None
        key = request.headers.get(KEY_HEADER, "")
        if session is not BEARER and not (proof(session) if proof else self.auth.is_page_key(key, session)):
            return None
        self._authenticated(request)
        return session

    def half_session(self, request: web.Request) -> WebSession | None:
        """The session of the cookie, which is not sufficient, or of the bearer token. Raises `Refusal`."""
        kind, _, shown = request.headers.get("Authorization", "").partition(" ")
        if not kind:
            return self.auth.session(request.cookies.get(self._cookie(request), ""))
        return BEARER if kind.lower() == "bearer" and self._is_token(request, shown.strip()) else None

    def _is_token(self, request: web.Request, shown: str) -> bool:
        """Raises `Refusal`."""
        is_token = self.auth.is_token(shown)
        if is_token and self.auth.is_beyond_guessing:
            return True
        return self._unless_too_many_wrong(request, is_token)

    def _unless_too_many_wrong(self, request: web.Request, is_right: bool) -> bool:
        """Returns `is_right`, and counts a wrong secret. Raises `Refusal` if the address has to wait."""
        address = request.remote or ""
        if wait := self.auth.wait(address):
            why = Sentence("Too many wrong tokens. Try again in {seconds} seconds.", seconds=wait)
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, why, {"Retry-After": str(wait)})
        if not is_right:
            self.auth.was_wrong(address)
        return is_right

    @staticmethod
    def _cookie(request: web.Request) -> str:
        return f"daybook-{request.url.port}"

    async def log_in(self, request: web.Request) -> web.StreamResponse:
        """Takes `{"token": "…"}`, or `{"once": "…"}` with the secret of a link."""
        try:
            fields = load_json(await request.text())
            kind = "once" if "once" in fields else "token"
            shown = fields[kind]
        except (ValueError, KeyError, TypeError, LookupError) as error:
            raise web.HTTPBadRequest(text='Send {"token": "…"}.\n') from error
        shown = shown.strip() if isinstance(shown, str) else ""
        # The secret of a link is too long to be guessed, so the right one never waits.
        if kind == "once" and not self._host.redeem(shown) and not self._unless_too_many_wrong(request, False):
            raise Refusal(HTTPStatus.UNAUTHORIZED, _LINK_IS_OVER)
        if kind == "token" and not self._is_token(request, shown):
            why = Sentence("Wrong token. Run daybook web to see the right one.")
            raise Refusal(HTTPStatus.UNAUTHORIZED, why)
        session = self.auth.new_session()
        response = web.json_response({"key": self.auth.page_key(session)})
        self._set_cookie(request, response, session)
        return response

    def renew(self, request: web.Request, response: web.StreamResponse, session: WebSession) -> None:
        if session is not BEARER and (renewed := self.auth.renewed(session)):
            self._set_cookie(request, response, renewed)

    def _set_cookie(self, request: web.Request, response: web.StreamResponse, session: WebSession) -> None:
        response.set_cookie(
            self._cookie(request),
            self.auth.cookie(session),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="Strict",
            secure=self.auth.is_encrypted(request.headers["Host"]),
        )

    def without_cookie(self, request: web.Request, response: web.Response) -> web.Response:
        response.del_cookie(self._cookie(request), httponly=True, samesite="Strict")
        return response


def unauthorized() -> Refusal:
    why = Sentence("Log in on the page, or send the token as Authorization: Bearer.")
    return Refusal(HTTPStatus.UNAUTHORIZED, why, {"WWW-Authenticate": "Bearer"})


def _named_by_target(request: web.Request, host: str) -> str:
    target = request.raw_path
    return host if target.startswith("/") or target == "*" else urlsplit(target).netloc


def _reached_at(request: web.Request) -> str:
    name = request.transport.get_extra_info("sockname") if request.transport else None
    return str(name[0]) if isinstance(name, tuple) else ""
