"""What plain words ask of reminders where no model reads them: to cancel or move some, list them, set a timer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from agent.languages.codes import Language
from agent.languages.moments import moment_in
from agent.languages.orders import Period
from agent.languages.registry import LANGUAGES
from agent.languages.table import ReminderStrings
from agent.languages.terms import query_terms
from channels.message import Button
from gateway import recurrence as when_
from gateway.commands.context import CommandContext, CommandError, CommandReply
from gateway.commands.timezone import clock_named
from gateway.i18n import one_line
from gateway.recurrence import At, Cron, InvalidWhen, When
from gateway.scheduling import reminders
from gateway.scheduling.job import JobKind
from gateway.scheduling.job_access import Requester
from gateway.scheduling.requests import JobListing, JobRequest
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import Timed
from gateway.scheduling.words.phrases import Phrase
from gateway.tools.schedule import requester_of

_SHOWN = 60
_MOST_ASKED = 6
_IN = ("{}", "in {}", "dentro de {}", "dans {}", "{}后", "{}後")
"""How a bare length of time, or an hour, becomes a time."""
_AT = ("{}", "at {}", "um {}", "a las {}", "à {}h")
SEPARATOR = " | "
"""Between what is moved and to when."""


async def due(context: CommandContext, period: str) -> CommandReply:
    """The own reminders of a period, the next first."""
    said, language = _said(context)
    clock = context.services.clock
    today = clock.today()
    last = {
        Period.ALL: None,
        Period.TODAY: today,
        Period.TOMORROW: today + timedelta(days=1),
        Period.WEEK: today + timedelta(days=6 - today.weekday()),
    }[Period(period)]
    rows = [row for row in await _own(context) if row.next_run is not None]
    lines = []
    for row in sorted(rows, key=lambda row: str(row.next_run)):
        assert row.next_run is not None
        at = row.next_run.astimezone(clock.zone)
        is_wanted = last is None or (at.date() == last if period != Period.WEEK else at.date() <= last)
        if is_wanted:
            lines.append(f"- {moment_in(language, at, clock.now())}: {one_line(row.job.text, _SHOWN)}")
    return CommandReply("\n".join(lines) or said.nothing_due)


async def drop(context: CommandContext, words: str) -> CommandReply:
    """Cancels the reminder that the words name; asks where several fit."""
    said, _ = _said(context)
    found = _about(words, await _own(context))
    if len(found) != 1:
        return _which(said, words, found)
    job = await context.services.jobs.remove(_requester(context), found[0].job.id)
    return CommandReply(said.cancelled.format(task=one_line(job.text, _SHOWN)))


async def move(context: CommandContext, words: str) -> CommandReply:
    """Moves the reminder that the words name, else the newest, to the time that they name."""
    said, language = _said(context)
    about, _, time = words.rpartition(SEPARATOR) if SEPARATOR in words else ("", "", words)
    phrase = await _read(context, time, _AT, language)
    if phrase is None or not isinstance(phrase.time, Timed):
        raise CommandError(said.unclear)
    about = about or phrase.rest
    own = await _own(context)
    found = _about(about, own) if query_terms(about) else own[-1:]
    if len(found) != 1:
        return _which(said, about, found)
    job = found[0].job
    fields = when_.fields(_moved(job.when, phrase, found[0].next_run, context))
    receipt = await context.services.jobs.change(_requester(context), job.id, text="", when=fields, seen=None)
    assert receipt.due is not None
    clock = context.services.clock
    when = moment_in(language, receipt.due.astimezone(clock.zone), clock.now())
    cancel = Button(said.cancel, f"/jobs cancel {reminders.mark_of(receipt.job)}")
    return CommandReply(f"{said.set.format(when=when)}\n⏰ {one_line(job.text, _SHOWN)}", ((cancel,),))


def _moved(before: When, phrase: Phrase, next_run: datetime | None, context: CommandContext) -> When:
    """Where only an hour was said, the day or repetition stays."""
    assert isinstance(phrase.time, Timed)
    when = phrase.time.when
    if phrase.has_day or not isinstance(when, At) or when.moment.tzinfo is not None:
        return when
    if isinstance(before, Cron):
        _, _, rest = before.expression.split(" ", 2)
        return Cron(f"{when.moment.minute} {when.moment.hour} {rest}", before.until)
    if next_run is None:
        return when
    day = next_run.astimezone(context.services.clock.zone).date()
    return At(datetime.combine(day, when.moment.time()))


async def timer(context: CommandContext, words: str) -> CommandReply:
    said, language = _said(context)
    return await _ring(context, words, _IN, said.timer, language)


async def wake(context: CommandContext, words: str) -> CommandReply:
    said, language = _said(context)
    return await _ring(context, words, (*_AT, *_IN), said.wake, language)


async def _ring(
    context: CommandContext, words: str, forms: Iterable[str], text: str, language: Language
) -> CommandReply:
    said = LANGUAGES[language].reminders
    phrase = await _read(context, words, forms, language)
    if phrase is None or not isinstance(phrase.time, Timed):
        raise CommandError(said.unclear)
    request = JobRequest(text=phrase.rest or text, when=when_.fields(phrase.time.when))
    receipt = await context.services.jobs.add(_requester(context), request)
    assert receipt.due is not None
    clock = context.services.clock
    when = moment_in(language, receipt.due.astimezone(clock.zone), clock.now())
    cancel = Button(said.cancel, f"/jobs cancel {reminders.mark_of(receipt.job)}")
    return CommandReply(said.set.format(when=when) + await clock_named(context), ((cancel,),))


async def _read(context: CommandContext, text: str, forms: Iterable[str], language: Language) -> Phrase | None:
    clock, sent_at = context.services.clock, context.row.message.sent_at
    for form in forms:
        try:
            phrase = await asyncio.to_thread(phrases.read, form.format(text), clock.local(sent_at), (language,))
        except InvalidWhen as error:
            raise CommandError(LANGUAGES[language].reminders.unclear) from error
        if phrase is not None and isinstance(phrase.time, Timed):
            return phrase
    return None


def _about(words: str, rows: Sequence[JobListing]) -> list[JobListing]:
    """Those whose text has all of the words; all of them, where no word says which."""
    wanted = set(query_terms(words)) if words.strip() else set()
    return [row for row in rows if wanted <= set(query_terms(row.job.text))] if wanted else [*rows]


def _which(said: ReminderStrings, words: str, found: Sequence[JobListing]) -> CommandReply:
    if not found:
        return CommandReply(said.none_about.format(task=one_line(words, _SHOWN)))
    buttons = tuple(
        (Button(f"{said.cancel}: {one_line(row.job.text, 40)}", f"/jobs cancel {reminders.mark_of(row.job)}"),)
        for row in found[:_MOST_ASKED]
    )
    return CommandReply(said.which, buttons)


async def _own(context: CommandContext) -> list[JobListing]:
    """The person's own reminders and jobs, the newest last."""
    rows = await context.services.jobs.rows(_requester(context))
    return [row for row in rows if row.job.kind is not JobKind.BUILT_IN and row.job.enabled]


def _said(context: CommandContext) -> tuple[ReminderStrings, Language]:
    return LANGUAGES[context.language].reminders, context.language


def _requester(context: CommandContext) -> Requester:
    return requester_of(context.row, context.route)
