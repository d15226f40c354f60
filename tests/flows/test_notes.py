"""Stories: what was written long ago comes back when it matters, and what was taught is known."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.flows.story import BOB, GROUP, Story, story

NOTE = "---\nname: Clara\ndescription: Alice's sister\ntype: user\n---\n\nAllergic to CANARY-PEANUTS, vegetarian.\n"


def weeks_ago(told: Story, path: str, text: str) -> None:
    told.write(path, text)
    moment = (datetime.now(UTC) - timedelta(days=24)).timestamp()
    os.utime(told.workspace / path, (moment, moment))


async def test_a_note_of_weeks_ago_comes_up_once_and_never_in_a_group(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        weeks_ago(told, "memory/notes/clara.md", NOTE)
        async with told.running():
            told.model.answer("No peanuts then.")
            told.say("What shall I cook for Clara's birthday?")
            await told.hears("No peanuts then.")
            newest = told.asked[-1].body["messages"][-1]["content"][-1]["text"]
            assert "memory/notes/clara.md:7 (24 days ago)\nAllergic to CANARY-PEANUTS" in newest
            assert "may be out of date" in newest

            told.say("/why")
            why = (await told.hears("memory/notes/clara.md:7")).text
            assert "24 days ago" in why and ", found by near" in why
        async with told.running():
            told.model.answer("Candles.")
            told.say("And what else does Clara need?")
            await told.hears("Candles.")
            assert told.last_asked.count("CANARY-PEANUTS") == 1

            told.model.answer("I don't know Clara.")
            told.call("what shall we cook for Clara?", user=BOB, name="Bob")
            await told.hears("I don't know Clara.", GROUP)
            assert "CANARY" not in told.last_asked
        told.no_request_was_refused()


async def test_memory_is_searched_by_command_in_the_chat_s_own_scope(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        weeks_ago(told, "memory/notes/clara.md", NOTE)
        async with told.running():
            told.say("/memory Clara")
            found = await told.hears("CANARY-PEANUTS")
            assert "memory/notes/clara.md:7" in found.text and "24 days ago" in found.text
            told.say("/memory")
            await told.hears("What should I search for?")
            told.say(f"/memory@{told.telegram.username} Clara", chat=GROUP, user=BOB, name="Bob")
            await told.hears("Nothing found", GROUP)
            told.say("/memory Clara", chat=BOB, name="Bob")
            await told.hears("Nothing found", BOB)
        assert not told.asked


async def test_a_skill_is_known_by_name_and_read_when_it_is_needed(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        text = "---\nname: report\ndescription: The weekly report\n---\n\nCANARY-STEPS: gather, then write.\n"
        told.write("skills/report/SKILL.md", text)
        async with told.running() as gateway:
            told.model.answer(tool=("skill_read", {"name": "report"}))
            told.model.answer("Here is the report.")
            told.say("Write the weekly report")
            await told.hears("Here is the report.")
            assert "- report: The weekly report" in str(told.asked[0].body["system"])
            assert "CANARY-STEPS" not in str(told.asked[0].body) and "CANARY-STEPS" in told.last_asked

            told.model.answer(tools=[("skill_read", {"name": "report"}), ("skill_read", {"name": "memory"})])
            told.model.answer("I can't here.")
            told.call("write Alice's weekly report", user=BOB, name="Bob")
            await told.hears("I can't here.", GROUP)
            assert "CANARY-STEPS" not in told.last_asked and "The daybook's files" in told.last_asked

            listed = await gateway.operations["skills.list"]({})
            assert [row["name"] for row in listed] == ["memory", "report"]  # type: ignore[union-attr, index, call-overload]
        told.no_request_was_refused()
