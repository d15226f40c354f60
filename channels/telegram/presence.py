"""Typing indicators and reactions. They are optional: Telegram's errors are not raised."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from telegram import Bot
from telegram.constants import ChatAction, ReactionEmoji
from telegram.error import Forbidden, RetryAfter, TelegramError

from channels.message import Address, Refused
from channels.tasks import Pause, in_background
from channels.telegram.errors import ODD_ANSWER, redacted, seconds
from channels.telegram.outbound import number, topic

log = logging.getLogger(__name__)

TYPING_EVERY = 4.0
"""Seconds between typing indicators; Telegram shows one for 5."""
TYPING_AFTER = 0.01
"""Seconds before the first, so that the model's request goes first."""
_PRESENTATION = "\ufe0f"
"""Makes a character an emoji; Telegram's reactions omit it."""
_REACTIONS = {emoji.value.replace(_PRESENTATION, ""): emoji for emoji in ReactionEmoji}


class TelegramPresence:
    """`moved`: the new ids of migrated chats."""

    def __init__(self, bot: Bot, pause: Pause, moved: Mapping[int, int]) -> None:
        self._bot = bot
        self._pause = pause
        self._moved = moved

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        """Skips emoji that Telegram does not have as a reaction."""
        reaction = _REACTIONS.get(emoji.replace(_PRESENTATION, ""))
        if emoji and reaction is None:
            log.debug("Telegram has no reaction %r", emoji)
            return
        try:
            chat_id = number(address.chat_id, "chat")
            if chat_id in self._moved:
                return  # message ids are different in the new chat
            await self._bot.set_message_reaction(
                chat_id, number(platform_id, "message"), [reaction] if reaction else []
            )
        except (Refused, TelegramError, *ODD_ANSWER) as error:
            log.debug("reaction failed in %s: %s", address, redacted(error))

    def typing(self, address: Address) -> AbstractAsyncContextManager[None]:
        return in_background(self._keep_typing(address), f"typing in {address}", redacted)

    async def _keep_typing(self, address: Address) -> None:
        try:
            chat_id, thread_id = number(address.chat_id, "chat"), topic(address)
        except Refused:
            return  # not a chat of Telegram
        await asyncio.sleep(TYPING_AFTER)
        while True:
            delay = TYPING_EVERY
            try:
                await self._bot.send_chat_action(
                    self._moved.get(chat_id, chat_id), ChatAction.TYPING, message_thread_id=thread_id
                )
            except RetryAfter as error:
                delay = max(delay, seconds(error))
            except Forbidden:
                return
            except (TelegramError, *ODD_ANSWER) as error:
                log.debug("typing indicator failed in %s: %s", address, redacted(error))
            await self._pause(delay)
