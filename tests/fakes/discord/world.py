"""What people do in Discord, and what they see. Knows neither HTTP nor WebSockets: what happens is published."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from tests.fakes.bell import Bell
from tests.fakes.discord.errors import JsonObject, units
from tests.fakes.discord.model import (
    COMPONENTS_V2,
    DM,
    FORUM,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    REPLY,
    Attachment,
    Channel,
    File,
    Guild,
    Message,
    Role,
    Snowflakes,
    User,
)
from tests.fakes.discord.payloads import channel_json, event_json, guild_json, member_json, user_json

GUILDS, GUILD_MESSAGES, GUILD_REACTIONS, GUILD_TYPING = 1 << 0, 1 << 9, 1 << 10, 1 << 11
DM_MESSAGES, DM_REACTIONS, DM_TYPING = 1 << 12, 1 << 13, 1 << 14
MAX_PERSON_TEXT = 2000

Upload = File | tuple[str, bytes, str]
Publisher = Callable[[str, JsonObject, int, Message | None], None]


class World:
    """Guilds, DMs and people around one bot."""

    def __init__(self) -> None:
        self.bell = Bell()
        self.ids = Snowflakes()
        self.bot = User(self.ids.next(), "daybook_test_bot", bot=True)
        self.users: dict[int, User] = {self.bot.id: self.bot}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.files: dict[int, Attachment] = {}
        self.cdn_url = ""
        self._passed = 0.0
        self._numbers = itertools.count(1)

    # Time

    def now(self) -> float:
        """Monotonic seconds, with what `pass_time` added."""
        return time.monotonic() + self._passed

    def pass_time(self, seconds: float) -> None:
        """Let nonces, interactions and rate limits grow older at once."""
        self._passed += seconds
        self.bell.ring()

    def timestamp(self) -> str:
        return datetime.fromtimestamp(time.time() + self._passed, UTC).isoformat()

    def next_id(self) -> int:
        return self.ids.next(int((time.time() + self._passed) * 1000))

    # Places and people

    def user(self, name: str, id: int | None = None, *, bot: bool = False) -> User:
        made = User(id or self.next_id(), name, bot)
        self.users[made.id] = made
        return made

    def guild(self, name: str, id: int | None = None, *, owner: User | None = None) -> Guild:
        """A server with the bot in it; the gateway tells of it."""
        made = Guild(self, id or self.next_id(), name, owner or self.user("Owner"))
        made.roles[made.id] = Role(made.id, "@everyone")
        own = Role(self.next_id(), self.bot.name, {self.bot.id}, of_bot=self.bot.id)
        made.roles[own.id] = own
        made.members = {self.bot.id: self.bot, made.owner.id: made.owner}
        self.guilds[made.id] = made
        self.publish("GUILD_CREATE", guild_json(made, self.bot), GUILDS)
        return made

    def remove_guild(self, guild: Guild) -> None:
        """The bot is thrown out."""
        del self.guilds[guild.id]
        for channel in guild.channels.values():
            self.channels.pop(channel.id, None)
        self.publish("GUILD_DELETE", {"id": str(guild.id)}, GUILDS)

    def dm(self, user: User, id: int | None = None) -> Channel:
        """The private channel of a person with the bot, made when it is new."""
        for channel in self.channels.values():
            if channel.type == DM and channel.recipient is user:
                return channel
        made = Channel(self, id or self.next_id(), DM, recipient=user)
        self.channels[made.id] = made
        self.publish("CHANNEL_CREATE", channel_json(made, self.bot), DM_MESSAGES)
        return made

    def close_dms(self, user: User) -> None:
        """The person has blocked the bot or takes no direct messages."""
        user.dms_closed = True

    def open_channel(self, guild: Guild, name: str, kind: int, id: int | None) -> Channel:
        made = Channel(self, id or self.next_id(), kind, name, guild)
        self._add(made)
        self.publish("CHANNEL_CREATE", channel_json(made, self.bot), GUILDS)
        return made

    def open_thread(
        self, parent: Channel, name: str, *, starter: Message | None, private: bool, owner: User | None
    ) -> Channel:
        assert parent.guild is not None
        kind = PRIVATE_THREAD if private else PUBLIC_THREAD
        made = Channel(self, starter.id if starter else self.next_id(), kind, name, parent.guild, parent)
        made.owner = owner or parent.guild.owner
        self._add(made)
        if starter:
            starter.thread = made
        self.publish("THREAD_CREATE", channel_json(made, self.bot) | {"newly_created": True}, GUILDS)
        return made

    def open_post(self, forum: Channel, title: str, text: str, author: User) -> Channel:
        if forum.type != FORUM:
            raise ValueError(f"{forum.name} is no forum")
        made = self.open_thread(forum, title, starter=None, private=False, owner=author)
        self.add_message(made, author, text, id=made.id)
        return made

    def make_role(self, guild: Guild, name: str, members: tuple[User, ...]) -> Role:
        made = Role(self.next_id(), name, {user.id for user in members})
        guild.roles[made.id] = made
        guild.members |= {user.id: user for user in members}
        self.publish("GUILD_UPDATE", guild_json(guild, self.bot), GUILDS)
        if self.bot in members:
            me = {"guild_id": str(guild.id), **member_json(guild, self.bot)}
            self.publish("GUILD_MEMBER_UPDATE", me, GUILDS)
        return made

    def remove_channel(self, channel: Channel) -> None:
        made = channel_json(channel, self.bot)
        self.channels.pop(channel.id, None)
        if channel.guild is not None:
            channel.guild.channels.pop(channel.id, None)
            for thread in [one for one in channel.guild.channels.values() if one.parent is channel]:
                self.remove_channel(thread)
        self.publish("THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE", made, GUILDS)

    def channel_changed(self, channel: Channel) -> None:
        event = "THREAD_UPDATE" if channel.is_thread else "CHANNEL_UPDATE"
        self.publish(event, channel_json(channel, self.bot), GUILDS)

    def _add(self, channel: Channel) -> None:
        assert channel.guild is not None
        self.channels[channel.id] = channel
        channel.guild.channels[channel.id] = channel

    # What people do

    async def say(
        self,
        author: User,
        channel: Channel,
        text: str = "",
        *,
        mentions: Sequence[User | Role] = (),
        reply_to: Message | None = None,
        ping: bool = True,
        attachments: Sequence[Upload] = (),
        type: int = 0,
        flags: int = 0,
        webhook: bool = False,
        id: int | None = None,
        **extra: Any,
    ) -> Message:
        """A person writes. `mentions` that the text does not name yet are put in front of it; a reply mentions its
        target unless `ping` is off. `type` makes a system message, `extra` adds fields of the message object."""
        if units(text) > MAX_PERSON_TEXT:
            raise ValueError(f"Discord's clients send at most {MAX_PERSON_TEXT} characters")
        missing = [one.mention for one in mentions if one.mention not in text]
        return self.add_message(
            channel,
            author,
            " ".join([*missing, text]).strip(),
            id=id,
            type=REPLY if reply_to and not type else type,
            reference=reply_to,
            ping_reply=ping,
            attachments=[self.attach(channel, one) for one in attachments],
            flags=flags,
            webhook=webhook,
            extra=extra,
        )

    async def edit(self, message: Message, text: str) -> None:
        """A person edits their message."""
        self.change_message(message, content=text)

    async def delete(self, message: Message) -> None:
        """A person deletes a message."""
        self.remove_message(message)

    async def react(self, user: User, message: Message, emoji: str) -> None:
        """A person reacts to a message."""
        self.add_reaction(message, user, emoji)

    async def type_in(self, user: User, channel: Channel) -> None:
        """A person begins to type."""
        self.show_typing(channel, user)

    def messages(self, channel: Channel, *, seen_by: User | None = None) -> list[Message]:
        """What stands in a channel now, oldest first; without "… is thinking" (see `thinking`). `seen_by` leaves out
        what is ephemeral and meant for somebody else."""
        return [
            one
            for _, one in sorted(channel.messages.items())
            if not one.loading and (seen_by is None or one.only_for in (None, seen_by))
        ]

    def thinking(self, channel: Channel) -> list[Message]:
        """Deferred answers that still read "… is thinking"."""
        return [one for one in channel.messages.values() if one.loading]

    # What happens to messages, whoever does it

    def add_message(
        self,
        channel: Channel,
        author: User,
        content: str,
        *,
        id: int | None = None,
        allowed: JsonObject | None = None,
        ping_reply: bool = True,
        silent: bool = False,
        **fields: Any,
    ) -> Message:
        """Everybody's way to write. `silent`: the gateway does not tell of it."""
        message = Message(id or self.next_id(), channel, author, content, self.timestamp(), self.now(), **fields)
        message.versions.append(content)
        message.allowed_mentions = allowed
        if channel.guild is not None:
            channel.guild.members.setdefault(author.id, author)
        self._mention(message, allowed, ping_reply=ping_reply)
        message.pinged = {user.id for user in message.mentions}
        message.pinged_roles = {role.id for role in message.mention_roles}
        channel.messages[message.id] = message
        channel.archived = False
        if not silent and message.only_for is None:
            self.publish_message("MESSAGE_CREATE", message)
        self.bell.ring()
        return message

    def change_message(self, message: Message, **fields: Any) -> None:
        """Edit whatever is named; a new content counts as a version."""
        for name, value in fields.items():
            setattr(message, name, value)
        message.edited = self.timestamp()
        message.versions.append(message.content)
        self._mention(message, message.allowed_mentions, ping_reply=bool(message.pinged))
        if message.only_for is None:
            self.publish_message("MESSAGE_UPDATE", message)
        self.bell.ring()

    def remove_message(self, message: Message) -> None:
        message.deleted = True
        message.channel.messages.pop(message.id, None)
        made = {"id": str(message.id), "channel_id": str(message.channel.id)} | _place(message.channel)
        if message.only_for is None:
            self.publish("MESSAGE_DELETE", made, _intent(message.channel, GUILD_MESSAGES, DM_MESSAGES))
        self.bell.ring()

    def add_reaction(self, message: Message, user: User, emoji: str) -> None:
        message.reactions.setdefault(emoji, set()).add(user.id)
        self._reacted("MESSAGE_REACTION_ADD", message, user, emoji)

    def remove_reaction(self, message: Message, user: User, emoji: str) -> None:
        who = message.reactions.get(emoji, set())
        who.discard(user.id)
        if not who:
            message.reactions.pop(emoji, None)
        self._reacted("MESSAGE_REACTION_REMOVE", message, user, emoji)

    def show_typing(self, channel: Channel, user: User) -> None:
        if user is self.bot:
            channel.typing.append(self.now())
        made = {"channel_id": str(channel.id), "user_id": str(user.id), "timestamp": int(time.time())}
        if channel.guild is not None:
            made["member"] = member_json(channel.guild, user)
        self.publish("TYPING_START", made | _place(channel), _intent(channel, GUILD_TYPING, DM_TYPING))
        self.bell.ring()

    def attach(self, channel: Channel, upload: Upload, description: str | None = None) -> Attachment:
        file = upload if isinstance(upload, File) else File(*upload)
        name = re.sub(r"[^\w.\-]", "_", file.name.replace("\\", "/").rsplit("/", 1)[-1]) or "unknown"
        id = self.next_id()
        url = f"{self.cdn_url}/attachments/{channel.id}/{id}/{quote(name)}?ex=6a000000&is=69f00000&hm={id:x}&"
        size = len(file.content) if file.size is None else file.size
        made = Attachment(id, name, file.content, file.content_type, size, url, description, extra=dict(file.extra))
        self.files[made.id] = made
        return made

    def publish_message(self, event: str, message: Message) -> None:
        made = event_json(message, self.bot)
        if event == "MESSAGE_UPDATE":
            made.pop("nonce", None)
        self.publish(event, made, _intent(message.channel, GUILD_MESSAGES, DM_MESSAGES), message)

    def publish(self, event: str, data: JsonObject, intent: int, message: Message | None = None) -> None:
        """Tell every session that asked for `intent`. The gateway does it."""
        raise NotImplementedError

    def _reacted(self, event: str, message: Message, user: User, emoji: str) -> None:
        made: JsonObject = {
            "user_id": str(user.id),
            "channel_id": str(message.channel.id),
            "message_id": str(message.id),
            "emoji": {"id": None, "name": emoji},
            "burst": False,
            "type": 0,
        } | _place(message.channel)
        if message.channel.guild is not None and event.endswith("ADD"):
            made["member"] = member_json(message.channel.guild, user)
            made["message_author_id"] = str(message.author.id)
        self.publish(event, made, _intent(message.channel, GUILD_REACTIONS, DM_REACTIONS))
        self.bell.ring()

    def _mention(self, message: Message, allowed: JsonObject | None, *, ping_reply: bool) -> None:
        """Who is mentioned, as far as `allowed_mentions` lets it happen. Text in code mentions nobody."""
        text = re.sub(r"```.*?```|`[^`\n]*`", "", _all_text(message), flags=re.S)
        guild = message.channel.guild
        named = [self.users.get(int(id)) for id in re.findall(r"<@!?(\d+)>", text)]
        users = [one for one in named if one and _may(allowed, "users", one.id) and _reachable(message.channel, one)]
        if message.reference is not None and message.type == REPLY:
            replied = allowed.get("replied_user", False) if allowed is not None else ping_reply
            users += [message.reference.author] if replied else []
        message.mentions = list(dict.fromkeys(users))
        roles = [guild.roles.get(int(id)) for id in re.findall(r"<@&(\d+)>", text)] if guild else []
        message.mention_roles = [role for role in dict.fromkeys(roles) if role and _may(allowed, "roles", role.id)]
        everyone = guild is not None and re.search(r"@(everyone|here)\b", text) is not None
        permitted = message.author is not self.bot or not message.channel.lacks("mention_everyone")
        message.mention_everyone = everyone and permitted and _may(allowed, "everyone", 0)
        if guild is not None:
            guild.members |= {user.id: user for user in message.mentions}


def _all_text(message: Message) -> str:
    if not message.flags & COMPONENTS_V2:
        return message.content
    return "\n".join(_texts(message.components))


def _texts(components: Iterable[JsonObject]) -> list[str]:
    found: list[str] = []
    for one in components:
        found += [str(one["content"])] if one.get("type") == 10 else []
        found += _texts(one.get("components", []))
    return found


def _may(allowed: JsonObject | None, kind: str, id: int) -> bool:
    if allowed is None or kind in allowed.get("parse", []):
        return True
    return str(id) in map(str, allowed.get(kind) or [] if kind != "everyone" else [])


def _reachable(channel: Channel, user: User) -> bool:
    return channel.guild is not None or user.bot or user is channel.recipient


def _place(channel: Channel) -> JsonObject:
    return {"guild_id": str(channel.guild.id)} if channel.guild else {}


def _intent(channel: Channel, in_guild: int, in_dm: int) -> int:
    return in_guild if channel.guild else in_dm


__all__ = ["World", "user_json"]
