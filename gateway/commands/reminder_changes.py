"""Moves the reminder that one clause of a line names to the time that another says, or asks: no second reminder is set
in silence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from agent.languages.clauses import clauses_in
from agent.languages.codes import Language
from agent.languages.order_words import OrderKind, flat, words_of
from agent.languages.orders import PlainOrder, order_of, without_anew, without_change
from agent.languages.registry import LANGUAGES
from agent.model.offline.intent import told_language
from gateway import recurrence as when_
from gateway.commands import choices, reminder_orders
from gateway.commands.context import CommandContext, CommandError, CommandReply
from gateway.commands.reminder_moves import (
    ReminderChange,
    at_most,
    change_in,
    choice_of,
    move,
    put_at,
    shown_change,
    which_to_move,
    without_old,
)
from gateway.commands.reminder_names import is_whole, names_no_more, own, told_of
from gateway.recurrence import At, When
from gateway.scheduling.requests import JobListing
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import HourMissing, Timed

_ORDERS = (OrderKind.REMIND, OrderKind.MOVE)


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause of a line. `about`: what it orders, if it does; `rest`: that without its time and words of changing.

    `is_changed`: a word says that the time is another; `alters`: it orders that; `is_hindered`: it may be; `is_report`:
    it tells what was done.
    """

    about: str
    rest: str
    change: ReminderChange | None
    is_order: bool
    alters: bool
    is_changed: bool
    is_hindered: bool
    is_report: bool

    @property
    def is_timed(self) -> bool:
        to = self.change.to if self.change is not None else None
        return self.change is not None and (to is None or isinstance(to.time, Timed))

    @property
    def day(self) -> date | None:
        time = self.change.to.time if self.change is not None and self.change.to is not None else None
        return time.day if isinstance(time, HourMissing) else None


@dataclass(frozen=True, slots=True)
class _Line:
    clauses: Sequence[_Clause]
    main: _Clause
    """The clause with the new time."""
    language: Language
    has_old: bool
    """There is one clause more, with the old time."""

    @property
    def others(self) -> list[_Clause]:
        return [clause for clause in self.clauses if clause is not self.main]

    @property
    def alters(self) -> bool:
        return self.main.is_order or any(clause.alters for clause in self.clauses)


async def changed(context: CommandContext, asked: PlainOrder) -> CommandReply | None:
    """The answer to a line that says the new time of an own reminder; None for any other line. Raises `CommandError`
    where several times may be meant."""
    rows = await own(context)
    languages = [asked.language]
    if asked.kind is OrderKind.NAMED:
        languages = [*dict.fromkeys((*filter(None, (told_language(context.row.message.text),)), context.language))]
    for language in languages if rows else ():
        if asked.kind not in _ORDERS and (dropped := await reminder_orders.dropped(context, language)) is not None:
            return dropped
        line = await _read(context, language)
        if line is not None and (reply := await _answer(context, replace(asked, language=language), line, rows)):
            return reply
    return None


async def _answer(
    context: CommandContext, asked: PlainOrder, line: _Line, rows: Sequence[JobListing]
) -> CommandReply | None:
    main, is_new = line.main, asked.kind is OrderKind.REMIND
    is_named = (
        main.is_changed
        and not main.is_report
        and any(names_no_more(main.rest, row.job.text, line.language) for row in rows)
    )
    if asked.kind not in _ORDERS and not line.alters and not (is_named and line.others):
        return None
    is_alone = not line.others and not line.has_old
    if is_alone and (asked.kind is OrderKind.MOVE or names_no_more(main.rest, "", line.language)):
        return await move(context, replace(asked, kind=OrderKind.MOVE)) if is_new and main.is_changed else None
    other = _other_order(context, line) if is_new else None
    if other is not None and not names_no_more(other.rest, "", line.language):
        return await _whether_new(context, asked, line, rows)
    if not names_no_more(main.rest, "", line.language):
        naming = [main]
        found = [row for row in rows if names_no_more(main.rest, row.job.text, line.language)]
        found = told_of(main.rest, found, line.language)
        if not found and is_new:
            return await _whether_new(context, asked, line, rows)
        if not found and not is_alone:
            beside = " ".join(clause.rest for clause in line.others)
            found = told_of(main.rest, rows, line.language) or told_of(beside, rows, line.language)
    else:
        named = [(clause, told) for clause in line.others if (told := told_of(clause.rest, rows, line.language))]
        naming = [clause for clause, _ in named]
        found = told_of(" ".join(clause.rest for clause in naming), rows, line.language)
    if not found:
        return None
    is_changed = any(clause.is_changed for clause in (main, *naming))
    if is_new and not is_changed and not any(clause.is_hindered for clause in naming):
        return None
    to = _with_day(context, line, found)
    if is_new and not is_changed and not all(is_whole(naming[0].rest, row.job.text, line.language) for row in found):
        return await _asked(context, asked, at_most(found, to, context))
    if len(found) > 1:
        return await which_to_move(context, asked, at_most(found, to, context))
    return await put_at(context, found[0], when_.fields(to.of(found[0], context)))


