"""Opens public web addresses: every address is checked, and the connection goes to the checked address.

No proxy is used, since it would look the name up again; no cookie is kept, no key sent.
"""

from __future__ import annotations

import asyncio
import tempfile
import zlib
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from agent.formats.addresses import AddressRefused, AddressRules, NotPublic
from agent.formats.http import PublicResolver
from agent.formats.network import BadEnvironment, tls
from agent.media.reader import Reader
from agent.media.sniff import HEAD, Kind, Unreadable, sniffed
from gateway.features.web_tools.page import Page, PageUnavailable

SECONDS = 20.0
"""The time for a page, with its redirects."""
MOST_BYTES = 5_000_000
_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; Daybook; personal assistant)",
    "Accept": "text/html,application/xhtml+xml,text/plain,application/json,application/pdf;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_PACKINGS = {"": False, "identity": False, "gzip": True, "x-gzip": True, "deflate": True}
_GZIP = b"\x1f\x8b"
_HEAD = len(_GZIP)
"""Bytes that tell how a body is packed."""
_ONLY_WHOLE = frozenset({Kind.PDF, Kind.ZIP, Kind.OLD_OFFICE})


@dataclass(frozen=True, slots=True)
class _Answer:
    address: URL
    media_type: str
    charset: str
    body: bytes
    is_cut: bool
    """It was too long to be read whole."""
    is_broken: bool
    """Its server did not send the end."""


class Fetcher:
    """`resolver` looks names up, by default the system's; `rules` check the addresses."""

    def __init__(
        self,
        reader: Reader,
        rules: AddressRules | None = None,
        resolver: AbstractResolver | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._reader = reader
        self._rules = rules or AddressRules()
        self._resolver = resolver
        self._seconds = seconds

    async def page(self, given: str) -> Page:
        """Raises `PageUnavailable`."""
        try:
            address = self._rules.checked(given)
            async with asyncio.timeout(self._seconds):
                answer = await self._answer(address)
        except (AddressRefused, BadEnvironment) as error:
            raise PageUnavailable(str(error)) from error
        except TimeoutError as error:
            raise PageUnavailable(f"its server did not answer within {self._seconds:g} seconds") from error
        except aiohttp.ClientConnectorDNSError as error:
            why = str(error.os_error) if isinstance(error.os_error, NotPublic) else "there is no server of that name"
            raise PageUnavailable(why) from error
        except aiohttp.ClientConnectorCertificateError as error:
            raise PageUnavailable("its certificate is not valid") from error
        except aiohttp.ClientConnectorError as error:
            raise PageUnavailable("there is no connection to its server") from error
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as error:
            raise PageUnavailable(f"its server's answer cannot be read ({type(error).__name__})") from error
        return await self._read(answer)

    async def _answer(self, address: URL) -> _Answer:
        connector = aiohttp.TCPConnector(
            resolver=PublicResolver(self._rules, self._resolver),
            ssl=tls(),
            use_dns_cache=False,
            force_close=True,
        )
        async with aiohttp.ClientSession(
            connector=connector, cookie_jar=aiohttp.DummyCookieJar(), headers=_HEADERS, auto_decompress=False
        ) as session:
            for _ in range(_MOST_REDIRECTS + 1):
                async with session.get(address, allow_redirects=False) as answer:
                    if answer.status not in _REDIRECTS:
                        return await _body(answer, address)
                    try:
                        target = address.join(URL(answer.headers.get("Location", "")))
                    except ValueError as error:
                        raise PageUnavailable("it leads to something that is not a web address") from error
                    address = self._redirected(str(target))
        raise PageUnavailable(f"it leads from one address to the next more than {_MOST_REDIRECTS} times")

    def _redirected(self, target: str) -> URL:
        try:
            return self._rules.checked(target)
        except AddressRefused as error:
            raise PageUnavailable(f"it leads to an address that is not opened: {error}") from error

    async def _read(self, answer: _Answer) -> Page:
        kind, _ = sniffed(answer.body[:HEAD], answer.address.path, answer.media_type)
        if answer.is_cut and kind in _ONLY_WHOLE:
            raise PageUnavailable(f"it is a {kind} of more than {MOST_BYTES // 1_000_000} MB")
        try:
            with tempfile.TemporaryDirectory(prefix="daybook-page-") as folder:
                file = Path(folder) / "page"
                await asyncio.to_thread(file.write_bytes, answer.body)
                if kind is Kind.HTML:
                    reading = await self._reader.page(file, str(answer.address), answer.charset)
                else:
                    reading = await self._reader.text(file, kind)
        except (Unreadable, OSError) as problem:
            raise PageUnavailable(str(problem) or "it cannot be read") from problem
        cut = f"only its first {MOST_BYTES // 1_000_000} MB were read" if answer.is_cut else ""
        broken = "it is cut: its server did not send its end" if answer.is_broken else ""
        remark = "; ".join(filter(None, (reading.remark or cut, broken)))
        return Page(str(answer.address), reading.text, reading.links, remark)


async def _body(answer: aiohttp.ClientResponse, address: URL) -> _Answer:
    if answer.status != HTTPStatus.OK:
        raise PageUnavailable(f"its server answers {answer.status} {_phrase(answer.status)}".strip())
    packing = answer.headers.get("Content-Encoding", "").strip().lower()
    if packing not in _PACKINGS:
        raise PageUnavailable(f"its server packs it as {packing[:20]!r}, which was not asked for")
    unpack = _Unpacker() if _PACKINGS[packing] else None
    body, read = bytearray(), 0
    async for chunk in answer.content.iter_any():
        read += len(chunk)
        left = MOST_BYTES + 1 - len(body)
        body += chunk[:left] if unpack is None else unpack.feed(chunk, left)
        if max(read, len(body)) > MOST_BYTES or (unpack is not None and unpack.is_over):
            break
    is_long = max(read, len(body)) > MOST_BYTES
    is_broken = not is_long and unpack is not None and not unpack.is_whole
    return _Answer(address, answer.content_type, answer.charset or "", bytes(body[:MOST_BYTES]), is_long, is_broken)


class _Unpacker:
    """Reads gzip, also in several parts, and deflate with or without its head."""

    def __init__(self) -> None:
        self.is_over = False
        """No further part can follow."""
        self._begun = b""
        self._part, self._is_new = zlib.decompressobj(), True

    @property
    def is_whole(self) -> bool:
        """False where the end is missing."""
        return not self._begun and (self._is_new or self._part.eof)

    def feed(self, chunk: bytes, most: int) -> bytes:
        """Raises `zlib.error`."""
        made, data = bytearray(), chunk
        while data and len(made) < most:
            if self._is_new or self._part.eof:
                data = self._begun + data
                self.is_over = not self._is_new and not _GZIP.startswith(data[:_HEAD])  # it may be padded
                self._begun = data if len(data) < _HEAD and not self.is_over else b""
                if self._begun or self.is_over:
                    break
                self._part, self._is_new = zlib.decompressobj(_window_bits(data)), False
            made += self._part.decompress(data, most - len(made))
            data = self._part.unused_data if self._part.eof else b""
        return bytes(made)


def _window_bits(head: bytes) -> int:
    """zlib's number for gzip, for deflate as it is specified, or for raw deflate, which some servers send."""
    if head.startswith(_GZIP):
        return zlib.MAX_WBITS | 16
    has_head = head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:_HEAD]) % 31 == 0
    return zlib.MAX_WBITS if has_head else -zlib.MAX_WBITS


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
