"""Jobs as people and models add and change them: for tools, commands and the command line."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from agent.languages.sentences import Sentence, SentenceSeries
from channels.message import Address
from channels.terminal import NAME as TERMINAL
from gateway import recurrence as when_
from gateway.policy.access import Access
from gateway.policy.preferences import HomeZone
from gateway.recurrence import At, Every, InvalidWhen, is_twice, local, next_after, resolved, runs_within
from gateway.recurrence_in_words import in_words, remark_on
from gateway.scheduling import job as job_
from gateway.scheduling import reminders
from gateway.scheduling.job import OWNER, InvalidJob, Job, JobKind
from gateway.scheduling.job_access import OPERATOR, JobAccess, Requester
from gateway.scheduling.job_store import NotChanged
from gateway.scheduling.reminders import Reminder
from gateway.scheduling.service import ScheduleService
from gateway.scheduling.targets import NoTarget
from gateway.spoken_time import from_now, span, spoken
from gateway.store.run_rows import Run

MOST_OF_OTHERS = 100
"""Jobs that may report to the chats of one person or group."""
MOST_PROMPTS_OF_OTHERS = 5
"""Jobs among them that call a model, for each chat."""
LEAST_BETWEEN_PROMPTS = timedelta(minutes=15)
"""The least time between two runs of a job that calls a model."""
DEFAULT_HISTORY = 50


class JobRefused(Exception):
    """The request is refused: sentences for the person or the model."""


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A requested job as it was written. `to` empty: the requester's chat."""

    text: str
    when: Mapping[str, str]
    kind: str = str(JobKind.MESSAGE)
    to: str = ""
    timezone: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class SeenJob:
    text: str
    when: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class JobListing:
    job: Job
    zone: ZoneInfo
    next_run: datetime | None
    last: Run | None
    """Its newest run."""


@dataclass(frozen=True, slots=True)
class JobReceipt:
    job: Job
    due: datetime | None
    """When it is due next; None where that stays as it was."""
    spoken: str
    """The due time in words, in the user's zone."""
    exact: str
    """The due time in the job's zone, which it names."""
    remark: str = ""
    """A space and a sentence, or empty."""
    is_here: bool = False
    """It reports to the chat of the request."""


