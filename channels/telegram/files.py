"""Downloads files by their `file_id`, and prepares files to send."""

from __future__ import annotations

import asyncio
import enum
import re
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO
from urllib.parse import quote

import aiohttp
from telegram import Bot
from telegram.error import BadRequest, Forbidden, TelegramError
from yarl import URL

from agent.languages.sentences import Sentence
from channels.media_types import PICTURE_TYPES, is_voice_note, picture_type, sound_type
from channels.message import Attachment, NotFetched, OutboundFile, Refused
from channels.network import WrongVariable, is_here, proxy_for
from channels.telegram.api import open_session
from channels.telegram.errors import ODD_ANSWER, redacted

_LIMIT = "Telegram lets bots download at most 20 MB"
"""getFile, https://core.telegram.org/bots/api#getfile; a local server (--local) has no limit."""
_FIND_TIMEOUT = 90.0
"""Seconds for getFile: a local server answers once it has the whole file."""
_DEADLINE = 300.0
"""Seconds for a whole download."""
_CONNECTIONS = 4
_TIMEOUT = aiohttp.ClientTimeout(connect=60.0, sock_connect=10.0, sock_read=20.0)


class Downloads:
    """`file_url` contains the token."""

    def __init__(self, bot: Bot, file_url: str) -> None:
        self._bot = bot
        self._file_url = file_url
        self._session: aiohttp.ClientSession | None = None

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        """Writes the file to `to`, and deletes a part of it after a failure."""
        if not attachment.handle:
            raise NotFetched(f"there is no file behind this {attachment.kind}")
        if attachment.size is not None and attachment.size > most:
            raise _too_big(attachment.size, most)
        path = await self._find(attachment)
        try:
            async with asyncio.timeout(_DEADLINE):
                if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute():
                    await self._copy_local(path, to, most)
                else:
                    await self._download(path, to, most)
        except BaseException as error:
            await asyncio.to_thread(to.unlink, missing_ok=True)
            if isinstance(error, TimeoutError):
                raise NotFetched("Telegram takes too long to send this file", passing=True) from None
            raise

    async def aclose(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _find(self, attachment: Attachment) -> str:
        """The path, relative to the address of files, or absolute on a local server."""
        asked = {"file_id": attachment.handle}
        try:
            found: object = await self._bot.do_api_request("getFile", asked, read_timeout=_FIND_TIMEOUT)
        except TelegramError as error:
            raise _not_found(error, attachment) from None
        except ODD_ANSWER as error:
            raise NotFetched(f"Telegram's answer cannot be read: {redacted(error)}", passing=True) from None
        path = found.get("file_path") if isinstance(found, dict) else None
        if not isinstance(path, str) or not path:
            raise NotFetched("Telegram does not say where this file is", passing=True)
        return path

    async def _download(self, path: str, to: Path, most: int) -> None:
        """Follows no redirect: the address has the token in it."""
        if self._session is None:
            self._session = open_session(_CONNECTIONS)
        url = URL(f"{self._file_url}/{quote(path)}", encoded=True)
        try:
            async with self._session.get(
                url,
                headers={"Accept-Encoding": "identity"},
                timeout=_TIMEOUT,
                allow_redirects=False,
                proxy=proxy_for(self._file_url),
            ) as answer:
                if answer.status != HTTPStatus.OK:  # getFile just returned the path, so it is there soon
                    raise NotFetched(f"Telegram does not hand this file out (status {answer.status})", passing=True)
                await _write(answer, to, most)
        except WrongVariable as problem:
            raise NotFetched(str(problem), passing=True) from problem
        except (aiohttp.ClientError, TimeoutError) as error:
            if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ServerTimeoutError):
                raise
            raise NotFetched(f"the download broke off: {redacted(error)}", passing=True) from None

    async def _copy_local(self, path: str, to: Path, most: int) -> None:
        """Copies a file that a Bot API server on this machine named; no other may."""
        if not is_here(self._file_url):
            raise NotFetched(
                "the Bot API server keeps files on its own disk, which I can't read: run it without --local, "
                "or on the machine that I run on"
            )
        await asyncio.to_thread(_copy, Path(path), to, most)


async def _write(answer: aiohttp.ClientResponse, to: Path, most: int) -> None:
    size = 0
    file: BinaryIO = await asyncio.to_thread(to.open, "wb")
    try:
        async for part in answer.content.iter_chunked(256 * 1024):
            size += len(part)
            if size > most:
                raise _too_big(None, most)
            await asyncio.to_thread(file.write, part)
    finally:
        await asyncio.to_thread(file.close)


