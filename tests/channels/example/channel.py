"""The adapter: reads messages from files `in-*.json`, and appends what it sends to `sent.jsonl`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from channels.message import (
    Address,
    Attachment,
    Capabilities,
    ChannelStatus,
    ChatKind,
    Health,
    InboundMessage,
    NotFetched,
    OutboundMessage,
    PreviewStyle,
    Receive,
    Refused,
    Sender,
)
from channels.split import split

_LONGEST = 4000
_LOOK = 0.02


class ExampleChannel:
    name = "example"
    account = "@daybook"

    def __init__(self, server: Path) -> None:
        self._server = server
        self.status = ChannelStatus(Health.OFF)

    async def run(self, receive: Receive) -> None:
        self.status = ChannelStatus(Health.OK)
        while True:
            for file in sorted(self._server.glob("in-*.json")):
                await receive([_read(json.loads(file.read_text()), file.stem)])
                file.unlink()  # this acknowledges: by now it is on disk
            await asyncio.sleep(_LOOK)

    def capabilities(self, address: Address) -> Capabilities:
        return Capabilities(PreviewStyle.NONE)

    def repeat_window(self, message: OutboundMessage) -> float:
        return 0.0

    def split(self, text: str) -> list[str]:
        return split(text, len, _LONGEST)

    async def send(self, message: OutboundMessage) -> str:
        with (self._server / "sent.jsonl").open("a") as sent:
            sent.write(json.dumps([message.address.chat_id, message.address.thread_id, message.text]) + "\n")
        return f"${message.key}:example.org"

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        raise Refused("messages can't be edited")

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        raise Refused("there are no drafts")

    async def fetch(self, attachment: Attachment, to: Path, most: int) -> None:
        raise NotFetched("there are no files")

    async def react(self, address: Address, platform_id: str, emoji: str) -> None:
        pass

    @asynccontextmanager
    async def typing(self, address: Address) -> AsyncIterator[None]:
        yield

    async def aclose(self) -> None:
        self.status = ChannelStatus(Health.OFF)


def _read(event: dict[str, str], id: str) -> InboundMessage:
    room, person = event.get("room", ""), event["from"]
    return InboundMessage(
        id=f"${{{id}}}:example.org",
        address=Address("example", room or person, event.get("thread")),
        kind=ChatKind.GROUP if room else ChatKind.PRIVATE,
        sender=Sender(person, person[1:].partition(":")[0]),
        text=event["text"],
        sent_at=datetime.now(UTC),
    )
