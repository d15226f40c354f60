"""Gateways share a home: each scope and chat has one of them; who lost its connection can write nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from agent.formats.sqlite import StorageUnavailable
from agent.fs import atomic_write, guarded
from channels.message import Address, ChatKind, InboundMessage, Sender
from gateway.home import Home, HomeBusy
from gateway.messages.suspects import TRIED_ALONE_AFTER
from gateway.store import access_rows, inbox_rows, outbox_rows, shares
from gateway.store.claims import ChatClaim, ProcessClaims, scope_name
from gateway.store.connection import Connection
from gateway.store.database import Database
from gateway.store.lease import Lease, LeaseOver, processes
from gateway.store.membership import WATCHED, joined, listening
from gateway.store.outbox_rows import Draft
from gateway.store.postgres import PostgresEngine
from gateway.store.shares import Standing, WorkFound
from tests.fakes.postgres import PostgresServer

OWNER, ALICE, BOB = "main/owner", "main/person/alice", "main/person/bob"
CHAT = ("telegram", "", "7")


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@dataclass
class Process:
    engine: PostgresEngine
    database: Database
    claims: ProcessClaims
    lost: threading.Event = field(default_factory=threading.Event)

    async def stand(self, hung: Collection[int] = ()) -> Standing:
        """`hung`: messages with which the loop of a dead process hung."""
        found = await self.database.run(shares.stand, self.claims)
        if found.dead:
            await self.database.run(shares.bury, self.claims, found.dead, hung, TRIED_ALONE_AFTER)
        self.claims.leads = found.leads
        return found

    async def stand_after_death(self, hung: Collection[int] = ()) -> Standing:
        """Once the server has ended the connection of a process that is gone, which takes it a moment."""
        async with asyncio.timeout(60):
            while not (found := await self.stand(hung)).dead:
                pass
        return found

    async def find(self) -> WorkFound:
        found = await self.database.run(shares.find, self.claims, ())
        self.claims.hold(row.session for row in found.messages)
        return found

    async def claim(self, session: str) -> bool:
        """True if this process has it then."""
        await self.database.run(self.claims.claim, session)
        return await self.database.run(_process_of, session) == self.claims.number

    async def end(self) -> None:
        await self.database.aclose()

    async def may_be_silent(self, milliseconds: int) -> None:
        """For so long until PostgreSQL ends its connection; 0: for ever."""
        await self.database.run(lambda connection: connection.execute(f"SET idle_session_timeout = {milliseconds}"))


async def join(home: Home, url: str, *, waits: bool = True) -> Process:
    """It gives no signs of life, which would come too late on a busy machine, but needs none."""
    lost = threading.Event()
    engine, claims = await joined(home, url, {"web"}, waits=waits)
    database = Database(engine, on_lost=lambda why: lost.set())
    process = Process(engine, database, claims, lost)
    await process.may_be_silent(0)
    return process


@pytest.fixture
async def two(home: Home, url: str) -> AsyncIterator[tuple[Process, Process]]:
    """The first leads."""
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(2):
            process = await join(home, url)
            stack.push_async_callback(process.end)
            await process.stand()
            found.append(process)
        yield found[0], found[1]


def admit(connection: Connection, session: str, id: str = "1", turn: str = "") -> inbox_rows.InboxRow:
    message = InboundMessage(
        id, Address("telegram", "7"), ChatKind.PRIVATE, Sender("7", "Bob"), "hello", datetime(2026, 11, 24, tzinfo=UTC)
    )
    row = inbox_rows.admit(connection, message, session, turn, overheard=False, at="t", today="2026-11-24")
    assert row is not None
    return row


def test_a_scope_is_the_same_for_all_its_sessions_and_agents() -> None:
    assert scope_name("main/owner") == scope_name("main/owner/work") == scope_name("other/owner") == "owner"
    assert scope_name("main/group/telegram--1/7") == scope_name("main/group/telegram--1/jobs/x") == "group/telegram--1"
    assert scope_name("main/person/alice") != scope_name("main/person/bob")


async def test_one_process_at_a_time_has_a_slot_and_none_for_a_while_afterwards(two: tuple[Process, Process]) -> None:
    first, second = two

    async def wait_of(process: Process, key: str = "login 0") -> float:
        return await process.database.run(process.claims.take_slot, key, 0.0)

    assert await wait_of(first) == 0.0 < await wait_of(second)
    assert await wait_of(second, "login 1") == 0.0
    await second.database.run(second.claims.leave_slot, "login 0", 0.0)
    assert await wait_of(second) > 0.0, "it is the first one's to leave"
    await first.database.run(first.claims.leave_slot, "login 0", 1000.0)
    for process in two:
        assert 900.0 < await wait_of(process) <= 1000.0
    await second.end()
    await first.stand_after_death()
    assert await wait_of(first, "login 1") == 0.0


async def test_a_slot_that_was_not_left_in_time_is_taken_by_another(two: tuple[Process, Process], url: str) -> None:
    first, second = two

    async def is_taken(after: str) -> bool:
        with psycopg.connect(url) as session:
            session.execute("UPDATE slot SET free_at = now() - %s::interval", (after,))
        return await second.database.run(second.claims.take_slot, "login 0", 5.0) == 0.0

    await first.database.run(first.claims.take_slot, "login 0", 5.0)
    assert not await is_taken("110 seconds")
    assert await is_taken("121 seconds")
    await first.database.run(first.claims.leave_slot, "login 0", 0.0)
    assert await first.database.run(first.claims.take_slot, "login 0", 5.0) > 0.0, "it is the second one's"


async def test_one_leads_and_another_after_its_end(home: Home, url: str) -> None:
    first, second = await join(home, url), await join(home, url)
    assert (await first.stand()).leads
    found = await second.stand()
    assert not found.leads and found.leader is not None
    assert [process.leads for process in await first.database.run(processes)] == [True, False]
    with pytest.raises(HomeBusy, match="Another Daybook"):
        await join(home, url, waits=False)
    await first.end()
    assert (await second.stand_after_death()).leads
    assert [process.leads for process in await second.database.run(processes)] == [True]
    await second.end()


async def test_tables_of_an_earlier_daybook_get_what_is_new(home: Home, url: str) -> None:
    first = await join(home, url)
    await first.end()
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("DROP TABLE slot")
        session.execute("ALTER TABLE claim DROP COLUMN health, DROP COLUMN trouble")
    again = await join(home, url)
    await again.stand()
    assert await parts_of(again, 1) == [0]
    await again.end()


async def parts_of(process: Process, count: int) -> list[int]:
    """The numbers of the connections that a process has after a look at each."""
    names = [f"discord:shard:{number}/{count}" for number in range(count)]
    return [n for n, name in enumerate(names) if await process.database.run(process.claims.claim_part, name, count)]


async def test_connections_are_shared_out_and_follow_who_comes_and_goes(home: Home, url: str) -> None:
    first = await join(home, url)
    assert await parts_of(first, 5) == [0, 1, 2, 3, 4]
    second = await join(home, url)
    assert await parts_of(second, 5) == [], "each has one gateway"
    assert await parts_of(first, 5) == [2, 3, 4], "three are its share"
    assert await parts_of(second, 5) == [0, 1]
    assert [process.scopes for process in await first.database.run(processes)] == [0, 0], "they are no people"
    await first.database.run(first.claims.release_part, "discord:shard:0/5")
    assert await parts_of(second, 5) == [0, 1], "nobody gives up what is another's"
    await second.database.run(shares.take_no_more, second.claims.number)
    await second.database.run(second.claims.release_part, "discord:shard:1/5")
    assert await parts_of(first, 5) == [1, 2, 3, 4]
    await second.end()
    await first.stand_after_death()
    assert await parts_of(first, 5) == [0, 1, 2, 3, 4]
    await first.end()


async def test_the_owner_is_the_leaders_and_people_are_spread(two: tuple[Process, Process]) -> None:
    leader, helper = two
    assert not await helper.claim(OWNER) and await leader.claim(OWNER)
    assert not await leader.claim(ALICE), "the leader has the owner already"
    assert await helper.claim(ALICE)
    assert [process.scopes for process in await leader.database.run(processes)] == [1, 1]
    assert await leader.claim(BOB) != await helper.claim(BOB), "exactly one has each"


async def test_what_one_claims_for_another_is_taken_up_there(two: tuple[Process, Process]) -> None:
    leader, helper = two
    await leader.claim(OWNER)

    def write(connection: Connection) -> None:
        admit(connection, ALICE)
        leader.claims.claim(connection, ALICE)

    await leader.database.run(write)
    assert [row.session for row in (await helper.find()).messages] == [ALICE]
    assert not (await leader.find()).messages


class Notifications:
    """What a process hears, in order."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    def __call__(self, payload: str) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, payload)

    async def until(self, wanted: set[str]) -> list[str]:
        heard: list[str] = []
        async with asyncio.timeout(60):
            while not wanted <= set(heard):
                heard.append(await self._queue.get())
        return heard


