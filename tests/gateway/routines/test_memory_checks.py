"""Memory tests in a talk, for neighbouring processes, and at night."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from agent.model.base import Json
from tests.gateway.commands.test_commands import ask
from tests.gateway.conftest import OWNER, Daybook, Running

LOG = "memory/2026-11-18.md"
TESTS = "memory/tests.md"
WHERE = "- Where does Anna live? -> Leipzig\n"


def written(daybook: Daybook, path: str, text: str) -> Path:
    file = daybook.workspace / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


async def results(running: Running, **parameters: Json) -> list[bool]:
    report = await running.ask("memory.test", **parameters)
    assert isinstance(report, dict) and isinstance(report["results"], list)
    return [one["passed"] for one in report["results"]]


async def night(daybook: Daybook, running: Running, count: int) -> list[Json]:
    """The states of the job's runs, once there are so many, after one more by hand."""
    daybook.moment.pass_(timedelta(minutes=1))
    assert await running.ask("schedule.run", id="memory-test")
    async with asyncio.timeout(120):
        while True:
            runs = await running.ask("schedule.history", id="memory-test")
            assert isinstance(runs, list)
            states = [run["result"] for run in runs]
            if len(states) >= count and not {"waiting", "running"} & set(states):
                return states
            await asyncio.sleep(0.01)


async def test_the_operation_says_what_passed(daybook: Daybook) -> None:
    written(daybook, LOG, "- Anna lives in Leipzig.\n")
    written(daybook, TESTS, f"{WHERE}- Her job? -> baker\n")
    async with daybook.running() as running:
        assert await results(running) == [True, False]
        assert await results(running, scope="person:alice") == []


async def test_tests_are_added_and_run_in_a_talk(daybook: Daybook) -> None:
    written(daybook, LOG, "- Anna lives in Leipzig.\n")
    async with daybook.running():
        assert "no memory tests yet" in await ask(daybook, "/memory test")
        assert "1 of 1 memory tests passed" in await ask(daybook, "/memory test Where does Anna live? -> Leipzig")
        answer = await ask(daybook, "/memory test What is her job? -> baker")
        assert "1 of 2 memory tests passed" in answer and "missing: baker" in answer
        assert "words that must come back" in await ask(daybook, "/memory test And Ben? -> ,")
        assert (await ask(daybook, "/undo")).startswith("Undone (what lasts): added: ")
        assert "1 of 1" in await ask(daybook, "/memory test")
        assert "Leipzig" in await ask(daybook, "/memory test of Anna")  # a search like any other


async def test_a_test_that_passed_and_fails_is_told_once(daybook: Daybook) -> None:
    log = written(daybook, LOG, "- Anna lives in Leipzig.\n")
    written(daybook, TESTS, f"{WHERE}- Never known? -> nothing at all\n")
    async with daybook.running() as running:
        assert await night(daybook, running, 1) == ["silent"]
        log.write_text("- Anna sings.\n", "utf-8")
        await night(daybook, running, 2)
        (told,) = await daybook.chat.wait_heard(1, chat=OWNER)
        assert "Where does Anna live?" in told and "missing: Leipzig" in told and "Never known" not in told
        await night(daybook, running, 3)
        log.write_text("- Anna lives in Leipzig again.\n", "utf-8")
        await night(daybook, running, 4)
        assert len(daybook.chat.heard(OWNER)) == 1
    async with daybook.running() as running:
        log.write_text("- Anna sings.\n", "utf-8")
        await night(daybook, running, 5)
        await daybook.chat.wait_heard(2, chat=OWNER)


async def test_without_tests_the_night_is_silent(daybook: Daybook) -> None:
    async with daybook.running() as running:
        assert await night(daybook, running, 1) == ["silent"]
    assert daybook.chat.heard(OWNER) == []
