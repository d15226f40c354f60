"""The daily summary: to whom, when, and once.

A target is a chat; its summary is made of its own scope alone. Its name in the outbox has the chat, the day and what it
was made of, so that a day is sent once over crashes, and by hand again if there is something new. In the morning it
covers the day before. Messages of earlier days since the last sent summary come first (`daily_marks`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from agent.clock import utc_stamp
from agent.journal.open_items import OpenItem
from agent.journal.summary import UpcomingJob, day_heading
from agent.languages.codes import Language
from agent.languages.moments import day_in
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence
from agent.memory.scope import ScopeBusy
from channels.message import Address, Button, ChatKind, DueJob
from gateway.i18n import one_line
from gateway.kernel import Kernel
from gateway.policy.access import Role
from gateway.policy.preferences import OFF, Preferences
from gateway.policy.sessions import SessionRoute
from gateway.recurrence import next_after, resolved
from gateway.routines import daily_marks
from gateway.routines.daily_marks import NOON
from gateway.routines.journal import JournalRoutine
from gateway.scheduling.builtins import DAILY_SUMMARY, BuiltIn, DueTime, JobFailed, JobOutcome, daily_at, summary_of
from gateway.scheduling.job import OWNER, Job, JobKind
from gateway.scheduling.service import ScheduleService
from gateway.scheduling.targets import NoTarget, Target, Targets
from gateway.store import chat_rows, outbox_rows
from gateway.store.outbox_rows import Buttons
from gateway.turns.user_message import late_mark

_INSTANT = timedelta(microseconds=1)


def agenda(jobs: Iterable[Job], to: Collection[str], day: date, zone: ZoneInfo) -> Sequence[tuple[datetime, Job]]:
    """The first due time on a day of `zone` of each job that reports to one of `to`, earliest first, without Daybook's
    own and paused jobs."""
    start, end = (resolved(datetime.combine(bound, time()), zone) for bound in (day, day + timedelta(days=1)))
    found: list[tuple[datetime, Job]] = []
    for job in jobs:
        if job.kind is JobKind.BUILT_IN or not job.enabled or job.to not in to:
            continue
        due = next_after(job.when, job.zone(zone), start - _INSTANT)
        if due is not None and due < end:
            found.append((due.astimezone(zone), job))
    return sorted(found, key=lambda entry: (entry[0], entry[1].id))


log = logging.getLogger(__name__)

_BY_THE_CLOCK = "clock"
_NOTHING = "nothing"
_PARTS = 3
"""Parts of a name behind its day: run, basis, number of the message."""
_MOST_COMING = 10
_MOST_BUTTONS = 6
_SHOWN = 80
_LABEL = 30


@dataclass(frozen=True, slots=True)
class SummaryRules:
    enabled: bool
    at: time
    """On the user's clock."""
    to: tuple[str, ...]
    """`owner` and chat addresses, as configured."""


@dataclass(frozen=True, slots=True)
class PreparedSummary:
    """A summary's text. `basis` as in `Summary`."""

    text: str
    language: Language
    basis: str
    buttons: Buttons = ()
    is_empty: bool = False
    """It only says that there was nothing."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A summary's name in the outbox: its day, its run, and its basis."""

    day: date
    run: str
    basis: str