async def test_notifications_name_who_has_work_and_what_others_have_changed(
    two: tuple[Process, Process], url: str
) -> None:
    leader, helper = two
    await leader.claim(OWNER)
    notifications = Notifications()
    with listening(helper.engine, url, notifications):
        await notifications.until(set(WATCHED))
        await helper.database.run(_forget_questions)
        await leader.claim(ALICE)
        await leader.database.run(_choose, "name")
        assert await notifications.until({str(helper.claims.number), "choice"}) == [str(helper.claims.number), "choice"]


async def test_a_statement_that_changes_nothing_notifies_nobody(two: tuple[Process, Process], url: str) -> None:
    """Reading a table again deletes what has expired there: gateways would never stop to wake each other."""
    leader, helper = two
    notifications = Notifications()
    with listening(helper.engine, url, notifications):
        await notifications.until(set(WATCHED))
        await leader.database.run(access_rows.requests, "2026-11-25T00:00:00Z")
        await leader.database.run(_choose, "name")
        assert await notifications.until({"choice"}) == ["choice"]


async def test_after_a_lost_connection_everything_may_have_changed(two: tuple[Process, Process], url: str) -> None:
    """Who was shut out meanwhile must not stay in a gateway's memory."""
    notifications = Notifications()
    with listening(two[1].engine, url, notifications):
        await notifications.until(set(WATCHED))
        with psycopg.connect(url, autocommit=True) as session:
            session.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        await notifications.until(set(WATCHED))


