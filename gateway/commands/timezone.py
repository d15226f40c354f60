"""`/timezone`, and the remark of a first reminder on a clock that nobody set."""

from __future__ import annotations

import asyncio
from zoneinfo import ZoneInfo

from agent.languages.zones import nearest, zone_name, zones_meant
from channels.message import Button, Origin
from gateway.commands.context import Command, CommandAudience, CommandContext, CommandError, CommandReply, reason
from gateway.config import ConfigError
from gateway.home import HomeError
from gateway.policy.access import Role

_OFFERED = 6


async def timezone(context: CommandContext) -> CommandReply:
    wanted, now, language = context.argument.strip(), context.kernel.clock.now(), context.language
    if not wanted:
        return CommandReply(_told(context))
    found = await asyncio.to_thread(zones_meant, wanted, now, language)
    if len(found) == 1:
        return await _chosen(context, found[0])
    if found:
        text = context.said("Where are you?")
    else:
        found = await asyncio.to_thread(nearest, wanted)
        text = context.said("I don't know a place called {name}. Is it one of these?", name=wanted[:60])
    zones = found[:_OFFERED]
    names = (f"{zone_name(language, zone)} ({now.astimezone(ZoneInfo(zone)):%H:%M})" for zone in zones)
    rows = tuple((Button(name, f"/timezone {zone}"),) for name, zone in zip(names, zones, strict=True))
    return CommandReply(text, rows)


def _told(context: CommandContext) -> str:
    place, at = zone_name(context.language, context.kernel.clock.zone.key), f"{context.kernel.clock.now():%H:%M}"
    text = context.said("My clock is on {place}: it is {time}.", place=place, time=at)
    how = context.said(
        "If you are somewhere else, say where: `/timezone Tokyo`, or what time it is: `/timezone 14:30`."
    )
    page = context.kernel.page()
    link = f"[{context.said('Settings')}]({page}/settings)" if page else ""
    return " ".join(filter(None, (text, how, link)))


async def _chosen(context: CommandContext, zone: str) -> CommandReply:
    try:
        await context.services.zone.choose(zone)
    except (ConfigError, HomeError, OSError) as error:
        raise CommandError(reason(error)) from error
    place, at = zone_name(context.language, zone), f"{context.kernel.clock.now():%H:%M}"
    text = context.said("My clock is on {place} now: it is {time}. Reminders follow it.", place=place, time=at)
    pressed = context.row.message.platform_id if context.row.message.origin is Origin.COMMAND else ""
    return CommandReply(text, replaces=pressed)


async def clock_named(context: CommandContext) -> str:
    """A space and a sentence for the first reminder where nobody chose the zone and the person can change it; else
    empty."""
    is_owner = context.route.role is Role.OWNER and context.route.is_private
    if not is_owner or not await context.services.zone.is_to_be_named():
        return ""
    now = context.kernel.clock.now()
    return " " + context.said("(By my clock it is {time}; if that's wrong, say /timezone.)", time=f"{now:%H:%M}")


COMMANDS = (
    Command(
        "timezone",
        "[CITY|TIME]",
        "where you are, so that reminders ring by your clock",
        timezone,
        CommandAudience.OWNER_IN_PRIVATE,
    ),
)
