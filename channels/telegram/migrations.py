"""Groups that got a new id as supergroups: an update says so, or only a refused send."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from channels.message import Event, Migrated, Receive
from channels.telegram.errors import redacted

log = logging.getLogger(__name__)


class ChatMigrations:
    def __init__(self) -> None:
        self.ids: dict[int, int] = {}
        self._unreported: list[Migrated] = []
        self._receive: Receive | None = None

    @contextmanager
    def reporting_to(self, receive: Receive) -> Iterator[None]:
        self._receive = receive
        try:
            yield
        finally:
            self._receive = None

    async def offer(self, events: Sequence[Event], receive: Receive) -> None:
        """Passes on unreported migrations first. If `receive` raises, none counts as reported."""
        unreported = list(self._unreported)
        offered = [*unreported, *events]
        if offered:
            await receive(offered)
        self._mark_reported(unreported)
        for event in offered:
            if isinstance(event, Migrated):
                self._note(event)

    async def learn(self, migration: Migrated) -> None:
        """Reports a refused send's migration now, or with the next events."""
        self._note(migration)
        self._unreported.append(migration)
        if self._receive is None:
            return
        try:
            await self._receive([migration])
        except Exception as error:
            log.warning("the migration of %s is reported later: %s", migration.old, redacted(error))
        else:
            self._mark_reported([migration])

    def _note(self, migration: Migrated) -> None:
        self.ids[int(migration.old.chat_id)] = int(migration.new.chat_id)

    def _mark_reported(self, reported: Collection[Event]) -> None:
        self._unreported = [event for event in self._unreported if event not in reported]
