"""A whole gateway around a scripted platform and a scripted model: a test reads like a conversation."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock
from agent.formats.addresses import AddressRules
from agent.model.base import Json, ModelRequest
from agent.model.scripted import ScriptedModel
from channels.message import Channel, Event, InboundMessage, Migrated
from channels.scripted import ScriptedChannel
from gateway.app import open_gateway
from gateway.config import Config
from gateway.config.whole import whole
from gateway.home import Home
from gateway.server import Gateway, Timeouts
from gateway.store.connection import Engine
from gateway.store.database import Database, SqliteEngine
from gateway.store.postgres import PostgresEngine
from gateway.turns.attachments import MediaLimits
from tests.fakes.postgres import PostgresServer

OWNER = "11111"
ALICE = "22222"
STRANGER = "99999"
GROUP = "-100123"

BERLIN = ZoneInfo("Europe/Berlin")


@dataclass
class Moment:
    """A clock's present, which a test moves by hand."""

    now: datetime = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)

    def pass_(self, time: timedelta) -> None:
        self.now += time

    @property
    def clock(self) -> Clock:
        return Clock(BERLIN, lambda: self.now)


class Sleeps:
    """Stands in for waiting: notes the seconds that were asked for, and returns at once."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await asyncio.sleep(0)


class Gate:
    """A place where our code stands still: `reached` when it is there, and it goes on once `opened`."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, *_: object) -> None:
        self.reached.set()
        await self.opened.wait()


async def _nobody(_: Sequence[Event]) -> None:
    """What the schedule offers and nobody takes, it offers again."""


@dataclass
class Running:
    """A gateway at work. `stop` asks it to end, `kill` ends it where it stands."""

    gateway: Gateway
    task: asyncio.Task[None]
    stop: asyncio.Event

    async def ask(self, operation: str, **parameters: Json) -> Json:
        """What a neighbouring process would ask over the socket."""
        return await self.gateway.operations[operation](parameters)

    async def status(self, *path: str) -> Json:
        found = await self.ask("status")
        for name in path:
            assert isinstance(found, dict)
            found = found[name]
        return found

    async def codes(self) -> list[str]:
        """Of the open pairing requests."""
        listed = await self.ask("pair.list")
        assert isinstance(listed, list)
        return [person["code"] for person in listed if person["code"]]

    async def approve(self, code: str) -> dict[str, Json]:
        answer = await self.ask("pair.approve", code=code)
        assert isinstance(answer, dict)
        return answer

    async def ticks(self) -> None:
        """Let the schedule look at the world as it is now, and at what came of that."""
        for _ in range(2):
            await self.gateway.schedule.tick(_nobody)

    async def kill(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def end(self) -> None:
        self.stop.set()
        await self.task


@dataclass
class Daybook:
    """A home, its platform and its model; they outlive each run of the gateway, as the real ones do."""

    home: Home
    moment: Moment = field(default_factory=Moment)
    chat: ScriptedChannel = field(default_factory=lambda: ScriptedChannel("telegram"))
    others: tuple[ScriptedChannel, ...] = ()
    model: ScriptedModel = field(default_factory=ScriptedModel)
    timeouts: Timeouts = field(default_factory=lambda: Timeouts(tick=0.02))
    media_limits: MediaLimits = field(default_factory=MediaLimits)
    web_rules: AddressRules = field(default_factory=AddressRules)
    settings: dict[str, object] = field(default_factory=lambda: {"owners": [f"telegram:{OWNER}"]})

    def __post_init__(self) -> None:
        self._share_time()

    def _share_time(self) -> None:
        """People write at the present of the gateway's clock."""
        for channel in (self.chat, *self.others):
            channel.instant = lambda: self.moment.now

    @property
    def workspace(self) -> Path:
        return self.home.workspace("workspace")

    @property
    def config(self) -> Config:
        """With a model, so that words are the model's; a slow machine recalls the same memories as a quick one."""
        usual = {
            "timezone": "Europe/Berlin",
            "memory": {"auto_recall": {"timeout_ms": 60_000}},
            "model": {"api_key": "sk-ant-test"},
        }
        return whole().model_validate(usual | self.settings)

    def group(self, chat: str = GROUP, mention: str = "required", allow: tuple[str, ...] = ()) -> None:
        """List a group in the configuration."""
        rule = {"mention": mention, "allow": list(allow)}
        self.settings["channels"] = {"telegram": {"groups": {chat: rule}}}

    def queue(self, mode: str, cap: int = 20) -> None:
        self.settings["session"] = {"queue": mode, "queue_cap": cap}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Running]:
        """Ended in order when the block ends, unless it was killed before."""
        self._share_time()
        channels: list[Channel] = [self.chat, *self.others]
        stop = asyncio.Event()
        async with (
            open_gateway(
                self.home,
                self.config,
                channels=True,
                clock=self.moment.clock,
                platforms=lambda _config, _menu, _database: channels,
                model_of=lambda _config, _ledger, _clock, _env_file: (self.model, None),
                timeouts=self.timeouts,
                media_limits=self.media_limits,
                web_rules=self.web_rules,
            ) as gateway,
            asyncio.TaskGroup() as group,
        ):
            yield Running(gateway, group.create_task(gateway.run(stop)), stop)
            stop.set()

    def asked(self, number: int = -1) -> str:
        """All text of the newest message of a request to the model."""
        return asked(self.model.requests[number])

    def everything_asked(self) -> str:
        """Every byte that any request carried."""
        return "\n".join(str(request) for request in self.model.requests)


def asked(request: ModelRequest) -> str:
    return "\n".join(str(block.get("text", block)) for block in request.messages[-1].content)


@contextmanager
def full_disk(limit: int = 0) -> Iterator[None]:
    """No file of this process can grow beyond `limit` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def daybook(tmp_path: Path) -> Daybook:
    return Daybook(Home(tmp_path / "home"))


@pytest.fixture
def offline(daybook: Daybook) -> None:
    """No model is configured: plain words are orders and notes."""
    daybook.settings["model"] = {"provider": "offline"}


@pytest.fixture
def as_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' user is not root: no sandbox holds that."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture(params=["sqlite", "postgresql"])
def engine_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Engine]:
    """Opens one database, again and again, as other processes would."""
    if request.param == "sqlite":
        return lambda: SqliteEngine(tmp_path / "daybook.db")
    server: PostgresServer = request.getfixturevalue("postgres")
    url = server.new_database()

    def opened() -> Engine:
        engine = PostgresEngine(url)
        engine.migrate(alone=True)
        return engine

    return opened


on_sqlite = pytest.mark.parametrize("engine_of", ["sqlite"], indirect=True)
"""For tests of what only SQLite does; its file is `daybook.db` in `tmp_path`."""


@pytest.fixture
async def database(engine_of: Callable[[], Engine]) -> AsyncIterator[Database]:
    opened = Database(engine_of())
    yield opened
    await opened.aclose()


Say = Callable[..., InboundMessage]


@pytest.fixture
def say() -> Say:
    """Messages that nobody offers to anybody: for rooms below the router."""
    return ScriptedChannel("telegram").say


def moved(chat: ScriptedChannel, old: str, new: str) -> Migrated:
    """The platform gives a chat another id."""
    from_, to = (chat.say("", chat=group, group=True).address for group in (old, new))
    return Migrated(f"moved:{old}", from_, to)
