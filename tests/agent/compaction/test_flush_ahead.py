"""The flush behind an answer: one a cycle, and never two at a time."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.compaction.flush_state import flush_state_of
from agent.model.base import AccessDenied, ModelError
from agent.model.scripted import Hold, ScriptedAnswer
from agent.session.entries import CompactionEntry, Entry, MarkEntry
from agent.settings import FlushSettings
from tests.agent.long_conversation import OWNER, LongTalk
from tests.strength import examples


async def owes(talk: LongTalk) -> bool:
    await talk.agent.flush_ahead(OWNER, talk.scope)
    return bool(list(talk.sessions.rglob("*.owed")))


async def until_it_owes(talk: LongTalk, size: int = 400) -> None:
    while not await owes(talk):
        await talk.say("more", size=size)
    assert "flush" not in talk.order


@settings(max_examples=examples(8))
@given(st.lists(st.integers(50, 1_200), min_size=1, max_size=12))
def test_however_much_is_said_each_compaction_has_one_flush_before_it(sizes: list[int]) -> None:
    async def cycles(talk: LongTalk) -> None:
        async with talk.behind_it():
            for size in itertools.cycle(sizes):
                await talk.say("more", size=size)
                await talk.agent.flush_ahead(OWNER, talk.scope)
                await talk.agent.idle()
                if len(talk.entries("compaction")) == 4:
                    return

    with tempfile.TemporaryDirectory() as folder:
        talk = LongTalk(Path(folder), window=6_000)
        asyncio.run(cycles(talk))
        marks = [kind for kind in talk.order if kind in ("flush", "compaction")]
        assert marks[:8] == ["flush", "compaction"] * 4 and len(talk.flushes()) == marks.count("flush")


async def test_of_messages_of_one_size_none_waits(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    async with talk.behind_it():
        for _ in range(30):
            before = len(talk.order)
            await talk.say("more", size=400)
            assert "flush" not in talk.order[before:]
            await talk.agent.flush_ahead(OWNER, talk.scope)
            await talk.agent.idle()
    assert len(talk.flushes()) >= 2 <= len(talk.entries("compaction"))


async def test_a_message_larger_than_the_one_before_is_answered_after_its_flush(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    while "flush" not in talk.order:
        await talk.say("hi")
        assert not await owes(talk), "a message like that sets nothing off"
        await talk.say("much at once", size=700)
    assert talk.order[-2:] == ["flush", "turn"]
    assert not await owes(talk), "the cycle has its flush"


async def test_a_message_counts_for_no_more_than_lies_between_flush_and_compaction(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, window=30_000)
    for _ in range(3):
        await talk.say("much at once", size=7_000)
    assert not await owes(talk)
    await talk.say("much at once", size=7_000)
    assert talk.order[3] == "flush", "which one like that did set off"


@pytest.mark.parametrize("kind", ["not answered", "disabled"])
async def test_nothing_is_owed_where_no_flush_would_come(tmp_path: Path, kind: str) -> None:
    talk = LongTalk(tmp_path, flush=FlushSettings(enabled=kind != "disabled"))
    if kind == "not answered":
        await talk.say("more", size=4_500)
        talk.model.then(AccessDenied("The key is wrong."))
    await talk.say("more", size=800)
    assert not await owes(talk)


@pytest.mark.parametrize("problem", [None, AccessDenied("The key is wrong.")])
async def test_who_needs_room_waits_for_the_flush_that_goes_on_and_asks_for_no_second(
    tmp_path: Path, problem: ModelError | None
) -> None:
    talk = LongTalk(tmp_path)
    await until_it_owes(talk)
    hold = Hold()
    talk.behind["flush"] = ScriptedAnswer("NO_REPLY", hold=hold, breaks=problem)
    async with talk.behind_it():
        await hold.reached.wait()
        turn = asyncio.create_task(talk.say("no room for that", size=450))
        answers = talk.order.count("turn")
        while sum(one["role"] == "user" for one in talk.entries("message")) == answers:  # noqa: ASYNC110 - a file
            await asyncio.sleep(0)
        hold.released.set()
        await turn
    assert talk.order.count("flush") == 1
    assert len(talk.flushes("failed" if problem else "done")) == 1


async def test_what_is_owed_is_not_done_where_the_conversation_has_room_again(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await until_it_owes(talk)
    await talk.agent.compact(OWNER, talk.scope)
    async with talk.behind_it():
        pass
    assert [kind for kind in talk.order if kind in ("flush", "compaction")] == ["flush", "compaction"]
    assert not list(talk.sessions.rglob("*.owed"))


def test_a_flush_that_ends_in_another_cycle_than_its_own_does_not_count_there() -> None:
    def mark(state: str, cycle: int) -> Entry:
        return MarkEntry("", "", "flush", {"state": state, "reason": "threshold", "cycle": cycle})

    late: list[Entry] = [mark("started", 0), CompactionEntry("", "", "s", ""), mark("done", 0)]
    assert flush_state_of(late).flushed is None and flush_state_of(late).number == 1
    assert flush_state_of([*late, mark("started", 1), mark("done", 1)]).flushed == 1