def _copy(source: Path, to: Path, most: int) -> None:
    try:
        if not source.is_file():
            raise FileNotFoundError(f"{source} is no file")
        reader = source.open("rb")
    except OSError as error:
        raise NotFetched(f"the Bot API server names a file that I can't read: {error}") from None
    with reader, to.open("wb") as writer:
        size = 0
        while part := reader.read(256 * 1024):
            size += len(part)
            if size > most:
                raise _too_big(source.stat().st_size, most)
            writer.write(part)


def _not_found(error: TelegramError, attachment: Attachment) -> NotFetched:
    text = str(error).casefold()
    if isinstance(error, BadRequest) and "too big" in text:
        this = f"this file has {_megabytes(attachment.size)}" if attachment.size else "this file is bigger"
        return NotFetched(f"{_LIMIT}; {this}")
    if isinstance(error, BadRequest) and "temporarily unavailable" not in text:
        return NotFetched(f"Telegram does not have this file: {redacted(error)}")
    if isinstance(error, Forbidden):
        return NotFetched(f"Telegram refuses this file: {redacted(error)}")
    return NotFetched(f"Telegram does not hand this file out now: {redacted(error)}", passing=True)


def _too_big(size: int | None, most: int) -> NotFetched:
    this = f"it has {_megabytes(size)}" if size is not None else "it is bigger"
    return NotFetched(f"I take files of at most {_megabytes(most)}; {this}")


def _megabytes(size: int) -> str:
    """A size rounded up, so that a size over a limit never reads as the limit."""
    if size < 1_000_000:
        return f"{-(-size // 1000)} kB"
    return f"{-(-size // 1_000_000)} MB"


MAX_UPLOAD = 50_000_000
MAX_PHOTO = 10_000_000
"""Bytes, https://core.telegram.org/bots/api#sending-files ("50 MB", "10 MB"; the smaller reading of MB is safe)."""
_LONGEST_NAME = 100
_MP3 = "audio/mpeg"
"""The type that sendAudio takes."""
_UNSEEMLY = re.compile(r"[\x00-\x1f\x7f/\\\"\u202a-\u202e\u2066-\u2069]+")
"""Includes characters that reverse the text, by which `fdp.exe` can read as `exe.pdf`."""


class UploadKind(enum.StrEnum):
    DOCUMENT = "document"
    PHOTO = "photo"
    VOICE = "voice"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True)
class Upload:
    name: str
    content: bytes
    kind: UploadKind


async def prepared(file: OutboundFile) -> Upload:
    """The file as it is sent. Raises `Refused` if Telegram would refuse it."""
    content = await asyncio.to_thread(_content, file)
    return Upload(_shown_name(file.name or file.path.name), content, _kind(file, content))


def _kind(file: OutboundFile, content: bytes) -> UploadKind:
    is_still = picture_type(content) in PICTURE_TYPES - {"image/gif"}
    if file.is_image and len(content) <= MAX_PHOTO and is_still:
        return UploadKind.PHOTO
    if file.is_voice and is_voice_note(content):
        return UploadKind.VOICE
    return UploadKind.AUDIO if file.is_voice and sound_type(content) == _MP3 else UploadKind.DOCUMENT


def _content(file: OutboundFile) -> bytes:
    name = _shown_name(file.name or file.path.name)
    try:
        size = file.path.stat().st_size
        if size > MAX_UPLOAD:
            megabytes = -(-size // 1_000_000)
            raise Refused(
                Sentence(
                    "Telegram takes files of at most 50 MB from bots; {name} has {size} MB", name=name, size=megabytes
                )
            )
        with file.path.open("rb") as reader:
            content = reader.read(MAX_UPLOAD + 1)  # the file may have grown meanwhile
    except OSError as error:
        raise Refused(
            Sentence("{name} cannot be read any more: {why}", name=name, why=error.strerror or str(error))
        ) from None
    if len(content) > MAX_UPLOAD:
        raise Refused(Sentence("Telegram takes files of at most 50 MB from bots; this one is still growing"))
    if not content:
        raise Refused(Sentence("{name} is empty, and Telegram takes no empty files", name=name))
    return content


def _shown_name(name: str) -> str:
    last = PureWindowsPath(name).name  # parts at `/` and at `\`
    clean = _UNSEEMLY.sub("_", last).strip(" .") or "file"
    stem, dot, ending = clean.rpartition(".")
    if len(clean) <= _LONGEST_NAME or not stem or len(ending) > 10:
        return clean[:_LONGEST_NAME]
    return stem[: _LONGEST_NAME - len(ending) - 1] + dot + ending
