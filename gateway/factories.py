"""Builds objects from configuration sections. Only what is on is imported."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from agent.agent import Agent
from agent.clock import Clock
from agent.formats.imports import without_collector, without_package
from agent.formats.secrets import NO_SECRETS, KnownSecrets
from agent.model.base import Model
from agent.model.offline.model import NAME as OFFLINE
from agent.settings import (
    AgentSettings,
    FlushSettings,
    HybridSettings,
    MemorySettings,
    ModelSettings,
    RecallSettings,
    SearchSettings,
    SessionSettings,
)
from agent.workspace import create, template_folder
from channels.manifest import ChannelRules, LastSeen, Wiring
from channels.message import Channel, ChannelStatus, CommandInfo, Health
from channels.registry import MANIFESTS
from channels.terminal import TerminalChannel
from gateway.config import AgentConfig, Config, dotenv_names
from gateway.config.schema import SearchConfig
from gateway.embedder.build import Embedders, embedding_of
from gateway.home import Home, TokenBusy, WorkspaceUnusable, hold_token
from gateway.routines.daily_summary import SummaryRules
from gateway.routines.heartbeat import HeartbeatRules
from gateway.rpc.protocol import RpcHandler
from gateway.scheduling.policy import Quiet
from gateway.scheduling.service import ScheduleRules
from gateway.source_parts import SourceParts
from gateway.store import chat_rows
from gateway.store.claims import Claims
from gateway.store.database import Database
from gateway.supervisor import SupervisedSource
from gateway.web.host import GatewayWebHost, read_token, token_source
from gateway.web.record import StoredChatRecord


async def build_agent(
    name: str,
    config: AgentConfig,
    home: Home,
    model: Model,
    clock: Clock,
    embedders: Embedders,
    index: Path | None,
    secrets: KnownSecrets = NO_SECRETS,
) -> Agent:
    """Makes the workspace where there is none; the caller closes the agent. `index`: as `SearchSettings.folder`.
    Raises `WorkspaceUnusable`."""
    workspace = home.workspace(config.workspace)
    try:
        await asyncio.to_thread(create, workspace, template_folder())
    except OSError as error:
        raise WorkspaceUnusable(name, workspace, error) from error
    configured = await asyncio.to_thread(dotenv_names, home)
    settings = _settings(name, config, home, index)
    meaning = embedders.semantic_index(settings.memory.search.embedding)
    return Agent(
        settings, workspace, home.sessions, model, clock, configured=configured, meaning=meaning, secrets=secrets
    )


def _settings(name: str, config: AgentConfig, home: Home, index: Path | None) -> AgentSettings:
    model, session, memory = config.model, config.session, config.memory
    model_name = model.name if model.provider != "offline" else OFFLINE
    return AgentSettings(
        name=name,
        model=ModelSettings(model_name, model.max_tokens, model.context_window, model.effort, model.cache),
        session=SessionSettings(
            reserve_tokens=session.reserve_tokens,
            keep_recent_tokens=session.keep_recent_tokens,
            flush_soft_threshold_tokens=session.flush.soft_threshold_tokens,
            max_tool_rounds=session.max_tool_rounds,
            flush=FlushSettings(session.flush.enabled, session.flush.prompt, session.flush.system_prompt),
            idle_reset_minutes=session.idle_reset_minutes,
        ),
        memory=MemorySettings(
            daily_log_days=memory.daily_log_days,
            max_index_lines=memory.max_index_lines,
            max_index_bytes=memory.max_index_bytes,
            max_file_chars=memory.max_file_chars,
            max_daily_chars=memory.max_daily_chars,
            group_daily_logs=memory.group_daily_logs,
            search=_search(memory.search, home, index),
            recall=RecallSettings(
                memory.auto_recall.enabled, memory.auto_recall.max_results, memory.auto_recall.timeout_ms
            ),
        ),
        files_tools=config.tools.files,
    )


def _search(search: SearchConfig, home: Home, index: Path | None) -> SearchSettings:
    hybrid = HybridSettings(**search.hybrid.model_dump()) if search.ranking == "hybrid" else None
    extra = tuple(home.path / Path(path).expanduser() for path in search.extra_paths)
    embedding = embedding_of(search.embedding, home)
    return SearchSettings(search.max_chars, search.max_results, hybrid, extra, search.transcripts, embedding, index)


def schedule_rules(config: Config, interval: float) -> ScheduleRules:
    """`interval`: seconds between looks at the file and the clock."""
    quiet = config.schedule.quiet_hours
    return ScheduleRules(
        catch_up=timedelta(hours=config.schedule.catch_up_hours),
        quiet=Quiet(quiet.start, quiet.end, config.zone) if quiet is not None else None,
        interval=interval,
    )


def summary_rules(config: Config) -> SummaryRules:
    summary = config.schedule.daily_summary
    return SummaryRules(summary.enabled, summary.time, summary.to)


def heartbeat_rules(config: Config) -> HeartbeatRules:
    wanted = config.schedule.heartbeat
    return HeartbeatRules(wanted.every, wanted.daily_budget_usd, wanted.to) if wanted is not None else HeartbeatRules()


class StoredPositions:
    """A `PositionStore` in the database. Raises `StorageUnavailable`."""

    def __init__(self, database: Database, channel: str) -> None:
        self._database = database
        self._channel = channel

    async def load(self) -> Sequence[LastSeen]:
        rows = await self._database.run(chat_rows.load_seen, self._channel)
        return [LastSeen(*row) for row in rows]

    async def note(self, chats: Sequence[LastSeen]) -> None:
        rows = [(chat.chat_id, chat.server, chat.message_id) for chat in chats]
        await self._database.run(chat_rows.note_seen, self._channel, rows)

    async def forget(self, chat_id: str) -> None:
        await self._database.run(chat_rows.forget_seen, self._channel, chat_id)


def rules(config: Config) -> dict[str, ChannelRules]:
    return {name: channel.rules for name, channel in config.channels.platforms.items()}


def signs(config: Config) -> dict[str, str]:
    """The emoji that acknowledges a message, by channel."""
    return {name: channel.reaction for name, channel in config.channels.platforms.items() if channel.reaction}


def tokens(config: Config) -> dict[str, str]:
    """The token of each channel that is on: only one gateway of this user may poll with it."""
    return {name: channel.secret for name, channel in config.channels.platforms.items() if channel.is_on}


@contextmanager
def _lean_imports() -> Iterator[None]:
    """python-telegram-bot loads a command line of httpx where it finds pygments (6 MB, 40 ms), and what reads a
    person's passport where it finds cryptography (4 MB)."""
    with without_collector(), without_package("pygments"), without_package("cryptography"):
        yield


