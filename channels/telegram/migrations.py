"""Groups that became supergroups, each with another id from then on. Telegram tells it in an update, or only when
something is sent to the old id; whoever receives messages is told of every move, once they can be."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from channels.message import Event, Migrated, Receive
from channels.telegram.errors import redacted

log = logging.getLogger(__name__)


class ChatMigrations:
    """`ids`: the new id of each chat that has moved, by its old one."""

    def __init__(self) -> None:
        self.ids: dict[int, int] = {}
        self._untold: list[Migrated] = []
        self._receive: Receive | None = None

    @contextmanager
    def told_to(self, receive: Receive) -> Iterator[None]:
        """Moves that are learnt of inside are told at once."""
        self._receive = receive
        try:
            yield
        finally:
            self._receive = None

    async def offer(self, events: Sequence[Event], receive: Receive) -> None:
        """Hand events on, behind the moves that were not told. Raises what `receive` raises; nothing is then told."""
        untold = list(self._untold)
        offered = [*untold, *events]
        if offered:
            await receive(offered)
        self._are_told(untold)
        for event in offered:
            if isinstance(event, Migrated):
                self._note(event)

    async def learn(self, move: Migrated) -> None:
        """Of a move, by a refused send. It is told now or, where nobody takes it now, with what is offered next."""
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
        """The next updates may have told of a move, too, while it was being told."""
        self._untold = [one for one in self._untold if one not in told]
