"""`/daily`: when this chat gets its summary, and the day so far. `/done`: closes an open item."""

from __future__ import annotations

import asyncio
import re
from datetime import date, time

from agent.journal import open_items
from agent.journal.open_items import NoSuchItem, OpenItem
from agent.languages.registry import LANGUAGES
from agent.memory.files import FileError
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply
from gateway.policy.access import Role
from gateway.spoken_time import spoken_day
from gateway.turns.queue import WasStopped

_CLOCK = re.compile(r"([01]?\d|2[0-3])[:.h]([0-5]\d)")
_HOW = "`/daily 21:00` sets the time, `/daily off` stops it, `/daily now` sums up the day so far."
_LOOKING = "I'm looking through the day. One moment."
_LISTED = 30


async def daily(context: CommandContext) -> str | CommandReply:
    words = context.argument.strip().lower()
    if words == "now":
        return await _now(context)
    address = context.row.message.address
    if not words:
        at = await context.services.daily.hour(address)
        comes = "There's no daily summary here." if at is None else f"The daily summary comes here at {at:%H:%M}."
        return f"{comes} {_HOW}"
    match = _CLOCK.fullmatch(words)
    if match is None and words != "off":
        raise CommandError(f"I don't understand {words[:40]!r} as a time. {_HOW}")
    if not context.route.is_private and context.route.role is not Role.OWNER:
        raise CommandError("In a group, only my owner can change that.")
    at = time(int(match[1]), int(match[2])) if match is not None else None
    await context.services.daily.choose(address, at)
    if at is None:
        return "There will be no more daily summaries here. `/daily 21:00` brings them back."
    which = "the previous day" if at < time(12) else "the day"
    return f"From now on I'll sum up {which} here at {at:%H:%M}."


async def _now(context: CommandContext) -> CommandReply:
    """Says at once that it takes a moment; the command stays open in the inbox until then."""
    await context.begin()
    await context.tell(_LOOKING)
    work = context.services.daily.now(context.route, context.row.message.address)
    try:
        told = await context.services.turns.unless_stopped(str(context.route.session), context.row.seq, work)
    except WasStopped:
        return CommandReply("Stopped.")
    return CommandReply(told.text, told.buttons)


async def done(context: CommandContext) -> str:
    scope, clock = context.route.scope, context.services.clock
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
        raise CommandError(f"{error}. `/done` alone lists them.") from error
    except FileError as error:
        raise CommandError(f"I couldn't open the list: {error}") from error
    if not known:
        return "There are no open promises here."
    today = context.services.clock.today()
    lines = [f"- `{one.id}` {_shown(one, today)}" for one in known[:_LISTED]]
    more = [f"- and {len(known) - _LISTED} more in `memory/open.md`"] if len(known) > _LISTED else []
    return "\n".join(["Open promises (`/done ID`, or a few words of one, ticks it off):", "", *lines, *more])


def _shown(one: OpenItem, today: date) -> str:
    text = f"{one.who}: {one.what}" if one.who else one.what
    return f"{text} ({spoken_day(one.due, today)})" if one.due else text


COMMANDS = (
    Command("daily", "[HH:MM|off|now]", "when I sum up the day here", daily),
    Command("done", "[TEXT|ID]", "open promises; tick one off", done),
)
