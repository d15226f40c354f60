"""Speech to text, by a server that speaks OpenAI's `POST /audio/transcriptions` or by a program."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from agent.formats.parsing import load_json
from agent.media.sniff import Unreadable
from gateway.features.speech.program import ProgramFailed, run

SECONDS = 300.0
"""The time for one recording: a program on a small machine is not much faster than speech."""
_MOST_BYTES = 400_000


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`base_url` includes `/v1`; the key may be empty."""

    base_url: str
    model: str
    api_key: str = ""

    def __repr__(self) -> str:
        return f"Endpoint(base_url={self.base_url!r}, model={self.model!r})"

    async def transcribe(self, file: Path) -> str:
        import aiohttp  # noqa: PLC0415 (only where something is to be transcribed)

        from agent.formats import http  # noqa: PLC0415

        url = f"{self.base_url.rstrip('/')}/audio/transcriptions"
        form = aiohttp.FormData({"model": self.model, "response_format": "json"}, quote_fields=False)
        try:
            with await asyncio.to_thread(file.open, "rb") as content:
                form.add_field("file", content, filename=file.name)
                async with http.open_session(self.api_key) as session:
                    words = load_json(await http.post(session, url, SECONDS, connect=10, form=form))["text"]
        except http.RefusedCall as refusal:
            raise Unreadable(
                f"the transcriber refused it ({refusal.status}); see media.transcribe in config.yaml"
            ) from refusal
        except http.Unreachable as problem:
            raise Unreadable(f"the transcriber cannot be reached ({problem})") from problem
        except (ValueError, KeyError, TypeError) as problem:
            raise Unreadable("the transcriber's answer is not what such servers answer") from problem
        return _heard(str(words))


@dataclass(frozen=True, slots=True)
class Program:
    """`command` gets the file's path for `{file}`, and prints the words."""

    command: tuple[str, ...]

    async def transcribe(self, file: Path) -> str:
        try:
            words = await run(self.command, file, SECONDS, most=_MOST_BYTES)
        except ProgramFailed as problem:
            raise Unreadable(f"the transcriber {problem}") from problem
        return _heard(words.decode("utf-8", "replace"))


def _heard(words: str) -> str:
    if not words.strip():
        raise Unreadable("no words could be heard in it")
    return words.strip()
