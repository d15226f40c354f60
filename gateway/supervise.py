"""A source that dies is reported and started again; the others live (invariant 13)."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from channels.message import ChannelStatus, Health, Receive, Source, SourceFailed

log = logging.getLogger(__name__)

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
_GOOD_RUN = 300.0
"""Seconds: a source that ran for so long begins its waits anew when it fails."""

Sleep = Callable[[float], Awaitable[None]]


class Supervised:
    """A source and what has become of it. `failure` is set while it is down."""

    def __init__(self, source: Source, sleep: Sleep = asyncio.sleep) -> None:
        self.source = source
        self.failure: ChannelStatus | None = None
        self._sleep = sleep

    @property
    def status(self) -> ChannelStatus:
        """What is known of its failure, else what the source says of itself; one that says nothing of itself (the
        schedule) is up."""
        if self.failure is not None:
            return self.failure
        status: ChannelStatus = getattr(self.source, "status", ChannelStatus(Health.OK))
        return status

    async def run(self, receive: Receive) -> None:
        """Run the source until cancelled. A source that cannot be helped by starting it again stays down, for which
        this ends quietly: the house goes on without it."""
        loop = asyncio.get_running_loop()
        wait = _FIRST_WAIT
        while True:
            began = loop.time()
            try:
                await self.source.run(receive)
                reason = "it ended by itself"
            except SourceFailed as error:
                reason = str(error)
                if error.fatal:
                    log.error("%s is off: %s", self.source.name, reason)
                    self.failure = ChannelStatus(Health.DOWN, reason)
                    return
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                log.exception("%s failed", self.source.name)
            if loop.time() - began > _GOOD_RUN:
                wait = _FIRST_WAIT
            log.warning("%s starts again in %.0f s: %s", self.source.name, wait, reason)
            self.failure = ChannelStatus(Health.DOWN, reason)
            await self._sleep(wait * random.uniform(0.8, 1.2))
            wait = min(wait * 2, _LONGEST_WAIT)
            self.failure = None
