"""Translates raw updates of the Bot API into events. Pure.

An update without a required field becomes an `UnreadableEvent`, so that it does not block the next.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from channels.json_fields import Json, Malformed, get, need, need_object, object_of, objects_of, text_of
from channels.message import (
    Address,
    Attachment,
    ChatKind,
    InboundMessage,
    Migrated,
    Origin,
    Quote,
    Sender,
    UnreadableEvent,
)
from channels.telegram.media import attachments, named
from channels.telegram.rich import rich_text
from channels.telegram.written import TextMark, link, marked, marked_up, name_of, worded
from channels.text import utf16_len

CHANNEL = "telegram"

ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation")
"""Business and guest messages are not requested: they are not for this assistant."""

GENERAL_TOPIC = 1
"""A forum's first topic. It is the chat itself: Telegram refuses sends that name it."""

CUT_BY_CLIENT = 4000
"""A text this long (UTF-16 units) was probably cut by the client, which sends at most 4096 and cuts at white space."""

_AFTER_NAME = re.compile(r"[\s,:;]+")
_GROUPS = ("group", "supergroup")
"""Types of chats that can become others."""


@dataclass(frozen=True, slots=True)
class TelegramIdentity:
    id: int
    username: str


def read(update: Json, bot: TelegramIdentity) -> InboundMessage | Migrated | UnreadableEvent | None:
    """The update as an event; None for service messages, our own, those of channels, and those without a person."""
    try:
        event_id = f"update:{need(update, 'update_id', int)}"
        for kind in ("message", "edited_message"):
            if message := object_of(update, kind):
                return _message(message, bot, event_id, edit=kind == "edited_message")
        if press := object_of(update, "callback_query"):
            return _press(press, event_id)
        if stop := object_of(update, "stopped_message_generation"):
            return _stop(stop, event_id)
    except (Malformed, ValueError, OverflowError, OSError, RecursionError) as error:
        return unreadable(update, str(error))
    return None


def unreadable(update: object, why: str) -> UnreadableEvent:
    """An event for an update that cannot be read. Without an id its id is made from its content."""
    raw = json.dumps(update, ensure_ascii=True, sort_keys=True)
    number = update.get("update_id") if isinstance(update, Mapping) else None
    name = number if isinstance(number, int) else f"none:{hashlib.sha256(raw.encode()).hexdigest()[:16]}"
    return UnreadableEvent(f"update:{name}", CHANNEL, raw, why)


def _message(message: Json, bot: TelegramIdentity, event_id: str, *, edit: bool) -> InboundMessage | Migrated | None:
    chat = need_object(message, "chat")
    chat_id = need(chat, "id", int)
    if chat.get("type") in _GROUPS and (moved := _migration(message, chat_id)):
        return moved
    person = object_of(message, "from")
    if person is None or _has_no_person(message, chat) or need(person, "id", int) == bot.id:
        return None
    written = _Written.of(message)
    own = next(attachments(message), None)
    if not written.text and own is None:
        return None  # a service message
    if edit and not written.text and object_of(message, "location"):
        return None  # a live location moves every few seconds
    kind = ChatKind.PRIVATE if chat.get("type") == "private" else ChatKind.GROUP
    forwarded = _forward(message, written)
    text = "" if forwarded else _shown(message, written.text_for(bot))
    return InboundMessage(
        id=event_id,
        address=Address(CHANNEL, str(chat_id), _topic(message)),
        kind=kind,
        sender=_sender(person),
        text=text,
        sent_at=_moment(message, "edit_date" if edit and "edit_date" in message else "date"),
        platform_id=str(need(message, "message_id", int)),
        attachments=tuple(_all_attachments(message)),
        quote=forwarded or _quote(message),
        calls_bot=kind is ChatKind.PRIVATE or written.calls(bot) or _replies_to_bot(message, bot, written),
        edit=edit,
        continues=not edit and utf16_len(written.text) >= CUT_BY_CLIENT,
        album="" if edit else text_of(message, "media_group_id"),
        group_name="" if kind is ChatKind.PRIVATE else text_of(chat, "title"),
    )


def _migration(message: Json, chat_id: int) -> Migrated | None:
    if new := get(message, "migrate_to_chat_id", int):
        return migrated(chat_id, new)
    if old := get(message, "migrate_from_chat_id", int):
        return migrated(old, chat_id)
    return None


