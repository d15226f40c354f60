"""What plain words ask of reminders where no model reads them: to cancel or move some, list them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from agent.languages.codes import Language
from agent.languages.moments import moment_in
from agent.languages.orders import OrderKind, PlainOrder, flat, items_in, without_noise, words_of
from agent.languages.registry import LANGUAGES
from agent.languages.terms import fold, is_same_word, is_unspaced, query_terms, terms
from channels.message import Button
from gateway import recurrence as when_
from gateway.commands import choices, memory
from gateway.commands.context import CommandContext, CommandError, CommandReply, PassToModel
from gateway.i18n import one_line
from gateway.recurrence import At, Cron, InvalidWhen, When
from gateway.scheduling import reminders
from gateway.scheduling.job import JobKind
from gateway.scheduling.job_access import Requester
from gateway.scheduling.requests import JobListing, JobReceipt
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import HourMissing, Timed
from gateway.scheduling.words.phrases import Phrase
from gateway.store import chat_rows
from gateway.tools.schedule import requester_of

_SHOWN = 60
_MOST_ASKED = 6
_MOVED = "moved reminder"
"""Choice of a conversation: the reminder that was moved last, and the newest then."""
_WHEN = TypeAdapter(dict[str, str])
ONE_TIME = re.compile(r"\d+ \d+ ([^;]+)")
"""A cron rule with one time of day, and its days."""
HALF_A_DAY = 12 * 60
_NEAR = 3 * 60
"""Minutes by which a reminder is usually moved at most, where the half of the day is not said."""


async def due(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """The own reminders of the days that are named, of those that are named, or all; the next first."""
    clock, said = context.services.clock, LANGUAGES[context.language].reminders
    text, today = context.row.message.text, clock.today()
    given = words_of(asked.language).given
    phrase = await phrase_in(context, text, ["{}"], asked.language)
    if phrase is None or phrase.time is None:  # "il y a quelque chose demain"
        phrase = await phrase_in(context, asked.about, ["{}"], asked.language)
    day = phrase.time.day if phrase is not None and isinstance(phrase.time, HourMissing) else None
    last = today + timedelta(days=6 - today.weekday()) if given.week and re.search(given.week, flat(text)) else day
    rows = [row for row in await own_reminders(context) if row.next_run is not None]
    named = matching(asked.name or text, rows, asked.language) if last is None or asked.name else []
    if asked.name and not named:
        raise PassToModel  # "when is Anna's birthday": the notes may tell
    last = None if asked.name else last
    lines = []
    for row in sorted(named or rows, key=lambda row: str(row.next_run)):
        assert row.next_run is not None
        at = row.next_run.astimezone(clock.zone)
        if last is None or (at.date() == day if day is not None else at.date() <= last):
            lines.append(f"- {moment_in(context.language, at, clock.now())}: {one_line(row.job.text, _SHOWN)}")
    return CommandReply("\n".join(lines) or said.nothing_due)


async def cancel(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Cancels the reminders that the words name; asks where several fit. Where none does, what is known of it may be
    meant."""
    own = await own_reminders(context)
    parts = items_in(asked.about, asked.language)
    each = [matching(part, own, asked.language) for part in parts]
    if len(parts) > 1 and all(len(found) == 1 for found in each):
        rows = list({found[0].job.id: found[0] for found in each}.values())
    else:
        rows = await _meant(context, asked, own)
    said = LANGUAGES[context.language].reminders
    if len(rows) != 1 and not (len(parts) > 1 and 0 < len(rows) == len(each)):
        return await _which_to_cancel(context, asked, rows)
    lines = []
    for row in rows:
        job = await context.services.jobs.remove(_requester(context), row.job.id)
        lines.append(said.cancelled.format(task=one_line(job.text, _SHOWN)))
    return CommandReply("\n".join(lines))


