"""Groups that became supergroups with a new id. Telegram announces it in an update, or only in the refusal of a send to
the old id; `receive` gets every migration."""

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
        self._untold: list[Migrated] = []
        self._receive: Receive | None = None

    @contextmanager
    def told_to(self, receive: Receive) -> Iterator[None]:
        self._receive = receive
        try:
            yield
        finally:
            self._receive = None

    async def offer(self, events: Sequence[Event], receive: Receive) -> None:
        """Passes on unreported migrations, then `events`. If `receive` raises, that is raised and nothing counts as
        reported."""
        untold = list(self._untold)
        offered = [*untold, *events]
        if offered:
            await receive(offered)
        self._are_told(untold)
        for event in offered:
            if isinstance(event, Migrated):
                self._note(event)

    async def learn(self, move: Migrated) -> None:
        """Records a migration found by a refused send and reports it now, or with the next events."""
        self._note(move)
        self._untold.append(move)
        if self._receive is None:
            return
        try:
            await self._receive([move])
        except Exception as error:
            log.warning("that %s has moved is told later: %s", move.old, redacted(error))
        else:
            self._are_told([move])

    def _note(self, move: Migrated) -> None:
        self.ids[int(move.old.chat_id)] = int(move.new.chat_id)

    def _are_told(self, told: Collection[Event]) -> None:
        self._untold = [one for one in self._untold if one not in told]
