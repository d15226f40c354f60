"""Acknowledges and answers menu commands and button presses.

Discord waits 3 seconds for the acknowledgement and 15 minutes for the answer. Its token is a part of `answer_with`, so
that whoever answers, after a restart or in another process, does it in place of the placeholder ("is thinking"). After
a refusal the answer goes to the chat, and the placeholder is removed.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

import discord

from channels.discord.client import DiscordClient, Where
from channels.discord.errors import ALREADY_ACKNOWLEDGED, CALL_FAILED, ODD_ANSWER, code, redacted, send_error
from channels.discord.inbound import INTERACTION, SLASH, answer_with
from channels.discord.outbound import SUPPRESS_EMBEDS, content
from channels.json_fields import Json, get
from channels.message import AnswerLost, NotSent, OutboundMessage, OutcomeUnknown, Refused, SendError
from channels.tasks import Pause

log = logging.getLogger(__name__)

EPHEMERAL = 1 << 6
"""Visible to one person only."""
_LOADING = 1 << 7
"""A placeholder."""
_DEFERRED_ANSWER, _DEFERRED_UPDATE = 5, 6
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
    id: str
    token: str
    is_slash: bool
    until: float
    told_by: object
    """The connection that will acknowledge it; None for one that another process heard."""
    acknowledged: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    is_known: bool = True
    """False as long as another process may have answered."""
    answered: bool = False
    """A first answer exists (always for a press), so more are follow-up messages."""
    given_up: bool = False
    """Answers go to the chat."""
    failures: int = 0

    def failed(self) -> bool:
        """Counts a failure; True if another try is allowed."""
        self.failures += 1
        return self.failures < _MOST_FAILURES

    def settle(self, taken: bool) -> None:
        if not self.acknowledged.done():
            self.acknowledged.set_result(taken)


class Interactions:
    def __init__(self, timeout: float, *, are_shared: bool) -> None:
        """`timeout`: seconds for each of two tries. `are_shared`: other processes may answer what this one hears."""
        self._timeout = timeout
        self._are_shared = are_shared
        self._waiting: dict[str, PendingInteraction] = {}
        self._placeholders: asyncio.Queue[PendingInteraction] = asyncio.Queue()

    def note(self, data: Json, told_by: object) -> None:
        self._keep(answer_with(data), told_by)

    def _keep(self, key: str, told_by: object) -> PendingInteraction | None:
        id, kind, token = [*key.removeprefix(INTERACTION).split(":", 2), "", ""][:3]
        if not key.startswith(INTERACTION) or not id or not token:
            return None
        now = asyncio.get_running_loop().time()
        self._waiting = {key: one for key, one in self._waiting.items() if one.until > now}
        is_slash = kind == str(SLASH)
        is_known = told_by is not None and not self._are_shared
        kept = PendingInteraction(id, token, is_slash, now + _LIFE, told_by, is_known=is_known, answered=not is_slash)
        self._waiting[key] = kept
        return kept

    async def acknowledge(self, client: DiscordClient, data: Json) -> None:
        waiting = self._waiting.get(answer_with(data))
        if waiting is None:
            return
        taken = False
        try:
            taken = await self._acknowledge(client, waiting)
        finally:
            waiting.settle(taken)

    async def _acknowledge(self, client: DiscordClient, waiting: PendingInteraction) -> bool:
        answer: dict[str, object] = {"type": _DEFERRED_ANSWER if waiting.is_slash else _DEFERRED_UPDATE}
        if waiting.is_slash:
            answer["data"] = {"flags": EPHEMERAL}
        where = {"webhook_id": waiting.id, "webhook_token": waiting.token}
        return await self._send_acknowledgement(client, where, answer)

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

    async def waiting(self, client: DiscordClient, reply_to: str) -> PendingInteraction | None:
        """What a message answers, if it still waits. Raises `NotSent` where Discord did not say whether it does."""
        found = self._waiting.get(reply_to) or self._keep(reply_to, None)
        if found is None or found.given_up or found.until < asyncio.get_running_loop().time():
            return None
        if found.told_by is None and not found.is_known:
            await self._acknowledge(client, found)  # the process that heard it may not have come to that
        elif found.told_by is not None and not await asyncio.shield(found.acknowledged):
            return None
        if not found.is_known:
            await self._look_up(client, found)
        return None if found.given_up else found

    async def _look_up(self, client: DiscordClient, found: PendingInteraction) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                original: object = await client.call("GET", ORIGINAL, _where(client, found))
        except CALL_FAILED as error:
            failed = send_error(error, repeatable=True)
            if not _is_closed(failed) and found.failed():
                raise NotSent(str(failed)) from None
            found.given_up = True
        else:
            flags = get(original, "flags", int) if isinstance(original, dict) else None
            found.answered = not (flags or 0) & _LOADING
            found.is_known = True

    def forget(self, waiting: PendingInteraction) -> None:
        """Sends its answers to the chat from now on."""
        waiting.given_up = True
        if not waiting.answered:
            self._placeholders.put_nowait(waiting)

    async def tidy(self, client: DiscordClient, pause: Pause) -> None:
        """Removes placeholders whose answers went to the chat."""
        loop = asyncio.get_running_loop()
        while True:
            one = await self._placeholders.get()
            try:
                while one.until > loop.time() and not await self._remove_placeholder(client, _where(client, one)):
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
            if one.told_by is told_by:
                one.settle(False)


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
        waiting = await self._interactions.waiting(client, message.reply_to)
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
        self._retry_or_give_up(waiting, failed)
        return ""

    async def change(self, client: DiscordClient, message: OutboundMessage) -> bool:
        """The only way to change what one person alone sees. False if no press waits or Discord refuses."""
        waiting = await self._interactions.waiting(client, message.reply_to)
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

    def _retry_or_give_up(self, waiting: PendingInteraction, failed: SendError) -> None:
        """Raises `failed` for another try; else answers go to the chat."""
        if not _is_closed(failed) and waiting.failed():
            raise failed from None
        self._interactions.forget(waiting)
        if isinstance(failed, AnswerLost | OutcomeUnknown):
            raise OutcomeUnknown(str(failed)) from None  # the chat gets it, marked as a possible repeat


def _where(client: DiscordClient, waiting: PendingInteraction) -> Where:
    return {"webhook_id": client.application_id, "webhook_token": waiting.token}


def _is_closed(failed: SendError) -> bool:
    return isinstance(failed, Refused) or (isinstance(failed, NotSent) and failed.retry_after > _SOON)
