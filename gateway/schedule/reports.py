"""Telling the owner what the schedule has to say for itself, and finding where jobs report to."""

from __future__ import annotations

import logging
from collections.abc import Collection

from gateway.access import Access
from gateway.outbox import Outbox
from gateway.schedule.job import OWNER
from gateway.schedule.targets import NoTarget, Targets
from gateway.store import chat_rows
from gateway.store.database import Database
from gateway.store.outbox_rows import Draft

log = logging.getLogger(__name__)


class Reports:
    """`channels`: the names of those that are on."""

    def __init__(self, database: Database, access: Access, outbox: Outbox, channels: Collection[str]) -> None:
        self._database = database
        self._access = access
        self._outbox = outbox
        self.channels = channels

    async def targets(self) -> Targets:
        """The chats as they are known now."""
        return Targets(self._access, self.channels, await self._database.run(chat_rows.known))

    async def to_owner(self, text: str, key: str) -> list[Draft]:
        """What is to be written down to tell the owner; nothing where they cannot be reached."""
        try:
            target = (await self.targets()).find(OWNER)
        except NoTarget as error:
            log.error("the owner cannot be told: %s", error)
            return []
        return self._outbox.drafts(f"{key}:{{}}", target.address, text)

    async def tell_owner(self, text: str, key: str) -> None:
        if drafts := await self.to_owner(text, key):
            await self._outbox.write(drafts)