def _other_order(context: CommandContext, line: _Line) -> _Clause | None:
    """The clause that orders something, where another clause has the time. Raises `CommandError` if it has a time of
    its own: "the dentist is at 5 now, remind me an hour before"."""
    found = next((clause for clause in line.others if clause.is_order and not line.main.is_order), None)
    if found is not None and phrases.said_in(found.about, line.language):
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    return found


async def _whether_new(
    context: CommandContext, asked: PlainOrder, line: _Line, rows: Sequence[JobListing]
) -> CommandReply | None:
    """Asks, where something else is to be done and the line says that an own reminder has another time."""
    found = [row for row in rows if line.main.is_changed and is_whole(line.main.rest, row.job.text, line.language)]
    for clause in line.clauses if not found else ():
        is_told = (clause.is_changed or clause.is_hindered) and not (clause.is_order or clause.alters)
        named = told_of(clause.rest, rows, line.language) if is_told else []
        found = found or [
            row for row in named if clause is line.main or is_whole(clause.rest, row.job.text, line.language)
        ]
    return await _asked(context, asked, at_most(found, _with_day(context, line, found), context)) if found else None


async def _asked(
    context: CommandContext, asked: PlainOrder, found: Mapping[str, tuple[JobListing, When]]
) -> CommandReply:
    """Asks whether to move a reminder, to set another, or to note the line."""
    if len(found) == 1:
        row, when = next(iter(found.values()))
        text, moves = shown_change(context, row, when), [(context.said("Move it"), choice_of(asked, row, when)[1])]
    else:
        text = LANGUAGES[context.language].reminders.which
        moves = [choice_of(asked, row, when) for row, when in found.values()]
    about = f"{asked.beside}, {asked.about}" if asked.beside else asked.about
    new = (context.said("New reminder"), f"{OrderKind.NEW} {asked.language} {about}")
    note = (context.said("Note it"), f"{OrderKind.NOTE} {asked.language} {context.row.message.text}")
    return await choices.asked(context, text, [*moves, new, note])


# The line


async def _read(context: CommandContext, language: Language) -> _Line | None:
    """The line, if it says one new time. Raises `CommandError` if several clauses that order something say a time."""
    every = clauses_in(context.row.message.text, language)
    said = [clause for clause in every if not _is_old(clause, language)]
    clauses = [await _clause(context, text, language) for text in said]
    timed = [clause for clause in clauses if clause.is_timed]
    if len(timed) > 1:
        orders = [clause for clause in timed if clause.is_order or clause.alters]
        timed = orders or [clause for clause in timed if clause.is_changed]
    if not timed:
        timed = [clause for clause in clauses if clause.day is not None and (clause.is_changed or clause.is_order)]
    return _Line(clauses, timed[0], language, len(said) < len(every)) if len(timed) == 1 else None


def _is_old(clause: str, language: Language) -> bool:
    """True for a clause that names the old time: "7pm, not 6pm"."""
    old = words_of(language).instead.match(flat(clause))
    return old is not None and old.end() > 0


async def _clause(context: CommandContext, text: str, language: Language) -> _Clause:
    words = words_of(language)
    found = order_of(words, text, beside=_ORDERS)
    asked = found.about if found is not None else text
    about = without_old(without_change(asked, language), language)
    change = await change_in(context, language, about, text)
    rest = change.rest if change is not None else about
    said = flat(text)
    is_report = re.search(words.given.reports, text.lower()) is not None
    alters = words.alters.search(said) is not None and not is_report
    if found is not None and found.kind is OrderKind.REMIND and not names_no_more(rest, "", language):
        alters = False  # "remind me to change the filter" tells what is to be done
        phrase = await change_in(context, language, without_old(asked, language), text)
        rest = phrase.rest if phrase is not None else asked
    return _Clause(
        asked,
        without_change(rest, language) if alters else without_anew(rest, language),
        change,
        found is not None,
        alters,
        alters or any(pattern.search(said) is not None for pattern in (words.anew, words.unready, words.instead)),
        words.hinders.search(said) is not None,
        is_report,
    )


def _with_day(context: CommandContext, line: _Line, rows: Sequence[JobListing]) -> ReminderChange:
    """The new time on the day that another clause names. Raises `CommandError` where that is the old day: "can't on
    Friday, at 5" leaves the new day open."""
    change = line.main.change
    assert change is not None
    days = {clause.day: clause for clause in line.others if clause.day is not None}
    if change.to is None or change.to.has_day or not isinstance(change.to.time, Timed) or not days:
        return change
    zone = context.kernel.clock.zone
    if all(row.next_run is not None and row.next_run.astimezone(zone).date() in days for row in rows):
        return change
    (day, clause), *more = days.items()
    when = change.to.time.when
    if more or clause.is_hindered or day is None or not isinstance(when, At):
        raise CommandError(LANGUAGES[context.language].reminders.unclear)
    moment = datetime.combine(day, when.moment.time())
    return replace(change, to=replace(change.to, time=Timed(At(moment)), has_day=True))
