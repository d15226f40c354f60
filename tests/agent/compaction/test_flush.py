"""The gate before every way of losing context."""

from __future__ import annotations

import asyncio
import itertools
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.compaction.flush import MOST_ROUNDS
from agent.compaction.flush_state import flush_state_of
from agent.context.repair import repair
from agent.memory.log_writer import append_log
from agent.model.base import AccessDenied, ContextOverflow, ModelRequest
from agent.model.scripted import Call, Hold, Reply, ScriptedAnswer, Step
from agent.session.entries import CompactionEntry, Entry, MarkEntry
from agent.settings import FlushSettings
from agent.values import ResultKind
from tests.agent.home import tool
from tests.agent.long_conversation import OWNER, LongTalk, counted, in_turn, told
from tests.strength import examples


async def test_a_flush_writes_what_lasts_and_says_nothing_to_anybody(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    calls = (Call("memory_append", {"text": "Alice sails."}), Call("memory_append", {"text": "Bob rows."}))
    talk.behind["flush"] = ScriptedAnswer("Noted, Alice!", calls)
    ends = []
    while not talk.flushes():
        ends.append(await talk.say("I sail", size=600))

    assert talk.read("memory/2026-11-21.md") == "# 2026-11-21\n\n- 08:30 Alice sails.\n- 08:30 Bob rows.\n"
    assert len(talk.asked_for("flush")) == 1
    assert {(end.kind, end.text) for end in ends} == {(ResultKind.REPLY, "Fine.")}
    assert [(entry["reason"], entry["cycle"], entry["written"]) for entry in talk.flushes()] == [
        ("threshold", 0, ["memory/2026-11-21.md"])
    ]
    assert [change.by for change in talk.agent.history.changes()] == ["flush", "flush"]
    assert "sails" not in "".join(told(request) for request in talk.model.requests)


async def test_a_flush_writes_out_a_day_where_all_was_said_on_one(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    talk.behind["flush"] = Call("memory_append", {"text": "Alice sails tomorrow."})
    await talk.until("flush")
    assert talk.read("memory/2026-11-21.md").endswith("- 08:30 Alice sails tomorrow. (2026-11-22)\n")


async def test_a_flush_reckons_no_day_where_it_cannot_know_which_was_spoken_of(tmp_path: Path) -> None:
    """The prompt asks for days in full; what a model leaves relative may be of any day of the talk."""
    talk = LongTalk(tmp_path)
    talk.behind["flush"] = Call("memory_append", {"text": "Alice sails tomorrow."})
    await talk.say("I sail tomorrow", size=100)
    talk.watch.later(days=2)
    await talk.until("flush")
    assert talk.read("memory/2026-11-23.md").endswith(" Alice sails tomorrow.\n")
    assert "the day that is meant" in str(talk.asked_for("flush")[0].messages[-1])


async def test_a_flush_asks_on_the_prefix_of_the_last_request(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await talk.until("flush")
    (flush,) = talk.asked_for("flush")
    before = talk.model.requests[-2]
    assert (flush.system, flush.tools, flush.model) == (before.system, before.tools, before.model)
    assert flush.messages[: len(before.messages)] == before.messages
    answer, prompt = flush.messages[len(before.messages) :]
    assert answer.role == "assistant" and prompt.role == "user"
    words = str(prompt.content[0]["text"])
    assert "memory/2026-11-21.md" in words and "2026-11-21" in words and "NO_REPLY" in words
    assert talk.model.requests[-1].messages[: len(before.messages)] == before.messages


@settings(max_examples=examples(8))
@given(st.lists(st.integers(50, 1_200), min_size=1, max_size=12))
def test_five_cycles_flush_exactly_five_times_each_before_its_compaction(sizes: list[int]) -> None:
    async def cycles(talk: LongTalk) -> None:
        for size in itertools.cycle(sizes):
            await talk.say("more", size=size)
            if len(talk.entries("compaction")) == 5:
                return

    with tempfile.TemporaryDirectory() as folder:
        talk = LongTalk(Path(folder), window=6_000)
        asyncio.run(cycles(talk))
        marks = [kind for kind in talk.order if kind != "turn"]
        assert marks == ["flush", "compaction"] * 5
        assert [entry["cycle"] for entry in talk.flushes()] == [0, 1, 2, 3, 4]


def test_the_first_cycle_has_no_flush_yet() -> None:
    assert flush_state_of([]).flushed is None


def test_a_cycle_is_flushed_once_and_the_next_anew() -> None:
    def mark(state: str, reason: str = "threshold") -> Entry:
        return MarkEntry("", "", "flush", {"state": state, "reason": reason})

    first = [mark("started"), mark("done")]
    assert (flush_state_of(first).number, flush_state_of(first).flushed) == (0, 0)
    second: list[Entry] = [*first, CompactionEntry("", "", "s", "")]
    assert (flush_state_of(second).number, flush_state_of(second).flushed, flush_state_of(second).tries) == (1, 0, 0)
    assert flush_state_of([*second, mark("started")]).tries == 1  # cut by a crash
    left = [mark("started", "switch"), mark("done", "switch")]
    assert (flush_state_of(left).number, flush_state_of(left).flushed) == (1, 0)


async def test_three_failures_end_it_for_the_cycle_and_hold_up_no_reply(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    talk.behind |= {"flush": AccessDenied("The key is wrong."), "compaction": AccessDenied("The key is wrong.")}
    ends = [await talk.say("on", size=250) for _ in range(18)]
    assert all(end.text.startswith("Fine.") for end in ends if end.kind is ResultKind.REPLY)
    assert [entry["why"] for entry in talk.flushes("failed")] == ["The key is wrong."] * 3


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (Call("write_file", {"path": "MEMORY.md", "content": "gone"}), "Not now"),
        (Call("edit_file", {"path": "MEMORY.md", "old_text": "tea", "new_text": "x"}), "Not now"),
        (Call("memory_delete", {"path": "memory/notes/boat.md"}), "Not now"),
        (Call("memory_update", {"old_text": "tea", "new_text": "x"}), "empty"),
        (Call("memory_save", {"name": "Boat", "description": "d", "type": "user", "content": "x"}), "There is a note"),
        (Call("memory_append", {"text": "x", "path": "memory/2020-01-01.md"}), "no argument"),
        (Call("memory_append", "{broken"), "JSON"),
        (Call("rm"), "Not now"),
    ],
)
async def test_what_does_not_add_to_memory_is_refused(tmp_path: Path, call: Call, says: str) -> None:
    talk = LongTalk(tmp_path)
    (talk.workspace / "MEMORY.md").write_text("- likes tea\n")
    note = talk.workspace / "memory/notes/boat.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\nname: Boat\n---\nA yawl.\n")
    talk.behind["flush"] = in_turn(call, "NO_REPLY")
    await talk.until("flush")
    await talk.say()
    result = talk.asked_for("flush")[1].messages[-1].content[0]
    assert result["is_error"] and says in str(result["content"])
    assert talk.read("MEMORY.md") == "- likes tea\n" and "yawl" in note.read_text()


async def test_a_flush_searches_as_the_talk_does(tmp_path: Path) -> None:
    """With the agent's index, which knows past talks."""
    talk = LongTalk(tmp_path)
    await talk.say(f"{'far too long for the log ' * 50}windmill")
    async with talk.behind_it():
        await talk.agent.new_session(OWNER, talk.scope)
    talk.behind["flush"] = in_turn(Call("memory_search", {"query": "windmill"}), "NO_REPLY")
    await talk.say("Hello")
    async with talk.behind_it():
        await talk.agent.new_session(OWNER, talk.scope)
    assert "sessions/" in told(talk.asked_for("flush")[-1])


async def test_a_model_that_never_stops_is_stopped(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    looks = ScriptedAnswer(calls=(Call("memory_list"), Call("memory_append", {"text": "again"})))
    talk.behind["flush"] = looks
    await talk.until("flush")
    assert len(talk.asked_for("flush")) == MOST_ROUNDS
    assert talk.flushes()


async def test_what_failed_is_tried_again_and_what_was_written_is_not(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    first = ScriptedAnswer(calls=(Call("memory_append", {"text": "Alice sails."}), Call("memory_append", "{cut")))
    talk.behind["flush"] = in_turn(first, Call("memory_append", {"text": "Bob rows."}))
    await talk.until("flush")
    await talk.say()
    results = talk.asked_for("flush")[1].messages[-1].content
    assert [result.get("is_error", False) for result in results] == [False, True]
    assert len(talk.asked_for("flush")) == 2 and len(talk.flushes()) == 1
    assert talk.read("memory/2026-11-21.md").count("Alice sails.") == 1 and "Bob rows." in talk.read(
        "memory/2026-11-21.md"
    )


def strict(limit: int, reply: Reply) -> Step:
    """A server with a window of so many tokens."""

    def answer(request: ModelRequest) -> Reply:
        if counted(request).input > limit:
            raise ContextOverflow("prompt is too long")
        return reply

    return answer


@pytest.mark.parametrize(("limit", "state"), [(4_500, "done"), (3_000, "done"), (100, "skipped")])
async def test_a_server_smaller_than_it_says_flushes_a_part_or_nothing_and_the_reply_comes(
    tmp_path: Path, limit: int, state: str
) -> None:
    talk = LongTalk(tmp_path)
    talk.behind["flush"] = strict(limit, Call("memory_append", {"text": "Alice sails."}))
    await talk.until("flush")
    assert (await talk.say("more", size=600)).text == "Fine."
    (entry,) = talk.flushes(state)
    assert "fit" in str(entry["why"]) and not talk.flushes("failed")
    last = talk.asked_for("flush")[-1]
    assert last.messages == repair(last.messages)
    if state == "done":
        assert "Alice sails." in talk.read("memory/2026-11-21.md") and "more word" in told(last)
    else:
        assert len(talk.asked_for("flush")) <= 4


async def test_a_turn_larger_than_the_window_is_flushed_without_its_oldest_steps(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, Call("read", {"n": 1}), window=9_000)
    await talk.say("read it", tool("read", lambda _: "x" * 49_000))
    (asked,) = talk.asked_for("flush")
    assert counted(asked).input + asked.max_tokens <= 9_000 and "left out here" in told(asked)
    assert "newest part" in str(talk.flushes()[0]["why"])


async def test_midnight_within_a_flush_moves_no_file(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    talk.watch.moment = datetime(2026, 11, 21, 22, 59, tzinfo=UTC)
    number = iter(range(10))

    def flush(request: ModelRequest) -> Reply:
        talk.watch.moment = datetime(2026, 11, 21, 23, 1, tzinfo=UTC)
        return Call("memory_append", {"text": "Alice sails."}) if next(number) else Call("memory_list")

    talk.behind["flush"] = flush
    await talk.until("flush")
    assert talk.read("memory/2026-11-21.md").endswith("- 23:59 Alice sails.\n")
    assert not (talk.workspace / "memory/2026-11-22.md").exists()


@pytest.mark.parametrize(
    ("start", "end", "entry", "next_entry"),
    [
        ("2026-10-25T00:59", "2026-10-25T01:01", "02:59", "02:01"),  # 02:59 CEST, then 02:01 CET
        ("2026-03-29T00:59", "2026-03-29T01:01", "01:59", "03:01"),  # 01:59 CET, then 03:01 CEST
        ("2026-10-24T21:59", "2026-10-24T22:01", "23:59", "00:01"),
        ("2026-10-25T22:59", "2026-10-25T23:01", "23:59", "00:01"),  # of the day of 25 hours
    ],
)
async def test_a_change_of_the_clock_within_a_flush_moves_nothing(
    tmp_path: Path, start: str, end: str, entry: str, next_entry: str
) -> None:
    talk = LongTalk(tmp_path)
    before, after = (datetime.fromisoformat(f"{moment}+00:00") for moment in (start, end))
    day, next_day = (talk.watch.clock.local(moment).date() for moment in (before, after))
    log = talk.workspace / f"memory/{day}.md"
    log.parent.mkdir()
    log.write_text(f"# {day}\n\n- 00:30 woke up\n")
    talk.watch.moment = before
    number = iter(range(10))

    def flush(request: ModelRequest) -> Reply:
        talk.watch.moment = after
        return "NO_REPLY" if next(number) else Call("memory_append", {"text": "Alice sails."})

    talk.behind["flush"] = flush
    await talk.until("flush")
    asked = str(talk.asked_for("flush")[-1].messages)
    assert f"Today is {day}, {entry} Europe/Berlin; memory_append writes to memory/{day}.md" in asked
    assert log.read_text() == f"# {day}\n\n- 00:30 woke up\n- {entry} Alice sails.\n"
    if next_day != day:
        assert not (talk.workspace / f"memory/{next_day}.md").exists()
    append_log(talk.scope, talk.watch.clock, "rain")
    lines = (talk.workspace / f"memory/{next_day}.md").read_text()
    assert lines.endswith(f"- {next_entry} rain\n") and lines.count("# ") == 1


async def test_where_nothing_can_be_written_it_is_skipped_and_the_reason_kept(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    (talk.workspace / "memory").write_text("a file in the folder's place")
    await talk.until("flush")
    (skipped,) = talk.flushes("skipped")
    assert "not writable" in str(skipped["why"]) and not talk.asked_for("flush")


async def test_disabled_is_recorded_once_per_cycle(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, flush=FlushSettings(enabled=False))
    await talk.until("compaction")
    assert [entry["why"] for entry in talk.flushes("skipped")] == ["disabled"]
    assert not talk.asked_for("flush")


async def test_own_prompts_never_lose_the_safety_lines(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, flush=FlushSettings(prompt="Write a poem.", system_prompt="Be a bard."))
    await talk.until("flush")
    words = str(talk.asked_for("flush")[0].messages[-1].content[0]["text"])
    assert "Write a poem." in words and "Be a bard." in words
    assert "only to add" in words and "memory/2026-11-21.md" in words and "NO_REPLY" in words


async def test_invariant_05_the_gate_stands_before_every_way_of_losing_context(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, idle=60)
    async with talk.behind_it():
        await talk.say("first")
        await talk.agent.new_session(OWNER, talk.scope)
        await talk.agent.idle()
        talk.watch.later(minutes=1)
        await talk.say("second")
        first = (await talk.agent.sessions(OWNER))[-1]
        await talk.agent.switch(OWNER, talk.scope, first.id)
        await talk.agent.idle()
        await talk.say("third")
        talk.watch.later(hours=2)
        await talk.say("fourth")
        await talk.agent.idle()
    reasons = [
        json.loads(line)["reason"]
        for path in sorted(talk.sessions.rglob("*.jsonl"))
        for line in path.read_bytes().splitlines()
        if b'"state":"done"' in line
    ]
    assert sorted(reasons) == ["idle", "new", "switch"]


@pytest.mark.parametrize(
    ("last", "minutes", "reset"),
    [
        ("2026-10-25T00:50", 59, False),  # the hour that comes twice
        ("2026-10-25T00:50", 61, True),
        ("2026-03-29T00:50", 20, False),  # the hour that is left out
        ("2026-03-29T00:50", 61, True),
    ],
)
async def test_an_idle_hour_is_an_hour_over_a_change_of_the_clock(
    tmp_path: Path, last: str, minutes: int, reset: bool
) -> None:
    talk = LongTalk(tmp_path, idle=60)
    talk.watch.moment = datetime.fromisoformat(f"{last}+00:00")
    await talk.say("first")
    talk.watch.later(minutes=minutes)
    await talk.say("second")
    assert len(await talk.agent.sessions(OWNER)) == (2 if reset else 1)


async def test_new_waits_for_no_model_and_what_it_owes_survives_a_crash(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    hold = Hold()
    await talk.say("My boat is called Luna")
    talk.behind["flush"] = ScriptedAnswer("NO_REPLY", hold=hold)
    running = asyncio.create_task(talk.agent.run())
    await talk.agent.new_session(OWNER, talk.scope)
    await hold.reached.wait()
    assert "My boat is called Luna" in talk.read("memory/2026-11-21.md")
    assert (await talk.say("hi again")).text == "Fine."
    running.cancel()
    await asyncio.wait({running})

    talk.started_anew()
    talk.behind |= {"flush": "NO_REPLY", "consolidation": "They spoke of the boat Luna."}
    async with talk.behind_it():
        pass
    assert talk.read("memory/HISTORY.md").startswith(
        "# History\n\n[2026-11-21 08:30] They spoke of the boat Luna. (talk "
    )
    assert not list(talk.sessions.rglob("*.owed"))