async def move(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Moves the reminder that the words name to the time that they name; asks where several fit."""
    given, own = words_of(asked.language).given, await own_reminders(context)
    cut = re.search(given.instead, flat(asked.about))
    about = asked.about[: cut.start()] if cut is not None and cut.start() else asked.about
    whole = flat(context.row.message.text)
    is_earlier, is_later = (re.search(one, whole) is not None for one in (given.earlier, given.later))
    phrase, rest, is_sure = await _new_time(context, asked, about)
    length = phrases.length_in(about, asked.language) if is_earlier or is_later else None
    if length is not None and (phrase is None or not is_sure or _is_from_now(phrase, length[0], context)):
        rest = length[1]
    elif phrase is None:
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    else:
        length = None
    found = matching(rest, own, asked.language)
    if not found and not names_reminder(context, asked) and not content_of(rest, asked.language):
        found = await _last_touched(context, own)
    elif not found:
        found = await _meant(context, PlainOrder(asked.kind, asked.language, rest), own)

    def moved(row: JobListing) -> When:
        if length is not None and row.next_run is not None:
            by = -length[0] if is_earlier else length[0]
            return _shifted(row, by, context)
        assert phrase is not None and phrase.time is not None
        return _moved(row, phrase, context)

    if len(found) != 1:
        return await _which_to_move(context, asked, {row.job.id: (row, moved(row)) for row in found[:_MOST_ASKED]})
    return await _put_at(context, found[0], when_.fields(moved(found[0])))


async def _which_to_move(
    context: CommandContext, asked: PlainOrder, found: Mapping[str, tuple[JobListing, When]]
) -> CommandReply:
    if not found:
        return _none_about(context, asked)
    offered = [
        (
            one_line(row.job.text, 40),
            f"{OrderKind.PUT} {asked.language} {reminders.mark_of(row.job)} {json.dumps(when_.fields(when))}",
        )
        for row, when in found.values()
    ]
    return await choices.asked(context, LANGUAGES[context.language].reminders.which, offered)


async def _last_touched(context: CommandContext, own: list[JobListing]) -> list[JobListing]:
    """The reminder that was moved last, unless one was added since; else the newest."""
    choices = await context.services.database.run(chat_rows.chosen, _MOVED)
    moved, _, newest = choices.get(str(context.route.session), "").partition(" ")
    if own and own[-1].job.id == newest:
        return [row for row in own if row.job.id == moved] or own[-1:]
    return own[-1:]


async def _new_time(context: CommandContext, asked: PlainOrder, about: str) -> tuple[Phrase | None, str, bool]:
    """The time to which something is moved, the rest of what was said, and whether a word says that it is that."""
    given = words_of(asked.language).given
    for match in re.finditer(given.to, flat(about)):
        phrase = await phrase_in(context, about[match.end() :], given.at, asked.language)
        if phrase is not None and phrase.time is not None and not content_of(phrase.rest, asked.language):
            return await _with_day_before(context, asked, phrase, about[: match.start()])
    for text in (about, without_noise(about, asked.language)):
        has_length = phrases.length_in(text, asked.language) is not None  # "an hour" is no hour of the day
        phrase = await phrase_in(context, text, () if has_length else given.at, asked.language)
        if phrase is not None and phrase.time is not None:
            return phrase, phrase.rest, False
    return None, "", False


async def _with_day_before(
    context: CommandContext, asked: PlainOrder, phrase: Phrase, head: str
) -> tuple[Phrase, str, bool]:
    """`on Friday at 2`: the day before the word that the time is found by belongs to it."""
    if phrase.has_day or not isinstance(phrase.time, Timed) or not isinstance(phrase.time.when, At):
        return phrase, head, True
    before = await phrase_in(context, head, (), asked.language)
    if before is None or not isinstance(before.time, HourMissing) or before.time.day is None:
        return phrase, head, True
    moment = datetime.combine(before.time.day, phrase.time.when.moment.time())
    return replace(phrase, time=Timed(At(moment)), has_day=True), before.rest, True


def _is_from_now(phrase: Phrase, length: timedelta, context: CommandContext) -> bool:
    """The length of time was read as a moment: `an hour back` as `in an hour`."""
    if not isinstance(phrase.time, Timed) or not isinstance(phrase.time.when, At):
        return True
    now = context.services.clock.now().replace(tzinfo=None)
    moment = phrase.time.when.moment.replace(tzinfo=None)
    return phrase.has_day and abs(moment - now - length) < timedelta(minutes=2)


async def _put_at(context: CommandContext, row: JobListing, fields: Mapping[str, str]) -> CommandReply:
    receipt = await context.services.jobs.change(_requester(context), row.job.id, text="", when=fields, seen=None)
    newest = (await own_reminders(context))[-1].job.id
    session = str(context.route.session)
    await context.services.database.run(chat_rows.choose, session, _MOVED, f"{receipt.job.id} {newest}")
    return set_reply(context, receipt, context.language, with_text=True)


async def put(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Moves the one of several that was pressed: `MARK WHEN`, as JSON."""
    mark, _, given = asked.about.partition(" ")
    row = next((row for row in await own_reminders(context) if reminders.mark_of(row.job) == mark), None)
    if row is None:
        return CommandReply(context.said("That reminder no longer exists."))
    try:
        fields = _WHEN.validate_json(given)
    except ValidationError as error:
        raise CommandError(LANGUAGES[context.language].reminders.unclear) from error
    return await _put_at(context, row, fields)


def _moved(row: JobListing, phrase: Phrase, context: CommandContext) -> When:
    """Where only an hour was said, the day or repetition stays; where only a day, the hour."""
    before, time = row.job.when, phrase.time
    next_run = row.next_run.astimezone(context.services.clock.zone) if row.next_run is not None else None
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
    """`to 6` of what is at 17:00 is 18:00."""
    if either is None or moment.hour * 60 + moment.minute != either:
        return moment
    old = before.hour * 60 + before.minute
    is_later = abs(either + HALF_A_DAY - old) <= _NEAR < abs(either - old) and either + HALF_A_DAY < 2 * HALF_A_DAY
    return moment + timedelta(minutes=HALF_A_DAY) if is_later else moment


def _shifted(row: JobListing, by: timedelta, context: CommandContext) -> When:
    assert row.next_run is not None
    at = row.next_run.astimezone(context.services.clock.zone).replace(tzinfo=None) + by
    return _at_hour(row.job.when, at, context) if isinstance(row.job.when, Cron) and by < timedelta(days=1) else At(at)


def _at_hour(before: Cron, at: datetime, context: CommandContext) -> Cron:
    """The same days at that hour. Raises `CommandError` where it has several hours: which of them is meant?"""
    if not (known := ONE_TIME.fullmatch(before.expression)):
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    rest = known[1]
    return Cron(f"{at.minute} {at.hour} {rest}", before.until)


def set_reply(
    context: CommandContext, receipt: JobReceipt, language: Language, *, with_text: bool = False
) -> CommandReply:
    """That a reminder is set, with a button that cancels it."""
    assert receipt.due is not None
    said, clock = LANGUAGES[language].reminders, context.services.clock
    when = moment_in(language, receipt.due.astimezone(clock.zone), clock.now())
    form = said.set if isinstance(receipt.job.when, At) or with_text else said.set_again
    text = f"\n⏰ {one_line(receipt.job.text, _SHOWN)}" if with_text else ""
    return CommandReply(f"{form.format(when=when)}{text}", ((cancel_button(receipt, language),),))


def cancel_button(receipt: JobReceipt, language: Language) -> Button:
    return Button(LANGUAGES[language].reminders.cancel, f"/jobs cancel {reminders.mark_of(receipt.job)}")


async def phrase_in(context: CommandContext, text: str, forms: Sequence[str], language: Language) -> Phrase | None:
    """The time in the text, as it is or as a bare hour or length; with an hour before one without."""
    clock, best = context.services.clock, None
    now = clock.local(context.row.message.sent_at)
    for form in dict.fromkeys(("{}", *forms)):
        try:
            phrase = await asyncio.to_thread(phrases.read, form.format(text.strip()), now, (language,))
        except InvalidWhen:
            continue
        if phrase is not None and isinstance(phrase.time, Timed):
            return phrase if best is None or best.either is None else replace(phrase, either=best.either)
        best = phrase if phrase is not None and (best is None or best.time is None) else best
    return best


async def _meant(context: CommandContext, asked: PlainOrder, own: Sequence[JobListing]) -> list[JobListing]:
    """Those whose text has the words, at the time that is named; all of them, where nothing says which."""
    if found := matching(asked.about, own, asked.language):
        return found
    phrase = await phrase_in(context, asked.about, words_of(asked.language).given.at, asked.language)
    zone = context.services.clock.zone
    if phrase is not None and (phrase.time is not None or phrase.either is not None):
        time, either = phrase.time, phrase.either

        def fits(row: JobListing) -> bool:
            if row.next_run is None:
                return False
            at = row.next_run.astimezone(zone)
            if either is not None and not phrase.has_day:
                return (at.hour * 60 + at.minute - either) % HALF_A_DAY == 0
            if isinstance(time, HourMissing):
                return at.date() == time.day
            if time is None or not isinstance(time.when, At):
                return False
            said, moment = time.when.moment, at.replace(tzinfo=None)
            return said == moment if phrase.has_day else said.time() == moment.time()

        fitting = [row for row in own if fits(row)]
        named = matching(phrase.rest, own, asked.language)
        return [row for row in fitting if row in named] if named else fitting
    return [] if content_of(asked.about, asked.language) else [*own]


def matching(words: str, rows: Sequence[JobListing], language: Language) -> list[JobListing]:
    wanted = content_of(words, language)
    scores = {row.job.id: _score(wanted, row.job.text) for row in rows}
    best = max(scores.values(), default=0)
    return [row for row in rows if best and scores[row.job.id] == best]


def _score(wanted: Sequence[str], text: str) -> int:
    """How many of the words are in the text, if these are all of them or most of the text."""
    own = set(query_terms(text))
    common = sum(any(is_same_word(one, other) for other in own) for one in wanted)
    unspaced = any(map(is_unspaced, wanted))
    is_enough = common == len(wanted) or 2 * common > len(own)
    is_enough = is_enough or (unspaced and 2 * common >= min(len(wanted), len(own)))
    return common if is_enough else 0


def content_of(words: str, language: Language) -> list[str]:
    left = without_noise(words, language)
    return query_terms(left) if terms(fold(left)) else []


def names_reminder(context: CommandContext, asked: PlainOrder) -> bool:
    noun = words_of(asked.language).given.subjects.get("reminders", "(?!)")
    return re.search(noun, flat(context.row.message.text)) is not None


async def _which_to_cancel(context: CommandContext, asked: PlainOrder, found: Sequence[JobListing]) -> CommandReply:
    said = LANGUAGES[context.language].reminders
    if not found:
        return await _offer_to_forget(context, asked) or _none_about(context, asked)
    buttons = (
        Button(f"{said.cancel}: {one_line(row.job.text, 40)}", f"/jobs cancel {reminders.mark_of(row.job)}")
        for row in found[:_MOST_ASKED]
    )
    return CommandReply(said.which, tuple((button,) for button in buttons))


async def _offer_to_forget(context: CommandContext, asked: PlainOrder) -> CommandReply | None:
    """`delete my password` may be meant of what is remembered: what is found is shown first. None where nothing is."""
    about = without_noise(asked.about, asked.language)
    if not content_of(about, asked.language) or names_reminder(context, asked) or not memory.may_forget(context):
        return None
    reply = await memory.forget_(replace(context, argument=about))
    return reply if reply.buttons else None


def _none_about(context: CommandContext, asked: PlainOrder) -> CommandReply:
    about = without_noise(asked.about, asked.language) or asked.about
    return CommandReply(LANGUAGES[context.language].reminders.none_about.format(task=one_line(about, _SHOWN)))


async def own_reminders(context: CommandContext) -> list[JobListing]:
    """The person's own reminders and jobs, the newest last."""
    rows = await context.services.jobs.rows(_requester(context))
    return [row for row in rows if row.job.kind is not JobKind.BUILT_IN and row.job.enabled]


def _requester(context: CommandContext) -> Requester:
    return requester_of(context.row, context.route)
