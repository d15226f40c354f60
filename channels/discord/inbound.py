"""Translates Discord's raw messages and interactions into events. Pure.

A message without a required field becomes an `UnreadableEvent`, so that it does not block the next.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from channels.discord.directory import Directory, DiscordChat
from channels.discord.shown import attachments, beside, reactions, snapshots
from channels.json_fields import (
    Json,
    Malformed,
    get,
    moment_in_utc,
    need,
    need_object,
    object_of,
    objects_of,
    strings_of,
    text_of,
)
from channels.message import Address, Attachment, ChatKind, InboundMessage, Origin, Quote, Sender, UnreadableEvent
from channels.text import clean

CHANNEL = "discord"
INTERACTION = "interaction:"
"""Prefix of an interaction's id, and of the `answer_with` of its answers."""
SLASH = 2
"""Type of interaction: a command from the menu."""

_WRITTEN_TYPES = frozenset({0, 19})
"""A message and a reply; other types are notices or a bot's answers to commands."""
_FORWARD = 1
"""`message_reference.type` of a forwarded message."""
_PRESS = 3
"""Type of interaction: a component of a message."""
_EPOCH_MS = 1_420_070_400_000
"""The beginning of 2015, the epoch of Discord's ids."""

_MARKUP = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|/(?P<command>[\w -]+):\d+"
    r"|t:(?P<moment>-?\d{1,12})(?::[A-Za-z])?)>"
)
_AFTER_NAME = re.compile(r"[\s,:;]+")
_COMMAND = re.compile(r"\s*/([^\W\d_]+)(?:[^\w\s/]*\Z|\s)")
_NAMED_COMMAND = re.compile(r"(\s*/[^\W\d_]+)\s?@(\S+)(?=\s|\Z)")


@dataclass(frozen=True, slots=True)
class DiscordIdentity:
    id: str
    name: str
    commands: frozenset[str] = field(default_factory=frozenset)


def moment(snowflake: str) -> datetime:
    return datetime.fromtimestamp(((int(snowflake) >> 22) + _EPOCH_MS) / 1000, UTC)


def snowflake(at: datetime) -> str:
    return str(max(0, int(at.timestamp() * 1000) - _EPOCH_MS) << 22)


def read(
    data: Json, bot: DiscordIdentity, chat: DiscordChat, directory: Directory, *, edit: bool = False
) -> InboundMessage | UnreadableEvent | None:
    """The message as an event; None for our own messages, notices, and updates without new text."""
    try:
        return _message(data, bot, chat, directory, edit=edit)
    except (Malformed, ValueError, OverflowError, OSError) as error:
        return unreadable(data, str(error))


def read_interaction(data: Json, chat: DiscordChat, directory: Directory) -> InboundMessage | UnreadableEvent | None:
    try:
        return _interaction(data, chat, directory)
    except (Malformed, ValueError, OverflowError, OSError) as error:
        return unreadable(data, str(error))


def unreadable(data: object, why: str) -> UnreadableEvent:
    """An event for data that cannot be read. Without an id its id is made from its content."""
    raw = json.dumps(data, ensure_ascii=True, sort_keys=True, default=str)
    number = data.get("id") if isinstance(data, Mapping) else None
    name = number if isinstance(number, str) else f"none:{hashlib.sha256(raw.encode()).hexdigest()[:16]}"
    return UnreadableEvent(f"event:{name}", CHANNEL, raw, why)


def _message(
    data: Json, bot: DiscordIdentity, chat: DiscordChat, directory: Directory, *, edit: bool
) -> InboundMessage | None:
    message_id = str(int(need(data, "id", str)))
    author = need_object(data, "author")
    if need(author, "id", str) == bot.id or (get(data, "type", int) or 0) not in _WRITTEN_TYPES:
        return None
    edited = get(data, "edited_timestamp", str)
    if edit and edited is None:
        return None  # only a link preview was added
    written = _Written(data, bot, chat, directory)
    forwarded = _forwarded(data, bot, chat, directory)
    came = tuple(attachments(data))
    if not written.text and not came and not forwarded and not written.calls:
        return None
    private, member = chat.is_private, object_of(data, "member")
    return InboundMessage(
        id=f"edit:{message_id}:{edited}" if edit else f"message:{message_id}",
        address=Address(CHANNEL, chat.id),
        kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(author, member, is_bot="webhook_id" in data, language=directory.language(chat.server)),
        text=written.text,
        sent_at=_moment(edited) if edit and edited else _sent_at(data, message_id),
        platform_id=message_id,
        attachments=(*came, *_quoted_files(data)),
        quote=forwarded or _quote(data, bot, chat, directory),
        calls_bot=private or written.calls or _replies_to_bot(data, bot),
        edit=edit,
        group_name="" if private else directory.title(chat),
        parent_chat=chat.parent,
        server=chat.server,
    )


