"""Other forms of a name, told by a line in USER.md or in a note."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from agent.memory.scope import Scope
from agent.search.aliases import MOST_FORMS, MOST_NAMES, Name, aliases_in, forms_named, other_names
from agent.search.chunking import passages
from agent.search.results import Hit
from tests.agent.places import group, morning, owner, person, unhurried

CLOCK = morning().clock
KATHARINA = "# People\n\n- Katharina (Kate, Kat, 卡佳)\n"


def names_in(text: str, *about: str) -> list[Name]:
    return list(aliases_in(passages(text), about))


def written(workspace: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, "utf-8")
    return workspace


def found(scope: Scope, query: str) -> list[Hit]:
    index = unhurried(None)
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
    assert names_in(f"# People\n\n{line}\n") == [forms]


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
        "- Anna (from: Letter, Carla)",
        "- Katharina (Kate)\n  a friend from Bonn (from: letter.pdf)",
        "- Katharina (Kate)\n\n  a friend from Bonn (from: letter.pdf)",
        "- Anna (She)",
        "- Anna (The One)",
        "- Anna (A)",
        "- User (Assistant)",
        "- Me (Anna)",
        "- Ich (Anna)",
        "- Dr (Anna)",
        "- 我 (安娜)",
        "- 安娜 (他)",
        "```\n- Katharina (Kate)\n```",
    ],
)
def test_other_lines_tell_no_forms(line: str) -> None:
    assert names_in(f"# People\n\n{line}\n") == []


def test_a_mark_concerns_its_own_bullet_alone() -> None:
    text = "# People\n\n- Close:\n  - Katharina (Kate)\n  - Benjamin (Ben) (from: letter.pdf)\n- Theodor (Theo)\n"
    assert names_in(text) == [("katharina", "kate"), ("theodor", "theo")]


ANNA = ("annabel", "anna")


@pytest.mark.parametrize(
    "heading",
    [
        "People", "People close to them", "My family", "Family and friends", "Close friends", "Leute",
        "Names (from: letter.pdf)", "Meine Freunde", "Mi familia", "Amigos", "Ma famille", "Noms", "Famiglia e amici",
        "联系人", "家人和朋友", "人", "家族", "友人",
    ],
)  # fmt: skip
def test_names_are_read_below_a_heading_that_says_people(heading: str) -> None:
    assert names_in(f"# 2026\n\n## {heading}\n\n### Bonn\n\n- Annabel (Anna)\n") == [ANNA]
    assert names_in("- Annabel (Anna)\n", heading) == [ANNA]


@pytest.mark.parametrize(
    "heading", ["Shopping", "Places to see with family", "Bücher für Freunde", "Notes (from: Family)", "个人信息"]
)
def test_names_are_read_nowhere_else(heading: str) -> None:
    text = "- Berlin (Germany)\n- Milk (Aldi, Lidl)\n- 牛奶 (盒装)\n"
    assert names_in(f"# People\n\nA few.\n\n# {heading}\n\n{text}", heading) == []


@pytest.mark.parametrize(
    ("name", "head", "is_read"),
    [
        ("friends", "", True),
        ("a", "name: My family\n", True),
        ("a", "description: People from Bonn\n", True),
        ("a", "type: people\n", True),
        ("a", "name: Trips\ntype: user\n", False),
        ("trips", "", False),
    ],
)
def test_a_note_may_say_people_itself(name: str, head: str, is_read: bool, tmp_path: Path) -> None:
    note = (f"---\n{head}---\n\n" if head else "") + "- Katharina (Kate)\n"
    written(tmp_path, {f"memory/notes/{name}.md": note, "memory/2026-10-01.md": "- Katharina has a cello\n"})
    assert ("- Katharina has a cello" in texts(owner(tmp_path), "Kate")) is is_read


def test_the_template_of_what_is_known_of_a_person_has_a_place_for_names() -> None:
    template = (files("workspace_template") / "USER.md").read_text("utf-8")
    assert names_in(template) == []
    assert names_in(f"{template}\n- Katharina (Kate)\n") == [("katharina", "kate")]


def numbered(count: int, stem: str) -> list[str]:
    letters = "bcdfghklmn"
    return [stem + "".join(letters[int(digit)] for digit in f"{number:05d}") for number in range(count)]


def test_lines_files_and_questions_have_bounds(tmp_path: Path) -> None:
    many = names_in(f"# People\n\n- Anna ({', '.join(numbered(100, 'Be'))})\n")
    assert [len(forms) for forms in many] == [MOST_FORMS]
    lines = [f"- Anna (Ce{one}, {', '.join(numbered(20, one))})\n" for one in numbered(MOST_NAMES + 9, "De")]
    written(tmp_path, {"USER.md": "# People\n\n" + "".join(lines)})
    assert len(names_in("# People\n\n" + "".join(lines))) == MOST_NAMES
    written(tmp_path, {"memory/notes/people.md": "".join(lines).replace("Anna", "Ben")})
    index = unhurried(None)
    try:
        found = index.search(owner(tmp_path), CLOCK, ["When does Anna swim?"])
    finally:
        index.close()
    assert found.hits and not found.gaps


def test_a_name_that_many_lines_tell_of_is_looked_for_by_few_of_its_forms() -> None:
    names = [("anna", *numbered(11, one)) for one in numbered(MOST_NAMES, "de")]
    assert len(other_names("When does Anna swim?", names)["anna"]) == 2 * MOST_FORMS


@pytest.mark.parametrize("file", ["USER.md", "memory/notes/friends.md"])
@pytest.mark.parametrize(
    "query", ["What does Kate play?", "What's Kat's gadget?", "卡佳演奏什么?", "Does Katharina play?"]
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
    written(tmp_path, {"USER.md": "# People\n\n- Dr. Osei (Kwame Mensah)\n", "memory/2026-10-01.md": log})
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
    index = unhurried(tmp_path / "state")
    try:
        assert len(index.search(owner(tmp_path), CLOCK, ["Kate"]).hits) == 2
        (tmp_path / "USER.md").write_text("- Name: Otto\n")
        assert not [hit for hit in index.search(owner(tmp_path), CLOCK, ["Kate"]).hits if hit.matched]
    finally:
        index.close()


def test_forms_are_told_with_the_place_of_the_name() -> None:
    names = names_in(f"{KATHARINA}- Benjamin (Ben)\n")
    forms = forms_named("Did Ben meet Kate?", names)
    assert forms == {"benjamin": 1, "ben": 1, "katharina": 3, "kate": 3, "kat": 3, "卡佳": 3}
    assert forms_named("Did they meet?", names) == {}
