"""What a gateway lends to features, and what they bring to it.

A feature is a folder of `gateway/features` that can be deleted together with its line of `FEATURES`: nothing outside of
it imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name

from agent.agent import Agent
from agent.clock import Clock
from gateway.config import Config
from gateway.home import Home
from gateway.rpc.protocol import Operation
from gateway.scheduling.builtins import BuiltIn


@dataclass(frozen=True, slots=True)
class Kernel:
    home: Home
    config: Config
    clock: Clock
    agents: Mapping[str, Agent]
    """By name."""

    @property
    def default_agent(self) -> str:
        return self.config.default_agent


@dataclass(frozen=True, slots=True)
class Parts:
    """What a feature brings to a gateway."""

    operations: Mapping[str, Operation] = field(default_factory=dict)
    """By the name under which other processes and the page call them."""
    jobs: Sequence[BuiltIn] = ()


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
    """The manifest of a feature: imports nothing that only the feature needs."""

    commands: Mapping[str, CommandLine] = field(default_factory=dict)
    opening: str = ""
    """`module:function` that makes the `Parts` from the `Kernel`; imported when a gateway opens."""

    def open(self, kernel: Kernel) -> Parts:
        if not self.opening:
            return Parts()
        make: Callable[[Kernel], Parts] = resolve_name(self.opening)
        return make(kernel)
