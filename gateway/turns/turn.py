"""One turn: messages in, one end out: a reply, a recorded silence, or an error that says what to do (invariant 2).

In this order: bind the messages to the turn on disk, show typing and the growing reply, run the agent, then write the
end of the messages and the reply in one commit.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Literal

from agent.agent import Agent
from agent.memory.scope import Audience
from agent.model.base import Usage
from agent.tools.base import OwnerConsent, Tool
from agent.values import (
    CHAT,
    JOB,
    ReplyText,
    ResultKind,
    StepCompleted,
    TextReset,
    TurnRequest,
    TurnResult,
    UserMessage,
)
from channels.message import Channel, DueJob
from gateway.messages.inbox import Inbox
from gateway.messages.lanes import Lane
from gateway.messages.outbound_files import LongAnswers
from gateway.messages.outbox import Outbox
from gateway.messages.suspects import SKIPPED, ActiveWork, is_given_up
from gateway.policy.display_names import DisplayNames
from gateway.policy.preferences import Preferences
from gateway.policy.sessions import SessionRoute
from gateway.store import chat_rows, outbox_rows
from gateway.store.database import Database, StoreUnavailable
from gateway.store.inbox_rows import InboxRow
from gateway.store.outbox_rows import Draft
from gateway.turns.attachments import AttachmentIntake
from gateway.turns.preview import LivePreview, StreamedReply
from gateway.turns.reactions import Acknowledgement
from gateway.turns.user_message import (
    ADVICE,
    build_user_message,
    has_files,
    late_mark,
    needs_advice,
    nothing_to_answer,
    user_message_id,
)

log = logging.getLogger(__name__)

_BUG = (
    "Something broke inside Daybook while I was answering; the log has the details. Your message is kept. "
    "Please try again, or send /new to start afresh."
)
_TO_OWNER = "I crashed several times on {by} in {chat}, so I skipped it. The log has the details."
ANEW = ":anew"
"""How the id of a turn ends whose message had shared a turn with others. The session's journal knows the message from
there, so it is said to the agent under an id that ends so, too."""

QueueMode = Literal["steer", "collect", "interrupt"]

SessionLane = Lane[str, int]
"""A session's waiting messages, as their numbers in the inbox."""


@dataclass(frozen=True, slots=True)
class QueueRule:
    """What a message does to a running turn. `cap`: the most messages of one turn; the others wait for the next, and
    while more than `cap` wait, every mode collects."""

    mode: QueueMode = "steer"
    cap: int = 20


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What a turn uses of the gateway. `conversation`: where a message on disk belongs; `tools`: those that act on the
    gateway for its sender; `to_owner`: the drafts that tell the owner a text under a key; `sealed_in_jobs`: files that
    a job's turn may not change, with the reason."""

    database: Database
    inbox: Inbox
    outbox: Outbox
    long_answers: LongAnswers
    choices: Preferences
    intake: AttachmentIntake
    acknowledgement: Acknowledgement
    channels: Mapping[str, Channel]
    agents: Mapping[str, Agent]
    queues: Mapping[str, QueueRule]
    conversation: Callable[[InboxRow], SessionRoute]
    tools: Callable[[InboxRow], tuple[Tool, ...]]
    in_hand: ActiveWork
    to_owner: Callable[[str, str], Awaitable[list[Draft]]]
    consent: Callable[[InboxRow, str], OwnerConsent | None]
    names: DisplayNames
    sealed_in_jobs: Mapping[str, str]


