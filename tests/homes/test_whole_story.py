"""Homes with something of everything, left by `kill -9`: all of it goes on. `tests/recorded/story.py` made them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from tests.homes.opened import LATER_MESSAGES, opened_at
from tests.homes.recording import names
from tests.recorded.story import ALICE, BOB, CAROL, UNANSWERED, UNDELIVERED, Story, at_the_page, purpose_of

FIRST = 11
"""Earlier homes hold less."""


@pytest.fixture(params=[name for name in names() if int(name) >= FIRST])
async def story(request: pytest.FixtureRequest) -> AsyncIterator[Story]:
    """Opened ten minutes before the reminder, and at rest."""
    async with opened_at(request.param, "2026-03-02 17:50") as story:
        await story.idle()
        story.telegram.chats[ALICE].ids.taken(LATER_MESSAGES)
        yield story


async def test_what_was_open_is_finished_once(story: Story) -> None:
    assert story.heard(BOB) == [UNDELIVERED], "it was certain not to have been sent, so it bears no mark"
    assert story.heard(ALICE) == ["I see."] and story.heard(CAROL) == []
    (asked,) = [body for body in story.model.bodies if purpose_of(body) == "turn"]
    assert UNANSWERED in str(asked["messages"][-1])
    await story.gateway.restart()
    await story.says("/whoami", BOB, "Bob")
    assert (len(story.heard(BOB)), len(story.heard(ALICE))) == (2, 1)


async def test_each_session_goes_on(story: Story) -> None:
    """In the request stand the summary, earlier turns of both channels, a tool's result; in the list the talks."""
    await story.says("Where is the boat?", expects="That is done")
    asked = story.model.bodies[-1]["messages"]
    assert "berth 14 in Kiel" in str(asked[0]), "the summary"
    earlier = ("Remind me at six", "Added pay-the-berth", "Dinner is at eight", "Hello from the page", UNANSWERED)
    assert [text for text in earlier if text not in str(asked[:-1])] == []
    assert "boat" in str(asked[-1]["content"][0]["content"]), "what memory_search found"
    system = story.model.bodies[-1]["system"]
    assert "Alice drinks tea" in str(system) and "cache_control" in str(system[-1])

    await story.says("How are you?", BOB, "Bob", expects="I see")
    asked = str(story.model.bodies[-1]["messages"][:-1])
    assert UNDELIVERED in asked and "Lisbon" not in asked
    listed = json.loads(await story.cli("sessions", "list", "--json"))
    keys = ["group/telegram--1001234567890", "owner", "owner/jobs/look-at-the-tide", "owner/study"]
    assert sorted(one["key"] for one in listed) == [
        *(f"main/{key}" for key in keys),
        *["main/person/telegram-22222"] * 2,
    ]
    (main,) = [one["id"] for one in listed if one["key"] == "main/owner"]
    await story.says("/sessions", expects="/switch")
    assert "The boat is called Luna" in await story.cli("sessions", "show", main)
    async with at_the_page(story) as page, page.opened() as tab:
        assert tab.said == ["Hello from the page"] and tab.heard == ["<p>I see.</p>"]


async def test_memory_is_found_and_its_changes_are_undone(story: Story) -> None:
    await story.says("/memory berth", expects="Luna lies at berth 14 in Kiel")
    assert "Luna" in await story.cli("memory", "search", "Luna", "--json")
    before = json.loads(await story.cli("memory", "log", "--json"))
    assert {"memory_append", "memory_update", "memory_save", "flush", "consolidation", "journal", "/new"} <= {
        one["by"] for one in before
    }
    note = story.gateway.workspace / "memory" / "notes" / "berth.md"
    assert note.exists()
    await story.says("/undo", expects="Undone (what lasts): ")
    assert not note.exists()
    await story.says("/undo", expects="tea")
    assert "tea" not in (story.gateway.workspace / "MEMORY.md").read_text(encoding="utf-8")
    assert len(json.loads(await story.cli("memory", "log", "--json"))) > len(before)
    await story.says("/done", expects="paint the boat")


async def test_jobs_ring_and_the_question_is_answered(story: Story) -> None:
    jobs = {one["id"]: one for one in json.loads(await story.cli("schedule", "list", "--json"))}
    assert jobs["pay-the-berth"]["when"] == {"at": "2026-03-02T18:00"}
    assert jobs["look-at-the-tide"]["last_result"] == "delivered"
    await story.says("/jobs", expects="pay-the-berth")
    story.at("2026-03-02 18:00")
    await story.until(lambda: [text for text in story.heard() if "Pay the berth" in text and text.startswith("⏰")])
    await story.idle()

    await story.says("/approvals", expects="AGENTS.md")
    question = story.telegram.messages(ALICE)[-1]
    yes, _no = question.buttons[0]
    story.telegram.press(question.id, yes["callback_data"])
    await story.until(lambda: [text for text in story.heard() if "Approved and done" in text])
    assert (story.gateway.workspace / "AGENTS.md").read_text(encoding="utf-8") == "Answer in rhymes.\n"


async def test_nothing_is_found_amiss(story: Story) -> None:
    people = json.loads(await story.cli("pair", "list", "--json"))
    assert [(one["name"], one["state"]) for one in people] == [("Bob", "person")]
    used = json.loads(await story.cli("usage", "--days", "3650", "--json"))
    assert {"chat", "flush", "compaction", "consolidation", "journal", "daily", "heartbeat", "job"} == {
        one["purpose"] for one in used
    }
    found = json.loads(await story.cli("doctor", "--json"))
    assert [one for one in found if not one["ok"]] == []
    assert [line for line in story.gateway.log.splitlines() if line.startswith(("ERROR:", "Traceback"))] == []
