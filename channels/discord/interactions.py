"""Acknowledges and answers menu commands and button presses.

Discord waits 3 seconds for the acknowledgement and 15 minutes for the answer, which only one person sees. The token is
a part of `answer_with`, so that the answer replaces the placeholder ("is thinking") also after a restart, or from
another process. Passing failures are retried as long as the token is valid. Afterwards, or if Discord does not know the
token, the answer goes to the chat.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import discord

from channels.discord.client import DiscordClient, Where
from channels.discord.errors import (
    ALREADY_ACKNOWLEDGED,
    CALL_FAILED,
    INVALID_TOKEN,
    ODD_ANSWER,
    UNKNOWN_MESSAGE,
    code,
    is_about_text,
    redacted,
    send_error,
)
from channels.discord.inbound import INTERACTION, SLASH, answer_with, moment
from channels.discord.outbound import SUPPRESS_EMBEDS, content
from channels.json_fields import Json, get
from channels.message import NotSent, OutboundMessage, OutcomeUnknown, Refused, SendError

log = logging.getLogger(__name__)

EPHEMERAL = 1 << 6
"""Visible to one person only."""
_LOADING = 1 << 7
"""A placeholder."""
_DEFERRED_ANSWER, _DEFERRED_UPDATE = 5, 6
_CALLBACK = "/interactions/{webhook_id}/{webhook_token}/callback"
ORIGINAL = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
"""The first answer to a command, or the message with the pressed button."""
_LIFE = 14 * 60.0
"""Seconds; a minute less than Discord's limit."""
_MOST_FAILURES = 2
"""Failed changes of a message with a button, after which it is changed like any other."""


@dataclass(slots=True)
class PendingInteraction:
    id: str
    token: str
    is_slash: bool
    until: float
    told_by: object
    """The connection that will acknowledge it; None if another process heard it, or the connection failed to."""
    acknowledged: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    is_known: bool = True
    """False until it is known whether Discord has our acknowledgement, or an answer."""
    answered: bool = False
    """A first answer exists (always for a press), so more are follow-up messages."""
    given_up: bool = False
    """Discord does not know it: answers go to the chat."""
    failures: int = 0

    def failed(self) -> bool:
        """Counts a failed change; True if another try is allowed."""
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

    def note(self, data: Json, told_by: object) -> None:
        self._keep(answer_with(data), told_by)

    def _keep(self, key: str, told_by: object) -> PendingInteraction | None:
        id, kind, token = [*key.removeprefix(INTERACTION).split(":", 2), "", ""][:3]
        if not key.startswith(INTERACTION) or not id.isdecimal() or not token:
            return None
        now = asyncio.get_running_loop().time()
        self._waiting = {key: pending for key, pending in self._waiting.items() if pending.until > now}
        is_slash = kind == str(SLASH)
        is_known = told_by is not None and not self._are_shared
        age = 0.0 if told_by is not None else max(0.0, (datetime.now(UTC) - moment(id)).total_seconds())
        until = now + _LIFE - age
        kept = PendingInteraction(id, token, is_slash, until, told_by, is_known=is_known, answered=not is_slash)
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
        """Acknowledges, once more where the answer was lost."""
        answer: dict[str, object] = {"type": _DEFERRED_ANSWER if waiting.is_slash else _DEFERRED_UPDATE}
        if waiting.is_slash:
            answer["data"] = {"flags": EPHEMERAL}
        where = {"webhook_id": waiting.id, "webhook_token": waiting.token}
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
        """The interaction that a message answers, if it still waits. Raises `NotSent` if Discord did not say."""
        found = self._waiting.get(reply_to) or self._keep(reply_to, None)
        if found is None or found.given_up or found.until < asyncio.get_running_loop().time():
            return None
        if found.told_by is not None and not await asyncio.shield(found.acknowledged):
            found.told_by, found.is_known = None, False  # Discord may have heard it all the same
        if not found.is_known:
            if found.told_by is None:
                await self._acknowledge(client, found)  # the process that heard it may not have acknowledged it
            await self._look_up(client, found)
        return None if found.given_up else found

    async def _look_up(self, client: DiscordClient, found: PendingInteraction) -> None:
        """Learns whether a command has a first answer. Raises `NotSent`."""
        try:
            if found.is_slash:
                async with asyncio.timeout(self._timeout):
                    original: object = await client.call("GET", ORIGINAL, _where(client, found))
                flags = get(original, "flags", int) if isinstance(original, dict) else None
                found.answered = not (flags or 0) & _LOADING
        except CALL_FAILED as error:
            if _is_unknown(error):
                found.given_up = True
                return
            failed = send_error(error, repeatable=True)
            if isinstance(failed, NotSent):
                raise failed from None
            found.answered = True  # Discord puts a further answer in place of the placeholder if there is one
        found.is_known = True

    def give_up(self, told_by: object) -> None:
        """Called at the end of a connection, which then acknowledges nothing more."""
        for pending in self._waiting.values():
            if pending.told_by is told_by:
                pending.settle(False)


