"""The outbox: a reply is on disk before it is sent, its receipt after, in order per chat (invariant 3).

What happens to a send that fails depends on what is known. Certainly not sent: again, after the server's own delay.
Perhaps sent: once more, with a mark that says so, for no platform here can be asked. An edit of a known message may be
repeated at will. Never: recorded as failed, with the reason.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from typing import Concatenate, ParamSpec, TypeVar

from agent.clock import Clock, utc_stamp
from channels.message import Address, Channel, NotSent, OutboundMessage, OutcomeUnknown, Refused
from gateway.lanes import Lane, Lanes
from gateway.store import outbox_rows
from gateway.store.database import Database, StoreUnavailable
from gateway.store.outbox_rows import Draft, OutboxCounts, OutboxRow

log = logging.getLogger(__name__)

REPEAT_MARK = "↻ (may be a repeat) "
"""Stands before a text that was perhaps sent already (SPEC 10.1)."""
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 300.0
"""Seconds between tries where the server names no delay."""

Chat = tuple[str, str, str]
T = TypeVar("T")
P = ParamSpec("P")
Sleep = Callable[[float], Awaitable[None]]


def _chat(address: Address) -> Chat:
    return (address.channel, address.account, address.chat_id)


class Outbox:
    def __init__(
        self, database: Database, clock: Clock, channels: Mapping[str, Channel], sleep: Sleep = asyncio.sleep
    ) -> None:
        self._database = database
        self._clock = clock
        self._channels = channels
        self._sleep = sleep
        self._chats: Lanes[Chat, Address] = Lanes(self._serve)

    def drafts(
        self, key: str, address: Address, text: str, *, reply_to: str = "", edits: str = "", repeat: bool = False
    ) -> list[Draft]:
        """Cut a reply into messages of its platform, ready to be written down. `edits`: the preview that the first of
        them replaces. The first one answers `reply_to`."""
        channel = self._channels.get(address.channel)
        pieces = channel.split(text) if channel else [text]
        return [
            Draft(
                key=key.format(number),
                address=address,
                text=piece,
                reply_to="" if number else reply_to,
                edits="" if number else edits,
                repeat=repeat and not number,
            )
            for number, piece in enumerate(pieces)
        ]

    async def write(self, drafts: list[Draft]) -> None:
        """Write messages down that answer nothing in the inbox, and send them."""
        now = utc_stamp(self._clock.now())
        await self._database.run(outbox_rows.add, drafts, now)
        self.wake(drafts)

    def wake(self, drafts: list[Draft]) -> None:
        """Send what was written down."""
        for address in {_chat(draft.address): draft.address for draft in drafts}.values():
            self._chats.post(_chat(address), address)

    async def run(self) -> None:
        """Send until cancelled, beginning with what the last process left. What that was sending is of unknown
        outcome."""
        for row in await self._database.run(outbox_rows.open_rows):
            if row.sending and not row.edits:
                await self._database.run(outbox_rows.again, row.seq, "the process ended in the act", repeat=True)
            self._chats.post(_chat(row.address), row.address)
        await self._chats.run()

    async def drained(self) -> None:
        """Wait until nothing is being sent."""
        await self._chats.idle()

    def hold(self) -> None:
        self._chats.hold()

    async def counts(self) -> OutboxCounts:
        return await self._database.run(outbox_rows.counts)

    async def _serve(self, lane: Lane[Chat, Address]) -> None:
        address = lane.take()
        lane.take_where(lambda _: True)
        channel = self._channels.get(address.channel)
        if channel is None:
            log.warning("a reply for %s waits: that channel is off", address)
            return
        for row in await self._written(outbox_rows.open_rows, address):
            await self._deliver(row, channel)

    async def _deliver(self, row: OutboxRow, channel: Channel) -> None:
        edits, repeat, tries = row.edits, row.repeat, row.attempts
        while True:
            text = REPEAT_MARK + row.text if repeat and not edits else row.text
            message = OutboundMessage(row.address, text, key=row.key, reply_to=row.reply_to)
            tries += 1
            try:
                if edits:
                    await channel.edit(edits, message)
                    platform_id = edits
                else:
                    await self._written(outbox_rows.begin, row.seq)
                    platform_id = await channel.send(message)
            except NotSent as error:
                reason, wait = str(error), error.retry_after or self._backoff(tries)
                await self._written(outbox_rows.again, row.seq, reason)
                log.warning("a reply to %s is sent again in %.0f s: %s", row.address, wait, reason)
                await self._sleep(wait)
            except Refused as error:
                reason = str(error)
                if not edits:
                    log.error("a reply to %s cannot be delivered: %s", row.address, reason)
                    await self._written(outbox_rows.give_up, row.seq, reason)
                    return
                edits = ""
                await self._written(outbox_rows.again, row.seq, reason, anew=True)
            except OutcomeUnknown as error:
                reason = str(error)
                log.warning("it is not known whether a reply to %s arrived: %s", row.address, reason)
                if repeat and not edits:
                    await self._written(outbox_rows.give_up, row.seq, reason)
                    return
                repeat = repeat or not edits
                await self._written(outbox_rows.again, row.seq, reason, repeat=repeat)
                await self._sleep(self._backoff(tries))
            else:
                now = utc_stamp(self._clock.now())
                await self._written(outbox_rows.receipt, row.seq, platform_id, now)
                return

    async def _written(
        self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `Database.run`, but a disk that refuses only delays it."""
        tries = 0
        while True:
            try:
                return await self._database.run(work, *args, **kwargs)
            except StoreUnavailable as error:
                tries += 1
                log.error("the outbox waits for the disk: %s", error)
                await self._sleep(self._backoff(tries))

    @staticmethod
    def _backoff(tries: int) -> float:
        return float(min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(tries - 1, 10)) * random.uniform(0.8, 1.2))
