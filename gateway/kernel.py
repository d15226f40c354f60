"""What a gateway lends to features, and what they bring to it.

A feature is a folder of `gateway/features` that can be deleted together with its line there: nothing outside of it
imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pkgutil import resolve_name

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
class Parts:
    """What a feature brings to a gateway."""

    operations: Mapping[str, Operation] = field(default_factory=dict)
    """By the name under which other processes and the page call them."""
    jobs: Sequence[BuiltIn] = ()
    tools: Sequence[ToolSource] = ()


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command of `daybook`."""

    help: str
    """The first paragraph of its `--help`: a list of commands imports none of them."""
    command: str
    """`module:attribute`."""
    after: str = ""
    """The command that it follows in the list; empty: the last."""


@dataclass(frozen=True, slots=True)
class Feature:
    """The manifest of a feature. Functions are named as `module:attribute` and imported when they are needed."""

    commands: Mapping[str, CommandLine] = field(default_factory=dict)
    opening: str = ""
    """From the `Kernel` to an asynchronous context manager that gives the `Parts` while the gateway is open."""
    checks: str = ""
    """From the home and its configuration to the doctor's findings. May block for some seconds."""
    secrets: str = ""
    """From the home to what no model may see."""

    def open(self, kernel: Kernel) -> AbstractAsyncContextManager[Parts]:
        opened: Callable[[Kernel], AbstractAsyncContextManager[Parts]] = resolve_name(self.opening)
        return opened(kernel)
