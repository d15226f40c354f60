"""Where a task begins: once, not for what was stopped, and even if the turn that asks is cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from agent.model.base import Usage
from agent.values import ResultKind, TurnResult
from channels.ids import PersonId
from channels.manifest import ChannelRules
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.messages.outbox import Outbox
from gateway.policy.access import Access
from gateway.store import outbox_rows
from gateway.store.database import Database
from gateway.store.inbox_rows import InboxRow
from gateway.turns.tasks import Tasks
from tests.gateway.conftest import OWNER, Moment, Say

SESSION = "main/owner"


@dataclass
class Desk:
    database: Database
    inbox: Inbox
    tasks: Tasks
    asking: InboxRow
    posted: asyncio.Queue[InboxRow] = field(default_factory=asyncio.Queue)

    async def begin(self, id: str = "one") -> bool:
        return await self.tasks.begin(self.asking, SESSION, id, "Compare the flats")

    async def signs(self) -> int:
        return len(await self.database.run(outbox_rows.open_rows))


@pytest.fixture
async def desk(database: Database, moment: Moment, say: Say) -> AsyncIterator[Desk]:
    inbox, outbox = Inbox(database, moment.clock), Outbox(database, moment.clock, {})
    access = Access(database, moment.clock, {"telegram": ChannelRules()}, frozenset([PersonId("telegram", OWNER)]), {})
    tasks = Tasks(database, moment.clock, access, inbox, outbox)
    (asking,) = await inbox.admit([AdmittedMessage(say("Compare them"), SESSION)])
    desk = Desk(database, inbox, tasks, asking)
    tasks.post = desk.posted.put_nowait
    yield desk


async def test_a_call_begins_one_task_with_one_sign(desk: Desk) -> None:
    assert await desk.begin()
    assert not await desk.begin()
    assert desk.posted.qsize() == await desk.signs() == 1
    assert (await desk.tasks.fate(desk.asking, "one")).known
    assert not (await desk.tasks.fate(desk.asking, "two")).known


async def test_what_is_over_begins_none(desk: Desk) -> None:
    await desk.inbox.finish([desk.asking], "stopped")
    assert not await desk.begin()
    assert desk.posted.empty() and await desk.signs() == 0


async def test_a_stop_while_it_begins_ends_it(desk: Desk) -> None:
    beginning = asyncio.create_task(desk.begin())
    assert desk.tasks.stop(SESSION, desk.asking.seq + 1) == []
    assert await beginning
    assert desk.posted.empty() and desk.tasks.of(SESSION) == []
    assert (await desk.tasks.fate(desk.asking, "one")).outcome == "stopped"


async def test_a_stop_that_came_before_the_question_ends_nothing(desk: Desk) -> None:
    assert desk.tasks.stop(SESSION, desk.asking.seq) == []
    assert await desk.begin()
    assert desk.posted.qsize() == 1
    assert desk.tasks.stop(SESSION, desk.asking.seq) == []


async def test_a_turn_that_is_cut_off_as_it_begins_loses_no_task(desk: Desk) -> None:
    beginning = asyncio.create_task(desk.begin())
    await asyncio.sleep(0)
    beginning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await beginning
    assert (await desk.posted.get()).message.is_task


async def test_it_has_its_time_however_often_it_is_started(desk: Desk, moment: Moment) -> None:
    await desk.begin()
    row = desk.posted.get_nowait()
    assert desk.tasks.seconds_left(row) == 1800
    moment.pass_(timedelta(minutes=20))
    assert desk.tasks.seconds_left(row) == 600


async def test_nobody_hears_the_result_who_may_not_any_more(database: Database, moment: Moment, desk: Desk) -> None:
    await desk.begin()
    row = desk.posted.get_nowait()
    end = TurnResult(ResultKind.REPLY, "The second one.", Usage())
    (result,) = desk.tasks.results(row, end)
    assert result.session == SESSION and result.message.text == "The second one."
    locked = Access(database, moment.clock, {"telegram": ChannelRules()}, frozenset(), {})
    assert Tasks(database, moment.clock, locked, desk.inbox, Outbox(database, moment.clock, {})).results(row, end) == ()
