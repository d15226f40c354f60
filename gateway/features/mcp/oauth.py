"""Logins at servers by OAuth 2.1, by the SDK: the login itself, its renewal, and the token on each request.

The SDK's provider would hold a request, and with it all others, until the owner has logged in. Here it is driven apart
from requests: a server's challenge is kept, and the login is made from that when the owner has the time.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth import (
    AuthorizationCodeResult,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthRegistrationError,
    OAuthTokenError,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp_types import LATEST_PROTOCOL_VERSION
from pydantic import AnyUrl, BaseModel, ValidationError

from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from channels.network import is_here, is_loopback
from gateway.features.mcp.logins import Challenge, Grant, ServerLogin
from gateway.features.mcp.remote import LimitingTransport
from gateway.features.mcp.values import McpFailure, login_not_kept

logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)  # its errors hold codes, and what servers answered

_MOST_BYTES = 1_000_000
"""Bytes of an answer of a login server."""
_PATIENCE = 20.0
_LONG_AGO = 1.0
_SCOPE_MISSING = "insufficient_scope"


Show = Callable[[str, str], None]
LogIn = Callable[
    [str, Challenge, Grant | None, str, Show, Awaitable[AuthorizationCodeResult]], Coroutine[None, None, Grant]
]
"""As `log_in`."""
Revoke = Callable[[str, Grant], Coroutine[None, None, None]]
"""As `revoke`."""


class _Details(BaseModel):
    """The details that a renewal needs."""

    tokens: OAuthToken
    client: OAuthClientInformationFull
    server: OAuthMetadata | None
    resource: ProtectedResourceMetadata | None


@dataclass(slots=True)
class _Memory:
    """Implements `mcp.client.auth.TokenStorage` for one login or renewal."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class LoginAuth(httpx2.Auth):
    """Puts the token of a server's login on requests, and renews it. `failure`: the server refused for want of a
    login."""

    def __init__(self, login: ServerLogin) -> None:
        self._login = login
        self._problem: McpFailure | None = None
        self.failure: McpFailure | None = None

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        self._problem = None
        grant = self._login.grant
        if grant is not None and grant.is_over(time.time()):
            grant = await self._renewed(grant)
        response = yield _authorized(request, grant)
        if response.status_code == 401 and grant is not None and (grant := await self._renewed(grant)) is not None:
            response = yield _authorized(request, grant)
        lacks_scope = response.status_code == 403 and _SCOPE_MISSING in response.headers.get("www-authenticate", "")
        if self._problem is None and (response.status_code == 401 or lacks_scope):
            challenge = Challenge(response.status_code, response.headers.get("www-authenticate", ""))
            await self._login.need(challenge, keeps_grant=lacks_scope)
            needs = Sentence("{name} needs a login", name=self._login.name)
            self._problem = McpFailure(needs, is_over=True, needs_login=True)
        if response.status_code >= 400:
            self.failure = self._problem

    async def _renewed(self, old: Grant) -> Grant | None:
        """The newer grant, if there is one; notes a failure that may pass."""
        try:
            async with self._login.renewing():
                grant = self._login.grant
                if grant is not None and grant.access == old.access:
                    grant = await renewed(self._login.url, grant)
                    if grant is not None:
                        await self._login.accept(grant)
                return grant
        except OSError as error:
            why = system_says(error) if error.errno else Sentence("another process does not let go of it")
            self._problem = McpFailure(login_not_kept(self._login.name, why), is_over=True)
        except McpFailure as failure:
            stale = Sentence("the login of {name} can't be renewed: {why}", name=self._login.name, why=failure)
            self._problem = McpFailure(stale, is_over=True)
        return None


def _authorized(request: httpx2.Request, grant: Grant | None) -> httpx2.Request:
    request.headers.pop("authorization", None)
    if grant is not None:
        request.headers["authorization"] = f"Bearer {grant.access}"
    return request


async def renewed(url: str, grant: Grant) -> Grant | None:
    """The grant that follows; None where the login server refuses to renew. Raises `McpFailure`."""
    if (details := _details(grant)) is None:
        return None
    memory = _Memory(details.tokens, details.client)
    provider = OAuthClientProvider(url, _client(details.client.redirect_uris), memory)
    provider.context.oauth_metadata = details.server
    provider.context.protected_resource_metadata = details.resource
    provider.context.token_expiry_time = _LONG_AGO
    with _translated(grant.host):
        await _drive(provider, url, None)
    return _grant(provider, grant.host) if provider.context.is_token_valid() else None


async def log_in(
    url: str,
    challenge: Challenge,
    earlier: Grant | None,
    redirect: str,
    show: Show,
    answer: Awaitable[AuthorizationCodeResult],
) -> Grant:
    """Asks for a login at the server `url`, from its challenge on. Raises `McpFailure`.

    `redirect`: where the browser is sent back to; `show` gets the host at which the owner logs in and the address to
    open; then `answer` is waited for.
    """
    host = urlsplit(url).hostname or ""

    async def opened(address: str) -> None:
        nonlocal host
        _check(address, url)
        host = urlsplit(address).hostname or ""
        show(host, address)

    async def called_back() -> AuthorizationCodeResult:
        return await answer

    details = _details(earlier) if earlier is not None else None
    tokens = details.tokens if details is not None else None
    provider = OAuthClientProvider(url, _client([AnyUrl(redirect)]), _Memory(tokens), opened, called_back)
    with _translated(host):
        await _drive(provider, url, challenge)
    return _grant(provider, host)


