"""Files on their way out: read, measured against what Telegram takes, and named as people shall see them."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from channels.message import OutboundFile, Refused

MAX_UPLOAD = 50_000_000
MAX_PHOTO = 10_000_000
"""Bytes, https://core.telegram.org/bots/api#sending-files ("50 MB", "10 MB"; the smaller reading of MB is safe)."""
_LONGEST_NAME = 100
_UNSEEMLY = re.compile(r"[\x00-\x1f\x7f/\\\"\u202a-\u202e\u2066-\u2069]+")
"""Also what turns the direction of writing, by which `fdp.exe` can be made to read as `exe.pdf`."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in memory. `is_photo`: Telegram may take it as a picture to be shown (its width and height are for
    Telegram to judge)."""

    name: str
    content: bytes
    is_photo: bool


async def prepared(file: OutboundFile) -> Upload:
    """Raises `Refused`, with a sentence, for what need not be sent to be refused."""
    content = await asyncio.to_thread(_content, file)
    is_photo = file.is_image and len(content) <= MAX_PHOTO and _is_still_picture(content)
    return Upload(_shown_name(file.name or file.path.name), content, is_photo)


def _content(file: OutboundFile) -> bytes:
    name = _shown_name(file.name or file.path.name)
    try:
        size = file.path.stat().st_size
        if size > MAX_UPLOAD:
            megabytes = -(-size // 1_000_000)
            raise Refused(f"Telegram takes files of at most 50 MB from bots; {name} has {megabytes} MB")
        content = _read(file.path)
    except OSError as error:
        raise Refused(f"{name} cannot be read any more: {error.strerror or error}") from None
    if not content:
        raise Refused(f"{name} is empty, and Telegram takes no empty files")
    return content


def _read(path: Path) -> bytes:
    """Never more than a byte over the limit, should the file have grown since it was measured."""
    with path.open("rb") as reader:
        content = reader.read(MAX_UPLOAD + 1)
    if len(content) > MAX_UPLOAD:
        raise Refused("Telegram takes files of at most 50 MB from bots; this one is still growing")
    return content


def _is_still_picture(content: bytes) -> bool:
    is_webp = content[:4] == b"RIFF" and content[8:12] == b"WEBP"
    return is_webp or content.startswith((b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"))


def _shown_name(name: str) -> str:
    """The last part of what may look like a path, its ending kept where it has to be cut."""
    last = PureWindowsPath(name).name  # parts at `/` and at `\`
    clean = _UNSEEMLY.sub("_", last).strip(" .") or "file"
    stem, dot, ending = clean.rpartition(".")
    if len(clean) <= _LONGEST_NAME or not stem or len(ending) > 10:
        return clean[:_LONGEST_NAME]
    return stem[: _LONGEST_NAME - len(ending) - 1] + dot + ending
