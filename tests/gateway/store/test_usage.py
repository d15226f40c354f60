"""Every model call is in the ledger, and today's money is known at once."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agent.model.base import Usage, UsageRecord
from agent.model.client import LONGEST_WAIT
from gateway.store.database import Database
from gateway.store.usage import UsageLedger, account_of
from tests.gateway.conftest import Moment, on_sqlite


def call(
    cost: float | None = 0.25, *, model: str = "m", purpose: str = "chat", session: str = "main/owner"
) -> UsageRecord:
    return UsageRecord(model, purpose, session, Usage(100, 20, 3, 4), cost)


async def test_calls_are_added_up_by_purpose_session_and_model(database: Database, moment: Moment) -> None:
    ledger = UsageLedger(database, moment.clock)
    for entry in (call(), call(), call(purpose="flush"), call(session="main/person/alice"), call(model="other")):
        ledger.record(entry)
    sums = await ledger.sums(1)
    assert len(sums) == 4
    (chat,) = [total for total in sums if (total.purpose, total.session, total.model) == ("chat", "main/owner", "m")]
    assert (chat.calls, chat.input, chat.output, chat.cache_read, chat.cache_write) == (2, 200, 40, 6, 8)
    assert chat.cost == 0.5


async def test_a_call_without_a_price_is_counted_as_such(database: Database, moment: Moment) -> None:
    ledger = UsageLedger(database, moment.clock)
    ledger.record(call(None))
    ledger.record(call(0.5))
    (sums,) = await ledger.sums(1)
    assert (sums.calls, sums.unpriced, sums.cost) == (2, 1, 0.5)
    assert ledger.spent_today == 0.5


async def test_the_day_is_the_users(database: Database, moment: Moment) -> None:
    """15:30 UTC later it is past midnight in Berlin, and not yet so in UTC."""
    ledger = UsageLedger(database, moment.clock)
    ledger.record(call())
    moment.pass_(timedelta(hours=15, minutes=31))
    assert moment.now.date().isoformat() == "2026-11-21"
    assert ledger.spent_today == 0.0
    ledger.record(call(1.0))
    assert ledger.spent_today == 1.0
    assert [total.day for total in await ledger.sums(1)] == ["2026-11-22"]
    assert [total.day for total in await ledger.sums(2)] == ["2026-11-21", "2026-11-22"]


async def test_what_was_spent_is_known_after_a_restart(database: Database, moment: Moment) -> None:
    first = UsageLedger(database, moment.clock)
    first.record(call())
    await first.sums(1)
    second = UsageLedger(database, moment.clock)
    await second.load()
    assert second.spent_today == 0.25


async def test_a_call_is_counted_once_while_the_ledger_is_read_again(database: Database, moment: Moment) -> None:
    ledger = UsageLedger(database, moment.clock)
    ledger.record(call())
    reading = asyncio.create_task(ledger.load())
    await asyncio.sleep(0)  # it has asked the database
    ledger.record(call(1.0))
    await reading
    assert ledger.spent_today == 1.25
    await ledger.load()
    assert ledger.spent_today == 1.25


@pytest.mark.parametrize(
    ("session", "account"),
    [
        ("main/owner", ("owner", "")),
        ("main/owner/work", ("owner", "")),
        ("main/owner/jobs/news", ("owner", "")),
        ("main/person/alice", ("person", "alice")),
        ("main/person/alice/jobs/news", ("person", "alice")),
        ("main/group/telegram--100", ("group", "telegram--100")),
        ("other/group/telegram--100/7", ("group", "telegram--100")),
        ("", ("", "")),
    ],
)
def test_a_session_is_paid_for_by_whom_it_is(session: str, account: tuple[str, str]) -> None:
    assert account_of(session) == account


async def test_what_each_of_the_others_cost_today_is_known_after_a_restart(database: Database, moment: Moment) -> None:
    ledger = UsageLedger(database, moment.clock)
    for session in ("main/person/alice", "main/person/alice/jobs/x", "main/person/bob", "main/owner"):
        ledger.record(call(session=session))
    again = UsageLedger(database, moment.clock)
    await again.load()
    for known in (ledger, again):
        assert known.spent_today_by(("person", "alice")) == 0.5 and known.spent_today_by(("person", "bob")) == 0.25
        assert known.spent_today == 1.0
        assert known.spent_today_by(("group", "telegram--100")) == 0.0
    moment.pass_(timedelta(days=1))
    assert ledger.spent_today_by(("person", "alice")) == ledger.spent_today == 0.0


async def test_a_servers_wait_is_known_to_the_next_process_and_ends(database: Database, moment: Moment) -> None:
    first = UsageLedger(database, moment.clock).waits
    await first.begin("m", 40)
    moment.pass_(timedelta(seconds=15))
    second = UsageLedger(database, moment.clock)
    await second.load()
    assert second.waits.left("m") == 25 and second.waits.left("other") == 0
    assert await second.waits.ends() == {"m": moment.clock.instant() + timedelta(seconds=25)}
    second.waits.end("m", second.waits.standing("m"))
    assert second.waits.left("m") == 0 and await second.waits.ends() == {}
    await second.waits.begin("m", 40)
    moment.pass_(timedelta(seconds=41))
    assert second.waits.left("m") == 0 and await second.waits.ends() == {}


async def test_a_servers_wait_ends_with_the_longest_that_has_begun(database: Database, moment: Moment) -> None:
    waits = UsageLedger(database, moment.clock).waits
    first, second = await waits.begin("m", 8), await waits.begin("m", 40)
    assert await waits.begin("m", 5) is None and waits.left("m") == 40
    waits.end("m", first)
    assert waits.left("m") == 40 and await waits.ends()
    waits.end("m", second)
    assert waits.left("m") == 0 and await waits.ends() == {}


async def test_a_servers_wait_is_bounded_where_the_clock_was_changed(database: Database, moment: Moment) -> None:
    waits = UsageLedger(database, moment.clock).waits
    await waits.begin("m", 40)
    moment.pass_(-timedelta(days=400))
    assert waits.left("m") == LONGEST_WAIT
    assert await waits.ends() == {"m": moment.clock.instant() + timedelta(seconds=LONGEST_WAIT)}


@on_sqlite
async def test_a_servers_wait_that_cannot_be_stored_is_waited_for_here(database: Database, moment: Moment) -> None:
    waits = UsageLedger(database, moment.clock).waits
    await database.run(lambda connection: connection.execute("PRAGMA query_only = 1"))
    await waits.begin("m", 40)
    assert waits.left("m") == 40
