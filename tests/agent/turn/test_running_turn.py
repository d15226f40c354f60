"""One turn that alone is larger than the window: room is made while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.context.repair import LOST_RESULT, repair
from agent.model.base import ContextOverflow, ModelRequest
from agent.model.scripted import Call, Reply, ScriptedAnswer, Step
from agent.values import ResultKind
from tests.agent.home import tool
from tests.agent.long_conversation import SUMMARY, LongTalk, counted, told

WINDOW = 9_000
QUESTION = "Please read all of KX-4711 and tell me who signed it"


def working(rounds: int, limit: int = WINDOW) -> Step:
    """A model that reads on for so many rounds, on a server with a window of so many tokens."""
    left = iter(range(rounds))

    def answer(request: ModelRequest) -> Reply:
        if counted(request).input + request.max_tokens > limit:
            raise ContextOverflow("prompt is too long")
        if (number := next(left, None)) is None:
            return ScriptedAnswer("Bob signed it.", usage=counted(request))
        return ScriptedAnswer(f"Page {number}.", (Call("read", {"n": number}),), usage=counted(request))

    return answer


def valid(talk: LongTalk) -> None:
    for request in [*talk.model.requests, *talk.model.silent]:
        assert request.messages == repair(request.messages)
        assert LOST_RESULT not in told(request)


async def test_a_turn_that_reads_more_than_the_window_is_shortened_between_its_steps(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, window=WINDOW)
    await talk.fill(3, size=400)
    talk.model._otherwise = working(30)
    end = await talk.say(QUESTION, tool("read", lambda _: "word " * 700))
    assert (end.kind, end.text.rpartition("\n\n")[2]) == (ResultKind.REPLY, "Bob signed it.")
    assert len([entry for entry in talk.entries("compaction") if entry.get("said")]) >= 2
    assert all(QUESTION in told(request) for request in talk.model.requests[3:])
    assert all(counted(request).input + request.max_tokens <= WINDOW for request in talk.model.requests)
    valid(talk)


async def test_a_restart_sends_the_very_same(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, window=WINDOW)
    talk.model._otherwise = working(20)
    await talk.say(QUESTION, tool("read", lambda _: "word " * 700))
    before = talk.model.requests[-1]
    assert talk.entries("compaction")
    talk.started_anew()
    talk.model._otherwise = lambda request: ScriptedAnswer("Fine.", usage=counted(request))
    await talk.say("and when?", tool("read", lambda _: "word " * 700))
    after = talk.model.requests[-1]
    assert after.messages[: len(before.messages)] == before.messages and after.system == before.system
    valid(talk)


async def test_a_summary_of_a_turn_under_way_is_told_what_it_is(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, window=WINDOW)
    talk.model._otherwise = working(12)
    await talk.say(QUESTION, tool("read", lambda _: "word " * 700))
    words = str(talk.asked_for("compaction")[0].messages[-1].content[-1]["text"])
    assert "which steps of it are done" in words and "up to and without" not in words


async def test_a_server_smaller_than_it_says_refuses_within_the_turn_and_it_goes_on(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, window=30_000)
    talk.model._otherwise = working(20, limit=WINDOW)

    def summary(request: ModelRequest) -> Reply:
        if counted(request).input + request.max_tokens > WINDOW:
            raise ContextOverflow("prompt is too long")
        return SUMMARY

    talk.behind |= {"compaction": summary, "flush": summary}
    end = await talk.say(QUESTION, tool("read", lambda _: "word " * 700))
    assert end.text.endswith("Bob signed it.")
    assert QUESTION in told(talk.model.requests[-1])
    assert not talk.entries("prune")
    valid(talk)


@pytest.mark.parametrize("window", [4_000, WINDOW])
async def test_results_larger_than_the_window_are_shown_shortened(tmp_path: Path, window: int) -> None:
    talk = LongTalk(tmp_path, window=window)
    talk.model._otherwise = working(4, limit=10**6)
    end = await talk.say(QUESTION, tool("read", lambda _: "x" * 1_000_000))
    assert end.text.endswith("Bob signed it.")
    last = talk.model.requests[-1]
    assert QUESTION in told(last) and "left out here" in told(last)
    assert counted(last).input + last.max_tokens <= window
    valid(talk)


@pytest.mark.parametrize("size", [WINDOW, 20 * WINDOW])
async def test_a_message_larger_than_the_window_is_answered_and_says_that_it_is_cut(tmp_path: Path, size: int) -> None:
    talk = LongTalk(tmp_path, window=WINDOW)
    assert (await talk.say("Read this:", size=size)).text == "Fine."
    (asked,) = talk.model.requests
    assert "Cut here: the first" in told(asked) and counted(asked).input + asked.max_tokens <= WINDOW
    assert (await talk.say("and this:", size=size)).text == "Fine."
    assert (await talk.say("and now?")).text == "Fine."
    valid(talk)


async def test_where_nothing_makes_room_the_person_is_told_what_to_do_and_the_next_message_is_answered(
    tmp_path: Path,
) -> None:
    """A model that cannot summarise, and steps that are too many to be shown at all."""
    talk = LongTalk(tmp_path, window=4_050, reserve=1_000)
    talk.behind |= {"compaction": "They talked.", "flush": "NO_REPLY"}
    rounds = working(60, limit=10**6)
    talk.model._otherwise = rounds
    end = await talk.say(QUESTION, tool("read", lambda _: "word " * 30), size=200)
    assert end.kind is ResultKind.ERROR and end.text.endswith(
        "conversation has become too long for the model. Send /new to start another one; my notes stay in memory."
    )
    talk.behind["compaction"] = SUMMARY
    talk.model._otherwise = "Fine."
    assert (await talk.say("and now?")).text == "Fine."
    valid(talk)
