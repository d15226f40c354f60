"""The vectors in memory are at any time those that are read from the file anew, whatever was done, and by whom."""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import tempfile
import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from agent.search.chunking import Chunker, Passage
from agent.search.results import Limits
from agent.search.scope_index import ScopeIndex
from agent.search.sources import IndexSource, new_file
from agent.search.store import IndexStore
from agent.search.vectors.protocol import Similarity
from agent.search.vectors.similarity import Vectors, packed
from tests.agent.places import morning, owner
from tests.strength import examples

CLOCK = morning().clock
NAMES = st.sampled_from(["MEMORY.md", "memory/2026-10-01.md", "memory/2026-10-02.md", "memory/notes/a.md", "b.md"])
LINES = st.sampled_from(
    [*(f"- {word} {'and so on ' * 20}" for word in ("tea", "rain", "soup", "cat", "bread")), "# Head", ""]
)
TEXTS = st.lists(LINES, max_size=12).map("\n".join)
WHO = st.sampled_from([0, 1, 2])
"""Two that embed, and one that does not."""
LIMITS = (Limits(), Limits(until=739_000), Limits(since=739_900), Limits(below="memory"))
Told = tuple[object, ...]


def vector(text: str, size: int) -> list[float]:
    numbers = [byte - 127.5 for byte in hashlib.shake_128(text.encode()).digest(size)]
    return [number / math.hypot(*numbers) for number in numbers]


def told(vectors: Vectors, store: IndexStore, model: str, size: int) -> list[Told]:
    """All that a search can see of them."""
    return [_told(*vectors.likeness(store, model, vector("asked", size), limits)) for limits in LIMITS]


def _told(like: Similarity | None, why: str) -> Told:
    if like is None:
        return (why,)
    passages, windows = like.nearest_passages(1_000), like.nearest_windows(1_000)
    shares, cosines = like.shares(range(2_000)), like.windows(windows)
    assert shares.keys() == set(passages) and cosines == windows
    return why, *({id: round(value, 4) for id, value in one.items()} for one in (shares, windows))


def test_a_day_that_comes_twice_in_a_talk_is_two_sections(tmp_path: Path) -> None:
    """A clock that went back: passages of a section follow each other, which whoever reads the index relies on."""
    days = [date(2026, 5, day) for day in (14, 13, 14)]
    said = [Passage(at, at, f"10:00 Anna: {at}", "", day.day, day) for at, day in enumerate(days, 1)]
    source = IndexSource("sessions/a.jsonl", tmp_path, "a.jsonl", "1 2 3 4", 0.0)
    new = new_file(source, "sha", "", said, CLOCK, Chunker(), lambda: None)
    assert [one.day for one in new.sections] == days
    assert [one.section for one in new.passages] == [0, 1, 2]


FACTS = (
    "Luna likes tuna",
    "Luna eats tuna",
    "Luna sleeps upstairs",
    "Boots need glue",
    "Rain on Monday",
    "The new stove",
)


def of_words(text: str) -> list[float]:
    """The more words two texts share, the nearer they are."""
    numbers = [1e-3] * 1_024
    for word in text.lower().replace(":", " ").split():
        numbers[int.from_bytes(hashlib.sha256(word.encode()).digest()[:2]) % 1_024] += 1
    return [number / math.hypot(*numbers) for number in numbers]


@pytest.mark.parametrize("is_talk", [False, True], ids=["a list", "a conversation"])
def test_in_a_list_what_is_near_the_nearest_facts_is_nearer(tmp_path: Path, is_talk: bool) -> None:
    """Short facts about one thing share more with one another than with what asks for them."""
    lines = [
        f"- 09:0{at} {'Anna' if at % 2 else 'Ben'}: {one}" if is_talk else f"- {one}" for at, one in enumerate(FACTS)
    ]
    (tmp_path / "workspace" / "memory").mkdir(parents=True)
    (tmp_path / "workspace" / "memory" / "2026-10-01.md").write_text("\n".join(lines))
    index = ScopeIndex(tmp_path / "memory.db", owner(tmp_path / "workspace"), Chunker(), embeds=True)
    index.refresh(CLOCK, None)
    while missing := index.unembedded("m", 100):
        index.put_vectors("m", [(row.key, packed(of_words(row.text))) for row in missing])

    def shares(store: IndexStore) -> list[float]:
        like, _ = Vectors().likeness(store, "m", of_words("tuna"), Limits())
        assert like is not None
        return list(like.shares(range(1, 100)).values())

    found, _ = index.read(shares, time.monotonic() + 60)
    assert found is not None and len(found) == len(FACTS)
    asleep, glue = found[2], found[3]
    assert (asleep > glue + 0.05) is not is_talk, found
    index.close()


