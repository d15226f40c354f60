"""Questions, answered by a button, a command or, for yes or no, a bare word, also after a restart.

A question belongs to one person in one chat. It closes in the commit of its outcome, so that a crash leaves it open.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from agent.clock import Clock, utc_stamp
from channels.message import Address, Button, InboundMessage
from gateway.i18n import CODE_LETTERS, answer_of
from gateway.store import question_rows
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.outbox_rows import Buttons
from gateway.store.question_rows import StoredQuestion

ALWAYS = "always"
"""The word of the button for a lasting yes."""
_ID_LENGTH = 6


def buttons(question: StoredQuestion, yes: str, no: str, always: str = "") -> Buttons:
    """The buttons of a yes-or-no question. `always` empty: no lasting yes is offered."""
    lasting = [Button(always, f"/answer {question.id} {ALWAYS}")] if always else []
    return ((Button(yes, f"/answer {question.id} yes"), *lasting, Button(no, f"/answer {question.id} no")),)


class Confirmations:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._open: dict[str, StoredQuestion] = {}
        self._answering: set[str] = set()

    async def load(self) -> None:
        now = utc_stamp(self._clock.now())
        found = await self._database.run(question_rows.open_questions, now)
        # Also those whose change is not written yet.
        stale = {question.id for question in self._open.values() if not question.is_fresh}
        self._open = {
            question.id: dataclasses.replace(question, is_fresh=question.is_fresh and question.id not in stale)
            for question in found
            if question.id not in self._answering
        }

    def new(
        self, kind: str, address: Address, asked: str, subject: str, within: timedelta, *, takes_word: bool = True
    ) -> StoredQuestion:
        """A question with a new id, still to be `put`. `takes_word`: a bare yes or no answers it."""
        id, until = "".join(secrets.choice(CODE_LETTERS) for _ in range(_ID_LENGTH)), self._clock.instant() + within
        return StoredQuestion(id, kind, address, asked, subject, utc_stamp(until), is_fresh=takes_word)

    async def put(self, question: StoredQuestion, shown: Callable[[Connection], None] | None = None) -> None:
        """Stores a question before it is shown, or in the commit of what shows it. Raises `StorageUnavailable`."""

        def write(connection: Connection) -> None:
            question_rows.add(connection, question)
            if shown is not None:
                shown(connection)

        await self._database.run(write)
        for other in self._of(question.address, question.asked):
            self._no_longer_fresh(other)
        self._open[question.id] = question

    def open_of(self, kind: str) -> list[StoredQuestion]:
        return [question for question in self._open.values() if question.kind == kind and self._is_open(question)]

    def asked_about(self, message: InboundMessage, kind: str) -> list[StoredQuestion]:
        return [question for question in self._of(message.address, message.sender.id) if question.kind == kind]

    async def change(self, question: StoredQuestion, subject: str) -> None:
        await self._database.run(question_rows.about, question.id, subject)
        if question.id in self._open:
            self._open[question.id] = dataclasses.replace(self._open[question.id], subject=subject)

    def answered_by(self, message: InboundMessage) -> StoredQuestion | None:
        """The question that a bare yes or no answers; any other message ends that possibility."""
        for question in self._of(message.address, message.sender.id):
            if question.is_fresh and answer_of(message.text) is not None:
                return question
            self._no_longer_fresh(question)
        return None

    def newest(self, kind: str, message: InboundMessage) -> StoredQuestion | None:
        asked = self.asked_about(message, kind)
        return asked[-1] if asked else None

    def find(self, id: str, message: InboundMessage) -> StoredQuestion | None:
        """An open question by its id, for its person and chat only."""
        question = self._open.get(id.upper())
        if (
            question is None
            or question.asked != message.sender.id
            or (question.address.channel, question.address.chat_id)
            != (message.address.channel, message.address.chat_id)
        ):
            return None
        return question if self._is_open(question) else None

    @contextmanager
    def answering(self, question: StoredQuestion) -> Iterator[None]:
        """Reserves a question while its answer is acted on, and opens it again on failure. `question_rows.close`
        belongs into the commit of the outcome."""
        self._open.pop(question.id, None)
        self._answering.add(question.id)
        try:
            yield
        except BaseException:
            self._open[question.id] = question
            raise
        finally:
            self._answering.discard(question.id)

    def _of(self, address: Address, asked: str) -> list[StoredQuestion]:
        return [
            question
            for question in self._open.values()
            if (question.address, question.asked) == (address, asked) and self._is_open(question)
        ]

    def _is_open(self, question: StoredQuestion) -> bool:
        return question.until > utc_stamp(self._clock.now())

    def _no_longer_fresh(self, question: StoredQuestion) -> None:
        if question.is_fresh:
            self._open[question.id] = dataclasses.replace(question, is_fresh=False)
            self._database.post(question_rows.stale, question.id)
