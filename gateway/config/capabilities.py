"""What all sections of `config.yaml` have in common, and the sections that features add keys to: tools and media."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import PositiveInt

from channels.settings import Secret, Section, Url


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
