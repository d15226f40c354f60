"""Messages missed while disconnected, fetched from the history.

The last stored message id is kept for each chat, private ones too: a bot cannot list its private chats.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import discord

from channels.discord.client import DiscordClient
from channels.discord.errors import CALL_FAILED, UNKNOWN_CHANNEL, code, redacted, source_failed
from channels.json_fields import Json
from channels.message import SourceFailed

PAGE = 100
"""Messages per page."""


class NoHistory(Exception):
    """`gone`: the chat no longer exists."""

    def __init__(self, why: str, *, gone: bool = False) -> None:
        super().__init__(why)
        self.gone = gone


async def missed(client: DiscordClient, chat_id: str, after: str, within: float) -> AsyncIterator[Sequence[Json]]:
    """Pages newer than `after`, oldest first; `within`: seconds for a page. Raises `NoHistory`, `SourceFailed`."""
    path = "/channels/{channel_id}/messages"
    while True:
        query = {"after": after, "limit": str(PAGE)}
        try:
            async with asyncio.timeout(within):
                answer: object = await client.call("GET", path, {"channel_id": chat_id}, query=query)
        except discord.NotFound as error:
            raise NoHistory(redacted(error), gone=code(error) == UNKNOWN_CHANNEL) from None
        except discord.Forbidden as error:
            raise NoHistory(redacted(error)) from None
        except CALL_FAILED as error:
            raise source_failed(error) from None
        if not isinstance(answer, list):
            raise SourceFailed(f"Discord's history of {chat_id} is not a list of messages")
        found = [message for message in answer if isinstance(message, dict)]
        page = sorted(
            (message for message in found if str(message.get("id")).isdecimal()), key=lambda message: int(message["id"])
        )
        if page:
            yield page
            after = page[-1]["id"]
        if len(found) < PAGE:
            return
