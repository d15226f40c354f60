"""Commands from the menu and presses of buttons: told at once that they came, and answered where they were given.

Discord waits 3 seconds for the first and 15 minutes for the second. The key to an answer is kept in memory only: after
a restart an answer is a message like any other. So it is where Discord does not take one; what stands there instead
("is thinking", or an answer of which nobody told us that it was taken) is removed as soon as that can be done.

What answers a command or a press, given where its giver alone sees it; or not, and then the chat has it.
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
"""A message that only its reader sees."""
_DEFERRED_ANSWER, _DEFERRED_UPDATE = 5, 6
_SLASH = 2
_CALLBACK = "/interactions/{webhook_id}/{webhook_token}/callback"
ORIGINAL = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
"""The first answer to a command; for a press, the message with the button."""
_TRY_AGAIN = 5.0
"""Seconds between tries to remove one."""
_LIFE = 14 * 60.0
"""Seconds: a minute less than Discord gives."""
_MOST_FAILURES = 2
"""Answers that Discord does not take, after which the chat is not kept waiting any longer."""


@dataclass(slots=True)
class PendingInteraction:
    """A command or press that waits for its answer. `acknowledged` says, once it is known, whether Discord took our
    word that we have it. `answered`: what stands first is there, and what follows are messages behind it. For a press
    that is so from the beginning: the message with the button stands there. `failures`: tries at answering that came to
    nothing."""

    token: str
    until: float
    acknowledged: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    answered: bool = False
    failures: int = 0

    def failed(self) -> bool:
        """Another answer was not taken; whether it is to be tried here once more."""
        self.failures += 1
        return self.failures < _MOST_FAILURES


class Interactions:
    def __init__(self, timeout: float) -> None:
        """`timeout`: seconds for one of two tries at telling Discord that a command came; it waits for 3."""
        self._timeout = timeout
        self._waiting: dict[str, PendingInteraction] = {}
        self._left_thinking: asyncio.Queue[PendingInteraction] = asyncio.Queue()

    def note(self, data: Json) -> None:
        """An interaction came."""
        now = asyncio.get_running_loop().time()
        self._waiting = {key: one for key, one in self._waiting.items() if one.until > now}
        key, token = get(data, "id", str), get(data, "token", str)
        if key and token:
            is_slash = get(data, "type", int) == _SLASH
            self._waiting[INTERACTION + key] = PendingInteraction(token, now + _LIFE, answered=not is_slash)

    async def acknowledge(self, session: DiscordClient, data: Json) -> None:
        """Tell Discord that we have it. Where it is too late for that, the answer comes as a message."""
        key, token = get(data, "id", str) or "", get(data, "token", str) or ""
        is_slash = get(data, "type", int) == _SLASH
        answer: dict[str, object] = {"type": _DEFERRED_ANSWER if is_slash else _DEFERRED_UPDATE}
        if is_slash:
            answer["data"] = {"flags": EPHEMERAL}
        waiting = self._waiting.get(INTERACTION + key)
        taken = False
        try:
            taken = await self._taken(session, {"webhook_id": key, "webhook_token": token}, answer)
        finally:
            if waiting is not None and not waiting.acknowledged.done():
                waiting.acknowledged.set_result(taken)

    async def _taken(self, session: DiscordClient, where: Where, answer: object) -> bool:
        """Whether Discord knows that we have it. Told a second time where the first answer was lost: it says so then,
        and shows "thinking" if it had heard us."""
        failure: Exception | None = None
        for _ in range(2):
            try:
                async with asyncio.timeout(self._timeout):
                    await session.call("POST", _CALLBACK, where, json=answer)
                return True
            except CALL_FAILED as error:
                failure = error
                if code(error) == ALREADY_ACKNOWLEDGED:
                    return True
                if isinstance(error, discord.DiscordException):
                    break
        assert failure is not None
        log.warning("Discord did not hear in time that a command has come: %s", redacted(failure))
        return False

    async def waiting(self, reply_to: str) -> PendingInteraction | None:
        """The command that a message answers, once Discord knows that we have it; None where it waits no longer."""
        found = self._waiting.get(reply_to)
        if found is None or found.until < asyncio.get_running_loop().time():
            return None
        return found if await asyncio.shield(found.acknowledged) else None

    def forget(self, reply_to: str) -> None:
        """Its answers go to the chat from now on."""
        forgotten = self._waiting.pop(reply_to, None)
        if forgotten is not None and not forgotten.answered:
            self._left_thinking.put_nowait(forgotten)

    async def tidy(self, session: DiscordClient, pause: Pause) -> None:
        """Remove what stands in place of answers that were given in the chat. Until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            one = await self._left_thinking.get()
            where = {"webhook_id": session.application_id, "webhook_token": one.token}
            try:
                while one.until > loop.time() and not await self._removed(session, where):
                    await pause(_TRY_AGAIN)
            except BaseException:
                self._left_thinking.put_nowait(one)  # for the next connection
                raise

    @staticmethod
    async def _removed(session: DiscordClient, where: Where) -> bool:
        """Whether it is gone, or will never be."""
        try:
            await session.call("DELETE", ORIGINAL, where)
        except discord.HTTPException as error:
            return error.status < 500 and error.status != 429
        except CALL_FAILED:
            return False
        return True

    def give_up(self) -> None:
        """Nobody will acknowledge what has not been by now."""
        for one in self._waiting.values():
            if not one.acknowledged.done():
                one.acknowledged.set_result(False)


_MORE = "/webhooks/{webhook_id}/{webhook_token}"
_SOON = 10.0
"""Seconds of a rate limit that are waited for. What else is said in a chat waits behind the answer to a command."""


class InteractionAnswers:
    """`timeout`: seconds for one try."""

    def __init__(self, interactions: Interactions, timeout: float) -> None:
        self._interactions = interactions
        self._timeout = timeout

    async def give(self, session: DiscordClient, message: OutboundMessage) -> str:
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

    async def change(self, session: DiscordClient, message: OutboundMessage) -> bool:
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
    async def _sent(session: DiscordClient, waiting: PendingInteraction, message: OutboundMessage) -> Any:
        payload = content(message)
        if waiting.answered:
            payload["flags"] = SUPPRESS_EMBEDS | EPHEMERAL
            return await session.call("POST", _MORE, _where(session, waiting), json=payload)
        sent = await session.call("PATCH", ORIGINAL, _where(session, waiting), json=payload)
        waiting.answered = True
        return sent

    def _give_up_where_hopeless(self, waiting: PendingInteraction, failed: SendError, message: OutboundMessage) -> None:
        """Raises `failed` where the answer is to be tried this way once more. Else nothing more goes this way: not
        where it is closed, nor where it failed twice or asks for a long wait."""
        if not _is_closed(failed) and waiting.failed():
            raise failed from None
        self._interactions.forget(message.reply_to)
        if isinstance(failed, AnswerLost | OutcomeUnknown):
            raise OutcomeUnknown(str(failed)) from None  # the chat gets it with the mark of what may be a repeat


def _where(session: DiscordClient, waiting: PendingInteraction) -> Where:
    return {"webhook_id": session.application_id, "webhook_token": waiting.token}


def _is_closed(failed: SendError) -> bool:
    return isinstance(failed, Refused) or (isinstance(failed, NotSent) and failed.retry_after > _SOON)