async def test_a_dead_process_loses_its_claims_and_its_messages_go_to_the_others(
    two: tuple[Process, Process], home: Home, url: str
) -> None:
    leader, helper = two
    await leader.claim(OWNER)
    await helper.claim(ALICE)
    await helper.database.run(admit, ALICE)
    await helper.database.run(helper.claims.claim_chat, CHAT)
    await helper.end()
    await leader.stand_after_death()
    assert [row.session for row in (await leader.find()).messages] == [ALICE]
    assert await leader.database.run(leader.claims.claim_chat, CHAT) is ChatClaim.NEW


async def test_a_death_alone_with_a_message_counts_for_it_and_another_does_not(two: tuple[Process, Process]) -> None:
    leader, helper = two
    await leader.claim(OWNER)
    await helper.claim(ALICE)

    def in_trial(connection: Connection) -> None:
        inbox_rows.take(connection, [admit(connection, ALICE).seq], "t", alone=True)
        inbox_rows.take(connection, [admit(connection, OWNER, "2").seq], "u", alone=True)

    await helper.database.run(in_trial)
    await helper.end()
    await leader.stand_after_death()
    rows = {row.session: row.died_alone for row in (await leader.find()).messages}
    assert rows == {ALICE: 1, OWNER: 0}


async def test_what_a_process_hung_on_is_tried_alone_then_and_counts_again_only_there(
    two: tuple[Process, Process], home: Home, url: str
) -> None:
    leader, first = two
    await leader.claim(OWNER)
    seq = (await first.database.run(admit, ALICE)).seq
    told = []
    for alone in (False, False, True):
        helper = first if not told else await join(home, url)
        await helper.claim(ALICE)
        await helper.database.run(inbox_rows.take, [seq], "t", alone=alone)
        await helper.end()
        await leader.stand_after_death([seq])
        (row,) = await leader.database.run(inbox_rows.open_rows)
        told.append((row.stood_still, row.attempts, row.died_alone))
        await leader.database.run(_release, ALICE)
    assert told == [(1, TRIED_ALONE_AFTER, 0), (1, TRIED_ALONE_AFTER, 0), (2, TRIED_ALONE_AFTER, 1)]


