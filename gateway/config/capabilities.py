"""The keys of `config.yaml` for what the assistant can do beyond talking: tools, recordings, pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    Tag,
    model_validator,
)

from agent.languages.sentences import Sentence
from gateway.config.values import (
    FileCommand,
    Secret,
    Url,
)


class Section(BaseModel):
    """Unknown keys are forbidden here so that they are noticed; the loader turns them into warnings."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False, defer_build=True
    )

    texts: ClassVar[Mapping[str, str]] = {}
    """Sentences for the keys that a feature adds, for the reference."""

    @classmethod
    def of(cls, section: Section) -> Self:
        """The section with the keys that a feature adds to it. Raises `TypeError` where the feature is not there."""
        if not isinstance(section, cls):
            raise TypeError(f"{type(section).__name__} has no keys of {cls.__name__}")
        return section

    @model_validator(mode="before")
    @classmethod
    def null_means_default(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {key: inner for key, inner in value.items() if inner is not None or key not in cls.model_fields}


class ModelServer(Section):
    base_url: Url | None = None
    api_key: Secret | None = None


class ModelServers(Section):
    """Where fallbacks of the other provider are asked."""

    anthropic: ModelServer = ModelServer()
    openai: ModelServer = ModelServer()


class ToolsConfig(Section):
    files: bool = True

    @property
    def reads_the_web(self) -> bool:
        """True where a tool reads pages of others, for whoever asks."""
        return False

    @property
    def runs_files(self) -> bool:
        """True where a tool may start a file of the workspace."""
        return False

    def plain_values(self) -> Iterator[str]:
        """What is hidden as a secret may be, and is none."""
        yield from ()


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


class MediaConfig(Section):
    """Files over `max_mb` are not fetched; `transcribe` null: recordings are not heard; `speak` null: answers are text
    only; `images` null: no pictures are made."""

    max_mb: PositiveInt = 20
    max_pages: PositiveInt = 200
    max_chars: PositiveInt = 100_000
    transcribe: Transcribe | None = None
    speak: Speak | None = None
