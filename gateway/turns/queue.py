"""Decides which messages make a turn, and ends turns early. One turn at a time for each session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import said
from agent.languages.system_errors import again, cannot
from channels.message import OutboundMessage, SendError
from gateway.messages.inbox import STOPPED
from gateway.messages.lanes import KeyedLocks, Lanes
from gateway.messages.suspects import ShuttingDown, TrialGate, is_given_up, is_suspect
from gateway.store import chat_rows
from gateway.store.inbox_rows import InboxRow
from gateway.turns.services import QueueMode, SessionLane, TurnServices, language_now
from gateway.turns.turn import ANEW, Turn
from gateway.turns.user_message import user_message_id

log = logging.getLogger(__name__)

_STOP_WAIT = 5.0
"""Longest wait in seconds for the end of stopped work, before `/stop` is answered."""
LARGEST_ALBUM = 10
"""Messages; Telegram's and Discord's limit."""

T = TypeVar("T")
Wish = Literal["stop", "interrupt", "suspend"]


class WasStopped(Exception):
    pass


@dataclass(slots=True)
class RunningTurn:
    turn: Turn
    task: asyncio.Task[None]
    wish: Wish | None = None
    """Why the turn is being cancelled from outside, if it is."""
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once its end is on disk, or could not be written."""

    def cancel(self, wish: Wish) -> bool:
        """Cancels the turn; False if its end is being written. A stop outranks an interruption."""
        if self.turn.ended:
            return False
        if not self.wish:
            self.task.cancel()
        if not self.wish or wish == "stop":
            self.wish = wish
        return True


@dataclass(frozen=True, slots=True)
class StoppedTurn:
    """What `/stop` ended: whether work ran, how many messages waited, and how many tasks it had delegated."""

    ran: bool
    waiting: int
    tasks: int = 0


