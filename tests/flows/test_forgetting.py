"""A talk that outgrows a small window again and again, over HTTP: what was planted is still there."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from agent.compaction.summary import PARTS
from tests.fakes.anthropic import Answer, compose, last_user_text
from tests.fakes.anthropic_rules import blocks_of
from tests.flows.story import ALICE, BOB, GROUP, Story, story

WINDOW = 14_000
SMALL = {"max_tokens": 1_000, "context_window": WINDOW}
KEEP = {"keep_recent_tokens": 1_500, "reserve_tokens": 3_000, "flush": {"soft_threshold_tokens": 1_000}}


class Careful:
    """A model that does what it is asked: notes the planted facts at a flush, and keeps what a summary is to keep."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, object]) -> Answer | str:
        newest = last_user_text(body)
        tools = {tool["name"] for tool in body["tools"]}  # type: ignore[attr-defined]
        if "save_memory" in tools:
            self.asked["consolidation"] += 1
            said = newest.count("Fact ")
            return compose(tool=("save_memory", {"history_entry": f"A talk with {said} facts.", "memory_update": []}))
        if "Only these tools are obeyed now" in newest and "· Daybook]" in newest:
            self.asked["flush"] += 1
            facts = dict.fromkeys(re.findall(r"Fact \d+: .*?K-\d+-XY", json.dumps(body["messages"])))
            return compose(tool=("memory_append", {"text": "; ".join(facts) or "nothing"}))
        if _is_result(body) and "Only these tools are obeyed now" in json.dumps(body["messages"]):
            return "NO_REPLY"
        if PARTS[0] in newest and "will be replaced by a summary" in newest:
            self.asked["compaction"] += 1
            return "\n".join(f"{part}\nas it was" for part in PARTS)
        self.asked["turn"] += 1
        if "look it up" in newest and not _is_result(body):
            return compose("Let me see.", tool=("memory_search", {"query": "Fact"}), thinking="hm")
        return compose(f"Heard {len(newest)}.", thinking="hm")


def _is_result(body: dict[str, object]) -> bool:
    return any(block["type"] == "tool_result" for block in blocks_of(body["messages"][-1]))  # type: ignore[index]


def _server(told: Story) -> dict[str, object]:
    return {"api_key": told.model.api_key, "base_url": told.model.base_url}


async def say(told: Story, text: str, chat: int = ALICE) -> None:
    count = len(told.heard(chat))
    told.say(text, chat=chat, name="Alice" if chat == ALICE else "Bob")
    await told.telegram.wait_for(lambda: len(told.heard(chat)) > count)


@pytest.mark.full
async def test_planted_facts_outlive_several_compactions_restarts_and_a_new_talk(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        careful = told.model.reply = Careful()
        told.configure(model=_server(told) | SMALL, session=KEEP)
        number = 0
        for life in range(3):
            async with told.running():
                for turn in range(14):
                    number += 1
                    more = " look it up" if turn % 5 == 4 else ""
                    await say(told, f"Fact {number}: locker {number} opens with K-{number}-XY.{' filler' * 260}{more}")
                if life == 1:
                    await say(told, "/new")

        assert careful.asked["compaction"] >= 3 and careful.asked["flush"] >= 3
        last = next(r for r in reversed(told.asked) if "Telegram · Alice]" in r.last_user_text)
        reachable = told.all_logs + last.text
        assert not [one for one in range(1, number + 1) if f"K-{one}-XY" not in reachable]
        history = told.read("memory/HISTORY.md")
        assert history.count("A talk with") >= 3
        told.no_request_was_refused()
        for text in told.heard(ALICE):
            assert "NO_REPLY" not in text and "Last request" not in text


async def test_compact_by_command_is_answered_at_once_and_its_outcome_told(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.model.reply = Careful()
        told.configure(model=_server(told) | SMALL, session=KEEP)
        async with told.running():
            for number in range(5):
                await say(told, f"Fact {number}: K-{number}-XY{' filler' * 260}")
            held = told.model.hold()
            told.say("/compact the lockers")
            await told.hears("shortening the earlier part")
            await told.model.held(held)
            assert not any("Done" in text for text in told.heard())
            held.release()
            await told.hears("the conversation went from about")
            await say(told, "/context")
            assert "saved to memory once, shortened once" in told.heard()[-1]
            await say(told, "/status")
            assert "Saved to memory: once in this conversation" in told.heard()[-1]
            assert any("above all: the lockers" in request.text for request in told.asked)
        told.no_request_was_refused()


async def test_invariant_08_what_is_kept_of_a_private_talk_reaches_no_group(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.model.reply = Careful()
        told.configure(model=_server(told) | SMALL, session=KEEP)
        async with told.running():
            for number in range(16):
                await say(told, f"Fact {number}: CANARY K-{number}-XY{' filler' * 260}")
            private = len(told.asked)
            for number in range(12):
                count = len(told.heard(GROUP))
                told.call(f"what is up {number}?{' filler' * 260}", user=BOB, name="Bob")
                await told.telegram.wait_for(lambda count=count: len(told.heard(GROUP)) > count)  # type: ignore[misc]
        groups = [request for request in told.asked[private:] if "what is up" in request.text]
        assert groups and not any("CANARY" in request.text for request in groups)
        assert "CANARY" not in "".join(p.read_text() for p in (told.workspace / "groups").rglob("*.md"))
        told.no_request_was_refused()
