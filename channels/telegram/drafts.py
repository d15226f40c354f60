"""Drafts of an answer in private chats (Bot API 9.3)."""

from __future__ import annotations

import asyncio
import logging

from telegram import Bot
from telegram.error import BadRequest, EndPointNotFound, InvalidToken, RetryAfter, TelegramError

from channels.message import Address, OutcomeUnknown, Refused
from channels.telegram.api import NeverSent
from channels.telegram.errors import ODD_ANSWER, redacted, refuses_drafts, send_error
from channels.telegram.outbound import Attempt, library_entities

log = logging.getLogger(__name__)

DRAFT_TIMEOUT = 5.0
"""Seconds for a draft, which is outdated by then."""
MOST_LOST = 2
"""Failed drafts in a row, after which edits are used."""
WITHOUT = 3600.0
"""Seconds without drafts or edits after the server rejected them."""


class Drafts:
    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._chats_without: set[str] = set()
        self._none_until = 0.0
        self._lost = 0

    def exist(self, address: Address) -> bool:
        private = not address.chat_id.startswith("-")
        there_are = asyncio.get_running_loop().time() >= self._none_until
        return private and there_are and address.chat_id not in self._chats_without

    async def show(self, draft_id: int, address: Address, attempt: Attempt) -> None:
        """Raises `SendError`."""
        if not self.exist(address):
            raise Refused(f"{address} has no drafts")
        try:
            await self._bot.send_message_draft(
                attempt.chat_id,
                draft_id,
                attempt.text,
                message_thread_id=attempt.thread_id,
                entities=library_entities(attempt.entities),
                api_kwargs={"can_stop": True},  # Bot API 10.3: a Stop button, reported as stopped_message_generation
                read_timeout=DRAFT_TIMEOUT,
            )
        except (InvalidToken, EndPointNotFound) as error:  # a Bot API server older than 9.3 answers 404
            self._do_without(redacted(error))
            raise Refused(f"this Bot API server has no drafts: {redacted(error)}") from None
        except ODD_ANSWER as error:
            self._was_lost(redacted(error))
            raise OutcomeUnknown(f"Telegram's answer cannot be read: {redacted(error)}") from None
        except TelegramError as error:
            if refuses_drafts(error):
                self._chats_without.add(address.chat_id)
            elif not isinstance(error, RetryAfter | BadRequest | NeverSent):
                self._was_lost(redacted(error))
            raise send_error(error) from None
        self._lost = 0

    def _was_lost(self, why: str) -> None:
        self._lost += 1
        if self._lost >= MOST_LOST:
            self._do_without(why)

    def _do_without(self, why: str) -> None:
        self._lost = 0
        self._none_until = asyncio.get_running_loop().time() + WITHOUT
        log.info("edits instead of drafts for %.0f minutes: %s", WITHOUT / 60, why)
