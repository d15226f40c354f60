"""What is to be forgotten is found, shown, removed, and nowhere left."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import pytest

from agent import fs
from agent.memory.forget import ForgetPlan, find, forget, line_matcher
from agent.memory.history import FORGET, UNDO_FORGET_WITHIN
from agent.memory.paths import FileError
from agent.memory.undo import NotRestored, restore
from tests.agent.memory.test_history import TODAY, Book
from tests.agent.places import group, person, search

PAST = "memory/2026-11-02.md"


class Meanwhile(datetime):
    """A moment; when it is compared with another, something else happens first."""

    happens: ClassVar[list[Callable[[], object]]] = []

    def __gt__(self, other: datetime) -> bool:
        self._let_it_happen()
        return super().__gt__(other)

    def __le__(self, other: datetime) -> bool:
        self._let_it_happen()
        return super().__le__(other)

    def _let_it_happen(self) -> None:
        while self.happens:
            self.happens.pop()()


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path)


def forgotten(book: Book, wanted: str) -> tuple[ForgetPlan, tuple[str, ...]]:
    finding = find(book.scope, wanted)
    return finding, forget(book.history, book.scope, book.watch.clock, "main/owner", finding).files


def every_byte(book: Book) -> bytes:
    root = book.scope.workspace.parent
    return b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


async def test_shown_with_path_and_line_and_removed_everywhere(book: Book) -> None:
    book.write("MEMORY.md", "# Memory\n\n- tea\n- Luna is a cat\n  and grey\n- coffee\n")
    book.write("USER.md", "Has a cat (LUNA).\nLikes tea.\n")
    book.write(PAST, "# 2026-11-02\n\n- 09:00 Luna ate\n  a mouse\n- 10:00 tea\n")
    book.write("memory/HISTORY.md", "# History\n\n**2026-11-02 10:00** About Luna.\n")
    await book.call("memory_append", text="Luna slept")
    finding, changed = forgotten(book, "luna")
    assert [(place.path, place.line) for place in finding.places] == [
        ("USER.md", 1),
        ("MEMORY.md", 4),
        (PAST, 3),
        (TODAY, 3),
        ("memory/HISTORY.md", 3),
    ]
    assert set(changed) == {place.path for place in finding.places}
    assert book.read("MEMORY.md") == "# Memory\n\n- tea\n- coffee\n"
    assert book.read("USER.md") == "Likes tea.\n"
    assert book.read(PAST) == "# 2026-11-02\n\n- 09:00 [forgotten 2026-11-21]\n- 10:00 tea\n"
    assert book.read(TODAY) == "# 2026-11-21\n\n- 08:30 [forgotten 2026-11-21]\n"
    assert book.read("memory/HISTORY.md") == "# History\n\n[forgotten 2026-11-21]\n"


async def test_what_is_forgotten_while_another_thread_looks_can_be_brought_back_too(book: Book) -> None:
    book.write("MEMORY.md", "- Luna is a cat\n- Rex is a dog\n")
    book.watch.moment = Meanwhile.fromtimestamp(book.watch.moment.timestamp(), UTC)
    forgotten(book, "Luna")
    Meanwhile.happens.append(lambda: forgotten(book, "Rex"))
    while (change := book.history.last("main/owner")) is not None:
        restore(book.history, book.scope, book.watch.clock, change, "main/owner")
    assert sorted(book.read("MEMORY.md").split("\n")) == ["", "- Luna is a cat", "- Rex is a dog"]


async def test_a_note_about_it_goes_whole_with_its_line(book: Book) -> None:
    await book.call("memory_save", name="Luna", description="the cat", type="user", content="Grey, likes fish.")
    await book.call("memory_save", name="Fish", description="food", type="user", content="Luna eats it.\n\nSo do I.")
    forgotten(book, "Luna")
    assert not (book.scope.folder / "memory/notes/luna.md").exists()
    assert "luna" not in book.read("MEMORY.md").lower() and "Fish" in book.read("MEMORY.md")
    assert "So do I." in book.read("memory/notes/fish.md") and "Luna" not in book.read("memory/notes/fish.md")


async def test_no_copy_is_left_in_the_history_or_the_search(book: Book) -> None:
    await book.call("memory_save", name="Luna", description="the cat", type="user", content="Grey as CANARY-DUST.")
    await book.call("memory_update", old_text="", new_text="- Luna loves CANARY-FISH")
    await book.call("memory_update", old_text="- Luna loves CANARY-FISH", new_text="- Luna hates CANARY-FISH")
    await book.call("memory_append", text="Luna saw CANARY-VET")
    await book.call("memory_append", text="rain")
    forgotten(book, "Luna")
    everything = every_byte(book)
    for word in (b"Luna", b"CANARY-DUST", b"CANARY-FISH", b"CANARY-VET"):
        assert word not in everything
    assert b"rain" in everything
    assert search(book.scope, book.watch.clock, ["Luna"]).hits == ()
    newest = book.history.changes()[0]
    assert (newest.by, newest.summary) == (FORGET, "(forgotten)")
    old = next(change for change in book.history.changes() if change.by == "memory_update")
    with pytest.raises(NotRestored, match="forgotten"):
        restore(book.history, book.scope, book.watch.clock, old)


async def test_second_thoughts_bring_it_back_for_ten_minutes_past_days_too(book: Book) -> None:
    book.write(PAST, "# 2026-11-02\n\n- 09:00 Luna ate\n- 10:00 tea\n")
    book.write("MEMORY.md", "- Luna is a cat\n")
    before = book.state()
    forgotten(book, "Luna")
    assert set(book.undo()) == {PAST, "MEMORY.md"}
    assert book.state() == before

    forgotten(book, "Luna")
    change = book.history.changes()[0]
    book.watch.moment += UNDO_FORGET_WITHIN
    with pytest.raises(NotRestored, match="not kept anywhere"):
        restore(book.history, book.scope, book.watch.clock, change)
    assert b"Luna" not in every_byte(book)


@pytest.mark.parametrize("moment", ["2026-10-25T00:55", "2026-03-29T00:55"])
async def test_ten_minutes_are_ten_over_a_change_of_the_clock(book: Book, moment: str) -> None:
    book.watch.moment = datetime.fromisoformat(f"{moment}+00:00")
    book.write("MEMORY.md", "- Luna is a cat\n")
    forgotten(book, "Luna")
    book.watch.later(minutes=9)
    book.undo()
    forgotten(book, "Luna")
    change = book.history.changes()[0]
    book.watch.later(minutes=11)
    with pytest.raises(NotRestored, match="not kept anywhere"):
        restore(book.history, book.scope, book.watch.clock, change)


def test_a_phrase_first_and_else_all_of_its_words(book: Book) -> None:
    book.write("MEMORY.md", "- the blue car is Anna's\n- a car, blue\n- Carla is blue\n")
    assert [place.line for place in find(book.scope, "Blue  car").places] == [1]
    assert [place.line for place in find(book.scope, "the car blue").places] == [1, 2]
    assert [place.line for place in find(book.scope, "car").places] == [1, 2]


def test_in_scripts_without_spaces(book: Book) -> None:
    book.write("MEMORY.md", "- 我的猫叫露娜\n- 私の猫はルナ\n")
    assert [place.line for place in find(book.scope, "露娜").places] == [1]
    assert [place.line for place in find(book.scope, "ルナ").places] == [2]


@pytest.mark.parametrize("wanted", ["", " ", "a", "\n"])
def test_too_little_is_refused(book: Book, wanted: str) -> None:
    book.write("MEMORY.md", "- a\n")
    with pytest.raises(FileError, match="too short"):
        find(book.scope, wanted)


def test_only_this_scope_is_looked_at(book: Book) -> None:
    workspace = book.scope.workspace
    book.write("people/bob/MEMORY.md", "- Luna\n")
    book.write("groups/telegram--100/GROUP.md", "- Luna\n")
    book.write("AGENTS.md", "Luna\n")
    book.write("MEMORY.md", "- tea\n")
    assert find(book.scope, "Luna").places == ()
    assert len(find(person(workspace, "bob"), "Luna").places) == 1
    assert len(find(group(workspace), "Luna").places) == 1


def test_only_what_was_shown_goes_and_what_moved_is_found(book: Book) -> None:
    book.write("MEMORY.md", "- Luna is a cat\n- tea\n")
    finding = find(book.scope, "Luna")
    book.write("MEMORY.md", "# New\n\n- Luna is also a moon\n- tea\n- Luna is a cat\n")
    forget(book.history, book.scope, book.watch.clock, "main/owner", finding)
    assert book.read("MEMORY.md") == "# New\n\n- Luna is also a moon\n- tea\n"


def test_files_that_cannot_be_read_are_named(book: Book) -> None:
    (book.scope.folder / "MEMORY.md").mkdir()
    book.write("USER.md", "Luna\n")
    finding = find(book.scope, "Luna")
    assert [place.path for place in finding.places] == ["USER.md"]
    assert any("MEMORY.md" in sentence for sentence in finding.unread)


def test_bytes_that_are_not_utf_8_stay(book: Book) -> None:
    (book.scope.folder / "MEMORY.md").write_bytes(b"- caf\xe9\n- Luna\n- tea\r\n")
    forgotten(book, "Luna")
    assert (book.scope.folder / "MEMORY.md").read_bytes() == b"- caf\xe9\n- tea\r\n"


async def test_in_a_talk_the_phrase_and_the_lines_of_a_note_on_it_are_meant(book: Book) -> None:
    await book.call("memory_save", name="Luna", description="the cat", type="user", content="- Grey as dust.\n\nFish!")
    meant = line_matcher(find(book.scope, "luna"))
    assert [line for line in ("Our LUNA", "Lunatic", "Grey as dust.", "Fish!", "---", "type: user") if meant(line)] == [
        "Our LUNA",
        "Grey as dust.",
    ]


def test_in_a_talk_all_words_are_meant_where_the_phrase_is_nowhere(book: Book) -> None:
    book.write("MEMORY.md", "- a car, blue\n")
    by_words, by_phrase = line_matcher(find(book.scope, "blue car")), line_matcher(find(book.scope, "car"))
    assert by_words("is the car still blue?") and not by_words("blue sky")
    assert by_phrase("a car") and not by_phrase("Carla")


def test_what_a_forgetting_could_not_write_is_no_hindrance_to_its_undoing(book: Book) -> None:
    """The second file cannot be written, which is told one way or the other; the first one can be brought back."""
    book.write("MEMORY.md", "- tea\n- Luna is a cat\n")
    book.write(PAST, "# 2026-11-02\n\n- 09:00 Luna ate\n")
    before = book.state()
    in_the_way = book.scope.folder / "memory" / fs.SCRATCH
    in_the_way.mkdir()
    with suppress(FileError):
        forgotten(book, "Luna")
    in_the_way.rmdir()
    assert "Luna" not in book.read("MEMORY.md") and "Luna" in book.read(PAST)
    assert book.undo() == ("MEMORY.md",)
    assert book.state() == before


@pytest.mark.parametrize(
    "before",
    [b"\xef\xbb\xbf- Luna is a cat\n- tea\n", b"- Luna is a caf\xe9 cat\n- tea\n", b"- Luna is a cat\r\n- t\xe9a\r\n"],
    ids=["begun with a mark of its bytes' order", "no UTF-8 in the passage", "no UTF-8 elsewhere"],
)
async def test_bytes_of_other_programs_do_not_keep_words(book: Book, before: bytes) -> None:
    path = book.scope.folder / "MEMORY.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    assert forgotten(book, "luna")[1] == ("MEMORY.md",)
    assert path.read_bytes() == before.replace(before[before.index(b"- L") : before.index(b"\n") + 1], b"")


@pytest.mark.parametrize("turned", ["UTF-16", "a folder", "read-only"])
async def test_a_file_that_cannot_be_changed_is_named_and_keeps_no_other(book: Book, turned: str) -> None:
    book.write("MEMORY.md", "- Luna is a cat\n")
    book.write(PAST, "# 2026-11-02\n\n- 09:00 Luna ate\n")
    finding = find(book.scope, "luna")
    path = book.scope.folder / "MEMORY.md"
    match turned:
        case "UTF-16":
            path.write_text("- Luna is a cat\n", encoding="utf-16")
        case "a folder":
            path.unlink()
            path.mkdir()
        case _:
            path.chmod(0o400)
    done = forget(book.history, book.scope, book.watch.clock, "main/owner", finding)
    ((kept, why),) = done.kept
    assert kept == "MEMORY.md" and why.startswith("MEMORY.md ")
    assert done.files == (PAST,) and "Luna" not in book.read(PAST)
