"""Checks whether programs have a sandbox."""

from __future__ import annotations

from collections.abc import Iterator

from gateway.config import Config
from gateway.home import Home
from gateway.programs.sandbox import find_sandbox
from gateway.setup.probe import Finding

_CHECK = "programs"


def programs(home: Home, config: Config) -> Iterator[Finding]:
    """Nothing where no agent runs programs."""
    if not any(agent.tools.exec for agent in config.agents.values()):
        return
    if find_sandbox(home).bwrap:
        yield Finding(_CHECK, True, "programs run in a sandbox (bubblewrap)")
        return
    yield Finding(
        _CHECK,
        True,
        "warning: tools.exec is on, and there is no sandbox here, so that programs can read and change all that "
        "Daybook can; install bubblewrap, or turn tools.exec off",
    )
