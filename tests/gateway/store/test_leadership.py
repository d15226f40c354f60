"""One of several gateways serves a home; who lost the lock can write nothing, and the next one takes over."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from agent.formats.sqlite import StorageUnavailable
from gateway.home import Home, HomeBusy
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.leadership import lead
from gateway.store.lease import Lease, processes
from tests.fakes.postgres import PostgresServer


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@dataclass
class _Leader:
    database: Database
    lease: Lease
    lost: threading.Event = field(default_factory=threading.Event)

    async def end(self) -> None:
        await asyncio.to_thread(self.lease.end)
        await self.database.aclose()


async def _leading(home: Home, url: str, *, waits: bool = True) -> _Leader:
    lost = threading.Event()
    database, lease = await lead(home, url, waits=waits, on_lost=lost.set)
    return _Leader(database, lease, lost)


def _choose(connection: Connection, name: str) -> None:
    connection.execute("INSERT INTO choice (session, name, value) VALUES ('s', ?, 'v')", (name,))


async def test_the_second_waits_and_takes_over_when_the_first_ends(home: Home, url: str) -> None:
    first = await _leading(home, url)
    with pytest.raises(HomeBusy, match="Another Daybook"):
        await _leading(home, url, waits=False)
    waiting = asyncio.create_task(_leading(home, url))
    while len(await first.database.run(processes)) < 2:  # noqa: ASYNC110  another process rings no bell
        await asyncio.sleep(0.05)
    assert not waiting.done()
    assert [one.leads for one in await first.database.run(processes)] == [True, False]
    await first.end()
    second = await waiting
    await second.database.run(_choose, "second")
    assert not second.lost.is_set()
    await second.end()


async def test_a_silent_leader_is_cut_off_and_writes_nothing_more(home: Home, url: str) -> None:
    first = await _leading(home, url)
    await asyncio.to_thread(first.lease.end)  # no more signs of life, as of a process that stands still
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("UPDATE gateway_process SET seen_at = seen_at - interval '11 seconds'")
    second = await _leading(home, url)
    with pytest.raises(StorageUnavailable):
        await first.database.run(_choose, "late")
    assert first.lost.is_set()
    await second.database.run(_choose, "in time")

    def names(connection: Connection) -> list[str]:
        return [row["name"] for row in connection.execute("SELECT name FROM choice")]

    assert await second.database.run(names) == ["in time"]
    await second.end()
    await first.database.aclose()


async def test_who_cannot_write_in_time_gives_up(home: Home, url: str) -> None:
    leader = await _leading(home, url)
    lost, free = threading.Event(), threading.Event()
    lease = Lease(leader.database, "x", lost.set, seconds=0.2)
    leader.database.post(lambda _: free.wait(120))
    assert await asyncio.to_thread(lost.wait, 120)
    free.set()
    await asyncio.to_thread(lease.end)
    await leader.end()


async def test_a_database_serves_one_home(home: Home, url: str, tmp_path: Path) -> None:
    await (await _leading(home, url)).end()
    await (await _leading(home, url)).end()
    other = Home(tmp_path / "other")
    other.create()
    with pytest.raises(StorageUnavailable, match="belongs to another home"):
        await _leading(other, url)


async def test_a_home_goes_to_no_other_database(home: Home, url: str, postgres: PostgresServer) -> None:
    await (await _leading(home, url)).end()
    with pytest.raises(StorageUnavailable, match="but in another database"):
        await _leading(home, postgres.new_database())


async def test_messages_in_sqlite_are_not_left_behind(home: Home, url: str) -> None:
    await (await Database.open(home.database)).aclose()
    with pytest.raises(StorageUnavailable, match="daybook migrate"):
        await _leading(home, url)


async def test_a_database_that_does_not_answer_is_said(home: Home) -> None:
    with pytest.raises(StorageUnavailable, match="Is PostgreSQL running there"):
        await _leading(home, "postgresql://127.0.0.1:9/none", waits=False)