_MORE = "/webhooks/{webhook_id}/{webhook_token}"
_SOON = 10.0
"""Longest rate limit in seconds to wait for before a message with a button is changed like any other."""


class InteractionAnswers:
    def __init__(self, interactions: Interactions, timeout: float) -> None:
        self._interactions = interactions
        self._timeout = timeout

    async def give(self, client: DiscordClient, message: OutboundMessage) -> str:
        """Answers the interaction and returns the message id; empty if none waits. Raises `SendError`, after which the
        next try is made here too, as long as the interaction is valid."""
        waiting = await self._interactions.waiting(client, message.reply_to)
        if waiting is None or message.file is not None:
            return ""
        try:
            async with asyncio.timeout(self._timeout):
                sent = await self._send(client, waiting, message)
            return str(sent["id"])
        except CALL_FAILED as error:
            if _is_unknown(error):
                waiting.given_up = True
                return ""
            raise send_error(error, repeatable=not waiting.answered) from None
        except ODD_ANSWER as error:
            raise OutcomeUnknown(f"Discord's answer cannot be read: {redacted(error)}") from None

    async def change(self, client: DiscordClient, message: OutboundMessage) -> bool:
        """Changes a message, also if only one person sees it. False if no press waits or Discord refuses."""
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

    async def _send(self, client: DiscordClient, waiting: PendingInteraction, message: OutboundMessage) -> Any:
        try:
            return await self._post(client, waiting, content(message))
        except discord.HTTPException as error:
            if not is_about_text(error) or not message.text:
                raise
            return await self._post(client, waiting, content(message, is_plain=True))

    @staticmethod
    async def _post(client: DiscordClient, waiting: PendingInteraction, payload: dict[str, object]) -> Any:
        where = _where(client, waiting)
        if not waiting.answered:
            try:
                sent = await client.call("PATCH", ORIGINAL, where, json=payload)
                waiting.answered = True
                return sent
            except discord.NotFound as error:
                if code(error) != UNKNOWN_MESSAGE:
                    raise
                waiting.answered = True  # its giver has removed the placeholder
        return await client.call("POST", _MORE, where, json=payload | {"flags": SUPPRESS_EMBEDS | EPHEMERAL})


def _where(client: DiscordClient, waiting: PendingInteraction) -> Where:
    return {"webhook_id": client.application_id, "webhook_token": waiting.token}


def _is_closed(failed: SendError) -> bool:
    return isinstance(failed, Refused) or (isinstance(failed, NotSent) and failed.retry_after > _SOON)


def _is_unknown(error: BaseException) -> bool:
    """True if Discord no longer knows an interaction: its time is over, or nobody acknowledged it in time."""
    return code(error) == INVALID_TOKEN or (isinstance(error, discord.NotFound) and code(error) != UNKNOWN_MESSAGE)
