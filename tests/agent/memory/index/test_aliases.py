"""Other forms of a name, told by a line in USER.md or in a note."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.memory.index.aliases import aliases_in, forms_named
from agent.memory.index.engine import MemoryIndex
from agent.memory.scope import Scope
from agent.memory.search import Hit
from tests.agent.places import group, morning, owner, person

CLOCK = morning().clock
KATHARINA = "- Katharina (Kate, Kat, 卡佳)\n"


def written(workspace: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, "utf-8")
    return workspace


def found(scope: Scope, query: str) -> list[Hit]:
    index = MemoryIndex(None)
    try:
        return list(index.search(scope, CLOCK, [query]).hits)
    finally:
        index.close()


def texts(scope: Scope, query: str) -> list[str]:
    return [hit.text for hit in found(scope, query) if hit.matched]


@pytest.mark.parametrize(
    ("line", "forms"),
    [
        ("- Katharina (Kate, Kat, 卡佳)", ("katharina", "kate", "kat", "卡佳")),
        ("  * **Katharina Meier** (Kate; Кэт): a friend from Bonn", ("katharina meier", "kate", "кэт")),
        ("- Анна（Аня、Анечка）", ("анна", "аня", "анечка")),
        ("- Anna (Annie, my sister)", ("anna", "annie")),
    ],
)
def test_a_line_of_a_name_and_its_forms(line: str, forms: tuple[str, ...]) -> None:
    assert list(aliases_in(f"# People\n\n{line}\n")) == [forms]


@pytest.mark.parametrize(
    "line",
    [
        "Katharina (Kate)",
        "- Katharina",
        "- Katharina (a friend)",
        "- Katharina (Kate) moved to Bonn",
        "- Katharina (Kate) (from: letter.pdf)",
        "- Dentist (Friday)",
        "- Trip (2026-05-03)",
        "- met Anna (Annie)",
        "- Katharina (Kate",
    ],
)
def test_other_lines_tell_no_forms(line: str) -> None:
    assert list(aliases_in(line)) == []


@pytest.mark.parametrize("file", ["USER.md", "memory/notes/friends.md"])
@pytest.mark.parametrize(
    "query", ["What does Kate play?", "What's Kat's instrument?", "卡佳演奏什么?", "Does Katharina play?"]
)
def test_a_question_with_one_form_finds_the_others(query: str, file: str, tmp_path: Path) -> None:
    log = "- Katharina has a cello\n- the cellar is dry\n- Ben has a drum\n"
    written(tmp_path, {file: KATHARINA, "memory/2026-10-01.md": log})
    assert "- Katharina has a cello" in texts(owner(tmp_path), query)
    assert "- Ben has a drum" not in texts(owner(tmp_path), query)


def test_another_form_counts_as_the_form_that_is_asked_for_and_not_twice(tmp_path: Path) -> None:
    log = "- Katharina swims today\n\n## x\n\n- Kate swims today\n\n## y\n\n- Ben swims today\n\n## z\n\n- bread\n"
    written(tmp_path, {"USER.md": KATHARINA, "memory/2026-10-01.md": log})
    best = {hit.text: hit for hit in found(owner(tmp_path), "When does Kate swim?")}
    kate, katharina = best["- Kate swims today"], best["- Katharina swims today"]
    assert kate.matched == katharina.matched == {"kate": 1.0, "swim": 1.0}
    assert kate.parts["near"] == pytest.approx(katharina.parts["near"], rel=0.2)
    assert best["- Ben swims today"].score < katharina.score


def test_forms_of_several_words_are_known(tmp_path: Path) -> None:
    log = "- Dr. Osei wants to see the tooth again\n- the car is at the garage\n"
    written(tmp_path, {"USER.md": "- Dr. Osei (Kwame Mensah)\n", "memory/2026-10-01.md": log})
    assert texts(owner(tmp_path), "What did Kwame Mensah say?")[1:] == ["- Dr. Osei wants to see the tooth again"]


def test_names_of_another_audience_are_not_known(tmp_path: Path) -> None:
    """Neither the owner's to others, nor what others wrote to the owner."""
    log = {"memory/2026-10-01.md": "- Katharina has a cello\n"}
    written(tmp_path, {"USER.md": KATHARINA})
    for scope in (person(tmp_path), group(tmp_path)):
        written(scope.folder, log)
        assert texts(scope, "Kate") == []
    written(tmp_path, {"USER.md": "- Name: Otto\n", "memory/2026-10-02.md": "- Katharina has a cello\n"})
    written(person(tmp_path).folder, {"USER.md": KATHARINA})
    assert [text for text in texts(owner(tmp_path), "Kate") if "cello" in text] == []
    assert texts(person(tmp_path), "Kate")


def test_a_line_that_is_taken_out_is_forgotten(tmp_path: Path) -> None:
    written(tmp_path, {"USER.md": KATHARINA, "memory/2026-10-01.md": "- Katharina has a cello\n"})
    index = MemoryIndex(tmp_path / "state")
    try:
        assert len(index.search(owner(tmp_path), CLOCK, ["Kate"]).hits) == 2
        (tmp_path / "USER.md").write_text("- Name: Otto\n")
        assert not [hit for hit in index.search(owner(tmp_path), CLOCK, ["Kate"]).hits if hit.matched]
    finally:
        index.close()


def test_forms_are_told_with_the_place_of_the_name() -> None:
    names = list(aliases_in(f"{KATHARINA}- Benjamin (Ben)\n"))
    forms = forms_named("Did Ben meet Kate?", names)
    assert forms == {"benjamin": 1, "ben": 1, "katharina": 3, "kate": 3, "kat": 3, "卡佳": 3}
    assert forms_named("Did they meet?", names) == {}