def migrated(old: int, new: int) -> Migrated:
    return Migrated(f"migrated:{old}:{new}", Address(CHANNEL, str(old)), Address(CHANNEL, str(new)))


def _has_no_person(message: Json, chat: Json) -> bool:
    """True for channel posts, anonymous administrators, business and guest messages."""
    foreign = ("sender_chat", "business_connection_id", "guest_query_id", "sender_business_bot")
    return chat.get("type") == "channel" or any(field in message for field in foreign)


def _press(press: Json, event_id: str) -> InboundMessage | None:
    message = object_of(press, "message")
    data = text_of(press, "data")
    if message is None or not data:
        return None
    chat = need_object(message, "chat")
    private = chat.get("type") == "private"
    return InboundMessage(
        id=event_id,
        address=Address(CHANNEL, str(need(chat, "id", int)), _topic(message)),
        kind=ChatKind.PRIVATE if private else ChatKind.GROUP,
        sender=_sender(need_object(press, "from")),
        text=data,
        sent_at=datetime.now(UTC),  # a press carries no time
        platform_id=str(need(message, "message_id", int)),
        origin=Origin.COMMAND,
        group_name="" if private else text_of(chat, "title"),
    )


def _stop(stop: Json, event_id: str) -> InboundMessage | None:
    """The Stop button of a draft. Drafts exist in private chats only, whose id is the person's."""
    chat = need_object(stop, "chat")
    chat_id = need(chat, "id", int)
    if chat_id <= 0:
        return None
    thread = get(stop, "message_thread_id", int)
    return InboundMessage(
        id=event_id,
        address=Address(CHANNEL, str(chat_id), str(thread) if thread and thread != GENERAL_TOPIC else None),
        kind=ChatKind.PRIVATE,
        sender=_sender(chat),
        text="/stop",
        sent_at=datetime.now(UTC),
        origin=Origin.COMMAND,
    )


@dataclass(frozen=True, slots=True)
class _Written:
    text: str
    marks: tuple[TextMark, ...]

    @classmethod
    def of(cls, message: Json) -> _Written:
        for field, entities in (("text", "entities"), ("caption", "caption_entities")):
            if get(message, field, str):
                return cls(*marked(message, field, entities))
        return cls(rich_text(message.get("rich_message")), ())

    def calls(self, bot: TelegramIdentity) -> bool:
        """True if the bot is called, by entities: `@mybot` is not inside `@mybot2`."""
        return any(self._is_mention(mark, bot) or self._is_command(mark, bot) for mark in self.marks)

    def is_for_another_bot(self, bot: TelegramIdentity) -> bool:
        return any(
            mark.type == "bot_command" and mark.start == 0 and not self._is_command(mark, bot) for mark in self.marks
        )

    @property
    def markdown(self) -> str:
        return marked_up(self.text, self.marks)

    def text_for(self, bot: TelegramIdentity) -> str:
        """The text without the bot's name: `@bot hello` is `hello`, `/new@bot now` is `/new now`."""
        for first in self.marks:
            if first.start == 0 and self._is_mention(first, bot):
                separator = _AFTER_NAME.match(self.text, first.end)
                return marked_up(self.text, self.marks, separator.end() if separator else first.end)
            if first.start == 0 and self._is_command(first, bot):
                return self._covered(first).partition("@")[0] + marked_up(self.text, self.marks, first.end)
        return self.markdown

    def _covered(self, mark: TextMark) -> str:
        return self.text[mark.start : mark.end]

    def _is_mention(self, mark: TextMark, bot: TelegramIdentity) -> bool:
        if mark.type == "text_mention":
            return mark.user_id == bot.id
        return mark.type == "mention" and self._covered(mark).casefold() == f"@{bot.username}".casefold()

    def _is_command(self, mark: TextMark, bot: TelegramIdentity) -> bool:
        if mark.type != "bot_command":
            return False
        _, at, name = self._covered(mark).partition("@")
        return name.casefold() == bot.username.casefold() if at else mark.start == 0


def _beside(message: Json, text: str) -> Iterator[str]:
    """Addresses on the screen that the text does not name: of the preview, and of buttons."""
    options = object_of(message, "link_preview_options")
    url = text_of(options, "url") if options else ""
    if url and url not in text:
        yield url
    keyboard = object_of(message, "reply_markup")
    rows = keyboard.get("inline_keyboard") if keyboard else None
    for button in (button for row in rows if isinstance(row, list) for button in row) if isinstance(rows, list) else ():
        if isinstance(button, Mapping) and (address := text_of(button, "url")):
            yield link(text_of(button, "text"), address)


