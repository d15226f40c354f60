"""The channel over loopback, with a record that lives as long as the test and a house that keeps what it receives."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from channels.message import Address, ChannelStatus, CommandInfo, Event, Health, InboundMessage, Origin, OutboundMessage
from channels.web.auth import LoginLinks, Now
from channels.web.channel import Sleep, WebChannel
from channels.web.record import Buttons, ChatEntry, MessageAuthor, NotRecorded, ShownFile
from channels.web.views.view import ActionFailed
from tests.channels.web.browser import Browser, browser
from tests.chromium import chromium  # noqa: F401  a fixture

TOKEN = "a-token-that-nobody-guesses"
MAIN = Address("web", "main")
READ_BY_VIEWS = frozenset({"status", "usage", "schedule.list", "sessions.list", "memory.read"})
"""Operations that a person does not call by name."""
STATUS: Mapping[str, object] = {
    "gateways": [
        {
            "host": "attic",
            "pid": 7,
            "leads": True,
            "people_and_groups": 12,
            "seen_seconds_ago": 0.5,
            "connections": [
                {"name": "discord:shard:0/2", "state": "ok", "last_error": ""},
                {"name": "discord:shard:1/2", "state": "degraded", "last_error": "it broke & mends"},
            ],
        }
    ],
    "channels": {
        "web": {"state": "ok", "last_error": ""},
        "telegram": {"state": "down", "last_error": "no token"},
        "discord:shard:0/2": {"state": "ok", "last_error": ""},
    },
    "inbox": {"waiting": 1, "oldest": None, "unreadable": 0},
    "outbox": {"waiting": 0, "oldest": None, "failed": 2, "repeated": 0},
    "running": 1,
}

SETUP: Mapping[str, object] = {
    "model": {"ready": True, "model_key": "***", "model_url": "", "model_name": "claude-sonnet-5-5"},
    "telegram": {"ready": True, "telegram_token": "***", "owner_id": ""},
    "discord": {"ready": True, "discord_token": "***"},
    "person": {"ready": True, "name": "Anna", "timezone": "Europe/Berlin", "summary": "21:00"},
    "search": {"ready": True, "offer": {"state": ""}, "download_mb": 105},
}


class Gate:
    """A place where our code stands still: `reached` when it is there, and it goes on once `opened`."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, *_: object) -> None:
        self.reached.set()
        await self.opened.wait()


class RecordForNow:
    """`channels.web.record.ChatRecord` in memory. `failure` is raised by every method while it is set; what `recent`
    has read waits at the `gate`."""

    def __init__(self) -> None:
        self.entries: list[ChatEntry] = []
        self.failure: NotRecorded | None = None
        self.gate: Gate | None = None
        self.ended: set[str] = set()

    def said(self, message: InboundMessage) -> None:
        files = tuple(ShownFile(one.name, one.media_type, handle=one.handle) for one in message.attachments)
        at = message.sent_at.isoformat()
        old = message.replaces.removeprefix("again:")
        replaced = next((one.id for one in self.entries if old and old in (one.id, one.replaces)), "")
        entry = ChatEntry(
            0, message.platform_id, message.address.chat_id, MessageAuthor.PERSON, message.text, at, files=files
        )
        self._add(dataclasses.replace(entry, replaces=replaced))

    async def recent(self, chat: str, most: int, before: int | None = None) -> Sequence[ChatEntry]:
        self._check()
        found = [one for one in self.entries if one.chat == chat and (before is None or one.number < before)][-most:]
        if self.gate:
            await self.gate()
        return found

    async def earlier(self, id: str) -> Sequence[ChatEntry]:
        self._check()
        return [one for one in self.entries if one.replaced_by == id]

    async def find(self, id: str) -> ChatEntry | None:
        self._check()
        return next((one for one in self.entries if one.id == id), None)

    async def keep(self, entry: ChatEntry) -> ChatEntry:
        self._check()
        return self._add(entry)

    async def change(self, id: str, text: str, buttons: Buttons) -> ChatEntry | None:
        self._check()
        for place, one in enumerate(self.entries):
            if one.id == id and one.by is MessageAuthor.DAYBOOK:
                self.entries[place] = dataclasses.replace(one, text=text, buttons=buttons)
                return self.entries[place]
        return None

    def watch(self, changed: Callable[[str], Awaitable[None]]) -> None:
        self.changed = changed

    async def forget(self, id: str, text: str) -> None:
        """As the gateway does, past the channel."""
        self.entries = [dataclasses.replace(one, text=text) if one.id == id else one for one in self.entries]
        await self.changed(id)

    async def log_out(self, session: str, until: int) -> None:
        self._check()
        self.ended.add(session)

    async def logged_out(self) -> frozenset[str]:
        return frozenset(self.ended)

    async def handles(self) -> frozenset[str]:
        self._check()
        return frozenset(file.handle for one in self.entries for file in one.files if file.handle)

    def _add(self, entry: ChatEntry) -> ChatEntry:
        known = next((one for one in self.entries if one.id == entry.id), None)
        if known is None:
            known = dataclasses.replace(entry, number=len(self.entries) + 1)
            self.entries.append(known)
        return known

    def _check(self) -> None:
        if self.failure:
            raise self.failure


