"""Questions that nobody would ask, and that come all the same: each gets an answer, or none, and costs no more than its
beginning."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.search.engine import MemoryIndex
from agent.search.results import SearchResult
from tests.agent.places import morning, owner, unhurried

CLOCK = morning().clock
NOTES = "- the dentist is on Friday at ten\n- 牙医在周五\n- Käse und Brot\n- มีนัดหมอฟัน\n- a 🎂 for Anna\n"


@pytest.fixture
def index(tmp_path: Path) -> MemoryIndex:
    (tmp_path / "MEMORY.md").write_text(NOTES, "utf-8")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-05-03.md").write_text("# 2026-05-03\n\n- Anna: What of the dentist?\n- Ben: Friday.\n")
    (tmp_path / "USER.md").write_text("# People\n\n- Katharina (Kate, 卡佳)\n", "utf-8")
    return unhurried(None)


def asked(index: MemoryIndex, tmp_path: Path, *queries: str) -> SearchResult:
    try:
        return index.search(owner(tmp_path), CLOCK, queries)
    finally:
        index.close()


@pytest.mark.parametrize(
    "query",
    [
        "dentist " * 131_072,
        "what did the dentist say on 3 May? " * 30_000,
        "between 3 May and " * 60_000,
        "牙医" * 500_000,
        "หมอฟัน" * 170_000,
        "अ" + "्ा" * 500_000,
        "x" * 1_000_000,
        "Kate " * 200_000,
        "\u0301" * 1_000_000,
        "1/1/2023 " * 110_000,
    ],
    ids=lambda query: query[:12],
)
def test_a_question_of_a_megabyte_is_answered(query: str, index: MemoryIndex, tmp_path: Path) -> None:
    found = asked(index, tmp_path, query)
    assert found.gaps == ()
    assert all(0 <= hit.score <= 1 for hit in found.hits)


@pytest.mark.parametrize("query", ["dentist " * 131_072, "牙医" * 500_000])
def test_a_long_question_finds_what_it_says_at_its_beginning(query: str, index: MemoryIndex, tmp_path: Path) -> None:
    assert query[:2] in asked(index, tmp_path, query).hits[0].text


@pytest.mark.parametrize(
    "query", ["a", "1", "я", "?", ".", "-", '"', "*", "'", "\\", "\0", "\ud800", "\u200d", "ـ", "َ"]
)
def test_a_question_of_one_letter_is_answered(query: str, index: MemoryIndex, tmp_path: Path) -> None:
    assert asked(index, tmp_path, query).gaps == ()


def test_one_letter_of_a_script_without_spaces_is_found(index: MemoryIndex, tmp_path: Path) -> None:
    assert asked(index, tmp_path, "牙").hits[0].text == "- 牙医在周五"


@pytest.mark.parametrize(
    "query", ["what is it that I have?", "und wer war das?", "¿qué es lo que hay?", "是什么吗", "뭐야"]
)
def test_a_question_of_stop_words_alone_is_answered(query: str, index: MemoryIndex, tmp_path: Path) -> None:
    assert asked(index, tmp_path, query).gaps == ()


@pytest.mark.parametrize("query", ["😀", "👩‍👩‍👧‍👦 🎉🎉", "❤️", "1️⃣", "…", "   ", ""])
def test_a_question_without_words_finds_nothing_of_itself(query: str, index: MemoryIndex, tmp_path: Path) -> None:
    found = asked(index, tmp_path, query)
    assert found.gaps == ()
    assert not [hit for hit in found.hits if hit.matched and not any(one in hit.text for one in "1🎂")]


@pytest.mark.parametrize("query", ["dentist 牙医", "牙医dentist", "the หมอฟัน dentist"])
def test_a_question_in_two_scripts_finds_both(query: str, index: MemoryIndex, tmp_path: Path) -> None:
    best = " ".join([hit.text for hit in asked(index, tmp_path, query).hits if hit.matched][:4])
    assert "dentist" in best and ("牙医" in best or "หมอฟัน" in best)


def test_many_questions_at_once_are_answered(index: MemoryIndex, tmp_path: Path) -> None:
    assert asked(index, tmp_path, *(f"dentist {number}" for number in range(1_000)), "", "😀").hits


def test_queries_that_were_not_asked_are_counted(index: MemoryIndex, tmp_path: Path) -> None:
    queries = [f"dentist {number}" for number in range(19)]
    found = asked(index, tmp_path, *queries, *queries, " ")
    assert found.gaps == ("3 of 19 queries: no more than 16 are asked at once.",)
