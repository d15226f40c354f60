"""Our messages as Discord's payloads; and lost sends, whose repeat Discord recognizes for some minutes."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence

from agent.languages.sentences import Sentence
from channels.discord.format import rendered
from channels.message import AnswerLost, Button, OutboundMessage, OutcomeUnknown, Refused, SendError
from channels.text import clean


class UnconfirmedSends:
    def __init__(self, lasts: float) -> None:
        self._lasts = lasts
        self._since: dict[str, float] = {}

    def check(self, key: str) -> None:
        """Raises `OutcomeUnknown` once if Discord may have forgotten the key."""
        since = self._since.get(key)
        if since is not None and asyncio.get_running_loop().time() - since > self._lasts:
            del self._since[key]
            raise OutcomeUnknown(Sentence("Discord's answer was lost too long ago to ask again"))

    def after(self, key: str, error: SendError) -> None:
        if isinstance(error, AnswerLost):
            self._since.setdefault(key, asyncio.get_running_loop().time())
        elif isinstance(error, Refused):
            self._since.pop(key, None)

    def settled(self, key: str) -> None:
        self._since.pop(key, None)


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
                {"type": _BUTTON, "style": _SECONDARY, "label": button.label[:_LONGEST_LABEL], "custom_id": button.data}
                for button in row
            ],
        }
        for row in rows
    ]


def target_chat(message: OutboundMessage) -> str:
    """Raises `Refused` for an address that is not Discord's."""
    chat = message.address.thread_id or message.address.chat_id
    if not (chat.isascii() and chat.isdecimal()):
        raise Refused(f"{chat!r} is not a Discord chat: ids are numbers there")
    return chat
