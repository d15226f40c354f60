"""What there is in Discord: people, servers, channels and messages, as those who look at them see them now."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Protocol

from tests.fakes.discord.errors import JsonObject

EPOCH_MS = 1_420_070_400_000
TEXT, DM, VOICE, CATEGORY, NEWS, PUBLIC_THREAD, PRIVATE_THREAD, FORUM = 0, 1, 2, 4, 5, 11, 12, 15
THREADS = frozenset((10, PUBLIC_THREAD, PRIVATE_THREAD))
REPLY = 19
CHAT_INPUT_COMMAND = 20
PLAIN_TYPES = frozenset((0, REPLY, CHAT_INPUT_COMMAND, 23))
"""Types of messages that people and bots write; every other one is a system message."""

SUPPRESS_EMBEDS, EPHEMERAL, LOADING, VOICE_MESSAGE, COMPONENTS_V2 = 1 << 2, 1 << 6, 1 << 7, 1 << 13, 1 << 15

PERMISSIONS = {
    "add_reactions": 1 << 6,
    "view_channel": 1 << 10,
    "send_messages": 1 << 11,
    "manage_messages": 1 << 13,
    "embed_links": 1 << 14,
    "attach_files": 1 << 15,
    "read_message_history": 1 << 16,
    "mention_everyone": 1 << 17,
    "create_public_threads": 1 << 35,
    "send_messages_in_threads": 1 << 38,
}
NOT_BY_DEFAULT = frozenset(("manage_messages", "mention_everyone"))


class Snowflakes:
    """Ids that grow with time."""

    def __init__(self) -> None:
        self._last = 0

    def next(self, at_ms: int = 0) -> int:
        made = ((at_ms or int(time.time() * 1000)) - EPOCH_MS) << 22
        self._last = max(made, self._last + 1)
        return self._last


@dataclass(eq=False, slots=True)
class User:
    id: int
    name: str
    bot: bool = False
    dms_closed: bool = False
    locale: str = "en-US"
    """Of the app; bots learn it with interactions only."""

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"


@dataclass(eq=False, slots=True)
class Role:
    id: int
    name: str
    members: set[int] = field(default_factory=set)
    of_bot: int | None = None

    @property
    def mention(self) -> str:
        return f"<@&{self.id}>"


@dataclass(frozen=True, slots=True)
class File:
    """An attachment as it is uploaded. `size` is what Discord claims, where it differs from the content."""

    name: str
    content: bytes
    content_type: str = "application/octet-stream"
    size: int | None = None
    extra: JsonObject = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Attachment:
    id: int
    name: str
    content: bytes
    content_type: str
    size: int
    url: str
    description: str | None = None
    expired: bool = False
    extra: JsonObject = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Message:
    """A message as a person sees it now. `at` is the monotonic second of the send; `versions` every text it had, the
    present one last; `pinged` the ids of users who were notified; `only_for` the one who sees an ephemeral one."""

    id: int
    channel: Channel
    author: User
    content: str
    timestamp: str
    at: float
    type: int = 0
    attachments: list[Attachment] = field(default_factory=list)
    embeds: list[JsonObject] = field(default_factory=list)
    components: list[JsonObject] = field(default_factory=list)
    reference: Message | None = None
    flags: int = 0
    nonce: str | int | None = None
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[Role] = field(default_factory=list)
    mention_everyone: bool = False
    pinged: set[int] = field(default_factory=set)
    pinged_roles: set[int] = field(default_factory=set)
    allowed_mentions: JsonObject | None = None
    edited: str | None = None
    versions: list[str] = field(default_factory=list)
    reactions: dict[str, set[int]] = field(default_factory=dict)
    thread: Channel | None = None
    only_for: User | None = None
    interaction: JsonObject | None = None
    webhook: bool = False
    deleted: bool = False
    extra: JsonObject = field(default_factory=dict)

    @property
    def edits(self) -> int:
        """How often it was edited."""
        return len(self.versions) - 1

    @property
    def loading(self) -> bool:
        """It still reads "… is thinking"."""
        return bool(self.flags & LOADING)

    @property
    def ephemeral(self) -> bool:
        return bool(self.flags & EPHEMERAL)

    @property
    def pinged_everyone(self) -> bool:
        return self.mention_everyone

    @property
    def link_previews(self) -> list[str]:
        """The links that unfold under the message: none where previews are suppressed or the link stands in `<>`."""
        if self.flags & SUPPRESS_EMBEDS:
            return []
        return re.findall(r"(?<!<)https?://[^\s<>)]+", re.sub(r"```.*?```|`[^`]*`", "", self.content, flags=re.S))

    @property
    def controls(self) -> list[JsonObject]:
        """Buttons and menus, in reading order."""
        return list(_controls(self.components))

    @property
    def buttons(self) -> list[str]:
        """The custom ids of the buttons and menus that can be used."""
        return [one["custom_id"] for one in self.controls if not one.get("disabled")]


def _controls(components: list[JsonObject]) -> list[JsonObject]:
    found = [one for one in components if one.get("custom_id")]
    for one in components:
        found += _controls(one.get("components", []))
        if isinstance(accessory := one.get("accessory"), dict):
            found += _controls([accessory])
    return found


@dataclass(eq=False, slots=True)
class Channel:
    """A channel, DM, forum or thread. `denied` are permissions the bot lacks here (see `PERMISSIONS`)."""

    world: WorldSeen
    id: int
    type: int
    name: str = ""
    guild: Guild | None = None
    parent: Channel | None = None
    owner: User | None = None
    recipient: User | None = None
    denied: set[str] = field(default_factory=lambda: set(NOT_BY_DEFAULT))
    slow_mode: int = 0
    archived: bool = False
    locked: bool = False
    messages: dict[int, Message] = field(default_factory=dict)
    typing: list[float] = field(default_factory=list)

    @property
    def is_thread(self) -> bool:
        return self.type in THREADS

    @property
    def mention(self) -> str:
        return f"<#{self.id}>"

    def lacks(self, permission: str) -> bool:
        """The bot may not do this here; threads take over what is denied in their parent."""
        if self.type == DM:
            return permission == "manage_messages"
        return permission in self.denied or (self.parent is not None and self.parent.lacks(permission))

    def deny(self, *permissions: str) -> None:
        """Take permissions from the bot; the gateway tells of it."""
        if unknown := set(permissions) - PERMISSIONS.keys():
            raise ValueError(f"unknown permissions: {unknown}")
        self.denied.update(permissions)
        self.world.channel_changed(self)

    def allow(self, *permissions: str) -> None:
        self.denied.difference_update(permissions)
        self.world.channel_changed(self)

    def thread(
        self, name: str, *, starter: Message | None = None, private: bool = False, owner: User | None = None
    ) -> Channel:
        """A person opens a thread, on a message or without one."""
        return self.world.open_thread(self, name, starter=starter, private=private, owner=owner)

    def post(self, title: str, text: str, author: User) -> Channel:
        """A person starts a post in this forum; returns its thread. The first message has the thread's id."""
        return self.world.open_post(self, title, text, author)

    def delete(self) -> None:
        """It is gone, with its threads."""
        self.world.remove_channel(self)


