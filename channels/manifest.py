"""What each channel says of itself: its section of the configuration, its set-up, and how it is opened.

All here is light, and so is the `__init__.py` of a channel's folder, which has its `CHANNEL`: what a platform's library
is needed for is imported inside of the functions.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from pydantic import Field, PositiveInt

from agent.languages.sentences import Sentence
from channels.checks import CheckResult, Finding, ServerClock
from channels.message import Channel, CommandInfo, RunSource, Slot
from channels.settings import NumericId, Secret, Section, Validated


class DmPolicy(enum.StrEnum):
    PAIRING = "pairing"
    ALLOWLIST = "allowlist"
    OPEN = "open"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class GroupRule:
    """`allow` empty: every member may call the bot."""

    mention_required: bool = True
    allow: frozenset[str] = frozenset()
    per_minute: int = 30
    """Answers to one member."""


@dataclass(frozen=True, slots=True)
class ServerRule:
    """One rule for a server's channels; `channels` empty: all of them."""

    rule: GroupRule = GroupRule()
    channels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ChannelRules:
    dm_policy: DmPolicy = DmPolicy.PAIRING
    allow: frozenset[str] = frozenset()
    groups: Mapping[str, GroupRule] = field(default_factory=dict)
    servers: Mapping[str, ServerRule] = field(default_factory=dict)

    def of_server(self, server: str, chat: str) -> GroupRule | None:
        found = self.servers.get(server)
        return found.rule if found and (not found.channels or chat in found.channels) else None


@dataclass(frozen=True, slots=True)
class LastSeen:
    """The last stored message of a chat, or of a connection whose messages are stored up to it."""

    chat_id: str
    server: str
    message_id: str


class PositionStore(Protocol):
    """Keeps positions over restarts. Its methods raise storage errors."""

    async def load(self) -> Sequence[LastSeen]: ...

    async def note(self, chats: Sequence[LastSeen]) -> None:
        """Stores newer positions; older ones are ignored. On disk when it returns."""

    async def forget(self, chat_id: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a channel is lent. `run_part` runs a connection of a channel that has several, or leaves it to another
    process; `slot` is held while one connects. `is_shared`: other processes serve the home too, so that each must be
    able to send without a connection."""

    commands: Sequence[CommandInfo]
    seen: PositionStore
    run_part: RunSource
    slot: Slot
    is_shared: bool


class GroupSettings(Section):
    mention: Literal["required", "optional"] = "required"
    allow: tuple[NumericId, ...] = ()
    per_minute: PositiveInt = 30

    texts: ClassVar[Mapping[str, str]] = {
        "mention": "`required`: it answers when it is called. `optional`: it answers everything.",
        "allow": "Numeric ids of members who may write there; empty: all.",
        "per_minute": "The most messages of one member that are answered in a minute.",
    }

    @property
    def rule(self) -> GroupRule:
        return GroupRule(self.mention == "required", frozenset(self.allow), self.per_minute)


def _when_token_is_set(above: Validated) -> bool:
    return above.get("token") is not None


class ChannelSettings(Section):
    """A channel's section of the configuration."""

    token: Secret | None = None
    enabled: bool = Field(default_factory=_when_token_is_set)
    dm_policy: Literal["pairing", "allowlist", "open", "off"] = "pairing"
    allow: tuple[NumericId, ...] = ()
    reaction: str | None = None

    texts: ClassVar[Mapping[str, str]] = {
        "token": "The bot's token. Better in `.env`, where it is found by itself.",
        "enabled": "Off keeps the token and does not connect. By default on where there is a token.",
        "dm_policy": "Who may write privately: `pairing` gives strangers a code to be approved by, `allowlist` only "
        "those in `allow`, `open` everybody, `off` nobody.",
        "allow": "Numeric ids of people who may write without a code.",
        "reaction": "An emoji that a message gets while it is worked on.",
    }
    PERSON: ClassVar[re.Pattern[str]] = re.compile(r"\d{1,20}")
    """What the id of a person is like."""

    @property
    def secret(self) -> str:
        """What it logs in with; only one process of a user may listen with it."""
        return self.token.get_secret_value() if self.token is not None else ""

    @property
    def is_on(self) -> bool:
        return self.enabled and self.token is not None

    @property
    def rules(self) -> ChannelRules:
        return ChannelRules(DmPolicy(self.dm_policy), frozenset(self.allow))

    def open(self, wiring: Wiring) -> Channel:
        """The channel, which does not listen yet."""
        raise NotImplementedError

    def probe(self) -> CheckResult:
        """Asks the platform whether the token is right. Blocks for some seconds at most."""
        raise NotImplementedError

    def checks(self) -> Iterator[Finding | ServerClock]:
        """What the doctor says of a channel that is on. Blocks for some seconds at most."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class SetupQuestion:
    """One of the set-up, in a terminal and, with a label, on the page. `answer` also names the option of `daybook
    init`, `key` the field that is written; without one it is the owner's id there."""

    answer: str
    key: str
    asked: str
    option: str
    without: str = ""
    """Of a secret: what there is without one."""
    wanted: str = ""
    """Says what an answer must be like."""
    label: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ChannelManifest:
    name: str
    """Letters, digits and `_`: as in the configuration and in addresses."""
    title: str
    settings: type[ChannelSettings]
    variables: Mapping[str, str]
    """The secrets among the fields, each with the variable that has it by default."""
    missing: str
    """What to do where there is no token."""
    questions: Sequence[SetupQuestion]
    why: str
    """On the page: what the channel is good for."""
    connect: str
    """On the page's button."""
    has_chats_by_person: bool = False
    """A person's private chat has the person's own id."""
    is_everywhere: bool = False
    """It runs in each of several gateways, to send; its connections are parts that they share out."""

    @property
    def secrets(self) -> Sequence[str]:
        """The answers that are secrets."""
        return [question.answer for question in self.questions if question.key in self.variables]

    def check_person(self, id: str) -> None:
        """Raises `ValueError` with a sentence for who configured the id."""
        if not self.settings.PERSON.fullmatch(id):
            raise ValueError(not_a_person())


def not_a_person(hint: str = "") -> Sentence:
    return Sentence(
        "allowed: a platform and a numeric id, such as `telegram:11111` (user names can change; "
        "/whoami shows it){hint}",
        hint=hint,
    )
