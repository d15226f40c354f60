"""Orders in plain words about reminders where no model reads them: cancel some, list them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from agent.languages.codes import Language
from agent.languages.moments import moment_in
from agent.languages.order_words import LOOSE, OrderKind, flat, words_of
from agent.languages.orders import PlainOrder, without_drops, without_noise, without_politeness
from agent.languages.registry import LANGUAGES
from agent.model.offline.intent import told_language
from channels.message import Button
from gateway.commands import choices, memory
from gateway.commands.context import CommandContext, CommandReply, PassToModel
from gateway.commands.reminder_moves import MOST_ASKED, none_about, put_at
from gateway.commands.reminder_names import (
    content_of,
    each_of,
    just_touched,
    last_change,
    matching,
    meant,
    names_no_more,
    names_note,
    names_reminder,
    own,
    phrase_in,
    requester,
    told_of,
)
from gateway.i18n import one_line
from gateway.scheduling import reminders
from gateway.scheduling.job import JobKind
from gateway.scheduling.requests import JobListing
from gateway.scheduling.words.meaning import HourMissing

_SHOWN = 60


async def due(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Lists own reminders: of the days that are named, of the names that are named, or all; the next first."""
    clock, said = context.kernel.clock, LANGUAGES[context.language].reminders
    text, today = context.row.message.text, clock.today()
    given = words_of(asked.language).given
    phrase = await phrase_in(context, text, ["{}"], asked.language)
    if phrase is None or phrase.time is None:  # "il y a quelque chose demain"
        phrase = await phrase_in(context, asked.about, ["{}"], asked.language)
    day = phrase.time.day if phrase is not None and isinstance(phrase.time, HourMissing) else None
    last = today + timedelta(days=6 - today.weekday()) if given.week and re.search(given.week, flat(text)) else day
    rows = [row for row in await own(context) if row.next_run is not None]
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
    """Cancels the reminders that the words name; asks where several fit. Where none fits, something in memory may be
    meant, or what was set, moved or noted last."""
    if is_that(context, asked) and (reply := await _last_cancelled(context, asked)) is not None:
        return reply
    rows = await own(context)
    found = await _all_but(context, asked, rows) or each_of(asked.about, rows, asked.language)
    if not found and len(found := await meant(context, asked, rows)) != 1:
        return await _which_to_cancel(context, asked, found)
    return await _cancelled(context, found)


async def forget(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Shows what would be forgotten; where nothing is found, cancels the reminder that the words name."""
    rows = await own(context)
    reply = await memory.forget_(replace(context, argument=asked.about))
    found = [row for row in rows if names_no_more(asked.about, row.job.text, asked.language)]
    is_named = not reply.buttons and len(found) == 1 and content_of(asked.about, asked.language)
    return await _cancelled(context, found) if is_named else reply


async def dropped(context: CommandContext, language: Language) -> CommandReply | None:
    """Cancels the reminders that a line names and says to be no longer needed; asks where several fit. None for any
    other line."""
    line = context.row.message.text
    if words_of(language).drops.search(flat(line)) is None:
        return None
    asked, rows = PlainOrder(OrderKind.CANCEL, language, without_drops(line, language)), await own(context)
    found = each_of(asked.about, rows, language) or told_of(asked.about, rows, language)
    if not found or not names_reminder(context, asked):
        return None
    return await (
        _cancelled(context, found)
        if len(found) == 1 or each_of(asked.about, rows, language)
        else _which_to_cancel(context, asked, found)
    )


async def _all_but(context: CommandContext, asked: PlainOrder, rows: Sequence[JobListing]) -> list[JobListing]:
    """`all but the dentist`: the other reminders. None where it is not clear which stay."""
    line = without_politeness(context.row.message.text, asked.language)
    kept = words_of(asked.language).kept.search(flat(line))
    if kept is None:
        return []
    about = line[slice(*kept.span("rest"))]
    stay = each_of(about, rows, asked.language) or matching(about, rows, asked.language)
    ids = {row.job.id for row in stay}
    others = [row for row in rows if row.job.id not in ids and row.job.kind is JobKind.MESSAGE]
    return others if stay else []


async def _cancelled(context: CommandContext, rows: Sequence[JobListing]) -> CommandReply:
    said, lines = LANGUAGES[context.language].reminders, []
    for row in rows:
        job = await context.services.jobs.remove(requester(context), row.job.id)
        lines.append(said.cancelled.format(task=one_line(job.text, _SHOWN)))
    return CommandReply("\n".join(lines))


def is_that(context: CommandContext, asked: PlainOrder) -> bool:
    """`cancel that`: names only whatever was last."""
    that = re.search(words_of(asked.language).given.that, flat(context.row.message.text))
    return that is not None and not content_of(asked.about, asked.language)


async def _last_cancelled(context: CommandContext, asked: PlainOrder) -> CommandReply | None:
    if (last := await just_touched(context)) is not None:
        return await _cancelled(context, [last[0]])
    if names_reminder(context, asked) or not await last_change(context):
        return None
    return await _undone(context)


async def undo(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Takes back what came last: cancels the reminder that was set or moved, or moves it back where the words say so;
    else undoes the last change of memory."""
    del asked
    language = told_language(context.row.message.text) or context.language
    last = None if names_note(context, language) else await just_touched(context)
    if last is None:
        return await _undone(context)
    row, before = last[0], last[1].before
    if before and re.search(words_of(language).given.back, flat(context.row.message.text)):
        return await put_at(context, row, before)
    return await _cancelled(context, [row])


async def _undone(context: CommandContext) -> CommandReply:
    answer = await memory.undo(replace(context, argument=""))
    return answer if isinstance(answer, CommandReply) else CommandReply(answer)


async def _which_to_cancel(context: CommandContext, asked: PlainOrder, found: Sequence[JobListing]) -> CommandReply:
    said = LANGUAGES[context.language].reminders
    if not found and (offer := await _offer_to_forget(context, asked)) is not None:
        return offer
    if not found and asked.beside == LOOSE:
        return await _whether_to_cancel(context, asked)
    if not found:
        return none_about(context, asked)
    buttons = (
        Button(f"{said.cancel}: {one_line(row.job.text, 40)}", f"/jobs cancel {reminders.mark_of(row.job)}")
        for row in found[:MOST_ASKED]
    )
    return CommandReply(said.which, tuple((button,) for button in buttons))


async def _whether_to_cancel(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Asks whether the reminder that the line names is to go. Raises `PassToModel` where it names none: "you can delete
    old photos there" is about something else."""
    said = LANGUAGES[context.language].reminders
    found = told_of(asked.about, await own(context), asked.language)
    if not found:
        raise PassToModel
    offered = [
        (f"{said.cancel}: {one_line(row.job.text, 40)}", f"{OrderKind.CANCEL} {asked.language} {row.job.text}")
        for row in found[:MOST_ASKED]
    ]
    note = (context.said("Note it"), f"{OrderKind.NOTE} {asked.language} {context.row.message.text}")
    return await choices.asked(context, said.which, [*offered, note])


async def _offer_to_forget(context: CommandContext, asked: PlainOrder) -> CommandReply | None:
    """`delete my password` may be meant of memory: what is found is shown first. None where nothing is found."""
    about = without_noise(asked.about, asked.language)
    if not content_of(about, asked.language) or names_reminder(context, asked) or not memory.may_forget(context):
        return None
    reply = await memory.forget_(replace(context, argument=about))
    return reply if reply.buttons else None
