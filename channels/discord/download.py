"""Downloads attachments from Discord's file server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp

from channels.discord.errors import redacted
from channels.discord.shown import snapshots
from channels.json_fields import Json, get, objects_of
from channels.message import NotFetched
from channels.network import WrongVariable, proxy_for, tls

_TIMEOUT = aiohttp.ClientTimeout(total=120.0, sock_connect=10.0, sock_read=30.0)
_CHUNK = 1 << 16


class Expired(NotFetched):
    """The file's address has expired; its message may have a new address."""


def address_in(message: Json, file_id: str) -> str:
    """The address of a file in its message. Raises `NotFetched`."""
    files = (file for holder in (message, *snapshots(message)) for file in objects_of(holder, "attachments"))
    found = next((file for file in files if get(file, "id", str) == file_id), None)
    url = get(found, "url", str) if found else None
    if url is None:
        raise NotFetched("the file is no longer in its message")
    return url


async def download(url: str, to: Path, most: int) -> None:
    """Raises `Expired`, other `NotFetched`, `OSError`."""
    if not url.startswith(("https://", "http://")):
        raise Expired("the file has no address")
    try:
        proxy = proxy_for(url)
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as http,
            http.get(url, proxy=proxy, ssl=tls(strict=False)) as answer,
        ):
            if answer.status in (403, 404, 410):
                raise Expired(f"Discord's file server answers with status {answer.status}")
            if answer.status != 200:
                passing = answer.status >= 500 or answer.status == 429
                raise NotFetched(f"Discord's file server answers with status {answer.status}", passing=passing)
            await _write(answer.content, to, most)
    except WrongVariable as problem:
        raise NotFetched(str(problem), passing=True) from None
    except (aiohttp.ClientError, TimeoutError) as error:
        raise NotFetched(
            f"Discord's file server does not answer as it should: {redacted(error)}", passing=True
        ) from None


async def _write(content: aiohttp.StreamReader, to: Path, most: int) -> None:
    written = 0
    with await asyncio.to_thread(to.open, "wb") as file:
        async for chunk in content.iter_chunked(_CHUNK):
            written += len(chunk)
            if written > most:
                raise NotFetched(too_large(most))
            await asyncio.to_thread(file.write, chunk)


def too_large(most: int) -> str:
    return f"the file is larger than the {most / 1e6:.0f} MB that I accept"
