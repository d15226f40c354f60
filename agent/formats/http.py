"""Calls to HTTP servers. Heavy: import it where a server is called."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from http import HTTPStatus

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from agent.formats.addresses import AddressRules, NotPublic
from agent.formats.network import BadEnvironment, is_here, proxy_for, tls

MOST_BYTES = 20_000_000
"""The size of an answer."""


class Unreachable(Exception):
    """The text says why in a word."""


class RefusedCall(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class PublicResolver(AbstractResolver):
    """Refuses a name if any of its addresses is not public, as the connection could go there."""

    def __init__(self, rules: AddressRules, inner: AbstractResolver | None = None) -> None:
        self._rules = rules
        self._inner = inner or aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        if not all(self._rules.is_public(ipaddress.ip_address(address["host"])) for address in found):
            raise NotPublic("it is in a private network")
        return found

    async def close(self) -> None:
        await self._inner.close()


def open_session(key: str) -> aiohttp.ClientSession:
    """A session that sends the key, if any, as a bearer token."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(), cookie_jar=aiohttp.DummyCookieJar(), headers=headers)


async def post(
    session: aiohttp.ClientSession,
    url: str,
    seconds: float,
    *,
    connect: float,
    json: object = None,
    form: aiohttp.FormData | None = None,
) -> bytes:
    """The answer's body. Raises as `get`."""
    return await _body(session, "POST", url, seconds, connect, json=json, data=form)


async def get(
    session: aiohttp.ClientSession,
    url: str,
    seconds: float,
    *,
    connect: float,
    query: Mapping[str, str],
    headers: Mapping[str, str],
) -> bytes:
    """The answer's body; follows no redirect, which would take the key elsewhere. Raises `Unreachable`, `RefusedCall`,
    and `ValueError` for a body that is too large."""
    return await _body(session, "GET", url, seconds, connect, params=query, headers=headers)


async def _body(
    session: aiohttp.ClientSession,
    method: str,
    url: str,
    seconds: float,
    connect: float,
    *,
    json: object = None,
    data: aiohttp.FormData | None = None,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> bytes:
    timeout = aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, connect))
    try:
        async with session.request(
            method,
            url,
            json=json,
            data=data,
            params=params,
            headers=headers,
            timeout=timeout,
            allow_redirects=False,
            proxy=proxy_for(url),
            ssl=tls(strict=not is_here(url)),
        ) as answer:
            if answer.status != HTTPStatus.OK:
                raise RefusedCall(answer.status)
            body = await answer.content.read(MOST_BYTES)
            while len(body) < MOST_BYTES and (more := await answer.content.read(MOST_BYTES - len(body))):
                body += more
    except BadEnvironment as problem:
        raise Unreachable(str(problem).removesuffix(".")) from problem
    except TimeoutError as error:
        raise Unreachable("no answer in time") from error
    except aiohttp.ClientConnectorError as error:
        raise Unreachable("no connection") from error
    except (aiohttp.ClientError, OSError) as error:
        raise Unreachable(type(error).__name__) from error
    if len(body) >= MOST_BYTES:
        raise ValueError("the answer is too large")
    return body
