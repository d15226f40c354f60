"""Runs each due time of jobs 0 or 1 times (invariant 11): it is claimed on disk first; `runs` does the rest."""

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
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from channels.message import Receive
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access
from gateway.recurrence import At, next_after
from gateway.scheduling import policy
from gateway.scheduling.builtins import BuiltIn, with_absent
from gateway.scheduling.job import Job, JobKind
from gateway.scheduling.job_store import FILE, JobStore, NotChanged
from gateway.scheduling.policy import PAUSE_AFTER, Missed, Quiet, Timing, Wait
from gateway.scheduling.run_state import RunState
from gateway.scheduling.runs import Runs, new_run
from gateway.scheduling.targets import OwnerReports
from gateway.scheduling.timers import JobTimers
from gateway.store.database import Database
from gateway.store.run_rows import BY_HAND, OFF, JobRow, Run, RunStatus

log = logging.getLogger(__name__)

_GONE_FOR_GOOD = timedelta(minutes=1)
"""A job that was out of the file for longer is a new job when it is back; for less, an editor was at work."""
_IN_A_THREAD = 200
"""The number of jobs from which on they are planned in a thread."""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ScheduleRules:
    catch_up: timedelta = timedelta(hours=12)
    """For how long a missed run is made up for."""
    quiet: Quiet | None = None
    interval: float = 3.0
    """Seconds between two ticks."""


