"""What answers a command or a press, given where its giver alone sees it; or not, and then the chat has it."""

from __future__ import annotations

import asyncio
from typing import Any

from channels.discord.errors import CALL_FAILED, ODD_ANSWER, redacted, send_error
from channels.discord.interactions import EPHEMERAL, ORIGINAL, Interactions, Waiting
from channels.discord.outbound import SUPPRESS_EMBEDS, content
from channels.discord.session import Session, Where
from channels.message import AnswerLost, NotSent, OutboundMessage, OutcomeUnknown, Refused, SendError

_MORE = "/webhooks/{webhook_id}/{webhook_token}"
_SOON = 10.0
"""Seconds of a rate limit that are waited for. What else is said in a chat waits behind the answer to a command."""


class Answers:
    """`timeout`: seconds for one try."""

    def __init__(self, interactions: Interactions, timeout: float) -> None:
        self._interactions = interactions
        self._timeout = timeout

    async def give(self, session: Session, message: OutboundMessage) -> str:
        """The id of the message that answers a command; empty where it answers none that waits, and where Discord does
        not take it any more. Raises `SendError`, after which the chat or this way is the next, never both."""
        waiting = await self._interactions.waiting(message.reply_to)
        if waiting is None or message.file is not None:
            return ""
        try:
            async with asyncio.timeout(self._timeout):
                sent = await self._sent(session, waiting, message)
            return str(sent["id"])
        except CALL_FAILED as error:
            failed = send_error(error, repeatable=not waiting.answered)
        except ODD_ANSWER as error:
            raise OutcomeUnknown(f"Discord's answer cannot be read: {redacted(error)}") from None
        self._give_up_where_hopeless(waiting, failed, message)
        return ""

    async def change(self, session: Session, message: OutboundMessage) -> bool:
        """Change the message whose button was pressed: the only way where one person alone sees it. False where
        `message` answers no press that waits, and where Discord does not take that any more."""
        waiting = await self._interactions.waiting(message.reply_to)
        if waiting is None:
            return False
        try:
            async with asyncio.timeout(self._timeout):
                await session.call("PATCH", ORIGINAL, _where(session, waiting), json=content(message))
        except CALL_FAILED as error:
            failed = send_error(error, repeatable=True)
            if not _is_closed(failed) and waiting.failed():
                raise failed from None
            return False
        return True

    @staticmethod
    async def _sent(session: Session, waiting: Waiting, message: OutboundMessage) -> Any:
        payload = content(message)
        if waiting.answered:
            payload["flags"] = SUPPRESS_EMBEDS | EPHEMERAL
            return await session.call("POST", _MORE, _where(session, waiting), json=payload)
        sent = await session.call("PATCH", ORIGINAL, _where(session, waiting), json=payload)
        waiting.answered = True
        return sent

    def _give_up_where_hopeless(self, waiting: Waiting, failed: SendError, message: OutboundMessage) -> None:
        """Raises `failed` where the answer is to be tried this way once more. Else nothing more goes this way: not
        where it is closed, nor where it failed twice or asks for a long wait."""
        if not _is_closed(failed) and waiting.failed():
            raise failed from None
        self._interactions.forget(message.reply_to)
        if isinstance(failed, AnswerLost | OutcomeUnknown):
            raise OutcomeUnknown(str(failed)) from None  # the chat gets it with the mark of what may be a repeat


def _where(session: Session, waiting: Waiting) -> Where:
    return {"webhook_id": session.application_id, "webhook_token": waiting.token}


def _is_closed(failed: SendError) -> bool:
    return isinstance(failed, Refused) or (isinstance(failed, NotSent) and failed.retry_after > _SOON)
