"""What everything else of a gateway is built on: its database with what is held in memory, and its agents."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pkgutil import resolve_name

from agent.agent import Agent
from agent.clock import Clock
from agent.formats.secrets import KnownSecrets
from agent.formats.sqlite import StorageUnavailable
from agent.fs import guarded
from agent.languages.sentences import Sentence
from agent.model.base import Model, Warmable
from channels.ids import PersonId
from gateway.config import Config, ModelConfig, known_secrets
from gateway.config.edit import is_zone_chosen
from gateway.embedder.build import Embedders
from gateway.factories import build_agent, rules
from gateway.home import Home, HomeBusy, shown
from gateway.manifest import features
from gateway.messages.active_work import ActiveWork
from gateway.models import limited_for_others
from gateway.policy.access import LOCAL_CHANNELS, Access
from gateway.policy.preferences import HomeZone, Preferences
from gateway.policy.sessions import AgentHome, SessionPolicy
from gateway.server import Timeouts
from gateway.store import shares
from gateway.store.claims import SOLE, Claims, ProcessClaims
from gateway.store.connection import postgres_module
from gateway.store.database import Database, OnLost
from gateway.store.lease import Lease
from gateway.store.scope_work import ScopeWork
from gateway.store.usage import UsageLedger
from gateway.supervisor import BackgroundTasks
from gateway.web.host import read_token

log = logging.getLogger(__name__)

ModelOf = Callable[[ModelConfig, UsageLedger, Clock, str], tuple[Model, Warmable | None]]
"""As `build_model`."""


@dataclass(frozen=True, slots=True)
class Core:
    home: Home
    config: Config
    clock: Clock
    timeouts: Timeouts
    background: BackgroundTasks
    active_work: ActiveWork
    database: Database
    ledger: UsageLedger
    preferences: Preferences
    zone: HomeZone
    access: Access
    shared: SharedHome | None
    scope_work: ScopeWork
    secrets: KnownSecrets

    @property
    def claims(self) -> Claims:
        return self.shared.claims if self.shared is not None else SOLE


@dataclass(frozen=True, slots=True)
class SharedHome:
    """A home that several gateways serve. `listening` calls what it gets with each notification of another; `hold`
    locks the home's files for the one that leads."""

    claims: ProcessClaims
    listening: Callable[[Callable[[str], None]], AbstractContextManager[None]]
    hold: Callable[[], None]


async def open_core(
    stack: AsyncExitStack,
    home: Home,
    config: Config,
    clock: Clock,
    timeouts: Timeouts,
    *,
    waits: bool,
    on_lost: OnLost,
) -> Core:
    """`waits`: until the shared database can be used, beside other gateways. Raises `HomeBusy`, `HomeError`,
    `StorageUnavailable`."""
    shared: SharedHome | None = None
    if (url := config.postgres_url) is None:
        database = await _open_sqlite(stack, home)
        active_work = ActiveWork(home.active_work)
    else:
        database, shared = await _join(stack, home, url, waits, on_lost)
        active_work = ActiveWork(home.active_work, shared.claims.number)
    await asyncio.to_thread(active_work.prepare)
    stack.callback(active_work.close)
    ledger = UsageLedger(database, clock)
    await ledger.load()
    preferences = Preferences(database)
    await preferences.load()
    is_chosen = await asyncio.to_thread(is_zone_chosen, home, config)
    zone = HomeZone(home, clock, preferences, os.environ, is_chosen=is_chosen)
    people = {name: frozenset(map(PersonId.parse, accounts)) for name, accounts in config.people.items()}
    access = Access(
        database, clock, rules(config), frozenset(map(PersonId.parse, config.owners)), people, preferences.activation
    )
    await access.load()
    return Core(
        home,
        config,
        clock,
        timeouts,
        BackgroundTasks(),
        active_work,
        database,
        ledger,
        preferences,
        zone,
        access,
        shared,
        ScopeWork(database, shared.claims if shared is not None else None),
        await asyncio.to_thread(_known_secrets, home, config),
    )


