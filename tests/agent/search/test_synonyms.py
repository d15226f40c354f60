"""Everyday words that stand for one another in a search."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from agent.languages.terms import fold_for_index
from agent.search.aliases import synonyms_of
from agent.search.results import Hit, Strength
from agent.search.tokenizer import query_terms, term_of
from tests.agent.places import morning, owner, search

CLOCK = morning().clock
LINES = files("agent.search").joinpath("synonyms.txt").read_text("utf-8").splitlines()
TOPICS = [line for line in LINES if line and not line.startswith("#")]
OTHERS = "".join(f"- Parcel {number} was put on the ramp\n" for number in range(40))


def found(folder: Path, query: str, text: str) -> list[Hit]:
    """In one log, among forty lines about something else."""
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / "2026-05-08.md").write_text(f"{OTHERS}{text}")
    return list(search(owner(folder), CLOCK, [query]).hits)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("When was I anxious?", "Worried about the exam all evening"),
        ("What do I know about mum?", "Mother likes lilies"),
        ("Wann hatte ich Angst?", "Sehr nervös vor dem Vortrag"),
        ("¿Qué pasó con el coche?", "El taller llamó por la tarde"),
        ("Qu'est-ce que le médecin a dit ?", "À l'hôpital à neuf heures"),
        ("我什么时候看过医生？", "下午去了医院"),
        ("病院に行ったのはいつ？", "医者に会った"),
    ],
)
def test_what_is_asked_in_other_words_is_found(asked: str, said: str, tmp_path: Path) -> None:
    hits = found(tmp_path, asked, f"- {said}\n")
    assert [hit.text for hit in hits[:1]] == [f"- {said}"]
    assert not hits[0].is_context


def test_a_memory_of_a_single_line_is_searched_for_synonyms_too(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-05-08.md").write_text("- Worried before the flight\n")
    (hit,) = search(owner(tmp_path), CLOCK, ["anxious"]).hits
    assert hit.strength in (Strength.WEAK, Strength.LIKELY)


def test_the_word_itself_comes_before_its_synonyms(tmp_path: Path) -> None:
    hits = found(tmp_path, "When was I anxious?", "- Worried about the exam\n- Anxious about the flight\n")
    assert [hit.text for hit in hits[:2]] == ["- Anxious about the flight", "- Worried about the exam"]
    assert hits[0].matched["anxious"] == 1
    assert 0 < hits[1].matched["anxious"] < 1


def test_many_synonyms_are_no_more_than_the_word(tmp_path: Path) -> None:
    hits = found(tmp_path, "anxious", "- Scared, afraid, worried, nervous, in fear, in panic\n- Anxious all day long\n")
    assert hits[0].text == "- Anxious all day long"


def test_what_only_a_synonym_finds_is_not_strong(tmp_path: Path) -> None:
    hits = found(tmp_path, "anxious", "- Worried about the exam\n")
    assert hits[0].strength in (Strength.WEAK, Strength.LIKELY)


def test_a_synonym_that_stands_in_very_many_places_is_not_looked_for(tmp_path: Path) -> None:
    everywhere = "".join(f"- Worried about number {number}\n" for number in range(8_000))
    hits = found(tmp_path, "When was I anxious?", f"{everywhere}- Nervous before the talk\n")
    assert {hit.text for hit in hits if not hit.is_context} == {"- Nervous before the talk"}


def test_a_word_is_no_synonym_of_itself() -> None:
    assert "worri" in synonyms_of("anxiou")
    assert "anxiou" not in synonyms_of("anxiou")
    assert synonyms_of("ramp") == frozenset()


def test_the_table_holds_words_that_are_looked_for() -> None:
    """A stop word would never be asked for, and what is cut into several tokens never be found."""
    for topic in TOPICS:
        words = fold_for_index(topic).split()
        assert len({term_of(word).token for word in words}) > 1, topic
        assert not [word for word, count in Counter(words).items() if count > 1], topic
        for word in words:
            assert query_terms(f"{word} zebra") == [term_of(word), term_of("zebra")], topic
