"""Questions that memory must answer, from a file that people write by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.search import memory_tests
from agent.search.memory_tests import MemoryTest, MemoryTestReport
from tests.agent.places import morning, owner, unhurried

CLOCK = morning().clock


def read(text: str) -> list[tuple[str, tuple[str, ...]] | int]:
    return [(one.question, one.words) if isinstance(one, MemoryTest) else one for one in memory_tests.parsed(text)]


def test_lines_are_read_as_people_write_them() -> None:
    text = (
        "# Memory tests\n\nA line each: a question -> words\n\n- Where does Anna live? -> Leipzig, Gohlis\n"
        "* 牙医在哪天？ → 周四、上午\r\n2. a -> b -> c\n- no arrow\n"
        "- -> nothing asked\n- nothing wanted? ->\n- x? -> , ,\n"
    )
    assert read(text) == [
        ("Where does Anna live?", ("Leipzig", "Gohlis")),
        ("牙医在哪天？", ("周四", "上午")),
        ("a", ("b -> c",)),
        9,
        10,
        11,
    ]


def ran(workspace: Path, most: int = 40, max_chars: int = 4_000) -> MemoryTestReport:
    index = unhurried(None)
    try:
        return memory_tests.run(owner(workspace), CLOCK, index.search, most, max_chars)
    finally:
        index.close()


def written(workspace: Path, tests: str, log: str) -> None:
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "tests.md").write_text(tests, "utf-8")
    (workspace / "memory" / "2026-11-18.md").write_text(log, "utf-8")


def test_a_test_passes_where_all_of_its_words_come_back(tmp_path: Path) -> None:
    tests = "- Where does Anna live? -> LEIPZIG, gohlis\n- What is Anna's job? -> baker\n- Where is Ben? -> Rome\n"
    written(tmp_path, tests, "- Anna lives in Leipzig.\n- Her quarter is  Gohlis, Anna says.\n")
    report = ran(tmp_path)
    assert [(one.passed, one.missing) for one in report.results] == [
        (True, ()),
        (False, ("baker",)),
        (False, ("Rome",)),
    ]
    assert report.results[0].where == "memory/2026-11-18.md:1"


def test_the_file_does_not_answer_its_own_questions(tmp_path: Path) -> None:
    written(tmp_path, "- Where does Anna live? -> Leipzig\n", "- Anna sings.\n")
    assert ran(tmp_path).failed[0].missing == ("Leipzig",)


def test_only_what_a_model_would_be_given_counts(tmp_path: Path) -> None:
    log = "- Anna Anna lives here and there.\n- Then, long after, Anna was in Leipzig with all of her friends.\n"
    written(tmp_path, "- Anna -> Leipzig\n", log)
    assert ran(tmp_path).failed == ()
    assert ran(tmp_path, max_chars=40).failed or ran(tmp_path, most=1).failed


def test_no_file_is_no_test(tmp_path: Path) -> None:
    assert ran(tmp_path) == MemoryTestReport(())


def test_a_test_is_added_to_the_file(tmp_path: Path) -> None:
    memory_tests.add(owner(tmp_path), CLOCK, "Where\ndoes Anna live?", " Leipzig ,  Gohlis")
    memory_tests.add(owner(tmp_path), CLOCK, "And Ben?", "Rome")
    text = (tmp_path / "memory" / "tests.md").read_text("utf-8")
    assert read(text) == [("Where does Anna live?", ("Leipzig", "Gohlis")), ("And Ben?", ("Rome",))]
    with pytest.raises(ValueError, match="with commas between"):
        memory_tests.add(owner(tmp_path), CLOCK, "And Eva?", " , ")
