"""Which messages make a turn, and what ends one early. Serves the lanes of sessions, one turn at a time per session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from channels.message import OutboundMessage, SendError
from gateway.lanes import Lanes
from gateway.store.database import StoreUnavailable
from gateway.store.inbox_rows import InboxRow
from gateway.turn import Rooms, SessionLane, Turn

log = logging.getLogger(__name__)

PASTE_WINDOW = 1.0
"""Seconds to wait for the rest of a text that the person's client has cut."""
_DISK_WAIT = 15.0
"""Seconds between tries while the disk takes nothing."""
_DISK = (
    "My disk takes no more writing (it may be full), so I can't work on your message. It is kept, and I'll answer it "
    "as soon as there is room again."
)

Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class Running:
    """`wish`: why the turn is being cancelled from outside: stop, interrupt, suspend."""

    turn: Turn
    task: asyncio.Task[None]
    wish: str = ""

    def cancel(self, wish: str) -> None:
        if not self.wish and not self.turn.ended:
            self.wish = wish
            self.task.cancel()


@dataclass(frozen=True, slots=True)
class Stopped:
    """What `/stop` has ended: whether a turn ran, and how many messages waited behind it."""

    ran: bool
    waiting: int


class Turns:
    def __init__(self, rooms: Rooms, sleep: Sleep = asyncio.sleep) -> None:
        self._rooms = rooms
        self._sleep = sleep
        self._running: dict[str, Running] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._told_of_disk: set[str] = set()
        self.lanes: Lanes[str, int] = Lanes(self._serve)

    def post(self, row: InboxRow) -> None:
        """A message waits to be answered. In an `interrupt` session it ends the running turn."""
        self.lanes.post(row.session, row.seq)
        running = self._running.get(row.session)
        if running and self._mode(row) == "interrupt":
            running.cancel("interrupt")

    def is_running(self, session: str) -> bool:
        return session in self._running

    async def stop(self, session: str) -> Stopped:
        """End the running turn and set aside what waits behind it."""
        lane = self.lanes.get(session)
        waiting = [self._rooms.inbox.row(seq) for seq in lane.take_where(lambda _: True)] if lane else []
        running = self._running.get(session)
        if running:
            running.cancel("stop")
        if waiting:
            await self._rooms.inbox.finish(waiting, "stopped")
        return Stopped(running is not None, len(waiting))

    @asynccontextmanager
    async def alone(self, session: str) -> AsyncIterator[None]:
        """No turn of the session runs inside; one that runs is waited for."""
        lock = self._locks.setdefault(session, asyncio.Lock())
        async with lock:
            yield
        if not lock.locked():
            self._locks.pop(session, None)

    def suspend(self) -> None:
        """The process ends: stop turns where they are. They are journaled, and go on at the next start."""
        for running in self._running.values():
            running.cancel("suspend")

    def _mode(self, row: InboxRow) -> str:
        return self._rooms.queues[self._rooms.conversation(row).session.agent].mode

    async def _serve(self, lane: SessionLane) -> None:
        rows = await self._gather(lane)
        carried: list[InboxRow] = []
        while rows:
            turn = Turn(self._rooms, lane, rows, carried)
            try:
                async with self.alone(lane.key):
                    interrupted = await self._answer(lane, turn)
            except (StoreUnavailable, OSError) as error:
                rows, carried = turn.rows, []
                await self._wait_for_disk(rows[0], error)
                continue
            rows, carried = (await self._gather(lane), turn.rows) if interrupted else ([], [])

    async def _gather(self, lane: SessionLane) -> list[InboxRow]:
        """The next messages that one turn answers: the oldest, what an earlier process had bound to the same turn, the
        rest of a cut paste, and in a `collect` session what else waits in the same chat."""
        inbox = self._rooms.inbox
        first = inbox.row(lane.take())
        if first.turn:
            return [first, *self._take(lane, lambda row: row.turn == first.turn)]
        here, speaker = first.message.address, first.message.sender.id
        rows = [first]
        while rows[-1].message.continues and await lane.arrival(PASTE_WINDOW):
            rest = self._take(lane, lambda row: row.message.address == here and row.message.sender.id == speaker, 1)
            if not rest:
                break
            rows += rest
        if self._mode(first) == "collect":
            cap = self._rooms.queues[self._rooms.conversation(first).session.agent].cap
            rows += self._take(lane, lambda row: row.message.address == here, cap - len(rows))
        return [inbox.row(row.seq) for row in rows]

    def _take(self, lane: SessionLane, wanted: Callable[[InboxRow], bool], most: int | None = None) -> list[InboxRow]:
        inbox = self._rooms.inbox
        return [inbox.row(seq) for seq in lane.take_where(lambda seq: wanted(inbox.row(seq)), most)]

    async def _answer(self, lane: SessionLane, turn: Turn) -> bool:
        """Run one turn. True: a message in the lane has interrupted it, and the next turn is to answer for both."""
        task = asyncio.create_task(turn.run(), name=f"turn {turn.id}")
        running = self._running[lane.key] = Running(turn, task)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            await asyncio.wait({task})
            del self._running[lane.key]
        for seq in turn.left_over():
            lane.post(seq)
        if not task.cancelled():
            task.result()
            self._told_of_disk.discard(lane.key)
            return False
        if running.wish in ("stop", "interrupt"):
            await turn.stopped()
        if running.wish == "stop":
            await turn.end_stopped()
        return running.wish == "interrupt"

    async def _wait_for_disk(self, row: InboxRow, error: Exception) -> None:
        """The message stays in the inbox. Its sender hears so once, straight away, for nothing can be written down."""
        log.error("session %s waits for the disk: %s", row.session, error)
        channel = self._rooms.channels.get(row.message.address.channel)
        if row.session not in self._told_of_disk and channel is not None:
            self._told_of_disk.add(row.session)
            try:
                await channel.send(OutboundMessage(row.message.address, _DISK, key=f"disk:{row.seq}:error"))
            except SendError as unsent:
                log.error("and its sender could not be told: %s", unsent)
        await self._sleep(_DISK_WAIT)