@dataclass(eq=False, slots=True)
class Guild:
    world: WorldSeen
    id: int
    name: str
    owner: User
    roles: dict[int, Role] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    members: dict[int, User] = field(default_factory=dict)
    nicks: dict[int, str] = field(default_factory=dict)
    locale: str = "en-US"

    @property
    def bot_role(self) -> Role:
        """The role that Discord made for the bot when it was let in, and that nobody else can have."""
        return next(role for role in self.roles.values() if role.of_bot is not None)

    def text(self, name: str, id: int | None = None) -> Channel:
        return self.world.open_channel(self, name, TEXT, id)

    def forum(self, name: str, id: int | None = None) -> Channel:
        return self.world.open_channel(self, name, FORUM, id)

    def role(self, name: str, *members: User) -> Role:
        """A role with these members."""
        return self.world.make_role(self, name, members)


class WorldSeen(Protocol):
    """What channels and servers ask of the world they are in."""

    def open_channel(self, guild: Guild, name: str, kind: int, id: int | None) -> Channel: ...
    def open_thread(
        self, parent: Channel, name: str, *, starter: Message | None, private: bool, owner: User | None
    ) -> Channel: ...
    def open_post(self, forum: Channel, title: str, text: str, author: User) -> Channel: ...
    def make_role(self, guild: Guild, name: str, members: tuple[User, ...]) -> Role: ...
    def remove_channel(self, channel: Channel) -> None: ...
    def channel_changed(self, channel: Channel) -> None: ...
