"""Orders in plain words where no model reads them: `/order KIND LANGUAGE WORDS`, which `plain_command` makes."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, timedelta

from agent.journal import open_items
from agent.languages.codes import Language
from agent.languages.examples import nearest
from agent.languages.moments import day_in, headed
from agent.languages.order_words import OrderKind, flat, words_of
from agent.languages.orders import PlainOrder, past_day
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence
from agent.languages.terms import is_same_word, query_terms
from agent.memory import daily_log
from agent.memory.files import FileError, read_text
from agent.model.offline.intent import SEPARATOR
from channels.message import Button, Origin
from gateway.commands import beside as beside_others
from gateway.commands import choices, lists, reminder_changes, reminder_moves, reminder_orders, rings
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply, PassToModel
from gateway.commands.memory import note_down
from gateway.commands.reminder_names import content_of, phrase_in
from gateway.commands.schedule import remind
from gateway.i18n import example_buttons
from gateway.scheduling.requests import JobRefused
from gateway.scheduling.words.meaning import HourMissing

_MOST_LOG_CHARS = 3_500


async def order(context: CommandContext) -> CommandReply:
    """Carries out an order, or the choice that was pressed: `/order #ID PLACE`."""
    if (found := choices.chosen(context)) is None:
        return await _carried_out(context)
    question, argument = found
    with context.services.questions.answering(question):
        reply = await _carried_out(dataclasses.replace(context, argument=argument))
    pressed = context.row.message.platform_id if context.row.message.origin is Origin.COMMAND else ""
    return dataclasses.replace(reply, replaces=pressed, settles=question)


async def _carried_out(context: CommandContext) -> CommandReply:
    kind, _, rest = context.argument.partition(" ")
    language, _, rest = rest.partition(" ")
    about, name, beside = (*rest.split(SEPARATOR, 2), "", "")[:3]
    try:
        asked = PlainOrder(OrderKind(kind), Language(language), about.strip(), name.strip(), beside.strip())
    except ValueError as error:
        raise CommandError(context.said("I don't understand that.")) from error
    try:
        if asked.kind in _CHANGING and (changed := await reminder_changes.changed(context, asked)) is not None:
            return changed
        whole = await beside_others.resolved(context, asked) if asked.beside else asked
        return await _HANDLERS[whole.kind](context, whole)
    except JobRefused as error:
        raise CommandError(*error.args) from error
    except CommandError:
        if asked.beside and asked.kind in _AT_A_TIME:
            raise PassToModel from None  # "Broke my toe, set the table": no time, no order
        raise


_CHANGING = frozenset(
    (OrderKind.REMIND, OrderKind.MOVE, OrderKind.NAMED, OrderKind.CANNOT, OrderKind.DAY, OrderKind.DUE, OrderKind.WAKE)
)
"""Kinds of orders that may change a reminder that another clause names."""
_AT_A_TIME = frozenset((OrderKind.TIMER, OrderKind.WAKE))


async def _remind(context: CommandContext, asked: PlainOrder) -> CommandReply:
    return await remind(dataclasses.replace(context, argument=asked.about))


# Days and promises


async def _day(context: CommandContext, asked: PlainOrder) -> CommandReply:
    day = await _day_named(context, asked)
    if day is None:
        return CommandReply(context.said("Which day do you mean? Say it like “yesterday” or “23 November”."))
    return await _log(context, day)


async def _sum_up(context: CommandContext, asked: PlainOrder) -> CommandReply:
    del asked
    return await _log(context, context.kernel.clock.today())


async def _log(context: CommandContext, day: date) -> CommandReply:
    scope, today = context.route.scope, context.kernel.clock.today()
    try:
        file = await asyncio.to_thread(read_text, daily_log.log_path(scope, day), scope.folder)
    except FileError as error:
        raise CommandError(context.said("I couldn't look that up: {why}", why=error)) from error
    lines = [line for line in (file.text if file else "").splitlines() if line.strip() and not line.startswith("# ")]
    named = day_in(context.language, day, today)
    if not lines:
        return CommandReply(context.said("I have no log of that day ({day}).", day=named))
    text = "\n".join(lines)
    return CommandReply("\n\n".join([f"{headed(named)}:", text[:_MOST_LOG_CHARS]]))


async def _day_named(context: CommandContext, asked: PlainOrder) -> date | None:
    """The latest day that the words may mean, up to today."""
    text, today = context.row.message.text, context.kernel.clock.today()
    if told := past_day(text, today, asked.language):
        return told
    phrase = await phrase_in(context, text, ["{}"], asked.language)
    if phrase is None or not isinstance(phrase.time, HourMissing) or phrase.time.day is None:
        return None
    day = phrase.time.day
    if day > today:
        week = timedelta(days=7)
        return day - week if day - week <= today else day.replace(year=day.year - 1)
    return day


async def _promised(context: CommandContext, asked: PlainOrder) -> CommandReply:
    try:
        every = await asyncio.to_thread(open_items.still_open, context.route.scope)
    except FileError as error:
        raise CommandError(context.said("I couldn't look that up: {why}", why=error)) from error
    if not every:
        return CommandReply(context.said("Nothing that was promised is open."))
    wanted = content_of(context.row.message.text, asked.language)
    named = [
        item for item in every if any(is_same_word(word, own) for word in wanted for own in query_terms(item.text))
    ]
    today = context.kernel.clock.today()
    lines = [
        f"- {f'{item.who}: ' if item.who else ''}{item.what}"
        + (f" ({day_in(context.language, item.due, today)})" if item.due else "")
        for item in named or every
    ]
    return CommandReply("\n".join([context.said("Still open:"), *lines]))


# What is explained


async def _help(context: CommandContext, asked: PlainOrder) -> CommandReply:
    text = flat(context.row.message.text)
    for subject, pattern in words_of(asked.language).given.subjects.items():
        if re.search(pattern, text):
            return CommandReply(_subject(context, subject))
    return CommandReply(LANGUAGES[context.language].offline.abilities, example_buttons(context.language))


def _subject(context: CommandContext, subject: str) -> str:
    match subject:
        case "reminders":
            return context.said(
                "Say the day, the hour and what: “Remind me tomorrow at 3 to call mum”. “Move it to 4” and “Cancel "
                "the reminder to call mum” change it."
            )
        case "lists":
            return context.said(
                "Say what goes where: “Add milk to the shopping list”. “Take milk off the shopping list” and “Show "
                "the shopping list” do what they say."
            )
        case "forget":
            return context.said(
                "“Forget the bike” shows what I know of it and deletes it once you say yes. “Undo” takes back the "
                "last change, “Cancel the dentist” a reminder."
            )
        case _:
            return context.said(
                "Just tell me, as in “The bike is in the cellar”, and I note it. Ask me and I find it again: “Where "
                "is the bike?”."
            )


async def _cannot(context: CommandContext, asked: PlainOrder) -> CommandReply:
    """Offers the nearest orders as buttons, and to note the line where it was no request: "Call mum" may be for the
    person."""
    if (moved := await reminder_moves.moved_by_name(context)) is not None:
        return moved
    wish = context.row.message.text.strip()
    text = context.joined(Sentence("I can't do that in words yet."), Sentence("This comes nearest:"))
    examples = example_buttons(context.language, nearest(context.language, wish))
    if wish.endswith(("?", "？")):
        return CommandReply(text, examples)
    note = [(context.said("Note it"), f"{OrderKind.NOTE} {asked.language} {wish}")]
    reply = await choices.asked(context, text, note)
    return dataclasses.replace(reply, buttons=(*examples, *reply.buttons))


async def _note(context: CommandContext, asked: PlainOrder) -> CommandReply:
    text = SEPARATOR.join(filter(None, (asked.about, asked.name, asked.beside)))
    change = await note_down(context, text)
    noted = LANGUAGES[context.language].offline.noted
    return CommandReply(f"{noted}\n\n> {text}", ((Button(context.said("Undo it"), f"/undo {change}"),),))


async def _needs_model(context: CommandContext, asked: PlainOrder) -> CommandReply:
    del asked
    return CommandReply(LANGUAGES[context.language].offline.needs_model)


_HANDLERS: Mapping[OrderKind, Callable[[CommandContext, PlainOrder], Awaitable[CommandReply]]] = {
    OrderKind.UNDO: reminder_orders.undo,
    OrderKind.CANCEL: reminder_orders.cancel,
    OrderKind.FORGET: reminder_orders.forget,
    OrderKind.MOVE: reminder_moves.move,
    OrderKind.PUT: reminder_moves.put,
    OrderKind.NAMED: reminder_moves.named,
    OrderKind.DUE: reminder_orders.due,
    OrderKind.REMIND: _remind,
    OrderKind.NEW: _remind,
    OrderKind.TIMER: rings.timer,
    OrderKind.WAKE: rings.wake,
    OrderKind.DAY: _day,
    OrderKind.SUM_UP: _sum_up,
    OrderKind.PROMISED: _promised,
    OrderKind.ADD: lists.change,
    OrderKind.TAKE_OFF: lists.change,
    OrderKind.SHOW_LIST: lists.change,
    OrderKind.HELP: _help,
    OrderKind.MODEL: _needs_model,
    OrderKind.CANNOT: _cannot,
    OrderKind.NOTE: _note,
}
COMMANDS = (Command("order", "KIND LANGUAGE WORDS", "what plain words ask for", order, is_listed=False),)
