"""Acknowledges and answers menu commands and button presses.

Discord waits 3 seconds for the acknowledgement and 15 minutes for the answer. Tokens are in memory only: after a
restart, or a refusal, the answer goes to the chat, and its placeholder ("is thinking") is removed.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

import discord

from channels.discord.client import DiscordClient, Where
from channels.discord.errors import ALREADY_ACKNOWLEDGED, CALL_FAILED, ODD_ANSWER, code, redacted, send_error
from channels.discord.inbound import INTERACTION
from channels.discord.outbound import SUPPRESS_EMBEDS, content
from channels.json_fields import Json, get
from channels.message import AnswerLost, NotSent, OutboundMessage, OutcomeUnknown, Refused, SendError
from channels.tasks import Pause

log = logging.getLogger(__name__)

EPHEMERAL = 1 << 6
"""Visible to one person only."""
_DEFERRED_ANSWER, _DEFERRED_UPDATE = 5, 6
_SLASH = 2
_CALLBACK = "/interactions/{webhook_id}/{webhook_token}/callback"
ORIGINAL = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
"""The first answer to a command, or the message with the pressed button."""
_TRY_AGAIN = 5.0
"""Seconds between tries to remove a placeholder."""
_LIFE = 14 * 60.0
"""Seconds; a minute less than Discord's limit."""
_MOST_FAILURES = 2
"""Refused answers, after which answers go to the chat."""


@dataclass(slots=True)
class PendingInteraction:
    token: str
    until: float
    told_by: object
    """The connection that will acknowledge it."""
    acknowledged: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    answered: bool = False
    """A first answer exists (always for a press), so more are follow-up messages."""
    failures: int = 0

    def failed(self) -> bool:
        """Counts a failure; True if another try is allowed."""
        self.failures += 1
        return self.failures < _MOST_FAILURES


class Interactions:
    def __init__(self, timeout: float) -> None:
        """`timeout`: seconds for each of two tries."""
        self._timeout = timeout
        self._waiting: dict[str, PendingInteraction] = {}
        self._placeholders: asyncio.Queue[PendingInteraction] = asyncio.Queue()

    def note(self, data: Json, told_by: object) -> None:
        now = asyncio.get_running_loop().time()
        self._waiting = {key: one for key, one in self._waiting.items() if one.until > now}
        key, token = get(data, "id", str), get(data, "token", str)
        if key and token:
            is_slash = get(data, "type", int) == _SLASH
            self._waiting[INTERACTION + key] = PendingInteraction(token, now + _LIFE, told_by, answered=not is_slash)

    async def acknowledge(self, client: DiscordClient, data: Json) -> None:
        key, token = get(data, "id", str) or "", get(data, "token", str) or ""
        is_slash = get(data, "type", int) == _SLASH
        answer: dict[str, object] = {"type": _DEFERRED_ANSWER if is_slash else _DEFERRED_UPDATE}
        if is_slash:
            answer["data"] = {"flags": EPHEMERAL}
        waiting = self._waiting.get(INTERACTION + key)
        taken = False
        try:
            taken = await self._send_acknowledgement(client, {"webhook_id": key, "webhook_token": token}, answer)
        finally:
            if waiting is not None and not waiting.acknowledged.done():
                waiting.acknowledged.set_result(taken)

    async def _send_acknowledgement(self, client: DiscordClient, where: Where, answer: object) -> bool:
        """Acknowledges, once more where the answer was lost."""
        failure: Exception | None = None
        for _ in range(2):
            try:
                async with asyncio.timeout(self._timeout):
                    await client.call("POST", _CALLBACK, where, json=answer)
                return True
            except CALL_FAILED as error:
                failure = error
                if code(error) == ALREADY_ACKNOWLEDGED:
                    return True
                if isinstance(error, discord.DiscordException):
                    break
        assert failure is not None
        log.warning("acknowledging an interaction failed: %s", redacted(failure))
        return False

    async def waiting(self, reply_to: str) -> PendingInteraction | None:
        """What a message answers, if it still waits."""
        found = self._waiting.get(reply_to)
        if found is None or found.until < asyncio.get_running_loop().time():
            return None
        return found if await asyncio.shield(found.acknowledged) else None

    def forget(self, reply_to: str) -> None:
        """Sends its answers to the chat from now on."""
        forgotten = self._waiting.pop(reply_to, None)
        if forgotten is not None and not forgotten.answered:
            self._placeholders.put_nowait(forgotten)

    async def tidy(self, client: DiscordClient, pause: Pause) -> None:
        """Removes placeholders whose answers went to the chat."""
        loop = asyncio.get_running_loop()
        while True:
            one = await self._placeholders.get()
            where = {"webhook_id": client.application_id, "webhook_token": one.token}
            try:
                while one.until > loop.time() and not await self._remove_placeholder(client, where):
                    await pause(_TRY_AGAIN)
            except BaseException:
                self._placeholders.put_nowait(one)  # for the next connection
                raise

    @staticmethod
    async def _remove_placeholder(client: DiscordClient, where: Where) -> bool:
        try:
            await client.call("DELETE", ORIGINAL, where)
        except discord.HTTPException as error:
            return error.status < 500 and error.status != 429
        except CALL_FAILED:
            return False
        return True

    def give_up(self, told_by: object) -> None:
        """Called at the end of a connection."""
        for one in self._waiting.values():
            if one.told_by is told_by and not one.acknowledged.done():
                one.acknowledged.set_result(False)


