"""Opens speech with a gateway: what speaks, and what hears."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from gateway.features.speech.config import LocalSpeaker, LocalTranscriber, WithSpeech
from gateway.kernel import FeatureParts, Kernel
from gateway.turns.attachments import Transcriber

if TYPE_CHECKING:
    from gateway.features.speech.speak import Speaker


async def opened(kernel: Kernel, _: AsyncExitStack) -> FeatureParts:
    config = WithSpeech.of(kernel.config.media)
    transcriber, speaker = _transcriber(config), build_speaker(config)
    if config.speak is None or speaker is None or config.speak.when == "never":
        return FeatureParts(transcriber=transcriber)
    from gateway.features.speech.answers import SpokenAnswers  # noqa: PLC0415 (only where answers are said aloud)

    voice = SpokenAnswers(kernel, speaker, always=config.speak.when == "always")
    return FeatureParts(workers=[voice.run], voice=voice, transcriber=transcriber)


def _transcriber(config: WithSpeech) -> Transcriber | None:
    wanted = config.transcribe
    if wanted is None:
        return None
    from gateway.features.speech.transcribe import Endpoint, Program  # noqa: PLC0415 (only where something hears)

    if isinstance(wanted, LocalTranscriber):
        return Program(wanted.command)
    return Endpoint(wanted.base_url, wanted.model, wanted.api_key.get_secret_value() if wanted.api_key else "")


def build_speaker(config: WithSpeech) -> Speaker | None:
    wanted = config.speak
    if wanted is None:
        return None
    from gateway.features.speech.speak import SpeechProgram, SpeechServer  # noqa: PLC0415 (only where something speaks)

    if isinstance(wanted, LocalSpeaker):
        return SpeechProgram(wanted.command)
    key = wanted.api_key.get_secret_value() if wanted.api_key else ""
    return SpeechServer(wanted.base_url, wanted.model, wanted.voice, key)
