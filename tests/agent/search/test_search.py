"""What was written down is found again, by its words, in any script, within the scope."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.languages.terms import fold, query_terms, terms
from agent.memory import notes
from agent.memory.log_writer import append_log
from agent.search.chunking import passages
from agent.search.results import strength_of
from agent.workspace import create
from tests.agent.places import group, morning, owner, person, search

CLOCK = morning().clock

LOG = """# 2026-11-18

- 09:00 Dentist appointment moved to Friday 10:00,
  Dr. Müller, Main Street 4
- 09:30 Bought bread and milk
- 10:00 Called the bank about the mortgage

## Reise

- 11:00 Flüge nach Zürich gebucht, Abflug 14:25
- 12:00 明天下午三点和王医生开会
- 13:00 来週、歯医者を予約する
- 14:00 Invoice INV-20771 paid, 1.250 €
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-11-18.md").write_text(LOG, encoding="utf-8")
    (tmp_path / "MEMORY.md").write_text("# Memory\n\n- Favourite colour: green\n\n## Call Anna back\n")
    (tmp_path / "AGENTS.md").write_text("dentist dentist dentist rules")
    return tmp_path


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("When is my dentist appointment?", "Dr. Müller"),
        ("muller", "Dr. Müller"),
        ("DENTISTS", "Dr. Müller"),
        ("mortgages", "bank"),
        ("zurich", "Abflug"),
        ("Reise Flug", "Abflug"),
        ("王医生", "开会"),
        ("歯医者", "予約"),
        ("歯", "予約"),
        ("INV-20771", "paid"),
        ("what is my favourite colour", "green"),
        ("anna", "Call Anna back"),
    ],
)
def test_the_best_passage_comes_first(workspace: Path, query: str, expected: str) -> None:
    found = search(owner(workspace), CLOCK, [query])
    assert expected in found.hits[0].text
    assert 0 < found.hits[0].score < 1
    assert found.gaps == ()


def test_a_passage_says_where_it_stands(workspace: Path) -> None:
    hit = search(owner(workspace), CLOCK, ["dentist"]).hits[0]
    assert (hit.path, hit.start_line, hit.end_line, hit.date) == ("memory/2026-11-18.md", 3, 4, date(2026, 11, 18))
    assert hit.text == "\n".join(LOG.split("\n")[2:4])


def test_marks_of_ours_are_no_passages(tmp_path: Path) -> None:
    log = (
        "# 2026-11-18\n\n## Journal · owner · 09:00-09:20 (extract)\n\n- 09:00 Ann sings\n\n"
        "<!-- journal 20261118-a1b2 0-3 extract -->\n\n## Notes\n\n- 10:00 Ben drums\n"
    )
    (tmp_path / "memory" / "proposals").mkdir(parents=True)
    (tmp_path / "memory" / "2026-11-18.md").write_text(log)
    note = "<!-- Proposed for MEMORY.md on 2026-11-18 09:00 (a talk); not done. Delete this. -->\n\n- Ann sings well\n"
    (tmp_path / "memory" / "proposals" / "one.md").write_text(note)
    for query in ("journal extract", "proposed", "20261118 a1b2"):
        assert not search(owner(tmp_path), CLOCK, [query]).hits
    assert not any("<!--" in hit.text for hit in search(owner(tmp_path), CLOCK, ["ann sings"]).hits)
    places = [(hit.path, hit.start_line) for hit in search(owner(tmp_path), CLOCK, ["drums"]).hits]
    assert ("memory/2026-11-18.md", 11) in places


