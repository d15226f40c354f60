"""Opens speech with a gateway: what speaks, and what hears."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.features.speech.answers import SpokenAnswers
from gateway.features.speech.config import (
    LocalSpeaker,
    LocalTranscriber,
    RemoteSpeaker,
    RemoteTranscriber,
    WithSpeech,
)
from gateway.features.speech.speak import Speaker, SpeechProgram, SpeechServer
from gateway.features.speech.transcribe import Endpoint, Program
from gateway.kernel import FeatureParts, Kernel
from gateway.turns.attachments import Transcriber


@asynccontextmanager
async def opened(kernel: Kernel) -> AsyncIterator[FeatureParts]:
    config = WithSpeech.of(kernel.config.media)
    transcriber, speaker = _transcriber(config), build_speaker(config)
    if config.speak is None or speaker is None or config.speak.when == "never":
        yield FeatureParts(transcriber=transcriber)
        return
    voice = SpokenAnswers(kernel, speaker, always=config.speak.when == "always")
    yield FeatureParts(workers=[voice.run], voice=voice, transcriber=transcriber)


def _transcriber(config: WithSpeech) -> Transcriber | None:
    match config.transcribe:
        case RemoteTranscriber() as remote:
            key = remote.api_key.get_secret_value() if remote.api_key else ""
            return Endpoint(remote.base_url, remote.model, key)
        case LocalTranscriber() as local:
            return Program(local.command)
        case None:
            return None


def build_speaker(config: WithSpeech) -> Speaker | None:
    match config.speak:
        case RemoteSpeaker() as remote:
            key = remote.api_key.get_secret_value() if remote.api_key else ""
            return SpeechServer(remote.base_url, remote.model, remote.voice, key)
        case LocalSpeaker() as local:
            return SpeechProgram(local.command)
        case None:
            return None
