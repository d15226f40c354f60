"""Memories as people write them: without bullets, with days in headings, in languages with many forms of a word."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agent.search.chunking import passages, speech
from agent.search.results import Hit
from tests.agent.places import morning, owner, unhurried

CLOCK = morning().clock


def found(workspace: Path, query: str, until: date | None = None) -> list[Hit]:
    index = unhurried(None)
    try:
        return list(index.search(owner(workspace), CLOCK, [query], until=until).hits)
    finally:
        index.close()


def written(workspace: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, "utf-8")
    return workspace


def texts(text: str) -> list[str]:
    return [one.text for one in passages(text)]


# lines -----------------------------------------------------------------------------------------------------------


def test_every_line_with_a_time_or_a_day_is_a_passage() -> None:
    assert texts("09:10 Bought a bicycle.\nIt is red.\n[09:40] Called the plumber.\n2026-02-03: mowed the lawn.\n") == [
        "09:10 Bought a bicycle.\nIt is red.",
        "[09:40] Called the plumber.",
        "2026-02-03: mowed the lawn.",
    ]


def test_a_talk_without_bullets_is_cut_where_another_speaks() -> None:
    assert texts("**Rhea**: I signed.\n**Otto**: When do\nyou move?\n**Rhea**: In March.\n") == [
        "**Rhea**: I signed.",
        "**Otto**: When do\nyou move?",
        "**Rhea**: In March.",
    ]


def test_fields_are_no_talk() -> None:
    assert texts("Name: Dr Osei\nPhone: 555\n") == ["Name: Dr Osei\nPhone: 555"]


@pytest.mark.parametrize(
    "line", ["Rhea: hi", "- **Rhea**: hi", "**Rhea:** hi", "[09:10] Rhea: hi", "- 9:10 pm Rhea: hi"]
)
def test_a_speaker_is_known_in_any_dress(line: str) -> None:
    assert (speech(line).speaker, speech(line).words) == ("rhea", "hi")


def test_code_has_no_headings() -> None:
    assert texts("# Backup\n\n```sh\n# copy\nrsync -a\n\n- x\n```\nEvery night.\n") == [
        "```sh\n# copy\nrsync -a\n\n- x\n```\nEvery night."
    ]


# headings and days -----------------------------------------------------------------------------------------------


def test_every_heading_above_counts(tmp_path: Path) -> None:
    written(
        tmp_path,
        {"a.md": "# Boathouse\n\n## Keys\n\n- behind the barometer\n", "b.md": "# Car\n\n## Keys\n\n- in the hall\n"},
    )
    assert found(tmp_path, "boathouse keys")[0].text == "- behind the barometer"


def test_a_day_in_a_heading_or_a_line_is_that_days(tmp_path: Path) -> None:
    days = "## Tuesday, 10 February 2026\n\nA tooth was pulled.\n\n## 2026-02-11\n\n### Evening\n\nSlept.\n\n"
    written(tmp_path, {"journal.md": f"# Journal\n\n{days}## Later\n\n- 2026-02-17 cleaned the gutters\n- bread\n"})
    for query, expected, day in [
        ("what happened on 10 February?", "A tooth was pulled.", 10),
        ("what did I do on 2026-02-11?", "Slept.", 11),
        ("17 February", "- 2026-02-17 cleaned the gutters", 17),
    ]:
        best = found(tmp_path, query)[0]
        assert (best.text, best.date) == (expected, date(2026, 2, day))
    assert found(tmp_path, "bread")[0].date > date(2026, 2, 17)


def test_a_plan_is_not_of_the_day_that_it_is_for(tmp_path: Path) -> None:
    written(tmp_path, {"plans.md": "- 2099-02-17 the comet returns\n"})
    (hit,) = found(tmp_path, "comet", until=CLOCK.today())
    assert hit.date < date(2099, 1, 1)


@pytest.mark.parametrize("name", ["journal/2026-02-13 Friday.md", "2026/02/13.md", "memory/20260213.md"])
def test_a_file_may_be_named_by_its_day_in_other_ways(name: str, tmp_path: Path) -> None:
    written(tmp_path, {name: "Lost my umbrella.\n"})
    (hit,) = found(tmp_path, "what did I lose on 13 February 2026")
    assert hit.date == date(2026, 2, 13)
    assert found(tmp_path, "umbrella", until=date(2026, 2, 12)) == []


def test_what_is_near_a_day_of_which_nothing_is_comes_for_it(tmp_path: Path) -> None:
    written(tmp_path, {"memory/2026-05-11.md": "- tea with Anna\n", "memory/2026-03-11.md": "- tea with Ben\n"})
    assert [hit.text for hit in found(tmp_path, "on 9 May 2026")] == ["- tea with Anna"]


def test_words_that_name_a_day_hardly_count_as_words(tmp_path: Path) -> None:
    log = "- 3 February is the birthday of the queen\n- the boiler leaks\n"
    written(tmp_path, {"memory/2026-02-03.md": "- mended the fence\n", "memory/2025-06-01.md": log})
    assert found(tmp_path, "what did I do on 3 February 2026?")[0].text == "- mended the fence"


# languages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("Говорили о квартире в Казани.", "квартира Казань"),
        ("Сестра Ольга медсестра.", "Кем работает моя сестра?"),
        ("Ужинали в ресторане.", "рестораны"),
        ("موعد طبيب الأسنان", "اسنان"),
        ("تحدثت مع أحمد", "احمد"),
        ("أسكن في عمّان", "عمان"),
        ("Ma sœur s'appelle Camille.", "soeur"),
        ("Jürgen leiht die Säge.", "Juergen"),
        ("Das Gartenhaus ist fertig.", "Gartenhäuser"),
        ("住所は大阪市。", "どこに住んでいますか?"),
    ],
)
def test_another_form_of_a_word_is_found(note: str, query: str, tmp_path: Path) -> None:
    written(tmp_path, {"MEMORY.md": f"- {note}\n", "other.md": "- bread and butter\n- 雨が降った\n- другое дело\n"})
    hits = found(tmp_path, query)
    assert hits[0].text == f"- {note}"
    assert not hits[0].is_context


def test_a_number_or_code_is_no_beginning_of_another(tmp_path: Path) -> None:
    written(tmp_path, {"MEMORY.md": "- version12345 is out\n"})
    assert found(tmp_path, "version12346") == []


def test_where_memory_knows_a_word_nothing_is_looked_for_instead(tmp_path: Path) -> None:
    written(tmp_path, {"MEMORY.md": "- the planet\n- the planes\n"})
    assert [hit.text for hit in found(tmp_path, "planet") if not hit.is_context] == ["- the planet"]
