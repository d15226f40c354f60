"""The source for due jobs: runs each due time 0 or 1 times (invariant 11).

A due time is claimed on disk before anything is done about it; `runs` does the rest.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.clock import Clock, utc_stamp
from channels.message import Receive
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access
from gateway.recurrence import At, next_after
from gateway.scheduling import policy
from gateway.scheduling.builtins import BuiltIn, with_absent
from gateway.scheduling.clock import ScheduleClock, WaitQueue, open_schedule_clock
from gateway.scheduling.job import Job, JobKind
from gateway.scheduling.job_store import FILE, JobStore, NotChanged
from gateway.scheduling.policy import PAUSE_AFTER, Missed, Quiet, Timing, Wait
from gateway.scheduling.run_state import RunState
from gateway.scheduling.runs import Runs, new_run
from gateway.scheduling.targets import OwnerReports
from gateway.store.database import Database, StoreUnavailable
from gateway.store.run_rows import BY_HAND, OFF, JobRow, Run, RunStatus

log = logging.getLogger(__name__)

_GONE_FOR_GOOD = timedelta(minutes=1)
"""A job that was out of the file for so long begins anew when it is back; for less, an editor was at work."""
_IN_A_THREAD = 200
"""So many jobs at once are planned beside the loop."""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ScheduleRules:
    """`catch_up`: for how long a missed run is made up for. `interval`: seconds between two looks at the world."""

    catch_up: timedelta = timedelta(hours=12)
    quiet: Quiet | None = None
    interval: float = 3.0


class ScheduleService:
    """`tick` does all the work; `run` repeats it."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        workspace: Path,
        good_file: Path,
        outbox: Outbox,
        access: Access,
        channels: Collection[str],
        rules: ScheduleRules,
        built_ins: Sequence[BuiltIn] = (),
    ) -> None:
        """`good_file`: where the jobs of the last readable `schedule.yaml` are kept."""
        self.clock = clock
        self.file = JobStore(workspace, clock, good_file)
        self.ledger = RunState(database, clock)
        self.reports = OwnerReports(database, access, outbox, channels)
        self._built_ins = {one.id: one for one in with_absent(tuple(built_ins))}
        self._runs = Runs(database, clock, self.ledger, outbox, self.reports, self._built_ins)
        self._rules = rules
        self._waits = WaitQueue()
        self._firsts: dict[str, datetime] = {}
        """First due times that are not settled, where they are known."""
        self._jobs: Mapping[str, Job] | None = None
        self._places: dict[str, int] = {}
        """Where a job stands in the list: what is due together is said in that order."""
        self._seen: set[str] = set()
        self._gone: dict[str, datetime] = {}
        self._stuck: list[Run] = []
        self._last_tick = _LONG_AGO
        self._lock = asyncio.Lock()
        self._bell: ScheduleClock | None = None
        self._is_loaded = False
        self._is_offered = False
        self._is_edited = True
        """By hand, while we ran or did not."""

    def offer(self, *built_ins: BuiltIn) -> None:
        """Adds jobs of Daybook's own, in place of those of the same id."""
        self._built_ins.update({one.id: one for one in built_ins})
        self._jobs, self._is_offered = None, True
        self.ring()

    def withdraw(self, id: str) -> None:
        """Removes a job of Daybook's own."""
        self._built_ins.pop(id, None)
        self._jobs, self._is_offered = None, True
        self.ring()

    @property
    def name(self) -> str:
        return "schedule"

    async def run(self, receive: Receive) -> None:
        async with open_schedule_clock(self._rules.interval) as bell, asyncio.TaskGroup() as group:
            self._bell, self._runs.group = bell, group
            group.create_task(self._ring_for_the_ended())
            while True:
                wake = None
                try:
                    wake = await self.tick(receive)
                except StoreUnavailable as error:
                    log.error("the schedule waits for the disk: %s", error)
                await bell.wait(None if wake is None else wake - self.clock.instant())

    async def _ring_for_the_ended(self) -> None:
        while True:
            await self._runs.ended.wait()
            self._runs.ended.clear()
            self.ring()

    def ring(self) -> None:
        """Something has changed: look at once."""
        if self._bell is not None:
            self._bell.ring()

    @property
    def is_running(self) -> bool:
        return self._bell is not None

    async def load(self) -> None:
        """Reads jobs and how far they are, once, and what was offered since. Enough for a process without a gateway."""
        async with self._lock:
            await self._load()

    async def _load(self) -> None:
        if self._is_loaded:
            if self._is_offered:
                await self._meet()
            return
        await self.ledger.load()
        await asyncio.to_thread(self.file.look)
        self._gone = dict.fromkeys(self.ledger.known - self.jobs.keys(), _LONG_AGO)
        await self._meet()
        last = await self.ledger.last_runs()
        well = (RunStatus.DELIVERED, RunStatus.SILENT)
        # those that rang before the last process could take them out of the file
        await self._take_out([run for run in last.values() if run.once and run.state in well])
        self._is_loaded = True

    async def tick(self, receive: Receive) -> datetime | None:
        """Does what is due now. Returns when there is more to do, as far as is known."""
        async with self._lock:
            await self._load()
            now = self.clock.instant()
            if now < self._last_tick:
                log.warning("the clock was put back by %s", self._last_tick - now)
                self._waits.end()
                self._firsts.clear()
                await self.ledger.follow_clock()
            self._last_tick = now
            await self._look()
            await self._runs.follow_up()
            await self._pause_failing()  # before the next due time, which may have come, is taken up
            await self._take_up_due(now)
            await self._runs.begin(self.jobs, receive)
            await self._pause_failing()
            rung, self._runs.rung = self._runs.rung, []
            await self._take_out(rung)
            return self._next_wake()

    def _next_wake(self) -> datetime | None:
        tries = [datetime.fromisoformat(run.next_try) for run in self.ledger.open if run.next_try]
        return min(filter(None, [self._waits.next(), *tries]), default=None)

    # which jobs ------------------------------------------------------------------------------------------------

    @property
    def jobs(self) -> Mapping[str, Job]:
        """All listed jobs, Daybook's own first."""
        if self._jobs is None:
            self._jobs = self._listed()
        return self._jobs

    def _listed(self) -> Mapping[str, Job]:
        own = {
            one.id: Job(
                one.id, JobKind.BUILT_IN, one.text, one.when, enabled=one.enabled and not self.is_paused(one.id)
            )
            for one in self._built_ins.values()
        }
        paused = {id: dataclasses.replace(self.file.jobs[id], enabled=False) for id in self._paused_here()}
        return own | self.file.jobs | paused

    def is_of_use(self, id: str) -> bool:
        """True where a job is worth a line in a list."""
        own = self._built_ins.get(id)
        return own is None or own.is_of_use()

    def _paused_here(self) -> Sequence[str]:
        """Paused jobs whose file could not be changed to say so."""
        return [id for id in self.ledger.paused if id in self.file.jobs]

    def is_paused(self, id: str) -> bool:
        """True where somebody paused the job though its file does not say so. Needs `load`."""
        row = self.ledger.job(id)
        return row is not None and row.paused

    def timing(self, job: Job) -> Timing:
        own = self._built_ins.get(job.id)
        waits = own.heeds_quiet if own is not None else job.kind is JobKind.PROMPT
        catch_up = self._rules.catch_up if job.catch_up else timedelta()
        return Timing(job.when, job.zone(self.clock.zone), catch_up, self._rules.quiet if waits else None)

    def next_run(self, job: Job) -> datetime | None:
        """When the job runs next; None: never, or it is paused. If others do its work, the first of theirs."""
        if not job.enabled and (own := self._built_ins.get(job.id)) is not None:
            others = [self.next_run(self.jobs[id]) for id in own.instead if id in self.jobs]
            return min((due for due in others if due is not None), default=None)
        if not job.enabled or self.ledger.job(job.id) is None:
            return None
        if (known := self._waits[job.id]) is not None and known > self.clock.instant():
            return policy.calm(self.timing(job), known)
        return policy.next_run(self.timing(job), self.ledger.settled(job.id), self.clock.instant())

    async def _look(self) -> None:
        trouble = self.file.trouble
        offered, self._is_offered = self._is_offered, False
        if await asyncio.to_thread(self.file.look):
            self._is_edited = True
        if self._is_edited or offered:
            await self._meet()
            self._runs.rung += self._stuck
            self._stuck = []
        if self.file.trouble and self.file.trouble != trouble:
            log.error("%s", self.file.trouble)
            name = hashlib.sha256(self.file.trouble.encode()).hexdigest()[:16]
            await self.reports.tell_owner(self.file.trouble, f"schedule:{name}:{utc_stamp(self.clock.instant())}")
        if self._is_edited:
            self._is_edited = False
            await self._tell_of_off_channels()

    async def _tell_of_off_channels(self) -> None:
        """Reports each job whose channel is off, once, over restarts too."""
        for job in self.file.jobs.values():
            if job.enabled and (channel := job.off_channel(self.reports.channels)):
                await self.reports.tell_owner(
                    f"Job `{job.id}` in `{FILE}` reports to `{job.to}`, but {channel} is off here: it cannot be "
                    "delivered until that channel is on.",
                    f"schedule:off:{job.id}:{job.to}",
                )

    async def _meet(self) -> None:
        """Gives new jobs, and those with other due times, their starting point."""
        now = self.clock.instant()
        self._jobs = None
        jobs = self.jobs
        fresh: list[JobRow] = []
        for id, job in jobs.items():
            row, spec = self.ledger.job(id), f"{job.spec}{' on' if job.enabled else OFF}"
            gone_at = self._gone.pop(id, now)
            begins_anew = row is None or row.spec != spec or now - gone_at > _GONE_FOR_GOOD
            if begins_anew:
                settled = utc_stamp(_LONG_AGO if isinstance(job.when, At) else now)
                fresh.append(JobRow(id, spec, settled, paused=row is not None and row.paused))
            if begins_anew or id not in self._seen:
                self._firsts.pop(id, None)
                self._waits.meet(id)
        gone = self._seen - jobs.keys()
        self._gone.update(dict.fromkeys(gone, now))
        self._waits.drop(gone)
        self._seen = set(jobs)
        self._places = {id: place for place, id in enumerate(jobs)}
        await self.ledger.put(fresh)

    # what is due -----------------------------------------------------------------------------------------------

    async def _take_up_due(self, now: datetime) -> None:
        jobs, busy = self.jobs, self.ledger.busy
        over = [jobs[id] for id in self._waits.over(now) if id in jobs and id not in busy]
        work = [
            (job, self.timing(job), self.ledger.settled(job.id), self._firsts.get(job.id))
            for job in sorted(over, key=lambda job: self._places.get(job.id, 0))
            if job.enabled
        ]
        for job in over:
            if not job.enabled:
                self._waits.put(job.id, None)

        def planned() -> list[tuple[Job, Wait | policy.PlannedRun | Missed]]:
            return [(job, policy.plan(timing, settled, now, first)) for job, timing, settled, first in work]

        plans = planned() if len(work) < _IN_A_THREAD else await asyncio.to_thread(planned)
        runs = []
        for job, what in plans:
            if isinstance(what, Wait):
                self._waits.put(job.id, what.until)
            else:
                runs.append(new_run(job, utc_stamp(what.due), now, what))
        if runs:
            await self._runs.take_up(runs, self.jobs)
            self._firsts.update((job.id, what.then) for job, what in plans if not isinstance(what, Wait) and what.then)

    async def _take_out(self, rung: Sequence[Run]) -> None:
        """Removes one-time reminders that have rung from the file."""
        over = [run.job for run in rung if self._is_over(run)]
        if not over:
            return
        try:
            await asyncio.to_thread(self.file.remove_all, over)
        except NotChanged as error:
            log.warning("finished reminders stay in %s until it can be changed: %s", FILE, error)
            self._stuck += rung
        await self._meet()

    def _is_over(self, run: Run) -> bool:
        """True unless the run's job has got another time meanwhile."""
        job = self.file.jobs.get(run.job)
        if job is None or not isinstance(job.when, At):
            return False
        due = next_after(job.when, job.zone(self.clock.zone), _LONG_AGO)
        return due is not None and utc_stamp(due) == run.due

    async def _pause_failing(self) -> None:
        """Pauses what failed too often. The commit of the last failure has told the owner."""
        for row in self.ledger.failing(PAUSE_AFTER):
            try:
                await self._switch(row.id, enabled=False)
            except (KeyError, NotChanged) as error:
                log.error("%s cannot say that %s is paused: %s", FILE, row.id, error)
                await self._set_paused(row.id, paused=True)

    # by people -------------------------------------------------------------------------------------------------

    async def add(self, job: Job) -> None:
        """Adds a job. Raises `NotChanged`."""
        async with self._lock:
            await asyncio.to_thread(self.file.add, job)
            await self._meet()
        self.ring()

    async def put(self, job: Job) -> None:
        """Adds a job, in place of one of the same id. Raises `NotChanged`."""
        async with self._lock:
            await asyncio.to_thread(self.file.put, job)
            await self._meet()
        self.ring()

    async def remove(self, id: str) -> None:
        """Removes a job; its runs under way end. Raises `KeyError`, `NotChanged`."""
        async with self._lock:
            await asyncio.to_thread(self.file.remove, id)
            await self._meet()
            await self._drop_retries(id)

    async def switch(self, id: str, *, enabled: bool) -> None:
        """Pauses or resumes a job. Raises `KeyError`, `NotChanged`."""
        async with self._lock:
            await self._switch(id, enabled=enabled)
        self.ring()

    async def _switch(self, id: str, *, enabled: bool) -> None:
        if id in self._built_ins:
            await self._set_paused(id, paused=not enabled)
        else:
            if self.file.jobs[id].enabled != enabled:
                await asyncio.to_thread(self.file.switch, id, enabled=enabled)
            if self.is_paused(id):
                await self._set_paused(id, paused=False)
        await self._meet()
        if not enabled:
            await self._drop_retries(id)

    async def _set_paused(self, id: str, *, paused: bool) -> None:
        row = self.ledger.job(id)
        assert row is not None
        await self.ledger.put([dataclasses.replace(row, paused=paused, failures=0)])
        await self._meet()

    async def _drop_retries(self, id: str) -> None:
        retries = [run for run in self.ledger.open if run.job == id and run.state is RunStatus.WAITING]
        await self.ledger.ended([(run, RunStatus.STOPPED) for run in retries])

    async def run_now(self, job: Job) -> bool:
        """Runs a job by hand: soon, if a gateway runs; else at once and to its end, if it needs none. False: a run of
        it is under way."""
        async with self._lock:
            if job.id in self.ledger.busy:
                return False
            now = self.clock.instant()
            taken = await self.ledger.take_up([new_run(job, f"{BY_HAND}{utc_stamp(now)}", now)], settles=False)
            own = self._built_ins.get(job.id)
            if taken and own is not None and not own.reports and not self.is_running:
                await self._runs.work_alone(taken[0])
        self.ring()
        return bool(taken)
