"""Moves a reminder to another time, as plain words ask: by a verb, or by its name and a time alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.moments import moment_in
from agent.languages.order_words import OrderKind, flat, words_of
from agent.languages.orders import PlainOrder, without_anew, without_noise, without_politeness, without_shift
from agent.languages.registry import LANGUAGES
from agent.model.offline.intent import told_language
from channels.message import Button
from gateway import recurrence as when_
from gateway.commands import choices
from gateway.commands.context import CommandContext, CommandError, CommandReply, PassToModel
from gateway.commands.reminder_names import (
    HALF_A_DAY,
    content_of,
    is_misspelt,
    is_nearly_same,
    is_wholly_named,
    matching,
    meant,
    names_reminder,
    newest_or_touched,
    own,
    phrase_in,
    requester,
    touched,
)
from gateway.i18n import one_line
from gateway.recurrence import At, Cron, When, next_after
from gateway.scheduling import reminders
from gateway.scheduling.requests import JobListing, JobReceipt
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import HourMissing, Timed
from gateway.scheduling.words.phrases import Phrase

_SHOWN = 60
MOST_ASKED = 6
_WHEN = TypeAdapter(dict[str, str])
ONE_TIME = re.compile(r"\d+ \d+ ([^;]+)")
"""A cron rule with one time of day, and its days."""
_NEAR = 3 * 60
"""Minutes by which a reminder is usually moved at most, where the half of the day is not said."""


@dataclass(frozen=True, slots=True)
class ReminderChange:
    """A change by a length, which is negative for earlier, or to a time; with the rest of the text."""

    rest: str
    by: timedelta | None = None
    to: Phrase | None = None

    def of(self, row: JobListing, context: CommandContext) -> When:
        """When the reminder is due then. Raises `CommandError`."""
        if self.by is not None and row.next_run is not None:
            return _shifted(row, self.by, context)
        if self.to is None:
            raise CommandError(LANGUAGES[context.language].reminders.unclear)
        return _moved(row, self.to, context)


async def move(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Moves the reminder that the words name to the time that they say; asks where several reminders fit."""
    rows, about = await own(context), without_old(asked.about, asked.language)
    change = await change_in(context, asked.language, about, context.row.message.text)
    if change is None:
        if (reply := await moved_by_name(context)) is not None:
            return reply
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    found = matching(change.rest, rows, asked.language)
    if not found and not names_reminder(context, asked) and not content_of(change.rest, asked.language):
        found = await newest_or_touched(context, rows)
    elif not found:
        found = await meant(context, PlainOrder(asked.kind, asked.language, change.rest), rows)
    if not found and (reply := await moved_by_name(context)) is not None:
        return reply
    if len(found) != 1:
        return await which_to_move(context, asked, at_most(found, change, context))
    return await put_at(context, found[0], when_.fields(change.of(found[0], context)))