def _shown(message: Json, text: str) -> str:
    """The text with the addresses that are shown beside it."""
    return "\n".join(filter(None, (text, *_beside(message, text))))


def _replies_to_bot(message: Json, bot: TelegramIdentity, written: _Written) -> bool:
    replied = _replied(message)
    if replied is None or written.is_for_another_bot(bot):
        return False
    author = object_of(replied, "from")
    return author is not None and author.get("id") == bot.id


def _replied(message: Json) -> Json | None:
    """The answered message, but not the message that opened the topic, to which all in it reply."""
    replied = object_of(message, "reply_to_message")
    if replied is None or "forum_topic_created" in replied:
        return None
    opened_topic = message.get("is_topic_message") is True and replied.get("message_id") == message.get(
        "message_thread_id"
    )
    return None if opened_topic else replied


def _quote(message: Json) -> Quote | None:
    if story := object_of(message, "reply_to_story"):
        return Quote(name_of(object_of(story, "chat") or {}), named({"story": story}))
    quoted = _quoted(message)
    if quoted is None:
        return None
    chosen = object_of(message, "quote")
    part = worded(chosen, "text", "entities") if chosen else ""
    words = part or _shown(quoted, _Written.of(quoted).markdown)
    text = " ".join(filter(None, (words, named(quoted), _chosen_line(message, quoted))))
    return Quote(_author(quoted), text) if text else None


def _quoted(message: Json) -> Json | None:
    replied = _replied(message)
    return replied if replied is not None else object_of(message, "external_reply")


def _chosen_line(message: Json, quoted: Json) -> str:
    """The task of a checklist, or the option of a poll, to which a message replies."""
    for field, thing, lines, name in (
        ("reply_to_checklist_task_id", "checklist", "tasks", "id"),
        ("reply_to_poll_option_id", "poll", "options", "persistent_id"),
    ):
        for line in objects_of(object_of(quoted, thing) or {}, lines):
            if field in message and line.get(name) == message[field]:
                return f"[about: {worded(line, 'text', 'text_entities')}]"
    return ""


def _author(message: Json) -> str:
    for field in ("from", "sender_chat"):
        if who := object_of(message, field):
            return name_of(who)
    return _origin_name(object_of(message, "origin") or object_of(message, "forward_origin"))


def _forward(message: Json, written: _Written) -> Quote | None:
    """A forwarded message is data, never an instruction."""
    origin = object_of(message, "forward_origin")
    if origin is None:
        return None
    text = " ".join(filter(None, (_shown(message, written.markdown), named(message))))
    return Quote(_origin_name(origin), text, forwarded=True)


def _all_attachments(message: Json) -> Iterator[Attachment]:
    forwarded = object_of(message, "forward_origin") is not None
    for attachment in attachments(message):
        yield attachment.passed_on("forwarded") if forwarded else attachment
    quoted = _quoted(message)
    for attachment in attachments(quoted) if quoted is not None else ():
        if attachment.handle:
            yield attachment.passed_on("quoted")


def _origin_name(origin: Json | None) -> str:
    if origin is None:
        return "somebody"
    if name := text_of(origin, "sender_user_name"):
        return name
    for field in ("sender_user", "sender_chat", "chat"):
        if who := object_of(origin, field):
            signature = " ".join(text_of(origin, "author_signature").split())
            return f"{name_of(who)} ({signature})" if signature else name_of(who)
    return "somebody"


def _topic(message: Json) -> str | None:
    """The topic, only if Telegram marks the message as inside a topic: replies have a thread id too."""
    thread = get(message, "message_thread_id", int)
    if thread is None or thread == GENERAL_TOPIC or message.get("is_topic_message") is not True:
        return None
    return str(thread)


def _sender(person: Json) -> Sender:
    is_bot, language = person.get("is_bot") is True, text_of(person, "language_code")
    return Sender(str(need(person, "id", int)), name_of(person), is_bot, language)


def _moment(message: Json, field: str) -> datetime:
    return datetime.fromtimestamp(need(message, field, int), UTC)
