"""What a message calls up: by an absolute bar, or nothing."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.memory.recall import BAR, MOST_NOTES, MOST_WORDS, informative, relevant
from agent.memory.search import Hit
from tests.agent.places import morning, owner, search

CLOCK = morning().clock

MEMORIES = {
    "memory/notes/clara.md": "---\nname: Clara\ndescription: Alice's sister\n---\n\nAllergic to peanuts, vegetarian.\n",
    "memory/notes/dentist.md": "---\nname: dentist\ndescription: Dr. Weber\n---\n\nLindenstraße 5, second floor.\n",
    "memory/notes/zahn.md": "---\nname: Zahnarzt\ndescription: d\n---\n\nTermine nur vormittags.\n",
    "memory/2026-10-02.md": (
        "# 2026-10-02\n\n- 09:00 Car insurance renewed, policy KX-2291\n- 10:00 牙医：韦伯医生，周五\n"
        "- 11:00 The project meeting went well\n"
    ),
    **{f"memory/2026-09-{day:02}.md": f"- 09:00 project call {day}, should write soon\n" for day in range(1, 29)},
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name, text in MEMORIES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def called_up(workspace: Path, message: str) -> list[str]:
    words = informative(message)
    found = search(owner(workspace), CLOCK, [" ".join(words)], most=200, below="memory") if words else None
    return [one.hit.path for one in relevant(words, found.hits)] if found else []


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ("What should I cook for Clara's birthday dinner on Saturday?", "memory/notes/clara.md"),
        ("When is my dentist appointment?", "memory/notes/dentist.md"),
        ("Clara?", "memory/notes/clara.md"),
        ("Wann muss ich nochmal zum Zahnarzt?", "memory/notes/zahn.md"),
        ("我的牙医是谁？", "memory/2026-10-02.md"),
        ("Which car insurance do I have?", "memory/2026-10-02.md"),
        ("Is there anything with KX-2291 in it?", "memory/2026-10-02.md"),
    ],
)
def test_a_message_calls_up_what_it_is_about(workspace: Path, message: str, path: str) -> None:
    assert called_up(workspace, message)[:1] == [path]


@pytest.mark.parametrize(
    "message",
    [
        "Good morning!",
        "Thanks, that was great, see you tomorrow.",
        "ok",
        "👍",
        "",
        "What is the capital of Mongolia?",
        "How is the project going?",  # in thirty passages: no telling which
        "Explain how a quaternion's conjugate rotates a policy of vectors in Blender's scene graph",
        "你好，今天怎么样？",
        "Translate 'I should write soon' into Latin, Greek, Hebrew, Aramaic and Sumerian, with footnotes",
    ],
)
def test_what_is_about_nothing_known_calls_up_nothing(workspace: Path, message: str) -> None:
    assert called_up(workspace, message) == []


def test_a_long_message_is_looked_for_by_few_words() -> None:
    assert len(informative("lorem " * 50 + " ".join(f"wörter{number}" for number in range(500)))) == MOST_WORDS


words = st.lists(st.sampled_from(["cat", "dentist", "lindenstrasse", "zürich", "牙医", "x1"]), unique=True, max_size=6)
hits = st.lists(
    st.builds(
        Hit,
        st.sampled_from(["memory/notes/a.md", "memory/notes/b.md", "memory/2026-10-02.md"]),
        st.integers(1, 50),
        st.integers(1, 50),
        st.dates(date(2020, 1, 1), date(2026, 11, 21)),
        st.floats(0, 1),
        st.text(max_size=12),
        st.dictionaries(st.sampled_from(["cat", "dentist", "lindenstrasse", "牙医"]), st.sampled_from([0.5, 1.0])),
    ),
    max_size=30,
)


@given(words, hits)
def test_selection_keeps_its_bar_its_order_and_its_limits(words: list[str], hits: list[Hit]) -> None:
    chosen = list(relevant(words, hits))
    assert all(BAR <= one.share <= 1 for one in chosen)
    assert [one.share for one in chosen] == sorted((one.share for one in chosen), reverse=True)
    assert sum(one.hit.path.startswith("memory/notes") for one in chosen) <= MOST_NOTES
    assert len({one.hit.text for one in chosen}) == len(chosen)
    assert all(any(word in one.hit.matched for word in words) for one in chosen)


@given(st.text(max_size=400))
def test_any_message_has_words_that_can_be_looked_for(message: str) -> None:
    found = informative(message)
    assert len(set(found)) == len(found) <= MOST_WORDS and all(found)