async def test_a_silent_process_is_cut_off_and_writes_nothing_more(two: tuple[Process, Process], url: str) -> None:
    leader, helper = two
    await leader.may_be_silent(1)
    assert (await helper.stand_after_death()).leads
    with pytest.raises(StorageUnavailable):
        await leader.database.run(_choose, "late")
    assert leader.lost.is_set()
    await helper.database.run(_choose, "in time")
    assert await helper.database.run(_names) == ["in time"]


async def test_who_hands_over_waits_for_nobody(two: tuple[Process, Process]) -> None:
    """The one that wants two scopes asks again for both in one commit: it must not lock what the holder deletes."""
    leader, helper = two
    await helper.database.run(helper.claims.claim_if_free, ALICE)
    await leader.database.run(leader.claims.take, ALICE)
    asked, over = threading.Event(), threading.Event()

    def asks_again(connection: Connection) -> None:
        leader.claims.take(connection, ALICE)
        asked.set()
        over.wait(60)

    asking = asyncio.create_task(leader.database.run(asks_again))
    await asyncio.to_thread(asked.wait, 60)
    try:
        async with asyncio.timeout(30):
            await helper.database.run(helper.claims.hand_over, ["person/alice"])
            await helper.database.run(helper.claims.release, ["person/alice"])
    finally:
        over.set()
    await asking
    assert await leader.database.run(leader.claims.take, ALICE)


async def test_a_process_that_lives_is_never_removed(two: tuple[Process, Process]) -> None:
    leader, helper = two
    for _ in range(3):
        assert not (await leader.stand()).dead and not (await helper.stand()).dead
    assert len(await leader.database.run(processes)) == 2


async def test_idle_scopes_are_released_and_busy_ones_kept(two: tuple[Process, Process]) -> None:
    leader, helper = two
    await leader.claim(OWNER)
    await helper.claim(ALICE)
    helper.claims.hold([ALICE])
    await helper.database.run(helper.claims.claim_chat, CHAT)
    helper.claims.hold_chat(CHAT)
    assert helper.claims.drop([ALICE], [CHAT]) == frozenset()
    await leader.database.run(admit, ALICE)  # it came while the helper thought that Alice was silent
    idle = helper.claims.drop([], [])
    await helper.database.run(helper.claims.release, idle)
    assert not await leader.claim(ALICE), "a message waits: the claim stays"
    assert await leader.database.run(leader.claims.claim_chat, CHAT) is ChatClaim.NEW
    assert [row.session for row in (await helper.find()).messages] == [ALICE]


async def takes(process: Process, session: str) -> bool:
    return await process.database.run(process.claims.take, session)


