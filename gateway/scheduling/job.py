"""A job of `schedule.yaml`, and in a sentence what is wrong with it."""

from __future__ import annotations

import enum
import re
import unicodedata
import zoneinfo
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from agent.formats.plain_text import slug
from agent.languages.sentences import Sentence
from channels.message import Address
from channels.registry import CHANNELS
from gateway import recurrence as when_
from gateway.config.errors import did_you_mean
from gateway.policy.access import LOCAL_CHANNELS
from gateway.recurrence import InvalidWhen, When
from gateway.scheduling.builtins import RESERVED, summary_of

OWNER = "owner"
"""As `to`: the chat where the owner was last seen."""
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_KEYS = ("id", "kind", "text", "when", "to", "timezone", "enabled", "catch_up")
_WHENS = ("at", "every", "cron")
_WHEN_FORMS = ", ".join(f"`when: {form}`" for form in when_.FORMS)
_CHANNELS = tuple(sorted({*CHANNELS, *LOCAL_CHANNELS}))
_SUMMARIES = tuple(summary_of(f"{channel}:") for channel in _CHANNELS)
"""How the ids of chats' own daily summaries begin."""
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
LONGEST_TEXT = 20_000
"""Characters."""

Fields = Mapping[str, str | Mapping[str, str]]
"""A job as it is written: every value is text, except `when`, which is a mapping."""


class InvalidJob(ValueError):
    """One sentence: which key, what was found, what is allowed."""


class JobKind(enum.StrEnum):
    MESSAGE = "message"  # the text is delivered as it is
    PROMPT = "prompt"  # an isolated turn; its final text is delivered
    BUILT_IN = "built-in"  # Daybook's own: never in the file


@dataclass(frozen=True, slots=True)
class Job:
    """A job; `timezone` empty: the user's."""

    id: str
    kind: JobKind
    text: str
    when: When
    to: str = OWNER
    """`owner` or a chat address."""
    timezone: str = ""
    enabled: bool = True
    catch_up: bool = True
    """Whether a missed run is made up for."""

    def zone(self, default: ZoneInfo) -> ZoneInfo:
        return ZoneInfo(self.timezone) if self.timezone else default

    def off_channel(self, on: Collection[str]) -> str:
        """The channel that the job reports to, where it is not in `on`; else empty."""
        channel = "" if self.to == OWNER else Address.parse(self.to).channel
        return "" if channel in on else channel

    @property
    def spec(self) -> str:
        """All that the due times depend on, as text to compare."""
        return f"{when_.fields(self.when)} {self.timezone}"


def read(fields: Fields) -> Job:
    """The job of the fields. Raises `InvalidJob`."""
    if unknown := [key for key in fields if key not in _KEYS]:
        if unknown[0] in _WHENS:
            raise InvalidJob(
                Sentence("`{key}` belongs below `when`; allowed: {forms}", key=unknown[0], forms=_WHEN_FORMS)
            )
        raise InvalidJob(
            Sentence(
                "there is no key {key}{near}; allowed: {keys}",
                key=repr(unknown[0]),
                near=did_you_mean(unknown[0], _KEYS),
                keys=", ".join(_KEYS),
            )
        )
    kind = _text(fields, "kind", JobKind.MESSAGE)
    if kind not in (JobKind.MESSAGE, JobKind.PROMPT):
        raise InvalidJob(
            Sentence("`{key}` is {value}; allowed: {allowed}", key="kind", value=repr(kind), allowed="message, prompt")
        )
    when = fields.get("when")
    if not isinstance(when, Mapping):
        if not when:
            raise InvalidJob(Sentence("`when` is missing; allowed: {forms}", forms=_WHEN_FORMS))
        raise InvalidJob(
            Sentence("`{key}` is {value}; allowed: {allowed}", key="when", value=repr(when[:80]), allowed=_WHEN_FORMS)
        )
    try:
        parsed = when_.parse(when)
    except InvalidWhen as error:
        raise InvalidJob(str(error)) from error
    return Job(
        id=checked_id(_text(fields, "id", "")),
        kind=JobKind(kind),
        text=checked_text(_text(fields, "text", "")),
        when=parsed,
        to=checked_to(_text(fields, "to", OWNER)),
        timezone=checked_zone(_text(fields, "timezone", "")),
        enabled=_switch(fields, "enabled"),
        catch_up=_switch(fields, "catch_up"),
    )


