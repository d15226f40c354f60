"""A home of every earlier version, left by `kill -9`, opens: nothing in it is lost, and nothing is done twice."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gateway.store.schema import STEPS
from tests.homes import recording
from tests.homes.opened import LATER_MESSAGES, opened_at
from tests.recorded.story import ALICE, BOB, CAROL, UNANSWERED, UNDELIVERED, ZONE, Story, purpose_of
from tests.strength import first

NEVER_MADE = {"12"}
"""No version wrote this schema: two steps came at once."""


@pytest.mark.parametrize("name", first(*recording.names()))
async def test_it_goes_on_where_it_was(name: str) -> None:
    left = _left_at(name)
    async with opened_at(name, (left + timedelta(minutes=10)).isoformat()) as story:
        await story.idle()
        assert story.heard(BOB) == [UNDELIVERED], "it was certain not to have been sent, so it bears no mark"
        assert story.heard(ALICE) == ["I see."] and story.heard(CAROL) == []
        (asked,) = [body for body in story.model.bodies if purpose_of(body) == "turn"]
        assert UNANSWERED in str(asked["messages"][-1]) and "berth" in str(asked["messages"])
        story.telegram.chats[ALICE].ids.taken(LATER_MESSAGES)
        await _remembers(story)
        await _rings(story)
        found = json.loads(await story.cli("doctor", "--json"))
        assert [one for one in found if not one["ok"]] == []
        assert [line for line in story.gateway.log.splitlines() if line.startswith(("ERROR:", "Traceback"))] == []
        with closing(sqlite3.connect(story.gateway.home / "state" / "daybook.db")) as database:
            assert database.execute("PRAGMA user_version").fetchone() == (len(STEPS),)


def _left_at(name: str) -> datetime:
    """When the last line of a transcript was written."""
    lines = [
        line for file in (recording.HOMES / name).rglob("*.jsonl") for line in file.read_text("utf-8").splitlines()
    ]
    newest = max(json.loads(line).get("ts", "") for line in lines)
    return datetime.fromisoformat(newest).astimezone(ZONE).replace(tzinfo=None)


async def _remembers(story: Story) -> None:
    """What was written down is found and seen by the model; and undone; each conversation goes on."""
    await story.says("/memory berth", expects="Luna lies at berth 14 in Kiel")
    await story.says("Where is the boat?", expects="That is done")
    assert "The boat is called Luna" in str(story.model.bodies[-1]), "from the log or the conversation"
    listed = {one["key"]: one["id"] for one in json.loads(await story.cli("sessions", "list", "--json"))}
    assert {"main/owner", "main/person/telegram-22222", "main/group/telegram--1001234567890"} <= {*listed}
    assert "berth" in await story.cli("sessions", "show", listed["main/owner"])
    await story.says("/undo", expects="Undone (")
    await story.says("How are you?", BOB, "Bob", expects="I see")


async def _rings(story: Story) -> None:
    jobs = {one["id"]: one for one in json.loads(await story.cli("schedule", "list", "--json"))}
    if "pay-the-berth" in jobs:
        story.at(jobs["pay-the-berth"]["when"]["at"])
        await story.until(lambda: [text for text in story.heard() if "Pay the berth" in text])
    if "water" in jobs:
        assert jobs["water"]["last_result"] == "delivered"
        await story.cli("schedule", "run", "water")
        await story.until(lambda: [text for text in story.heard() if "Drink a glass of water" in text])
    await story.idle()


def test_there_is_a_home_of_every_schema_before_this_one() -> None:
    """Where it is missing: `python -m tests.homes.write COMMIT`, for the last commit that wrote it."""
    earlier = {f"{number:02}" for number in range(1, len(STEPS))}
    assert earlier - NEVER_MADE <= {*recording.names()}


def test_recorded_homes_name_no_machine() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in recording.HOMES.glob("[0-9]*/**/*") if file.is_file()}
    foreign = {str(Path.home()), str(Path.cwd()), tempfile.gettempdir(), "127.0.0.1"} - {"/"}
    assert len(texts) > 200
    assert {str(file): part for file, text in texts.items() for part in foreign if part in text} == {}
