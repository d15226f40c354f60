"""Old tool results shown shortened, the same way for ever after."""

from __future__ import annotations

from pathlib import Path

from agent.context.replay import context
from agent.model.base import Block, Json, result_block
from agent.model.scripted import Call, ScriptedAnswer
from agent.session.entries import Entry, MessageEntry, Meta
from agent.session.jsonl import entry_line, read_entry
from agent.session.prune import head_and_tail, older_than, prune_entry
from tests.agent.home import tool
from tests.agent.long_conversation import OWNER, LongTalk, counted, told

LONG = "head " + "x" * 9_000 + " tail"


def result(id: str, text: str, turn: str = "t") -> MessageEntry:
    return MessageEntry(id, "t", "user", (result_block(f"c{id}", text),), Meta(turn, tool="read"))


def call(id: str, turn: str = "t") -> MessageEntry:
    block: Block = {"type": "tool_use", "id": f"c{id}", "name": "read", "input": {}}
    return MessageEntry(f"a{id}", "t", "assistant", (block,), Meta(turn))


def shown(entries: list[Entry]) -> list[Json]:
    return [b["content"] for m in context(entries, "").messages for b in m.content if b["type"] == "tool_result"]


def test_head_and_tail_stay_and_what_is_short_is_left_alone() -> None:
    cut = head_and_tail(LONG, 4_000)
    assert cut.startswith("head x") and cut.endswith("x tail") and len(cut) < 2_100 and "left out here" in cut
    assert head_and_tail("short", 4_000) == "short"


def test_what_stands_before_the_named_entry_is_shortened_and_what_comes_later_is_not() -> None:
    entries: list[Entry] = [call("1"), result("1", LONG), call("2", "u"), result("2", LONG, "u")]
    entries.append(prune_entry("p", "t", "a2", 4_000))
    entries += [call("3", "v"), result("3", LONG, "v")]
    cut = head_and_tail(LONG, 4_000)
    assert shown(entries) == [cut, LONG, LONG]
    entries.append(prune_entry("q", "t", "", 1_000))
    assert shown(entries) == [head_and_tail(LONG, 1_000)] * 3
    again = [read_entry(entry_line(entry)) for entry in entries]
    assert context(again, "") == context(entries, "")


def test_a_prune_names_another_prefix_so_that_thinking_is_left_out() -> None:
    entries: list[Entry] = [call("1"), result("1", LONG)]
    assert context(entries, "").prefix != context([*entries, prune_entry("p", "t", "", 100)], "").prefix
    assert context(entries, "").prefix == context([*entries, prune_entry("p", "t", "", 99_000)], "").prefix


def test_a_damaged_prune_changes_nothing() -> None:
    entries: list[Entry] = [call("1"), result("1", LONG)]
    entries.append(read_entry(b'{"id":"p","ts":"t","type":"prune","before":7,"limit":"x"}'))
    assert shown(entries) == [LONG]


def test_older_turns() -> None:
    entries: list[Entry] = [call(str(n), f"t{n}") for n in range(5)]
    assert older_than(entries, 3) == "a2" and older_than(entries, 5) is None


async def test_only_a_cold_cache_or_a_near_limit_shortens(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, Call("read", {"n": 1}), "Read.", window=100_000)
    await talk.say("read it", tool("read", lambda _: LONG))
    for _ in range(4):
        await talk.say("and on")
    assert LONG in told(talk.model.requests[-1])
    talk.watch.later(minutes=6)
    await talk.say("after a break")
    assert LONG not in told(talk.model.requests[-1]) and "left out here" in told(talk.model.requests[-1])
    pruned = talk.model.requests[-1].messages
    await talk.say("and on")
    assert talk.model.requests[-1].messages[: len(pruned)] == pruned
    assert len(talk.entries("prune")) == 1


async def test_a_flush_keeps_the_cache_warm_no_longer_than_an_answer(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, Call("read", {"n": 1}), "Read.", window=100_000)
    await talk.say("read it", tool("read", lambda _: LONG))
    for _ in range(4):
        await talk.say("and on")
    (left,) = await talk.agent.sessions(OWNER)
    async with talk.behind_it():
        await talk.agent.new_session(OWNER, talk.scope)
    assert talk.asked_for("flush")
    await talk.agent.switch(OWNER, talk.scope, left.id)
    talk.watch.later(minutes=6)
    await talk.say("back again")
    assert LONG not in told(talk.model.requests[-1]) and "left out here" in told(talk.model.requests[-1])


async def test_pruning_that_suffices_saves_the_compaction(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, window=12_000, reserve=3_000)
    for _ in range(2):
        talk.model.then(Call("read", {"n": 1}), lambda request: ScriptedAnswer("Read.", usage=counted(request)))
        await talk.say("read it", tool("read", lambda _: LONG))
    while not talk.entries("prune"):
        await talk.say("more", size=300)
    assert not talk.entries("compaction")
