"""What each rule of the rankings is for."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from agent.languages.stemming import stem
from agent.search.answer_types import only_asks
from agent.search.tokenizer import query_terms, tokens
from agent.settings import HybridSettings, SearchSettings
from tests.agent.places import morning, owner, unhurried

CLOCK = morning().clock
TALK = """# 2026-05-08

- Anna: Shall we talk about the dentist?
- Ben: It hurt for a week, and then it was over on Thursday.
- Anna: I adopted a puppy yesterday.
- Ben: Lovely! Who will walk him?
- Anna: The weather is fine.
- Ben: So it is.
"""


def first(workspace: Path, query: str, settings: SearchSettings | None = None) -> str:
    index = unhurried(None, settings=settings)
    try:
        hits = index.search(owner(workspace), CLOCK, [query]).hits
        return hits[0].text if hits else ""
    finally:
        index.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-05-08.md").write_text(TALK)
    (tmp_path / "memory" / "2026-06-08.md").write_text("# 2026-06-08\n\n- Ben: tea in the garden\n- Ben: bread\n")
    (tmp_path / "memory" / "2026-07-08.md").write_text("# 2026-07-08\n\n- Anna: tea in the garden too\n- Ben: rice\n")
    return tmp_path


def test_an_answer_is_found_by_the_question_before_it(workspace: Path) -> None:
    index = unhurried(None)
    hits = [hit.text for hit in index.search(owner(workspace), CLOCK, ["dentist"]).hits]
    index.close()
    assert any("It hurt" in text for text in hits[:2])


def write_logs(workspace: Path, *lines: str) -> None:
    """A line each, so that what stands beside it counts for none."""
    (workspace / "memory").mkdir(exist_ok=True)
    for day, line in enumerate(lines, 1):
        (workspace / "memory" / f"2026-05-{day:02d}.md").write_text(f"{line}\n")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Would they like salmon?", "Salmon they would like"),
        ("Is salmon for all of us?", "Salmon for all of us"),
        ("Not salmon?", "Salmon, not so much, no"),
    ],
)
def test_of_what_says_the_same_the_one_in_the_words_of_the_question_is_meant(
    query: str, expected: str, tmp_path: Path
) -> None:
    write_logs(
        tmp_path, "Salmon they would like", "Salmon for all of us", "Salmon, not so much, no", "Tea", "Bread", "Rice"
    )
    assert first(tmp_path, query) == expected


def test_in_a_list_of_facts_the_words_of_a_question_count_for_nothing(tmp_path: Path) -> None:
    write_logs(tmp_path, "- Salmon like them", "- Salmon with rice", "- Tea", "- Bread", "- Milk")
    assert first(tmp_path, "Do they like salmon?") == "- Salmon with rice", "the newer of two that say the same"


def test_nothing_is_found_by_the_words_of_a_question_alone(tmp_path: Path) -> None:
    write_logs(tmp_path, "Which would they like?", "Salmon for six", "Tea", "Bread", "Rice")
    index = unhurried(None)
    hits = index.search(owner(tmp_path), CLOCK, ["Would they like salmon?"]).hits
    index.close()
    assert [hit.text for hit in hits] == ["Salmon for six"]
    assert set(hits[0].matched) == {"salmon"}


def test_what_answers_comes_before_what_says_the_same_unasked(workspace: Path) -> None:
    text = "# 2026-07-09\n\n- Anna: Which?\n- Ben: salmon\n\n## later\n\n- Anna: Well.\n- Ben: salmon!\n"
    (workspace / "memory" / "2026-07-09.md").write_text(text)
    assert first(workspace, "salmon") == "- Ben: salmon"


def test_a_named_day_decides_between_equals(workspace: Path) -> None:
    assert "too" in first(workspace, "tea in the garden in July")
    assert "too" not in first(workspace, "tea in the garden in June")


def test_what_was_told_weeks_before_of_a_named_day_is_found_where_it_writes_it_out(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-10-01.md").write_text(
        "# 2026-10-01\n\n- Ann sings in the church (2026-11-17)\n- soup\n"
    )
    (tmp_path / "memory" / "2026-11-16.md").write_text("# 2026-11-16\n\n- soup\n- bread\n")
    for query in ("What was last Tuesday?", "what happened on 17 November", "这周二"):
        assert first(tmp_path, query) == "- Ann sings in the church (2026-11-17)"


def test_the_one_who_is_named_speaks(workspace: Path) -> None:
    assert first(workspace, "Did Anna have tea?").startswith("- Anna")
    assert first(workspace, "Did Ben have tea?").startswith("- Ben")


def test_of_two_who_are_named_in_one_breath_neither_comes_before_the_other(workspace: Path) -> None:
    """Else the first who is named, who is the one that does or says something."""
    best = {
        first(workspace, f"Did {both} have tea in the garden?") for both in ("Anna and Ben", "Ben or Anna", "Ben, Anna")
    }
    assert len(best) == 1
    assert first(workspace, "Did Anna tell our dear Ben of tea in the garden?").startswith("- Anna")
    assert first(workspace, "Did Ben tell our dear Anna of tea in the garden?").startswith("- Ben")


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("Hi Ben! Which sports do you play these days?", "I play sports such as golf these days"),
        ("Which sports do you play these days? (photo: a ball)", "I play sports such as golf these days"),
        ("Do you play sports? And which ones do you like?", "I play sports such as golf these days"),
    ],
)
def test_what_somebody_only_asks_comes_behind_what_is_told(asked: str, answered: str, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    for day, text in (("08", f"- Anna: bread\n- Anna: {answered}\n"), ("18", f"- Anna: rice\n- Anna: {asked}\n")):
        (tmp_path / "memory" / f"2026-05-{day}.md").write_text(f"# 2026-05-{day}\n\n{text}")
    assert first(tmp_path, "Which sports does she play?") == f"- Anna: {answered}"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("What do you do at the weekend?", True),
        ("Oh nice! And where did you buy it?", True),
        ("Was machst du am Wochenende so?", True),
        ("早上好！你周末打算做些什么呢？", True),
        ("週末は何をする予定ですか。", True),
        ("ماذا تفعل في نهاية الأسبوع؟", True),
        ("I play tennis on Sundays. What do you do?", False),
        ("I play tennis on Sundays", False),
        ("我周末一般在公园里打网球。你呢？", False),
        ("Really?", False),
        ("", False),
        ("(?)", False),
    ],
)
def test_what_only_asks(words: str, expected: bool) -> None:
    assert only_asks(words) is expected


def test_what_the_assistant_is_asked_says_what_it_is_about(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    talk = "- user: Which sports could I play with my knee?\n- assistant: Rowing.\n"
    (tmp_path / "memory" / "2026-05-18.md").write_text(f"# 2026-05-18\n\n{talk}")
    (tmp_path / "memory" / "2026-05-08.md").write_text(
        "# 2026-05-08\n\n- user: Sports on the radio\n- assistant: Oh.\n"
    )
    assert "knee" in first(tmp_path, "What sports were good for my knee?")


def test_the_past_is_found_by_the_present() -> None:
    assert [stem(word) for word in ("adopted", "adoption", "went", "bought", "ponies")] == [
        stem(word) for word in ("adopt", "adopting", "go", "buy", "pony")
    ]
    assert tokens("Er ging, 歯医者") == ["er", "ging", "歯医", "医者", "者"]
    assert [term.token for term in query_terms("Where did I buy the tea?")] == [stem("buy"), "tea"]


def test_several_questions_find_each_its_own_and_nothing_twice(workspace: Path) -> None:
    index = unhurried(None)
    hits = index.search(owner(workspace), CLOCK, ["puppy", "bread", "puppy bread"]).hits
    index.close()
    places = [(hit.path, hit.start_line) for hit in hits]
    assert len(places) == len(set(places))
    assert {"puppy" in hit.text or "bread" in hit.text for hit in hits[:2]} == {True}


def test_what_is_told_again_comes_behind_what_says_something_else(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    for day in range(10, 20):
        again = f"- 1{day % 3}:30 The park by the pond is lovely at this time of the year, and quiet too\n"
        (tmp_path / "memory" / f"2026-05-{day}.md").write_text(f"# 2026-05-{day}\n\n{again}- The park is far\n")
    index = unhurried(None)
    hits = index.search(owner(tmp_path), CLOCK, ["lovely park pond"]).hits
    index.close()
    assert ["lovely" in hit.text for hit in hits[:3]] == [True, False, True], "the first of each, then the others"
    assert sum("lovely" in hit.text for hit in hits) == 10, "each is of a day of its own"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_word_that_denies_is_no_repeat(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    for day, may in ((10, "may eat"), (20, "may never eat")):
        said = f"- Mia {may} peanuts again after the long test in the clinic\n"
        (tmp_path / "memory" / f"2026-05-{day}.md").write_text(f"# 2026-05-{day}\n\n{said}")
    assert first(tmp_path, "may Mia eat peanuts")
    index = unhurried(None)
    texts = " ".join(hit.text for hit in index.search(owner(tmp_path), CLOCK, ["may Mia eat peanuts"]).hits)
    index.close()
    assert "may eat" in texts and "may never eat" in texts


HYBRID = SearchSettings(hybrid=HybridSettings(min_score=0.0))


def test_hybrid_gives_chunks_and_keeps_its_bar(workspace: Path) -> None:
    assert "puppy" in first(workspace, "puppy", HYBRID) and "dentist" in first(workspace, "puppy", HYBRID)
    assert first(workspace, "puppy", SearchSettings(hybrid=HybridSettings(min_score=1.0))) == ""


def test_hybrid_with_a_half_life_prefers_the_newer(workspace: Path) -> None:
    aged = SearchSettings(hybrid=HybridSettings(min_score=0.0, half_life_days=10, mmr_lambda=0.7))
    assert "too" in first(workspace, "tea garden", aged)


def scores(workspace: Path, query: str, **options: float) -> dict[str, float]:
    """The best of each file."""
    index = unhurried(None, settings=SearchSettings(hybrid=HybridSettings(min_score=0.0, **options)))
    try:
        hits = index.search(owner(workspace), CLOCK, [query]).hits
        return {hit.path: hit.score for hit in reversed(hits)}
    finally:
        index.close()


def test_a_half_life_ages_what_has_a_day_and_nothing_else(workspace: Path) -> None:
    """Neither the memory index nor a note, however long ago they were changed and whatever days they speak of."""
    past = (CLOCK.today() - timedelta(days=200)).isoformat()
    lasting = ["MEMORY.md", "memory/notes/flat.md", "projects/flat.md"]
    for name in lasting:
        file = workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nname: flat\ncreated: {past}\n---\n\n## {past}\n\n- {past} The meter is 4711\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))
    (workspace / "memory" / f"{past}.md").write_text(f"# {past}\n\n- The meter is 4712\n")
    (workspace / "memory" / "HISTORY.md").write_text(f"[{past} 21:00] The meter of the cellar was read\n")
    for number in range(30):
        (workspace / f"other{number}.md").write_text("- Nothing of that kind\n")
    plain, aged = scores(workspace, "meter"), scores(workspace, "meter", half_life_days=50)
    assert {name for name in plain if aged.get(name, 0.0) == plain[name]} == set(lasting)
    assert plain.keys() == {*lasting, f"memory/{past}.md", "memory/HISTORY.md"}


def test_marginal_relevance_tells_alike_passages_apart_where_no_spaces_are_written(workspace: Path) -> None:
    park = "我们星期五去公园喝茶，茶很好，茶很香"
    kitchen = "妈妈的茶在厨房里，明天早上她要把新的杯子和盘子都洗干净放好"
    for day, text in enumerate((park, f"{park}吧", kitchen), 1):
        (workspace / "memory" / f"2026-01-0{day}.md").write_text(f"- {text}\n")
    plain, varied = (list(reversed(scores(workspace, "茶", **options))) for options in ({}, {"mmr_lambda": 0.3}))
    assert plain.index("memory/2026-01-03.md") == 2 and varied.index("memory/2026-01-03.md") == 1
