"""The keys of `config.yaml` for what the assistant can do beyond talking: tools, recordings, pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    PositiveInt,
    model_validator,
)

from gateway.config.values import (
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


class MediaConfig(Section):
    """Files over `max_mb` are not fetched."""

    max_mb: PositiveInt = 20
    max_pages: PositiveInt = 200
    max_chars: PositiveInt = 100_000