async def test_a_scope_is_handed_over_with_the_messages_that_wait(two: tuple[Process, Process]) -> None:
    leader, helper = two
    await leader.claim(OWNER)
    await helper.claim(ALICE)
    assert not await takes(leader, ALICE) and not await takes(leader, ALICE), "it asks, again and again"
    await leader.database.run(admit, ALICE)
    assert await helper.database.run(helper.claims.wanted) == {scope_name(ALICE)}
    assert [process.scopes for process in await leader.database.run(processes)] == [1, 1], "who asks has nothing yet"
    await helper.database.run(helper.claims.hand_over, [scope_name(ALICE)])
    assert await takes(leader, ALICE) and not await helper.claim(ALICE)
    assert [row.session for row in (await leader.find()).messages] == [ALICE]
    assert not await leader.database.run(leader.claims.wanted), "nobody waits for it any more"


async def test_what_is_free_is_taken_at_once_and_once(two: tuple[Process, Process]) -> None:
    leader, helper = two
    taken = await asyncio.gather(takes(leader, ALICE), takes(helper, ALICE))
    assert sorted(taken) == [False, True]
    assert await takes(leader, ALICE) is taken[0], "and it stays so"


async def test_of_two_who_want_the_same_each_gets_it_in_the_end(
    two: tuple[Process, Process], home: Home, url: str
) -> None:
    leader, helper = two
    third = await join(home, url)
    assert await takes(helper, ALICE)
    assert not await takes(leader, ALICE) and not await takes(third, ALICE)
    await helper.database.run(helper.claims.hand_over, [scope_name(ALICE)])
    assert await takes(leader, ALICE) and not await takes(third, ALICE)
    await leader.database.run(leader.claims.hand_over, [scope_name(ALICE)])
    assert await takes(third, ALICE) and not await takes(leader, ALICE)
    await third.end()


async def test_who_dies_loses_what_it_has_to_who_waits_for_it(two: tuple[Process, Process]) -> None:
    leader, helper = two
    await leader.claim(OWNER)
    await helper.claim(ALICE)
    assert not await takes(leader, ALICE)
    await leader.database.run(admit, ALICE)
    await helper.end()
    await leader.stand_after_death()
    assert await takes(leader, ALICE)
    assert [row.session for row in (await leader.find()).messages] == [ALICE]


async def test_messages_of_a_scope_that_nobody_has_go_to_who_waits_for_it(two: tuple[Process, Process]) -> None:
    leader, helper = two
    await leader.claim(OWNER)  # so that the helper would get the next
    await helper.claim(ALICE)
    assert not await takes(leader, ALICE)
    await helper.database.run(helper.claims.release, [scope_name(ALICE)])
    assert await leader.claim(ALICE)


async def test_who_wanted_something_and_died_wants_it_no_more(two: tuple[Process, Process]) -> None:
    leader, helper = two
    assert await takes(helper, ALICE) and not await takes(leader, ALICE)
    await leader.end()
    await helper.stand_after_death()
    assert not await helper.database.run(helper.claims.wanted)
    await helper.database.run(helper.claims.hand_over, [scope_name(ALICE)])
    assert await takes(helper, ALICE), "it keeps what nobody wants"


async def test_a_process_that_ends_gets_nobody_new_and_gives_all_back(two: tuple[Process, Process]) -> None:
    leader, helper = two
    await leader.claim(OWNER)
    await helper.database.run(shares.take_no_more, helper.claims.number)
    assert await leader.claim(ALICE)
    await helper.database.run(shares.leave, helper.claims.number)
    assert len(await leader.database.run(processes)) == 1


async def test_a_chat_has_one_sender_and_the_page_is_the_leaders(two: tuple[Process, Process]) -> None:
    leader, helper = two
    assert await helper.database.run(helper.claims.claim_chat, CHAT) is ChatClaim.NEW
    helper.claims.hold_chat(CHAT)
    assert await helper.database.run(helper.claims.claim_chat, CHAT) is ChatClaim.HELD
    assert await leader.database.run(leader.claims.claim_chat, CHAT) is ChatClaim.OTHERS
    assert await helper.database.run(helper.claims.claim_chat, ("web", "", "main")) is ChatClaim.OTHERS
    await helper.database.run(outbox_rows.add, [Draft("k", Address("telegram", "7"), "hi")], "t")
    await helper.database.run(outbox_rows.add, [Draft("l", Address("web", "main"), "hi")], "t")
    assert [str(chat) for chat in (await helper.find()).chats] == ["telegram:7"]
    assert [str(chat) for chat in (await leader.find()).chats] == ["web:main"]