class TurnQueue:
    def __init__(
        self, services: TurnServices, disk_wait: float = 15.0, trial_age: float = 10.0, paste_wait: float = 1.0
    ) -> None:
        """Times in seconds. `disk_wait`: between tries while the disk fails; `trial_age` as in `TrialGate`;
        `paste_wait`: for the rest of a cut text or an album."""
        self._services = services
        self._disk_wait = disk_wait
        self._paste_wait = paste_wait
        self._running: dict[str, RunningTurn] = {}
        self._locks: KeyedLocks[str] = KeyedLocks()
        self._beside: dict[tuple[str, int], asyncio.Task[object]] = {}
        self._told_of_disk: set[str] = set()
        self._gate = TrialGate(trial_age)
        self.lanes: Lanes[str, int] = Lanes(self._serve)
        services.tasks.post = self.post

    def post(self, row: InboxRow) -> None:
        """Adds a message to its lane. In an `interrupt` session it ends the running turn of the same chat; one that
        replaces an earlier message stops it."""
        self.lanes.post(row.session, row.seq)
        running = self._running.get(row.session)
        is_result = row.message.task is not None
        if running is None or running.turn.is_trial or is_result or not _together(row, running.turn.rows[0]):
            return
        if row.message.replaces:
            running.cancel("stop")
        elif self._mode(row) == "interrupt":
            running.cancel("interrupt")

    def is_running(self, session: str) -> bool:
        return session in self._running

    def is_idle(self, session: str) -> bool:
        """True if a turn for a new message begins at once."""
        return not self.is_busy(session) and self.lanes.get(session) is None and self._gate.is_open

    def is_busy(self, session: str) -> bool:
        """True if `alone` would have to wait."""
        return session in self._locks

    def tasks_of(self, session: str) -> Sequence[InboxRow]:
        return self._services.tasks.of(session)

    async def stop(self, session: str, before: int) -> StoppedTurn:
        """Ends running work and removes what waits, if it came before number `before` of the inbox, and tasks that it
        asked for. Whoever is told so can rely on it after a crash, too: this returns once the end is on disk, or takes
        too long. Raises `StorageUnavailable`."""
        ran, seqs = self._halt(session, before)
        tasks = {
            row.session: self._halt(row.session, row.seq + 1) for row in self._services.tasks.stop(session, before)
        }
        ending = [running for of in (session, *tasks) if (running := self._running.get(of)) and running.wish == "stop"]
        await self._set_aside(session, seqs)
        for of, (_, waiting) in tasks.items():
            await self._set_aside(of, waiting)
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_WAIT):
                for running in ending:
                    await running.is_over.wait()
        return StoppedTurn(ran, len(seqs), sum(was_running or bool(waiting) for was_running, waiting in tasks.values()))

    @asynccontextmanager
    async def stopped(self, session: str, before: int) -> AsyncIterator[StoppedTurn]:
        """As `stop`, without tasks; inside, later messages wait."""
        ran, seqs = self._halt(session, before)
        async with self.alone(session):  # asked for before anything else is awaited, so before what was said since
            await self._set_aside(session, seqs)
            yield StoppedTurn(ran, len(seqs))

    async def unless_stopped(self, session: str, seq: int, work: Coroutine[object, object, T]) -> T:
        """Runs work that is no turn, for message `seq`. Raises `WasStopped`."""
        task = asyncio.create_task(work, name=f"work beside turns of {session}")
        self._beside[session, seq] = task
        try:
            await asyncio.wait({task})
        finally:
            del self._beside[session, seq]
            task.cancel()
            await asyncio.wait({task})
        if task.cancelled():
            raise WasStopped
        return task.result()

    def _halt(self, session: str, before: int) -> tuple[bool, list[int]]:
        lane = self.lanes.get(session)
        seqs = lane.take_where(lambda seq: seq < before) if lane is not None else []
        beside = [task for (of, seq), task in self._beside.items() if of == session and seq < before and task.cancel()]
        running = self._running.get(session)
        ran = running is not None and running.turn.rows[0].seq < before and running.cancel("stop")
        return ran or bool(beside), seqs

    async def _set_aside(self, session: str, seqs: Sequence[int]) -> None:
        try:
            await self._end_stopped([self._services.inbox.row(seq) for seq in seqs])
        except StorageUnavailable:
            self.lanes.put_back(session, seqs)
            raise

    async def _end_stopped(self, rows: Sequence[InboxRow]) -> None:
        if rows:
            await self._services.inbox.finish(rows, STOPPED)
            self._services.acknowledgement.ended(rows)

    def alone(self, session: str) -> AbstractAsyncContextManager[None]:
        """Inside, no turn of the session runs."""
        return self._locks.alone(session)

    def trial(self, row: InboxRow) -> AbstractAsyncContextManager[None]:
        """Inside, no turn runs at all: for a command in which the process died. Raises `ShuttingDown`."""
        return self._gate.trial([row])

    async def hold(self) -> None:
        """Begins nothing new and blames no work in hand: the process ends."""
        self.lanes.hold()
        self._gate.close()
        self._services.active_work.asked_to_end()
        try:
            await self._services.inbox.forgive()
        except StorageUnavailable as error:
            log.error("this stop counts as a failed attempt for the messages being answered: %s", error)

    def suspend(self) -> None:
        """Stops turns where they are; they continue at the next start."""
        for running in self._running.values():
            running.cancel("suspend")

    def _mode(self, row: InboxRow) -> QueueMode:
        return self._services.queues[self._services.route(row).session.agent].mode

    async def _serve(self, lane: SessionLane) -> None:
        """Runs one turn, again as long as it is interrupted or the disk fails."""
        interrupted: Turn | None = None
        while True:
            await self._all_said(lane)
            carried = interrupted.rows if interrupted is not None else []
            try:
                async with self._turn_of(lane, interrupted) as turn:
                    if turn is None:  # a stop came first
                        if interrupted is not None:
                            await interrupted.stopped()
                        return await self._end_stopped(carried)
                    try:
                        if not await self._answer(turn):
                            return await self._flush_ahead(turn.rows[0])
                    except OSError:
                        lane.put_back(row.seq for row in turn.rows if row not in carried)
                        raise
                    interrupted = turn
            except ShuttingDown:  # the next process takes up what waits
                return None
            except OSError as error:
                await self._wait_for_disk((carried or self._waiting(lane))[0], error)

    @asynccontextmanager
    async def _turn_of(self, lane: SessionLane, interrupted: Turn | None) -> AsyncIterator[Turn | None]:
        """The next turn, once it may begin; None if nothing waits. Inside, no other of the session runs, and none at
        all in a trial. Raises `ShuttingDown`."""
        while True:
            async with AsyncExitStack() as held:
                is_trial = _is_to_try(self._waiting(lane)[:1])
                if is_trial:
                    await held.enter_async_context(self._gate.trial(self._waiting(lane)[:1]))
                else:
                    await self._gate.opened()
                await held.enter_async_context(self.alone(lane.key))
                if is_trial:
                    await self._separate(lane)
                elif not self._gate.is_open or _is_to_try(self._waiting(lane)[:1]):
                    continue
                else:
                    held.enter_context(self._gate.beside_others())
                rows = self._gather(lane, interrupted)
                yield Turn(self._services, lane, rows, interrupted, is_trial=_is_to_try(rows)) if rows else None
                return

    async def _separate(self, lane: SessionLane) -> None:
        """Splits the oldest turn, to try each message alone. Raises `StorageUnavailable`, `OSError`."""
        waiting = self._waiting(lane)
        left = [row for row in waiting if row.turn and row.turn == waiting[0].turn]
        if len(_one_thing_said(left)) == len(left):
            return
        turns: dict[int, str] = {}
        while left:
            parts = _one_thing_said(left)
            turns |= {row.seq: f"{user_message_id(parts[0].message)}{ANEW}" for row in parts}
            left = [row for row in left if row.seq not in turns]
        await self._services.inbox.separate(turns)
        session = self._services.route(waiting[0]).session
        await self._services.agents[session.agent].stopped(session, waiting[0].turn, "")

    async def _all_said(self, lane: SessionLane) -> None:
        parts = _one_thing_said(self._waiting(lane))
        while parts and _may_go_on(parts) and not parts[0].turn:
            try:
                async with asyncio.timeout(self._paste_wait):
                    while len(now := _one_thing_said(self._waiting(lane))) == len(parts):
                        await lane.posted()
            except TimeoutError:
                return
            parts = now

    def _waiting(self, lane: SessionLane) -> list[InboxRow]:
        return [self._services.inbox.row(seq) for seq in lane]

    def _gather(self, lane: SessionLane, interrupted: Turn | None) -> list[InboxRow]:
        """The messages of the next turn: the oldest, its turn's, the rest of a cut text or an album; in a `collect`
        session, or where many wait, also the others of the same chat."""
        waiting = self._waiting(lane)
        if interrupted is not None:
            waiting = [row for row in waiting if _together(row, interrupted.rows[0])]
        if not waiting:
            return []
        first = waiting[0]
        if first.turn:
            return self._take(lane, lambda row: row.turn == first.turn)
        parts = {row.seq for row in _one_thing_said(waiting)}
        rows = self._take(lane, lambda row: row.seq in parts)
        cap = self._services.queues[self._services.route(first).session.agent].cap
        if self._mode(first) == "collect" or len(waiting) > cap:
            rows += self._take(lane, lambda row: _joins(row, first), cap - len(rows))
        return rows

    def _take(self, lane: SessionLane, wanted: Callable[[InboxRow], bool], most: int | None = None) -> list[InboxRow]:
        inbox = self._services.inbox
        return [inbox.row(seq) for seq in lane.take_where(lambda seq: wanted(inbox.row(seq)), most)]

    async def _answer(self, turn: Turn) -> bool:
        """True if a message interrupted it, so that the next turn answers both."""
        task = asyncio.create_task(turn.run(), name=f"turn {turn.id}")
        session = turn.rows[0].session
        running = self._running[session] = RunningTurn(turn, task)
        try:
            try:
                await asyncio.wait({task})
            finally:
                task.cancel()
                await asyncio.wait({task})
                del self._running[session]
            if not task.cancelled():
                task.result()
                self._told_of_disk.discard(session)
                return False
            if running.wish == "stop":
                await turn.stopped()
                await turn.end_stopped()
            elif running.wish == "interrupt":
                await turn.close_preview()
            return running.wish == "interrupt"
        finally:
            running.is_over.set()

    async def _flush_ahead(self, answered: InboxRow) -> None:
        """Flushes before the next message may need it; not for a job's or task's session."""
        if answered.message.due is None and not answered.message.is_task:
            route = self._services.route(answered)
            await self._services.agents[route.session.agent].flush_ahead(route.session, route.scope)

    async def _wait_for_disk(self, row: InboxRow, error: OSError) -> None:
        """Waits for the disk; the sender is informed once, with nothing on disk."""
        log.error("session %s waits for the disk: %s", row.session, error)
        channel = self._services.channels.get(row.message.address.channel)
        if row.session not in self._told_of_disk and channel is not None:
            self._told_of_disk.add(row.session)
            address, reply_to = row.message.address, row.message.platform_id
            text = said(
                await language_now(self._services.database, chat_rows.language, address),
                "I can't work on your message now: {why}. It is saved, and I'll answer as soon as {again}.",
                why=cannot(error),
                again=again(error),
            )
            try:
                await channel.send(OutboundMessage(address, text, key=f"disk:{row.seq}:error", reply_to=reply_to))
            except SendError as unsent:
                log.error("could not tell its sender: %s", unsent)
        await asyncio.sleep(self._disk_wait)


def _is_to_try(rows: Sequence[InboxRow]) -> bool:
    return is_suspect(rows) and not is_given_up(rows)


def _together(row: InboxRow, other: InboxRow) -> bool:
    """True if one reply can answer both."""
    return row.message.address == other.message.address


def _joins(row: InboxRow, first: InboxRow) -> bool:
    """True if a turn that begins with `first` can take the message too."""
    is_result = row.message.task is not None or first.message.task is not None
    return _together(row, first) and not row.turn and not row.message.replaces and not is_result


def _one_thing_said(waiting: Sequence[InboxRow]) -> list[InboxRow]:
    """The oldest message with the rest of its text and album."""
    parts = list(waiting[:1])
    for row in waiting[1:]:
        message, first = row.message, parts[0].message
        belongs = parts[-1].message.continues or (message.album and message.album == first.album)
        if belongs and _together(row, parts[0]) and message.sender.id == first.sender.id:
            parts.append(row)
    return parts


def _may_go_on(parts: Sequence[InboxRow]) -> bool:
    return parts[-1].message.continues or (bool(parts[0].message.album) and len(parts) < LARGEST_ALBUM)
