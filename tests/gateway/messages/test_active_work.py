"""What processes leave of what they worked on: blamed where their loop hung, deleted once it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.messages.active_work import ActiveWork, EndedProcess

STACK = "Current thread 0x00 (most recent call first):\n  File loop.py, line 1 in hang\n"


def left(folder: Path, number: int, messages: list[int], stack: str = "", *, asked: bool = False) -> None:
    """By a process that is gone."""
    process = ActiveWork(folder, number)
    process.prepare()
    process.begin()
    process.put("turn a", messages)
    if asked:
        process.asked_to_end()
    process.stack.write_text(stack)


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "active-work"


def test_what_was_in_hand_at_a_hang_is_told_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    left(folder, 3, [7, 8], STACK)
    left(folder, 4, [9], STACK)
    reader = ActiveWork(folder, 5)
    (ended,) = reader.ended(living=[4, 5], patience=120)
    assert (ended.died, ended.work, ended.messages) == (True, ("turn a",), {7, 8})
    assert "its event loop hung. Working on: turn a. Its stack:" in caplog.text and "in hang" in caplog.text
    assert files(folder) == ["4.json", "4.txt"], "that of the living stays"
    assert reader.ended(living=[4, 5], patience=120) == ()


def test_who_was_cut_off_may_write_its_stacks_later(folder: Path) -> None:
    left(folder, 3, [7])
    reader = ActiveWork(folder, 5)
    assert reader.ended([5], patience=120) == () and reader.awaits_stacks
    (folder / "3.txt").write_text(STACK)
    assert [ended.messages for ended in reader.ended([5], patience=120)] == [{7}]
    assert not reader.awaits_stacks and files(folder) == []


def test_without_stacks_nothing_is_blamed_and_in_the_end_nothing_is_kept(folder: Path) -> None:
    left(folder, 3, [7])
    (ended,) = ActiveWork(folder, 5).ended([5])
    assert (ended.died, ended.messages) == (True, frozenset()) and files(folder) == []


def test_who_was_asked_to_end_blames_nobody_and_leaves_nothing(folder: Path) -> None:
    left(folder, 3, [7], STACK, asked=True)
    assert [(ended.died, ended.messages) for ended in ActiveWork(folder, 5).ended()] == [(False, frozenset())]
    for asked in (True, False):
        process = ActiveWork(folder, 4)
        process.begin()
        if asked:
            process.asked_to_end()
        process.close()
        assert files(folder) == [] if asked else ["4.json"]


def test_a_record_that_is_torn_or_missing_blames_nobody(folder: Path) -> None:
    left(folder, 3, [7], STACK)
    (folder / "3.json").write_bytes((folder / "3.json").read_bytes()[:40])
    left(folder, 4, [8], STACK)
    (folder / "4.json").unlink()
    (folder / "6.json").write_bytes(b'{"work": [1], "asked_to_end": false, "thread": 1, "process": "x"}\n')
    (folder / "notes.txt").touch()
    (folder / "\u00b2.json").touch()
    assert {ended.messages for ended in ActiveWork(folder, 5).ended()} == {frozenset()}
    assert files(folder) == ["notes.txt", "\u00b2.json"]
    assert ActiveWork(folder / "none").ended() == ()


def test_a_shorter_record_over_a_longer_one_is_whole(folder: Path) -> None:
    process = ActiveWork(folder, 3)
    process.prepare()
    process.begin()
    with process.working("a long name of some work" * 9, [1, 2, 3]):
        pass
    process.put("turn b", [4])
    process.stack.write_text(STACK)
    assert [(ended.work, ended.messages) for ended in ActiveWork(folder, 5).ended()] == [(("turn b",), {4})]


def test_one_process_reads_what_it_left_itself(folder: Path) -> None:
    """With SQLite each has the same number, and its watchdog has the file of stacks open already."""
    left(folder, 0, [7], STACK)
    process = ActiveWork(folder)
    with process.stack.open("a") as watchdog:
        assert [ended.messages for ended in process.ended()] == [{7}]
        process.begin()
        watchdog.write("new")
    assert process.stack.read_text() == "new"
    assert EndedProcess() not in process.ended()