class DailySummary:
    def __init__(
        self,
        kernel: Kernel,
        preferences: Preferences,
        schedule: ScheduleService,
        journaling: JournalRoutine,
        rules: SummaryRules,
    ) -> None:
        self._kernel = kernel
        self._preferences = preferences
        self._schedule = schedule
        self._journaling = journaling
        self._rules = rules
        self._one_at_a_time = asyncio.Lock()

    # when ------------------------------------------------------------------------------------------------------

    async def built_ins(self) -> Sequence[BuiltIn]:
        """The job of the configured targets, and a job for each chat that chose a time of its own."""
        times = dict.fromkeys(map(self._marked_as, self._rules.to), self._rules.at) if self._rules.enabled else {}
        now = self._kernel.clock.now()
        firsts = {target: daily_marks.first_since(now, at) for target, at in (times | self._own_times()).items()}
        await self._kernel.database.run(daily_marks.begin, firsts)
        usual = await self._usual()
        return (usual, *(self._built_in(chat, at) for chat, at in self._own_times().items()))

    def _own_times(self) -> dict[str, time]:
        choices = self._preferences.dailies.items()
        return {chat: at for chat, choice in choices if (at := _time(choice)) is not None}

    async def _usual(self) -> BuiltIn:
        """The job of the configured targets, off where all chose for themselves."""
        found, gone = self._configured(await self._schedule.reports.targets())
        times = {
            summary_of(chat): time.fromisoformat(at) for chat, at in self._preferences.dailies.items() if at != OFF
        }
        enabled = self._rules.enabled and bool(found or gone)
        at = self._rules.at if enabled else min(times.values(), default=self._rules.at)
        instead = () if enabled else tuple(times)
        own = [chat if _time(choice) else f"{chat} (off)" for chat, choice in sorted(self._preferences.dailies.items())]
        rest = f"; with a time of their own: {', '.join(own)}" if own else ""
        text = f"the day's summary, to {', '.join(self._rules.to)}{rest}"
        return BuiltIn(DAILY_SUMMARY, daily_at(at), self.run, enabled=enabled, text=text, instead=instead)

    def _built_in(self, chat: str, at: time) -> BuiltIn:
        text = f"the day's summary, to {chat}"
        return BuiltIn(summary_of(chat), daily_at(at), partial(self._run_for, chat), text=text)

    async def hour(self, address: Address) -> time | None:
        chat = self._name(address)
        choice = self._preferences.dailies.get(chat)
        await self._schedule.load()
        if self._schedule.is_paused(DAILY_SUMMARY if choice is None else summary_of(chat)):
            return None
        if choice is not None:
            return _time(choice)
        targets = await self._schedule.reports.targets()
        found = self._configured(targets)[0] if self._rules.enabled else {}
        return self._rules.at if any(target.address == address for target in found.values()) else None

    def _name(self, address: Address) -> str:
        return str(replace(address, chat_id=self._kernel.access.first_chat_id(address.channel, address.chat_id)))

    def _marked_as(self, to: str) -> str:
        """The target's name in `daily_marks`: as configured."""
        return OWNER if to == OWNER else self._name(Address.parse(to))

    async def choose(self, address: Address, at: time | None) -> None:
        """Sets when a chat gets its summary, also where it was paused; None: never. Raises `StorageUnavailable`."""
        chat = self._name(address)
        usual = self._configured(await self._schedule.reports.targets())[0].items()
        before = next((to for to, target in usual if target.address == address), chat)
        await self._preferences.choose_daily(chat, f"{at:%H:%M}" if at is not None else OFF)
        if at is None:
            await self._kernel.database.run(daily_marks.drop, chat)
            self._schedule.withdraw(summary_of(chat))
        else:
            first = daily_marks.first_since(self._kernel.clock.now(), at)
            await self._kernel.database.run(daily_marks.inherit, chat, before, first)
            self._schedule.offer(self._built_in(chat, at))
            if self._schedule.is_paused(summary_of(chat)):
                await self._schedule.switch(summary_of(chat), enabled=True)
        self._schedule.offer(await self._usual())

    async def follow_choices(self) -> None:
        """Offers the summaries as chats chose them in other processes of the home."""
        await self._preferences.load()
        offered = await self.built_ins()
        for chat, at in self._preferences.dailies.items():
            if at == OFF:
                self._schedule.withdraw(summary_of(chat))
        self._schedule.offer(*offered)

    # to whom ---------------------------------------------------------------------------------------------------

    async def run(self, due: DueTime) -> JobOutcome:
        """Sends the summary to every configured target without a time of its own; by hand to all."""
        known = await self._schedule.reports.targets()
        targets, gone = self._configured(known)
        if due.by_hand:
            targets = {**targets, **self._chosen(known)}
        for to, why in gone:
            log.error("no daily summary for %s: %s", to, why)
            await self._schedule.reports.tell_owner(
                Sentence("I can't send the daily summary to `{chat}`: {why}.", chat=to, why=why), f"daily:{to}"
            )
        if gone and not targets:
            raise JobFailed(gone[0][1])
        deliveries = (self._deliver(name, target, due) for name, target in targets.items())
        # side by side: a chat that another gateway answers at the moment delays no other
        results = await asyncio.gather(*deliveries, return_exceptions=True)
        told = [result for result in results if isinstance(result, bool)]
        failures = [result for result in results if isinstance(result, BaseException)]
        for failure in failures:
            log.error("a daily summary is not made: %s", failure)
        if failures:
            raise failures[0]
        return JobOutcome(silent=not any(told), note=f"{sum(told)} of {len(told)} chats")

    async def _run_for(self, chat: str, due: DueTime) -> JobOutcome:
        try:
            target = (await self._schedule.reports.targets()).find(chat)
        except NoTarget as error:
            raise JobFailed(str(error)) from error
        return JobOutcome(silent=not await self._deliver(chat, target, due))

    def _configured(self, targets: Targets) -> tuple[Mapping[str, Target], Sequence[tuple[str, str]]]:
        """The reachable targets by their names in `daily_marks`, and the others with the reason."""
        found: dict[str, Target] = {}
        gone: list[tuple[str, str]] = []
        for to in self._rules.to:
            try:
                target = targets.find(to)
            except NoTarget as error:
                gone.append((to, str(error)))
                continue
            is_new = target.address not in (other.address for other in found.values())
            if is_new and not self._chose(targets, target, is_owner=to == OWNER):
                found[self._marked_as(to)] = target
        return found, gone

    def _chosen(self, targets: Targets) -> Mapping[str, Target]:
        found: dict[str, Target] = {}
        for chat, choice in self._preferences.dailies.items():
            if choice != OFF:
                with contextlib.suppress(NoTarget):
                    found[chat] = targets.find(chat)
        return found

    def _chose(self, targets: Targets, target: Target, *, is_owner: bool) -> bool:
        """True where a chat has chosen a time; for `owner`, where any private chat of theirs has."""
        for chat in self._preferences.dailies:
            if chat == self._name(target.address):
                return True
            if is_owner:
                try:
                    other = targets.find(chat)
                except NoTarget:
                    continue
                if other.kind is ChatKind.PRIVATE and self._kernel.access.is_owner(other.address.channel, other.person):
                    return True
        return False

    # what ------------------------------------------------------------------------------------------------------

    async def _deliver(self, name: str, target: Target, due: DueTime) -> bool:
        """Writes a day's summary into the outbox unless it is there; returns whether there was anything to report.
        `name` as in `daily_marks`. Raises `JobFailed`."""
        message = target.message("", "", DueJob(DAILY_SUMMARY, due.moment), self._kernel.clock.now())
        route = self._kernel.sessions.of(message)
        try:
            async with self._kernel.scope_work.of(str(route.session)), self._one_at_a_time:
                return await self._write(name, target.address, route, due)
        except ScopeBusy as error:
            raise JobFailed(str(error)) from error

    async def _write(self, name: str, address: Address, route: SessionRoute, due: DueTime) -> bool:
        days = summarized_days(due)
        run = utc_stamp(due.moment) if due.by_hand else _BY_THE_CLOCK
        before = [summary for day in days for summary in await self._names_of(address, day)]
        if (days[0], run) in ((summary.day, summary.run) for summary in before):
            return True
        begun = self._kernel.clock.now()  # what is said while it is made is left to the next summary
        since = await self._kernel.database.run(daily_marks.since, name)
        since = since and self._kernel.clock.local(since)
        told = await self._first_told(route, address, days, since)
        if (told.is_empty and not due.by_hand) or told.basis in (summary.basis for summary in before):
            return False
        text = (
            f"{told.text}\n\n{late_mark(due.moment, self._kernel.clock.now(), told.language)}"
            if due.late
            else told.text
        )
        key = f"{self._key(address, days[0])}{run}:{told.basis}"
        await self._kernel.outbox.cut(address, text)
        drafts = self._kernel.outbox.drafts(f"{key}:{{}}", address, text, buttons=told.buttons)
        end = datetime.combine(days[0] + timedelta(days=1), time(), self._kernel.clock.zone)
        until = begun if begun < end else end
        await self._kernel.outbox.write(drafts, lambda connection: daily_marks.note_sent(connection, name, key, until))
        return True

    def _key(self, address: Address, day: date) -> str:
        return f"daily:{self._name(address)}:{day.isoformat()}:"

    async def _names_of(self, address: Address, day: date) -> Sequence[_Name]:
        prefix = self._key(address, day)
        known = await self._kernel.database.run(outbox_rows.known_below, prefix)
        found = [key.removeprefix(prefix).rsplit(":", 2) for key in known]
        return [_Name(day, parts[0], parts[1]) for parts in found if len(parts) == _PARTS]

    async def now(self, route: SessionRoute, address: Address) -> PreparedSummary:
        """The day so far; in the morning, where there is nothing yet, the day before."""
        async with self._one_at_a_time:
            return await self._first_told(
                route, address, summarized_days(DueTime(self._kernel.clock.now(), by_hand=True))
            )

    async def _first_told(
        self, route: SessionRoute, address: Address, days: Sequence[date], since: datetime | None = None
    ) -> PreparedSummary:
        """The summary of the first day with anything in it, dated where another day is expected; else a sentence that
        there was nothing. `since`: earlier messages from then on are included."""
        first, *others = days
        told = nothing = await self._told(route, address, first, since)
        for day in others:
            if not told.is_empty:
                break
            told = await self._told(route, address, day, since)
            told = replace(told, text=_dated(told, day))
        return nothing if told.is_empty else told

    async def _told(
        self, route: SessionRoute, address: Address, day: date, since: datetime | None = None
    ) -> PreparedSummary:
        """One day's summary, after the journal; in the language of the day's log, else of the chat."""
        session, scope = route.session, route.scope
        try:
            await self._journaling.of_scope(session.agent, scope, day)
        except OSError as error:
            log.error("the summary for %s has no journal: %s", address, error)
        coming = await self._coming(route, address, day + timedelta(days=1))
        language = await self._kernel.database.run(chat_rows.language, address)
        summary = await self._kernel.agents[session.agent].summary(session, scope, day, coming, since, language)
        if summary is None:
            said = day_in(language, day, self._kernel.clock.today())
            nothing = LANGUAGES[language].chat.nothing_said.format(day=said)
            return PreparedSummary(nothing, language, f"{_NOTHING}-{day.isoformat()}", is_empty=True)
        return PreparedSummary(summary.text, summary.language, summary.basis, _buttons(summary.open))

    async def _coming(self, route: SessionRoute, address: Address, day: date) -> Sequence[UpcomingJob]:
        """The jobs that are due in this chat on the next day; the owner's private chats include jobs for the owner."""
        await self._schedule.load()
        to = {str(address), self._name(address)}
        if route.is_private and route.role is Role.OWNER:
            targets = await self._schedule.reports.targets()
            to |= {OWNER, *map(str, targets.of_owner())}
        jobs, zone = list(self._schedule.jobs.values()), self._kernel.clock.zone
        found = await asyncio.to_thread(agenda, jobs, to, day, zone)
        return [UpcomingJob(f"{due:%H:%M}", one_line(job.text, _SHOWN)) for due, job in found[:_MOST_COMING]]


def summarized_days(due: DueTime) -> Sequence[date]:
    """The days that a summary may cover, the preferred first: in the evening the ending day; in the morning the one
    that ended, then the new one; by hand the other way round."""
    today = due.moment.date()
    if due.moment.time() >= NOON:
        return (today,)
    yesterday = today - timedelta(days=1)
    return (today, yesterday) if due.by_hand else (yesterday, today)


def _dated(told: PreparedSummary, day: date) -> str:
    heading = day_heading(told.language, day, day)
    return told.text if told.text.startswith(heading) else f"{heading}\n\n{told.text}"


def _time(choice: str) -> time | None:
    return None if choice == OFF else time.fromisoformat(choice)


def _buttons(open_: Sequence[OpenItem]) -> Buttons:
    return tuple((Button(f"✓ {one_line(item.what, _LABEL)}", f"/done {item.id}"),) for item in open_[:_MOST_BUTTONS])