def _known_secrets(home: Home, config: Config) -> KnownSecrets:
    """Those of now: a restart knows what is changed meanwhile."""
    others: list[str] = []
    if config.channels.web.enabled:
        with contextlib.suppress(OSError, ValueError):
            others.append(read_token(config.channels.web, home))
    for name in filter(None, (feature.secrets for feature in features())):
        kept: Callable[[Home], Iterable[str]] = resolve_name(name)
        others += kept(home)
    return known_secrets(config, _text(home.env_file), others)


def _text(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_text("utf-8", "replace")
    return ""


async def _open_sqlite(stack: AsyncExitStack, home: Home) -> Database:
    stack.enter_context(home.hold())
    if home.claim.exists():
        raise StorageUnavailable(
            Sentence(
                "The messages of this home are in PostgreSQL. Set `database_url`, or move them back with "
                "`daybook migrate sqlite`."
            )
        )
    database = await Database.open(home.database)
    stack.push_async_callback(database.aclose)
    return database


async def _join(
    stack: AsyncExitStack, home: Home, url: str, waits: bool, on_lost: OnLost
) -> tuple[Database, SharedHome]:
    home.create()
    membership = postgres_module("membership")
    engine, claims = await membership.joined(home, url, LOCAL_CHANNELS, waits=waits)
    database = Database(engine, on_lost=on_lost)
    stack.push_async_callback(database.aclose)
    lease = Lease(database, on_lost)
    stack.push_async_callback(asyncio.to_thread, lease.end)
    stack.push_async_callback(_leave, database, claims.number)
    stack.enter_context(guarded(lease.check_write))
    stack.enter_context(_checked_when_continued(lease.check))

    def hold() -> None:
        with contextlib.suppress(HomeBusy):  # of a gateway that stands still, and whom the database refuses
            stack.enter_context(home.hold())

    return database, SharedHome(claims, partial(membership.listening, engine, url), hold)


async def _leave(database: Database, process: int) -> None:
    try:
        await database.run(shares.leave, process)
    except StorageUnavailable as error:
        log.error("the other gateways are not told that this one ends: %s", error)


@contextlib.contextmanager
def _checked_when_continued(check: Callable[[], None]) -> Iterator[None]:
    """Calls `check` before anything else of the main thread when the process goes on after a stop."""
    if not hasattr(signal, "SIGCONT") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGCONT, lambda *_: check())
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, before)


@dataclass(frozen=True, slots=True)
class OpenAgents:
    """`warm`: the models that can be warmed up."""

    by_name: dict[str, Agent]
    models: dict[str, Model]
    warm: list[Warmable]
    sessions: SessionPolicy
    embedders: Embedders


async def open_agents(stack: AsyncExitStack, core: Core, model_of: ModelOf) -> OpenAgents:
    home, config, clock = core.home, core.config, core.clock
    agents: dict[str, Agent] = {}
    models: dict[str, Model] = {}
    warm: list[Warmable] = []
    embedders = Embedders()
    stack.callback(embedders.close)
    index = home.index(is_shared=True) if config.is_shared else None
    for folder in (index.parent, index) if index is not None else ():
        await asyncio.to_thread(folder.mkdir, 0o700, exist_ok=True)
    for name, agent in config.agents.items():
        model, anthropic = model_of(agent.model, core.ledger, clock, shown(home.env_file))
        models[name] = model = limited_for_others(model, config.limits, core.ledger, clock, shown(home.env_file))
        stack.push_async_callback(model.aclose)
        warm += [anthropic] if anthropic else []
        agents[name] = await build_agent(name, agent, home, model, clock, embedders, index, core.secrets)
        stack.callback(agents[name].close)
    homes = {
        name: AgentHome(home.workspace(agent.workspace), agent.memory.group_daily_logs)
        for name, agent in config.agents.items()
    }
    sessions = SessionPolicy(core.access, homes, config.default_agent, config.routes)
    return OpenAgents(agents, models, warm, sessions, embedders)
