"""Checks whether programs have a sandbox."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.config import Config
from gateway.home import Home
from gateway.programs.sandbox import NO_SANDBOX, find_sandbox, missed_sandbox
from gateway.setup.probe import Finding

_CHECK = "programs"


def programs(home: Home, config: Config) -> Iterator[Finding]:
    """Nothing where no agent runs programs."""
    if not any(agent.tools.exec for agent in config.agents.values()):
        return
    sandbox = find_sandbox(home, config)
    if sandbox.is_tight:
        yield Finding(_CHECK, True, "programs run in a sandbox (bubblewrap)")
    elif why_off := missed_sandbox(home, sandbox):
        yield Finding(_CHECK, False, why_off)
    else:
        yield Finding(_CHECK, True, f"warning: tools.exec is on. {NO_SANDBOX[sandbox.is_root]}")
