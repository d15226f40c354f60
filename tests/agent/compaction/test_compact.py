"""The older part of a talk becomes a summary, whole or not at all."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.compaction.compact import TOO_LARGE, NotCompacted
from agent.compaction.summary import PARTS, extract
from agent.context.repair import repair
from agent.model.base import AccessDenied, ContextOverflow, ModelRequest, TryLater
from agent.model.offline.model import OfflineModel
from agent.model.scripted import Call, Hold, Reply, ScriptedAnswer, Step
from agent.turn.window import NOTE
from agent.values import ResultKind, TextReset, TurnResult
from tests.agent.home import tool
from tests.agent.long_conversation import OWNER, SUMMARY, LongTalk, LoopClock, counted, in_turn, is_note, told


async def compacted(talk: LongTalk) -> None:
    await talk.until("compaction")


async def test_the_older_part_is_replaced_and_the_newest_turns_stay_word_for_word(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, keep=1_500)
    await talk.say("The code word is CANARY-OLD")
    await compacted(talk)
    last = talk.model.requests[-1]
    texts = told(last)
    assert "[Summary of the earlier part" in texts and texts.count("more word") >= 3
    assert last.messages == repair(last.messages)
    (entry,) = talk.entries("compaction")
    assert entry["tokens_before"] >= 6_000 and entry["system"] == list(last.system)


async def test_a_restart_sends_the_very_same(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await compacted(talk)
    before = talk.model.requests[-1]
    talk.started_anew()
    await talk.say("and now?")
    after = talk.model.requests[-1]
    assert after.messages[: len(before.messages)] == before.messages and after.system == before.system


async def test_yes_do_it_is_understood_after_a_compaction(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, keep=700)
    await talk.fill(3)
    talk.model.then(lambda request: ScriptedAnswer("Shall I cancel the flight LH-2041?", usage=counted(request)))
    await talk.say("What about the flight?", size=650)
    await talk.say("Yes, do it", size=0)
    await talk.agent.compact(OWNER, talk.scope)
    await talk.say("Did you?")
    assert "Shall I cancel the flight LH-2041?" in told(talk.model.requests[-1])


async def test_after_a_compaction_files_are_read_anew(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await talk.until("flush")
    (talk.workspace / "MEMORY.md").write_text("- NEW FACT\n")
    await compacted(talk)
    last = talk.model.requests[-1]
    assert "NEW FACT" in "".join(last.system)
    await talk.say("next")
    assert talk.model.requests[-1].system == last.system
    assert told(talk.model.requests[-1]).count("NEW FACT") <= 1


async def test_the_summary_is_asked_for_on_the_prefix_of_the_talk(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await compacted(talk)
    (asked,) = talk.asked_for("compaction")
    before = talk.model.requests[-2]
    assert (asked.system, asked.tools) == (before.system, before.tools)
    assert asked.messages[: len(before.messages)] == before.messages
    assert all(part in str(asked.messages[-1].content[0]["text"]) for part in PARTS)


USELESS: list[tuple[Step, str]] = [
    ("", "empty"),
    ("NO_REPLY", "empty"),
    (ScriptedAnswer(SUMMARY, stop_reason="max_tokens"), "cut"),
    (ScriptedAnswer(SUMMARY, stop_reason="refusal"), "declined"),
    (Call("memory_append", {"text": "x"}), "called a tool"),
    (SUMMARY + " and so on" * 3_000, "lon"),
]


@pytest.mark.parametrize(("useless", "why"), USELESS)
async def test_a_useless_summary_is_asked_for_once_more(tmp_path: Path, useless: Step, why: str) -> None:
    talk = LongTalk(tmp_path)
    talk.behind["compaction"] = in_turn(useless, SUMMARY)  # type: ignore[arg-type]
    await compacted(talk)
    _, again = talk.asked_for("compaction")
    assert "A first attempt was of no use" in str(again.messages[-1].content[0]["text"])
    assert why in str(again.messages[-1].content[0]["text"])


@pytest.mark.parametrize(("useless", "why"), USELESS)
async def test_twice_useless_keeps_the_talk_and_says_so(tmp_path: Path, useless: Step, why: str) -> None:
    talk = LongTalk(tmp_path, window=9_000)
    talk.behind["compaction"] = useless
    end = await talk.say()
    while not talk.asked_for("compaction"):
        end = await talk.say("more", size=600)
    assert end.kind is ResultKind.REPLY and end.text.startswith("Fine.\n\n_(I couldn't use the model's summary")
    assert len(talk.asked_for("compaction")) == 2 and not talk.entries("compaction")
    assert "turn" not in told(talk.model.requests[-1]) and told(talk.model.requests[-1]).count("more word") > 3


async def test_a_summary_as_long_as_what_it_replaces_is_not_taken(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await talk.say("one", size=60)
    await talk.say("two", size=900)
    talk.behind["compaction"] = SUMMARY + "\nmore" * 40
    with pytest.raises(NotCompacted, match="longer than what it replaces"):
        await talk.agent.compact(OWNER, talk.scope)
    assert not talk.entries("compaction")


async def test_a_summary_without_headings_is_taken_with_what_was_said_last_beside_it(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    talk.behind["compaction"] = "They talked of boats."
    await compacted(talk)
    assert len(talk.asked_for("compaction")) == 1
    summary = str(talk.entries("compaction")[-1]["summary"])
    assert summary.startswith("They talked of boats.\n\n") and "more word" in summary


async def test_identifiers_that_a_summary_forgot_are_added(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await talk.say("Order 4711-0815-22 to bob@example.org, see https://example.org/a?b=1, flight LH2041, +49 30 123456")
    await compacted(talk)
    summary = str(talk.entries("compaction")[0]["summary"])
    for one in ("4711-0815-22", "bob@example.org", "https://example.org/a?b=1", "LH2041", "+49 30 123456"):
        assert one in summary


async def test_after_a_compaction_the_skills_are_still_listed(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await compacted(talk)
    assert all("read it with skill_read" in "\n".join(request.system) for request in talk.model.requests)


async def test_compacting_with_a_focus_and_with_nothing_to_compact(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    with pytest.raises(NotCompacted, match="nothing to shorten"):
        await talk.agent.compact(OWNER, talk.scope)
    await talk.fill(4)
    done = await talk.agent.compact(OWNER, talk.scope, "the boat")
    assert done.after < done.before
    assert "above all: the boat" in str(talk.asked_for("compaction")[0].messages[-1].content[0]["text"])
    assert [entry["reason"] for entry in talk.flushes()] == ["compact-command"]


async def test_a_request_to_compact_is_done_once_over_a_crash_before_its_answer(tmp_path: Path) -> None:
    """The next process finds in the talk what the last one made, and owes its paragraph once more."""
    talk = LongTalk(tmp_path)
    await talk.fill(4)
    begun: list[str] = []

    async def begins() -> None:
        begun.append("begun")

    first = await talk.agent.compact(OWNER, talk.scope, asked="command:7", begins=begins)
    talk.started_anew()
    again = await talk.agent.compact(OWNER, talk.scope, asked="command:7", begins=begins)
    assert (again.entry, again.before) == (first.entry, first.before) and begun == ["begun"]
    assert len(talk.asked_for("compaction")) == 1 and len(talk.entries("compaction")) == 1
    assert await talk.agent.compacted(OWNER, talk.scope, "command:7") == again
    assert await talk.agent.compacted(OWNER, talk.scope, "command:8") is None
    assert len(list(talk.sessions.rglob("*.owed"))) == 1


async def test_nothing_to_compact_asks_for_nothing_and_says_nothing_before(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await talk.say()

    async def begins() -> None:
        raise AssertionError("there is nothing to do")

    with pytest.raises(NotCompacted, match="nothing to shorten"):
        await talk.agent.compact(OWNER, talk.scope, begins=begins)
    assert not talk.model.silent


async def test_one_turn_of_many_steps_is_compacted_by_command(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    calls = [ScriptedAnswer(calls=(Call("read", {"n": n}),)) for n in range(6)]
    talk.model.then(*calls)
    await talk.say("Read it all", tool("read", lambda _: "word " * 590))
    assert not talk.entries("compaction")
    done = await talk.agent.compact(OWNER, talk.scope)
    assert done.after < done.before
    await talk.say("and now?")
    assert "Read it all" in told(talk.model.requests[-1])


async def test_a_talk_larger_than_the_window_is_summarised_in_parts(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, window=60_000, reserve=4_000)
    await talk.fill(20, size=1_500)
    small = LongTalk(tmp_path, window=9_000, first=100)
    seen: list[str] = []

    def fold(request: ModelRequest) -> Reply:
        assert counted(request).input + request.max_tokens <= 9_000
        seen.append(told(request))
        return SUMMARY.replace("none", f"part {len(seen)}", 1)

    small.behind["compaction"] = fold
    assert (await small.say("and now?")).text == "Fine."
    assert len(seen) > 3 and all("part" in text for text in seen[1:])
    assert "and now?" in told(small.model.requests[-1]) and "turn 0 " not in told(small.model.requests[-1])


async def test_one_huge_result_is_cut_for_the_summary_and_for_the_talk(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, Call("read", {"n": 1}), window=9_000)
    end = await talk.say("read it", tool("read", lambda _: "x" * 49_000))
    assert end.text == "Fine."
    assert "left out here" in told(talk.model.requests[-1])
    assert counted(talk.model.requests[-1]).input < 9_000


async def test_an_overflow_is_survived_in_stages(tmp_path: Path) -> None:
    """The server's window is smaller than it says."""
    talk = LongTalk(tmp_path, window=60_000, keep=800)
    real = 9_000

    def strict(request: ModelRequest) -> Reply:
        if counted(request).input + request.max_tokens > real:
            raise ContextOverflow("prompt is too long")
        return SUMMARY if request.purpose == "compaction" else ScriptedAnswer("Fine.", usage=counted(request))

    talk.behind |= {"compaction": strict, "flush": strict}
    for number in range(25):
        talk.model.then(strict, strict, strict, strict)
        talk.model._answers.clear()
        talk.model._otherwise = strict
        end = await talk.say(f"number {number}", size=500)
        assert end.kind is ResultKind.REPLY, end.text
    assert talk.entries("compaction")


