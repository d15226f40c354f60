"""A home that an older version left by `kill -9`, opened by this one: nothing in it is lost, and nothing is done twice.

`home` beside this file was written by `python -m tests.recorded.write home`."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.clocked import COMMAND
from tests.flows.process import GatewayProcess
from tests.recorded import home
from tests.recorded.story import (
    ALICE,
    BOB,
    CAROL,
    SETTINGS,
    UNANSWERED,
    UNDELIVERED,
    Story,
    at_the_page,
    purpose_of,
    reply,
)

LATER_UPDATES, LATER_MESSAGES = 800_000_001, 1_000
"""The platform has not begun to count again."""


@asynccontextmanager
async def opened_at(moment: str) -> AsyncIterator[Story]:
    async with FakeTelegram(first_update_id=LATER_UPDATES) as telegram, FakeAnthropic() as model:
        model.reply = reply
        async with GatewayProcess(telegram, model, SETTINGS, start_now=False, command=COMMAND) as gateway:
            home.restore(gateway)
            story = Story(telegram, model, gateway)
            story.at(moment)
            for chat, name in ((ALICE, "Alice"), (BOB, "Bob"), (CAROL, "Carol")):
                telegram.add_chat(chat, name=name)
            await gateway.start()
            yield story


@pytest.fixture
async def story() -> AsyncIterator[Story]:
    """Opened ten minutes before the reminder, and at rest."""
    async with opened_at("2026-03-02 17:50") as story:
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
    await story.says("/sessions", expects=main)
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
    await story.says("/undo", expects="memory/notes/berth.md")
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


def test_the_recorded_home_names_no_machine() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in home.RECORDED.rglob("*") if file.is_file()}
    foreign = {str(Path.home()), str(Path.cwd()), tempfile.gettempdir(), "127.0.0.1"} - {"/"}
    assert len(texts) > 30
    assert {str(file): part for file, text in texts.items() for part in foreign if part in text} == {}
