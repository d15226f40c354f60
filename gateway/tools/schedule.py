"""`schedule_add`, `schedule_list`, `schedule_remove`: jobs and reminders by conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from agent.formats.untrusted import label
from agent.memory.private_lines import private_line
from agent.memory.provenance import own_mark
from agent.tools.base import Effect, EffectKind, Tool, ToolError, ToolResult
from agent.tools.foreign_text import ForeignText, foreign, in_text, unique
from agent.tools.schema import Arguments, Text, checked, spec, takes
from channels.message import ChatKind
from gateway.i18n import one_line
from gateway.policy.access import Role
from gateway.policy.sessions import SessionPolicy, SessionRoute, is_same_audience
from gateway.recurrence import local
from gateway.recurrence_in_words import in_words
from gateway.scheduling.job import OWNER, Job, JobKind
from gateway.scheduling.job_access import Requester
from gateway.scheduling.requests import JobListing, JobRefused, JobRequest, JobService
from gateway.store.inbox_rows import InboxRow

T = TypeVar("T")

_MOST_LISTED = 100
_SHOWN = 80
_WHEN = '{"at": "2026-11-22T15:00"} local time, {"every": "2h"} or {"cron": "0 8 * * 1-5"}; exactly one'

_ADD = (
    "Add a reminder (message: the text is sent as it is) or a job (prompt: you do what it says, your answer is sent). "
    "Tell the person the exact time that comes back."
)

_ASK = (
    "Nobody has set my clock's zone yet: tell the person, this once, that it is {now:%H:%M} by my clock, and that "
    "/timezone sets it if that's wrong."
)


class _ScheduleAdd(Arguments):
    kind: Literal["message", "prompt"]
    text: Text
    when: Annotated[dict[str, object], Field(description=_WHEN)]
    timezone: Annotated[Text | None, Field(description="IANA; default the user's")] = None
    to: Annotated[Text | None, Field(description="chat address; default this chat")] = None


class _ScheduleRemove(Arguments):
    id: Text


class ScheduleTools:
    def __init__(self, jobs: JobService, sessions: SessionPolicy) -> None:
        self._jobs = jobs
        self._sessions = sessions

    def of_row(self, row: InboxRow) -> tuple[Tool, ...]:
        """The tools, but for a job or a task: no job is made from inside one."""
        if row.message.due is not None or row.message.is_task:
            return ()
        requester = requester_of(row, self._sessions.of_row(row))

        async def add(arguments: _ScheduleAdd) -> ToolResult:
            request = JobRequest(
                text=own_mark(arguments.text),
                when=_when(arguments),
                kind=arguments.kind,
                to=arguments.to or "",
                timezone=arguments.timezone or "",
            )
            receipt = await _or_tool_error(self._jobs.add(requester, request))
            where = "in this chat" if receipt.is_here else f"to {receipt.job.to}"
            next_run = f"Next: {receipt.spoken}, {receipt.exact}.{receipt.remark}"
            if requester.is_owner and await self._jobs.home_zone.is_to_be_named():
                next_run += f" {_ASK.format(now=self._jobs.now)}"
            return ToolResult(f"Added {receipt.job.id}: {in_words(receipt.job.when)}, {where}. {next_run}")

        async def list_(_: Arguments) -> ToolResult:
            rows = await self._jobs.rows(requester)
            lines = [_line(row) for row in rows[:_MOST_LISTED]]
            if len(rows) > _MOST_LISTED:
                lines.append(f"[and {len(rows) - _MOST_LISTED} more]")
            listed = "\n".join(lines) or "There are no jobs or reminders."
            return ToolResult(listed, foreign=await found([row.job for row in rows[:_MOST_LISTED]]))

        async def found(jobs: Sequence[Job]) -> tuple[ForeignText, ...]:
            chats = {job.to for job in jobs if job.kind is not JobKind.BUILT_IN}
            elsewhere = {to for to in chats if not await self._is_here(row, requester, to)}
            others = [foreign(job.to, job.text) for job in jobs if job.to in elsewhere]
            return unique([*others, *(text for job in jobs for text in in_text(job.text))])

        async def remove(arguments: _ScheduleRemove) -> ToolResult:
            job = await _or_tool_error(self._jobs.remove(requester, arguments.id.strip()))
            return ToolResult(f"Removed {job.id}: {one_line(job.text, _SHOWN)}", foreign=await found([job]))

        async def adding(arguments: _ScheduleAdd) -> Effect | None:
            to, kind = (arguments.to or "").strip(), arguments.kind
            when = ", ".join(f"{name}: {value}" for name, value in _when(arguments).items())
            shown = f"{arguments.text}\n({kind}, {when})"
            return await self._effect(EffectKind.ADD_JOB, row, requester, to, kind, shown)

        async def removing(arguments: _ScheduleRemove) -> Effect | None:
            id = arguments.id.strip()
            job = next((listing.job for listing in await self._jobs.rows(requester) if listing.job.id == id), None)
            if job is None:
                return None
            shown = f"{job.text}\n({job.kind}, {in_words(job.when)})"
            return await self._effect(EffectKind.REMOVE_JOB, row, requester, job.to, str(job.kind), shown)

        return (
            Tool(
                spec("schedule_add", _ADD, _ScheduleAdd),
                takes(_ScheduleAdd, add),
                effect=checked(_ScheduleAdd, adding),
            ),
            Tool(
                spec("schedule_list", "List jobs and reminders with their ids and next runs.", Arguments),
                takes(Arguments, list_),
                reads_only=True,
            ),
            Tool(
                spec("schedule_remove", "Remove a job or reminder.", _ScheduleRemove),
                takes(_ScheduleRemove, remove),
                effect=checked(_ScheduleRemove, removing),
            ),
        )

    async def _is_here(self, row: InboxRow, requester: Requester, to: str) -> bool:
        """True where `to` is this chat's audience. `to` empty: this chat."""
        if not to or to == OWNER:
            return not to or requester.is_owner
        chat = await self._jobs.access.chat(to)
        here = self._sessions.of_row(row).scope
        return chat is not None and is_same_audience(self._sessions.in_chat(chat).scope, here)

    async def _effect(
        self, act: EffectKind, row: InboxRow, requester: Requester, to: str, kind: str, shown: str
    ) -> Effect | None:
        """The effect of a job; None for a reminder to this audience."""
        is_here = await self._is_here(row, requester, to)
        if is_here and kind != JobKind.PROMPT:
            return None
        if not is_here and not requester.is_owner:
            return None  # nobody but the owner can: it is refused
        chat = await self._jobs.access.chat(to or str(requester.chat))
        title = label(chat.title) if chat is not None else ""
        scope = self._sessions.of_row(row).scope
        private = "" if is_here else await asyncio.to_thread(private_line, scope, shown)
        target = " ".join(filter(None, [title, f"({to or requester.chat})"]))
        return Effect(act, target, shown, private=private, this_turn=is_here)


def requester_of(row: InboxRow, route: SessionRoute) -> Requester:
    private = row.message.kind is ChatKind.PRIVATE
    is_owner = private and route.role is Role.OWNER
    return Requester(row.message.address, route.person if private else "", is_owner)


def _when(arguments: _ScheduleAdd) -> Mapping[str, str]:
    return {name: str(value) for name, value in arguments.when.items() if value is not None}


async def _or_tool_error(work: Awaitable[T]) -> T:
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
    return f"{job.id} [{job.kind}] {in_words(job.when)}, to {job.to}; {next_run}{last}: {one_line(job.text, _SHOWN)}"
