"""Speech to text, by a server that speaks OpenAI's `POST /audio/transcriptions` or by a program of the machine."""

from __future__ import annotations

import asyncio
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent.formats.parsing import load_json
from agent.media import kept
from agent.media.unreadable import Unreadable

SECONDS = 300.0
"""How long one recording may take: a program on a small machine is not much faster than speech."""
_MOST_BYTES = 400_000
_CHUNK = 65_536
_FILE = "{file}"


class Transcriber(Protocol):
    async def transcribe(self, file: Path) -> str:
        """The words of a recording; the file's ending says its format. Raises `Unreadable` with a reason for its
        sender, and `OSError`."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`base_url` as OpenAI's clients take it, up to and with `/v1`. The key may be empty."""

    base_url: str
    model: str
    api_key: str = ""

    def __repr__(self) -> str:
        return f"Endpoint(base_url={self.base_url!r}, model={self.model!r})"

    async def transcribe(self, file: Path) -> str:
        import httpx  # noqa: PLC0415 (only where something is to be transcribed)

        content = await asyncio.to_thread(file.read_bytes)
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        try:
            async with httpx.AsyncClient(timeout=httpx.Timeout(SECONDS, connect=10)) as client:
                answer = await client.post(
                    f"{self.base_url.rstrip('/')}/audio/transcriptions",
                    headers=headers,
                    data={"model": self.model, "response_format": "json"},
                    files={"file": (file.name, content)},
                )
            answer.raise_for_status()
            words = load_json(answer.content)["text"]
        except httpx.HTTPStatusError as refusal:
            status = refusal.response.status_code
            raise Unreadable(f"the transcriber refused it ({status}); see media.transcribe in config.yaml") from refusal
        except httpx.HTTPError as problem:
            raise Unreadable(f"the transcriber cannot be reached ({type(problem).__name__})") from problem
        except (ValueError, KeyError, TypeError) as problem:
            raise Unreadable("the transcriber's answer is not what such servers answer") from problem
        return _heard(str(words))


@dataclass(frozen=True, slots=True)
class Program:
    """`command` with the file's path in place of `{file}`; what it writes to stdout are the words. It and what it
    starts end with this process, however that ends."""

    command: tuple[str, ...]

    async def transcribe(self, file: Path) -> str:
        arguments = [part.replace(_FILE, str(file)) for part in self.command]
        if shutil.which(arguments[0]) is None:
            raise Unreadable(f"the transcriber {arguments[0]} cannot be started (there is no such program)")
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", kept.__file__, *arguments),
                stdin=asyncio.subprocess.PIPE,  # held open for as long as we live
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise Unreadable(f"the transcriber {arguments[0]} cannot be started ({error.strerror})") from error
        assert process.stdin is not None and process.stdout is not None
        try:
            async with asyncio.timeout(SECONDS):
                words = b""
                while chunk := await process.stdout.read(_CHUNK):
                    words += chunk[: _MOST_BYTES - len(words)]
                code = await process.wait()
        except TimeoutError as error:
            raise Unreadable("the transcriber took too long") from error
        finally:
            process.stdin.close()  # the sign for it to end
            await process.wait()
        if code:
            raise Unreadable(f"the transcriber {arguments[0]} failed (exit code {code})")
        return _heard(words.decode("utf-8", "replace"))


def _heard(words: str) -> str:
    if not words.strip():
        raise Unreadable("no words could be heard in it")
    return words.strip()
