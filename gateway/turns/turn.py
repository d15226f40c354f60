"""One turn: messages in, one end out: a reply, a recorded silence, or an error that says what to do (invariant 2).

The messages are bound to the turn on disk before the agent runs; their end and the reply are one commit.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import logging
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

from agent.languages.sentences import Sentence, joined
from agent.languages.system_errors import is_about_files
from agent.memory.redaction_lock import StaleRead
from agent.memory.scope import Audience
from agent.model.base import Usage
from agent.values import CHAT, JOB, TASK, Emit, ResultKind, TextReset, TurnEvent, TurnRequest, TurnResult, UserMessage
from channels.message import Address, DueJob
from gateway.messages.inbox import STOPPED, AdmittedMessage, asking_session
from gateway.messages.outbox import with_speech
from gateway.messages.suspects import SKIPPED, is_given_up, skipped_for_owner
from gateway.store import outbox_rows
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Draft, SpeechRow
from gateway.turns.offline_buttons import newest_change, offline_buttons
from gateway.turns.preview import LivePreview, StreamedReply
from gateway.turns.services import BUG, SessionLane, TurnServices, failure
from gateway.turns.tasks import OVERTIME
from gateway.turns.user_message import (
    ADVICE,
    build_user_message,
    late_mark,
    may_join,
    needs_advice,
    nothing_to_answer,
    user_message_id,
)

log = logging.getLogger(__name__)

ANEW = ":anew"
"""How the id of a turn ends whose message had shared a turn with others. The transcript knows the message from
there, so it is said to the agent under an id that ends so, too."""


class Turn:
    """A turn in progress.

    rows        messages it answers; those that join it are added before the agent sees them
    ended       its end is being written: it cannot be cancelled
    is_trial    no other runs, and no message joins it
    """

    def __init__(
        self,
        services: TurnServices,
        lane: SessionLane,
        rows: Sequence[InboxRow],
        interrupted: Turn | None = None,
        *,
        is_trial: bool = False,
    ) -> None:
        """`interrupted`: a turn whose messages get their end from this one."""
        first = rows[0]
        carried: list[InboxRow] = interrupted.rows if interrupted is not None else []
        self._services = services
        self._lane = lane
        self._shown_up_to = 0
        self._stood: str | None = None
        self._preview: LivePreview | None = None
        self._route = services.route(first)
        self._agent = services.agents[self._route.session.agent]
        self._queue = services.queues[self._route.session.agent]
        self.id = first.turn or user_message_id(first.message)
        self._interrupted = interrupted
        self._reading = self._agent.reading(self._route.scope)
        self._ended_request: TurnRequest | None = None
        self._is_stopped = False
        self._said = (*carried, *rows)
        self._advice = self._change_before = ""
        self._was_recording = False
        self.rows: list[InboxRow] = [*rows, *carried]
        self.reply = StreamedReply()
        self.ended = False
        self.is_trial = is_trial

    async def run(self) -> None:
        """Raises `OSError` where files cannot be used: a later `Turn` continues. Cancelled, it leaves the messages
        open: see `stopped`."""
        if is_given_up(self.rows):
            await self._skip()
        else:
            with self._services.active_work.working(self._name, [row.seq for row in self.rows]):
                await self._run()

    async def _run(self) -> None:
        # raises while it is gone: nothing is known then
        await asyncio.to_thread(os.listdir, self._route.scope.workspace)
        self._stood = await self._services.inbox.take(self.rows, self.id, alone=self.is_trial)
        self._said = tuple(self._services.inbox.row(row.seq) for row in self._said)  # an edit may have come until now
        await self._close_interrupted()  # not before: a crash would find its messages with a turn that was stopped
        if note := nothing_to_answer([row.message for row in self._said]):
            return await self._end(TurnResult(ResultKind.ERROR, note, Usage()))
        try:
            self._change_before = await newest_change(self._agent, self.rows[0])
            end = await self._answer()
        except Exception as error:
            if is_about_files(error):
                raise
            log.exception("turn %s failed", self.id)
            end = TurnResult(ResultKind.ERROR, failure(error), Usage())
        return await self._end(end)

    @property
    def _name(self) -> str:
        return f"turn {self.id} in {self.rows[0].session}"

    async def _skip(self) -> None:
        """Gives up on the message unread, and informs its sender and the owner."""
        row = self.rows[0]
        log.error("%s is skipped: the process crashed or hung on it repeatedly", self._name)
        await self._end(
            TurnResult(ResultKind.ERROR, SKIPPED, Usage()),
            outcome=f"skipped: {await self._told(SKIPPED)}" if row.message.due else "",
            besides=await self._services.to_owner(skipped_for_owner(row), f"skipped:{row.seq}"),
        )
        try:
            await self.stopped()  # so that the next turn of the session does not answer it
        except Exception:
            log.exception("%s could not be closed in the transcript", self._name)

    async def stopped(self) -> None:
        """Closes a cancelled turn, and the one it interrupted, in the transcript with what was shown of its reply."""
        await self._close_interrupted()
        await self._agent.stopped(self._route.session, self.id, self.reply.text)

    async def _close_interrupted(self) -> None:
        if self._interrupted is not None:
            await self._interrupted.stopped()
            self._interrupted = None

    async def end_stopped(self) -> None:
        """Ends a turn that a person stopped; what was shown stays."""
        self._is_stopped = True
        await self._end(TurnResult(ResultKind.REPLY, "", Usage()), outcome=STOPPED)

    async def close_preview(self) -> None:
        address, edits = self.rows[0].message.address, self._preview.message if self._preview else ""
        while edits:
            cut = await self._services.long_answers.fitted(address, await self._cut(Sentence("Interrupted.")))
            key = f"{self.id}:cut:{{}}"
            drafts = self._services.outbox.drafts(key, address, cut.text, edits=edits, files=cut.files)
            try:
                async with self._reading.writing():
                    await self._services.outbox.write(drafts)
                    edits = ""
            except StaleRead:
                self._drop_what_was_read()

    async def _cut(self, why: Sentence) -> str:
        shown = self._preview is not None and self._preview.message
        return joined([self.reply.text, f"_{await self._told(why)}_" if self.reply.text or shown else ""])

    async def _told(self, text: str) -> str:
        return await self._services.told(self.rows[0].message.address, text)

    async def _answer(self) -> TurnResult:
        if self._due is not None:
            return await self._work(await self._request())
        if self._is_task:
            return await self._work_aside()
        address = self.rows[0].message.address
        channel = self._services.channels[address.channel]
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(channel.typing(address))
            request = await self._request()
            is_clear = functools.partial(self._services.outbox.is_clear, address)
            self._preview = LivePreview(
                self._services.database, channel, address, self.id, self._reply_to(), self._stood, is_clear
            )
            preview = await stack.enter_async_context(self._preview.open(self.reply))

            shown = self._reading

            async def show(event: TurnEvent) -> None:
                nonlocal shown
                if not shown.is_current():
                    shown = self._agent.reading(self._route.scope)
                    self.reply.drop()
                if isinstance(event, TextReset):
                    event = TextReset(await self._told(event.note))
                self.reply.feed(event)
                preview.changed()

            return await self._result(request, show)

    @property
    def _due(self) -> DueJob | None:
        return self.rows[0].message.due

    @property
    def _is_task(self) -> bool:
        return self.rows[0].message.is_task

    async def _work_aside(self) -> TurnResult:
        try:
            async with asyncio.timeout(self._services.tasks.seconds_left(self.rows[0])) as time:
                return await self._work(await self._request())
        except TimeoutError:
            if not time.expired():
                raise
            log.warning("%s is ended: its time is over", self._name)
            await self._agent.stopped(self._route.session, self.id, "")
            return TurnResult(ResultKind.ERROR, OVERTIME, Usage())

    async def _work(self, request: TurnRequest) -> TurnResult:
        async def feed(event: TurnEvent) -> None:
            self.reply.feed(event)

        end = await self._result(request, feed)
        shown = self.reply.last_step
        return replace(end, text=shown) if shown and end.text.endswith(shown) else end

    async def _result(self, request: TurnRequest, emit: Emit) -> TurnResult:
        result = await self._agent.turn(request, emit)
        self._ended_request = request
        return result

    async def _request(self) -> TurnRequest:
        first = self.rows[0]
        is_aside = self._due is not None or self._is_task
        return TurnRequest(
            id=self.id,
            session=self._route.session,
            scope=self._route.scope,
            said=await self._as_said(self._said),
            arrived=self._arrived,
            tools=self._services.tools(first),
            model=self._services.preferences.model(asking_session(first) if self._is_task else first.session),
            purpose=JOB if self._due else TASK if self._is_task else CHAT,
            fresh=is_aside,
            sealed=self._services.sealed_in_jobs if is_aside else {},
            approvals=self._services.consent(first, self.id),
            language=await self._services.language(first.message.address),
        )

    async def _opened(self, row: InboxRow, overheard: Sequence[InboxRow] = ()) -> UserMessage:
        session, is_owners = self._route.session, self._route.scope.audience is Audience.OWNER
        opened = await self._services.intake.opened(row.message, str(session), is_owners=is_owners)
        if needs_advice(opened):
            self._advice = ADVICE
        told = build_user_message(row.message, self._services.names, opened, overheard)
        self._was_recording = self._was_recording or bool(told.heard)
        return replace(told, id=f"{told.id}{ANEW}") if self.id.endswith(ANEW) else told

    async def _arrived(self) -> Sequence[UserMessage]:
        """Messages that came in this chat meanwhile (steering). One with a file, an album, one that replaces another
        and what follows it wait for their own turn."""
        if self._queue.mode != "steer" or self.is_trial or self.rows[0].message.task is not None:
            return ()
        inbox = self._services.inbox
        here = self.rows[0].message.address
        said_here = [inbox.row(seq) for seq in self._lane if inbox.row(seq).message.address == here]
        plain = itertools.takewhile(lambda row: may_join(row.message), (row for row in said_here if not row.turn))
        steering = {row.seq for row in plain}
        waiting = self._lane.take_where(lambda seq: seq in steering, self._queue.cap)
        if not waiting:
            return ()
        rows = [inbox.row(seq) for seq in waiting]
        self.rows += rows
        self._services.active_work.put(self._name, [row.seq for row in self.rows])
        await inbox.join(rows, self.id)
        return await self._as_said([inbox.row(row.seq) for row in rows])  # an edit may have come until now

    async def _as_said(self, rows: Sequence[InboxRow]) -> tuple[UserMessage, ...]:
        if self._route.is_private or not rows:
            return tuple([await self._opened(row) for row in rows])
        overheard = await self._services.inbox.overheard(rows[0].session, max(row.seq for row in rows))
        shown: list[UserMessage] = []
        for row in rows:
            before = [heard for heard in overheard if self._shown_up_to < heard.seq < row.seq]
            shown.append(await self._opened(row, before))
            self._shown_up_to = max(self._shown_up_to, row.seq)
        return tuple(shown)

    async def _overheard(self) -> Sequence[InboxRow]:
        """Overheard messages shown with this turn's, by an earlier process too."""
        if not self._shown_up_to:
            return ()
        return await self._services.inbox.overheard(self.rows[0].session, max(row.seq for row in self.rows))

    async def _standing_preview(self) -> tuple[str, bool]:
        """The message that the end replaces, and whether there may be an unknown one."""
        if self._preview is not None:
            return self._preview.message, self._preview.uncertain
        known = await self._services.database.run(outbox_rows.preview_of, self.id)
        return known or "", known == ""

    def _reply_to(self) -> str:
        """The message to answer in a reply: always in groups; in private if others came in between."""
        message = self.rows[0].message
        quotes = self._services.channels[message.address.channel].capabilities(message.address).quotes
        return message.platform_id if quotes or not self._route.is_private or len(self._lane) else ""

    async def _end(self, end: TurnResult, outcome: str = "", besides: Sequence[Draft] = ()) -> None:
        """Writes the end; if that fails, an error text, and if even that fails, a mark in the inbox."""
        try:
            await self._end_with(end, outcome, besides)
        except Exception as error:
            if is_about_files(error):
                raise
            log.exception("the end of turn %s failed", self.id)
            try:
                await self._end_with(TurnResult(ResultKind.ERROR, BUG, Usage()), outcome, besides)
            except Exception as again:
                if is_about_files(again):
                    raise
                log.exception("turn %s ends in silence", self.id)
                await self._services.inbox.finish(self.rows, outcome or str(ResultKind.ERROR))

    async def _end_with(self, end: TurnResult, outcome: str, besides: Sequence[Draft]) -> None:
        """Commits the end with the reply and messages to others (`besides`), then sends them. Where something was
        forgotten since the turn began, the end is read again without it."""
        self.ended = True
        while True:
            try:
                return await self._commit(end, outcome, besides)
            except StaleRead:
                self._drop_what_was_read()
                if self._ended_request is not None:
                    end = await self._agent.turn(self._ended_request, _unseen)

    def _drop_what_was_read(self) -> None:
        self._reading = self._agent.reading(self._route.scope)
        self.reply.drop()

    async def _commit(self, end: TurnResult, outcome: str, besides: Sequence[Draft]) -> None:
        """Raises `StaleRead`."""
        preview, uncertain = await self._standing_preview()
        results: tuple[AdmittedMessage, ...] = ()
        if self._due is not None:
            end, outcome = await self._end_of_job(self._due, end, outcome)
        elif self._is_task:
            if not self._is_stopped:
                results = self._services.tasks.results(self._services.inbox.row(self.rows[0].seq), end)
            end = replace(end, text="")
        elif self._is_stopped:
            end = replace(end, text=await self._cut(Sentence("Stopped.")))
        end = replace(end, text=await self._told(end.text))
        text = joined([end.text, await self._told(self._advice if end.kind is ResultKind.REPLY else "")])
        text = text or (self.reply.text or "…" if preview else "")
        address = self.rows[0].message.address
        answer = await self._services.long_answers.fitted(address, text)
        drafts = self._services.outbox.drafts(
            f"{self.id}:{{}}" + (":error" if end.kind is ResultKind.ERROR else ""),
            address,
            answer.text,
            reply_to=self._reply_to(),
            edits=preview,
            repeat=uncertain,
            files=answer.files,
            buttons=await offline_buttons(self._services, self._agent, self.rows[0], self._change_before, end),
        )
        rows = [*self.rows, *await self._overheard()]
        besides = [draft for draft in besides if self._due or draft.address != address]
        speech = self._speech(end, address)
        async with self._reading.writing(), self._services.outbox.sending(drafts) as begin:
            begin = with_speech(speech, begin)
            came = await self._services.inbox.finish(
                rows, outcome or str(end.kind), [*drafts, *besides], begin=begin, results=results
            )
        for row in came:
            self._services.tasks.post(row)
        self._services.say(speech)
        self._services.outbox.wake(besides)
        self._services.acknowledgement.ended(self.rows)

    def _speech(self, end: TurnResult, address: Address) -> SpeechRow | None:
        voice = self._services.voice
        if voice is None or end.kind is not ResultKind.REPLY or not end.text or self._is_stopped or self._due:
            return None
        return voice.wanted(self.id, address, end.text, was_recording=self._was_recording)

    async def _end_of_job(self, due: DueJob, end: TurnResult, outcome: str) -> tuple[TurnResult, str]:
        """The end of a job's turn: the schedule handles failures."""
        if outcome or end.kind is ResultKind.ERROR:
            return replace(end, text=""), outcome or f"{ResultKind.ERROR}: {await self._told(end.text)}"
        if not due.late or not end.text:
            return end, outcome
        message, language = self.rows[0].message, await self._services.language(self.rows[0].message.address)
        return replace(end, text=joined([end.text, late_mark(due.moment, message.sent_at, language)])), outcome


async def _unseen(_: TurnEvent) -> None:
    """Takes the events of a turn whose end is known."""
