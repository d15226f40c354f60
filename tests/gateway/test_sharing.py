"""A gateway of several follows what the others store, and hands over whom another has work for."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psycopg
import pytest

from agent.clock import Clock
from agent.compaction.deferred import DeferredStore, DeferredTask, DeferredWork, RetryLater
from agent.compaction.flush_state import ContextLossReason
from agent.formats.sqlite import StorageUnavailable
from agent.memory.scope import Audience, Scope, ScopeBusy
from channels.message import Address, ChatKind, InboundMessage, Sender
from gateway.home import Home
from gateway.messages.active_work import ActiveWork
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.sharing import SharedWork
from gateway.store import shares
from gateway.store.claims import ProcessClaims
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.store.lease import Lease
from gateway.store.membership import joined, listening
from gateway.store.scope_work import ScopeWork
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
    record, scope_work, reloads = ActiveWork(tmp_path, claims.number), ScopeWork(database, claims), {"access": reload}
    work = SharedWork(
        database, claims, record, listening, scope_work, idle, idle, idle, idle, {}, reloads, lambda: None
    )
    running = asyncio.create_task(work.run())
    async with asyncio.timeout(60):
        await done.wait()
    running.cancel()
    await asyncio.wait({running})
    await database.aclose()


BOB = "main/person/bob"


class Worker:
    """Stands for the router and the turns of a gateway: takes messages up and works on each until told."""

    def __init__(self, inbox: Inbox) -> None:
        self.at_work: list[InboxRow] = []
        self._looks = 0
        self._inbox = inbox
        self._changed = asyncio.Condition()

    def take_up(self, rows: list[InboxRow]) -> None:
        self.at_work += self._inbox.take_up(rows)
        self._looks += 1

    async def has_looked_again(self) -> None:
        """Until its gateway has done whatever it does with each look, after all that is done now."""
        after = self._looks + 2
        async with asyncio.timeout(60):
            while self._looks < after:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def serves(self, row: InboxRow) -> bool:
        return row.message.address.channel == "telegram"

    async def ends(self, text: str) -> None:
        row = next(row for row in self.at_work if row.message.text == text)
        await self._inbox.finish([row], "reply")

    async def until(self, *texts: str) -> None:
        """Until exactly these were taken up, in this order."""
        async with asyncio.timeout(60):
            while [row.message.text for row in self.at_work] != [*texts]:  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@dataclass
class Gateway:
    database: Database
    claims: ProcessClaims
    inbox: Inbox
    worker: Worker
    scope_work: ScopeWork
    deferred: DeferredWork
    put_off: asyncio.Event = field(default_factory=asyncio.Event)
    works: bool = True

    async def says(self, text: str, session: str = BOB, channel: str = "telegram") -> None:
        """Somebody writes, whichever gateway hears it."""
        at = datetime.datetime(2026, 11, 24, tzinfo=datetime.UTC)
        message = InboundMessage(text, Address(channel, "7"), ChatKind.PRIVATE, Sender("7", "Bob"), text, at)
        await self.inbox.admit([AdmittedMessage(message, session)])


@asynccontextmanager
async def gateway(tmp_path: Path, url: str, patience: float = 30.0) -> AsyncIterator[Gateway]:
    home = Home(tmp_path / "home")
    home.create()
    engine, claims = await joined(home, url, (), waits=True)
    database = Database(engine)
    lease = Lease(database, lambda why: None)
    inbox = Inbox(database, Clock(datetime.UTC), claims)
    worker, scope_work = Worker(inbox), ScopeWork(database, claims)

    async def settle(_: DeferredTask) -> None:
        if not peer.works:
            asyncio.get_running_loop().call_soon(peer.put_off.set)
            raise RetryLater("no model")

    deferred = DeferredWork(DeferredStore(tmp_path / "sessions" / "main", tmp_path / "workspace"), settle)
    peer = Gateway(database, claims, inbox, worker, scope_work, deferred)
    idle = cast(Any, SimpleNamespace(take_up=lambda _: None, busy=()))
    agents = {"main": cast(Any, SimpleNamespace(deferred=deferred))}
    hears = partial(listening, engine, url)
    record, served = ActiveWork(home.active_work, claims.number), cast(Any, worker)
    work = SharedWork(
        database, claims, record, hears, scope_work, served, inbox, idle, idle, agents, {}, lambda: None, patience
    )
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(work.run()), group.create_task(deferred.run(take_up=False))]
        yield peer
        for task in running:
            task.cancel()
    await database.run(shares.leave, claims.number)
    await asyncio.to_thread(lease.end)
    await database.aclose()


@asynccontextmanager
async def two(tmp_path: Path, url: str, patience: float = 30.0) -> AsyncIterator[tuple[Gateway, Gateway]]:
    """The first leads, the second has Bob."""
    async with gateway(tmp_path, url, patience) as leader:
        async with asyncio.timeout(60):
            while not leader.claims.leads:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        async with gateway(tmp_path, url, patience) as helper:
            await leader.database.run(leader.claims.claim, "main/owner")
            yield leader, helper


@asynccontextmanager
async def waiting(gateway: Gateway, of: Gateway) -> AsyncIterator[asyncio.Task[bool]]:
    """A gateway that has work for Bob, and what that came to when it began: True if the other had no message of his."""

    async def work() -> bool:
        async with gateway.scope_work.of(BOB):
            return not of.inbox.open_rows

    task = asyncio.create_task(work())
    async with asyncio.timeout(60):
        # It may have been let in meanwhile.
        while not task.done() and not await of.database.run(of.claims.wanted):  # noqa: ASYNC110
            await asyncio.sleep(0)
    yield task
    async with asyncio.timeout(60):
        await task


async def test_work_for_a_person_begins_when_the_other_gateway_has_answered(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    async with two(tmp_path, postgres.new_database()) as (leader, helper):
        await leader.says("one")
        await helper.worker.until("one")
        async with waiting(leader, of=helper) as work:
            await leader.says("two")
            await helper.worker.until("one", "two")
            await helper.worker.ends("one")
            assert not work.done()
            await helper.worker.ends("two")
        assert work.result()
        await helper.says("three")
        await helper.says("four")
        await leader.worker.until("three", "four")
        assert len(helper.worker.at_work) == 2


async def test_a_person_who_always_writes_starves_nobody_and_is_answered_in_order(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    async with two(tmp_path, postgres.new_database(), patience=0.0) as (leader, helper):
        await leader.says("one")
        await helper.worker.until("one")
        async with waiting(leader, of=helper) as work:
            await leader.says("two")
            await leader.says("/stop")
            await helper.worker.until("one", "two", "/stop")
            await leader.says("three")
            await leader.says("four")
            for text in ("one", "two", "/stop"):
                await helper.worker.ends(text)
        assert work.result()
        await leader.worker.until("three", "four")
        assert len(helper.worker.at_work) == 3


async def test_what_waits_for_a_channel_that_is_off_goes_along(postgres: PostgresServer, tmp_path: Path) -> None:
    async with two(tmp_path, postgres.new_database()) as (leader, helper):
        await leader.says("one", channel="discord")
        await helper.worker.until("one")
        async with waiting(leader, of=helper) as work:
            pass
        assert work.result()
        await leader.worker.until("one")


async def test_who_looks_at_a_screen_does_not_wait_for_long(postgres: PostgresServer, tmp_path: Path) -> None:
    async with two(tmp_path, postgres.new_database()) as (leader, helper):
        await leader.says("one")
        await helper.worker.until("one")
        with pytest.raises(ScopeBusy, match="still writing an answer from the same memory"):
            async with leader.scope_work.of(BOB, 0.1):
                raise AssertionError("it began beside a turn")
        assert not await helper.database.run(helper.claims.wanted)
        await helper.worker.ends("one")
        async with leader.scope_work.of(BOB, 60):
            assert not helper.inbox.open_rows


async def test_work_in_hand_is_not_handed_over(postgres: PostgresServer, tmp_path: Path) -> None:
    async with two(tmp_path, postgres.new_database()) as (leader, helper):
        async with helper.scope_work.of(BOB):
            begun = asyncio.create_task(_work(leader))
            await helper.worker.has_looked_again()
            assert helper.claims.holds(BOB) and not begun.done()
            await leader.says("one")
            await helper.worker.until("one")
        await helper.worker.has_looked_again()
        assert helper.claims.holds(BOB) and not begun.done()
        await helper.worker.ends("one")
        async with asyncio.timeout(60):
            await begun
        assert leader.claims.holds(BOB)


async def test_the_holder_dies_while_another_waits(postgres: PostgresServer, tmp_path: Path) -> None:
    url = postgres.new_database()
    async with gateway(tmp_path, url) as leader:
        async with gateway(tmp_path, url) as helper:
            await leader.database.run(leader.claims.claim, "main/owner")
            await leader.says("one")
            await helper.worker.until("one")
            begun = asyncio.create_task(_work(leader))
            async with asyncio.timeout(60):
                while not await helper.database.run(helper.claims.wanted):  # noqa: ASYNC110
                    await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await begun
        await leader.worker.until("one")


async def _work(gateway: Gateway) -> None:
    async with gateway.scope_work.of(BOB):
        pass


async def test_deferred_work_of_a_dead_gateway_is_done_by_who_is_given_its_people(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    """The leader gives a person away before it looks for work that nobody else does."""
    url = postgres.new_database()
    async with two(tmp_path, url) as (leader, helper):
        bob = Scope(Audience.PERSON, tmp_path / "workspace", "bob")
        task = DeferredTask("person/bob", "s", bob, ContextLossReason.NEW, "e1")
        await asyncio.to_thread(DeferredStore(tmp_path / "sessions" / "main", tmp_path / "workspace").note, task)
        await leader.says("one")
        await helper.worker.until("one")
        with psycopg.connect(url, autocommit=True) as session:
            session.execute("INSERT INTO process (host, pid, backend) VALUES ('elsewhere', 1, 1)")  # it has no lock
        async with asyncio.timeout(60):
            while list((tmp_path / "sessions").rglob("*.owed")):  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_what_was_handed_over_is_done_by_who_has_it_alone(postgres: PostgresServer, tmp_path: Path) -> None:
    async with two(tmp_path, postgres.new_database()) as (leader, helper):
        await leader.says("one")
        await helper.worker.until("one")
        async with waiting(leader, of=helper):
            await helper.worker.ends("one")
        assert leader.claims.holds(BOB) and not helper.claims.holds(BOB)


async def test_who_is_interrupted_while_it_asks_holds_what_it_got_and_asks_no_more(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.new_database()
    async with two(tmp_path, url) as (leader, helper):
        await leader.says("one")
        await helper.worker.until("one")
        begun = asyncio.create_task(_work(leader))
        await asyncio.sleep(0)  # the database is asked
        begun.cancel()
        await asyncio.wait({begun})
        with psycopg.connect(url) as session:
            rows = session.execute("SELECT key, process FROM claim WHERE key LIKE '%person/bob'").fetchall()
        assert rows == [("person/bob", helper.claims.number)] and not leader.claims.holds(BOB)


async def test_deferred_work_that_is_put_off_is_done_by_who_takes_over(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    async with two(tmp_path, postgres.new_database()) as (leader, helper):
        await leader.says("one")
        await helper.worker.until("one")
        helper.works = False
        bob = Scope(Audience.PERSON, tmp_path / "workspace", "bob")
        await helper.deferred.defer(DeferredTask("person/bob", "s", bob, ContextLossReason.NEW, "e1"))
        await helper.put_off.wait()
        async with waiting(leader, of=helper):
            await helper.worker.ends("one")
        assert not helper.deferred.paths
        async with asyncio.timeout(60):
            while list((tmp_path / "sessions").rglob("*.owed")):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