def build_channels(
    config: Config,
    menu: Sequence[CommandInfo],
    database: Database,
    *,
    home: Home,
    web_host: GatewayWebHost,
    web_record: StoredChatRecord,
    parts: SourceParts,
    is_shared: bool = False,
) -> list[Channel]:
    """`parts` runs the connections of a channel that has several; `is_shared`: other gateways do, too."""
    channels: list[Channel] = []
    with _lean_imports():
        for name, channel in config.channels.platforms.items():
            if channel.is_on:
                seen = StoredPositions(database, name)
                channels.append(channel.open(Wiring(menu, seen, parts.run, parts.slot, is_shared)))
        if (web := config.channels.web).enabled:
            from channels.web.channel import WebChannel  # noqa: PLC0415 (only where it is on)

            channels.append(
                WebChannel(
                    partial(read_token, web, home),
                    web_record,
                    web_host,
                    home.uploads,
                    host=web.host,
                    port=web.port,
                    public_url=web.public_url or "",
                    largest_upload=config.media.max_mb * 1_000_000,
                    commands=menu,
                )
            )
    return channels


log = logging.getLogger(__name__)

Platforms = Callable[[Config, Sequence[CommandInfo], Database], list[Channel]]
"""Makes the channels that are on, given the commands for their menus."""


@dataclass(frozen=True, slots=True)
class OpenChannels:
    terminal: TerminalChannel
    by_name: dict[str, Channel]
    sources: list[SupervisedSource]
    web_host: GatewayWebHost
    web_record: StoredChatRecord


def open_channels(
    stack: AsyncExitStack,
    home: Home,
    config: Config,
    database: Database,
    clock: Clock,
    menu: Sequence[CommandInfo],
    operations: Mapping[str, RpcHandler],
    platforms: Platforms | None,
    claims: Claims,
    *,
    is_alone: bool,
) -> OpenChannels:
    """`operations`: what the page may ask, complete once the gateway is built; `is_alone`: only the terminal is
    listened to."""
    terminal = TerminalChannel()
    sources: list[SupervisedSource] = []
    web = config.channels.web
    web_host = GatewayWebHost(
        web.host,
        token_source(web, home),
        operations,
        sources,
        database,
        clock,
        public_url=web.public_url or "",
        claims=claims,
    )
    web_record = StoredChatRecord(database)
    platforms = platforms or partial(
        build_channels,
        home=home,
        web_host=web_host,
        web_record=web_record,
        parts=SourceParts(sources, database, claims),
        is_shared=claims.is_shared,
    )
    others = [] if is_alone else platforms(config, menu, database)
    channels: dict[str, Channel] = {channel.name: channel for channel in (terminal, *others)}
    for channel in channels.values():
        stack.push_async_callback(channel.aclose)
    everywhere = {name for name, manifest in MANIFESTS.items() if manifest.is_everywhere}
    sources += [SupervisedSource(channel, is_everywhere=name in everywhere) for name, channel in channels.items()]
    # With a database server, whoever leads has the tokens, though a gateway that stands still holds the locks.
    held = tokens(config) if config.database_url is None else {}
    for source in sources:
        if token := held.get(source.source.name):
            try:
                stack.enter_context(hold_token(token, os.environ))
            except TokenBusy as error:  # another gateway uses it
                log.error("%s stays off: %s", source.source.name, error)
                source.failure = ChannelStatus(Health.DOWN, str(error))
    return OpenChannels(terminal, channels, sources, web_host, web_record)
