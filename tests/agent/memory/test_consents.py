"""What the owner's yes holds for, over restarts."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock
from agent.formats.sqlite import StorageUnavailable
from agent.memory.consents import Consents

CLOCK = Clock(ZoneInfo("Europe/Berlin"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "consents" / "main.db"


def test_a_yes_is_for_one_text_and_lasts(file: Path) -> None:
    assert Consents(file, CLOCK).approved_skills() == frozenset() and not file.exists()
    for _ in range(2):
        Consents(file, CLOCK).approve_skill("one")
    assert Consents(file, CLOCK).approved_skills() == {"one"}


def test_a_text_is_asked_about_once(file: Path) -> None:
    for _ in range(2):
        Consents(file, CLOCK).asked_about_skill("one")
    assert [Consents(file, CLOCK).was_asked_about_skill(sha) for sha in ("one", "two")] == [True, False]


def test_a_program_s_writes_end_what_others_may(file: Path) -> None:
    consents = Consents(file, CLOCK)
    assert consents.last_program_write(["git"]) == 0
    consents.program_wrote(["git", "pull", '[\u202e"\x01'])
    before = consents.last_program_write(["make"])
    assert before > 0 and Consents(file, CLOCK).last_program_write(["git", "pull"]) == 0, "its own are allowed with it"
    assert consents.last_program_write(["git", "push"]) == before, "other words of the same program are another one"
    consents.program_wrote(["git", "pull", '[\u202e"\x01'])
    assert Consents(file, CLOCK).last_program_write(["make"]) > before


def test_the_words_of_a_program_are_not_kept(file: Path) -> None:
    Consents(file, CLOCK).program_wrote(["curl", "--header", "canary-4711"])
    assert b"canary" not in file.read_bytes() and b"curl" not in file.read_bytes()


def test_words_that_an_earlier_version_kept_are_kept_no_more(file: Path) -> None:
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as db, db:
        numbers = "number INTEGER PRIMARY KEY AUTOINCREMENT"
        db.execute(f"CREATE TABLE program_writes ({numbers}, ts TEXT NOT NULL, argv TEXT NOT NULL)")
        rows = [(4, json.dumps(["curl", "canary-4711"])), (7, json.dumps(["git", "pull", "é"]))]
        db.executemany("INSERT INTO program_writes VALUES (?, '', ?)", rows)
    consents = Consents(file, CLOCK)
    assert [consents.last_program_write(words) for words in (["make"], ["git"], ["git", "pull", "é"])] == [7, 4, 4]
    assert b"canary" not in file.read_bytes() and b"curl" not in file.read_bytes()
    consents.program_wrote(["git", "pull", "é"])
    assert Consents(file, CLOCK).last_program_write(["make"]) == 8


def test_many_runs_of_one_program_are_one_row(file: Path) -> None:
    consents, seen = Consents(file, CLOCK), set()
    for _ in range(5):
        consents.program_wrote(["make"])
        seen.add(consents.last_program_write(["git"]))
    with closing(sqlite3.connect(file)) as db:
        assert len(seen) == 5 and db.execute("SELECT count(*) FROM program_writes").fetchone() == (1,)


def test_where_it_cannot_be_read_nothing_is_allowed(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database" * 1_000)
    consents = Consents(file, CLOCK)
    assert consents.approved_skills() == frozenset()
    with pytest.raises(StorageUnavailable):
        consents.last_program_write(["git"])
    with pytest.raises(StorageUnavailable):
        consents.approve_skill("one")