async def revoke(url: str, grant: Grant) -> None:
    """Tells the login server that the login is over, if it takes that (RFC 7009). Raises `McpFailure`."""
    details = _details(grant)
    if details is None or details.server is None or details.server.revocation_endpoint is None:
        return
    token = details.tokens.refresh_token or details.tokens.access_token
    data = {"token": token, "client_id": details.client.client_id}
    with _translated(grant.host):
        async with _http() as client:
            request = client.build_request("POST", str(details.server.revocation_endpoint), data=data)
            response = await _sent(client, request, url)
    if response.status_code != 200:
        raise McpFailure(Sentence("{host} answers {status}", host=grant.host, status=response.status_code))


def _http() -> httpx2.AsyncClient:
    transport = LimitingTransport(_MOST_BYTES)
    return httpx2.AsyncClient(timeout=httpx2.Timeout(_PATIENCE), transport=transport, trust_env=False)


def _client(redirects: list[AnyUrl] | None) -> OAuthClientMetadata:
    is_native = not redirects or is_loopback(redirects[0].host or "")
    return OAuthClientMetadata(
        client_name="Daybook",
        redirect_uris=redirects,
        token_endpoint_auth_method="none",
        application_type="native" if is_native else "web",
    )


async def _drive(provider: OAuthClientProvider, url: str, challenge: Challenge | None) -> None:
    """Makes the provider's own requests, as if the server had answered so to a request of ours; without a challenge,
    the requests that come before ours."""
    request = httpx2.Request("POST", url, headers={"mcp-protocol-version": LATEST_PROTOCOL_VERSION})
    async with (
        _http() as client,
        aclosing(provider.async_auth_flow(request)) as flow,
    ):
        outgoing = await anext(flow)
        while True:
            if outgoing is not request:
                response = await _sent(client, outgoing, url)
            elif challenge is not None:
                headers = {"www-authenticate": challenge.header} if challenge.header else {}
                response = httpx2.Response(challenge.status, headers=headers, request=request)
                challenge = None
            else:
                return
            outgoing = await flow.asend(response)


async def _sent(client: httpx2.AsyncClient, request: httpx2.Request, url: str) -> httpx2.Response:
    _check(str(request.url), url)
    response = await client.send(request)
    if request.method == "POST" and (response.status_code >= 500 or response.status_code == 429):
        status = response.status_code
        raise McpFailure(Sentence("{host} answers {status}; try again later", host=request.url.host, status=status))
    return response


def _check(address: str, url: str) -> None:
    """Raises `McpFailure` for an address of a login server that is not safe. A server of others must not send us to
    programs of this machine; a private address beyond that has no certificate for its name."""
    parts = urlsplit(address)
    is_local = is_here(address)
    if parts.username is not None or (is_local and not is_here(url)):
        raise McpFailure(Sentence("{host} names a login server that it must not name", host=urlsplit(url).hostname))
    if parts.scheme != "https" and not is_local:
        raise McpFailure(
            Sentence("the login server {host} has no https, so a login is not safe there", host=parts.hostname)
        )


def _details(grant: Grant) -> _Details | None:
    """The details of a grant; None where they cannot be read, as after a change by hand."""
    try:
        return _Details.model_validate_json(grant.details)
    except ValidationError:
        return None


def _grant(provider: OAuthClientProvider, host: str) -> Grant:
    context = provider.context
    assert context.current_tokens is not None and context.client_info is not None
    details = _Details(
        tokens=context.current_tokens,
        client=context.client_info,
        server=context.oauth_metadata,
        resource=context.protected_resource_metadata,
    )
    return Grant(host, context.current_tokens.access_token, context.token_expiry_time, details.model_dump_json())


@contextlib.contextmanager
def _translated(host: str) -> Iterator[None]:
    """Translates failures, without the SDK's own words: they hold codes, and answers of servers."""
    try:
        yield
    except OAuthRegistrationError as error:
        raise McpFailure(
            Sentence("{host} lets no program register for logins, so put a key of yours under headers", host=host)
        ) from error
    except OAuthTokenError as error:
        raise McpFailure(Sentence("the login server refused to finish the login")) from error
    except OAuthFlowError as error:
        raise McpFailure(
            Sentence("the login server is another one than it should be, or contradicts itself")
        ) from error
    except (ValidationError, ValueError, httpx2.InvalidURL) as error:
        raise McpFailure(Sentence("the login server does not answer as the protocol says")) from error
    except httpx2.HTTPError as error:
        raise McpFailure(Sentence("a login server can't be reached ({why})", why=type(error).__name__)) from error
