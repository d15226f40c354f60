"""Opens the tools for the web with a gateway. Only what is used is imported."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import cache

from agent.formats.secrets import KnownSecrets
from agent.media.reader import Reader
from agent.model.base import Model
from gateway.config import ModelConfig
from gateway.features.web_tools.config import (
    BraveConfig,
    SearXngConfig,
    ServerSearchConfig,
    WebSearchConfig,
    WithWeb,
)
from gateway.features.web_tools.page import Page, PageSource, WebSearch
from gateway.features.web_tools.tools import WebTools
from gateway.kernel import FeatureParts, Kernel
from gateway.manifest import readers

_PAGE_CHARS = 400_000
"""Of a page of the web, which is shown in parts."""


async def opened(kernel: Kernel, _: AsyncExitStack) -> FeatureParts:
    config, rules = kernel.config, kernel.web_rules

    @cache
    def pages() -> PageSource:
        from gateway.features.web_tools.fetch import Fetcher  # noqa: PLC0415 (only where a page is opened)

        reader = Reader(_PAGE_CHARS, config.media.max_pages, readers=readers())
        return _WithoutSecrets(Fetcher(reader, rules), kernel.secrets)

    searches = {
        name: _web_search(tools.web_search, kernel.models[name], agent.model)
        for name, agent in config.agents.items()
        if (tools := WithWeb.of(agent.tools)).web
    }
    return FeatureParts(tools=[WebTools(kernel.sessions, pages, searches, rules)])


@dataclass(frozen=True, slots=True)
class _WithoutSecrets:
    """Pages that are whole when secrets are struck out: they are shown in parts."""

    source: PageSource
    secrets: KnownSecrets

    async def page(self, given: str) -> Page:
        page = await self.source.page(given)
        text = await asyncio.to_thread(self.secrets, page.text)
        return replace(page, text=text, links=tuple(map(self.secrets, page.links)))


def _web_search(wanted: WebSearchConfig | None, model: Model, config: ModelConfig) -> WebSearch | None:
    if wanted is None:
        return None
    from gateway.features.web_tools.search import Brave, ModelSearch, SearXng  # noqa: PLC0415 (only where there is a search)

    match wanted:
        case SearXngConfig() as searxng:
            return SearXng(searxng.base_url)
        case BraveConfig() as brave:
            return Brave(brave.api_key.get_secret_value(), brave.base_url)
        case ServerSearchConfig() if config.provider == "anthropic":
            return ModelSearch(model, config.name)
        case _:
            return None
