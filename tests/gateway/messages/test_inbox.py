"""On disk before anyone acts, once, until its one end."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.formats.sqlite import StorageUnavailable
from channels.message import Address, Attachment, ChatKind, InboundMessage, Origin, Quote, Sender, UnreadableEvent
from gateway.messages.inbox import AdmittedMessage, Inbox
from gateway.store import inbox_rows
from gateway.store.connection import Connection, Engine
from gateway.store.database import Database
from gateway.store.inbox_rows import OVERHEARD_KEPT
from tests.gateway.conftest import Moment, Say, on_sqlite
from tests.strength import examples

SESSION = "main/owner"


@pytest.fixture
def inbox(database: Database, moment: Moment) -> Inbox:
    return Inbox(database, moment.clock)


def to(session: str, *messages: InboundMessage, overheard: bool = False) -> list[AdmittedMessage]:
    return [AdmittedMessage(message, session, overheard) for message in messages]


async def test_invariant_01_a_message_is_on_disk_when_admit_returns(
    inbox: Inbox, engine_of: Callable[[], Engine], say: Say
) -> None:
    message = say("Water the plants")
    await inbox.admit(to(SESSION, message))
    other = engine_of()  # as another process would see it
    (row,) = inbox_rows.open_rows(other.connection)
    other.close()
    assert row.message == message
    assert row.session == SESSION


async def test_a_repeat_is_dropped(inbox: Inbox, say: Say) -> None:
    message = say("Once")
    assert len(await inbox.admit(to(SESSION, message))) == 1
    assert await inbox.admit(to(SESSION, message)) == []
    assert await inbox.admit(to(SESSION, message, message)) == []


async def test_a_repeat_of_an_answered_message_is_dropped(inbox: Inbox, say: Say) -> None:
    message = say("Once")
    rows = await inbox.admit(to(SESSION, message))
    await inbox.finish(rows, "reply")
    assert await inbox.admit(to(SESSION, message)) == []
    assert (await inbox.counts()).waiting == 0


async def test_what_an_answer_needs_is_kept_until_it_is_written(inbox: Inbox, database: Database, say: Say) -> None:
    key = f"interaction:1442000000000000000:2:{'t' * 86}"
    messages = [dataclasses.replace(say(text), answer_with=key + text) for text in ("/status", "/help")]
    rows = await inbox.admit(to(SESSION, *messages))
    await inbox.finish(rows[:1], "command")
    kept = await database.run(inbox_rows.numbered, [row.seq for row in rows])
    assert [row.message for row in kept] == [dataclasses.replace(messages[0], answer_with=""), messages[1]]


async def test_the_same_id_in_another_channel_is_another_message(inbox: Inbox, say: Say) -> None:
    message = say("Hi")
    elsewhere = dataclasses.replace(message, address=Address("discord", "1"))
    assert len(await inbox.admit(to(SESSION, message, elsewhere))) == 2


async def test_what_has_no_end_comes_back_in_order(database: Database, moment: Moment, say: Say) -> None:
    first = Inbox(database, moment.clock)
    rows = await first.admit(to(SESSION, say("one"), say("two"), say("three")))
    await first.take(rows[:1], "turn-1")
    await first.finish(rows[1:2], "reply")
    left = await Inbox(database, moment.clock).load()
    assert [(row.message.text, row.turn, row.attempts) for row in left] == [("one", "turn-1", 1), ("three", "", 0)]


async def test_what_begins_a_turn_at_once_is_bound_to_it_as_it_comes(
    inbox: Inbox, database: Database, moment: Moment, say: Say
) -> None:
    (row,) = await inbox.admit([AdmittedMessage(say("Hello"), SESSION, turn="turn-1")])

    async def on_disk() -> list[tuple[str, int]]:
        return [(row.turn, row.attempts) for row in await database.run(inbox_rows.open_rows)]

    assert await on_disk() == [(row.turn, row.attempts)] == [("turn-1", 1)]
    await inbox.take([row], "turn-1")
    assert await on_disk() == [("turn-1", 1)], "the same beginning is counted once"
    await inbox.take([row], "turn-1")
    assert await on_disk() == [("turn-1", 1)], "so is another one in the same process"
    later = Inbox(database, moment.clock)
    await later.take(await later.load(), "turn-1")
    assert await on_disk() == [("turn-1", 2)], "another process counts"


async def test_what_is_in_hand_when_the_process_is_asked_to_end_counts_as_not_tried(
    inbox: Inbox, database: Database, say: Say
) -> None:
    (bound,) = await inbox.admit([AdmittedMessage(say("Hello"), SESSION, turn="turn-1")])
    (taken, untouched) = await inbox.admit(to(SESSION, say("Hello?"), say("Well?")))
    await inbox.take([taken], "turn-2", alone=True)
    await inbox.forgive()
    await inbox.take([bound, taken, untouched], "turn-3")

    def counts(connection: Connection) -> list[tuple[int, int]]:
        return [tuple(row) for row in connection.execute("SELECT attempts, trying_alone FROM inbox")]

    assert await database.run(counts) == [(0, 0)] * 3


async def test_an_edit_rewords_what_waits_and_nothing_else(inbox: Inbox, say: Say) -> None:
    asked = say("Bay milk")
    (row,) = await inbox.admit(to(SESSION, asked))
    assert await inbox.reword(say("Buy milk", edit_of=asked.platform_id))
    assert inbox.row(row.seq).message == dataclasses.replace(asked, text="Buy milk")

    assert not await inbox.reword(say("Sell milk", sender="666", edit_of=asked.platform_id))
    assert not await inbox.reword(say("Buy milk", chat="2", edit_of=asked.platform_id))
    await inbox.take([row], "turn")
    assert not await inbox.reword(say("Too late", edit_of=asked.platform_id))
    assert inbox.row(row.seq).message.text == "Buy milk"


async def test_a_reworded_message_comes_back_reworded(
    inbox: Inbox, database: Database, moment: Moment, say: Say
) -> None:
    asked = say("Bay milk")
    await inbox.admit(to(SESSION, asked))
    await inbox.reword(say("Buy milk", edit_of=asked.platform_id))
    assert [row.message.text for row in await Inbox(database, moment.clock).load()] == ["Buy milk"]


async def test_the_last_fifty_overheard_messages_are_kept(inbox: Inbox, say: Say) -> None:
    for number in range(OVERHEARD_KEPT + 7):
        await inbox.admit(to("main/group/a", say(f"talk {number}", group=True), overheard=True))
    await inbox.admit(to("main/group/b", say("elsewhere", group=True), overheard=True))
    (call,) = await inbox.admit(to("main/group/a", say("@bot well?", group=True)))
    kept = await inbox.overheard("main/group/a", call.seq)
    assert [row.message.text for row in kept] == [f"talk {number}" for number in range(7, OVERHEARD_KEPT + 7)]


async def test_only_what_was_said_before_is_context(inbox: Inbox, say: Say) -> None:
    await inbox.admit(to("main/group/a", say("before", group=True), overheard=True))
    (call,) = await inbox.admit(to("main/group/a", say("@bot", group=True)))
    await inbox.admit(to("main/group/a", say("after", group=True), overheard=True))
    assert [row.message.text for row in await inbox.overheard("main/group/a", call.seq)] == ["before"]


async def test_overheard_messages_are_no_work_after_a_restart(inbox: Inbox, say: Say) -> None:
    await inbox.admit(to("main/group/a", say("talk", group=True), overheard=True))
    assert await inbox.load() == ()


async def test_an_unreadable_event_is_kept_with_its_raw_text(inbox: Inbox, database: Database) -> None:
    event = UnreadableEvent("update:5", "telegram", '{"update_id": 5, "mess', "it is no JSON")
    await inbox.admit([], [event, event])
    assert (await inbox.counts()).unreadable == 1

    def raw(connection: Connection) -> tuple[str, str]:
        row = connection.execute("SELECT message, outcome FROM inbox").fetchone()
        return row["message"], row["outcome"]

    assert await database.run(raw) == (event.raw, event.why)


@on_sqlite
async def test_a_full_disk_keeps_none_of_the_batch(inbox: Inbox, database: Database, say: Say) -> None:
    await database.run(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())
    messages = [say("small"), say("x" * 500_000)]
    with pytest.raises(StorageUnavailable):
        await inbox.admit(to(SESSION, *messages))
    assert (await inbox.counts()).waiting == 0
    await database.run(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchone())
    assert len(await inbox.admit(to(SESSION, *messages))) == 2


async def test_counts_name_the_oldest(inbox: Inbox, moment: Moment, say: Say) -> None:
    await inbox.admit(to(SESSION, say("one"), say("two")))
    counts = await inbox.counts()
    assert (counts.waiting, counts.oldest) == (2, "2026-11-21T07:30:00.000Z")


_texts = st.text(st.characters(codec="utf-8"), max_size=300)
_messages = st.builds(
    InboundMessage,
    id=st.uuids().map(str),
    address=st.builds(
        Address, channel=st.just("telegram"), chat_id=st.text("0123456789-", min_size=1), thread_id=st.none() | _texts
    ),
    kind=st.sampled_from(ChatKind),
    sender=st.builds(Sender, id=st.text("0123456789", min_size=1), name=_texts, is_bot=st.booleans()),
    text=_texts,
    sent_at=st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    platform_id=_texts,
    attachments=st.lists(st.builds(Attachment, kind=_texts, name=_texts, size=st.none() | st.integers(0))).map(tuple),
    quote=st.none() | st.builds(Quote, author=_texts, text=_texts, forwarded=st.booleans()),
    calls_bot=st.booleans(),
    continues=st.booleans(),
    origin=st.sampled_from(Origin),
    group_name=_texts,
    parent_chat=_texts,
)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
@given(messages=st.lists(_messages, min_size=1, max_size=5))
def test_every_message_comes_back_as_it_was(
    messages: list[InboundMessage], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async def there_and_back(path: Path) -> list[InboundMessage]:
        database = await Database.open(path)
        moment = Moment()
        await Inbox(database, moment.clock).admit(to(SESSION, *messages))
        rows = await Inbox(database, moment.clock).load()
        await database.aclose()
        return [row.message for row in rows]

    assert asyncio.run(there_and_back(tmp_path_factory.mktemp("inbox") / "daybook.db")) == messages


async def test_the_longest_message_is_kept_whole(inbox: Inbox, database: Database, moment: Moment, say: Say) -> None:
    text = "‮א\0 " * 300_000
    await inbox.admit(to(SESSION, say(text)))
    (row,) = await Inbox(database, moment.clock).load()
    assert row.message.text == text


async def test_half_a_character_is_kept_as_well_as_it_can_be(
    inbox: Inbox, database: Database, moment: Moment, say: Say
) -> None:
    (row,) = await inbox.admit(to(SESSION, say("before \ud83d after")))
    (back,) = await Inbox(database, moment.clock).load()
    assert back.seq == row.seq
    assert back.message.text.startswith("before ")
    assert back.message.text.endswith(" after")
