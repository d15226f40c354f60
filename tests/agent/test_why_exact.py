"""`/why` names what the requests held, and nothing else: every line that it names stands in what the strict
fake was sent, and what stands there of the files at a talk's start is named."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.agent import Agent
from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.model.anthropic.model import AnthropicModel
from agent.report import WhyReport
from agent.session.entries import LineRanges
from agent.settings import AgentSettings, MemorySettings
from agent.values import ResultKind, SessionKey, TurnRequest, UserMessage
from tests.agent.streamed import ignored
from tests.fakes.anthropic import FakeAnthropic
from tests.strength import examples

KEY = SessionKey("main", "owner")
LIMITS = MemorySettings(max_index_lines=20, max_index_bytes=900, max_file_chars=700, max_daily_chars=400)
TODAY, YESTERDAY = "memory/2026-11-21.md", "memory/2026-11-20.md"
NOTE = "memory/notes/garden.md"
FILES = ("MEMORY.md", "USER.md", TODAY, YESTERDAY, NOTE)


class Talk:
    """A workspace, and a talk in which every turn is served by a process started anew, or by the same one."""

    def __init__(self, root: Path, fake: FakeAnthropic) -> None:
        self.workspace = root / "workspace"
        (self.workspace / "memory/notes").mkdir(parents=True)
        self.fake = fake
        self.clock = Clock(ZoneInfo("UTC"), lambda: datetime(2026, 11, 21, 9, tzinfo=UTC))
        self.model = AnthropicModel(fake.api_key, fake.base_url, window_s=120)
        self.sessions = root / "sessions"
        self.turns = self.lines = 0
        self.restart()

    def restart(self) -> None:
        self.agent = Agent(AgentSettings(memory=LIMITS), self.workspace, self.sessions, self.model, self.clock)

    def fresh(self, sizes: Sequence[int]) -> str:
        """Lines as long as that, no two alike."""
        return "".join(f"{self._line(size)}\n" for size in sizes)

    def _line(self, size: int) -> str:
        self.lines += 1
        words = f"- garden entry n{self.lines}x "
        return words + "tulip " * (max(0, size - len(words)) // 6) + f"end{self.lines}x"

    def read(self, path: str) -> str:
        file = self.workspace / path
        return file.read_text("utf-8") if file.exists() else ""

    def write(self, path: str, text: str) -> None:
        (self.workspace / path).write_text(text, "utf-8")
        self.turns += 1
        os.utime(self.workspace / path, (1_700_000_000 + self.turns, 1_700_000_000 + self.turns))

    async def say(self, text: str, *tools: tuple[str, dict[str, Any]]) -> WhyReport:
        self.turns += 1
        for tool in tools:
            self.fake.answer(tool=tool)
        self.fake.answer("Good.")
        said = (UserMessage(f"m{self.turns}", text, "Alice", "Telegram", self.clock.now()),)
        request = TurnRequest(f"t{self.turns}", KEY, Scope(Audience.OWNER, self.workspace), said)
        end = await self.agent.turn(request, ignored)
        assert end.kind is ResultKind.REPLY, end
        why = await self.agent.why(KEY)
        assert why is not None
        return why

    def held(self) -> str:
        """What the newest request holds as data: all but what the model said and called itself."""
        body = self.fake.bodies[-1]
        blocks = [*body["system"], *(one for m in body["messages"] if m["role"] == "user" for one in m["content"])]
        return "\n".join(_texts(blocks))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _texts(one)
        case dict():
            for one in (value.get("text"), value.get("content")):
                yield from _texts(one)


def named(why: WhyReport) -> dict[str, set[int]]:
    """The lines of each file that it names as shown."""
    found: dict[str, set[int]] = {}

    def add(path: str, ranges: LineRanges) -> None:
        for first, last in ranges:
            found.setdefault(path, set()).update(range(first, last + 1))

    for file in why.files:
        add(file.path, file.lines)
    for passage in (*why.recalled, *why.quoted):
        if not passage.is_part:
            add(passage.path, (passage.lines,))
    return found


def check(talk: Talk, why: WhyReport, *, all_of_it: bool = False) -> None:
    held, claims = talk.held(), named(why)
    for path in {*FILES, *claims}:
        for number, line in enumerate(talk.read(path).split("\n"), 1):
            if number in claims.get(path, ()):
                assert line.removeprefix("- ") in held, (path, number, line)
            elif all_of_it and line.startswith("- garden"):
                assert line.removeprefix("- ") not in held, ("held, and not named", path, number, line)


async def done(talk: Talk, what: str, path: str, lines: list[int]) -> WhyReport:
    """By hand before the next message, or by a tool in its turn."""
    text = talk.read(path) if path else ""
    match what:
        case "grow":
            talk.write(path, text + talk.fresh(lines))
        case "head":
            talk.write(path, talk.fresh(lines) + text)
        case "anew":
            talk.write(path, talk.fresh(lines))
        case "append":
            return await talk.say("Go on", ("memory_append", {"text": talk.fresh(lines)}))
        case "update" if text:
            old = text.split("\n")[lines[0] % text.count("\n")]
            return await talk.say("Go on", ("memory_update", {"old_text": old, "new_text": talk.fresh(lines)}))
        case "add":
            return await talk.say("Go on", ("memory_update", {"old_text": "", "new_text": talk.fresh(lines)}))
        case "read":
            span = {"path": path, "from": len(lines), "lines": sum(lines)}
            return await talk.say("Go on", ("read_file", span))
        case "get":
            return await talk.say("Go on", ("memory_get", {"path": path, "from": len(lines)}))
        case "search":
            return await talk.say("Go on", ("memory_search", {"query": "garden", "max_chars": lines[0] * 20}))
        case "restart":
            talk.restart()
    return await talk.say("Which tulip is in the garden?")


sizes = st.lists(st.sampled_from([30, 60, 120, 350, 1_300, 5_000]), max_size=40)
few = st.lists(st.sampled_from([30, 60, 350]), min_size=1, max_size=4)
edit = st.one_of(
    st.tuples(st.just("grow"), st.sampled_from(FILES[:4]), few),
    st.tuples(st.just("head"), st.sampled_from(FILES[:2]), few),
    st.tuples(st.just("anew"), st.sampled_from(FILES[:2]), sizes),
    st.tuples(st.just("append"), st.just(TODAY), few),
    st.tuples(st.just("update"), st.just("MEMORY.md"), few),
    st.tuples(st.just("add"), st.just("MEMORY.md"), few),
    st.tuples(st.just("read"), st.sampled_from(FILES), few),
    st.tuples(st.just("get"), st.sampled_from(FILES), few),
    st.tuples(st.just("search"), st.just(NOTE), few),
    st.tuples(st.just("restart"), st.just(""), few),
)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(sizes, min_size=5, max_size=5), st.lists(edit, max_size=5))
def test_what_is_named_was_held_and_what_was_cut_is_not(
    begin: list[list[int]], edits: list[tuple[str, str, list[int]]]
) -> None:
    async def story(root: Path) -> None:
        async with FakeAnthropic() as fake:
            talk = Talk(root, fake)
            for path, lines in zip(FILES, begin, strict=True):
                top = f"# {path.removeprefix('memory/').removesuffix('.md')}\n\n" if path.startswith("memory/2") else ""
                talk.write(path, top + talk.fresh(lines))
            check(talk, await talk.say("Hello"), all_of_it=True)
            for what, path, lines in edits:
                check(talk, await done(talk, what, path, lines))
            await talk.model.aclose()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder)))


async def test_the_index_of_401_lines_of_which_200_were_shown(tmp_path: Path) -> None:
    async with FakeAnthropic() as fake:
        talk = Talk(tmp_path, fake)
        talk.write("MEMORY.md", "".join(f"- fact {number}x\n" for number in range(1, 401)))
        talk.agent = Agent(AgentSettings(), talk.workspace, talk.sessions, talk.model, talk.clock)
        why = await talk.say("Go on", ("memory_update", {"old_text": "", "new_text": "- fact 401x"}))
        (memory,) = (file for file in why.files if file.path == "MEMORY.md")
        assert (memory.lines, memory.total_lines) == (((1, 200),), 401)
        talk.write("MEMORY.md", talk.read("MEMORY.md") + "- fact 402x\n")
        (memory,) = (file for file in (await talk.say("Go on")).files if file.path == "MEMORY.md")
        assert memory.lines == ((1, 200), (402, 402))
        await talk.model.aclose()


async def test_what_tools_showed_in_the_turn_is_named_and_what_they_cut_is_not(tmp_path: Path) -> None:
    async with FakeAnthropic() as fake:
        talk = Talk(tmp_path, fake)
        talk.write(NOTE, "- tulips are red\n" + f"- roses {'x' * 30_000}\n" + "- lilies are white\n")
        why = await talk.say("Go on", ("read_file", {"path": NOTE}), ("memory_get", {"path": NOTE}))
        whole = [(one.path, one.lines) for one in why.quoted if not one.is_part]
        parts = [(one.path, one.lines) for one in why.quoted if one.is_part]
        assert whole == [(NOTE, (1, 1)), (NOTE, (3, 3))] and parts == [(NOTE, (2, 2))]
        assert (await talk.say("Go on")).quoted == ()
        why = await talk.say("Go on", ("memory_search", {"query": "lilies"}))
        assert (NOTE, (3, 3), False) in [(one.path, one.lines, one.is_part) for one in why.quoted]
        await talk.model.aclose()


async def test_a_file_that_says_something_else_since_is_told_as_such(tmp_path: Path) -> None:
    async with FakeAnthropic() as fake:
        talk = Talk(tmp_path, fake)
        talk.write("MEMORY.md", "- tulips are red\n")
        (memory,) = (await talk.say("Go on")).files
        assert not memory.is_older
        talk.write("MEMORY.md", "- roses are white\n- tulips are red\n")
        why = await talk.agent.why(KEY)
        assert why is not None and [(one.lines, one.is_older) for one in why.files] == [(((1, 1),), True)]
        await talk.model.aclose()
