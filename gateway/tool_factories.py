"""Builds the tools that reach beyond the conversation, and what they need. Only what is on is imported."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from agent.agent import Agent
from agent.clock import Clock
from agent.formats.addresses import AddressRules
from agent.formats.secrets import NO_SECRETS, KnownSecrets
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
from gateway.features.mcp.catalog import McpCatalog
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.login_flow import McpLogins
from gateway.features.mcp.login_requests import LoginRequests
from gateway.features.mcp.operations import McpOperations
from gateway.features.mcp.servers import McpServers
from gateway.features.mcp.tools import McpTools
from gateway.home import Home
from gateway.messages.outbound_files import OutboundFiles
from gateway.messages.outbox import Outbox
from gateway.policy.sessions import SessionPolicy
from gateway.programs.allowed import AllowedPrograms
from gateway.programs.background import ProgramRuns
from gateway.programs.runner import ProgramRunner
from gateway.programs.sandbox import NO_SANDBOX, Sandbox, find_sandbox, missed_sandbox
from gateway.programs.workspace import Workspaces, Written, remove_left_names
from gateway.scheduling.targets import OwnerReports
from gateway.store.database import Database
from gateway.store.usage import UsageLedger
from gateway.tools.pictures import PictureTools
from gateway.tools.programs import ExecRules, ProgramTools
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

    on = {name: one for name, one in config.agents.items() if one.tools.web}
    searches = {name: _web_search(one, models[name]) for name, one in on.items()}
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


async def build_programs(
    home: Home,
    config: Config,
    database: Database,
    clock: Clock,
    outbox: Outbox,
    sessions: SessionPolicy,
    agents: Mapping[str, Agent],
    secrets: KnownSecrets,
) -> ProgramTools:
    """Where no agent runs programs, nothing is looked for."""
    rules = {name: ExecRules(one.tools.exec_allow) for name, one in config.agents.items() if one.tools.exec}
    sandbox = await asyncio.to_thread(find_sandbox, home, config) if rules else Sandbox()
    why_off = await asyncio.to_thread(missed_sandbox, home, sandbox) if rules else ""
    if rules and (why_off or not sandbox.is_tight):
        log.warning("%s", why_off or f"tools.exec is on. {NO_SANDBOX[sandbox.is_root]}")
    await asyncio.to_thread(shutil.rmtree, home.programs, ignore_errors=True)  # left by a killed process
    for one in agents.values() if not config.is_shared else ():
        await asyncio.to_thread(remove_left_names, one.workspace)
    workspaces = Workspaces([Written(one.workspace, one.history, one.consents) for one in agents.values()])
    runner = ProgramRunner(sandbox, workspaces, home.programs)
    runs = ProgramRuns(database, clock, outbox, sessions, runner, secrets)
    return ProgramTools(runs, AllowedPrograms(database, clock, runner), sessions, rules, why_off)


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


@dataclass(frozen=True, slots=True)
class OpenMcp:
    servers: McpServers
    catalog: McpCatalog


async def open_mcp(
    stack: AsyncExitStack, home: Home, config: Config, clock: Clock, secrets: KnownSecrets = NO_SECRETS
) -> OpenMcp:
    """The configured MCP servers, which end with `stack`."""
    agents = {name: agent.tools.mcp for name, agent in config.agents.items()}
    kept = await asyncio.to_thread(KeptMcp, home.mcp)
    servers = McpServers(kept, secrets=secrets)
    catalog = await asyncio.to_thread(McpCatalog, servers, agents)
    if any(agents.values()):
        await stack.enter_async_context(servers)
        await asyncio.to_thread(kept.forget_old_calls, clock.now().timestamp())
        servers.learn()
    return OpenMcp(servers, catalog)


def build_mcp_tools(
    opened: OpenMcp,
    home: Home,
    config: Config,
    database: Database,
    clock: Clock,
    sessions: SessionPolicy,
    outbox: Outbox,
    reports: OwnerReports,
    page: Callable[[], str],
) -> tuple[McpTools, McpOperations]:
    """`page`: as in `McpLogins`."""
    logins = McpLogins(opened.servers, page)
    requests = LoginRequests(logins, database, clock, outbox, reports, opened.servers.run)
    reader = Reader(config.media.max_chars, config.media.max_pages)
    tools = McpTools(opened.catalog, opened.servers.kept, sessions, clock, reader, Store(home.state), requests)
    return tools, McpOperations(opened.catalog, logins, config.default_agent)
