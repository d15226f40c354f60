"""Builds the tools that reach beyond the conversation, and what they need. Only what is on is imported."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from agent.clock import Clock
from agent.formats.addresses import AddressRules
from agent.formats.secrets import KnownSecrets
from agent.media.painter import Painter
from agent.media.reader import Reader
from agent.media.store import Store
from agent.model.base import Model
from agent.web.page import Page, PageSource, WebSearch
from channels.message import Channel
from gateway.config import AgentConfig, Config
from gateway.config.capabilities import (
    BraveConfig,
    MediaConfig,
    SearXngConfig,
    ServerSearchConfig,
)
from gateway.messages.outbound_files import OutboundFiles
from gateway.messages.outbox import Outbox
from gateway.policy.sessions import SessionPolicy
from gateway.store.database import Database
from gateway.store.usage import UsageLedger
from gateway.tools.pictures import PictureTools
from gateway.tools.web import WebTools

log = logging.getLogger(__name__)

_PAGE_CHARS = 400_000
"""Of a page of the web, which is shown in parts."""


def build_web_tools(
    config: Config, sessions: SessionPolicy, models: Mapping[str, Model], rules: AddressRules, secrets: KnownSecrets
) -> WebTools:
    """`models`: of each agent."""

    @cache
    def pages() -> PageSource:
        from agent.web.fetch import Fetcher  # noqa: PLC0415 (only where a page is opened)

        return _WithoutSecrets(Fetcher(Reader(_PAGE_CHARS, config.media.max_pages), rules), secrets)

    on = {name: agent for name, agent in config.agents.items() if agent.tools.web}
    searches = {name: _web_search(agent, models[name]) for name, agent in on.items()}
    return WebTools(sessions, pages, searches, rules)


@dataclass(frozen=True, slots=True)
class _WithoutSecrets:
    """Pages that are whole when secrets are struck out: they are shown in parts."""

    source: PageSource
    secrets: KnownSecrets

    async def page(self, given: str) -> Page:
        page = await self.source.page(given)
        text = await asyncio.to_thread(self.secrets, page.text)
        return replace(page, text=text, links=tuple(map(self.secrets, page.links)))


def _web_search(agent: AgentConfig, model: Model) -> WebSearch | None:
    if agent.tools.web_search is None:
        return None
    from agent.web.search import Brave, ModelSearch, SearXng  # noqa: PLC0415 (only where there is a search)

    match agent.tools.web_search:
        case SearXngConfig() as searxng:
            return SearXng(searxng.base_url)
        case BraveConfig() as brave:
            return Brave(brave.api_key.get_secret_value(), brave.base_url)
        case ServerSearchConfig() if agent.model.provider == "anthropic":
            return ModelSearch(model, agent.model.name)
        case _:
            return None


def build_picture_tools(
    config: MediaConfig,
    state: Path,
    database: Database,
    clock: Clock,
    sessions: SessionPolicy,
    outbox: Outbox,
    outgoing: OutboundFiles,
    channels: Mapping[str, Channel],
    ledger: UsageLedger,
) -> PictureTools:
    reader = Reader(config.max_chars, config.max_pages)
    painter = build_painter(config)
    return PictureTools(painter, reader, Store(state), database, clock, sessions, outbox, outgoing, channels, ledger)


def build_painter(config: MediaConfig) -> Painter | None:
    if config.images is None:
        return None
    from agent.media.draw import ImageServer  # noqa: PLC0415 (only where pictures are made)

    key = config.images.api_key.get_secret_value() if config.images.api_key else ""
    return ImageServer(config.images.base_url, config.images.model, key)
