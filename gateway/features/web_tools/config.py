"""The keys `tools.web` and `tools.web_search` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator

from channels.settings import Secret, Section, Url
from gateway.config.capabilities import ToolsConfig

_TEXTS = {
    "tools.web": "Whether it may read public pages of the web, and search it where `tools.web_search` says how.",
    "tools.web_search.kind": "Where it searches: `searxng`, a server of your own; `brave`; or `anthropic`, where the "
    "model's server is Anthropic's, which charges for each search.",
    "tools.web_search.base_url": "The SearXNG server; its settings must allow the format `json`.",
    "tools.web_search.api_key": "The key of Brave's search.",
}


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


class WithWeb(ToolsConfig):
    web: bool = True
    web_search: WebSearchConfig | None = None

    texts: ClassVar[Mapping[str, str]] = _TEXTS

    @property
    def reads_the_web(self) -> bool:
        return self.web or super().reads_the_web
