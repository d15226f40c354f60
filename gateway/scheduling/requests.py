"""What people may ask of the schedule, and who may: for tools, commands and the command line.

A group schedules for its own chat only, another person for their own chats, the owner for any. Nobody sees or changes
jobs of another's chat.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from channels.message import Address, ChatKind
from channels.terminal import NAME as TERMINAL
from gateway import recurrence as when_
from gateway.policy.access import Access
from gateway.policy.recipients import ChatDirectory
from gateway.recurrence import (
    At,
    Every,
    InvalidWhen,
    When,
    away,
    exists,
    is_twice,
    local,
    next_after,
    resolved,
    runs_within,
    soon,
)
from gateway.scheduling import job as job_
from gateway.scheduling import reminders
from gateway.scheduling.job import OWNER, InvalidJob, Job, JobKind
from gateway.scheduling.job_store import NotChanged
from gateway.scheduling.reminders import Reminder
from gateway.scheduling.service import ScheduleService
from gateway.scheduling.targets import NoTarget
from gateway.store.chat_rows import KnownChat
from gateway.store.run_rows import BY_HAND, Run

MOST_OF_OTHERS = 100
"""Jobs that may report to the chats of one person or group."""
MOST_PROMPTS_OF_OTHERS = 5
"""Of those, the ones that call a model, for each chat."""
LEAST_BETWEEN_PROMPTS = timedelta(minutes=15)
"""Between two runs of one of these."""
DEFAULT_HISTORY = 50


class JobRefused(Exception):
    """The request cannot be carried out. Sentences for the person or the model."""


@dataclass(frozen=True, slots=True)
class Requester:
    """`person` is empty in a group; `is_owner` only in the owner's private chats, or on their machine."""

    chat: Address | None
    person: str = ""
    is_owner: bool = False


OPERATOR = Requester(None, is_owner=True)
"""Whoever may use the command line of this home."""


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job as it was asked for, every field as it was written. `to` empty: the requester's own chat."""

    text: str
    when: Mapping[str, str]
    kind: str = str(JobKind.MESSAGE)
    to: str = ""
    timezone: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class JobListing:
    """A job in a list. `last`: its newest run."""

    job: Job
    zone: ZoneInfo
    next_run: datetime | None
    last: Run | None


@dataclass(frozen=True, slots=True)
class JobReceipt:
    """`said`: when it is due next, in local time and zone, with remarks; `soon`: the same in words where it is today or
    tomorrow. `is_here`: it reports to the chat of the request."""

    job: Job
    said: str
    soon: str = ""
    is_here: bool = False


