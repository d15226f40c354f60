"""Checks speech by saying a word."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agent.languages.sentences import Sentence
from channels.checks import Finding
from gateway.config import Config
from gateway.features.speech.config import WithSpeech
from gateway.features.speech.opening import build_speaker
from gateway.features.speech.speak import CONVERTER, Recording, Speaker, SpeechFailed, record
from gateway.home import Home

_SECONDS = 30
"""A voice that runs here may have to be loaded."""
_WORD = "Hello."


def speech(home: Home, config: Config, seconds: float = _SECONDS) -> Iterator[Finding]:
    """Checks speech by saying a word."""
    speaker = build_speaker(WithSpeech.of(config.media))
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
