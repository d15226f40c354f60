"""What was said while nobody listened, fetched from the history.

Discord repeats what a short interruption has missed, and nothing after a longer one or a restart. So the id of the last
message that is on disk is kept for each chat, private ones too: a bot cannot ask which it has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from channels.discord.session import Session
from channels.fields import Json

PAGE = 100
"""The most messages of one answer."""


async def missed(session: Session, chat_id: str, after: str) -> AsyncIterator[Sequence[Json]]:
    """The messages behind `after`, oldest first, page by page. Raises what calls raise."""
    path = "/channels/{channel_id}/messages"
    while True:
        query = {"after": after, "limit": str(PAGE)}
        answer: object = await session.call("GET", path, {"channel_id": chat_id}, query=query)
        found = [one for one in answer if isinstance(one, dict)] if isinstance(answer, list) else []
        page = sorted((one for one in found if str(one.get("id")).isdecimal()), key=lambda one: int(one["id"]))
        if page:
            yield page
            after = page[-1]["id"]
        if len(found) < PAGE:
            return
