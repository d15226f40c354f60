"""Albums in groups. Telegram sends an album as messages of their own, and only one of them has the caption in which the
bot may be called; the others belong to it all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from channels.message import Event, InboundMessage

_REMEMBERED = 100
"""Albums whose remaining messages may still be on their way; they come within moments."""


class Albums:
    def __init__(self) -> None:
        self._called: dict[tuple[str, str, str], None] = {}

    def called_as_one(self, events: Sequence[Event]) -> list[Event]:
        """The events, each message of an album calling the bot where one of the album does, here or before."""
        for event in events:
            if isinstance(event, InboundMessage) and event.album and event.calls_bot:
                self._called[_key(event)] = None
        while len(self._called) > _REMEMBERED:
            del self._called[next(iter(self._called))]
        return [self._as_called(event) for event in events]

    def _as_called(self, event: Event) -> Event:
        if isinstance(event, InboundMessage) and event.album and _key(event) in self._called:
            return replace(event, calls_bot=True)
        return event


def _key(message: InboundMessage) -> tuple[str, str, str]:
    return message.address.chat_id, message.sender.id, message.album
