"""Translates our messages into Discord's payloads. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from channels.discord.format import rendered
from channels.message import Button, OutboundMessage, Refused
from channels.text import clean

SUPPRESS_EMBEDS = 1 << 2
NO_MENTIONS = {"parse": [], "replied_user": False}
"""No mention in a text notifies anyone."""

_ACTION_ROW, _BUTTON, _SECONDARY = 1, 2, 2
_LONGEST_LABEL = 80


def nonce(key: str) -> str:
    return hashlib.blake2b(key.encode(), digest_size=12).hexdigest()


def content(message: OutboundMessage, *, is_plain: bool = False) -> dict[str, object]:
    text = clean(message.text) if is_plain else rendered(message.text) if message.text else ""
    return {
        "content": text,
        "allowed_mentions": NO_MENTIONS,
        "flags": SUPPRESS_EMBEDS,
        "components": components(message.buttons),
    }


def sending(message: OutboundMessage, *, reply: bool = True, is_plain: bool = False) -> dict[str, object]:
    payload = content(message, is_plain=is_plain)
    if message.key:
        payload |= {"nonce": nonce(message.key), "enforce_nonce": True}
    if reply and message.reply_to.isdecimal():
        payload["message_reference"] = {"message_id": message.reply_to, "fail_if_not_exists": False}
    return payload


def form(payload: dict[str, object], name: str, file: object) -> list[dict[str, object]]:
    described = payload | {"attachments": [{"id": 0, "filename": name}]}
    return [
        {"name": "payload_json", "value": json.dumps(described)},
        {"name": "files[0]", "value": file, "filename": name, "content_type": "application/octet-stream"},
    ]


def components(rows: Sequence[Sequence[Button]]) -> list[dict[str, object]]:
    return [
        {
            "type": _ACTION_ROW,
            "components": [
                {"type": _BUTTON, "style": _SECONDARY, "label": one.label[:_LONGEST_LABEL], "custom_id": one.data}
                for one in row
            ],
        }
        for row in rows
    ]


def target_chat(message: OutboundMessage) -> str:
    """Raises `Refused` for an address that is not Discord's."""
    chat = message.address.thread_id or message.address.chat_id
    if not (chat.isascii() and chat.isdecimal()):
        raise Refused(f"{chat!r} is no chat of Discord: its ids are numbers")
    return chat
