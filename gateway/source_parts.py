"""The connections of a channel that has several: each runs in one of the gateways that share a home."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from agent.formats.sqlite import StorageUnavailable
from channels.message import ChannelStatus, Receive, Source
from gateway.store.claims import Claims
from gateway.store.database import Database
from gateway.supervisor import SupervisedSource

log = logging.getLogger(__name__)

_LOOK = 1.0
"""Seconds between two looks at whose a part is."""


class SourceParts:
    """Runs parts of sources, each supervised by itself and listed in `sources` meanwhile."""

    def __init__(self, sources: list[SupervisedSource], database: Database, claims: Claims) -> None:
        self._sources = sources
        self._database = database
        self._claims = claims
        self._known: set[str] = set()

    async def run(self, part: Source, receive: Receive) -> None:
        """Runs the part while it is this gateway's, until cancelled; also where a restart cannot help: the status says
        so."""
        if not self._claims.is_shared:
            return await self._run(SupervisedSource(part), receive)
        self._known.add(part.name)
        try:
            while True:
                await self._until(part.name, is_ours=True)
                supervised = SupervisedSource(part)
                running = asyncio.create_task(self._run(supervised, receive))
                try:
                    await self._until(part.name, is_ours=False, supervised=supervised)
                finally:
                    running.cancel()
                    await asyncio.wait([running])
                log.info("%s goes to another gateway", part.name)
        finally:
            self._known.discard(part.name)
            with suppress(StorageUnavailable):  # whoever cannot write has no claims
                await self._database.run(self._claims.release_part, part.name)

    @asynccontextmanager
    async def slot(self, key: str, seconds: float) -> AsyncIterator[None]:
        """Waits until no other gateway is inside with this key, nor was within `seconds`."""
        try:
            while True:
                try:
                    if not (wait := await self._database.run(self._claims.take_slot, key, seconds)):
                        break
                except StorageUnavailable as error:
                    log.error("whether another gateway connects is not known: %s", error)
                    wait = _LOOK
                await asyncio.sleep(wait)
            yield
        finally:  # also where it was cancelled while it asked: the database may have given the slot
            with suppress(StorageUnavailable):  # it is free after a while
                await self._database.run(self._claims.leave_slot, key, seconds)

    async def _run(self, supervised: SupervisedSource, receive: Receive) -> None:
        self._sources.append(supervised)
        try:
            await supervised.run(receive)
            await asyncio.Event().wait()
        finally:
            self._sources.remove(supervised)

    async def _until(self, name: str, *, is_ours: bool, supervised: SupervisedSource | None = None) -> None:
        """Waits until the part is this gateway's, or is not; tells the other gateways its state meanwhile."""
        told: ChannelStatus | None = None
        while True:
            try:
                if await self._database.run(self._claims.claim_part, name, len(self._known)) is is_ours:
                    return
                if supervised is not None and (status := supervised.status) != told:
                    await self._database.run(self._claims.tell_part, name, str(status.state), status.last_error)
                    told = status
            except StorageUnavailable as error:
                log.error("whether %s runs here is not known: %s", name, error)
            await asyncio.sleep(_LOOK)
