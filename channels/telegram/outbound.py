"""Our messages in the library's terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, ReplyParameters

from channels.message import Address, Button, OutboundMessage, Refused
from channels.telegram.files import Upload
from channels.telegram.format import Entity, formatted, plain
from channels.telegram.inbound import GENERAL_TOPIC

MAX_BUTTON_DATA = 64
"""Bytes of a button's callback_data (Bot API, InlineKeyboardButton)."""


@dataclass(frozen=True, slots=True)
class Attempt:
    chat_id: int
    thread_id: int | None
    text: str
    entities: tuple[Entity, ...]
    plain: bool = False
    moved: bool = False
    upload: Upload | None = None

    @classmethod
    def of(cls, message: OutboundMessage) -> Attempt:
        """Raises `Refused` for an address that is not Telegram's."""
        drawn = formatted(message.text)
        thread_id = topic(message.address)
        return cls(
            number(message.address.chat_id, "chat"),
            None if thread_id == GENERAL_TOPIC else thread_id,
            drawn.text,
            drawn.entities,
        )

    def as_plain(self, markdown: str) -> Attempt:
        """The attempt as plain text, without entities: servers may see markup in plain text."""
        return replace(self, text=plain(markdown), entities=(), plain=True)


def topic(address: Address) -> int | None:
    return number(address.thread_id, "topic") if address.thread_id is not None else None


def number(text: str, what: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refused(f"{text!r} is not a {what} of Telegram: its ids are numbers") from None


def library_entities(entities: Sequence[Entity]) -> list[MessageEntity]:
    return [
        MessageEntity(
            str(entity.type), entity.offset, entity.length, url=entity.url or None, language=entity.language or None
        )
        for entity in entities
    ]


def reply_to(platform_id: str) -> ReplyParameters | None:
    if not platform_id:
        return None
    return ReplyParameters(number(platform_id, "message"), allow_sending_without_reply=True)


def keyboard(rows: Sequence[Sequence[Button]]) -> InlineKeyboardMarkup | None:
    """Raises `Refused` for a button that Telegram would refuse."""
    if not rows:
        return None
    for button in (button for row in rows for button in row):
        size = len(button.data.encode())
        if not 1 <= size <= MAX_BUTTON_DATA:
            raise Refused(f"the button {button.label!r} carries {size} bytes; Telegram takes 1 to {MAX_BUTTON_DATA}")
    return InlineKeyboardMarkup(
        [[InlineKeyboardButton(button.label, callback_data=button.data) for button in row] for row in rows]
    )
