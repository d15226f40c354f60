"""Work aside: a task is a message of a session of its own, so that lanes, crashes, limits and usage work as
for every message. Its end and its result, a message of the session that asked, are one commit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.clock import Clock
from agent.languages.registry import LANGUAGES
from agent.memory.provenance import without_mark
from agent.tools.foreign_text import names
from agent.values import TASKS, ResultKind, TurnResult
from channels.message import DelegatedTask, Origin, Sender
from gateway.i18n import one_line
from gateway.messages.inbox import STOPPED, AdmittedMessage, Inbox, asking_session
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access, Admitted
from gateway.store import chat_rows
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow, MessageStatus
from gateway.store.outbox_rows import Draft

log = logging.getLogger(__name__)

MOST = 3
"""Of one session, at once."""
SECONDS = 1_800.0
_SENDER = "Task"
_SHOWN = 200
_LEFT_AFTER_A_RESTART = 1 / 30
# at least, of a task's time: its work may be done, and not yet written down
_SILENT = "(It ended without a text.)"
_FAILED = "(It was not finished.) {why}"
OVERTIME = "Its time was over."


class TooManyTasks(Exception):
    """The text names the tasks at work."""


class Tasks:
    """`seconds`: the time of a task. `post` adds a message to its lane (`TurnQueue.post`)."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        access: Access,
        inbox: Inbox,
        outbox: Outbox,
        seconds: float = SECONDS,
    ) -> None:
        self.post: Callable[[InboxRow], None] = _later
        self._database = database
        self._clock = clock
        self._access = access
        self._inbox = inbox
        self._outbox = outbox
        self._seconds = seconds
        self._beginning: set[asyncio.Task[bool]] = set()
        self._stopped: dict[str, int] = {}

    def of(self, session: str) -> Sequence[InboxRow]:
        """The tasks at work, without those that a stop is ending."""
        stopped = self._stopped.get(session, 0)
        return [row for row in self._inbox.tasks_of(session) if row.message.task and row.message.task.asked >= stopped]

    async def begin(self, asking: InboxRow, session: str, id: str, text: str) -> bool:
        """Begins a task once, even if cancelled meanwhile; False if its id is known. Raises `TooManyTasks`,
        `StorageUnavailable`."""
        work = asyncio.create_task(self._begin(asking, session, id, text), name=f"beginning task {id}")
        self._beginning.add(work)
        work.add_done_callback(self._beginning.discard)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            work.add_done_callback(_log_failure)
            raise

    async def _begin(self, asking: InboxRow, session: str, id: str, text: str) -> bool:
        if len(others := self.of(session)) >= MOST:
            raise TooManyTasks("; ".join(one_line(row.message.text, _SHOWN) for row in others))
        address = asking.message.address
        task = replace(
            asking.message,
            id=_message_id(id),
            sender=Sender(asking.message.sender.id, _SENDER),
            text=text,
            sent_at=self._clock.now(),
            platform_id="",
            attachments=(),
            quote=None,
            continues=False,
            album="",
            origin=Origin.JOB,
            answer_with="",
            replaces="",
            task=DelegatedTask(id, asking.seq),
        )
        language = await self._database.run(chat_rows.language, address)
        sign = LANGUAGES[language].chat.working.format(task=one_line(without_mark(text), _SHOWN))
        drafts: list[Draft] = self._outbox.drafts(f"{task.id}:working:{{}}", address, sign)
        row = await self._inbox.admit_task(AdmittedMessage(task, f"{session}/{TASKS}/{id}"), asking.seq, drafts)
        if row is None:
            return False
        self._outbox.wake(drafts)
        if asking.seq < self._stopped.get(session, 0):
            await self._inbox.finish([row], STOPPED)
        else:
            self.post(row)
        return True

    async def fate(self, asking: InboxRow, id: str) -> MessageStatus:
        address = asking.message.address
        return await self._inbox.fate(address.channel, address.account, _message_id(id))

    def stop(self, session: str, before: int) -> Sequence[InboxRow]:
        """The tasks to stop: those that messages before number `before` asked for."""
        self._stopped[session] = before  # for those that are just beginning
        return [row for row in self._inbox.tasks_of(session) if row.message.task and row.message.task.asked < before]

    def seconds_left(self, row: InboxRow) -> float:
        passed = (self._clock.now() - row.message.sent_at).total_seconds()
        return max(self._seconds - passed, self._seconds * _LEFT_AFTER_A_RESTART)

    def results(self, row: InboxRow, end: TurnResult) -> tuple[AdmittedMessage, ...]:
        """The result of a task for the session that asked, unless its person may not talk to us any more."""
        message, task = row.message, row.message.task
        assert task is not None
        text = _FAILED.format(why=end.text) if end.kind is ResultKind.ERROR else end.text or _SILENT
        result = replace(
            message,
            id=f"{message.id}:result",
            text=text,
            sent_at=self._clock.now(),
            task=replace(task, result_of=message.text, sources=names(end.foreign)),
        )
        if not isinstance(self._access.decide(result), Admitted):
            log.warning("the result of task %s is dropped: nobody in %s may have it now", task.id, message.address)
            return ()
        return (AdmittedMessage(result, asking_session(row)),)


def _message_id(id: str) -> str:
    return f"task:{id}"


def _later(row: InboxRow) -> None:  # the next start takes it up
    log.info("task %s waits for the next start", row.message.id)


def _log_failure(work: asyncio.Task[bool]) -> None:
    if not work.cancelled() and (error := work.exception()) is not None:
        log.error("a task could not begin: %s", error)