async def test_who_cannot_write_in_time_gives_up(home: Home, url: str) -> None:
    process = await join(home, url)
    lost, free = threading.Event(), threading.Event()
    lease = Lease(process.database, lambda why: lost.set(), seconds=0.2)
    process.database.post(lambda _: free.wait(120))
    assert await asyncio.to_thread(lost.wait, 120)
    free.set()
    await asyncio.to_thread(lease.end)
    await process.end()


async def test_invariant_17_who_could_not_write_in_time_writes_no_file_either(
    home: Home, url: str, tmp_path: Path
) -> None:
    process = await join(home, url)
    lost, seconds = threading.Event(), 0.0
    lease = Lease(process.database, lambda why: lost.set(), 600.0, now=lambda: seconds)
    with guarded(lease.check_write):
        await asyncio.to_thread(atomic_write, tmp_path / "file", "mine")
        seconds = 601.0
        with pytest.raises(LeaseOver):
            await asyncio.to_thread(atomic_write, tmp_path / "file", "stale")
    assert (tmp_path / "file").read_text() == "mine" and lost.is_set()
    await asyncio.to_thread(lease.end)
    await process.end()


async def test_a_database_serves_one_home(home: Home, url: str, tmp_path: Path) -> None:
    await (await join(home, url)).end()
    await (await join(home, url)).end()
    other = Home(tmp_path / "other")
    other.create()
    with pytest.raises(StorageUnavailable, match="belongs to another home"):
        await join(other, url, waits=False)


async def test_a_home_goes_to_no_other_database(home: Home, url: str, postgres: PostgresServer) -> None:
    await (await join(home, url)).end()
    with pytest.raises(StorageUnavailable, match="but in another database"):
        await join(home, postgres.new_database(), waits=False)


async def test_messages_in_sqlite_are_not_left_behind(home: Home, url: str) -> None:
    await (await Database.open(home.database)).aclose()
    with pytest.raises(StorageUnavailable, match="daybook migrate"):
        await join(home, url, waits=False)


async def test_a_database_that_does_not_answer_is_said(home: Home) -> None:
    with pytest.raises(StorageUnavailable, match="Is PostgreSQL running there"):
        await join(home, "postgresql://127.0.0.1:9/none", waits=False)


async def test_a_newer_daybook_changes_no_tables_under_gateways_of_an_older_one(home: Home, url: str) -> None:
    older = await join(home, url)
    with psycopg.connect(url, autocommit=True) as session:
        session.execute("UPDATE schema_version SET version = version - 1")
    engine = PostgresEngine(url)
    with pytest.raises(StorageUnavailable, match="Update and restart them all"):
        await asyncio.to_thread(engine.migrate, alone=False)
    engine.close()
    await older.end()


def _process_of(connection: Connection, session: str) -> int | None:
    row = connection.execute("SELECT process FROM claim WHERE key = ?", (scope_name(session),)).fetchone()
    return None if row is None else int(row[0])


def _release(connection: Connection, session: str) -> None:
    connection.execute("DELETE FROM claim WHERE key = ?", (scope_name(session),))


def _choose(connection: Connection, name: str) -> None:
    connection.execute("INSERT INTO choice (session, name, value) VALUES (?, ?, 'v')", (name, name))


def _forget_questions(connection: Connection) -> None:
    connection.execute("DELETE FROM question")


def _names(connection: Connection) -> list[str]:
    return [row["name"] for row in connection.execute("SELECT name FROM choice")]
