"""The keys of `config.yaml` for what the assistant can do beyond talking: tools, recordings, pictures."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PositiveFloat,
    PositiveInt,
    Tag,
    field_validator,
    model_validator,
)

from agent.languages.sentences import Sentence
from gateway.config.values import (
    Argv,
    FileCommand,
    HeaderName,
    HeaderText,
    LeadingWords,
    McpName,
    Secret,
    SecretText,
    Url,
    VariableName,
)


class Section(BaseModel):
    """Unknown keys are forbidden here so that they are noticed; the loader turns them into warnings."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def null_means_default(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {key: inner for key, inner in value.items() if inner is not None or key not in cls.model_fields}


class SearXngConfig(Section):
    """A server of one's own; its settings allow the format `json`."""

    kind: Literal["searxng"]
    base_url: Url


class BraveConfig(Section):
    kind: Literal["brave"]
    api_key: Secret
    base_url: Url = "https://api.search.brave.com"


class ServerSearchConfig(Section):
    """Anthropic searches, at a price of its own; only with `model.provider: anthropic`."""

    kind: Literal["anthropic"]


WebSearchConfig = Annotated[SearXngConfig | BraveConfig | ServerSearchConfig, Discriminator("kind")]


class ModelServer(Section):
    base_url: Url | None = None
    api_key: Secret | None = None


class ModelServers(Section):
    """Where fallbacks of the other provider are asked."""

    anthropic: ModelServer = ModelServer()
    openai: ModelServer = ModelServer()


McpScope = Literal["owner", "people", "groups"]


class McpServerConfig(Section):
    """A server of tools (Model Context Protocol). `tools` empty: all that it has."""

    tools: tuple[str, ...] = ()
    scopes: tuple[McpScope, ...] = ("owner",)
    timeout_s: PositiveFloat = 60
    ask: Literal["all", "writes", "none"] = "writes"


class LocalMcpServer(McpServerConfig):
    """A program that speaks MCP on its stdin and stdout."""

    command: Argv
    env: dict[VariableName, SecretText] = Field(default={})

    @field_validator("command")
    @classmethod
    def is_a_command(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not value[0] or any("\0" in word for word in value):
            raise ValueError(Sentence("allowed: a command as a list of words: [uvx, mcp-server-time]"))
        return value


class RemoteMcpServer(McpServerConfig):
    """A server that speaks MCP over HTTP (streamable)."""

    url: Url
    headers: dict[HeaderName, HeaderText] = Field(default={})


def _mcp_kind(value: object) -> str | None:
    if isinstance(value, LocalMcpServer) or (isinstance(value, dict) and "command" in value):
        return "local"
    if isinstance(value, RemoteMcpServer) or (isinstance(value, dict) and "url" in value):
        return "remote"
    return None


McpServer = Annotated[
    Annotated[LocalMcpServer, Tag("local")] | Annotated[RemoteMcpServer, Tag("remote")],
    Discriminator(
        _mcp_kind,
        custom_error_type="mcp",
        custom_error_message=Sentence("allowed: lines with `command` (a program), or with `url` (a server)"),
    ),
]


class ToolsConfig(Section):
    files: bool = True
    web: bool = True
    web_search: WebSearchConfig | None = None
    exec: bool = False
    exec_allow: tuple[LeadingWords, ...] = ()
    mcp: dict[McpName, McpServer] = Field(default={})


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


class ImagesConfig(Section):
    """A server that speaks OpenAI's `POST /images/generations`; `base_url` up to and with `/v1`."""

    base_url: Url
    model: Annotated[str, Field(min_length=1)]
    api_key: Secret | None = None


class MediaConfig(Section):
    """Files over `max_mb` are not fetched; `transcribe` null: recordings are not heard; `speak` null: answers are text
    only; `images` null: no pictures are made."""

    max_mb: PositiveInt = 20
    max_pages: PositiveInt = 200
    max_chars: PositiveInt = 100_000
    transcribe: Transcribe | None = None
    speak: Speak | None = None
    images: ImagesConfig | None = None
