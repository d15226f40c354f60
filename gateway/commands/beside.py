"""What the other clauses of a line say of the order in one of them: "not going to the dentist, delete that
reminder"."""

from __future__ import annotations

import re
from dataclasses import replace

from agent.languages.codes import Language
from agent.languages.order_words import LOOSE, OrderKind, flat, words_of
from agent.languages.orders import PlainOrder, is_pronoun, items_in, without_noise
from agent.languages.registry import LANGUAGES
from agent.languages.terms import is_unspaced
from gateway.commands.context import CommandContext, CommandError, PassToModel
from gateway.commands.reminder_names import content_of, matching, names_no_more, names_reminder, own, phrase_in, told_of
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import HourMissing, Timed
from gateway.scheduling.words.phrases import Phrase


async def resolved(context: CommandContext, asked: PlainOrder) -> PlainOrder:
    """The order in full. Raises `PassToModel` where the other clauses make it no order."""
    match asked.kind:
        case OrderKind.REMIND:
            return replace(asked, about=await _reminded_of(context, asked))
        case OrderKind.TIMER | OrderKind.WAKE:
            return await _rung_at(context, asked)
        case OrderKind.CANCEL:
            return await _cancelled(context, asked)
        case OrderKind.MOVE:
            return await _moved(context, asked)
        case _:
            return asked


async def _reminded_of(context: CommandContext, asked: PlainOrder) -> str:
    """The text of the order, with the hour or the task that it lacks from the other clauses. Raises `CommandError`
    where its hour may be of today or of a day that the others name."""
    if same := words_of(asked.language).same_day.search(flat(asked.about)):
        whole = _on_that_day(asked, same)
        found = await phrase_in(context, whole, (), asked.language)
        is_named = found is not None and content_of(found.rest, asked.language)
        bare = f"{asked.about[: same.start()]} {asked.about[same.end() :]}"
        return whole if is_named else f"{asked.beside}, {bare}"
    own, other = [await phrase_in(context, text, (), asked.language) for text in (asked.about, asked.beside)]
    is_only_time = other is not None and not content_of(other.rest, asked.language)
    if is_only_time or own is None or not isinstance(own.time, Timed) or not content_of(own.rest, asked.language):
        return f"{asked.beside}, {asked.about}"
    if not own.has_day and other is not None:  # "Anna comes tomorrow, remind me at 5 to clean": on which day?
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    return asked.about


def _on_that_day(asked: PlainOrder, same: re.Match[str]) -> str:
    """The order with the day of the other clauses in place of "that morning"."""
    part = asked.about[slice(*same.span("part"))] if "part" in same.groupdict() and same["part"] else ""
    glue = "" if is_unspaced(same[0]) else " "
    day = glue.join(filter(None, (phrases.said_in(asked.beside, asked.language), part)))
    return f"{asked.about[: same.start()]}{day}{asked.about[same.end() :]}"


async def _rung_at(context: CommandContext, asked: PlainOrder) -> PlainOrder:
    """The order with the day, or how often, that is told before the hour: "every weekday wake me at 6"."""
    if phrases.length_in(asked.about, asked.language) is not None:
        return asked
    own = await phrase_in(context, asked.about, words_of(asked.language).given.at, asked.language)
    is_whole = own is not None and own.has_day
    if is_whole or not phrases.said_in(asked.beside, asked.language):
        return asked
    return replace(asked, about=f"{asked.beside} {asked.about}")


async def _cancelled(context: CommandContext, asked: PlainOrder) -> PlainOrder:
    rows = await own(context)
    if asked.beside == LOOSE:
        return asked
    if _names_something(asked.about, asked.language):
        parts = items_in(asked.beside, asked.language)
        listed = [(part, matching(part, rows, asked.language)) for part in parts]
        is_list = all(  # "I'll call mum instead" says more than which reminder
            len(found) == 1 and names_no_more(part, found[0].job.text, asked.language) for part, found in listed
        )
        return replace(asked, about=f"{asked.about}, {asked.beside}") if is_list else asked
    found = told_of(asked.beside, rows, asked.language)
    if len(found) == 1:
        return replace(asked, about=found[0].job.text)
    if not found and not names_reminder(context, asked):
        return replace(asked, kind=OrderKind.CANNOT)  # "the lights are on, turn them off"
    return asked


async def _moved(context: CommandContext, asked: PlainOrder) -> PlainOrder:
    phrase = await phrase_in(context, asked.about, words_of(asked.language).given.at, asked.language)
    has_time = _has_time(phrase) or phrases.length_in(asked.about, asked.language) is not None
    if _names_something(phrase.rest if phrase is not None else asked.about, asked.language):
        if has_time:
            return asked
        raise PassToModel  # "Anna is coming at 7, bring wine"
    found = told_of(asked.beside, await own(context), asked.language)
    if len(found) > 1:
        raise CommandError(LANGUAGES[context.language].reminders.which)
    time = asked.about if has_time else phrases.said_in(asked.beside, asked.language)
    if not time or (not found and not has_time and not names_reminder(context, asked)):
        raise PassToModel  # "the bike is in the garage now, change that" corrects a note
    return replace(asked, about=f"{found[0].job.text} {time}" if found else time)


def _has_time(phrase: Phrase | None) -> bool:
    return phrase is not None and isinstance(phrase.time, Timed | HourMissing)


def _names_something(words: str, language: Language) -> bool:
    return bool(content_of(words, language)) and not is_pronoun(without_noise(words, language), language)
