"""The question for the time zone, in words that people know."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import click

from agent.languages.sentences import Sentence, said
from agent.languages.zones import nearest, zone_name, zones_meant
from gateway.config import Config, ConfigError
from gateway.config.edit import choose_zone, is_zone_chosen
from gateway.config.values import machine_zone
from gateway.home import HomeError
from gateway.terminal.confirm import is_confirmed
from gateway.terminal.context import CliContext, CommandFailed, Misconfigured, terminal_language

_OFFERED = 6


def ask_zone() -> str:
    """Asks whether the machine's clock shows the person's time, else where they are."""
    now, zone, language = datetime.now(UTC), machine_zone(), terminal_language()
    here = f"{now.astimezone(ZoneInfo(zone)):%H:%M}"
    if is_confirmed(said(language, "Is it {time} where you are?", time=here), default=True):
        return zone
    answer = click.prompt(said(language, "What time is it where you are? (or a city)"))
    while True:
        found = zones_meant(answer, now, language)
        if len(found) == 1:
            break
        if not found:
            click.echo(
                said(
                    language,
                    "I don't know “{place}”. These are written like it, or try a larger city nearby:",
                    place=answer,
                )
            )
            found = nearest(answer)
        answer = _chosen(found[:_OFFERED], now)
    place, there = zone_name(language, found[0]), f"{now.astimezone(ZoneInfo(found[0])):%H:%M}"
    click.echo(said(language, "My clock is on {place}: it is {time}.", place=place, time=there))
    return found[0]


def _chosen(zones: Sequence[str], now: datetime) -> str:
    """Asks for a zone of the list, or for another place."""
    language = terminal_language()
    for number, zone in enumerate(zones, start=1):
        place, at = zone_name(language, zone), now.astimezone(ZoneInfo(zone))
        click.echo(f"  {number}. {place} ({at:%H:%M})")
    text = str(click.prompt(said(language, "Which one? (a number, or another city)"), "1")).strip()
    return zones[int(text) - 1] if text.isdecimal() and 1 <= int(text) <= len(zones) else text


def with_zone(context: CliContext, config: Config) -> Config:
    """The configuration, after asking for the time zone if nobody has chosen it."""
    try:
        if is_zone_chosen(context.home, config):
            return config
        return choose_zone(context.home, ask_zone(), os.environ)
    except ConfigError as error:
        raise Misconfigured(str(error)) from error
    except HomeError as error:
        raise CommandFailed(str(error)) from error
    except OSError as error:
        raise CommandFailed(
            Sentence("The configuration can't be written: {why}.", why=error.strerror or str(error))
        ) from error
