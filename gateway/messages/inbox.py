"""The inbox: messages are on disk before anyone acts on them, each until its one end (invariants 1 and 2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from agent.clock import Clock, utc_stamp
from agent.values import TASKS
from channels.message import InboundMessage, UnreadableEvent
from gateway.i18n import one_line
from gateway.messages.active_work import EndedProcess
from gateway.messages.outbox import Begin
from gateway.messages.suspects import TRIED_ALONE_AFTER
from gateway.store import inbox_rows, outbox_rows, question_rows
from gateway.store.claims import SOLE, Claims, scope_name
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxCounts, InboxRow, MessageStatus
from gateway.store.outbox_rows import Draft

_STOPPED = "The person stopped the task “{task}”: it has no result."
_SHOWN = 200
_NOTES_KEPT = timedelta(days=30)

STOPPED = "stopped"
"""The outcome of what a person stopped."""


@dataclass(frozen=True, slots=True)
class AdmittedMessage:
    message: InboundMessage
    session: str
    overheard: bool = False
    """True if it is only context."""
    turn: str = ""
    """The turn that it begins at once, else empty."""


class Inbox:
    def __init__(self, database: Database, clock: Clock, claims: Claims = SOLE) -> None:
        self._database = database
        self._clock = clock
        self._claims = claims
        self._open: dict[int, InboxRow] = {}
        self._left_over: frozenset[int] = frozenset()
        self._bound: set[int] = set()
        self._counted: set[int] = set()
        """Taken by this process, and that is on disk."""
        self._counts = True

    def _now(self) -> str:
        return utc_stamp(self._clock.now())

    async def load(self, ended: Iterable[EndedProcess] = ()) -> Sequence[InboxRow]:
        """Reads the open messages, and blames those on which the `ended` processes of a home hung."""
        died = any(process.died for process in ended)
        hung = {seq for process in ended for seq in process.messages}

        def read(connection: Connection) -> Sequence[InboxRow]:
            inbox_rows.take_over(connection, died=died)
            inbox_rows.hung(connection, hung, TRIED_ALONE_AFTER)
            return inbox_rows.open_rows(connection)

        rows = await self._database.run(read)
        self._open = {row.seq: row for row in rows}
        self._left_over = frozenset(self._open)
        return rows

    def take_up(self, rows: Iterable[InboxRow]) -> list[InboxRow]:
        """Adds messages that this process has claimed, and returns those that are new to it."""
        new = [row for row in rows if row.seq not in self._open]
        self._open.update((row.seq, row) for row in new)
        self._left_over |= {row.seq for row in new if row.attempts}
        return new

    def let_go(self, scopes: Collection[str]) -> None:
        """Drops the messages of scopes that another process gets."""
        self._open = {seq: row for seq, row in self._open.items() if scope_name(row.session) not in scopes}

    @property
    def is_shared(self) -> bool:
        return self._claims.is_shared

    @property
    def open_rows(self) -> Mapping[int, InboxRow]:
        return self._open

    async def admit(
        self, arrivals: Sequence[AdmittedMessage], unreadable: Sequence[UnreadableEvent] = ()
    ) -> list[InboxRow]:
        """Stores messages in one commit and returns the new ones; none where other processes share the home: each looks
        for its own. An album calls the bot as a whole, however late its parts come. Raises `StorageUnavailable` (none
        is kept)."""
        now, today = self._now(), self._clock.today().isoformat()

        def write(connection: Connection) -> list[InboxRow]:
            for event in unreadable:
                inbox_rows.keep_unreadable(connection, event, now)
            rows: list[InboxRow] = []
            for arrived in arrivals:
                arrival = _called_by_its_album(connection, arrived)
                row = inbox_rows.admit(
                    connection,
                    arrival.message,
                    arrival.session,
                    arrival.turn,
                    overheard=arrival.overheard,
                    at=now,
                    today=today,
                )
                if row is not None and arrival.message.album and not arrival.overheard:
                    rows += inbox_rows.rest_of_album(connection, arrival.message, arrival.session)
                rows += [row] if row is not None else []
            rows = [row for row in rows if not row.overheard]
            for row in rows:
                self._claims.claim(connection, row.session)
            return rows

        rows = await self._database.run(write)
        if self._claims.is_shared:
            return []
        self._open.update((row.seq, row) for row in rows)
        bound = {row.seq for row in rows if row.turn}
        self._bound |= bound
        self._counted |= bound
        return rows

    async def admit_task(self, task: AdmittedMessage, asked: int, drafts: Sequence[Draft]) -> InboxRow | None:
        """Stores a task with messages (`drafts`). None where it is known, or what `asked` for it is over."""
        now, today = self._now(), self._clock.today().isoformat()

        def write(connection: Connection) -> InboxRow | None:
            if not inbox_rows.is_waiting(connection, asked):
                return None
            row = inbox_rows.admit(connection, task.message, task.session, overheard=False, at=now, today=today)
            if row is not None:
                outbox_rows.add(connection, drafts, now)
            return row

        row = await self._database.run(write)
        if row is not None:
            self._open[row.seq] = row
        return row

    def tasks_of(self, session: str) -> list[InboxRow]:
        """The unfinished tasks that a session has delegated, oldest first."""
        return [row for row in self._open.values() if row.message.is_task and asking_session(row) == session]

    async def read_tasks_again(self) -> None:
        """Reads open tasks and results again, after some of their text was forgotten."""
        seqs = [row.seq for row in self._open.values() if row.message.task is not None]
        if seqs:
            self._refresh(await self._database.run(inbox_rows.numbered, seqs))

    async def reword(self, edited: InboundMessage) -> bool:
        """Changes the text of a waiting message; False if it is unknown or taken."""
        rows = await self._database.run(inbox_rows.reword, edited)
        self._refresh(rows)
        return bool(rows)

    def _refresh(self, rows: Iterable[InboxRow]) -> None:
        self._open.update((row.seq, row) for row in rows if row.seq in self._open)

    def is_left_over(self, row: InboxRow) -> bool:
        """True if an earlier process left it open."""
        return row.seq in self._left_over

    def row(self, seq: int) -> InboxRow:
        return self._open[seq]

    async def take(self, rows: Iterable[InboxRow], turn: str, *, alone: bool = False) -> str | None:
        """Binds messages to their turn unless they were bound on arrival. `alone`: nothing else runs until its end.
        Returns `outbox_rows.preview_of`."""
        seqs = [row.seq for row in rows]
        if self._bound.issuperset(seqs):
            self._bound.difference_update(seqs)
            return None

        counted = {seq for seq in seqs if self._counts and seq not in self._counted}

        def write(connection: Connection) -> tuple[str | None, Sequence[InboxRow]]:
            inbox_rows.take(connection, seqs, turn, counted=counted, alone=alone and self._counts)
            return outbox_rows.preview_of(connection, turn), self._as_stored(connection, seqs)

        preview, rows = await self._database.run(write)
        self._counted |= counted
        self._refresh(rows)
        self._bind(seqs, turn)
        return preview

    async def join(self, rows: Iterable[InboxRow], turn: str) -> None:
        """Binds messages to a running turn, before the agent sees them."""
        seqs = [row.seq for row in rows]

        def write(connection: Connection) -> Sequence[InboxRow]:
            inbox_rows.take(connection, seqs, turn)
            return self._as_stored(connection, seqs)

        self._refresh(await self._database.run(write))
        self._bind(seqs, turn)

    def _as_stored(self, connection: Connection, seqs: Sequence[int]) -> Sequence[InboxRow]:
        """The rows on disk where other processes share the home, one of which may have stored an edit; else none."""
        return inbox_rows.numbered(connection, seqs) if self._claims.is_shared else ()

    def _bind(self, seqs: Iterable[int], turn: str) -> None:
        for seq in seqs:
            if (row := self._open.get(seq)) is not None:  # None: stopped meanwhile
                self._open[seq] = dataclasses.replace(row, turn=turn)

    async def separate(self, turns: Mapping[int, str]) -> None:
        """Gives messages that shared a turn turns of their own, as suspects."""
        await self._database.run(inbox_rows.separate, turns, TRIED_ALONE_AFTER)
        for seq, turn in turns.items():
            if (row := self._open.get(seq)) is None:  # stopped meanwhile
                continue
            self._open[seq] = dataclasses.replace(row, turn=turn, attempts=max(row.attempts, TRIED_ALONE_AFTER))

    async def forgive(self) -> None:
        """Blames no message in hand: the process was asked to end."""
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
        results: Sequence[AdmittedMessage] = (),
    ) -> list[InboxRow]:
        """Commits the end of messages with its replies, the question `settled`, the `begin` of `Outbox.sending`, and
        `results` of tasks, whose rows it returns."""
        rows = tuple(rows)
        seqs = [row.seq for row in rows]
        now, today = self._now(), self._clock.today().isoformat()
        stopped = [row for row in rows if row.message.is_task] if outcome == STOPPED else []
        oldest = utc_stamp(self._clock.now() - _NOTES_KEPT)

        def write(connection: Connection) -> list[InboxRow]:
            inbox_rows.finish(connection, seqs, outcome)
            inbox_rows.forget_answer_with(connection, rows)
            outbox_rows.add(connection, replies, now)
            for row in stopped:
                note = _STOPPED.format(task=one_line(row.message.text, _SHOWN))
                question_rows.add_outcome(connection, row.message.id, asking_session(row), note, now, oldest)
            if settled:
                question_rows.close(connection, settled)
            if begin is not None:
                begin(connection)
            admitted = (
                inbox_rows.admit(connection, result.message, result.session, overheard=False, at=now, today=today)
                for result in results
            )
            return [row for row in admitted if row is not None]

        admitted = await self._database.run(write)
        for seq in seqs:
            self._open.pop(seq, None)
        self._open.update((row.seq, row) for row in admitted)
        self._bound.difference_update(seqs)
        self._counted.difference_update(seqs)
        return admitted

    async def fate(self, channel: str, account: str, message_id: str) -> MessageStatus:
        return await self._database.run(inbox_rows.fate, channel, account, message_id)

    async def counts(self) -> InboxCounts:
        return await self._database.run(inbox_rows.counts)


def asking_session(row: InboxRow) -> str:
    """The session that delegated a task."""
    task = row.message.task
    return row.session.removesuffix(f"/{TASKS}/{task.id}") if task is not None else row.session


def _called_by_its_album(connection: Connection, arrival: AdmittedMessage) -> AdmittedMessage:
    message = arrival.message
    alone = not arrival.overheard or not message.album or message.calls_bot
    if alone or not inbox_rows.of_called_album(connection, message, arrival.session):
        return arrival
    return AdmittedMessage(dataclasses.replace(message, calls_bot=True), arrival.session)