class JobService:
    def __init__(
        self, schedule: ScheduleService, access: Access, channels_on: Collection[str], home_zone: HomeZone
    ) -> None:
        """`channels_on`: as configured, though this process may not run them."""
        self.home_zone = home_zone
        self.access = JobAccess(access, schedule.reports)
        self._schedule = schedule
        self._channels_on = channels_on
        self._adding = asyncio.Lock()
        """Keeps two requests from taking the same id, or the last free place."""

    @property
    def now(self) -> datetime:
        """Now, on the user's clock."""
        return self._schedule.clock.now()

    async def rows(self, requester: Requester) -> Sequence[JobListing]:
        """The jobs that the requester may see."""
        await self._schedule.load()
        last = await self._schedule.run_state.last_runs()
        own = await self.access.own_chats(requester)
        zone, jobs = self._schedule.clock.zone, self._schedule.jobs

        def look() -> list[JobListing]:
            return [
                JobListing(job, job.zone(zone), self._schedule.next_run(job), _of_this(job, last.get(id), zone))
                for id, job in jobs.items()
                if self.access.may_use(requester, job, own) and self._schedule.is_of_use(id)
            ]

        return await asyncio.to_thread(look)  # ten thousand jobs take a second

    async def add(self, requester: Requester, request: JobRequest) -> JobReceipt:
        """Adds a job, or returns an identical one where no other id is requested. Raises `JobRefused`."""
        await self._schedule.load()
        own = await self.access.own_chats(requester)
        async with self._adding:
            job = self._read(requester, request)
            if not self.access.may_use(requester, job, own):
                raise JobRefused(Sentence("From here I can only send to this chat, not to {to}.", to=job.to))
            await self._check_target(requester, job, own)
            jobs = self._schedule.jobs.values()
            same = next((other for other in jobs if request.id in ("", other.id) and _is_same(other, job)), None)
            is_here = await self.access.reports_to(job.to, requester.chat)
            receipt = dataclasses.replace(self._receipt(job), job=same or job, is_here=is_here)
            if same is not None:
                return receipt
            self._check_room(requester, own)
            if job.kind is JobKind.PROMPT and not requester.is_owner:
                await self._check_cost(job)
            try:
                await self._schedule.add(job)
            except NotChanged as error:
                raise JobRefused(Sentence("I couldn't add it: {why}.", why=str(error))) from error
        return receipt

    async def change(
        self, requester: Requester, id: str, *, text: str, when: Mapping[str, str], seen: SeenJob | None
    ) -> JobReceipt:
        """Changes text and time; an empty text or time stays as it is. `seen`: what the person saw. Raises
        `JobRefused`."""
        job = await self._find(requester, id)
        if job.kind is JobKind.BUILT_IN:
            raise JobRefused(Sentence("That is one of my own jobs: you can pause it, but not change it."))
        present = SeenJob(job.text, when_.fields(job.when))
        if seen is not None and seen != present:
            raise JobRefused(Sentence("{id} was changed meanwhile. Look at it again before you change it.", id=id))
        is_moved = bool(when) and when != present.when
        fields = when if is_moved else present.when
        read = self._read(requester, JobRequest(text or job.text, fields, str(job.kind), job.to, job.timezone, id))
        changed = dataclasses.replace(job, text=read.text, when=read.when if is_moved else job.when)
        receipt = self._receipt(changed) if is_moved else JobReceipt(changed, None, self.next_run(job), "")
        if is_moved and job.kind is JobKind.PROMPT and not requester.is_owner:
            await self._check_cost(changed)
        await self._apply(self._schedule.replace(job, changed), id)
        return receipt

    async def _check_target(self, requester: Requester, job: Job, own: Collection[str]) -> None:
        """Raises `JobRefused` where `to` cannot be reached. While its channel is off, a conversation can only name a
        chat that is known; the command line may prepare for a channel that is to be on later."""
        is_off = bool(job.off_channel(self._channels_on))
        if job.to == OWNER or (is_off and requester == OPERATOR) or self.access.current(job.to) in own:
            return
        targets = await self._schedule.reports.targets()
        try:
            if is_off:
                targets.chat(job.to)
            else:
                dataclasses.replace(targets, channels=[Address.parse(job.to).channel]).find(job.to)
        except NoTarget as error:
            raise JobRefused(Sentence("{why}.", why=str(error))) from error

    async def remove(self, requester: Requester, id: str) -> Job:
        """Removes a job. Raises `JobRefused`."""
        job = await self._find(requester, id)
        if job.kind is JobKind.BUILT_IN:
            raise JobRefused(Sentence("That is one of my own jobs: you can pause it, but not delete it."))
        await self._apply(self._schedule.remove(id), id)
        return job

    async def cancel(self, requester: Requester, mark: str) -> Job | None:
        """Removes the job with that mark (`reminders.mark_of`), if it is there. Raises `JobRefused`."""
        await self._schedule.load()
        own = await self.access.own_chats(requester)
        found = [job for job in self._schedule.jobs.values() if self.access.may_use(requester, job, own)]
        job = next((job for job in found if reminders.mark_of(job) == mark), None)
        return await self.remove(requester, job.id) if job is not None else None

    async def switch(self, requester: Requester, id: str, *, enabled: bool) -> Job:
        """Pauses or resumes a job. Raises `JobRefused`."""
        job = await self._find(requester, id)
        if job.enabled != enabled:
            await self._apply(self._schedule.switch(id, enabled=enabled), id)
        return self._schedule.jobs.get(id, job)

    async def snooze(self, requester: Requester, name: str, at: datetime) -> JobReceipt:
        """Repeats a reminder at `at`, or moves it there if it has not rung. `name`: its id, or a button's. Raises
        `JobRefused`."""
        own = await self.access.own_chats(requester)
        async with self._adding:
            reminder = await self._reminder(requester, name, own)
            when, to = {"at": at.isoformat()}, reminder.to
            again = self._read(requester, JobRequest(reminder.text, when, to=to, id=reminder.id_again))
            receipt = self._receipt(again)
            if not any(_is_same(job, again) for job in self._schedule.jobs.values()):
                if again.id not in self._schedule.jobs:
                    self._check_room(requester, own)
                await self._apply(self._schedule.put(again), again.id)
        return receipt

    async def done(self, requester: Requester, name: str) -> str:
        """Ends a reminder, or its repetition; returns its text. `name` as in `snooze`. Raises `JobRefused`."""
        reminder = await self._reminder(requester, name, await self.access.own_chats(requester))
        if reminder.pending:
            try:
                await self._schedule.remove(reminder.pending)
            except KeyError:
                pass  # it has rung meanwhile, and is gone
            except NotChanged as error:
                raise JobRefused(Sentence("I couldn't do that: {why}.", why=str(error))) from error
        return reminder.text

    async def _reminder(self, requester: Requester, name: str, own: Collection[str]) -> Reminder:
        await self._schedule.load()
        jobs, number = self._schedule.jobs, reminders.number(name)
        if number is None and name in jobs:
            job = await self._find(requester, name)
            if job.kind is not JobKind.MESSAGE:
                raise JobRefused(Sentence("{id} is not a reminder.", id=name))
            return reminders.of_job(job, jobs)
        state = self._schedule.run_state
        run = await state.numbered(number) if number is not None else next(iter(await state.history(name, 1)), None)
        if run is None or run.kind != JobKind.MESSAGE or not self.access.may_answer(requester, run, own):
            raise _no_job(name) if number is None else JobRefused(Sentence("That reminder no longer exists."))
        return reminders.of_run(run, jobs, self._schedule.clock.zone, here=str(run.address or OWNER))

    def _check_room(self, requester: Requester, own: Collection[str]) -> None:
        jobs = self._schedule.jobs.values()
        if not requester.is_owner and sum(self.access.may_use(requester, job, own) for job in jobs) >= MOST_OF_OTHERS:
            raise JobRefused(Sentence("This chat already has {count} jobs. Delete some first.", count=MOST_OF_OTHERS))

    async def _check_cost(self, job: Job) -> None:
        """Refuses too many or frequent prompts: each run costs the owner a turn."""
        jobs = self._schedule.jobs.values()
        prompts = [other for other in jobs if other.kind is JobKind.PROMPT and other.id != job.id]
        chat = self.access.chat_of(job.to)
        if sum(self.access.chat_of(other.to) == chat for other in prompts) >= MOST_PROMPTS_OF_OTHERS:
            raise JobRefused(
                Sentence(
                    "This chat already has {count} jobs in which I think for myself, and only my owner can add more. "
                    "Delete one first.",
                    count=MOST_PROMPTS_OF_OTHERS,
                )
            )
        if await asyncio.to_thread(runs_within, job.when, LEAST_BETWEEN_PROMPTS):
            raise JobRefused(
                Sentence(
                    "That is too often ({when}): jobs in which I think for myself are at least {span} apart, unless my "
                    "owner adds them.",
                    when=in_words(job.when),
                    span=span(LEAST_BETWEEN_PROMPTS),
                )
            )

    async def run(self, requester: Requester, id: str) -> Job:
        """Runs a job now, even a paused one. Raises `JobRefused`."""
        job = await self._find(requester, id)
        if not await self._schedule.run_now(job):
            raise JobRefused(Sentence("{id} is already running.", id=id))
        return job

    async def history(self, requester: Requester, id: str | None = None, most: int = DEFAULT_HISTORY) -> Sequence[Run]:
        """Runs, newest first, of one job or of all jobs that the requester may see."""
        await self._schedule.load()
        runs = await self._schedule.run_state.history(id, most)
        if id is not None and not (requester.is_owner and runs):
            await self._find(requester, id)
        seen = {row.job.id for row in await self.rows(requester)}
        return [run for run in runs if requester.is_owner or run.job in seen]

    def next_run(self, job: Job) -> str:
        """The next run as people say it, if any."""
        due, clock = self._schedule.next_run(job), self._schedule.clock
        return spoken(due, clock.now(), clock.zone) if due is not None else ""

    async def _find(self, requester: Requester, id: str) -> Job:
        await self._schedule.load()
        job = self._schedule.jobs.get(id)
        if job is None or not self.access.may_use(requester, job, await self.access.own_chats(requester)):
            raise _no_job(id)
        return job

    @staticmethod
    async def _apply(change: Awaitable[None], id: str) -> None:
        try:
            await change
        except KeyError as error:
            raise JobRefused(Sentence("There is no job {id} any more.", id=id)) from error
        except NotChanged as error:
            raise JobRefused(Sentence("I couldn't do that: {why}.", why=str(error))) from error

    def _read(self, requester: Requester, request: JobRequest) -> Job:
        is_lasting = requester.chat is not None and requester.chat.channel != TERMINAL
        here = str(requester.chat) if is_lasting else OWNER  # a terminal is there only while it is open
        try:
            job = job_.read(
                {
                    "id": request.id or job_.new_id(request.text, self._schedule.jobs.keys()),
                    "kind": request.kind,
                    "text": request.text,
                    "when": dict(request.when),
                    "to": request.to or here,
                    "timezone": request.timezone,
                }
            )
        except (InvalidJob, InvalidWhen) as error:
            raise JobRefused(Sentence("{why}.", why=str(error))) from error
        zone = job.zone(self._schedule.clock.zone)
        if isinstance(job.when, Every) and job.when.start is None:
            now = self._schedule.clock.now().replace(microsecond=0)
            job = dataclasses.replace(job, when=dataclasses.replace(job.when, start=_on_the_wall(now, zone)))
        elif isinstance(job.when, At):
            job = dataclasses.replace(job, when=At(self._kept(job.when.moment, zone)))
        return job

    def _kept(self, moment: datetime, zone: ZoneInfo) -> datetime:
        """Where nobody has set the clock, "in 20 minutes" stays a moment: setting the clock then doesn't move it."""
        is_sure = moment.tzinfo is None or self.home_zone.is_chosen
        return _on_the_wall(moment, zone) if is_sure else moment.astimezone(UTC)

    def _receipt(self, job: Job) -> JobReceipt:
        """Raises `JobRefused` for a job that is never due again."""
        clock = self._schedule.clock
        zone, now = job.zone(clock.zone), clock.now()
        due = next_after(job.when, zone, now)
        if due is None and isinstance(job.when, At):
            past = spoken(resolved(job.when.moment, zone), now, clock.zone)
            raise JobRefused(
                Sentence(
                    "That is already past ({moment}): it is {now} now. Choose a later time.",
                    moment=past,
                    now=f"{now:%H:%M}",
                )
            )
        if due is None:
            raise JobRefused(Sentence("That time never comes: {when}.", when=in_words(job.when)))
        remarks = [remark_on(job.when.moment, zone) if isinstance(job.when, At) else ""]
        if channel := job.off_channel(self._channels_on):
            remarks.append(
                Sentence("But {channel} is switched off, so I can only send it once that is on again.", channel=channel)
            )
        remark = SentenceSeries(" ", ["", *filter(None, remarks)])
        exact = f"{local(due, zone)} ({from_now(due - now)})"
        return JobReceipt(job, due, spoken(due, now, clock.zone), exact, remark)


def _no_job(id: str) -> JobRefused:
    return JobRefused(Sentence("There is no job {id}.", id=id[:64]))


def _on_the_wall(moment: datetime, zone: ZoneInfo) -> datetime:
    """The moment on clocks in `zone`, or in UTC where they show it twice."""
    if moment.tzinfo is None:
        return moment
    wall = moment.astimezone(zone).replace(tzinfo=None, fold=0)
    return moment.astimezone(UTC) if is_twice(wall, zone) else wall


def _of_this(job: Job, last: Run | None, zone: ZoneInfo) -> Run | None:
    """`last`, unless an earlier job of the same id made it."""
    if last is None or not isinstance(job.when, At) or last.by_hand:
        return last
    return last if last.moment == resolved(job.when.moment, job.zone(zone)) else None


def _is_same(known: Job, other: Job) -> bool:
    mine, others = (when_.fields(job.when) for job in (known, other))
    mine.pop("from", None)
    others.pop("from", None)
    same = (known.kind, known.text, known.to, known.timezone) == (other.kind, other.text, other.to, other.timezone)
    return same and mine == others and known.enabled