class ScheduleService:
    """Wakes jobs when they are due. `tick` does all the work; `run` repeats it."""

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
        self.run_state = RunState(database, clock)
        self.timers = JobTimers(clock)
        self.reports = OwnerReports(database, access, outbox, channels)
        self._built_ins = {built_in.id: built_in for built_in in with_absent(tuple(built_ins))}
        self._runs = Runs(
            database, clock, self.run_state, outbox, self.reports, self._built_ins, self.timing, self.timers.wake
        )
        self._rules = rules
        self._jobs: Mapping[str, Job] | None = None
        self._known: set[str] = set()
        self._gone: dict[str, datetime] = {}
        self._not_removed: list[Run] = []
        self._last_tick = _LONG_AGO
        self._lock = asyncio.Lock()
        self._is_loaded = False
        self._offers_changed = False
        self._file_changed = True
        self._is_shared = database.is_shared

    def offer(self, *built_ins: BuiltIn) -> None:
        """Adds Daybook's own jobs, or replaces those of the same id."""
        self._built_ins.update({built_in.id: built_in for built_in in built_ins})
        self._jobs, self._offers_changed = None, True
        self.timers.wake()

    def withdraw(self, id: str) -> None:
        self._built_ins.pop(id, None)
        self._jobs, self._offers_changed = None, True
        self.timers.wake()

    def follow_zone(self) -> None:
        """Plans again after the clock was moved to another zone: an hour that a job waits for is now an hour of the new
        zone."""
        self.timers.plan_again(self._known)
        self.timers.wake()

    @property
    def name(self) -> str:
        return "schedule"

    async def run(self, receive: Receive) -> None:
        async with self.timers.running(), asyncio.TaskGroup() as group:
            self._runs.group = group
            self.timers.plan_again(self._known)
            while True:
                pause = self._rules.interval
                try:
                    if (retry := await self.tick(receive)) is not None:
                        pause = min(pause, (retry - self.clock.instant()).total_seconds())
                except StorageUnavailable as error:
                    log.error("the schedule waits for the disk: %s", error)
                await self.timers.sleep(pause)

    @property
    def is_running(self) -> bool:
        return self.timers.scheduler is not None

    async def load(self) -> None:
        async with self._lock:
            await self._load()
            if self._is_shared and not self.is_running:  # another process changes them
                await self.run_state.load()
                await asyncio.to_thread(self.file.look)
                await self._sync()

    async def follow_others(self) -> None:
        """Takes up what other processes of the home have changed in the database; files are looked at anyway."""
        async with self._lock:
            if self._is_loaded:
                await self.run_state.follow_others()
        self.timers.wake()

    async def _load(self) -> None:
        if self._is_loaded:
            if self._offers_changed:
                await self._sync()
            return
        await self.run_state.load()
        await asyncio.to_thread(self.file.look)
        self._gone = dict.fromkeys(self.run_state.known - self.jobs.keys(), _LONG_AGO)
        await self._sync()
        last = await self.run_state.last_runs()
        succeeded = (RunStatus.DELIVERED, RunStatus.SILENT)
        # they ran before the last process could remove them from the file
        await self._remove_finished([run for run in last.values() if run.once and run.state in succeeded])
        self._is_loaded = True

    async def tick(self, receive: Receive) -> datetime | None:
        """Does what is due now. Returns when the first failed run is tried again."""
        async with self._lock:
            await self._load()
            now = self.clock.instant()
            if now < self._last_tick:
                log.warning("the clock was put back by %s", self._last_tick - now)
                self.timers.plan_again(self._known)
                await self.run_state.follow_clock()
            self._last_tick = now
            await self._read_file()
            await self._runs.follow_up()
            await self._pause_failing()  # before its next due time, which may have come, is claimed
            await self._claim_due(now)
            await self._runs.begin(self.jobs, receive)
            await self._pause_failing()
            finished, self._runs.finished = self._runs.finished, []
            await self._remove_finished(finished)
            retries = (datetime.fromisoformat(run.next_try) for run in self.run_state.open if run.next_try)
            return min((retry for retry in retries if retry > now), default=None)

    # which jobs ------------------------------------------------------------------------------------------------

    @property
    def jobs(self) -> Mapping[str, Job]:
        """All listed jobs, Daybook's own first."""
        if self._jobs is None:
            own = {
                id: Job(
                    id,
                    JobKind.BUILT_IN,
                    built_in.text,
                    built_in.when,
                    enabled=built_in.enabled and not self.is_paused(id),
                )
                for id, built_in in self._built_ins.items()
            }
            of_file = self.file.jobs
            # those whose file could not be changed to say so
            paused = {
                id: dataclasses.replace(of_file[id], enabled=False) for id in self.run_state.paused & of_file.keys()
            }
            self._jobs = own | of_file | paused
        return self._jobs

    def is_of_use(self, id: str) -> bool:
        own = self._built_ins.get(id)
        return own is None or own.is_of_use()

    def is_paused(self, id: str) -> bool:
        """True for a paused job whose file does not say so. Needs `load`."""
        row = self.run_state.job(id)
        return row is not None and row.paused

    def timing(self, job: Job) -> Timing:
        own = self._built_ins.get(job.id)
        waits = own.heeds_quiet if own is not None else job.kind is JobKind.PROMPT
        catch_up = self._rules.catch_up if job.catch_up else timedelta()
        quiet = self._rules.quiet and dataclasses.replace(self._rules.quiet, zone=self.clock.zone)
        return Timing(job.when, job.zone(self.clock.zone), catch_up, quiet if waits else None)

    def next_run(self, job: Job) -> datetime | None:
        """When the job runs next, or the first of the jobs that do its work meanwhile."""
        if not job.enabled and (own := self._built_ins.get(job.id)) is not None:
            others = [self.next_run(self.jobs[id]) for id in own.instead if id in self.jobs]
            return min((due for due in others if due is not None), default=None)
        if not job.enabled or self.run_state.job(job.id) is None:
            return None
        if (known := self.timers.until(job.id)) is not None and known > self.clock.instant():
            return policy.calm(self.timing(job), known)
        return policy.next_run(self.timing(job), self.run_state.settled(job.id), self.clock.instant())

    async def _read_file(self) -> None:
        trouble = self.file.trouble
        offered, self._offers_changed = self._offers_changed, False
        if await asyncio.to_thread(self.file.look):
            self._file_changed = True
        if self._file_changed or offered:
            await self._sync()
            self._runs.finished += self._not_removed
            self._not_removed = []
        if self.file.trouble and self.file.trouble != trouble:
            log.error("%s", self.file.trouble)
            name = hashlib.sha256(self.file.trouble.encode()).hexdigest()[:16]
            await self.reports.tell_owner(self.file.trouble, f"schedule:{name}:{utc_stamp(self.clock.instant())}")
        if self._file_changed:
            self._file_changed = False
            await self._report_off_channels()

    async def _report_off_channels(self) -> None:
        """Reports each job whose channel is off, once over restarts."""
        for job in self.file.jobs.values():
            if job.enabled and (channel := job.off_channel(self.reports.channels)):
                await self.reports.tell_owner(
                    Sentence(
                        "Job `{job}` in `{file}` sends to `{to}`, but {channel} is switched off. I can only send "
                        "it once that is on again.",
                        job=job.id,
                        file=FILE,
                        to=job.to,
                        channel=channel,
                    ),
                    f"schedule:off:{job.id}:{job.to}",
                )

    async def _sync(self) -> None:
        """Gives each job that is new, or has other due times, a starting point, and plans it."""
        now = self.clock.instant()
        self._jobs = None
        jobs = self.jobs
        fresh: list[JobRow] = []
        for id, job in jobs.items():
            row, spec = self.run_state.job(id), f"{job.spec}{' on' if job.enabled else OFF}"
            gone_at = self._gone.pop(id, now)
            begins_anew = row is None or row.spec != spec or now - gone_at > _GONE_FOR_GOOD
            if begins_anew:
                settled = utc_stamp(_LONG_AGO if isinstance(job.when, At) else now)
                fresh.append(JobRow(id, spec, settled, paused=row is not None and row.paused))
            if begins_anew or id not in self._known:
                self.timers.plan_again([id])
        gone = self._known - jobs.keys()
        self._gone.update(dict.fromkeys(gone, now))
        self.timers.remove(gone)
        self._known = set(jobs)
        await self.run_state.put(fresh)

    # what is due -----------------------------------------------------------------------------------------------

    async def _claim_due(self, now: datetime) -> None:
        due = self.timers.due() - self.run_state.busy
        if not due:
            return
        jobs = [job for id, job in self.jobs.items() if id in due]  # what is due together is said in their order
        work = [(job, self.timing(job), self.run_state.settled(job.id)) for job in jobs if job.enabled]

        def planned() -> list[tuple[Job, Wait | policy.PlannedRun | Missed]]:
            return [(job, policy.plan(timing, settled, now)) for job, timing, settled in work]

        plans = planned() if len(work) < _IN_A_THREAD else await asyncio.to_thread(planned)
        runs = [new_run(job, utc_stamp(what.due), now, what) for job, what in plans if not isinstance(what, Wait)]
        if runs:
            await self._runs.claim(runs, self.jobs)
        nexts = {job.id: what.until if isinstance(what, Wait) else what.then for job, what in plans}
        await self.timers.wait({job.id: nexts.get(job.id) for job in jobs})

    async def _remove_finished(self, finished: Sequence[Run]) -> None:
        ids = [run.job for run in finished if self._is_over(run)]
        if not ids:
            return
        try:
            await asyncio.to_thread(self.file.remove_all, ids)
        except NotChanged as error:
            log.warning("finished reminders stay in %s until it can be changed: %s", FILE, error)
            self._not_removed += finished
        await self._sync()

    def _is_over(self, run: Run) -> bool:
        """True where the run's job is in the file, is due only once, and not at another time by now."""
        job = self.file.jobs.get(run.job)
        if job is None or not isinstance(job.when, At):
            return False
        due = next_after(job.when, job.zone(self.clock.zone), _LONG_AGO)
        return due is not None and utc_stamp(due) == run.due

    async def _pause_failing(self) -> None:
        """Pauses jobs that failed too often, which was reported already."""
        for row in self.run_state.failing(PAUSE_AFTER):
            try:
                await self._switch(row.id, enabled=False)
            except (KeyError, NotChanged) as error:
                log.error("could not write into %s that %s is paused: %s", FILE, row.id, error)
                await self._set_paused(row.id, paused=True)
                await self._sync()

    # by people -------------------------------------------------------------------------------------------------

    async def add(self, job: Job) -> None:
        """Adds a job. Raises `NotChanged`."""
        async with self._lock:
            await asyncio.to_thread(self.file.add, job)
            await self._sync()
        self.timers.wake()

    async def put(self, job: Job) -> None:
        """Adds a job or replaces the job of the same id. Raises `NotChanged`."""
        async with self._lock:
            await asyncio.to_thread(self.file.put, job)
            await self._sync()
        self.timers.wake()

    async def replace(self, old: Job, new: Job) -> None:
        """Replaces a job by another of its id. Raises `KeyError`, `NotChanged`."""
        async with self._lock:
            await asyncio.to_thread(self.file.replace, old, new)
            await self._sync()
        self.timers.wake()

    async def remove(self, id: str) -> None:
        """Removes a job and its retries. Raises `KeyError`, `NotChanged`."""
        async with self._lock:
            await asyncio.to_thread(self.file.remove, id)
            await self._sync()
            await self._drop_retries(id)

    async def switch(self, id: str, *, enabled: bool) -> None:
        """Pauses or resumes a job. Raises `KeyError`, `NotChanged`."""
        async with self._lock:
            await self._switch(id, enabled=enabled)
        self.timers.wake()

    async def _switch(self, id: str, *, enabled: bool) -> None:
        if id in self._built_ins:
            await self._set_paused(id, paused=not enabled)
        else:
            if self.file.jobs[id].enabled != enabled:
                await asyncio.to_thread(self.file.switch, id, enabled=enabled)
            if self.is_paused(id):
                await self._set_paused(id, paused=False)
        await self._sync()
        if not enabled:
            await self._drop_retries(id)

    async def _set_paused(self, id: str, *, paused: bool) -> None:
        row = self.run_state.job(id)
        assert row is not None
        await self.run_state.put([dataclasses.replace(row, paused=paused, failures=0)])

    async def _drop_retries(self, id: str) -> None:
        retries = [run for run in self.run_state.open if run.job == id and run.state is RunStatus.WAITING]
        await self.run_state.ended([(run, RunStatus.STOPPED) for run in retries])

    async def run_now(self, job: Job) -> bool:
        """Runs a job soon, if a gateway runs; else at once, if it needs no gateway. False: it is running already."""
        async with self._lock:
            if job.id in self.run_state.busy:
                return False
            now = self.clock.instant()
            taken = await self.run_state.claim([new_run(job, f"{BY_HAND}{utc_stamp(now)}", now)], settles=False)
            own = self._built_ins.get(job.id)
            if taken and own is not None and not own.reports and not self.is_running:
                await self._runs.work_alone(taken[0])
        self.timers.wake()
        return bool(taken)
