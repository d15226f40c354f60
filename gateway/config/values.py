"""The types of configuration values: identities, times, addresses, secrets."""

from __future__ import annotations

import os
import re
import shlex
import zoneinfo
from datetime import time, timedelta
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

import tzlocal
from pydantic import AfterValidator, BeforeValidator, PlainSerializer, SecretStr, WithJsonSchema

from agent.languages.sentences import Sentence
from channels.ids import PersonId
from channels.manifest import not_a_person
from channels.registry import MANIFESTS
from channels.settings import HIDDEN, NUMBER_OR_TEXT, STRIPPED, Url, as_text, matching
from gateway.config.errors import did_you_mean
from gateway.recurrence import Every, InvalidWhen, fields, interval

_CLOCK = re.compile(r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")


class QuietHours(NamedTuple):
    """From `start` to `end` on the user's clock; over midnight where `end` is earlier."""

    start: time
    end: time


def named_zone(variable: str) -> str:
    """The IANA zone that a `TZ` variable names, also by its file's path, or ""."""
    name = variable.removeprefix(":")
    path = Path(name)
    parts = path.resolve().parts[1:] if path.is_absolute() else (name,)
    ends = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((end for end in ends if is_zone(end)), "")


def is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def machine_zone() -> str:
    """The machine's IANA zone: that of `TZ`, else the system's, else UTC."""
    if named := named_zone(os.environ.get("TZ", "")):
        return named
    try:
        return tzlocal.get_localzone_name() or "UTC"
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return "UTC"


_USUAL_ZONES = {
    "CEST": "Europe/Berlin",
    "MEZ": "Europe/Berlin",
    "MESZ": "Europe/Berlin",
    "BST": "Europe/London",
    "WEST": "Europe/Lisbon",
    "EEST": "Europe/Athens",
    "MSK": "Europe/Moscow",
    "EDT": "America/New_York",
    "CST": "America/Chicago",
    "CDT": "America/Chicago",
    "MDT": "America/Denver",
    "PST": "America/Los_Angeles",
    "PDT": "America/Los_Angeles",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "AEST": "Australia/Sydney",
    "AEDT": "Australia/Sydney",
}
"""Abbreviations that are no IANA zones, each with a zone that is called so."""


def _zone(name: str) -> str:
    if not is_zone(name):
        usual = _USUAL_ZONES.get(name.strip().upper())
        hint = did_you_mean(usual or name, [usual] if usual else zoneinfo.available_timezones())
        raise ValueError(Sentence("allowed: an IANA zone such as Europe/Berlin{hint}", hint=hint))
    return name


def _person_id(value: str) -> str:
    account = PersonId.parse(value)
    manifest = MANIFESTS.get(account.channel)
    if manifest is None:
        raise ValueError(not_a_person(did_you_mean(account.channel, MANIFESTS)))
    manifest.check_person(account.id)
    return str(account)


def _time_of_day(value: object) -> time:
    if isinstance(value, time):
        return value
    match = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(Sentence('allowed: a time of day such as "21:00"'))
    return time(int(match["hour"]), int(match["minute"]))


def _quiet_hours(value: object) -> QuietHours:
    if isinstance(value, QuietHours):
        return value
    parts = [part.strip() for part in value.split("-")] if isinstance(value, str) else []
    if len(parts) != 2 or not all(_CLOCK.fullmatch(part) for part in parts):
        raise ValueError(Sentence('allowed: two times of day such as "23:00-07:00"'))
    start, end = (_time_of_day(part) for part in parts)
    if start == end:
        raise ValueError(Sentence('allowed: two different times of day such as "23:00-07:00"'))
    return QuietHours(start, end)


def _origin(value: str) -> str:
    """The address as browsers write it: without the usual port or a slash at its end."""
    parts = urlsplit(value)
    if parts.path not in ("", "/"):
        raise ValueError(Sentence("allowed: an address without a path, as https://daybook.example.org"))
    usual = {"http": 80, "https": 443}[parts.scheme]
    host = parts.netloc.lower()
    return f"{parts.scheme}://{host.removesuffix(f':{usual}')}"


def _of_postgres(value: SecretStr) -> SecretStr:
    if not re.fullmatch(r"postgres(?:ql)?://[!-~]+", value.get_secret_value()):
        raise ValueError(Sentence("allowed: {allowed}", allowed="postgresql://USER:PASSWORD@HOST:5432/DATABASE"))
    return value


def _argv(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError as error:
        raise ValueError(Sentence("allowed: a command as a list of words")) from error


def _leading_words(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not all(value) or not value[0].strip() or any("\0" in word for word in value):
        raise ValueError(
            Sentence("allowed: the first words of a program, none empty: [git, status]; an empty list would allow all")
        )
    return value


def _file_command(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not any("{file}" in part for part in value[1:]):
        raise ValueError(
            Sentence('allowed: a command as a list of words, one of which has {file} in it: [whisper, "{file}"]')
        )
    return value


def _interval(value: object) -> object:
    """`30m`, `2h`, `1h 30m`."""
    if not isinstance(value, str):
        return value
    try:
        return interval(value)
    except InvalidWhen as error:
        raise ValueError(Sentence("allowed: an interval such as 30m ({why})", why=error)) from error


def _clock_text(value: time) -> str:
    return value.strftime("%H:%M")


Zone = Annotated[str, AfterValidator(_zone)]
_TEXT_OR_LIST = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
AccountText = Annotated[str, AfterValidator(_person_id)]
_Target = Annotated[
    str,
    matching(
        re.compile(r"owner|\w+:[^:\s]+(?::[^:\s]+)?"),
        Sentence("`owner`, or addresses of chats: `channel:chat_id[:thread_id]`"),
    ),
]
Targets = Annotated[
    tuple[_Target, ...],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    _TEXT_OR_LIST,
]
AgentName = Annotated[
    str, matching(re.compile(r"[a-z0-9][a-z0-9_-]{0,40}"), Sentence("a short name of a-z, 0-9, - and _"))
]
PersonName = Annotated[
    str, matching(re.compile(r"\w[\w-]{0,60}"), Sentence("a short name of letters, digits, - and _"))
]
Origin = Annotated[Url, AfterValidator(_origin)]
Argv = Annotated[tuple[str, ...], BeforeValidator(_argv), _TEXT_OR_LIST]
LeadingWords = Annotated[Argv, AfterValidator(_leading_words)]
FileCommand = Annotated[Argv, AfterValidator(_file_command)]
DatabaseUrl = Annotated[SecretStr, STRIPPED, AfterValidator(_of_postgres), HIDDEN]


def _matched(pattern: re.Pattern[str], allowed: str) -> AfterValidator:
    def check(value: SecretStr) -> SecretStr:
        if not pattern.fullmatch(value.get_secret_value()):
            raise ValueError(Sentence("allowed: {allowed}", allowed=allowed))
        return value

    return AfterValidator(check)


_ONE_LINE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*")
_OF_HEADERS = re.compile(r"[ -~]*")
_AnyText = Annotated[SecretStr, BeforeValidator(as_text), HIDDEN, NUMBER_OR_TEXT]
SecretText = Annotated[_AnyText, _matched(_ONE_LINE, Sentence("text on one line"))]
"""As `Secret`; may have spaces and any letters, and be empty."""
HeaderText = Annotated[_AnyText, _matched(_OF_HEADERS, Sentence("text on one line without accents"))]
McpName = Annotated[
    str, matching(re.compile(r"[a-z0-9](?:[a-z0-9-]{0,23})"), Sentence("a short name of a-z, 0-9 and -"))
]
VariableName = Annotated[
    str, matching(re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII), Sentence("a name of A-Z, 0-9 and _"))
]
HeaderName = Annotated[str, matching(re.compile(r"[A-Za-z0-9-]{1,60}"), Sentence("a name such as Authorization"))]
TimeOfDay = Annotated[
    time,
    BeforeValidator(_time_of_day),
    PlainSerializer(_clock_text, return_type=str),
    WithJsonSchema({"type": "string", "examples": ["21:00"]}),
]
Interval = Annotated[
    timedelta,
    BeforeValidator(_interval),
    PlainSerializer(lambda value: fields(Every(value))["every"], return_type=str),
    WithJsonSchema({"type": "string", "examples": ["30m"]}),
]
Quiet = Annotated[
    QuietHours,
    BeforeValidator(_quiet_hours),
    PlainSerializer(lambda hours: f"{_clock_text(hours.start)}-{_clock_text(hours.end)}", return_type=str),
    WithJsonSchema({"type": "string", "examples": ["23:00-07:00"]}),
]
