"""Deletes data that is kept for a limited time: at the start, and daily."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
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


@dataclass(slots=True)
class Housekeeping:
    """Deletes old data. `transcripts`: the folder of all sessions, which name the files that are still needed;
    `prunes`: as in `FeatureParts`."""

    database: Database
    clock: Clock
    outgoing: OutboundFiles
    intake: AttachmentIntake
    transcripts: Path
    sleep: Sleep = asyncio.sleep
    prunes: Sequence[Callable[[Connection], None]] = ()

    async def run(self) -> None:
        """Runs until cancelled. If the disk refuses, it tries again the next day."""
        while True:
            try:
                await self._clean()
            except StorageUnavailable as error:
                log.warning("old data could not be deleted, trying again tomorrow: %s", error)
            await self.sleep(_EVERY)

    async def _clean(self) -> None:
        for prune in (inbox_rows.prune, outbox_rows.prune, run_rows.prune, *self.prunes):
            await self.database.run(prune)
        await self.database.run(question_rows.prune, utc_stamp(self.clock.now()))
        wanted = await self.database.run(outbox_rows.open_files)
        await asyncio.to_thread(self.outgoing.prune, wanted)
        await self.intake.clean(self.transcripts)
