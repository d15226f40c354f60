"""What is forgotten in one chat while a turn runs in another is neither sent nor written by that turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.clock import Clock
from agent.memory.forget import ForgetPlan
from agent.memory.scope import Scope
from agent.model.base import Json, ModelRequest, TryLater
from agent.model.client import ResilientModel
from agent.model.scripted import Call, Hold, Reply, ScriptedAnswer
from agent.search.results import SearchResult
from agent.session.transcript import Transcript
from agent.settings import MemorySettings, RecallSettings
from agent.tools import schema
from agent.tools.base import Tool, ToolResult
from agent.turn.tool_calls import FORGOTTEN_CALL
from agent.values import TextReset
from tests.agent.long_conversation import OWNER, LongTalk, told

WORD = "Zanzibar"


async def forget(talk: LongTalk) -> None:
    await talk.agent.forget(lambda key: True, talk.scope, "", ForgetPlan(WORD, ()))


def memory(talk: LongTalk) -> str:
    return "".join(path.read_text() for path in talk.workspace.rglob("*.md"))


def as_it_reads(talk: LongTalk) -> str:
    """Of all transcripts, what is sent from now on."""
    found = (Transcript.read(path) for path in talk.sessions.rglob("*.jsonl"))
    return "".join(str(transcript.entries) for transcript in found)


def sees(request: ModelRequest) -> str:
    return WORD if WORD in told(request) else "nothing of it"


async def test_an_answer_that_was_under_way_is_asked_for_anew(tmp_path: Path) -> None:
    talk, hold = LongTalk(tmp_path), Hold()

    def answer(request: ModelRequest) -> Reply:
        first = len(talk.model.requests) == 2
        call = Call("memory_append", {"text": f"They spoke of {sees(request)}."})
        if first:
            return ScriptedAnswer(f"I see {sees(request)}.", calls=(call,), hold=hold, hold_at=1)
        return f"I see {sees(request)}."

    await talk.say(f"My boat lies in {WORD}")
    talk.model._otherwise = answer
    turn = asyncio.create_task(talk.events("And now?"))
    await hold.reached.wait()
    await forget(talk)
    hold.released.set()
    events = await turn
    assert any(isinstance(event, TextReset) for event in events)
    assert events[-1].text == "I see nothing of it."  # type: ignore[attr-defined]
    assert WORD not in memory(talk) + as_it_reads(talk)


async def test_an_index_that_cannot_be_purged_keeps_nothing_else_from_being_forgotten(tmp_path: Path) -> None:
    (tmp_path / "memory.db").mkdir()
    talk = LongTalk(tmp_path)
    await talk.say(f"My boat lies in {WORD}")
    removal = await talk.agent.forget(lambda key: True, talk.scope, "", ForgetPlan(WORD, ()))
    assert removal.messages == 1 and WORD not in as_it_reads(talk)
    assert removal.unpurged == "the search index cannot be used (unable to open database file)"


async def test_a_retry_does_not_send_it(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await talk.say(f"My boat lies in {WORD}")

    async def waits(seconds: float) -> None:
        await forget(talk)

    talk.agent = Agent(
        talk.settings, talk.workspace, talk.sessions, ResilientModel(talk.model, sleep=waits), talk.watch.clock
    )
    answers: list[Reply] = [TryLater("overloaded"), "Fine."]
    talk.model._otherwise = lambda request: answers.pop(0)
    assert (await talk.say("And now?")).text == "Fine."
    first, second = talk.model.requests[-2:]
    assert WORD in told(first) and WORD not in told(second)


@pytest.mark.parametrize("reads_only", [True, False])
async def test_results_and_calls_that_may_hold_it_are_not_used(tmp_path: Path, reads_only: bool) -> None:
    """The first call finds it, and while it looks the word is forgotten; the second one is to write it down."""
    talk = LongTalk(tmp_path)

    async def look(given: Json, call: str) -> ToolResult:
        await forget(talk)
        return ToolResult(f"The boat lies in {WORD}")

    tool = Tool(schema.spec("look", "Look.", schema.Arguments), look, reads_only=reads_only)
    calls = (Call("look", {}), Call("memory_append", {"text": f"The boat lies in {WORD}"}))
    answers: list[Reply] = [ScriptedAnswer(calls=calls), "Fine."]
    talk.model._otherwise = lambda request: answers.pop(0)
    assert (await talk.say(f"Is there anything on {WORD}?", tool)).text == "Fine."
    assert WORD not in memory(talk) + as_it_reads(talk) + told(talk.model.requests[-1])
    assert told(talk.model.requests[-1]).count(FORGOTTEN_CALL) == 2


async def test_what_was_recalled_for_a_message_is_looked_for_anew(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    log = talk.workspace / "memory/2026-11-01.md"
    log.parent.mkdir()
    log.write_text(f"# 2026-11-01\n\n- 09:00 The sailing boat Albatros lies in {WORD}\n")
    loop, found = asyncio.get_running_loop(), list[SearchResult]()

    def search(
        scope: Scope,
        clock: Clock,
        queries: Sequence[str],
        *,
        most: int = 40,
        below: str = "",
        deadline: float | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> SearchResult:
        found.append(agent.index.search(scope, clock, queries, most=most, below=below, deadline=deadline))
        if len(found) == 1:
            asyncio.run_coroutine_threadsafe(forget(talk), loop).result()
        return found[-1]

    patient = MemorySettings(recall=RecallSettings(timeout_ms=60_000))
    settings = replace(talk.settings, memory=patient)
    talk.agent = agent = Agent(settings, talk.workspace, talk.sessions, talk.model, talk.watch.clock, search)
    await talk.say("Where does the sailing boat Albatros lie?")
    assert any(WORD in hit.text for hit in found[0].hits) and len(found) == 2
    assert WORD not in told(talk.model.requests[-1]) + as_it_reads(talk)


async def test_what_was_to_be_remembered_and_is_forgotten_is_not_written_down(tmp_path: Path) -> None:
    talk, hold = LongTalk(tmp_path), Hold()
    answers: list[Reply] = ["Fine.", ScriptedAnswer("NO_REPLY", hold=hold), "NO_REPLY"]
    talk.model._otherwise = lambda request: answers.pop(0)
    turn = asyncio.create_task(talk.say(f"Please remember that my boat lies in {WORD}"))
    await hold.reached.wait()
    await forget(talk)
    hold.released.set()
    await turn
    assert WORD not in memory(talk) and WORD not in told(talk.model.requests[-1])


async def test_a_stop_does_not_keep_what_was_seen_of_it(tmp_path: Path) -> None:
    talk, hold = LongTalk(tmp_path), Hold()
    talk.model._otherwise = ScriptedAnswer(f"Your boat lies in {WORD}", hold=hold, hold_at=1)
    turn = asyncio.create_task(talk.say(f"My boat lies in {WORD}"))
    await hold.reached.wait()
    await forget(talk)
    turn.cancel()
    await asyncio.wait({turn})
    await talk.agent.stopped(OWNER, "t1", f"Your boat lies in {WORD}")
    assert "[Stopped here by the person]" in as_it_reads(talk) and WORD not in as_it_reads(talk)


@pytest.mark.parametrize("reader", ["summary", "heartbeat"])
async def test_what_is_said_of_a_day_is_made_anew(tmp_path: Path, reader: str) -> None:
    talk, hold = LongTalk(tmp_path), Hold()
    (talk.workspace / "memory").mkdir()
    (talk.workspace / "memory/2026-11-21.md").write_text(f"# 2026-11-21\n\n- 08:00 To {WORD}\n- 08:10 Bread\n")
    (talk.workspace / "HEARTBEAT.md").write_text("- Where do I go?\n")

    def answer(request: ModelRequest) -> Reply:
        return ScriptedAnswer(f"Of the day: {sees(request)}", hold=hold if len(talk.model.silent) == 1 else None)

    talk.behind |= {"daily": answer, "heartbeat": answer}

    async def read() -> str:
        if reader == "heartbeat":
            return str(await talk.agent.heartbeat(OWNER, talk.scope))
        made = await talk.agent.summary(OWNER, talk.scope, date(2026, 11, 21), ())
        return made.text if made is not None else ""

    reading = asyncio.create_task(read())
    await hold.reached.wait()
    await forget(talk)
    hold.released.set()
    assert await reading == "Of the day: nothing of it"


async def test_two_that_read_a_talk_at_once_hold_the_same(tmp_path: Path) -> None:
    """After a start: what is owed to a talk and the next turn of it both read it from disk; what one of them forgets or
    writes, the other must know."""
    talk = LongTalk(tmp_path)
    slow = Hold()
    await talk.say(f"My boat lies in {WORD}")
    await talk.until("compaction")
    talk.behind["consolidation"] = lambda request: ScriptedAnswer(
        calls=(Call("save_memory", {"history_entry": f"They spoke of {sees(request)}.", "memory_update": []}),),
        hold=slow if len(talk.asked_for("consolidation")) == 1 else None,
    )
    asks = Hold()

    class Asked:
        """A server that is slow to say how large its window is."""

        def __init__(self) -> None:
            self.stream = talk.model.stream
            self.aclose = talk.model.aclose

        async def context_window(self, model: str) -> int | None:
            await asks.wait_here()
            return 8_000

    talk.agent = Agent(talk.settings, talk.workspace, talk.sessions, Asked(), talk.watch.clock)
    async with talk.behind_it():
        await asks.reached.wait()  # what is owed has read the talk
        turn = asyncio.create_task(talk.say("And now?"))
        for _ in range(3):
            await asyncio.to_thread(list)
        asks.released.set()
        await turn
        await slow.reached.wait()
        await forget(talk)
        slow.released.set()
        await talk.agent.idle()
        await talk.say("Hello")
    ids = [json.loads(line)["id"] for line in next(talk.sessions.rglob("*.jsonl")).read_bytes().splitlines()[1:]]
    assert len(set(ids)) == len(ids)
    assert WORD not in memory(talk) and "nothing of it" in talk.read("memory/HISTORY.md")
