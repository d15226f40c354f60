"""Typing indicators and reactions. They are optional: Discord's errors are not raised."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager

import discord

from channels.discord.client import DiscordClient
from channels.discord.errors import CALL_FAILED, redacted
from channels.message import Address
from channels.tasks import Pause, in_background

log = logging.getLogger(__name__)

TYPING_EVERY = 8.0
"""Seconds between typing indicators; Discord shows one for 10."""
TYPING_AFTER = 0.01
"""Seconds before the first, so that the model's request goes first."""

_REACTION = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"
_TYPING = "/channels/{channel_id}/typing"
_MOST_REACTIONS = 500
"""Remembered reactions: Discord removes only those that are named."""


class DiscordPresence:
    """`private_chats` by person."""

    def __init__(
        self, client: Callable[[], DiscordClient | None], pause: Pause, private_chats: Mapping[str, str]
    ) -> None:
        self._client = client
        self._pause = pause
        self._private_chats = private_chats
        self._reactions: dict[tuple[str, str], str] = {}

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        key = (address.chat_id, platform_id)
        before, client = self._reactions.get(key, ""), self._client()
        if before == emoji or client is None:
            return
        where = {"channel_id": address.chat_id, "message_id": platform_id}
        try:
            if emoji:
                await client.call("PUT", _REACTION, {**where, "emoji": emoji})
            if before:
                await client.call("DELETE", _REACTION, {**where, "emoji": before})
        except CALL_FAILED as error:
            log.debug("reaction failed in %s: %s", address, redacted(error))
            return
        self._reactions.pop(key, None)
        if emoji:
            self._reactions[key] = emoji
            if len(self._reactions) > _MOST_REACTIONS:
                del self._reactions[next(iter(self._reactions))]

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]:
        return in_background(self._keep_typing(address), f"typing in {address}", redacted)

    async def _keep_typing(self, address: Address) -> None:
        chat = self._private_chats.get(address.chat_id, address.chat_id)
        await asyncio.sleep(TYPING_AFTER)
        while True:
            try:
                if (client := self._client()) is not None:
                    await client.call("POST", _TYPING, {"channel_id": chat})
            except discord.Forbidden:
                return
            except CALL_FAILED as error:
                log.debug("typing indicator failed in %s: %s", address, redacted(error))
            await self._pause(TYPING_EVERY)
