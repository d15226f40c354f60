"""A reaction on a message from when it is on disk until its end, where the configuration wants one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from channels.message import Channel, InboundMessage, Origin
from gateway.messages.lanes import KeyedLocks
from gateway.store.inbox_rows import InboxRow


class Acknowledgement:
    """`signs`: an emoji for each channel. Reactions are optional and never waited for; `spawn` owns their calls."""

    def __init__(
        self, channels: Mapping[str, Channel], signs: Mapping[str, str], spawn: Callable[[Awaitable[None], str], None]
    ) -> None:
        self._channels = channels
        self._signs = signs
        self._spawn = spawn
        self._under_way: KeyedLocks[str] = KeyedLocks()

    def kept(self, row: InboxRow) -> None:
        """Marks a message that waits for its turn."""
        self._put(row, self._signs.get(row.message.address.channel, ""))

    def ended(self, rows: Iterable[InboxRow]) -> None:
        """Removes the mark of messages that have their end."""
        for row in rows:
            if row.message.address.channel in self._signs and not row.overheard:
                self._put(row, "")

    def _put(self, row: InboxRow, sign: str) -> None:
        message = row.message
        channel = self._channels.get(message.address.channel)
        if message.address.channel in self._signs and channel and message.platform_id and message.origin is Origin.CHAT:
            self._spawn(self._in_order(channel, message, sign), f"sign in {message.address}")

    async def _in_order(self, channel: Channel, message: InboundMessage, sign: str) -> None:
        """Sets and removes reactions in order, so that a removal does not overtake its mark."""
        async with self._under_way.alone(message.id):
            await channel.react(message.address, message.platform_id, sign)
