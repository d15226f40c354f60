"""Memory tests, run every night: the owner hears of a test that passed before and fails now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from agent.agent import Agent
from agent.clock import Clock, utc_stamp
from agent.formats.parsing import load_json
from agent.fs import atomic_write
from agent.languages.sentences import Sentence, joined
from agent.languages.system_errors import system_says
from agent.memory.files import FileError
from agent.memory.scope import Audience, Scope
from agent.search.memory_tests import FILE, MemoryTestReport, MemoryTestResult, run
from gateway.scheduling.builtins import MEMORY_TEST, MEMORY_TESTED, BuiltIn, DueTime, JobFailed, JobOutcome

_SHOWN = 10

Tell = Callable[[str, str], Awaitable[None]]
"""Text for the owner, and the key under which it is said once."""


async def tested(agent: Agent, scope: Scope, clock: Clock) -> MemoryTestReport:
    """The report of all memory tests of a scope. Raises `FileError`."""
    search = agent.settings.memory.search
    return await asyncio.to_thread(run, scope, clock, agent.index.search, search.max_results, search.max_chars)


def shown(result: MemoryTestResult) -> str:
    """A result as a line of Markdown."""
    if result.passed:
        return Sentence("- {question} – found in `{file}`", question=result.test.question, file=result.where)
    missing = ", ".join(result.missing)
    return Sentence("- **{question}** – missing: {missing}", question=result.test.question, missing=missing)


class MemoryChecks:
    """The nightly job. `passed`: a file with the tests that passed last; without it, no test is reported as new."""

    def __init__(self, agents: Mapping[str, Agent], clock: Clock, passed: Path, tell: Tell) -> None:
        self._agents = agents
        self._clock = clock
        self._passed = passed
        self._tell = tell

    @property
    def built_in(self) -> BuiltIn:
        text = f"asks the questions of {FILE}"
        return BuiltIn(MEMORY_TEST, MEMORY_TESTED, self._run, text=text, is_of_use=self._has_tests)

    def _has_tests(self) -> bool:
        return any((agent.workspace / FILE).exists() for agent in self._agents.values())

    async def _run(self, due: DueTime) -> JobOutcome:
        before = await asyncio.to_thread(self._read)
        now: dict[str, list[str]] = {}
        lost: list[MemoryTestResult] = []
        count = 0
        for name, agent in self._agents.items():
            try:
                report = await tested(agent, Scope(Audience.OWNER, agent.workspace), self._clock)
            except FileError as error:
                raise JobFailed(Sentence("{file} cannot be read: {why}", file=FILE, why=str(error))) from error
            count += len(report.results)
            now[name] = [result.test.question for result in report.results if result.passed]
            lost += [result for result in report.failed if result.test.question in before.get(name, ())]
        if lost:
            # before it is noted: a crash repeats it
            await self._tell(_told(lost), f"{MEMORY_TEST}:{utc_stamp(due.moment)}")
        await asyncio.to_thread(self._write, now)
        note = f"{sum(map(len, now.values()))} of {count} passed" if count else f"there is no test in {FILE}"
        return JobOutcome(silent=not lost, note=note)

    def _read(self) -> dict[str, list[str]]:
        try:
            found = load_json(self._passed.read_text("utf-8"))
        except (OSError, ValueError):  # never run, or half written: this run is the first
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, passed: Mapping[str, list[str]]) -> None:
        try:
            atomic_write(self._passed, json.dumps(passed, ensure_ascii=False))
        except OSError as error:
            raise JobFailed(Sentence("I couldn't save the results: {why}", why=system_says(error))) from error


def _told(lost: list[MemoryTestResult]) -> str:
    head = Sentence("A memory test that used to pass now fails:")
    if len(lost) > 1:
        head = Sentence("{count} memory tests that used to pass now fail:", count=len(lost))
    listed = [shown(result) for result in lost[:_SHOWN]]
    more = [Sentence("- and {count} more", count=len(lost) - _SHOWN)] if len(lost) > _SHOWN else []
    tail = Sentence("(`{file}`; `/memory test` runs them again.)", file=FILE)
    return joined([head, joined([*listed, *more], "\n"), tail])
