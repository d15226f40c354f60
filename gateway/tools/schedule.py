"""`schedule_add`, `schedule_list`, `schedule_remove`: jobs and reminders by conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import TypeVar

from agent.formats.untrusted import label
from agent.memory.private_lines import private_line
from agent.memory.provenance import own_mark
from agent.tools import schema
from agent.tools.arguments import text
from agent.tools.base import Arguments, Effect, EffectKind, Tool, ToolError, ToolResult
from agent.tools.foreign_text import ForeignText, foreign, in_text, unique
from channels.message import ChatKind
from gateway import recurrence as when_
from gateway.i18n import one_line
from gateway.policy.access import Role
from gateway.policy.sessions import SessionPolicy, SessionRoute, is_same_audience
from gateway.recurrence import local
from gateway.scheduling.job import OWNER, Job, JobKind
from gateway.scheduling.requests import JobListing, JobRefused, JobRequest, JobService, Requester
from gateway.store.inbox_rows import InboxRow

T = TypeVar("T")

_MOST_LISTED = 100
_SHOWN = 80
_WHEN = '{"at": "2026-11-22T15:00"} local time, {"every": "2h"} or {"cron": "0 8 * * 1-5"}; exactly one'

_ADD = schema.spec(
    "schedule_add",
    "Add a reminder (message: the text is sent as it is) or a job (prompt: you do what it says, your answer is sent). "
    "Tell the person the exact time that comes back.",
    {
        "kind": schema.string(enum=(str(JobKind.MESSAGE), str(JobKind.PROMPT))),
        "text": schema.string(),
        "when": {"type": "object", "description": _WHEN},
    },
    {
        "timezone": schema.string("IANA; default the user's"),
        "to": schema.string("chat address; default this chat"),
    },
)
_LIST = schema.spec("schedule_list", "List jobs and reminders with their ids and next runs.", {})
_REMOVE = schema.spec("schedule_remove", "Remove a job or reminder.", {"id": schema.string()})


class ScheduleTools:
    def __init__(self, book: JobService, sessions: SessionPolicy) -> None:
        self._book = book
        self._sessions = sessions

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tools for the sender of a message. A job gets none: no job is made from inside a job."""
        if row.message.due is not None:
            return ()
        asker = asker_of(row, self._sessions.of_row(row))

        async def add(arguments: Arguments) -> ToolResult:
            wish = JobRequest(
                text=own_mark(text(arguments, "text")),
                when=_when(arguments),
                kind=text(arguments, "kind"),
                to=text(arguments, "to"),
                timezone=text(arguments, "timezone"),
            )
            booked = await _asked(self._book.add(asker, wish))
            where = "in this chat" if booked.is_here else f"to {booked.job.to}"
            when = ", ".join(filter(None, [booked.soon, booked.said]))
            return ToolResult(f"Added {booked.job.id}: {when_.in_words(booked.job.when)}, {where}. Next: {when}.")

        async def list_(_: Arguments) -> ToolResult:
            rows = await self._book.rows(asker)
            lines = [_line(row) for row in rows[:_MOST_LISTED]]
            if len(rows) > _MOST_LISTED:
                lines.append(f"[and {len(rows) - _MOST_LISTED} more]")
            listed = "\n".join(lines) or "There are no jobs or reminders."
            return ToolResult(listed, foreign=await found([row.job for row in rows[:_MOST_LISTED]]))

        async def found(jobs: Sequence[Job]) -> tuple[ForeignText, ...]:
            """The parts of jobs that are text of others: their own jobs, and what was made from documents and the
            like."""
            chats = {job.to for job in jobs if job.kind is not JobKind.BUILT_IN}
            elsewhere = {to for to in chats if not await self._is_here(row, asker, to)}
            others = [foreign(job.to, job.text) for job in jobs if job.to in elsewhere]
            return unique([*others, *(one for job in jobs for one in in_text(job.text))])

        async def remove(arguments: Arguments) -> ToolResult:
            job = await _asked(self._book.remove(asker, text(arguments, "id").strip()))
            return ToolResult(f"Removed {job.id}: {one_line(job.text, _SHOWN)}", foreign=await found([job]))

        async def adding(arguments: Arguments) -> Effect | None:
            to, kind = text(arguments, "to").strip(), text(arguments, "kind")
            when = ", ".join(f"{name}: {value}" for name, value in _when(arguments).items())
            told = f"{text(arguments, 'text')}\n({kind}, {when})"
            return await self._effect(EffectKind.ADD_JOB, row, asker, to, kind, told)

        async def removing(arguments: Arguments) -> Effect | None:
            id = text(arguments, "id").strip()
            job = next((one.job for one in await self._book.rows(asker) if one.job.id == id), None)
            if job is None:
                return None
            told = f"{job.text}\n({job.kind}, {when_.in_words(job.when)})"
            return await self._effect(EffectKind.REMOVE_JOB, row, asker, job.to, str(job.kind), told)

        return (
            Tool(_ADD, add, effect=adding),
            Tool(_LIST, list_, reads_only=True),
            Tool(_REMOVE, remove, effect=removing),
        )

    async def _is_here(self, row: InboxRow, asker: Requester, to: str) -> bool:
        """True where the audience of the chat that a job reports to (empty: this one) listens here too."""
        if not to or to == OWNER:
            return not to or asker.is_owner
        chat = await self._book.chat(to)
        here = self._sessions.of_row(row).scope
        return chat is not None and is_same_audience(self._sessions.in_chat(chat).scope, here)

    async def _effect(
        self, act: EffectKind, row: InboxRow, asker: Requester, to: str, kind: str, told: str
    ) -> Effect | None:
        """The effect of a job of that kind that reports to that chat; None for a reminder to this audience."""
        is_here = await self._is_here(row, asker, to)
        if is_here and kind != JobKind.PROMPT:
            return None
        if not is_here and not asker.is_owner:
            return None  # nobody but the owner can: the book refuses it
        chat = await self._book.chat(to or str(asker.chat))
        title = label(chat.title) if chat is not None else ""
        scope = self._sessions.of_row(row).scope
        private = "" if is_here else await asyncio.to_thread(private_line, scope, told)
        target = " ".join(filter(None, [title, f"({to or asker.chat})"]))
        return Effect(act, target, told, private=private, this_turn=is_here)


def asker_of(row: InboxRow, conversation: SessionRoute) -> Requester:
    """The sender of a message, as the schedule sees them."""
    private = row.message.kind is ChatKind.PRIVATE
    is_owner = private and conversation.role is Role.OWNER
    return Requester(row.message.address, conversation.person if private else "", is_owner)


def _when(arguments: Arguments) -> Mapping[str, str]:
    when = arguments["when"]
    assert isinstance(when, Mapping)
    return {str(name): str(value) for name, value in when.items() if value is not None}


async def _asked(work: Awaitable[T]) -> T:
    try:
        return await work
    except JobRefused as error:
        raise ToolError(str(error)) from error


def _line(row: JobListing) -> str:
    job = row.job
    next_run = (
        f"next {local(row.next_run, row.zone)}" if row.next_run else "paused" if not job.enabled else "no next run"
    )
    last = f"; last {row.last.state}" if row.last is not None else ""
    return (
        f"{job.id} [{job.kind}] {when_.in_words(job.when)}, to {job.to}; {next_run}{last}: {one_line(job.text, _SHOWN)}"
    )
