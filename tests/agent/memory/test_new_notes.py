"""A new note's line stands where the prompt shows it, also in an index that is longer than that."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.context.prompt import fixed_part
from agent.memory import notes
from agent.memory.notes import NEW_NOTES
from agent.memory.scope import Scope
from agent.settings import MemorySettings
from tests.agent.places import group, morning, owner
from tests.strength import examples

CLOCK = morning().clock
LIMITS = MemorySettings(max_index_lines=20, max_index_bytes=1_000, max_file_chars=900)
LONG = "".join(f"- fact {number}\n" for number in range(300))


def save(scope: Scope, name: str, limits: MemorySettings = LIMITS) -> str:
    """Returns its line."""
    notes.save(scope, CLOCK, name, "what it says", "user", "text", settings=limits)
    slug = name.lower().replace(" ", "-")
    return f"- [{name}](memory/notes/{slug}.md) - what it says"


def prompt(scope: Scope, limits: MemorySettings = LIMITS) -> str:
    return "\n".join(fixed_part(scope, CLOCK.today(), limits).system)


@pytest.mark.parametrize(
    "before",
    [
        LONG,
        f"# Memory\n\nFacts that matter.\n\n{LONG}",
        f"# Memory\n\n## Family\n\n{LONG}",
        "# Memory\n" + "".join(f"- {'long ' * 30}{number}\n" for number in range(10)),
        f"---\nname: me\n---\n{LONG}",
        f"# Memory\n\n{LONG}\n## Notes\n\n- [Old](memory/notes/old.md) - of long ago\n",
        f"{'prose ' * 8}\n" * 100,
        f"# Memory\n{'prose ' * 8}\n" * 100,
        LONG.rstrip("\n"),
    ],
)
def test_in_an_index_over_its_limit_a_new_line_stands_near_the_top(tmp_path: Path, before: str) -> None:
    (tmp_path / "MEMORY.md").write_text(before)
    scope = owner(tmp_path)
    first = save(scope, "Dentist")
    assert first in prompt(scope)
    second = save(scope, "Car")
    shown = prompt(scope)
    assert shown.index(second) < shown.index(first)
    now = (tmp_path / "MEMORY.md").read_text()
    assert now.count(NEW_NOTES) == 1 and now.count("memory/notes/dentist.md") == 1
    kept = iter(now.split("\n"))
    assert all(line in kept for line in before.split("\n")), "what the owner wrote stands as it stood, in its order"


def test_in_a_group_s_file_too(tmp_path: Path) -> None:
    scope = group(tmp_path)
    scope.folder.mkdir(parents=True)
    (scope.folder / "GROUP.md").write_text(LONG)
    assert save(scope, "Plan") in prompt(scope)


def test_below_the_limit_nothing_is_different(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n\n- a fact\n")
    line = save(owner(tmp_path), "Dentist")
    assert (tmp_path / "MEMORY.md").read_text() == f"# Memory\n\n- a fact\n{line}\n"


def test_a_note_that_is_updated_keeps_its_line_s_place(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text(LONG)
    scope = owner(tmp_path)
    plenty = MemorySettings(max_index_lines=1_000, max_index_bytes=100_000)
    line = save(scope, "Dentist", plenty)
    save(scope, "Dentist")
    assert (tmp_path / "MEMORY.md").read_text() == f"{LONG}{line}\n"


lines = st.lists(
    st.sampled_from(["", "# Memory", "## Part", "- fact", "- [a](memory/notes/a.md)", NEW_NOTES, "prose " * 20, "---"]),
    max_size=40,
)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(lines, st.booleans(), st.integers(8, 60), st.integers(400, 2_000))
def test_whatever_stands_there_the_new_line_is_shown_and_nothing_is_lost(
    before: list[str], ended: bool, most_lines: int, most_bytes: int
) -> None:
    limits = MemorySettings(max_index_lines=most_lines, max_index_bytes=most_bytes)
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "MEMORY.md"
        index.write_text("\n".join(before) + "\n" * ended)
        scope = owner(Path(folder))
        line = save(scope, "Dentist", limits)
        kept = iter(index.read_text().split("\n"))
        assert all(one in kept for one in before)
        in_front_matter = before[:1] == ["---"] and "---" in before[1:]
        assert line in prompt(scope, limits) or in_front_matter
