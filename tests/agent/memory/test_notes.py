"""Notes and the lines that point to them, also after somebody's hand has been in the files."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent.formats.plain_text import MAX_BYTES, slug
from agent.memory import notes
from agent.memory.paths import FileError
from tests.agent.places import group, morning, owner
from tests.strength import examples

CLOCK = morning().clock
anything = st.text(alphabet=st.characters(exclude_categories=[]), max_size=80)


def index(workspace: Path) -> str:
    return (workspace / "MEMORY.md").read_text(encoding="utf-8")


def test_a_note_is_a_file_with_a_head_and_a_line_in_the_index(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# Memory\n\n## Notes\n")
    saved = notes.save(owner(tmp_path), CLOCK, "Dentist: Dr. Müller", "where and when", "reference", "Main St. 4\n")
    assert saved.path.read_text(encoding="utf-8") == (
        "---\nname: 'Dentist: Dr. Müller'\ndescription: where and when\ntype: reference\ncreated: 2026-11-21\n---\n\n"
        "Main St. 4\n"
    )
    line = "- [Dentist: Dr. Müller](memory/notes/dentist-dr-müller.md) - where and when\n"
    assert index(tmp_path) == f"# Memory\n\n## Notes\n\n{line}"
    assert saved.replaced is None


def test_the_same_name_updates_and_another_name_of_the_same_slug_does_not(tmp_path: Path) -> None:
    watch = morning()
    scope = owner(tmp_path)
    first = notes.save(scope, watch.clock, "Car", "a", "user", "red")
    path = first.path
    path.write_text(path.read_text().replace("type: user", "type: user\ntags: [by, hand]"))
    watch.later(days=3)
    second = notes.save(scope, watch.clock, " car ", "b", "project", "blue")
    other = notes.save(scope, watch.clock, "Car!", "c", "user", "toy")
    assert (second.path, second.replaced) == (path, "red\n")
    assert other.path.name == "car-2.md"
    head = notes.parse(path.read_text())
    assert (head.line("created"), head.line("type"), head.body) == ("2026-11-21", "project", "blue\n")
    assert "hand" in path.read_text()
    assert index(tmp_path) == "- [car](memory/notes/car.md) - b\n- [Car!](memory/notes/car-2.md) - c\n"


def test_a_group_has_its_lines_in_its_own_file(tmp_path: Path) -> None:
    notes.save(group(tmp_path), CLOCK, "Plan", "the plan", "project", "go")
    assert "(memory/notes/plan.md)" in (group(tmp_path).folder / "GROUP.md").read_text()
    assert not (tmp_path / "MEMORY.md").exists()


def test_a_small_memory_md_is_used_where_it_is_the_one(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("facts\n")
    notes.save(owner(tmp_path), CLOCK, "Plan", "the plan", "project", "go")
    assert "plan.md" in (tmp_path / "memory.md").read_text()


def test_a_deleted_note_takes_its_line_along(tmp_path: Path) -> None:
    scope = owner(tmp_path)
    notes.save(scope, CLOCK, "Car", "a", "user", "red")
    notes.save(scope, CLOCK, "Boat", "b", "user", "blue")
    deleted = notes.delete(scope, CLOCK, "memory/notes/car.md")
    assert "red" in deleted.text
    assert not deleted.path.exists()
    assert index(tmp_path) == "- [Boat](memory/notes/boat.md) - b\n"


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/notes", "memory/notes/../../MEMORY.md", "memory/2026-11-20.md"])
def test_only_notes_are_deleted(tmp_path: Path, path: str) -> None:
    notes.save(owner(tmp_path), CLOCK, "Car", "a", "user", "red")
    (tmp_path / "memory" / "2026-11-20.md").write_text("# 2026-11-20\n")
    with pytest.raises(FileError):
        notes.delete(owner(tmp_path), CLOCK, path)
    assert (tmp_path / "MEMORY.md").exists() and (tmp_path / "memory" / "2026-11-20.md").exists()


def test_a_missing_note_is_answered_with_those_like_it(tmp_path: Path) -> None:
    notes.save(owner(tmp_path), CLOCK, "Dentist", "a", "user", "red")
    with pytest.raises(FileError, match="dentist"):
        notes.delete(owner(tmp_path), CLOCK, "memory/notes/dentists.md")


def test_what_hands_have_made_of_notes_never_breaks_the_list(tmp_path: Path) -> None:
    scope = owner(tmp_path)
    folder = tmp_path / "memory" / "notes"
    notes.save(scope, CLOCK, "Whole", "a whole note", "user", "text")
    (folder / "no-head.md").write_text("just text")
    (folder / "bad-yaml.md").write_text("---\nname: [unclosed\n---\ntext")
    (folder / "list.md").write_text("---\n- a\n- b\n---\ntext")
    (folder / "deep.md").write_text("---\nname: " + "[" * 3000 + "\n---\n")
    (folder / "odd.md").write_text("---\nname: 12\ndescription: {a: b}\ntype: 2026-01-01\n---\n")
    (folder / "open.md").write_text("---\nname: never closed\n")
    (folder / "binary.md").write_bytes(b"\0\1")
    (folder / "folder.md").mkdir()
    (folder / "link.md").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.md")
    listed = {note.path.rpartition("/")[2]: note for note in notes.listing(scope, CLOCK)}
    assert set(listed) == {
        f"{name}.md" for name in ["whole", "no-head", "bad-yaml", "list", "deep", "odd", "open", "binary"]
    }
    assert (listed["whole.md"].name, listed["whole.md"].type) == ("Whole", "user")
    assert (listed["odd.md"].name, listed["odd.md"].description) == ("12", "")
    assert listed["bad-yaml.md"].name == "bad-yaml"
    assert "binary" in listed["binary.md"].description


def test_a_file_without_a_head_is_not_taken_for_the_note_of_its_slug(tmp_path: Path) -> None:
    path = tmp_path / "memory" / "notes" / "car.md"
    path.parent.mkdir(parents=True)
    path.write_text("by hand")
    assert notes.save(owner(tmp_path), CLOCK, "Car", "a", "user", "red").path.name == "car-2.md"
    assert path.read_text() == "by hand"


def test_the_newest_note_is_listed_first(tmp_path: Path) -> None:
    scope = owner(tmp_path)
    for age, name in enumerate(["newest", "middle", "oldest"]):
        path = notes.save(scope, CLOCK, name, "", "user", "x").path
        moment = (CLOCK.now() - timedelta(days=age)).timestamp()
        os.utime(path, (moment, moment))
    listed = notes.listing(scope, CLOCK)
    assert [note.name for note in listed] == ["newest", "middle", "oldest"]
    assert (CLOCK.today() - listed[2].changed).days == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=examples(40))
@given(name=anything, description=anything, content=anything)
def test_every_note_that_is_saved_is_read_back(tmp_path: Path, name: str, description: str, content: str) -> None:
    try:
        saved = notes.save(owner(tmp_path), CLOCK, name, description, "user", content)
    except FileError:
        assert not name.strip() or not content.strip()
        return
    relative = f"memory/notes/{saved.path.name}"
    note = next(note for note in notes.listing(owner(tmp_path), CLOCK) if note.path == relative)
    assert note.name and note.type == "user"
    assert index(tmp_path).count(f"]({relative})") == 1
    notes.save(owner(tmp_path), CLOCK, name, "new description", "user", content)
    assert index(tmp_path).count(f"]({relative})") == 1


@given(anything)
def test_a_slug_is_one_plain_name_in_any_script(text: str) -> None:
    made = slug(text)
    assert made and len(made.encode()) <= MAX_BYTES and made == slug(made)
    assert not set(made) & set("/\\.:\0 ") and not made.startswith("-") and not made.endswith("-")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Dr. Müller's car", "dr-müller-s-car"),
        ("買い物 リスト", "買い物-リスト"),
        ("हिन्दी", "हिन्दी"),
        ("🎉!", "note"),
        ("ＡＢ", "ab"),
    ],
)
def test_slugs_keep_letters_of_every_script(text: str, made: str) -> None:
    assert slug(text) == made


@example(before=b"\r", name="x")
@given(before=st.binary(max_size=300), name=st.text(max_size=20).map(lambda name: " ".join(name.split())))
def test_index_lines_leave_every_other_byte_alone(before: bytes, name: str) -> None:
    with_line = notes.with_line(before, "memory/notes/x.md", name, "about x")
    assert with_line.count(b"](memory/notes/x.md)") == before.count(b"](memory/notes/x.md)") + 1
    assert notes.with_line(with_line, "memory/notes/x.md", name, "about x") == with_line
    assert notes.without_line(with_line, "memory/notes/x.md").strip() == before.strip()


def test_repeated_and_hand_made_lines_become_one_in_place() -> None:
    before = (
        b"# M\r\n* [old](./memory/notes/x.md) by hand\r\n- [y](memory/notes/y.md) - y\r\n"
        b"see [x](memory/notes/x.md)\n- [again](memory/notes/x.md)\nend \xff"
    )
    assert notes.with_line(before, "memory/notes/x.md", "x", "new") == (
        b"# M\r\n- [x](memory/notes/x.md) - new\r\n- [y](memory/notes/y.md) - y\r\nsee [x](memory/notes/x.md)\nend \xff"
    )
    assert notes.with_line(b"- [y](memory/notes/y.md)\nend", "memory/notes/z.md", "z", "") == (
        b"- [y](memory/notes/y.md)\n- [z](memory/notes/z.md)\nend"
    )
