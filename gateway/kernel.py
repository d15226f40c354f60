"""What a gateway lends to features, and what they bring to it.

A feature is a folder of `gateway/features` that can be deleted together with its line there: nothing outside of it
imports it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Protocol

from agent.agent import Agent
from agent.clock import Clock
from agent.formats.addresses import AddressRules
from agent.formats.secrets import KnownSecrets
from agent.memory.scope import Scope
from agent.model.base import Model
from agent.tools.base import Tool
from channels.message import Channel, Source
from gateway.config import Config
from gateway.home import Home
from gateway.messages.inbox import Inbox
from gateway.messages.outbound_files import OutboundFiles
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access
from gateway.policy.sessions import SessionPolicy
from gateway.rpc.protocol import RpcHandler
from gateway.scheduling.builtins import BuiltIn
from gateway.scheduling.targets import OwnerReports
from gateway.store.claims import Claims
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.store.redaction_rows import Strike, TextColumn
from gateway.store.scope_work import ScopeWork
from gateway.store.usage import UsageLedger
from gateway.turns.attachments import Transcriber
from gateway.turns.services import Voice
from gateway.turns.tasks import Tasks


class ToolSource(Protocol):
    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tools of the turn that answers a message."""


@dataclass(frozen=True, slots=True)
class Kernel:
    home: Home
    config: Config
    clock: Clock
    database: Database
    agents: Mapping[str, Agent]
    """By name."""
    access: Access
    sessions: SessionPolicy
    inbox: Inbox
    outbox: Outbox
    outgoing: OutboundFiles
    channels: Mapping[str, Channel]
    models: Mapping[str, Model]
    """Of each agent."""
    ledger: UsageLedger
    web_rules: AddressRules
    claims: Claims
    scope_work: ScopeWork
    tasks: Tasks
    reports: OwnerReports
    secrets: KnownSecrets
    page: Callable[[], str]
    """The address of the page in the owner's browser; empty without one."""

    @property
    def default_agent(self) -> str:
        return self.config.default_agent


Undo = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Text of a scope that `/forget` has removed."""

    scope: Scope
    is_meant: Callable[[str], bool]
    """True for a session of the scope."""
    strike: Strike


@dataclass(frozen=True, slots=True)
class FeatureParts:
    """What a feature brings to a gateway."""

    operations: Mapping[str, RpcHandler] = field(default_factory=dict)
    """By the name under which other processes and the page call them."""
    jobs: Sequence[BuiltIn] = ()
    tools: Sequence[ToolSource] = ()
    sources: Sequence[Source] = ()
    texts: Sequence[TextColumn] = ()
    """Columns of the database where `/forget` strikes out text."""
    on_forgotten: Sequence[Callable[[Forgotten], Awaitable[Undo | None]]] = ()
    """Strike out text elsewhere; each returns what brings that back, None if nothing was struck out."""
    on_stop: Sequence[Callable[[str], int]] = ()
    """End what a session has running; each returns how much that was."""
    prunes: Sequence[Callable[[Connection], None]] = ()
    """Delete old rows, daily."""
    workers: Sequence[Callable[[], Coroutine[object, object, None]]] = ()
    """Run in every gateway, also where another one listens."""
    voice: Voice | None = None
    transcriber: Transcriber | None = None


def together(parts: Sequence[FeatureParts]) -> FeatureParts:
    """All that features bring, in their order."""
    return FeatureParts(
        {name: operation for part in parts for name, operation in part.operations.items()},
        [job for part in parts for job in part.jobs],
        [source for part in parts for source in part.tools],
        [source for part in parts for source in part.sources],
        [column for part in parts for column in part.texts],
        [handler for part in parts for handler in part.on_forgotten],
        [handler for part in parts for handler in part.on_stop],
        [prune for part in parts for prune in part.prunes],
        [worker for part in parts for worker in part.workers],
        next((part.voice for part in parts if part.voice is not None), None),
        next((part.transcriber for part in parts if part.transcriber is not None), None),
    )


Opening = Callable[[Kernel, AsyncExitStack], Awaitable[FeatureParts]]
"""Opens a feature with a gateway; what it puts on the stack is closed with that."""