def written(job: Job) -> dict[str, str | dict[str, str]]:
    """The fields for `read`, without defaults."""
    fields: dict[str, str | dict[str, str]] = {"id": job.id, "kind": str(job.kind), "text": job.text}
    fields |= {"when": when_.fields(job.when), "to": job.to}
    fields |= {"timezone": job.timezone} if job.timezone else {}
    fields |= {} if job.enabled else {"enabled": "false"}
    return fields | ({} if job.catch_up else {"catch_up": "false"})


def new_id(text: str, taken: Collection[str]) -> str:
    """A free id made of the job's text."""
    plain = unicodedata.normalize("NFKD", slug(text)).encode("ascii", "ignore").decode()
    words = [word for word in plain.split("-") if word][:4]
    base = "-".join(words)[:40].strip("-") or "job"
    base = f"job-{base}" if _is_reserved(f"{base}-") else base
    names = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 3))
    return next(name for name in names if name not in taken and not _is_reserved(name))


def checked_id(id: str) -> str:
    """The id itself. Raises `InvalidJob`."""
    if _is_reserved(id):
        raise InvalidJob(
            Sentence("`id` is {id}, which is a name of Daybook's own jobs; take another", id=repr(id[:80]))
        )
    if not id:
        raise InvalidJob(Sentence("`id` is missing"))
    if not _ID.fullmatch(id):
        raise InvalidJob(Sentence("`id` is {id}; allowed: a name of a-z, 0-9 and -", id=repr(id[:80])))
    return id


def _is_reserved(id: str) -> bool:
    return id in RESERVED or id.startswith(_SUMMARIES)


def checked_text(text: str) -> str:
    """The text without blanks around it. Raises `InvalidJob`."""
    if not text.strip():
        raise InvalidJob(Sentence("`text` is empty; say what is to be sent or done"))
    if len(text) > LONGEST_TEXT:
        raise InvalidJob(
            Sentence(
                "the text has {count} characters; {most} are allowed", count=f"{len(text):,}", most=f"{LONGEST_TEXT:,}"
            )
        )
    return text.strip()


def checked_to(to: str) -> str:
    """The address in its one form. Raises `InvalidJob`."""
    if to == OWNER:
        return to
    try:
        address = Address.parse(to)
    except ValueError as error:
        raise InvalidJob(Sentence("`to`: {why}, or `owner`", why=str(error))) from error
    if address.channel not in _CHANNELS:
        near = did_you_mean(address.channel, _CHANNELS)
        raise InvalidJob(
            Sentence(
                "`to`: there is no channel {name}{near}; allowed: {names}",
                name=repr(address.channel[:40]),
                near=near,
                names=", ".join(_CHANNELS),
            )
        )
    return str(address)


def checked_zone(name: str) -> str:
    """The zone's name itself. Raises `InvalidJob`."""
    if not name:
        return ""
    try:
        ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = did_you_mean(name, zoneinfo.available_timezones())
        raise InvalidJob(
            Sentence(
                "`timezone` is {zone}; allowed: an IANA zone such as Europe/Berlin{near}",
                zone=repr(name[:80]),
                near=near,
            )
        ) from error
    return name


def _text(fields: Fields, key: str, default: str) -> str:
    value = fields.get(key, default)
    if not isinstance(value, str):
        raise InvalidJob(Sentence("`{key}` must be a text", key=key))
    return value


def _switch(fields: Fields, key: str) -> bool:
    value = _text(fields, key, "true").lower()
    if value not in _TRUE | _FALSE:
        raise InvalidJob(
            Sentence("`{key}` is {value}; allowed: {allowed}", key=key, value=repr(value[:40]), allowed="true, false")
        )
    return value in _TRUE
