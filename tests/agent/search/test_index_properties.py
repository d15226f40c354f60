"""After any sequence of file operations the index is what a build from nothing would be, and tells what is there."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from agent.memory.scope import Scope
from tests.agent.places import group, morning, owner, person, search, unhurried
from tests.strength import examples

CLOCK = morning().clock
NAMES = st.sampled_from(
    ["MEMORY.md", "memory/2026-10-01.md", "memory/notes/a.md", "people/alice/memory/x.md", "groups/telegram--100/b.md"]
)
LINES = st.sampled_from(
    [
        "# Title",
        "## Anna",
        "- 09:00 Anna: the dentist moved",
        "- 10:00 Ben: which dentist?",
        "  and more",
        "",
        "牙医在周五，见面。",
        "tea",
        "long " * 400,
    ]
)
TEXTS = st.lists(LINES, max_size=12).map("\n".join)
QUERIES = ["dentist", "牙医", "what did Anna say about tea in October?"]


class Files(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.workspace = self.home / "workspace"
        self.workspace.mkdir()
        self.index = unhurried(self.home / "state")
        self.scopes: list[Scope] = [owner(self.workspace), person(self.workspace), group(self.workspace)]

    @rule(name=NAMES, text=TEXTS)
    def write(self, name: str, text: str) -> None:
        file = self.workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    @rule(name=NAMES, text=TEXTS)
    def append(self, name: str, text: str) -> None:
        file = self.workspace / name
        if file.exists():
            with file.open("a", encoding="utf-8") as end:
                end.write(text)

    @rule(name=NAMES, other=NAMES)
    def move(self, name: str, other: str) -> None:
        if (self.workspace / name).exists():
            (self.workspace / other).parent.mkdir(parents=True, exist_ok=True)
            (self.workspace / name).rename(self.workspace / other)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        (self.workspace / name).unlink(missing_ok=True)

    @rule()
    def delete_the_index(self) -> None:
        for file in (self.home / "state").rglob("*.db*"):
            file.unlink()

    @rule()
    def rebuild(self) -> None:
        self.index.rebuild(self.scopes[0], CLOCK)

    @invariant()
    def it_is_what_a_build_from_nothing_would_be(self) -> None:
        for scope in self.scopes:
            mine, fresh = self.index.search(scope, CLOCK, QUERIES), search(scope, CLOCK, QUERIES)
            assert sorted(map(str, mine.hits)) == sorted(map(str, fresh.hits))
            assert mine.gaps == fresh.gaps == ()

    @invariant()
    def what_it_finds_stands_where_it_says_inside_the_scope(self) -> None:
        for scope in self.scopes:
            for hit in self.index.search(scope, CLOCK, QUERIES).hits:
                lines = (scope.folder / hit.path).read_text("utf-8").split("\n")
                told = "\n".join(line.rstrip() for line in lines[hit.start_line - 1 : hit.end_line])
                assert hit.text in told and hit.text.strip()
                assert 0 <= hit.score <= 1

    def teardown(self) -> None:
        self.index.close()
        shutil.rmtree(self.home)


Files.TestCase.settings = settings(
    max_examples=examples(8), stateful_step_count=8, deadline=None, suppress_health_check=list(HealthCheck)
)
TestFiles = Files.TestCase
