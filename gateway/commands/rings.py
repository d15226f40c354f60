"""Orders in plain words for one moment: a timer, an alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from agent.languages.order_words import OrderKind, flat, words_of
from agent.languages.orders import PlainOrder, without_noise
from agent.languages.registry import LANGUAGES
from gateway import recurrence as when_
from gateway.commands.context import CommandContext, CommandError, CommandReply
from gateway.commands.reminder_moves import ONE_TIME, set_reply
from gateway.commands.reminder_names import HALF_A_DAY, phrase_in, requester, touched
from gateway.commands.timezone import clock_named
from gateway.recurrence import At, Cron, When
from gateway.scheduling.requests import JobRequest
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import Timed
from gateway.scheduling.words.phrases import Phrase

_FIRST_UP = 4 * 60
"""The earliest minute of the day at which a bare hour wakes somebody in the morning."""


async def timer(context: CommandContext, asked: PlainOrder) -> CommandReply:
    return await _ring(context, asked, LANGUAGES[context.language].reminders.timer)


async def wake(context: CommandContext, asked: PlainOrder) -> CommandReply:
    return await _ring(context, asked, LANGUAGES[context.language].reminders.wake)


async def _ring(context: CommandContext, asked: PlainOrder, text: str) -> CommandReply:
    phrase = await _rings_at(context, asked)
    if phrase is None or not isinstance(phrase.time, Timed):
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    task = without_noise(phrase.rest, asked.language) and phrase.rest
    request = JobRequest(text=task or text, when=when_.fields(phrase.time.when))
    receipt = await context.services.jobs.add(requester(context), request)
    await touched(context, receipt.job)
    reply = set_reply(context, receipt, context.language)
    return replace(reply, text=reply.text + await clock_named(context))


async def _rings_at(context: CommandContext, asked: PlainOrder) -> Phrase | None:
    """The time at which it rings. Where a timer names a length, only that counts: `une heure et demie` is no hour of
    the day."""
    given = words_of(asked.language).given
    is_timer = asked.kind is OrderKind.TIMER
    said = phrases.length_in(asked.about, asked.language)
    is_hour, phrase = said is not None and _is_hour(said[1], given.at), None
    within = () if is_hour else given.within
    forms = (*within, *given.at) if is_timer else (*given.at, *within)
    for about in (asked.about, without_noise(asked.about, asked.language)):
        length = phrases.length_in(about, asked.language) or phrases.length_in(about, context.language)
        if is_timer and length is not None and not phrases.said_in(length[1], asked.language):
            return _from_now(context, asked, length)
        if phrase is None or not isinstance(phrase.time, Timed):
            phrase = await phrase_in(context, about, ("{}", *forms), asked.language)
        if (phrase is None or not isinstance(phrase.time, Timed)) and length is not None and not is_hour:
            phrase = _from_now(context, asked, length)
    if phrase is None or not isinstance(phrase.time, Timed):
        return phrase
    if is_timer:  # `1:30 hours` has an hour of the day only in another language
        return phrase if phrase.has_day or phrase.language is asked.language else None
    now = context.kernel.clock.local(context.row.message.sent_at).replace(tzinfo=None)
    return replace(phrase, time=replace(phrase.time, when=_in_the_morning(phrase, phrase.time.when, now)))


def _is_hour(rest: str, forms: Sequence[str]) -> bool:
    """Whether what was read as a length of time is part of an hour that does not exist: of `at 26h`, `26时75分`."""
    before = [form.partition("{}")[0].strip() for form in forms]
    return any(map(str.isdigit, rest)) or any(word and f" {flat(rest)}".endswith(f" {flat(word)}") for word in before)


def _from_now(context: CommandContext, asked: PlainOrder, length: tuple[timedelta, str]) -> Phrase:
    at = context.kernel.clock.now().replace(microsecond=0) + length[0]
    return Phrase(Timed(At(at)), without_noise(length[1], asked.language), asked.language)


def _in_the_morning(phrase: Phrase, when: When, now: datetime) -> When:
    """The time to wake somebody: a bare hour is meant in the morning."""
    if phrase.either is None or not _FIRST_UP <= phrase.either < HALF_A_DAY:
        return when
    hour, minute = divmod(phrase.either, 60)
    if isinstance(when, Cron) and (known := ONE_TIME.fullmatch(when.expression)):
        return replace(when, expression=f"{minute} {hour} {known[1]}")
    if not isinstance(when, At) or when.moment.tzinfo is not None:
        return when
    moment = when.moment.replace(hour=hour, minute=minute)
    if moment > now:
        return replace(when, moment=moment)
    return when if phrase.has_day else replace(when, moment=moment + timedelta(days=1))
