"""`/daily`: when this chat gets its summary, and the day so far. `/done`: closes an open item."""

from __future__ import annotations

import asyncio
import re
from datetime import time

from agent.journal import open_items
from agent.journal.open_items import NoSuchItem
from agent.memory.files import FileError
from gateway.commands.context import Command, CommandContext, CommandError, CommandReply
from gateway.i18n import STRINGS
from gateway.policy.access import Role
from gateway.store import chat_rows
from gateway.turns.queue import WasStopped

_CLOCK = re.compile(r"([01]?\d|2[0-3])[:.h]([0-5]\d)")
_HOW = "`/daily 21:00` sets the time, `/daily off` ends it, `/daily now` tells the day so far."
_LOOKING = "I am looking through the day, and will tell you in a moment."
_LISTED = 30


async def daily(ask: CommandContext) -> str | CommandReply:
    words = ask.words.strip().lower()
    if words == "now":
        return await _now(ask)
    address = ask.row.message.address
    if not words:
        hour = await ask.services.daily.hour(address)
        comes = "No daily summary comes here." if hour is None else f"The daily summary comes here at {hour:%H:%M}."
        return f"{comes} {_HOW}"
    match = _CLOCK.fullmatch(words)
    if match is None and words != "off":
        raise CommandError(f"I don't understand {words[:40]!r} as a time. {_HOW}")
    if not ask.conversation.is_private and ask.conversation.role is not Role.OWNER:
        raise CommandError("In a group, only my owner can change that.")
    at = time(int(match[1]), int(match[2])) if match is not None else None
    await ask.services.daily.choose(address, at)
    if at is None:
        return "No daily summary comes here any more. `/daily 21:00` brings it back."
    which = "the day before" if at < time(12) else "the day"
    return f"From now on I tell {which} here at {at:%H:%M} ({ask.services.clock.zone.key})."


async def _now(ask: CommandContext) -> CommandReply:
    """Says at once that it takes a moment; the command stays open in the inbox until the summary is made."""
    await ask.begin()
    await ask.tell(_LOOKING)
    work = ask.services.daily.now(ask.conversation, ask.row.message.address)
    try:
        told = await ask.services.turns.unless_stopped(str(ask.conversation.session), ask.row.seq, work)
    except WasStopped:
        return CommandReply("Stopped.")
    return CommandReply(told.text, told.buttons)


async def done(ask: CommandContext) -> str:
    scope, clock = ask.conversation.scope, ask.services.clock
    author = ask.agent.history.author(scope, str(ask.conversation.session))

    def close() -> str:
        found = open_items.find(scope, ask.words)
        with author.writes("/done"):
            open_items.close(scope, clock, [found.id])
        return found.text

    try:
        if ask.words.strip():
            closed = await asyncio.to_thread(close)
            language = await ask.services.database.run(chat_rows.language, ask.row.message.address)
            return f"{STRINGS[language].done}: ~~{closed}~~"
        known = await asyncio.to_thread(open_items.still_open, scope)
    except NoSuchItem as error:
        raise CommandError(f"{error}. `/done` alone lists them.") from error
    except FileError as error:
        raise CommandError(f"The list could not be used: {error}") from error
    if not known:
        return "Nothing is open here."
    lines = [f"- `{one.id}` {one.text}" for one in known[:_LISTED]]
    more = [f"- and {len(known) - _LISTED} more in `memory/open.md`"] if len(known) > _LISTED else []
    return "\n".join(["Promised, and still open (`/done ID` or a few words of it ticks one off):", "", *lines, *more])


COMMANDS = (
    Command("daily", "[HH:MM|off|now]", "when I sum up the day here", daily),
    Command("done", "[TEXT|ID]", "what was promised here; tick one off", done),
)