@dataclass
class House:
    """The gateway around the channel."""

    folder: Path
    record: RecordForNow = field(default_factory=RecordForNow)
    received: list[InboundMessage] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    failure: Exception | None = None
    states: dict[str, ChannelStatus] = field(default_factory=lambda: {"web": ChannelStatus(Health.OK)})
    address: str = ""
    timezone: str = "UTC"
    serves: bool = True
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    operations: dict[str, object] = field(
        default_factory=lambda: {
            "status": STATUS,
            "setup.status": SETUP,
            "memory.embedder": {"state": "", "text": "", "done": 0, "of": 0},
            "mcp.servers": [],
            "mcp.answer": ActionFailed("This answer belongs to no open login."),
        }
    )
    """What each operation answers with, or raises; a function is given its parameters."""
    calls: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    links: LoginLinks = field(default_factory=LoginLinks)

    async def receive(self, events: Sequence[Event]) -> None:
        if self.failure:
            raise self.failure
        for event in events:
            assert isinstance(event, InboundMessage)
            if all(event.id != one.id for one in self.received):
                self.received.append(event)
                self.arrived.set()
                if event.origin is Origin.CHAT:
                    self.record.said(event)

    async def texts(self, count: int) -> list[str]:
        """Of all messages, once there are so many: a page shows one before it has arrived."""
        while len(self.received) < count:
            self.arrived.clear()
            await self.arrived.wait()
        return [one.text for one in self.received]

    def listens(self, address: str) -> None:
        self.address = address
        self.begun.set()

    def redeem(self, secret: str) -> bool:
        return self.links.redeem(secret)

    async def channels(self) -> Mapping[str, ChannelStatus]:
        return self.states

    def offers(self, operation: str) -> bool:
        return operation in self.operations and operation not in READ_BY_VIEWS

    async def call(self, operation: str, parameters: Mapping[str, object]) -> object:
        self.calls.append((operation, parameters))
        answer = self.operations[operation]
        if isinstance(answer, Exception):
            raise answer
        return answer(parameters) if callable(answer) else answer

    async def metrics(self) -> str:
        if self.record.failure:
            raise self.record.failure
        return "daybook_figure 1\n"

    def channel(
        self,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        public_url: str = "",
        token: str = TOKEN,
        auth_timeout: float = 30.0,
        sleep: Sleep = asyncio.sleep,
        now: Now = time.time,
    ) -> WebChannel:
        return WebChannel(
            lambda: token,
            self.record,
            self,
            self.folder / "web",
            host=host,
            port=port,
            public_url=public_url,
            largest_upload=1_000_000,
            commands=(CommandInfo("help", "What I understand"),),
            auth_timeout=auth_timeout,
            sleep=sleep,
            now=now,
        )

    @contextlib.asynccontextmanager
    async def running(self, channel: WebChannel) -> AsyncIterator[asyncio.Task[None]]:
        self.begun.clear()
        task = asyncio.create_task(channel.run(self.receive))
        await asyncio.wait({task, asyncio.ensure_future(self.begun.wait())}, return_when=asyncio.FIRST_COMPLETED)
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.wait({task})
            await channel.aclose()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
async def channel(house: House) -> AsyncIterator[WebChannel]:
    one = house.channel()
    async with house.running(one):
        yield one


@pytest.fixture
async def guest(channel: WebChannel, house: House) -> AsyncIterator[Browser]:
    """A browser that has not logged in."""
    async with browser(house.address) as one:
        yield one


@pytest.fixture
async def owner(channel: WebChannel, house: House) -> AsyncIterator[Browser]:
    """A browser that has."""
    async with browser(house.address, TOKEN) as one:
        yield one


def answer(text: str, key: str = "turn-1:0", chat: Address = MAIN) -> OutboundMessage:
    return OutboundMessage(chat, text, key=key)
