"""An authorization server (OAuth 2.1 as MCP wants it) that refuses what real ones refuse, and a browser's way there.

A client registers its redirect addresses (https, or a loopback); a request for authorization needs those, `state`, PKCE
by S256 and the resource. A code is good once, for a minute, with the right verifier; used twice, it takes back what it
brought. A refresh token is good once; used twice, it takes the whole grant back. Every wrong request is in `refused`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import itertools
import secrets
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
from aiohttp import web

_CODE_SECONDS = 60.0


@dataclass(slots=True)
class Registered:
    id: str
    redirects: list[str]
    name: str
    kind: str


@dataclass(slots=True)
class Granted:
    client: str
    resource: str
    scope: str
    access: dict[str, float] = field(default_factory=dict)
    """When each token ends."""
    refresh: str = ""
    used: set[str] = field(default_factory=set)
    is_over: bool = False


@dataclass(slots=True)
class _Code:
    grant: Granted
    redirect: str
    challenge: str
    until: float
    is_used: bool = False


class FakeLoginServer:
    """`resource`: whose tokens it gives. What a test may change at any time:

    declines       the person says no
    registers      False: there is no registration
    lies           names another issuer in its metadata
    poses_as       names this issuer in its answers
    seconds        how long an access token is good
    renews         False: refresh tokens are refused
    fails          the status of the addresses for tokens and for taking them back, if not 0
    may_answer     cleared: the token address waits for it; `at_token` is set from its first request on
    """

    def __init__(self) -> None:
        self.base_url = ""
        self.resource = ""
        self.declines = self.lies = False
        self.registers = self.renews = True
        self.poses_as = ""
        self.seconds = 3_600.0
        self.fails = 0
        self.at_token = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.clients: dict[str, Registered] = {}
        self.grants: list[Granted] = []
        self.secrets: set[str] = set()
        """Every token, code and verifier that there was."""
        self.refused: list[str] = []
        self.calls: list[str] = []
        self._codes: dict[str, _Code] = {}
        self._numbers = itertools.count(1)
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/.well-known/oauth-authorization-server", self._metadata)
        app.router.add_post("/register", self._register)
        app.router.add_get("/authorize", self._authorize)
        app.router.add_post("/token", self._token)
        app.router.add_post("/revoke", self._revoke)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    def accepts(self, token: str, resource: str) -> bool:
        return any(
            one.resource == resource and not one.is_over and one.access.get(token, 0) > time.time()
            for one in self.grants
        )

    def has_scope(self, token: str, scope: str) -> bool:
        return any(token in one.access and scope in one.scope.split() for one in self.grants)

    def end_tokens(self) -> None:
        """As if their time were over; they can be renewed."""
        for one in self.grants:
            one.access = dict.fromkeys(one.access, 0.0)

    def revoke(self) -> None:
        """The person takes back what they have granted."""
        for one in self.grants:
            one.is_over = True

    def use_code(self, code: str) -> None:
        """Somebody else has brought it before."""
        self._codes[code].is_used = True

    # what it serves

    async def _metadata(self, _: web.Request) -> web.Response:
        document: dict[str, Any] = {
            "issuer": "https://honest.example" if self.lies else self.base_url,
            "authorization_endpoint": f"{self.base_url}/authorize",
            "token_endpoint": f"{self.base_url}/token",
            "revocation_endpoint": f"{self.base_url}/revoke",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }
        if self.registers:
            document["registration_endpoint"] = f"{self.base_url}/register"
        return web.json_response(document)

    async def _register(self, request: web.Request) -> web.Response:
        self.calls.append("register")
        if not self.registers:
            return web.Response(status=404)
        wanted = await request.json()
        redirects = wanted.get("redirect_uris") or []
        for one in redirects:
            parts = urlsplit(one)
            if parts.scheme != "https" and not (
                parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")
            ):
                return self._refuse("invalid_redirect_uri", one)
        if not redirects or wanted.get("token_endpoint_auth_method") != "none":
            return self._refuse("invalid_client_metadata", str(wanted))
        client = Registered(
            f"client-{next(self._numbers)}",
            redirects,
            wanted.get("client_name", ""),
            wanted.get("application_type", ""),
        )
        self.clients[client.id] = client
        return web.json_response({**wanted, "client_id": client.id}, status=201)

    async def _authorize(self, request: web.Request) -> web.Response:
        """The person's yes, at once."""
        self.calls.append("authorize")
        asked = request.query
        client = self.clients.get(asked.get("client_id", ""))
        redirect = asked.get("redirect_uri", "")
        if client is None or redirect not in client.redirects:
            return self._refuse("invalid_client", "unknown client or redirect address")
        given = {"state": asked.get("state", ""), "iss": self.poses_as or self.base_url}
        wrong = (
            len(given["state"]) < 16
            or asked.get("response_type") != "code"
            or asked.get("code_challenge_method") != "S256"
            or len(asked.get("code_challenge", "")) != 43
            or asked.get("resource") != self.resource
        )
        if wrong:
            self._refuse("invalid_request", str(dict(asked)))
            raise web.HTTPFound(f"{redirect}?{urlencode({**given, 'error': 'invalid_request'})}")
        if self.declines:
            raise web.HTTPFound(f"{redirect}?{urlencode({**given, 'error': 'access_denied'})}")
        code = self._secret("code")
        grant = Granted(client.id, asked["resource"], asked.get("scope", ""))
        self._codes[code] = _Code(grant, redirect, asked["code_challenge"], time.time() + _CODE_SECONDS)
        raise web.HTTPFound(f"{redirect}?{urlencode({**given, 'code': code})}")

    async def _token(self, request: web.Request) -> web.Response:
        given = {name: str(value) for name, value in (await request.post()).items()}
        self.calls.append(given.get("grant_type", ""))
        self.at_token.set()
        await self.may_answer.wait()
        if self.fails:
            return web.Response(status=self.fails)
        self.secrets |= {given[name] for name in ("code_verifier",) if name in given}
        if given.get("client_id") not in self.clients:
            return self._refuse("invalid_client", "unknown client")
        if given.get("resource") != self.resource:
            return self._refuse("invalid_target", given.get("resource", ""))
        match given.get("grant_type"):
            case "authorization_code":
                return self._redeem(given)
            case "refresh_token":
                return self._renew(given)
        return self._refuse("unsupported_grant_type", "")

    async def _revoke(self, request: web.Request) -> web.Response:
        given = await request.post()
        self.calls.append("revoke")
        for grant in self.grants:
            if given.get("token") in (grant.refresh, *grant.access) and given.get("client_id") == grant.client:
                grant.is_over = True
        return web.Response(status=self.fails or 200)

    def _redeem(self, given: dict[str, str]) -> web.Response:
        code = self._codes.get(given.get("code", ""))
        if code is None or code.grant.client != given["client_id"] or code.redirect != given.get("redirect_uri"):
            return self._refuse("invalid_grant", "unknown code, or of another client")
        if code.is_used:
            code.grant.is_over = True
            return self._refuse("invalid_grant", "the code was used")
        code.is_used = True
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != code.challenge or code.until < time.time():
            return self._refuse("invalid_grant", "wrong verifier, or too late")
        self.grants.append(code.grant)
        return self._tokens(code.grant)

    def _renew(self, given: dict[str, str]) -> web.Response:
        shown = given.get("refresh_token", "")
        for grant in self.grants:
            if shown in grant.used:
                grant.is_over = True
                return self._refuse("invalid_grant", "the refresh token was used")
            if shown == grant.refresh and grant.client == given["client_id"] and not grant.is_over and self.renews:
                grant.used.add(shown)
                return self._tokens(grant)
        return self._refuse("invalid_grant", "unknown or revoked")

    def _tokens(self, grant: Granted) -> web.Response:
        access = self._secret("access")
        grant.access[access] = time.time() + self.seconds
        grant.refresh = self._secret("refresh")
        return web.json_response(
            {
                "access_token": access,
                "token_type": "Bearer",
                "expires_in": int(self.seconds),
                "refresh_token": grant.refresh,
                "scope": grant.scope,
            },
            headers={"cache-control": "no-store"},
        )

    def _secret(self, kind: str) -> str:
        made = f"canary-{kind}-{secrets.token_hex(16)}"
        self.secrets.add(made)
        return made

    def _refuse(self, error: str, why: str) -> web.Response:
        self.refused.append(f"{error}: {why}")
        return web.json_response({"error": error, "error_description": why}, status=400)


async def opened(link: str) -> str:
    """Opens a link as a browser does whose person says yes (or no): returns the address to which it is sent back, which
    it does not open."""
    async with aiohttp.ClientSession() as browser, browser.get(link, allow_redirects=False) as answer:
        assert answer.status == 302, await answer.text()
        return answer.headers["Location"]


async def arrived(address: str, **headers: str) -> tuple[int, str]:
    """Opens the address to which a browser was sent back, as a navigation from another site."""
    sent = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", **headers}
    async with aiohttp.ClientSession() as browser, browser.get(address, headers=sent) as answer:
        return answer.status, await answer.text()


def query(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
