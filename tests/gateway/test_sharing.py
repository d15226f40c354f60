"""What a gateway of several keeps in memory follows what the others store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from agent.formats.sqlite import StorageUnavailable
from gateway.home import Home
from gateway.sharing import SharedWork
from gateway.store.database import Database
from gateway.store.membership import joined
from tests.fakes.postgres import PostgresServer


async def test_a_change_that_could_not_be_read_is_read_later(postgres: PostgresServer, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    engine, claims = await joined(home, postgres.new_database(), (), waits=True)
    database = Database(engine)
    tries, done = [0], asyncio.Event()

    async def reload() -> None:
        tries[0] += 1
        if tries[0] == 1:
            raise StorageUnavailable("the database is away for a moment")
        done.set()

    @contextmanager
    def listening(heard: Callable[[str], None]) -> Iterator[None]:
        heard("access")
        yield

    idle = cast(Any, SimpleNamespace(take_up=lambda _: None, open_rows={}, busy=()))
    work = SharedWork(database, claims, listening, idle, idle, idle, idle, {}, {"access": reload}, lambda: None)
    running = asyncio.create_task(work.run())
    async with asyncio.timeout(60):
        await done.wait()
    running.cancel()
    await asyncio.wait({running})
    await database.aclose()