class JobService:
    def __init__(self, schedule: ScheduleService, access: Access, on: Collection[str]) -> None:
        """`on`: the channels that are on in the configuration, whether or not this process runs them."""
        self._schedule = schedule
        self._access = access
        self._on = on
        self._adding = asyncio.Lock()
        """So that no two are added into the last free place."""

    async def rows(self, asker: Requester) -> Sequence[JobListing]:
        """The jobs that the requester may see."""
        await self._schedule.load()
        last = await self._schedule.ledger.last_runs()
        own = await self._own_chats(asker)
        zone, jobs = self._schedule.clock.zone, self._schedule.jobs

        def look() -> list[JobListing]:
            return [
                JobListing(job, job.zone(zone), self._schedule.next_run(job), _of_this(job, last.get(id), zone))
                for id, job in jobs.items()
                if self._may(asker, job, own) and self._schedule.is_of_use(id)
            ]

        return await asyncio.to_thread(look)  # ten thousand jobs take a second

    async def add(self, asker: Requester, wish: JobRequest) -> JobReceipt:
        """Adds a job. An identical one is not added again, except under another id that was asked for. Raises
        `JobRefused`."""
        await self._schedule.load()
        own = await self._own_chats(asker)
        job = self._read(asker, wish)
        if not self._may(asker, job, own):
            raise JobRefused(f"From here, jobs can only report to this chat, not to {job.to}.")
        await self._check_target(job, own)
        said, soon = self._said(job)
        is_here = asker.chat is not None and await self._now_at(job.to) == self._now(str(asker.chat))
        present = self._schedule.jobs
        same = next((one for one in present.values() if wish.id in ("", one.id) and _is_same(one, job)), None)
        if same is not None:
            return JobReceipt(same, said, soon, is_here)
        async with self._adding:
            self._check_room(asker, own)
            if job.kind is JobKind.PROMPT and not asker.is_owner:
                await self._check_cost(job)
            try:
                await self._schedule.add(job)
            except NotChanged as error:
                raise JobRefused(f"It could not be added: {error}.") from error
        return JobReceipt(job, said, soon, is_here)

    async def _check_target(self, job: Job, own: Collection[str]) -> None:
        """Raises `JobRefused` where `to` cannot be reached, as for `send_message`. Of a channel that is off, this is
        unknown."""
        if job.to == OWNER or job.off_channel(self._on) or self._now(job.to) in own:
            return
        targets = await self._schedule.reports.targets()
        try:
            dataclasses.replace(targets, channels=[Address.parse(job.to).channel]).find(job.to)
        except NoTarget as error:
            raise JobRefused(f"{error}.") from error

    async def remove(self, asker: Requester, id: str) -> Job:
        """Removes a job. Raises `JobRefused`."""
        job = await self._find(asker, id)
        if job.kind is JobKind.BUILT_IN:
            raise JobRefused(f"{id} is a job of Daybook's own; it can be paused, not removed.")
        await self._changed(self._schedule.remove(id), id)
        return job

    async def switch(self, asker: Requester, id: str, *, enabled: bool) -> Job:
        """Pauses or resumes a job. Raises `JobRefused`."""
        job = await self._find(asker, id)
        if job.enabled != enabled:
            await self._changed(self._schedule.switch(id, enabled=enabled), id)
        return self._schedule.jobs.get(id, job)

    async def snooze(self, asker: Requester, name: str, at: datetime) -> JobReceipt:
        """Makes a reminder ring again at that moment; one that has not rung yet is moved. `name`: its id, or a button's
        name of a run. Raises `JobRefused`."""
        own = await self._own_chats(asker)
        reminder = await self._reminder(asker, name, own)
        again = self._read(
            asker, JobRequest(reminder.text, {"at": at.isoformat()}, to=reminder.to, id=reminder.id_again)
        )
        said, _ = self._said(again)
        jobs = self._schedule.jobs
        if not any(_is_same(one, again) for one in jobs.values()):
            if again.id not in jobs:
                self._check_room(asker, own)
            await self._changed(self._schedule.put(again), again.id)
        return JobReceipt(again, said)

    async def done(self, asker: Requester, name: str) -> str:
        """Marks a reminder as done: it does not ring again, a recurring one only at its next time. Returns its text.
        `name` as in `snooze`. Raises `JobRefused`."""
        reminder = await self._reminder(asker, name, await self._own_chats(asker))
        if reminder.pending:
            try:
                await self._schedule.remove(reminder.pending)
            except KeyError:
                pass  # it has rung meanwhile, and is gone
            except NotChanged as error:
                raise JobRefused(f"That was not done: {error}.") from error
        return reminder.text

    async def _reminder(self, asker: Requester, name: str, own: Collection[str]) -> Reminder:
        await self._schedule.load()
        jobs, number = self._schedule.jobs, reminders.number(name)
        if number is None and name in jobs:
            job = await self._find(asker, name)
            if job.kind is not JobKind.MESSAGE:
                raise JobRefused(f"{name} is no reminder.")
            return reminders.of_job(job, jobs)
        ledger = self._schedule.ledger
        run = await ledger.numbered(number) if number is not None else next(iter(await ledger.history(name, 1)), None)
        if run is None or run.kind != JobKind.MESSAGE or not self._may_answer(asker, run, own):
            raise JobRefused("That reminder is not here any more." if number else f"There is no job {name[:64]}.")
        return reminders.of_run(run, jobs, self._schedule.clock.zone, here=str(run.address or OWNER))

    def _may_answer(self, asker: Requester, run: Run, own: Collection[str]) -> bool:
        return asker.is_owner or (run.address is not None and self._now(str(run.address)) in own)

    def _check_room(self, asker: Requester, own: Collection[str]) -> None:
        jobs = self._schedule.jobs.values()
        if not asker.is_owner and sum(self._may(asker, one, own) for one in jobs) >= MOST_OF_OTHERS:
            raise JobRefused(f"There are {MOST_OF_OTHERS} jobs for this chat already; remove some first.")

    async def _check_cost(self, job: Job) -> None:
        """Refuses too many or too frequent prompts: each run costs the owner a turn."""
        prompts = [one for one in self._schedule.jobs.values() if one.kind is JobKind.PROMPT]
        if sum(self._chat(one.to) == self._chat(job.to) for one in prompts) >= MOST_PROMPTS_OF_OTHERS:
            raise JobRefused(
                f"There are {MOST_PROMPTS_OF_OTHERS} jobs of kind prompt for this chat already, and only my owner may "
                "add more; remove one first."
            )
        if await asyncio.to_thread(runs_within, job.when, LEAST_BETWEEN_PROMPTS):
            minutes = LEAST_BETWEEN_PROMPTS // timedelta(minutes=1)
            raise JobRefused(
                f"{when_.in_words(job.when)} is too often for a job of kind prompt: its runs must be at least "
                f"{minutes} minutes apart, unless my owner adds it."
            )

    def _chat(self, to: str) -> str:
        """The chat of an address, without its topic."""
        now = self._now(to)
        return now if now == OWNER else str(dataclasses.replace(Address.parse(now), thread_id=None))

    async def run(self, asker: Requester, id: str) -> Job:
        """Runs a job now, whether or not it is paused. Raises `JobRefused`."""
        job = await self._find(asker, id)
        if not await self._schedule.run_now(job):
            raise JobRefused(f"{id} is running already.")
        return job

    async def history(self, asker: Requester, id: str | None = None, most: int = DEFAULT_HISTORY) -> Sequence[Run]:
        """The newest runs first: of one job, also a former one, or of all that the requester may see."""
        await self._schedule.load()
        runs = await self._schedule.ledger.history(id, most)
        if id is not None and not (asker.is_owner and runs):
            await self._find(asker, id)
        seen = {row.job.id for row in await self.rows(asker)}
        return [run for run in runs if asker.is_owner or run.job in seen]

    async def chat(self, to: str) -> KnownChat | None:
        """The chat of an address; None where it is none or cannot be reached."""
        try:
            address = Address.parse(to)
        except ValueError:
            return None
        return ChatDirectory(self._access, (await self._schedule.reports.targets()).known).at(address)

    def next_run(self, job: Job) -> str:
        """The next run in local time and zone; empty where there is none."""
        due = self._schedule.next_run(job)
        return local(due, job.zone(self._schedule.clock.zone)) if due is not None else ""

    # who may ---------------------------------------------------------------------------------------------------

    async def _own_chats(self, asker: Requester) -> frozenset[str]:
        """The requester's chats, as `to` names them."""
        own = {str(asker.chat)} if asker.chat is not None else set()
        if asker.person and not asker.is_owner:
            for chat in (await self._schedule.reports.targets()).known:
                person = self._access.person(chat.address.channel, chat.user_id)
                if chat.kind is ChatKind.PRIVATE and person == asker.person:
                    own.add(str(chat.address))
        return frozenset(own)

    def _may(self, asker: Requester, job: Job, own: Collection[str]) -> bool:
        return asker.is_owner or (job.kind is not JobKind.BUILT_IN and self._now(job.to) in own)

    def _now(self, to: str) -> str:
        """A chat address with the present id of the chat."""
        if to == OWNER:
            return to
        address = Address.parse(to)
        chat_id = self._access.current_chat_id(address.channel, address.chat_id)
        return str(dataclasses.replace(address, chat_id=chat_id))

    async def _now_at(self, to: str) -> str:
        """The chat in which a job would report now; empty where there is none."""
        with contextlib.suppress(NoTarget):
            return str((await self._schedule.reports.targets()).owner().address) if to == OWNER else self._now(to)
        return ""

    async def _find(self, asker: Requester, id: str) -> Job:
        await self._schedule.load()
        job = self._schedule.jobs.get(id)
        if job is None or not self._may(asker, job, await self._own_chats(asker)):
            raise JobRefused(f"There is no job {id[:64]}.")
        return job

    @staticmethod
    async def _changed(work: Awaitable[None], id: str) -> None:
        try:
            await work
        except KeyError as error:
            raise JobRefused(f"There is no job {id} any more.") from error
        except NotChanged as error:
            raise JobRefused(f"That was not done: {error}.") from error

    # what is asked for -----------------------------------------------------------------------------------------

    def _read(self, asker: Requester, wish: JobRequest) -> Job:
        is_lasting = asker.chat is not None and asker.chat.channel != TERMINAL
        here = str(asker.chat) if is_lasting else OWNER  # a terminal is there only while it is open
        try:
            job = job_.read(
                {
                    "id": wish.id or job_.new_id(wish.text, self._schedule.jobs.keys()),
                    "kind": wish.kind,
                    "text": wish.text,
                    "when": dict(wish.when),
                    "to": wish.to or here,
                    "timezone": wish.timezone,
                }
            )
        except (InvalidJob, InvalidWhen) as error:
            raise JobRefused(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
        if isinstance(job.when, Every) and job.when.start is None:
            start = self._schedule.clock.now().astimezone(job.zone(self._schedule.clock.zone))
            job = dataclasses.replace(job, when=Every(job.when.interval, start.replace(tzinfo=None, microsecond=0)))
        return dataclasses.replace(job, when=_on_the_wall(job.when, job.zone(self._schedule.clock.zone)))

    def _said(self, job: Job) -> tuple[str, str]:
        """When it is due next, as in `JobReceipt`. Raises `JobRefused` where that is past, or never."""
        clock = self._schedule.clock
        zone, now = job.zone(clock.zone), clock.now()
        due = next_after(job.when, zone, now)
        if due is None and isinstance(job.when, At):
            past = local(resolved(job.when.moment, zone), zone)
            raise JobRefused(f"{past} is past: it is {local(now, zone)} now. Say a time that is still to come.")
        if due is None:
            raise JobRefused(f"{when_.in_words(job.when)} never comes.")
        said = f"{local(due, zone)} ({away(due - now)})"
        if isinstance(job.when, At) and job.when.moment.tzinfo is None:
            said += _remark(job.when.moment, zone)
        if channel := job.off_channel(self._on):
            said += f"; but {channel} is off here, so it cannot be delivered until that channel is on"
        return said, soon(due, now, zone)


def _on_the_wall(when: When, zone: ZoneInfo) -> When:
    """A moment as clocks in `zone` show it, for readers of the file; unchanged where they show it twice."""
    if not isinstance(when, At) or when.moment.tzinfo is None:
        return when
    wall = when.moment.astimezone(zone).replace(tzinfo=None, fold=0)
    return when if is_twice(wall, zone) else At(wall)


def _remark(wall: datetime, zone: ZoneInfo) -> str:
    if not exists(wall, zone):
        return (
            f"; {wall:%H:%M} does not exist that night (the clocks go forward), so the next minute that does is taken"
        )
    if is_twice(wall, zone):
        offset = f"{wall.replace(tzinfo=zone, fold=0):%z}"
        return f"; {wall:%H:%M} comes twice that night (the clocks go back), and the first is taken (UTC{offset[:3]})"
    return ""


def _of_this(job: Job, last: Run | None, zone: ZoneInfo) -> Run | None:
    """The last run, if it belongs to this job and not to an earlier one of the same id."""
    if last is None or not isinstance(job.when, At) or last.due.startswith(BY_HAND):
        return last
    return last if last.moment == resolved(job.when.moment, job.zone(zone)) else None


def _is_same(one: Job, other: Job) -> bool:
    mine, others = (when_.fields(job.when) for job in (one, other))
    mine.pop("from", None)
    others.pop("from", None)
    same = (one.kind, one.text, one.to, one.timezone) == (other.kind, other.text, other.to, other.timezone)
    return same and mine == others and one.enabled
