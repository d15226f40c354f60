"""Text to speech, by a server that speaks OpenAI's `POST /audio/speech` or by a program. Chats want Ogg/Opus: other
sound is converted where ffmpeg is installed."""

from __future__ import annotations

import asyncio
import logging
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from agent.media.sniff import HEAD, Kind, sniffed
from gateway.features.speech.program import ProgramFailed, run

log = logging.getLogger(__name__)

SECONDS = 60.0
"""The time to speak an answer, and to convert it."""
MOST_BYTES = 15_000_000
"""The size of a recording; an hour of speech in Opus."""
CONVERTER = "ffmpeg"
_OPUS_HEAD = 64


class SpeechFailed(Exception):
    """The end of a sentence about the text: "the server refused it (500)"."""


@dataclass(frozen=True, slots=True)
class Recording:
    path: Path
    ending: str
    is_voice: bool
    """Ogg/Opus."""


class Speaker(Protocol):
    async def speak(self, text: str, target: Path) -> None:
        """Writes sound of any kind to `target`. Raises `SpeechFailed`, `OSError`."""


@dataclass(frozen=True, slots=True)
class SpeechServer:
    """`base_url` includes `/v1`; the key may be empty."""

    base_url: str
    model: str
    voice: str
    api_key: str = field(default="", repr=False)
    seconds: float = SECONDS

    async def speak(self, text: str, target: Path) -> None:
        from agent.formats import http  # noqa: PLC0415 (only where something is to be spoken)

        url = f"{self.base_url.rstrip('/')}/audio/speech"
        wanted = {"model": self.model, "voice": self.voice, "input": text, "response_format": "opus"}
        try:
            async with http.open_session(self.api_key) as session:
                sound = await http.post(session, url, self.seconds, connect=10, json=wanted)
        except http.RefusedCall as refusal:
            raise SpeechFailed(f"the server refused it ({refusal.status})") from refusal
        except http.Unreachable as problem:
            raise SpeechFailed(f"the server cannot be reached ({problem})") from problem
        except ValueError as problem:
            raise SpeechFailed(str(problem)) from problem
        await asyncio.to_thread(target.write_bytes, sound)


@dataclass(frozen=True, slots=True)
class SpeechProgram:
    """`command` reads the text from its stdin and writes sound to the path for `{file}`."""

    command: tuple[str, ...]
    seconds: float = SECONDS

    async def speak(self, text: str, target: Path) -> None:
        spoken = target.with_suffix(".txt")
        await asyncio.to_thread(spoken.write_text, f"{text}\n", encoding="utf-8")
        try:
            await run(self.command, target, self.seconds, stdin=spoken)
        except ProgramFailed as problem:
            raise SpeechFailed(f"the program {problem}") from problem


async def record(speaker: Speaker, text: str, folder: Path) -> Recording:
    """Speaks a text into a file in `folder`. Raises `SpeechFailed`, `OSError`."""
    sound = folder / "speech.wav"
    await speaker.speak(text, sound)
    ending = await asyncio.to_thread(_ending, sound)
    if not await asyncio.to_thread(is_opus, sound):
        if converted := await _converted(sound, ending, folder):
            return Recording(converted, "ogg", is_voice=True)
        return Recording(sound, ending, is_voice=False)
    return Recording(sound, "ogg", is_voice=True)


def is_opus(file: Path) -> bool:
    """Blocks. Raises `OSError`."""
    with file.open("rb") as stream:
        head = stream.read(_OPUS_HEAD)
    return head.startswith(b"OggS") and b"OpusHead" in head


def _ending(sound: Path) -> str:
    try:
        size = sound.stat().st_size
        with sound.open("rb") as stream:
            kind, ending = sniffed(stream.read(HEAD))
    except FileNotFoundError as missing:
        raise SpeechFailed("no file was written") from missing
    if kind is Kind.EMPTY:
        raise SpeechFailed("what came is empty")
    if kind is not Kind.AUDIO:
        raise SpeechFailed(f"what came is no sound but a {kind}")
    if size > MOST_BYTES:
        raise SpeechFailed(f"what came has more than {MOST_BYTES // 1_000_000} MB")
    return ending


async def _converted(sound: Path, ending: str, folder: Path) -> Path | None:
    if shutil.which(CONVERTER) is None:
        return None
    target = folder / "speech.ogg"
    read = ("-f", ending, "-protocol_whitelist", "file", "-i", str(sound))
    write = ("-map", "0:a:0", "-ac", "1", "-ar", "48000", "-c:a", "libopus", "-b:a", "32k", "-f", "ogg", "{file}")
    try:
        await run((CONVERTER, "-nostdin", "-loglevel", "error", "-y", *read, *write), target, SECONDS)
        return target if await asyncio.to_thread(is_opus, target) else None
    except (ProgramFailed, OSError) as problem:
        log.warning("an answer is sent as %s: %s", ending, problem)
        return None
