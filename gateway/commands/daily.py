"""`/daily`: when this chat gets its summary, and the day so far. `/done`: closes an open item."""

from __future__ import annotations

import asyncio
import re
from datetime import date, time

from agent.journal import open_items
from agent.journal.open_items import NoSuchItem, OpenItem
from agent.languages.codes import Language
from agent.languages.moments import day_in
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence
from agent.memory.files import FileError
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply
from gateway.policy.access import Role
from gateway.recurrence import At, Cron, InvalidWhen
from gateway.scheduling.words import phrases
from gateway.scheduling.words.meaning import Timed
from gateway.turns.queue import WasStopped

_CLOCK = re.compile(r"([01]?\d|2[0-3])[:.h]([0-5]\d)")
_EVERY_DAY = re.compile(r"(\d+) (\d+) \* \* \*")
_LISTED = 30


async def daily(context: CommandContext) -> str | CommandReply:
    words = context.argument.strip().lower()
    if words in ("now", context.said("now")):
        return await _now(context)
    address = context.row.message.address
    if not words:
        at = await context.services.daily.hour(address)
        if at is None:
            comes = context.said("There's no daily summary here.")
        else:
            comes = context.said("The daily summary comes here at {time}.", time=f"{at:%H:%M}")
        return f"{comes} {_how(context)}"
    is_off = words in ("off", context.said("off"))
    at = None if is_off else await asyncio.to_thread(_hour_in, context)
    if at is None and not is_off:
        raise CommandError(
            context.said("I don't understand “{text}” as a time.", text=context.argument.strip()[:40])
            + f" {_how(context)}"
        )
    if not context.route.is_private and context.route.role is not Role.OWNER:
        raise CommandError(Sentence("In a group, only my owner can change that."))
    await context.services.daily.choose(address, at)
    if at is None:
        return context.said("There will be no more daily summaries here. `/daily 21:00` brings them back.")
    if at < time(12):
        return context.said("From now on I'll sum up the previous day here at {time}.", time=f"{at:%H:%M}")
    return context.said("From now on I'll sum up the day here at {time}.", time=f"{at:%H:%M}")


def _how(context: CommandContext) -> str:
    return context.said("`/daily 21:00` sets the time, `/daily off` stops it, `/daily now` sums up the day so far.")


def _hour_in(context: CommandContext) -> time | None:
    """An hour, in figures or in words; None if the argument is anything else, or more."""
    text = context.argument.strip()
    if match := _CLOCK.fullmatch(text.lower()):
        return time(int(match[1]), int(match[2]))
    try:
        phrase = phrases.read(text, context.kernel.clock.now(), (context.language,))
    except InvalidWhen:
        return None
    if phrase is None or phrase.rest or not isinstance(phrase.time, Timed) or phrase.time.zone:
        return None
    match phrase.time.when:
        case At(moment) if not phrase.has_day:
            return moment.time()
        case Cron(expression, None) if every_day := _EVERY_DAY.fullmatch(expression):
            return time(int(every_day[2]), int(every_day[1]))
    return None


async def _now(context: CommandContext) -> CommandReply:
    """Says at once that it takes a moment; the command stays open in the inbox until then."""
    await context.begin()
    await context.tell(context.said("I'm looking through the day. One moment."))
    work = context.services.daily.now(context.route, context.row.message.address)
    try:
        told = await context.services.turns.unless_stopped(str(context.route.session), context.row.seq, work)
    except WasStopped:
        return CommandReply(context.said("Stopped."))
    return CommandReply(told.text, told.buttons)


async def done(context: CommandContext) -> str:
    scope, clock = context.route.scope, context.kernel.clock
    author = context.agent.history.author(scope, str(context.route.session))

    def close() -> str:
        found = open_items.find(scope, context.argument)
        with author.writes("/done"):
            open_items.close(scope, clock, [found.id])
        return found.text

    try:
        if context.argument.strip():
            closed = await asyncio.to_thread(close)
            return f"{LANGUAGES[context.language].reminders.done}: ~~{closed}~~"
        known = await asyncio.to_thread(open_items.still_open, scope)
    except NoSuchItem as error:
        raise CommandError(Sentence("{why}. `/done` alone lists them.", why=str(error))) from error
    except FileError as error:
        raise CommandError(Sentence("I couldn't open the list: {why}", why=str(error))) from error
    if not known:
        return context.said("There are no open promises here.")
    today = context.kernel.clock.today()
    lines = [f"- `{item.id}` {_shown(item, today, context.language)}" for item in known[:_LISTED]]
    if (more := len(known) - _LISTED) > 0:
        lines.append(context.said("- and {count} more in `memory/open.md`", count=more))
    head = context.said("Open promises (`/done` and a few words of one, or its mark, ticks it off):")
    return "\n".join([head, "", *lines])


def _shown(item: OpenItem, today: date, language: Language) -> str:
    text = f"{item.who}: {item.what}" if item.who else item.what
    return f"{text} ({day_in(language, item.due, today)})" if item.due else text


COMMANDS = (
    Command("daily", "[HH:MM|off|now]", "when I sum up the day here", daily),
    Command("done", "[TEXT|ID]", "open promises; tick one off", done),
)
