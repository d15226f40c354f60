"""Runs of jobs, in steps that a crash may cut off anywhere; the next tick continues.

An attempt is on disk before it begins. A message enters the outbox in the commit that notes its attempt. A prompt
enters the inbox under a name made of job, due time and attempt, so that offering it again changes nothing.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from agent.clock import Clock, utc_stamp
from agent.languages.sentences import Sentence, translated
from channels.message import Address, DueJob, Receive
from gateway.messages.outbox import Outbox
from gateway.messages.suspects import SKIPPED
from gateway.recurrence import At
from gateway.scheduling import policy, reminders
from gateway.scheduling.builtins import BuiltIn, DueTime, JobFailed
from gateway.scheduling.job import Job, JobKind
from gateway.scheduling.policy import ALERT_AFTER, PAUSE_AFTER, RETRIES
from gateway.scheduling.run_state import RunState
from gateway.scheduling.targets import NoTarget, OwnerReports, Targets
from gateway.store import inbox_rows, outbox_rows
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.inbox_rows import MessageStatus
from gateway.store.outbox_rows import Delivery, Draft
from gateway.store.run_rows import Run, RunStatus
from gateway.turns.user_message import late_mark, missed_mark

log = logging.getLogger(__name__)

_SHOWN = 300
"""Characters of an error in a report."""


def new_run(job: Job, due: str, now: datetime, what: policy.PlannedRun | policy.Missed | None = None) -> Run:
    """A run of a job; `what` None: a person asked for it."""
    stamp, is_missed = utc_stamp(now), isinstance(what, policy.Missed)
    return Run(
        job=job.id,
        due=due,
        kind=str(job.kind),
        text=job.text,
        address=None,
        late=isinstance(what, policy.PlannedRun) and what.late,
        once=isinstance(job.when, At) and what is not None,
        state=RunStatus.MISSED if is_missed else RunStatus.WAITING,
        started_at=stamp,
        next_try="" if is_missed else stamp,
        ended_at=stamp if is_missed else "",
    )


class Runs:
    """Carries runs to their end. `group` owns the tasks of built-in jobs; `on_end` is called when a task has ended.
    `finished`: successful runs of one-time jobs, until the caller empties it."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        run_state: RunState,
        outbox: Outbox,
        reports: OwnerReports,
        built_ins: Mapping[str, BuiltIn],
        timing: Callable[[Job], policy.Timing],
        on_end: Callable[[], None],
    ) -> None:
        self.group: asyncio.TaskGroup | None = None
        self.finished: list[Run] = []
        self._database = database
        self._clock = clock
        self._run_state = run_state
        self._outbox = outbox
        self._reports = reports
        self._built_ins = built_ins
        self._timing = timing
        self._on_end = on_end
        self._working: set[str] = set()
        self._arrived: frozenset[str] = frozenset()
        """Prompts in the inbox at the last `follow_up`."""
        self._results: dict[str, str | RunStatus] = {}

    # due times -------------------------------------------------------------------------------------------------

    async def claim(self, runs: Sequence[Run], jobs: Mapping[str, Job]) -> None:
        """Claims due times; missed one-time jobs are reported in the chat where they should have rung."""
        drafts: list[Draft] = []
        missed = [run for run in runs if run.state is RunStatus.MISSED]
        targets = await self._reports.targets() if missed else None

        def drafts_for(taken: Sequence[Run]) -> Sequence[Draft]:
            once = [run for run in taken if run.state is RunStatus.MISSED and run.once and jobs[run.job].catch_up]
            drafts[:] = self._missed_drafts(once, jobs, targets) if targets is not None else ()
            return drafts

        for run in await self._run_state.claim(runs, drafts_for=drafts_for):
            if run.state is RunStatus.MISSED:
                log.warning("skipped job %s, which was due %s, too long ago", run.job, run.due)
        self._outbox.wake(drafts)

    def _missed_drafts(self, missed: Sequence[Run], jobs: Mapping[str, Job], targets: Targets) -> Sequence[Draft]:
        by_chat: dict[Address, list[Run]] = {}
        for run in missed:
            try:
                by_chat.setdefault(targets.find(jobs[run.job].to).address, []).append(run)
            except NoTarget as error:
                log.error("could not report to any chat that %s was missed: %s", run.job, error)
        drafts: list[Draft] = []
        for address, of_chat in by_chat.items():
            zones = ((run, jobs[run.job].zone(self._clock.zone)) for run in of_chat)
            shown = [(run.moment.astimezone(zone), run.text, run.job) for run, zone in zones]
            text = missed_mark(shown, self._clock.now(), targets.language(address))
            drafts += self._outbox.drafts(f"missed:{of_chat[0].key}:{{}}", address, text)
        return drafts

    # attempts --------------------------------------------------------------------------------------------------

    async def begin(self, jobs: Mapping[str, Job], receive: Receive) -> None:
        """Begins runs that need not wait any more, and continues those that a crash cut off."""
        now = self._clock.instant()
        waiting = [run for run in self._run_state.open if _is_over(run, now) and not self._is_quiet(run, jobs, now)]
        if waiting or any(map(self._is_to_offer, self._run_state.open)):
            targets = await self._reports.targets()
            await self._attempt(waiting, jobs, targets)
            await self._offer([run for run in self._run_state.open if self._is_to_offer(run)], targets, receive)
        running = [run for run in self._run_state.open if run.state is RunStatus.RUNNING]
        self._start([run for run in running if run.kind == JobKind.BUILT_IN])

    def _is_quiet(self, run: Run, jobs: Mapping[str, Job], now: datetime) -> bool:
        job = jobs.get(run.job)
        return job is not None and not run.by_hand and policy.calm(self._timing(job), now) > now

    def _is_to_offer(self, run: Run) -> bool:
        return run.kind == JobKind.PROMPT and run.state is RunStatus.RUNNING and run.key not in self._arrived

    async def _attempt(self, waiting: Sequence[Run], jobs: Mapping[str, Job], targets: Targets) -> None:
        begun: list[Run] = []
        drafts: list[Draft] = []
        for run in waiting:
            job = jobs.get(run.job)
            if job is None or not (job.enabled or run.by_hand):
                reason = Sentence("its job was removed") if job is None else Sentence("its job is paused")
                await self._run_state.ended([(run, RunStatus.STOPPED)], reason)
                continue
            attempt = dataclasses.replace(run, attempts=run.attempts + 1, next_try="", state=RunStatus.RUNNING)
            try:
                begun.append(self._addressed(attempt, job, targets))
            except NoTarget as error:
                await self._failed(attempt, str(error))
        for run in begun:
            if run.address is not None:
                await self._outbox.cut(run.address, run.text)
            drafts += self._drafts(run, jobs[run.job], targets) if run.state is RunStatus.DELIVERING else []
        await self._run_state.change(begun, drafts)
        self._outbox.wake(drafts)

    @staticmethod
    def _addressed(run: Run, job: Job, targets: Targets) -> Run:
        if run.kind == JobKind.BUILT_IN:
            return run
        state = RunStatus.DELIVERING if run.kind == JobKind.MESSAGE else run.state
        return dataclasses.replace(run, address=targets.find(job.to).address, state=state)

    def _drafts(self, run: Run, job: Job, targets: Targets) -> list[Draft]:
        assert run.address is not None
        language = targets.language(run.address)
        due = run.moment.astimezone(job.zone(self._clock.zone))
        text = reminders.shown(run.text)
        text = f"{text}\n\n{late_mark(due, self._clock.now(), language)}" if run.late else text
        return self._outbox.drafts(f"{run.key}:{{}}", run.address, text, buttons=reminders.buttons(run, language))

    async def _offer(self, prompts: Sequence[Run], targets: Targets, receive: Receive) -> None:
        messages = []
        for run in prompts:
            try:
                target = targets.find(str(run.address))
            except NoTarget as error:
                await self._failed(run, str(error))
                continue
            due = DueJob(run.job, self._clock.local(run.moment), run.late)
            messages.append(target.message(run.key, run.text, due, self._clock.now()))
        if messages:
            await receive(messages)

    async def work_alone(self, run: Run) -> None:
        """Runs a built-in job to its end, without a gateway."""
        running = dataclasses.replace(run, attempts=run.attempts + 1, next_try="", state=RunStatus.RUNNING)
        await self._run_state.change([running])
        await self._work(running)
        result = self._results.pop(running.key)
        if isinstance(result, RunStatus):
            await self._run_state.ended([(running, result)])
        else:
            await self._failed(running, result)

    def _start(self, runs: Sequence[Run]) -> None:
        for run in runs:
            if self.group is not None and run.key not in self._working and run.key not in self._results:
                self._working.add(run.key)
                self.group.create_task(self._work(run), name=f"job {run.job}")

    async def _work(self, run: Run) -> None:
        """Runs a built-in job; the next tick writes its result."""
        due = DueTime(self._clock.local(run.moment), run.late, run.by_hand)
        try:
            outcome = await self._built_in(run.job).run(due)
            self._results[run.key] = RunStatus.SILENT if outcome.silent else RunStatus.DONE
        except JobFailed as error:
            self._results[run.key] = str(error)
        except Exception as error:
            log.exception("job %s failed", run.job)
            self._results[run.key] = Sentence(
                "something went wrong inside Daybook ({name}); the log has the details", name=type(error).__name__
            )
        finally:
            self._working.discard(run.key)
        self._on_end()

    def _built_in(self, id: str) -> BuiltIn:
        if id not in self._built_ins:
            raise JobFailed(Sentence("it is off now"))
        return self._built_ins[id]

    # what became of it -----------------------------------------------------------------------------------------

    async def follow_up(self) -> None:
        ends: list[tuple[Run, RunStatus]] = []
        for run in self._run_state.open:
            if isinstance(result := self._results.pop(run.key, None), RunStatus):
                ends.append((run, result))
            elif result is not None:
                await self._failed(run, result)
        ends += await self._follow_turns()
        ends += await self._follow_deliveries()
        over = await self._run_state.ended(ends)
        self.finished += [run for run in over if run.once and run.state is not RunStatus.STOPPED]

    async def _statuses(self, runs: Sequence[Run]) -> Mapping[str, MessageStatus]:
        def read(connection: Connection) -> dict[str, MessageStatus]:
            addresses = [(run.key, run.address) for run in runs if run.address is not None]
            return {key: inbox_rows.fate(connection, at.channel, at.account, key) for key, at in addresses}

        return await self._database.run(read) if runs else {}

    async def _deliveries(self, runs: Sequence[Run]) -> Sequence[Delivery]:
        def read(connection: Connection) -> list[Delivery]:
            return [outbox_rows.delivery(connection, run.sends_as) for run in runs]

        return await self._database.run(read) if runs else []

    async def _follow_turns(self) -> Sequence[tuple[Run, RunStatus]]:
        """The ends of prompts whose turn ended without a text to deliver."""
        running = [run for run in self._run_state.open if run.kind == JobKind.PROMPT and run.state is RunStatus.RUNNING]
        ends: list[tuple[Run, RunStatus]] = []
        answered: list[Run] = []
        statuses = await self._statuses(running)
        self._arrived = frozenset(key for key, status in statuses.items() if status.known)
        for run, status in zip(running, statuses.values(), strict=True):
            outcome, _, reason = status.outcome.partition(": ")
            match outcome:
                case "":
                    pass  # it is not over
                case "reply":
                    answered.append(dataclasses.replace(run, state=RunStatus.DELIVERING))
                case "silence":
                    ends.append((run, RunStatus.SILENT))
                case "error":
                    await self._failed(run, reason)
                case "skipped":
                    await self._failed(run, SKIPPED, again=False)
                case _:
                    ends.append((run, RunStatus.STOPPED))
        await self._run_state.change(answered)
        return ends

    async def _follow_deliveries(self) -> Sequence[tuple[Run, RunStatus]]:
        """The ends of runs whose text was delivered. A text that may have arrived is not sent again."""
        sent = [run for run in self._run_state.open if run.state is RunStatus.DELIVERING]
        ends: list[tuple[Run, RunStatus]] = []
        for run, delivery in zip(sent, await self._deliveries(sent), strict=True):
            if delivery.failed:
                await self._failed(run, Sentence("I couldn't deliver it: {why}", why=delivery.error), again=False)
            elif not delivery.waiting:
                ends.append((run, RunStatus.DELIVERED))
        return ends

    async def _failed(self, run: Run, reason: str, *, again: bool = True) -> None:
        """Notes a failure, its reason in the owner's language: lists show it later."""
        log.warning("job %s failed: %s", run.job, reason)
        said = str(translated((await self._reports.targets()).owners_language, reason))
        failed, row = self._run_state.failure(run, said, again=again)
        failures = row.failures if row is not None else 1
        text = _alert(failed, failures)
        alert = Sentence("{text} Last error: {why}", text=text, why=said[:_SHOWN])
        drafts = await self._reports.to_owner(alert, f"alert:{run.key}") if text else []
        await self._run_state.failed(failed, row, drafts)
        self._outbox.wake(drafts)


def _is_over(run: Run, now: datetime) -> bool:
    """True where a run's wait is over; a wait longer than any retry's is from before the clock was put back."""
    if run.state is not RunStatus.WAITING or run.is_early(now):
        return False
    left = datetime.fromisoformat(run.next_try) - now
    return not run.attempts or not timedelta() < left <= RETRIES[-1]


def _alert(run: Run, failures: int) -> str:
    if failures > 1:
        times = Sentence("Job `{job}` failed {count} times in a row", job=run.job, count=failures)
    else:
        times = Sentence("Job `{job}` failed", job=run.job)
    if failures == PAUSE_AFTER:
        return Sentence("{failed}, so I paused it. `/jobs resume {job}` starts it again.", failed=times, job=run.job)
    if run.once and run.state is RunStatus.FAILED:
        return Sentence("{failed}, and I won't try it again.", failed=times)
    return Sentence("{failed}. I'll keep trying.", failed=times) if failures == ALERT_AFTER else ""