_MORE = "/webhooks/{webhook_id}/{webhook_token}"
_SOON = 10.0
"""Longest rate limit in seconds to wait for: later messages in the chat wait for the answer."""


class InteractionAnswers:
    def __init__(self, interactions: Interactions, timeout: float) -> None:
        self._interactions = interactions
        self._timeout = timeout

    async def give(self, client: DiscordClient, message: OutboundMessage) -> str:
        """The message id, empty if no interaction waits or Discord refuses. Raises `SendError`, after which the next
        try goes to the chat or here, never both."""
        waiting = await self._interactions.waiting(message.reply_to)
        if waiting is None or message.file is not None:
            return ""
        try:
            async with asyncio.timeout(self._timeout):
                sent = await self._send(client, waiting, message)
            return str(sent["id"])
        except CALL_FAILED as error:
            failed = send_error(error, repeatable=not waiting.answered)
        except ODD_ANSWER as error:
            raise OutcomeUnknown(f"Discord's answer cannot be read: {redacted(error)}") from None
        self._retry_or_give_up(waiting, failed, message)
        return ""

    async def change(self, client: DiscordClient, message: OutboundMessage) -> bool:
        """The only way to change what one person alone sees. False if no press waits or Discord refuses."""
        waiting = await self._interactions.waiting(message.reply_to)
        if waiting is None:
            return False
        try:
            async with asyncio.timeout(self._timeout):
                await client.call("PATCH", ORIGINAL, _where(client, waiting), json=content(message))
        except CALL_FAILED as error:
            failed = send_error(error, repeatable=True)
            if not _is_closed(failed) and waiting.failed():
                raise failed from None
            return False
        return True

    @staticmethod
    async def _send(client: DiscordClient, waiting: PendingInteraction, message: OutboundMessage) -> Any:
        payload = content(message)
        if waiting.answered:
            payload["flags"] = SUPPRESS_EMBEDS | EPHEMERAL
            return await client.call("POST", _MORE, _where(client, waiting), json=payload)
        sent = await client.call("PATCH", ORIGINAL, _where(client, waiting), json=payload)
        waiting.answered = True
        return sent

    def _retry_or_give_up(self, waiting: PendingInteraction, failed: SendError, message: OutboundMessage) -> None:
        """Raises `failed` for another try; else answers go to the chat."""
        if not _is_closed(failed) and waiting.failed():
            raise failed from None
        self._interactions.forget(message.reply_to)
        if isinstance(failed, AnswerLost | OutcomeUnknown):
            raise OutcomeUnknown(str(failed)) from None  # the chat gets it, marked as a possible repeat


def _where(client: DiscordClient, waiting: PendingInteraction) -> Where:
    return {"webhook_id": client.application_id, "webhook_token": waiting.token}


def _is_closed(failed: SendError) -> bool:
    return isinstance(failed, Refused) or (isinstance(failed, NotSent) and failed.retry_after > _SOON)
