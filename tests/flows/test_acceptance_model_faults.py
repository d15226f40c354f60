"""Whatever the model does, a message ends in exactly one answer that a person can act on."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.flows.story import ALICE, BOB, Story, story


async def one_answer(told: Story, text: str = "What is the answer?") -> str:
    """Say something; what stands in the chat when the turn is over, which must be one message."""
    told.say(text)
    answer = (await told.telegram.wait_for(lambda: told.heard()))[0]
    await told.idle()
    assert len(told.heard()) == 1, told.heard()
    return answer if told.heard() == [answer] else told.heard()[0]


def often(fault: Callable[[FakeAnthropic], None]) -> Callable[[FakeAnthropic], None]:
    """Longer than anybody tries."""

    def prepare(model: FakeAnthropic) -> None:
        for _ in range(20):
            fault(model)

    return prepare


FAULTS: dict[str, tuple[Callable[[FakeAnthropic], None], str]] = {
    "401": (often(lambda model: model.fail(401)), r"API key.*ANTHROPIC_API_KEY"),
    "400": (often(lambda model: model.fail(400, message="bad thing")), r"refused.*bad thing"),
    "402": (often(lambda model: model.fail(402)), r"credit.*Add credit"),
    "403": (often(lambda model: model.fail(403)), r"isn't allowed.*another"),
    "404": (lambda model: model.models.clear(), r"claude-sonnet-5-5.*/model"),
    "413": (often(lambda model: model.fail(413)), r"too long for the model.*model\.context_window"),
    "429 for an hour": (often(lambda model: model.fail(429, retry_after=3600)), r"[Tt]ry again in (1 hour|60 minutes)"),
    "429 for ever": (often(lambda model: model.fail(429, retry_after=1)), r"too many requests.*again"),
    "500": (often(lambda model: model.fail(500)), r"error \(500\).*again"),
    "529": (often(lambda model: model.fail(529)), r"overloaded.*again"),
    "cut": (often(lambda model: model.cut()), r"again"),
    "early end": (often(lambda model: model.end_early()), r"again"),
    "no stop reason": (lambda model: model.never_stop_reason(), r"What is the answer"),
    "error event": (often(lambda model: model.error_event()), r"overloaded.*again"),
    "refusal": (lambda model: model.answer("", stop_reason="refusal"), r"declined"),
    "refusal midway": (lambda model: model.answer("Well, first", stop_reason="refusal"), r"\A(?!.*first).*declined"),
    "empty": (often(lambda model: model.answer("")), r"empty answer"),
    "blank": (often(lambda model: model.answer(" \n ")), r"empty answer"),
    "only thinking": (often(lambda model: model.answer("", thinking="hm")), r"empty answer"),
    "only thinking, cut": (
        lambda model: model.answer("", thinking="hm", stop_reason="max_tokens"),
        r"too long.*smaller",
    ),
    "cut at its limit": (lambda model: model.answer("One, two,", stop_reason="max_tokens"), r"One, two,.*go on"),
    "a full window": (lambda model: model.answer("Half", stop_reason="model_context_window_exceeded"), r"/new"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_every_failure_ends_in_one_message_that_says_what_to_do(tmp_path: Path, name: str) -> None:
    prepare, expected = FAULTS[name]
    async with story(tmp_path) as told, told.running():
        prepare(told.model)
        answer = await one_answer(told)
        assert re.search(expected, answer, re.DOTALL), answer
        assert told.model.api_key not in answer and "Traceback" not in answer


@pytest.mark.parametrize("name", ["401", "500", "refusal", "empty", "only thinking", "cut at its limit", "early end"])
async def test_after_a_failure_the_talk_goes_on(tmp_path: Path, name: str) -> None:
    async with story(tmp_path) as told, told.running():
        FAULTS[name][0](told.model)
        await one_answer(told)
        told.model._faults.clear()
        told.model._answers.clear()
        told.model.answer("Fine again.")
        told.say("And now?")
        await told.hears("Fine again.")
        told.no_request_was_refused()
        assert "What is the answer?" in told.last_asked


async def test_a_short_delay_is_obeyed_and_the_answer_comes(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.fail(429, retry_after=7)
        told.model.answer("Here I am.")
        assert await one_answer(told) == "Here I am."
        assert len(told.waits) == 1 and 7 <= told.waits[0] <= 10


async def test_the_next_model_answers_where_the_first_is_overloaded_or_unknown(tmp_path: Path) -> None:
    async with story(tmp_path, model={"fallbacks": ["claude-opus-5-5", "claude-haiku-5-5"]}) as told:
        told.configure(
            model={
                "api_key": told.model.api_key,
                "base_url": told.model.base_url,
                "fallbacks": ["claude-opus-5-5", "claude-haiku-5-5"],
            }
        )
        async with told.running():
            told.model.fail(529, times=4)
            told.model.answer("I stand in.", thinking="mine")
            assert await one_answer(told) == "I stand in."
            assert told.asked[-1].body["model"] == "claude-opus-5-5"
            del told.model.models["claude-sonnet-5-5"], told.model.models["claude-opus-5-5"]
            told.model.answer("The last one.")
            told.say("Still there?")
            await told.hears("The last one.")
            assert told.asked[-1].body["model"] == "claude-haiku-5-5"
            assert "mine" not in told.last_asked


async def test_thinking_goes_back_unchanged(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        async with told.running():
            told.model.answer("Looking.", thinking="let me look", tool=("memory_list", {}))
            told.model.answer("Nothing there.")
            assert "Nothing there." in await one_answer(told)
        async with told.running():
            told.model.answer("No.")
            told.say("Really?")
            await told.hears("No.")
        first, last = told.asked[1].body["messages"], told.asked[-1].body["messages"]
        assert first[1]["content"][0]["type"] == "thinking" and first[1]["content"][0]["signature"]
        assert last[1] == first[1] or last[1]["content"][0] == first[1]["content"][0]
        told.no_request_was_refused()


async def test_a_paused_turn_goes_on(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("First part.", stop_reason="pause_turn")
        told.model.answer("Second part.")
        answer = await one_answer(told)
        assert "First part." in answer and "Second part." in answer
        told.no_request_was_refused()


async def test_garbage_input_and_unknown_tools_are_told_to_the_model(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer(
            tools=[
                ("memory_append", '{"text": "broken'),
                ("no_such_tool", {"x": 1}),
                ("memory_get", {"path": 7}),
                ("read_file", {"path": "../../../etc/passwd"}),
                ("read_file", {"path": "/etc/passwd"}),
                ("read_file", {"path": "a\0b"}),
                ("write_file", {"path": "../outside.md", "content": "x"}),
            ]
        )
        told.model.answer("None of that worked.")
        assert await one_answer(told) == "None of that worked."
        results = [block for block in told.asked[-1].body["messages"][-1]["content"] if block["type"] == "tool_result"]
        assert len(results) == 7 and all(result.get("is_error") for result in results)
        assert "root:" not in told.last_asked
        assert not (told.home.path / "outside.md").exists()
        told.no_request_was_refused()


async def test_fifty_calls_in_one_answer_are_all_answered(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        calls = [("memory_append", {"text": f"fact {n}"}) if n % 2 else ("memory_list", {}) for n in range(50)]
        told.model.answer(tools=calls)
        told.model.answer("All done.")
        assert await one_answer(told) == "All done."
        results = [block for block in told.asked[-1].body["messages"][-1]["content"] if block["type"] == "tool_result"]
        assert len(results) == 50
        assert re.findall(r"fact \d+", told.log().read_text()) == [f"fact {n}" for n in range(1, 50, 2)]
        told.no_request_was_refused()


async def test_an_endless_loop_of_tools_ends_with_a_sentence(tmp_path: Path) -> None:
    async with story(tmp_path, session={"max_tool_rounds": 6}) as told, told.running():
        for _ in range(30):
            told.model.answer(tool=("memory_list", {}))
        answer = await one_answer(told)
        assert re.search(r"6 steps.*go on", answer, re.DOTALL)
        assert len(told.asked) <= 8
        told.no_request_was_refused()


async def test_a_server_that_counts_nothing_is_good_enough(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.without_usage = True
        told.model.unknown_events = True
        told.model.models_endpoint = False
        told.model.answer(tool=("memory_list", {}))
        told.model.answer("Works.")
        assert await one_answer(told) == "Works."
        told.say("/context")
        assert "200,000" in (await told.hears("The same in every request")).text


async def test_a_small_window_ends_clearly_and_new_helps(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.configure(model={"api_key": told.model.api_key, "base_url": told.model.base_url, "context_window": 6_000})
        async with told.running():
            told.model.reply = lambda body: "Yes. " * 200
            for number in range(12):
                told.say(f"{number} " + "word " * 700)
                await told.idle()
                if "/new" in told.heard()[-1]:
                    break
            assert "/new" in told.heard()[-1]
            told.say("/new")
            await told.hears("new conversation")
            told.model.answer("Fresh.")
            told.say("hello")
            await told.hears("Fresh.")


async def test_a_silent_server_is_given_up_in_time(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.configure(model={"api_key": told.model.api_key, "base_url": told.model.base_url, "timeout_s": 0.2})
        async with told.running():
            for _ in range(9):
                told.model.stall(after=1)
            told.model.answer(["Never ", "finished"])
            answer = await one_answer(told)
            assert "again" in answer and "Never" not in answer


async def test_silence_is_recognised_in_every_dress(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        dresses = (["NO_REPLY"], ["no_", "reply"], ["\n ", "No_Reply", " \n"], ["N", "O", "_", "R", "E", "P", "L", "Y"])
        for number, pieces in enumerate(dresses):
            told.model.answer(pieces)
            told.say(f"silent {number}", chat=BOB, name="Bob")
            await told.idle()
        told.model.answer(["All ", "well.", "\n\nNO_", "REPLY"])
        assert await one_answer(told) == "All well."
        told.model.answer(["No", ", I ", "think NO_REPLY is a token."])
        told.say("what is it?")
        await told.hears("No, I think NO_REPLY is a token.")
        assert told.heard(BOB) == []
        assert not [draft for draft in told.telegram.drafts if draft.chat == BOB]


async def test_the_ledger_says_what_the_server_billed(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        usage = {
            "input_tokens": 100,
            "output_tokens": 20,
            "cache_read_input_tokens": 300,
            "cache_creation_input_tokens": 40,
        }
        told.model.answer(tool=("memory_list", {}), usage=usage)
        told.model.answer("Done.", usage=usage)
        await one_answer(told)
        rows: Any = await gateway.operations["usage"]({"days": 1})
        status: Any = await gateway.operations["status"]({})

    assert len(rows) == 1
    counted = [rows[0][name] for name in ("calls", "input", "output", "cache_read", "cache_write")]
    assert counted == [2, 200, 40, 600, 80]
    assert (rows[0]["purpose"], rows[0]["session"]) == ("chat", "main/owner")
    assert status["usage"]["cost_usd"] == rows[0]["cost_usd"] > 0


async def test_a_model_that_this_talk_cannot_have_says_so_and_default_helps(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.say("/model claude-typo")
        await told.hears("has no model claude-typo, so nothing changes.")
        told.say("/model")
        await told.hears("The server has claude-sonnet-5-5, claude-opus-5-5")
        told.say("/model claude-opus-5-5")
        await told.hears("This conversation uses claude-opus-5-5 from now on.")
        del told.model.models["claude-opus-5-5"]
        told.say("hello?")
        await told.hears("has no model named claude-opus-5-5")
        told.say("/model default")
        await told.hears("claude-sonnet-5-5 from now on")
        told.model.answer("Back.")
        told.say("hello again")
        await told.hears("Back.")
        assert str(ALICE) not in told.last_asked