def test_what_nobody_has_written_is_not_found(tmp_path: Path) -> None:
    create(tmp_path)
    queries = ("facts that matter in every talk", "tools and places", "heartbeat", "paths", "languages", "likes")
    assert not any(search(owner(tmp_path), CLOCK, [query]).hits for query in queries)
    (tmp_path / "MEMORY.md").write_text(f"{(tmp_path / 'MEMORY.md').read_text()}\n- Facts are sacred to Ann.\n")
    (tmp_path / "USER.md").write_text((tmp_path / "USER.md").read_text().replace("- Languages:", "- Languages: Igbo"))
    found = [hit.text for query in ("facts", "languages") for hit in search(owner(tmp_path), CLOCK, [query]).hits]
    assert found == ["- Facts are sacred to Ann.", "- Languages: Igbo"]


def test_a_line_of_an_earlier_template_is_not_found(tmp_path: Path) -> None:
    line = "Facts that matter in nearly every talk, a line each. Lines with a link point to a note that says more."
    (tmp_path / "MEMORY.md").write_text(f"# Memory\n\n{line}\n")
    assert not search(owner(tmp_path), CLOCK, ["facts that matter in every talk"]).hits


@pytest.mark.parametrize(
    ("file", "text", "query"),
    [
        ("USER.md", "- Allergies:\n- nuts\n", "allergies"),
        ("USER.md", "- Door code of the cellar is 77:\n", "cellar"),
        ("memory/2026-11-18.md", "<!-- journal idea --> Buy marzipan for Greta\n", "marzipan"),
        ("memory/2026-11-18.md", "<!-- Proposed for the garden: roses -->\n", "roses"),
        ("memory/notes/IDENTITY.md", "- Name: Daybook\n", "daybook"),
    ],
)
def test_what_somebody_wrote_is_found_though_it_looks_like_ours(
    tmp_path: Path, file: str, text: str, query: str
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert query in search(owner(tmp_path), CLOCK, [query]).hits[0].text.lower()


@pytest.mark.parametrize(
    ("score", "strength"),
    [(1.0, "strong"), (0.35, "strong"), (0.34, "likely"), (0.2, "likely"), (0.19, "weak"), (0.01, None), (0.0, None)],
)
def test_people_are_told_how_well_it_fits_in_a_word(score: float, strength: str | None) -> None:
    assert strength_of(score) == strength


def test_scores_tell_a_whole_answer_from_half_of_one(workspace: Path) -> None:
    whole, half = (search(owner(workspace), CLOCK, [query]).hits[0].score for query in ("bread milk", "bread cinema"))
    assert whole > half


def test_what_is_not_there_is_not_found(workspace: Path) -> None:
    assert search(owner(workspace), CLOCK, ["helicopter"]).hits == ()
    assert search(owner(workspace), CLOCK, ["", "?!"]).hits == ()


def test_several_queries_find_what_any_of_them_finds(workspace: Path) -> None:
    found = search(owner(workspace), CLOCK, ["dentist", "colour"])
    assert {hit.path for hit in found.hits} == {"memory/2026-11-18.md", "MEMORY.md"}


def test_days_limit_the_search_and_both_ends_count(workspace: Path) -> None:
    day = date(2026, 11, 18)
    scope = owner(workspace)
    assert search(scope, CLOCK, ["dentist"], since=day, until=day).hits
    assert not search(scope, CLOCK, ["dentist"], since=date(2026, 11, 19)).hits
    assert not search(scope, CLOCK, ["dentist"], until=date(2026, 11, 17)).hits


def test_a_notes_name_and_description_help_to_find_it(workspace: Path) -> None:
    notes.save(owner(workspace), CLOCK, "Physiotherapy", "exercises for the knee", "reference", "Twice a day, slowly.")
    texts = [hit.text for hit in search(owner(workspace), CLOCK, ["knee exercises slowly"]).hits]
    assert texts[0] == "Twice a day, slowly."


def test_invariant_08_a_search_stays_in_its_scope(workspace: Path) -> None:
    append_log(person(workspace), CLOCK, "Alice likes dentists")
    append_log(group(workspace), CLOCK, "The group's dentist joke")
    (group(workspace).folder / "link.md").symlink_to(workspace / "MEMORY.md")
    (group(workspace).folder / "folder").symlink_to(workspace / "memory")
    assert [hit.text for hit in search(person(workspace), CLOCK, ["dentist"]).hits] == ["- 08:30 Alice likes dentists"]
    assert [hit.text for hit in search(group(workspace), CLOCK, ["dentist colour"]).hits] == [
        "- 08:30 The group's dentist joke"
    ]
    assert sum("dentist" in hit.matched for hit in search(owner(workspace), CLOCK, ["dentist"]).hits) == 3


def test_files_that_cannot_be_read_are_named_and_the_rest_is_searched(workspace: Path) -> None:
    (workspace / "memory" / "bad.md").write_bytes(b"dentist\0")
    os.mkfifo(workspace / "pipe.md")
    found = search(owner(workspace), CLOCK, ["dentist"])
    assert found.hits
    assert found.gaps == ("memory/bad.md is a binary file.",)


def test_an_empty_workspace_is_searched(tmp_path: Path) -> None:
    assert search(person(tmp_path), CLOCK, ["anything"]).hits == ()


def test_no_more_than_asked_for(workspace: Path) -> None:
    for number in range(50):
        append_log(owner(workspace), CLOCK, f"tea number {number}")
    assert len(search(owner(workspace), CLOCK, ["tea"], most=7).hits) == 7


markdown = st.lists(
    st.sampled_from(["# H", "## H 2", "- a", "  b", "text", "", " ", "1. one", "* x", "---", "```", "\tx", "x" * 700])
).map("\n".join)


@given(markdown | st.text())
def test_every_line_is_in_one_passage_at_its_place(text: str) -> None:
    lines = [line.rstrip() for line in text.split("\n")]
    covered: list[int] = []
    for passage in passages(text):
        covered += range(passage.start, passage.end + 1)
        if not lines[passage.start - 1].startswith("#"):
            assert passage.text == "\n".join(lines[passage.start - 1 : passage.end])
    assert len(covered) == len(set(covered))
    missing = set(range(1, len(lines) + 1)) - set(covered)
    assert all(not lines[number - 1] or lines[number - 1].startswith("#") for number in missing)


def test_terms() -> None:
    assert terms(fold("Straße Ünïcode ＡＢ x2")) == ["strasse", "unicode", "ab", "x2"]
    assert terms(fold("会議は三時")) == ["会議", "議は", "は三", "三時"]
    assert query_terms("what is the plan") == ["plan"]
    assert query_terms("who am I") == ["who", "am", "i"]


@given(st.text(alphabet="aäéßøñ"))
def test_case_and_accents_do_not_matter(word: str) -> None:
    assert terms(fold(word)) == terms(fold(word.upper())) == terms(fold(word.replace("ä", "a").replace("é", "e")))


def test_a_field_that_was_never_filled_in_answers_nothing(tmp_path: Path) -> None:
    (tmp_path / "USER.md").write_text("# The person\n\n- To be called:\n- Languages: German\n- Likes:\n  - tea\n")
    labels = [hit.text for hit in search(owner(tmp_path), CLOCK, ["called languages likes"]).hits]
    assert sorted(labels) == ["- Languages: German", "- Likes:\n  - tea"]


@pytest.mark.parametrize(
    "asked",
    ["Where is the bike?", "- 14:52 Owner: Where is the bike?", "- 14:52 Where is the bike?", "> Where is the bike?"],
)
def test_a_question_comes_behind_what_answers_it(tmp_path: Path, asked: str) -> None:
    (tmp_path / "memory").mkdir()
    told = "# 2026-11-18\n\n- 14:51 My bike is in the cellar, the key hangs by the door."
    log = f"{told}\n\n## Journal · owner · 14:51-14:53\n\n{asked}\n"
    (tmp_path / "memory" / "2026-11-18.md").write_text(log)
    texts = [hit.text for hit in search(owner(tmp_path), CLOCK, ["Where is the bike?"]).hits]
    assert "cellar" in texts[0]
