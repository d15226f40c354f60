"""The keys `media.transcribe` and `media.speak` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from agent.languages.sentences import Sentence
from channels.settings import Secret, Section, Url
from gateway.config.capabilities import MediaConfig
from gateway.config.values import FileCommand

_TEXTS = {
    "media.transcribe.command": "A program that prints the words of a recording; `{file}` is its path.",
    "media.transcribe.base_url": "Or a server that speaks OpenAI's transcription API, up to and with `/v1` …",
    "media.transcribe.model": "… with this model …",
    "media.transcribe.api_key": "… and this key.",
    "media.speak.when": "Which answers are said aloud, too: to a `voice` message, `always`, or `never`.",
    "media.speak.command": "A program that reads a text from its stdin and writes its sound to `{file}`.",
    "media.speak.base_url": "Or a server that speaks OpenAI's speech API, up to and with `/v1` …",
    "media.speak.model": "… with this model …",
    "media.speak.voice": "… in this voice …",
    "media.speak.api_key": "… and this key.",
}


class RemoteTranscriber(Section):
    """A server that speaks OpenAI's `POST /audio/transcriptions`; `base_url` up to and with `/v1`."""

    base_url: Url
    model: Annotated[str, Field(min_length=1)]
    api_key: Secret | None = None


class LocalTranscriber(Section):
    """A program that prints the words of the recording at `{file}`."""

    command: FileCommand


def _transcriber_kind(value: object) -> str | None:
    if isinstance(value, LocalTranscriber) or (isinstance(value, dict) and "command" in value):
        return "local"
    if isinstance(value, RemoteTranscriber) or (isinstance(value, dict) and "base_url" in value):
        return "remote"
    return None


Transcribe = Annotated[
    Annotated[LocalTranscriber, Tag("local")] | Annotated[RemoteTranscriber, Tag("remote")],
    Discriminator(
        _transcriber_kind,
        custom_error_type="transcribe",
        custom_error_message=Sentence(
            "allowed: `null`, or lines with `base_url`, `model` and `api_key`, or with `command`"
        ),
    ),
]


class _SpeakerConfig(Section):
    when: Literal["voice", "always", "never"] = "voice"


class RemoteSpeaker(_SpeakerConfig):
    """A server that speaks OpenAI's `POST /audio/speech`; `base_url` up to and with `/v1`."""

    base_url: Url
    model: Annotated[str, Field(min_length=1)]
    voice: Annotated[str, Field(min_length=1)]
    api_key: Secret | None = None


class LocalSpeaker(_SpeakerConfig):
    """A program that reads a text from its stdin and writes its sound to `{file}`."""

    command: FileCommand


def _speaker_kind(value: object) -> str | None:
    if isinstance(value, LocalSpeaker) or (isinstance(value, dict) and "command" in value):
        return "local"
    if isinstance(value, RemoteSpeaker) or (isinstance(value, dict) and "base_url" in value):
        return "remote"
    return None


Speak = Annotated[
    Annotated[LocalSpeaker, Tag("local")] | Annotated[RemoteSpeaker, Tag("remote")],
    Discriminator(
        _speaker_kind,
        custom_error_type="speak",
        custom_error_message=Sentence(
            "allowed: `null`, or lines with `base_url`, `model` and `voice`, or with `command`"
        ),
    ),
]


class WithSpeech(MediaConfig):
    """`transcribe` null: recordings are not heard; `speak` null: answers are text only."""

    transcribe: Transcribe | None = None
    speak: Speak | None = None

    texts: ClassVar[Mapping[str, str]] = _TEXTS
