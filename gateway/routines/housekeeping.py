"""Deletes data that is kept for a limited time: at the start, and daily."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from agent.clock import Clock, utc_stamp
from agent.formats.sqlite import StorageUnavailable
from gateway.messages.outbound_files import OutboundFiles
from gateway.store import inbox_rows, outbox_rows, question_rows, run_rows
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.turns.attachments import AttachmentIntake

log = logging.getLogger(__name__)

_EVERY = 86_400.0
"""Seconds."""

Sleep = Callable[[float], Awaitable[None]]


class Housekeeping:
    """Deletes old data. `transcripts`: the folder of all sessions, which name the files that are still needed;
    `prunes`: as in `FeatureParts`."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        outgoing: OutboundFiles,
        intake: AttachmentIntake,
        transcripts: Path,
        sleep: Sleep = asyncio.sleep,
        prunes: Sequence[Callable[[Connection], None]] = (),
    ) -> None:
        self._database = database
        self._clock = clock
        self._outgoing = outgoing
        self._intake = intake
        self._transcripts = transcripts
        self._prunes = prunes
        self._sleep = sleep

    async def run(self) -> None:
        """Runs until cancelled. If the disk refuses, it tries again the next day."""
        while True:
            try:
                await self._clean()
            except StorageUnavailable as error:
                log.warning("old data could not be deleted, trying again tomorrow: %s", error)
            await self._sleep(_EVERY)

    async def _clean(self) -> None:
        for prune in (inbox_rows.prune, outbox_rows.prune, run_rows.prune, *self._prunes):
            await self._database.run(prune)
        await self._database.run(question_rows.prune, utc_stamp(self._clock.now()))
        wanted = await self._database.run(outbox_rows.open_files)
        await asyncio.to_thread(self._outgoing.prune, wanted)
        await self._intake.clean(self._transcripts)