class _Written:
    def __init__(self, data: Json, bot: DiscordIdentity, chat: DiscordChat, directory: Directory) -> None:
        content = text_of(data, "content")
        people = {
            get(person, "id", str): _name(person, object_of(person, "member"))
            for person in objects_of(data, "mentions")
        }
        own_roles, its_roles = directory.own_roles(chat.server), directory.roles_of_bot(chat.server)

        def is_bot(match: re.Match[str]) -> bool:
            return match["user"] == bot.id or match["role"] in own_roles

        def calls(match: re.Match[str]) -> bool:
            return match["user"] == bot.id or match["role"] in its_roles

        def shown(match: re.Match[str]) -> str:
            if (user := match["user"]) is not None:
                return f"@{bot.name}" if user == bot.id else f"@{people.get(user) or user}"
            if (role := match["role"]) is not None:
                return f"@{directory.role(chat.server, role) or role}"
            if (channel := match["channel"]) is not None:
                known = directory.chat(channel)
                return f"#{known.name if known else channel}"
            if (at := match["moment"]) is not None:
                return moment_in_utc(int(at))
            return f":{match['emoji']}:" if match["emoji"] else f"/{match['command']}"

        first = _MARKUP.match(content)
        rest = content
        if first is not None and is_bot(first):
            separator = _AFTER_NAME.match(content, first.end())
            rest = content[separator.end() if separator else first.end() :]
        words = _without_name(_MARKUP.sub(shown, rest), bot)
        self.text = "\n".join(filter(None, (words, _MARKUP.sub(shown, beside(data)))))
        command = _COMMAND.match(words)
        is_command = command is not None and command[1].lower() in bot.commands
        named = any(calls(match) for match in _MARKUP.finditer(content))
        mentioned = any(get(person, "id", str) == bot.id for person in objects_of(data, "mentions"))
        by_role = not its_roles.isdisjoint(strings_of(data, "mention_roles"))
        # A reply's ping is in `mentions` too, but `_replies_to_bot` decides about replies, unless Discord does not send
        # the answered message.
        knows_answered = _is_reply(data) and "referenced_message" in data
        self.calls = named or by_role or (mentioned and not knows_answered) or is_command


def _without_name(text: str, bot: DiscordIdentity) -> str:
    match = _NAMED_COMMAND.match(text)
    if match is None or match[2].casefold() != bot.name.casefold():
        return text
    return match[1] + text[match.end() :]


def _is_reply(data: Json) -> bool:
    return get(data, "type", int) == 19


def _replies_to_bot(data: Json, bot: DiscordIdentity) -> bool:
    replied = object_of(data, "referenced_message")
    author = object_of(replied, "author") if replied else None
    return _is_reply(data) and author is not None and get(author, "id", str) == bot.id


def _quote(data: Json, bot: DiscordIdentity, chat: DiscordChat, directory: Directory) -> Quote | None:
    replied = _replied(data)
    if replied is None:
        return None
    passed_on = (_Written(snapshot, bot, chat, directory).text for snapshot in snapshots(replied))
    words = (_Written(replied, bot, chat, directory).text, *passed_on, _named(replied), reactions(replied))
    text = " ".join(filter(None, words))
    author = object_of(replied, "author")
    return Quote(_name(author, None) if author else "somebody", text) if text else None


def _replied(data: Json) -> Json | None:
    return object_of(data, "referenced_message") if _is_reply(data) else None


def _quoted_files(data: Json) -> Iterator[Attachment]:
    replied = _replied(data)
    for attachment in attachments(replied) if replied else ():
        if attachment.handle:
            yield attachment.passed_on("quoted")


def _forwarded(data: Json, bot: DiscordIdentity, chat: DiscordChat, directory: Directory) -> Quote | None:
    """A forwarded message is data, never an instruction. Discord tells where it stood, not who wrote it."""
    reference = object_of(data, "message_reference")
    if reference is None or get(reference, "type", int) != _FORWARD or not any(True for _ in snapshots(data)):
        return None
    texts = [
        " ".join(filter(None, (_Written(snapshot, bot, chat, directory).text, _named(snapshot))))
        for snapshot in snapshots(data)
    ]
    place = directory.chat(text_of(reference, "channel_id"))
    return Quote(f"#{place.name}" if place and place.name else "somebody", "\n\n".join(texts), forwarded=True)


def _named(data: Json) -> str:
    return ", ".join(attachment.shown for attachment in attachments(data))


def _interaction(data: Json, chat: DiscordChat, directory: Directory) -> InboundMessage | None:
    kind = get(data, "type", int)
    inner = object_of(data, "data")
    if kind not in (SLASH, _PRESS) or inner is None:
        return None
    interaction_id = str(int(need(data, "id", str)))
    member = object_of(data, "member")
    person = need_object(member, "user") if member else need_object(data, "user")
    pressed = object_of(data, "message") if kind == _PRESS else None
    text = text_of(inner, "custom_id") if kind == _PRESS else _typed(inner)
    if not text:
        return None
    private = chat.is_private
    return InboundMessage(
        id=f"{INTERACTION}{interaction_id}",
        address=Address(CHANNEL, chat.id),
        kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(person, member, language=text_of(data, "locale")),
        text=text,
        sent_at=moment(interaction_id),
        platform_id=need(pressed, "id", str) if pressed else "",
        origin=Origin.COMMAND,
        group_name="" if private else directory.title(chat),
        parent_chat=chat.parent,
        server=chat.server,
        answer_with=answer_with(data),
    )


def answer_with(data: Json) -> str:
    """An interaction's id, type and token: what any process needs to answer it."""
    return f"{INTERACTION}{text_of(data, 'id')}:{get(data, 'type', int)}:{text_of(data, 'token')}"


def _typed(command: Json) -> str:
    values = (str(option.get("value", "")) for option in objects_of(command, "options"))
    words = clean(" ".join(value for value in values if value))
    return f"/{need(command, 'name', str)} {words}".strip()


def _sender(person: Json, member: Json | None, *, is_bot: bool = False, language: str = "") -> Sender:
    is_bot = is_bot or person.get("bot") is True
    return Sender(str(int(need(person, "id", str))), _name(person, member), is_bot, language)


def _name(person: Json, member: Json | None) -> str:
    nick = text_of(member, "nick") if member else ""
    name = nick or text_of(person, "global_name") or text_of(person, "username")
    return " ".join(name.split()) or str(person.get("id", "somebody"))


def _sent_at(data: Json, message_id: str) -> datetime:
    stamp = get(data, "timestamp", str)
    return _moment(stamp) if stamp else moment(message_id)


def _moment(stamp: str) -> datetime:
    at = datetime.fromisoformat(stamp)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