async def test_an_overflow_within_what_is_kept_word_for_word_keeps_the_newest_turn(tmp_path: Path) -> None:
    """As with a server of 8,000 tokens that does not say so."""
    talk = LongTalk(tmp_path, window=200_000, keep=20_000)
    for number in range(12):
        await talk.say(f"number {number}", size=500)
    talk.model.then(ContextOverflow("prompt is too long"), "Here I am.")
    end = await talk.say("and now?")
    assert (end.kind, end.text) == (ResultKind.REPLY, "Here I am.")
    assert talk.entries("compaction") and "and now?" in told(talk.model.requests[-1])
    assert "number 3 " not in told(talk.model.requests[-1])


async def test_an_answer_that_fills_the_window_is_made_again(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await talk.fill(4)
    talk.model.then(ScriptedAnswer("Half an ans", stop_reason="model_context_window_exceeded"), "The whole answer.")
    assert (await talk.say("go")).text == "The whole answer."
    assert [entry["reason"] for entry in talk.flushes()] == ["overflow"] and talk.entries("compaction")


async def test_at_most_three_retries_then_the_person_is_told(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    await talk.fill(4)
    asked = len(talk.model.requests)
    talk.model._otherwise = ContextOverflow("prompt is too long")
    end = await talk.say("go")
    assert end.kind is ResultKind.ERROR and "/new" in end.text
    assert len(talk.model.requests) - asked <= 4


@pytest.mark.parametrize("error", [AccessDenied("The key is wrong."), TryLater("Overloaded.")])
async def test_a_model_that_fails_leaves_the_talk_whole(tmp_path: Path, error: Reply) -> None:
    talk = LongTalk(tmp_path, window=9_000)
    talk.behind |= {"compaction": error, "flush": error}
    while not talk.asked_for("compaction"):
        end = await talk.say("more", size=600)
    assert end.kind is ResultKind.REPLY and not talk.entries("compaction")


async def test_stopped_within_a_compaction_nothing_is_half_done(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    hold = Hold()
    talk.behind["compaction"] = ScriptedAnswer(SUMMARY, hold=hold)
    task = asyncio.create_task(talk.until("compaction"))
    await hold.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not talk.entries("compaction")
    talk.behind["compaction"] = SUMMARY
    await talk.say("more", size=600)
    assert len(talk.entries("compaction")) == 1 and len(talk.flushes()) == 1


async def test_a_short_step_is_never_told(tmp_path: Path, loop_clock: LoopClock) -> None:
    talk = LongTalk(tmp_path)
    events = [event for _ in range(8) for event in await talk.events("more", size=600)]
    assert talk.entries("compaction") and not any(map(is_note, events))


@pytest.mark.parametrize(
    ("purpose", "overflows"), [("flush", False), ("compaction", False), ("flush", True), ("compaction", True)]
)
async def test_a_long_step_is_told_after_ten_seconds_and_not_before(
    tmp_path: Path, purpose: str, overflows: bool, loop_clock: LoopClock
) -> None:
    """Whether the threshold is crossed within a turn, or the server refuses its request."""
    talk = LongTalk(tmp_path)
    await talk.fill(4)
    hold = Hold()
    talk.behind[purpose] = ScriptedAnswer("NO_REPLY" if purpose == "flush" else SUMMARY, hold=hold)
    talk.model.then(
        ContextOverflow("prompt is too long")
        if overflows
        else lambda request: ScriptedAnswer(calls=(Call("read", {"n": 1}),), usage=counted(request))
    )
    events: list[object] = []

    async def turn() -> None:
        async for event in talk.streamed("go", tool("read", lambda _: "word " * 6_000)):
            events.append(event)

    running = asyncio.create_task(turn())
    await hold.reached.wait()
    await loop_clock.pass_(9.99)
    assert not any(map(is_note, events)) and not hold.released.is_set()
    await loop_clock.pass_(0.02)
    assert [event.note for event in events if isinstance(event, TextReset) and event.note] == [NOTE]
    hold.released.set()
    await running
    end = events[-1]
    assert isinstance(end, TurnResult) and end.text == "Fine." and len([e for e in events if is_note(e)]) == 1


async def test_what_could_not_be_shortened_is_said_the_same_when_the_turn_is_reported_again(tmp_path: Path) -> None:
    """A crash between the end in the transcript and the outbox: the next process reports the turn's end once more."""
    talk = LongTalk(tmp_path, window=9_000)
    talk.behind["compaction"] = "NO_REPLY"
    said = [await talk.say("more", size=600)]
    while not talk.asked_for("compaction"):
        said.append(await talk.say("more", size=600))
    assert "couldn't use the model's summary" in said[-1].text
    talk.started_anew()
    assert await talk.again("more", size=600) == said[-1]
    assert len(talk.asked_for("compaction")) == 2
    assert len(talk.entries("uncompacted")) == 1


async def test_a_server_that_takes_no_summary_at_all_leaves_the_talk_and_the_reply(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path, window=9_000)
    talk.behind |= {"compaction": ContextOverflow("413 prompt is too long"), "flush": "NO_REPLY"}
    while not talk.asked_for("compaction"):
        end = await talk.say("more", size=600)
    assert end.kind is ResultKind.REPLY and end.text == f"Fine.\n\n_({TOO_LARGE})_"
    assert not talk.entries("compaction")


async def test_the_offline_model_survives_it_all(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    talk.settings = talk.settings.__class__(model=talk.settings.model.__class__("offline", 1_000, 12_000))
    talk.model = OfflineModel(talk.watch.clock, "~/.daybook/.env")  # type: ignore[assignment]
    agent = talk.started_anew()
    async with talk.behind_it():
        for number in range(30):
            end = await talk.say(f"Please note: my boat number {number} is called Luna-{number}", size=300)
            assert end.kind is ResultKind.REPLY, end.text
    assert agent is talk.agent and len(talk.entries("compaction")) >= 2
    assert all(part in str(talk.entries("compaction")[-1]["summary"]) for part in PARTS)
    assert "Luna-0" in talk.read("memory/HISTORY.md")


def test_an_extract_of_nothing_has_its_parts() -> None:
    assert all(part in extract([], 500) for part in PARTS)
