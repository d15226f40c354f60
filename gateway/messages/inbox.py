"""The inbox: a message is on disk before anyone acts on it, and stays until it has its one end (invariants 1 and 2)."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.clock import Clock, utc_stamp
from channels.message import InboundMessage, UnreadableEvent
from gateway.messages.outbox import Begin
from gateway.messages.suspects import TRIED_ALONE_AFTER, PreviousProcess
from gateway.store import inbox_rows, outbox_rows, question_rows
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxCounts, InboxRow, MessageStatus
from gateway.store.outbox_rows import Draft

_UNKNOWN = PreviousProcess()


@dataclass(frozen=True, slots=True)
class AdmittedMessage:
    """A message on its way in, and the session it belongs to. `overheard`: kept as context only; `turn`: the one that
    it begins as soon as it is on disk, empty where it has to wait."""

    message: InboundMessage
    session: str
    overheard: bool = False
    turn: str = ""


class Inbox:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._open: dict[int, InboxRow] = {}
        self._left_over: frozenset[int] = frozenset()
        self._bound: set[int] = set()
        self._counted: set[int] = set()
        """Taken by this process, and that is on disk."""
        self._counts = True

    def _now(self) -> str:
        return utc_stamp(self._clock.now())

    async def load(self, last_run: PreviousProcess = _UNKNOWN) -> Sequence[InboxRow]:
        """What was left without an end when the last process ended, oldest first."""

        def read(connection: sqlite3.Connection) -> Sequence[InboxRow]:
            inbox_rows.take_over(connection, last_run.messages, TRIED_ALONE_AFTER, died=last_run.died)
            return inbox_rows.open_rows(connection)

        rows = await self._database.run(read)
        self._open = {row.seq: row for row in rows}
        self._left_over = frozenset(self._open)
        return rows

    async def admit(
        self, arrivals: Sequence[AdmittedMessage], unreadable: Sequence[UnreadableEvent] = ()
    ) -> list[InboxRow]:
        """Write messages down in one commit; returns those that are new, and before a message that calls the bot what
        was only overheard of its album until now. An album calls the bot as a whole, in whatever order and however late
        its messages come; Telegram puts the call into one of them. Raises `StoreUnavailable` (none is kept)."""
        now, today = self._now(), self._clock.today().isoformat()

        def write(connection: sqlite3.Connection) -> list[InboxRow]:
            for event in unreadable:
                inbox_rows.keep_unreadable(connection, event, now)
            rows: list[InboxRow] = []
            for one in arrivals:
                one = _called_by_its_album(connection, one)
                row = inbox_rows.admit(
                    connection, one.message, one.session, one.turn, overheard=one.overheard, at=now, today=today
                )
                if row is not None and one.message.album and not one.overheard:
                    rows += inbox_rows.rest_of_album(connection, one.message, one.session)
                rows += [row] if row is not None else []
            return rows

        rows = await self._database.run(write)
        self._open.update((row.seq, row) for row in rows if not row.overheard)
        bound = {row.seq for row in rows if row.turn}
        self._bound |= bound
        self._counted |= bound
        return rows

    async def reword(self, edited: InboundMessage) -> bool:
        """Give a message that waits its new text. False: it is being answered, was answered, or was never ours."""
        rows = await self._database.run(inbox_rows.reword, edited)
        self._open.update((row.seq, row) for row in rows if row.seq in self._open)
        return bool(rows)

    def is_left_over(self, row: InboxRow) -> bool:
        """Whether an earlier process has left it without an end."""
        return row.seq in self._left_over

    def row(self, seq: int) -> InboxRow:
        """An open message as it reads now."""
        return self._open[seq]

    async def take(self, rows: Iterable[InboxRow], turn: str, *, alone: bool = False) -> str | None:
        """Bind messages to the turn that answers them, before it begins; what was bound to it as it came needs no more.
        `alone`: nothing else runs until its end. Gives what stands of an earlier begin of it, as
        `outbox_rows.preview_of`."""
        seqs = [row.seq for row in rows]
        if self._bound.issuperset(seqs):
            self._bound.difference_update(seqs)
            return None

        counted = {seq for seq in seqs if self._counts and seq not in self._counted}

        def write(connection: sqlite3.Connection) -> str | None:
            inbox_rows.take(connection, seqs, turn, counted=counted, alone=alone and self._counts)
            return outbox_rows.preview_of(connection, turn)

        preview = await self._database.run(write)
        self._counted |= counted
        self._bind(seqs, turn)
        return preview

    async def join(self, rows: Iterable[InboxRow], turn: str) -> None:
        """Bind messages to a turn that runs, before it learns of them: what a talk knows of a turn is bound to it."""
        seqs = [row.seq for row in rows]
        await self._database.run(inbox_rows.take, seqs, turn)
        self._bind(seqs, turn)

    def _bind(self, seqs: Iterable[int], turn: str) -> None:
        """Show in the open rows what is on disk by now."""
        for seq in seqs:
            if (row := self._open.get(seq)) is not None:  # None: stopped meanwhile
                self._open[seq] = dataclasses.replace(row, turn=turn)

    async def separate(self, turns: Mapping[int, str]) -> None:
        """Give messages that shared a turn, by their numbers, turns of their own. All are suspects from now on."""
        await self._database.run(inbox_rows.separate, turns, TRIED_ALONE_AFTER)
        for seq, turn in turns.items():
            if (row := self._open.get(seq)) is None:  # stopped meanwhile
                continue
            self._open[seq] = dataclasses.replace(row, turn=turn, attempts=max(row.attempts, TRIED_ALONE_AFTER))

    async def forgive(self) -> None:
        """The process is asked to end: whatever happens from now on, what is in hand has not caused it."""
        self._counts = False
        if seqs := self._counted & self._open.keys():
            await self._database.run(inbox_rows.forgive, seqs)

    async def overheard(self, session: str, before: int) -> Sequence[InboxRow]:
        return await self._database.run(inbox_rows.overheard_before, session, before)

    async def finish(
        self,
        rows: Iterable[InboxRow],
        outcome: str,
        replies: Sequence[Draft] = (),
        settled: str = "",
        begin: Begin | None = None,
    ) -> None:
        """The one end of messages: their outcome and the reply to them, in one commit, and in it the end of the
        question of id `settled`, and what `Outbox.sending` gives."""
        seqs = [row.seq for row in rows]
        now = self._now()

        def write(connection: sqlite3.Connection) -> None:
            inbox_rows.finish(connection, seqs, outcome)
            outbox_rows.add(connection, replies, now)
            if settled:
                question_rows.close(connection, settled)
            if begin is not None:
                begin(connection)

        await self._database.run(write)
        for seq in seqs:
            self._open.pop(seq, None)
        self._bound.difference_update(seqs)
        self._counted.difference_update(seqs)

    async def fate(self, channel: str, account: str, message_id: str) -> MessageStatus:
        """What became of a message."""
        return await self._database.run(inbox_rows.fate, channel, account, message_id)

    async def counts(self) -> InboxCounts:
        return await self._database.run(inbox_rows.counts)


def _called_by_its_album(connection: sqlite3.Connection, arrival: AdmittedMessage) -> AdmittedMessage:
    message = arrival.message
    alone = not arrival.overheard or not message.album or message.calls_bot
    if alone or not inbox_rows.of_called_album(connection, message, arrival.session):
        return arrival
    return AdmittedMessage(dataclasses.replace(message, calls_bot=True), arrival.session)