async def named(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Moves the reminder that a line names beside a time; leaves any other line to the model."""
    del asked
    reply = await moved_by_name(context)
    if reply is None:
        raise PassToModel
    return reply


async def moved_by_name(context: CommandContext) -> CommandReply | None:
    """Moves the own reminder that the line names with a time and nothing else, if a word says that the time is another;
    asks if no word does. None for any other line."""
    rows, line = await own(context), context.row.message.text
    if not rows:
        return None
    for language in dict.fromkeys((*filter(None, (told_language(line),)), context.language, *ALL_LANGUAGES)):
        if (said := await _said_by_name(context, line, rows, language)) is not None:
            break
    else:
        return None
    change, found, is_change = said
    is_question = line.rstrip().endswith(("?", "？"))
    asked = PlainOrder(OrderKind.MOVE, language)
    if is_change and not is_question:
        if len(found) == 1:
            return await put_at(context, found[0], when_.fields(change.of(found[0], context)))
        return await which_to_move(context, asked, at_most(found, change, context))
    if is_question and not is_change:
        return None
    return await _whether_to_move(context, asked, at_most(found, change, context), line)


async def _said_by_name(
    context: CommandContext, line: str, rows: Sequence[JobListing], language: Language
) -> tuple[ReminderChange, list[JobListing], bool] | None:
    """The change that the line tells, the reminders that it names, and whether a word says that the time is another."""
    told = without_old(line, language)
    is_change = told != line
    told = without_politeness(told, language)
    change = await change_in(context, language, told, told, is_strict=True)
    if change is None or (change.to is not None and change.to.language is not language):
        return None
    is_change = is_change or change.by is not None
    if not is_change and re.search(words_of(language).given.reports, line.lower()):
        return None
    is_same = is_nearly_same if is_change else is_misspelt
    found = [row for row in rows if is_wholly_named(change.rest, row.job.text, language, is_same)]
    return (change, found, is_change) if found else None


async def _whether_to_move(
    context: CommandContext, asked: PlainOrder, found: Mapping[str, tuple[JobListing, When]], line: str
) -> CommandReply | None:
    """Asks whether a reminder is meant, or a note. None where the reminder would stay as it is, or is past."""
    clock = context.kernel.clock
    ahead = [(row, when, next_after(when, row.zone, clock.now())) for row, when in found.values()]
    news = [(row, when, at) for row, when, at in ahead if at is not None and at != row.next_run]
    if not news:
        return None
    note = (context.said("Note it"), f"{OrderKind.NOTE} {asked.language} {line}")
    if len(news) > 1:
        text = LANGUAGES[context.language].reminders.which
        return await choices.asked(context, text, [*(choice_of(asked, row, when) for row, when, _ in news), note])
    row, when, _ = news[0]
    text = shown_change(context, row, when)
    return await choices.asked(context, text, [(context.said("Move it"), choice_of(asked, row, when)[1]), note])


def shown_change(context: CommandContext, row: JobListing, when: When) -> str:
    """The question whether a reminder is to come at the new time. Raises `CommandError` for a time that is past."""
    clock = context.kernel.clock
    if (at := next_after(when, row.zone, clock.now())) is None:
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    told = moment_in(context.language, at.astimezone(clock.zone), clock.now())
    task = one_line(row.job.text, _SHOWN)
    return context.said("Shall I remind you {when} instead? “{task}”", when=told, task=task)


def at_most(
    found: Sequence[JobListing], change: ReminderChange, context: CommandContext
) -> dict[str, tuple[JobListing, When]]:
    return {row.job.id: (row, change.of(row, context)) for row in found[:MOST_ASKED]}


async def which_to_move(
    context: CommandContext, asked: PlainOrder, found: Mapping[str, tuple[JobListing, When]]
) -> CommandReply:
    if not found:
        return none_about(context, asked)
    offered = [choice_of(asked, row, when) for row, when in found.values()]
    return await choices.asked(context, LANGUAGES[context.language].reminders.which, offered)


def choice_of(asked: PlainOrder, row: JobListing, when: When) -> tuple[str, str]:
    fields = json.dumps(when_.fields(when))
    return one_line(row.job.text, 40), f"{OrderKind.PUT} {asked.language} {reminders.mark_of(row.job)} {fields}"


def none_about(context: CommandContext, asked: PlainOrder) -> CommandReply:
    about = without_noise(asked.about, asked.language) or asked.about
    return CommandReply(LANGUAGES[context.language].reminders.none_about.format(task=one_line(about, _SHOWN)))


# The new time


def without_old(text: str, language: Language) -> str:
    """The text without the old time that it names, and without words that another time holds now."""
    text = without_anew(text, language)
    cut = words_of(language).instead.search(flat(text))
    if cut is None or not cut.start():
        return text
    return f"{text[: cut.start()]} {phrases.behind_time(text[cut.end() :], language)}".rstrip()


async def change_in(
    context: CommandContext, language: Language, about: str, whole: str, *, is_strict: bool = False
) -> ReminderChange | None:
    """The change that the text says. `whole` tells whether it is earlier or later; `is_strict`: no word is left out."""
    given, whole = words_of(language).given, flat(whole)
    is_earlier, is_later = (re.search(pattern, whole) is not None for pattern in (given.earlier, given.later))
    phrase, rest, is_sure = await _new_time(context, language, about, is_strict=is_strict)
    length = phrases.length_in(about, language) if is_earlier or is_later else None
    if length is not None and (phrase is None or not is_sure or _is_from_now(phrase, length[0], context)):
        return ReminderChange(without_shift(length[1], language), by=-length[0] if is_earlier else length[0])
    return ReminderChange(rest, to=phrase) if phrase is not None else None


async def _new_time(
    context: CommandContext, language: Language, about: str, *, is_strict: bool
) -> tuple[Phrase | None, str, bool]:
    """The time to which something is moved, the rest of the text, and whether a word says that the time is new."""
    given = words_of(language).given
    for match in re.finditer(given.to, flat(about)):
        phrase = await phrase_in(context, about[match.end() :], given.at, language)
        if phrase is not None and phrase.time is not None and not content_of(phrase.rest, language):
            return await _with_day_before(context, language, phrase, about[: match.start()])
    for text in (about,) if is_strict else (about, without_noise(about, language)):
        has_length = phrases.length_in(text, language) is not None  # "an hour" is no hour of the day
        phrase = await phrase_in(context, text, () if has_length else given.at, language)
        if phrase is not None and phrase.time is not None:
            return phrase, phrase.rest, False
    return None, "", False


async def _with_day_before(
    context: CommandContext, language: Language, phrase: Phrase, head: str
) -> tuple[Phrase, str, bool]:
    """`on Friday at 2`: adds the day before the word by which the time is found."""
    alone = f"{head} {phrase.rest}".strip()
    if phrase.has_day or not isinstance(phrase.time, Timed) or not isinstance(phrase.time.when, At):
        return phrase, alone, True
    before = await phrase_in(context, head, (), language)
    if before is None or not isinstance(before.time, HourMissing) or before.time.day is None:
        return phrase, alone, True
    moment = datetime.combine(before.time.day, phrase.time.when.moment.time())
    dated = replace(phrase, time=Timed(At(moment)), has_day=True)
    return dated, f"{before.rest} {phrase.rest}".strip(), True


def _is_from_now(phrase: Phrase, length: timedelta, context: CommandContext) -> bool:
    """True where a length of time was read as a moment: `an hour back` as `in an hour`."""
    if not isinstance(phrase.time, Timed) or not isinstance(phrase.time.when, At):
        return True
    now = context.kernel.clock.now().replace(tzinfo=None)
    moment = phrase.time.when.moment.replace(tzinfo=None)
    return phrase.has_day and abs(moment - now - length) < timedelta(minutes=2)


async def put_at(context: CommandContext, row: JobListing, fields: Mapping[str, str]) -> CommandReply:
    before = when_.fields(row.job.when)
    receipt = await context.services.jobs.change(requester(context), row.job.id, text="", when=fields, seen=None)
    await touched(context, receipt.job, before)
    receipt = replace(receipt, due=receipt.due or row.next_run)  # it may stay as it was
    return set_reply(context, receipt, context.language, with_text=True)


async def put(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Moves the reminder that was chosen among several: `MARK WHEN`, as JSON."""
    mark, _, given = asked.about.partition(" ")
    row = next((row for row in await own(context) if reminders.mark_of(row.job) == mark), None)
    if row is None:
        return CommandReply(context.said("That reminder no longer exists."))
    try:
        fields = _WHEN.validate_json(given)
    except ValidationError as error:
        raise CommandError(LANGUAGES[context.language].reminders.unclear) from error
    return await put_at(context, row, fields)


def _moved(row: JobListing, phrase: Phrase, context: CommandContext) -> When:
    """When the reminder is due then: where only an hour was said, its day or repetition stays; where only a day, its
    hour."""
    before, time = row.job.when, phrase.time
    next_run = row.next_run.astimezone(context.kernel.clock.zone) if row.next_run is not None else None
    if isinstance(time, HourMissing):
        if time.day is None or next_run is None:
            raise CommandError(LANGUAGES[context.language].reminders.unclear)
        return At(datetime.combine(time.day, next_run.time()))
    assert isinstance(time, Timed)
    when = time.when
    if phrase.has_day or not isinstance(when, At) or when.moment.tzinfo is not None:
        return when
    moment = when.moment if next_run is None else _nearer(when.moment, phrase.either, next_run)
    if isinstance(before, Cron):
        return _at_hour(before, moment, context)
    return when if next_run is None else At(datetime.combine(next_run.date(), moment.time()))


def _nearer(moment: datetime, either: int | None, before: datetime) -> datetime:
    """The half of the day that is nearer to the old time: `to 6` is 18:00 for a reminder at 17:00."""
    if either is None or moment.hour * 60 + moment.minute != either:
        return moment
    old = before.hour * 60 + before.minute
    is_later = abs(either + HALF_A_DAY - old) <= _NEAR < abs(either - old) and either + HALF_A_DAY < 2 * HALF_A_DAY
    return moment + timedelta(minutes=HALF_A_DAY) if is_later else moment


def _shifted(row: JobListing, by: timedelta, context: CommandContext) -> When:
    assert row.next_run is not None
    at = row.next_run.astimezone(context.kernel.clock.zone).replace(tzinfo=None) + by
    return _at_hour(row.job.when, at, context) if isinstance(row.job.when, Cron) and by < timedelta(days=1) else At(at)


def _at_hour(before: Cron, at: datetime, context: CommandContext) -> Cron:
    """The same days at another hour. Raises `CommandError` where the rule has several hours: any of them may be
    meant."""
    if not (known := ONE_TIME.fullmatch(before.expression)):
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    rest = known[1]
    return Cron(f"{at.minute} {at.hour} {rest}", before.until)


def set_reply(
    context: CommandContext, receipt: JobReceipt, language: Language, *, with_text: bool = False
) -> CommandReply:
    """The reply that a reminder is set, with a button that cancels it."""
    assert receipt.due is not None
    said, clock = LANGUAGES[language].reminders, context.kernel.clock
    when = moment_in(language, receipt.due.astimezone(clock.zone), clock.now())
    form = said.set if isinstance(receipt.job.when, At) or with_text else said.set_again
    text = f"\n⏰ {one_line(receipt.job.text, _SHOWN)}" if with_text else ""
    return CommandReply(f"{form.format(when=when)}{text}", ((cancel_button(receipt, language),),))


def cancel_button(receipt: JobReceipt, language: Language) -> Button:
    return Button(LANGUAGES[language].reminders.cancel, f"/jobs cancel {reminders.mark_of(receipt.job)}")
