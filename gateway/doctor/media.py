"""Checks of speech and of pictures."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from agent.languages.sentences import Sentence
from agent.media.speak import CONVERTER, Recording, Speaker, SpeechFailed, record
from agent.model.anthropic.model import entries_of
from gateway.config.capabilities import MediaConfig
from gateway.factories import build_speaker
from gateway.setup.probe import Finding, get

_SECONDS = 30
"""A voice that runs here may have to be loaded."""
_WORD = "Hello."


def speech(config: MediaConfig, seconds: float = _SECONDS) -> Iterator[Finding]:
    """Checks speech by saying a word."""
    speaker = build_speaker(config)
    if speaker is None:
        return
    try:
        recording = asyncio.run(_said(speaker, seconds))
    except TimeoutError:
        problem = Sentence("no answer within {timeout} s", timeout=f"{seconds:g}")
        yield _unspoken(problem)
    except (SpeechFailed, OSError) as error:
        yield _unspoken(str(error))
    else:
        if recording.is_voice:
            yield Finding("speech", True, "answers can be said aloud")
        else:
            what = Sentence(
                "answers can be said aloud, but as files ({ending}); with {converter} installed they are voice notes",
                ending=recording.ending,
                converter=CONVERTER,
            )
            yield Finding("speech", True, what)


async def _said(speaker: Speaker, seconds: float) -> Recording:
    with tempfile.TemporaryDirectory(prefix="daybook-speech-") as folder:
        async with asyncio.timeout(seconds):
            return await record(speaker, _WORD, Path(folder))


def _unspoken(problem: str) -> Finding:
    what = Sentence("answers are not said aloud: {problem}", problem=problem)
    return Finding("speech", False, what, "correct media.speak in config.yaml, or set it to null")


def pictures(config: MediaConfig) -> Iterator[Finding]:
    """Checks pictures by asking the server for its models: a picture would cost something."""
    images = config.images
    if images is None:
        return
    headers = {"Authorization": f"Bearer {images.api_key.get_secret_value()}"} if images.api_key else {}
    where = urlsplit(images.base_url).netloc
    reply = get(f"{images.base_url.rstrip('/')}/models", headers)
    names = [entry.get("id") for entry in entries_of(dict(reply.body))]
    if reply.status == 0:
        what, fix = Sentence("can't reach {where}: {why}", where=where, why=reply.why), _ADDRESS
    elif reply.status in (401, 403):
        what, fix = Sentence("{where} doesn't accept the key", where=where), "create a new key and put it into .env"
    elif reply.status >= 500 or reply.status == 429:
        what = Sentence("{where} answered with status {status}", where=where, status=reply.status)
        fix = "try again in a few minutes"
    elif names and images.model not in names:
        what, fix = Sentence("{where} has no model {name}", where=where, name=images.model), _MODEL
    else:
        what, fix = Sentence("{where} answers", where=where), ""
    yield Finding("pictures", not fix, what, fix)


_ADDRESS = "check your network and media.images.base_url"
_MODEL = "correct media.images.model in config.yaml"
