"""What a gateway lends to features, and what they bring to it.

A feature is a folder of `gateway/features` that can be deleted together with its line there: nothing outside of it
imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from agent.agent import Agent
from agent.clock import Clock
from agent.formats.secrets import KnownSecrets
from gateway.config import Config
from gateway.home import Home
from gateway.messages.outbox import Outbox
from gateway.policy.sessions import SessionPolicy
from gateway.rpc.protocol import Operation
from gateway.scheduling.builtins import BuiltIn
from gateway.scheduling.targets import OwnerReports
from gateway.store.database import Database
from gateway.tools import ToolSource


@dataclass(frozen=True, slots=True)
class Kernel:
    home: Home
    config: Config
    clock: Clock
    database: Database
    agents: Mapping[str, Agent]
    """By name."""
    sessions: SessionPolicy
    outbox: Outbox
    reports: OwnerReports
    secrets: KnownSecrets
    page: Callable[[], str]
    """The address of the page in the owner's browser; empty without one."""

    @property
    def default_agent(self) -> str:
        return self.config.default_agent


@dataclass(frozen=True, slots=True)
class FeatureParts:
    """What a feature brings to a gateway."""

    operations: Mapping[str, Operation] = field(default_factory=dict)
    """By the name under which other processes and the page call them."""
    jobs: Sequence[BuiltIn] = ()
    tools: Sequence[ToolSource] = ()


Opening = Callable[[Kernel], AbstractAsyncContextManager[FeatureParts]]
"""Opens a feature with a gateway."""
