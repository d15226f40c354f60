"""Two talks of one person at once, on one memory."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

from tests.fakes.anthropic import Answer, Received, compose
from tests.fakes.anthropic_rules import blocks_of
from tests.flows.story import Story, story

BOTH = ("telegram", "terminal")


def _results(body: dict[str, Any]) -> list[Any]:
    return [block for block in blocks_of(body["messages"][-1]) if block["type"] == "tool_result"]


async def say_in_both(told: Story, telegram: str, terminal: str) -> None:
    assert told.gateway is not None
    told.say(telegram)
    await told.gateway.terminal.say(terminal, "work")


async def test_of_two_edits_of_one_line_the_second_is_refused_with_the_current_text(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running() as gateway:
        told.write("MEMORY.md", "# Memory\n\n- I drink tea at four\n")

        def reply(body: dict[str, Any]) -> Answer | str:
            if _results(body):
                return "So it is."
            drink = "coffee" if "coffee" in json.dumps(body["messages"][-1]) else "milk"
            edit = {"old_text": "- I drink tea at four", "new_text": f"- I drink {drink} at four"}
            return compose(tool=("memory_update", edit))

        told.model.reply = reply
        first = told.model.hold()
        told.say("I drink coffee now")
        await told.model.held(first)
        second = told.model.hold()
        await gateway.terminal.say("I drink milk now", "work")
        await told.model.held(second)  # both models have seen the tea
        first.release()
        await told.hears("So it is.")
        second.release()
        await told.model.wait_for(lambda request: any(one.get("is_error") for one in _results(request.body)))
        assert told.read("MEMORY.md") == "# Memory\n\n- I drink coffee at four\n"
        (refused,) = (one for body in told.model.bodies for one in _results(body) if one.get("is_error"))
        assert "I drink coffee at four" in str(refused["content"])
        told.no_request_was_refused()


async def test_what_both_add_is_all_there_in_whole_lines(tmp_path: Path) -> None:
    rounds = 6

    async with story(tmp_path) as told, told.running():
        told.write("MEMORY.md", "# Memory\n\n- tea")

        def reply(body: dict[str, Any]) -> Answer | str:
            said = re.findall(r"(?:telegram|terminal) \d+", json.dumps(body["messages"]))[-1]
            match _done(body, said):
                case 0:
                    return compose(tool=("memory_append", {"text": f"{said}\nsecond line"}))
                case 1:
                    return compose(tool=("memory_update", {"old_text": "", "new_text": f"- {said}"}))
                case 2:
                    note = {"name": said, "description": said, "type": "user", "content": said}
                    return compose(tool=("memory_save", note))
                case _:
                    return f"Done with {said}."

        told.model.reply = reply
        for number in range(rounds):
            await say_in_both(told, f"telegram {number}", f"terminal {number}")
            await told.hears(f"Done with telegram {number}.")
            await told.model.wait_for(partial(_has_done_all, f"terminal {number}"))
        said = [f"{who} {number}" for who in BOTH for number in range(rounds)]
        index = told.read("MEMORY.md").splitlines()
        assert index[:3] == ["# Memory", "", "- tea"]
        links = [f"- [{one}](memory/notes/{one.replace(' ', '-')}.md) - {one}" for one in said]
        assert sorted(index[3:]) == sorted([*(f"- {one}" for one in said), *links])
        head, _, *lines = told.log().read_text().splitlines()
        assert head == f"# {told.log().stem}" and lines[1::2] == ["  second line"] * len(said)
        assert sorted(line.split(" ", 2)[2] for line in lines[::2]) == sorted(said)
        assert len(list((told.workspace / "memory/notes").iterdir())) == len(said)
        told.no_request_was_refused()


def _done(body: dict[str, Any], said: str) -> int:
    """How many tools were called for what was said."""
    blocks = [block for message in body["messages"] for block in blocks_of(message) if block["type"] == "tool_use"]
    return sum(said in json.dumps(block["input"]) for block in blocks)


def _has_done_all(said: str, request: Received) -> bool:
    return _done(request.body, said) == 3