class Processes(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.workspace = self.home / "workspace"
        self.workspace.mkdir()
        self.indexes = [
            ScopeIndex(self.home / "memory.db", owner(self.workspace), Chunker(), embeds=who != 2) for who in range(3)
        ]
        self.kept = Vectors()
        self.size = 8

    @rule(name=NAMES, text=TEXTS, who=WHO)
    def write(self, name: str, text: str, who: int) -> None:
        file = self.workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        self.indexes[who].refresh(CLOCK, None)

    @rule(name=NAMES, other=NAMES, who=WHO)
    def move(self, name: str, other: str, who: int) -> None:
        if (self.workspace / name).exists():
            (self.workspace / other).parent.mkdir(parents=True, exist_ok=True)
            (self.workspace / name).rename(self.workspace / other)
        self.indexes[who].refresh(CLOCK, None)

    @rule(name=NAMES, who=WHO)
    def delete(self, name: str, who: int) -> None:
        (self.workspace / name).unlink(missing_ok=True)
        self.indexes[who].refresh(CLOCK, None)

    @rule(name=NAMES, days=st.integers(1, 900), who=WHO)
    def touch(self, name: str, days: int, who: int) -> None:
        if (self.workspace / name).exists():
            moment = time.time() - days * 86_400
            os.utime(self.workspace / name, (moment, moment))
        self.indexes[who].refresh(CLOCK, None)

    @rule(most=st.sampled_from([1, 3, 100]), who=st.sampled_from([0, 1]), model=st.sampled_from(["m", "m", "other"]))
    def embed(self, most: int, who: int, model: str) -> None:
        rows = self.indexes[who].unembedded(model, most)
        assert len({row.key for row in rows}) == len(rows)
        self.indexes[who].put_vectors(model, [(row.key, packed(vector(row.text, self.size))) for row in rows])

    @rule(who=st.sampled_from([0, 1]))
    def embed_all(self, who: int) -> None:
        while self.indexes[who].unembedded("m", 100):
            self.embed(100, who, "m")
        assert self.indexes[who].unembedded_count("m") == 0

    @rule()
    def another_size(self) -> None:
        self.size = 20 - self.size

    @rule(who=WHO)
    def purge(self, who: int) -> None:
        self.indexes[who].purge(CLOCK)

    @rule(who=WHO)
    def rebuild(self, who: int) -> None:
        self.indexes[who].rebuild(CLOCK)
        self.indexes[0].refresh(CLOCK, None)  # as before every search: who sees that the file is another one

    @rule()
    def delete_the_index(self) -> None:
        for file in self.home.glob("memory.db*"):
            file.unlink()
        self.indexes[0].refresh(CLOCK, None)

    @invariant()
    def they_are_what_a_fresh_read_gives(self) -> None:
        self.indexes[0].refresh(CLOCK, None)

        def look(store: IndexStore) -> tuple[list[Told], list[Told]]:
            return told(self.kept, store, "m", self.size), told(Vectors(), store, "m", self.size)

        found, why = self.indexes[0].read(look, time.monotonic() + 10)
        assert found is not None, why
        assert found[0] == found[1]

    def teardown(self) -> None:
        for index in self.indexes:
            index.close()
        shutil.rmtree(self.home)


Processes.TestCase.settings = settings(
    max_examples=examples(30), stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
TestProcesses = Processes.TestCase
