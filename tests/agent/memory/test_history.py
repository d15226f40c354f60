"""Every change is in the history and can be taken back, and nothing that others wrote since is lost by it."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.memory import log_writer, notes
from agent.memory.history import UNDO, History, NoSuchChange
from agent.memory.patch import Conflict, edit_of, undo_edit
from agent.memory.undo import NotRestored, restore
from agent.settings import MemorySettings
from agent.tools import build
from agent.tools.base import ToolError
from tests.agent.places import Watch, morning, owner, person, search
from tests.strength import examples

TODAY = "memory/2026-11-21.md"


class Book:
    """A workspace with its history, written to by tools as a conversation does."""

    def __init__(self, root: Path) -> None:
        self.watch: Watch = morning()
        self.scope = owner(root / "workspace")
        self.scope.folder.mkdir()
        self.history = History(root / "state" / "main.db", self.watch.clock)
        author = self.history.author(self.scope, "main/owner")
        built = build(self.scope, self.watch.clock, MemorySettings(), search, author=author)
        self.tools = {tool.name: tool for tool in built}

    async def call(self, name: str, /, **arguments: str) -> str:
        return (await self.tools[name].run(dict(arguments), "1")).text

    def undo(self) -> tuple[str, ...]:
        change = self.history.last("main/owner")
        assert change is not None
        return restore(self.history, self.scope, self.watch.clock, change, "main/owner")

    def write(self, path: str, text: str) -> None:
        file = self.scope.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def read(self, path: str) -> str:
        return (self.scope.folder / path).read_text()

    def state(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.scope.folder).as_posix(): path.read_bytes()
            for path in self.scope.folder.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path)


async def test_every_tool_that_writes_leaves_one_entry(book: Book) -> None:
    await book.call("memory_append", text="Luna is a cat")
    await book.call("memory_save", name="Luna", description="the cat", type="user", content="Grey.")
    await book.call("memory_update", old_text="", new_text="- Luna is grey")
    await book.call("write_file", path="lists/shopping.md", content="milk\n")
    await book.call("edit_file", path="lists/shopping.md", old_text="milk", new_text="oats")
    await book.call("memory_delete", path="memory/notes/luna.md")
    changes = book.history.changes()
    assert [(change.by, change.path) for change in reversed(changes)] == [
        ("memory_append", TODAY),
        ("memory_save", "memory/notes/luna.md"),
        ("memory_update", "MEMORY.md"),
        ("write_file", "lists/shopping.md"),
        ("edit_file", "lists/shopping.md"),
        ("memory_delete", "memory/notes/luna.md"),
    ]
    assert changes[-1].summary == "new: 08:30 Luna is a cat"
    assert changes[1].summary == "changed to: oats"
    assert changes[0].scope == "owner" and changes[0].ts == "2026-11-21T07:30:00.000Z"
    assert len({change.id for change in changes}) == 6


async def test_reading_and_refused_writes_leave_none(book: Book) -> None:
    await book.call("memory_list")
    with pytest.raises(ToolError):
        await book.call("edit_file", path="none.md", old_text="a", new_text="b")
    with pytest.raises(ToolError):
        await book.call("memory_append", text=" ")
    assert book.history.changes() == []


async def test_a_note_and_its_line_are_undone_together(book: Book) -> None:
    book.write("MEMORY.md", "# Memory\n")
    before = book.state()
    await book.call("memory_save", name="Luna", description="the cat", type="user", content="Grey.")
    assert book.undo() == ("memory/notes/luna.md", "MEMORY.md")
    assert book.state() == before


async def test_an_undoing_can_be_undone(book: Book) -> None:
    await book.call("memory_append", text="Luna is a cat")
    after = book.state()
    book.undo()
    undoing = book.history.changes()[0]
    assert undoing.by == UNDO
    restore(book.history, book.scope, book.watch.clock, undoing)
    assert book.state() == after
    book.undo()
    assert "Luna" not in str(book.state())


async def test_undo_twice_takes_back_two_changes(book: Book) -> None:
    await book.call("memory_append", text="one")
    await book.call("memory_append", text="two")
    book.undo()
    assert "two" not in book.read(TODAY) and "one" in book.read(TODAY)
    book.undo()
    assert book.state() == {}
    assert book.history.last("main/owner") is None


async def test_what_was_written_since_is_kept(book: Book) -> None:
    book.write("MEMORY.md", "# Memory\n\n- tea\n")
    await book.call("memory_update", old_text="- tea", new_text="- coffee")
    book.write(
        "MEMORY.md", "# Memory\n\n- a hand's line\n- one more\n\n" + book.read("MEMORY.md")[10:] + "- and an end\n"
    )
    book.undo()
    assert book.read("MEMORY.md") == "# Memory\n\n- a hand's line\n- one more\n\n- tea\n- and an end\n"


async def test_where_the_place_itself_was_edited_nothing_is_clobbered(book: Book) -> None:
    book.write("MEMORY.md", "- tea\n")
    await book.call("memory_update", old_text="- tea", new_text="- coffee")
    book.write("MEMORY.md", "- coffee, but only in the morning\n")
    with pytest.raises(Conflict, match="only in the morning"):
        book.undo()
    assert book.read("MEMORY.md") == "- coffee, but only in the morning\n"
    assert book.history.changes()[0].undone_by == ""


async def test_a_last_line_that_a_hand_went_on_with_is_not_clobbered(book: Book) -> None:
    book.write("MEMORY.md", "- tea")
    await book.call("memory_update", old_text="- tea", new_text="- coffee")
    book.write("MEMORY.md", "- coffee, but only in the morning")
    with pytest.raises(Conflict, match="only in the morning"):
        book.undo()
    assert book.read("MEMORY.md") == "- coffee, but only in the morning"


async def test_a_change_of_two_files_is_undone_in_both_or_in_none(book: Book) -> None:
    await book.call("memory_save", name="Luna", description="the cat", type="user", content="Grey.")
    book.write("memory/notes/luna.md", "all different")
    before = book.state()
    with pytest.raises(Conflict):
        book.undo()
    assert book.state() == before


async def test_invariant_07_in_a_past_day_what_is_undone_is_struck_out_by_a_mark(book: Book) -> None:
    await book.call("memory_append", text="one\nin two lines", heading="Boats")
    await book.call("memory_append", text="two")
    await book.call("memory_append", text="three")
    yesterday = book.read(TODAY)
    book.watch.later(days=1)
    assert book.undo() == (TODAY,)
    assert book.read(TODAY) == yesterday.replace("three", "[undone 2026-11-22]")
    book.undo()
    book.undo()
    mark = "- 08:30 [undone 2026-11-22]\n"
    assert book.read(TODAY) == f"# 2026-11-21\n\n{mark * 3}"
    assert book.history.last("main/owner") is None


async def test_what_was_struck_out_of_a_past_day_can_be_brought_back_in_any_order(book: Book) -> None:
    for text in ("tea", "milk"):
        await book.call("memory_append", text=text)
    yesterday = book.read(TODAY)
    two, one = book.history.changes()
    book.watch.later(days=1)
    undoings = []
    for change in (one, two):
        restore(book.history, book.scope, book.watch.clock, change)
        undoings.append(book.history.changes()[0])
    assert "tea" not in book.read(TODAY) and "milk" not in book.read(TODAY)
    for undoing in undoings:
        restore(book.history, book.scope, book.watch.clock, undoing)
    assert book.read(TODAY) == yesterday


async def test_what_was_undone_before_midnight_comes_back_after_it(book: Book) -> None:
    for text in ("one", "two"):
        await book.call("memory_append", text=text)
    yesterday = book.read(TODAY)
    book.undo()
    book.watch.later(days=1)
    restore(book.history, book.scope, book.watch.clock, book.history.changes()[0])
    assert book.read(TODAY) == yesterday
    book.undo()
    assert book.read(TODAY) == yesterday.replace("two", "[undone 2026-11-22]")


async def test_a_past_day_edited_by_hand_keeps_the_hands_words(book: Book) -> None:
    await book.call("memory_append", text="one")
    book.write(TODAY, book.read(TODAY).replace("one", "one, and more"))
    edited = book.read(TODAY)
    book.watch.later(days=1)
    with pytest.raises(Conflict, match="and more"):
        book.undo()
    assert book.read(TODAY) == edited


async def test_what_a_whole_days_log_was_written_by_is_struck_out_too(book: Book) -> None:
    book.write(TODAY, "# 2026-11-21\n\n- 07:00 by hand")
    await book.call("edit_file", path=TODAY, old_text="- 07:00 by hand", new_text="- 07:00 by hand\n- 07:01 caf\u00e9")
    book.watch.later(days=1)
    book.undo()
    assert book.read(TODAY) == "# 2026-11-21\n\n- 07:00 by hand\n- 07:01 [undone 2026-11-22]"


async def test_undone_once_only(book: Book) -> None:
    await book.call("memory_append", text="one")
    change = book.history.changes()[0]
    book.undo()
    with pytest.raises(NotRestored, match="undone already"):
        restore(book.history, book.scope, book.watch.clock, book.history.find(change.id))


async def test_found_by_the_end_of_its_id(book: Book) -> None:
    await book.call("memory_append", text="one")
    change = book.history.changes()[0]
    assert book.history.find(change.id[-6:]) == change
    for unknown in ("", "zzz", "nothing-like-it"):
        with pytest.raises(NoSuchChange):
            book.history.find(unknown)


async def test_changes_of_daybook_itself_are_listed_and_not_in_reach_of_undo(book: Book) -> None:
    with book.history.author(book.scope).writes("/new"):
        log_writer.append_section(book.scope, book.watch.clock, "a talk", "- words")
    assert book.history.changes()[0].by == "/new"
    assert book.history.last("main/owner") is None


async def test_tools_within_a_flush_are_signed_by_it_one_entry_each(book: Book) -> None:
    with book.history.author(book.scope).writes("flush"):
        await book.call("memory_append", text="one")
        await book.call("memory_append", text="two")
    assert [change.by for change in book.history.changes()] == ["flush", "flush"]
    assert book.history.last("main/owner") is None


async def test_scopes_are_told_apart(book: Book, tmp_path: Path) -> None:
    alice = person(book.scope.workspace)
    with book.history.author(alice, "main/person/alice").writes("memory_append"):
        log_writer.append_log(alice, book.watch.clock, "hers")
    assert [change.path for change in book.history.changes("person:alice")] == [TODAY]
    assert book.history.changes("owner") == []
    assert book.history.last("main/owner") is None


async def test_without_a_history_nothing_is_changed(book: Book, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    with pytest.raises(ToolError, match="was not written"):
        await book.call("memory_append", text="one")
    assert not (book.scope.folder / TODAY).exists()


async def test_a_damaged_history_is_set_aside(book: Book, tmp_path: Path) -> None:
    await book.call("memory_append", text="one")
    (tmp_path / "state" / "main.db").write_bytes(b"no database at all, not by far" * 200)
    await book.call("memory_append", text="two")
    assert [change.summary for change in book.history.changes()] == ["added: 08:30 two"]
    assert (tmp_path / "state" / "main.db.damaged").exists()


async def test_a_file_that_could_not_be_written_is_not_in_the_history(book: Book) -> None:
    (book.scope.folder / "memory" / "2026-11-21.md").mkdir(parents=True)
    with pytest.raises(ToolError):
        await book.call("memory_append", text="one")
    assert book.history.changes() == []


async def test_two_talks_at_once_lose_nothing(book: Book) -> None:
    await asyncio.gather(*(book.call("memory_append", text=f"entry {number}") for number in range(20)))
    assert all(f"entry {number}\n" in book.read(TODAY) for number in range(20))
    assert len(book.history.changes()) == 20
    assert {change.path for change in book.history.changes()} == {TODAY}


def test_the_history_is_for_its_owner_alone(book: Book, tmp_path: Path) -> None:
    with book.history.author(book.scope).writes("x"):
        log_writer.append_log(book.scope, book.watch.clock, "one")
    assert (tmp_path / "state" / "main.db").stat().st_mode & 0o777 == 0o600
    assert sqlite3.connect(tmp_path / "state" / "main.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)


BYTES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"\xff\n", b"- c\r\n", b"end"]), max_size=8).map(b"".join)


@given(st.none() | BYTES, st.none() | BYTES)
def test_an_edit_undone_at_once_gives_back_the_bytes(before: bytes | None, after: bytes | None) -> None:
    if after is None and before is None:
        return
    back = undo_edit(edit_of("f", before, after), after)
    assert back == before or (before is None and not back)


@given(BYTES, BYTES, BYTES)
def test_an_edit_is_undone_below_whatever_is_added_above(before: bytes, after: bytes, above: bytes) -> None:
    if above and not above.endswith(b"\n"):
        return
    try:
        back = undo_edit(edit_of("f", before, after), above + after)
    except Conflict:
        return
    assert back is not None and len(back) == len(above) + len(before)


TEXTS = st.sampled_from(["Luna", "tea", "a\nb", "- x", "é\n\n# h", "Luna is grey"])
ACTIONS = st.one_of(
    st.tuples(st.just("memory_append"), st.fixed_dictionaries({"text": TEXTS}, optional={"heading": TEXTS})),
    st.tuples(
        st.just("memory_save"),
        st.fixed_dictionaries(
            {"name": TEXTS, "description": TEXTS, "type": st.sampled_from(get_args(notes.NoteType)), "content": TEXTS}
        ),
    ),
    st.tuples(st.just("memory_update"), st.fixed_dictionaries({"old_text": st.just(""), "new_text": TEXTS})),
    st.tuples(st.just("memory_update"), st.fixed_dictionaries({"old_text": TEXTS, "new_text": TEXTS})),
    st.tuples(
        st.just("write_file"), st.fixed_dictionaries({"path": st.sampled_from(["a.md", "b/c.md"]), "content": TEXTS})
    ),
    st.tuples(
        st.just("edit_file"),
        st.fixed_dictionaries({"path": st.just("a.md"), "old_text": TEXTS, "new_text": TEXTS}),
    ),
    st.tuples(st.just("memory_delete"), st.just({"path": "memory/notes/luna.md"})),
)


@settings(max_examples=examples(25))
@given(st.lists(ACTIONS, max_size=8))
async def test_any_writes_undone_in_reverse_give_back_the_first_bytes(
    actions: list[tuple[str, dict[str, str]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        book = Book(Path(folder))
        book.write("MEMORY.md", "# Memory\r\n\r\n- tea\r\n- Luna")
        before = book.state()
        for name, arguments in actions:
            try:
                await book.call(name, **arguments)
            except ToolError:
                continue
        while book.history.last("main/owner") is not None:
            book.undo()
        assert book.state() == before