class Turn:
    """A turn in progress.

    rows        messages it answers; grows by what joins it while it runs, before the agent hears of that
    ended       its end is being written: it cannot be cancelled any more
    is_trial    it runs while no other does, and no other message joins it
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
        """`interrupted`: a turn whose messages, which the agent may know, get their end from this one."""
        first = rows[0]
        carried: list[InboxRow] = interrupted.rows if interrupted is not None else []
        self._services = services
        self._lane = lane
        self._shown_up_to = 0
        self._stood: str | None = None
        self._preview: LivePreview | None = None
        self._conversation = services.conversation(first)
        self._agent = services.agents[self._conversation.session.agent]
        self._queue = services.queues[self._conversation.session.agent]
        self.id = first.turn or user_message_id(first.message)
        self._interrupted = interrupted
        self._said = (*carried, *rows)
        self._advice = ""
        self.rows: list[InboxRow] = [*rows, *carried]
        self.reply = StreamedReply()
        self.ended = False
        self.is_trial = is_trial

    async def run(self) -> None:
        """Runs to the end. Raises `StoreUnavailable` or `OSError` where the disk fails: the messages stay in the inbox,
        and a later `Turn` of the same rows continues. Cancelled, it leaves the messages open: see `stopped`."""
        if is_given_up(self.rows):
            await self._skip()
        else:
            with self._services.in_hand.working(self._name, [row.seq for row in self.rows]):
                await self._run()

    async def _run(self) -> None:
        self._stood = await self._services.inbox.take(self.rows, self.id, alone=self.is_trial)
        self._said = tuple(self._services.inbox.row(row.seq) for row in self._said)  # an edit may have come until now
        await self._close_interrupted()  # not before: a crash would find its messages with a turn that was stopped
        if note := nothing_to_answer([row.message for row in self._said]):
            return await self._end(TurnResult(ResultKind.ERROR, note, Usage()))
        try:
            end = await self._answer()
        except (StoreUnavailable, OSError):
            raise
        except Exception:
            log.exception("turn %s failed", self.id)
            end = TurnResult(ResultKind.ERROR, _BUG, Usage())
        return await self._end(end)

    @property
    def _name(self) -> str:
        """The turn's name for the log."""
        return f"turn {self.id} in {self.rows[0].session}"

    async def _skip(self) -> None:
        """Gives up on the message and tells its sender and the owner, without looking at it: that may be what the
        process dies of."""
        row = self.rows[0]
        by = f"job `{row.message.due.id}`" if row.message.due else f"a message from {row.message.sender.name or '?'}"
        log.error("%s is skipped: the process crashed or hung on it repeatedly", self._name)
        await self._end(
            TurnResult(ResultKind.ERROR, SKIPPED, Usage()),
            outcome=f"skipped: {SKIPPED}" if row.message.due else "",
            besides=await self._services.to_owner(
                _TO_OWNER.format(by=by, chat=row.message.address), f"skipped:{row.seq}"
            ),
        )
        try:
            await self.stopped()  # so that the next turn of the session does not answer it
        except Exception:
            log.exception("%s could not be closed in the transcript", self._name)

    async def stopped(self) -> None:
        """Closes a cancelled turn in the session's journal, with what was shown of its reply, and the turn it
        interrupted."""
        await self._close_interrupted()
        await self._agent.stopped(self._conversation.session, self.id, self.reply.text)

    async def _close_interrupted(self) -> None:
        if self._interrupted is not None:
            await self._interrupted.stopped()
            self._interrupted = None

    async def end_stopped(self) -> None:
        """Ends a turn that its person stopped: the part of the reply that was shown stays in the chat."""
        await self._end(TurnResult(ResultKind.REPLY, self._cut("Stopped."), Usage()), outcome="stopped")

    async def close_preview(self) -> None:
        """Leaves no half-written message of an interrupted turn in the chat: the reply comes in another."""
        if self._preview and self._preview.message:
            address, edits = self.rows[0].message.address, self._preview.message
            cut = await self._services.long_answers.fitted(address, self._cut("Interrupted."))
            drafts = self._services.outbox.drafts(
                f"{self.id}:cut:{{}}", address, cut.text, edits=edits, files=cut.files
            )
            await self._services.outbox.write(drafts)

    def _cut(self, why: str) -> str:
        shown = self._preview is not None and self._preview.message
        return "\n\n".join(part for part in (self.reply.text, f"_{why}_" if self.reply.text or shown else "") if part)

    async def _answer(self) -> TurnResult:
        if self._due is not None:
            return await self._work(await self._request())
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
            events = await stack.enter_async_context(aclosing(self._agent.turn(request)))
            async for event in events:
                match event:
                    case TurnResult():
                        return event
                    case ReplyText() | TextReset() | StepCompleted():
                        self.reply.feed(event)
                        preview.changed()
        raise RuntimeError("a turn ended without saying how")

    @property
    def _due(self) -> DueJob | None:
        return self.rows[0].message.due

    async def _work(self, request: TurnRequest) -> TurnResult:
        """Runs the agent. Nothing of a job's turn is shown before its end, and then only the last answer."""
        async with aclosing(self._agent.turn(request)) as events:
            async for event in events:
                match event:
                    case TurnResult(text=text) if self.reply.last_step and text.endswith(self.reply.last_step):
                        return replace(event, text=self.reply.last_step)
                    case TurnResult():
                        return event
                    case ReplyText() | TextReset() | StepCompleted():
                        self.reply.feed(event)
        raise RuntimeError("a turn ended without saying how")

    async def _request(self) -> TurnRequest:
        first = self.rows[0]
        return TurnRequest(
            id=self.id,
            session=self._conversation.session,
            scope=self._conversation.scope,
            said=await self._as_said(self._said),
            arrived=self._arrived,
            tools=() if self._due else self._services.tools(first),
            model=self._services.choices.model(first.session),
            purpose=JOB if self._due else CHAT,
            fresh=self._due is not None,
            sealed=self._services.sealed_in_jobs if self._due else {},
            approvals=self._services.consent(first, self.id),
        )

    async def _opened(self, row: InboxRow, overheard: Sequence[InboxRow] = ()) -> UserMessage:
        session, is_owners = self._conversation.session, self._conversation.scope.audience is Audience.OWNER
        opened = await self._services.intake.opened(row.message, str(session), is_owners=is_owners)
        if needs_advice(opened):
            self._advice = ADVICE
        told = build_user_message(row.message, self._services.names, opened, overheard)
        return replace(told, id=f"{told.id}{ANEW}") if self.id.endswith(ANEW) else told

    async def _arrived(self) -> Sequence[UserMessage]:
        """Messages that came in this chat meanwhile, taken from the lane (steering). One with a file waits for a turn
        of its own, as do albums and whatever follows such a message."""
        if self._queue.mode != "steer" or self.is_trial:
            return ()
        inbox = self._services.inbox
        here = self.rows[0].message.address
        said_here = [inbox.row(seq) for seq in self._lane if inbox.row(seq).message.address == here]
        plain = itertools.takewhile(
            lambda row: not row.message.album and not has_files(row.message),
            (row for row in said_here if not row.turn),
        )
        steering = {row.seq for row in plain}
        waiting = self._lane.take_where(lambda seq: seq in steering, self._queue.cap)
        if not waiting:
            return ()
        rows = [inbox.row(seq) for seq in waiting]
        self.rows += rows
        self._services.in_hand.put(self._name, [row.seq for row in self.rows])
        await inbox.join(rows, self.id)
        return await self._as_said([inbox.row(row.seq) for row in rows])  # an edit may have come until now

    async def _as_said(self, rows: Sequence[InboxRow]) -> tuple[UserMessage, ...]:
        """The messages for the model: in a group, each with the new overheard ones before it."""
        if self._conversation.is_private or not rows:
            return tuple([await self._opened(row) for row in rows])
        overheard = await self._services.inbox.overheard(rows[0].session, max(row.seq for row in rows))
        shown: list[UserMessage] = []
        for row in rows:
            before = [one for one in overheard if self._shown_up_to < one.seq < row.seq]
            shown.append(await self._opened(row, before))
            self._shown_up_to = max(self._shown_up_to, row.seq)
        return tuple(shown)

    async def _overheard(self) -> Sequence[InboxRow]:
        """Overheard messages that were shown with those of this turn, by an earlier process too."""
        if not self._shown_up_to:
            return ()
        return await self._services.inbox.overheard(self.rows[0].session, max(row.seq for row in self.rows))

    async def _standing_preview(self) -> tuple[str, bool]:
        """The message that the end replaces, perhaps an earlier process's, and whether there may be an unknown one."""
        if self._preview is not None:
            return self._preview.message, self._preview.uncertain
        known = await self._services.database.run(outbox_rows.preview_of, self.id)
        return known or "", known == ""

    def _reply_to(self) -> str:
        """The message to answer in a reply: always in groups; in a private chat only if others came in between."""
        message = self.rows[0].message
        quotes = self._services.channels[message.address.channel].pace(message.address).quotes
        return message.platform_id if quotes or not self._conversation.is_private or len(self._lane) else ""

    async def _end(self, end: TurnResult, outcome: str = "", besides: Sequence[Draft] = ()) -> None:
        """Writes the one end. Where that fails for good, an error text is the end; where even that fails, a mark in the
        inbox, so that no message waits for ever."""
        try:
            await self._end_with(end, outcome, besides)
        except (StoreUnavailable, OSError):
            raise
        except Exception:
            log.exception("the end of turn %s failed", self.id)
            try:
                await self._end_with(TurnResult(ResultKind.ERROR, _BUG, Usage()), outcome, besides)
            except (StoreUnavailable, OSError):
                raise
            except Exception:
                log.exception("turn %s ends in silence", self.id)
                await self._services.inbox.finish(self.rows, outcome or str(ResultKind.ERROR))

    async def _end_with(self, end: TurnResult, outcome: str, besides: Sequence[Draft]) -> None:
        """Commits the end of messages with the reply to them, then sends it. `besides`: messages to others, in the same
        commit."""
        self.ended = True
        preview, uncertain = await self._standing_preview()
        if self._due is not None:
            end, outcome = await self._end_of_job(self._due, end, outcome)
        text = f"{end.text}\n\n{self._advice}" if self._advice and end.kind is ResultKind.REPLY else end.text
        if not text and preview:
            text = self.reply.text or "…"
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
        )
        rows = [*self.rows, *await self._overheard()]
        besides = [draft for draft in besides if self._due or draft.address != address]
        async with self._services.outbox.sending(drafts) as begin:
            await self._services.inbox.finish(rows, outcome or str(end.kind), [*drafts, *besides], begin=begin)
        self._services.outbox.wake(besides)
        self._services.acknowledgement.ended(self.rows)

    async def _end_of_job(self, due: DueJob, end: TurnResult, outcome: str) -> tuple[TurnResult, str]:
        """The end of a job's turn. Failures do not go into the chat: the schedule reads them, tries again and tells the
        owner."""
        if outcome or end.kind is ResultKind.ERROR:
            return replace(end, text=""), outcome or f"{ResultKind.ERROR}: {end.text}"
        if not due.late or not end.text:
            return end, outcome
        language = await self._services.database.run(chat_rows.language, self.rows[0].message.address)
        return replace(end, text=f"{end.text}\n\n{late_mark(due.moment, language)}"), outcome
