"""The question for the time zone, in words that people know."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import click

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.zones import nearest, zone_name, zones_meant
from gateway.cli.context import CliContext, CommandFailed, Misconfigured
from gateway.config import Config, ConfigError
from gateway.config.values import machine_zone
from gateway.config.zone import choose_zone, is_zone_chosen
from gateway.home import HomeError

_OFFERED = 6


def ask_zone() -> str:
    """Asks who sits at the terminal whether the machine's clock is theirs, else where they are."""
    now, zone = datetime.now(UTC), machine_zone()
    if click.confirm(f"Is it {now.astimezone(ZoneInfo(zone)):%H:%M} where you are?", default=True):
        return zone
    answer = click.prompt("What time is it where you are? (or a city)")
    while True:
        found = zones_meant(answer, now, _language())
        if len(found) == 1:
            break
        if not found:
            click.echo(f"I don't know {answer!r}. These are written like it, or try a larger city nearby:")
            found = nearest(answer)
        answer = _chosen(found[:_OFFERED], now)
    place = zone_name(Language.ENGLISH, found[0])
    click.echo(f"My clock is on {place}: it is {now.astimezone(ZoneInfo(found[0])):%H:%M}.")
    return found[0]


def _chosen(zones: Sequence[str], now: datetime) -> str:
    """A zone of the list, or other words."""
    for number, zone in enumerate(zones, start=1):
        place, at = zone_name(Language.ENGLISH, zone), now.astimezone(ZoneInfo(zone))
        click.echo(f"  {number}. {place} ({at:%H:%M})")
    text = str(click.prompt("Which one? (a number, or another city)", "1")).strip()
    return zones[int(text) - 1] if text.isdecimal() and 1 <= int(text) <= len(zones) else text


def _language() -> Language:
    """The terminal's language, which says which of several cities is likely."""
    code = (os.environ.get("LC_ALL") or os.environ.get("LC_TIME") or os.environ.get("LANG") or "")[:2]
    return Language(code) if code in ALL_LANGUAGES else Language.ENGLISH


def with_zone(context: CliContext, config: Config) -> Config:
    """The configuration with a zone that somebody chose, who is asked where nobody did."""
    try:
        if is_zone_chosen(context.home, config):
            return config
        return choose_zone(context.home, ask_zone(), os.environ)
    except ConfigError as error:
        raise Misconfigured(str(error)) from error
    except HomeError as error:
        raise CommandFailed(str(error)) from error
    except OSError as error:
        raise CommandFailed(f"Can't write the configuration: {error.strerror or error}.") from error
