"""Reading, replacing and adding: whole or not at all, under the lock, whatever the file has become."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent import fs
from agent.memory import files
from agent.memory.files import MAX_BYTES, NotWritten, UnreadableFile, add, append, read_text, remove, rewrite
from agent.memory.log_writer import append_history, append_log, append_section
from agent.memory.paths import FileError, make_private
from agent.memory.scope import Scope
from tests import forked
from tests.agent.places import Watch, group, morning, owner
from tests.strength import examples

TODAY = morning().clock.today()
anything = st.text(alphabet=st.characters(exclude_categories=[]), max_size=300)  # lone surrogates and NUL too


def instead(new: bytes, before: bytes | None) -> bytes:
    return new


def over_the_beginning(new: bytes, before: bytes | None) -> bytes:
    return new + (before or b"")[len(new) :]


def said(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_a_missing_file_is_none(tmp_path: Path) -> None:
    assert read_text(tmp_path / "MEMORY.md", tmp_path) is None
    assert read_text(tmp_path / "no" / "such" / "folder.md", tmp_path) is None


def test_a_file_is_read_with_its_hash_and_size(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("\ufeffGrüße\r\n".encode() + b"\xff")
    read = read_text(tmp_path / "a.md", tmp_path)
    assert read is not None
    assert (read.text, read.size, len(read.sha)) == ("Grüße\r\n\ufffd", 13, 64)


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary.md").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "wide.md").write_bytes("wide".encode("utf-16"))
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "huge.md").write_bytes(b"x" * (MAX_BYTES + 1))
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as plug:
        old = Path.cwd()
        os.chdir(tmp_path)
        plug.bind("socket.md")
        os.chdir(old)
    for name, word in {
        "binary.md": "binary",
        "wide.md": "UTF-16",
        "folder.md": "folder",
        "huge.md": "larger than 4 MB",
        "pipe.md": "not a regular file",
        "socket.md": "socket.md",
    }.items():
        with pytest.raises(UnreadableFile, match=word) as refusal:
            read_text(tmp_path / name, tmp_path)
        assert str(tmp_path) not in refusal.value.reason


def test_an_entry_starts_the_log_of_the_users_day(tmp_path: Path) -> None:
    watch = Watch(datetime(2026, 11, 21, 11, 5, tzinfo=UTC), "Pacific/Kiritimati")  # already the 22nd there
    path = append_log(owner(tmp_path), watch.clock, "Bought bread\nand milk\n\nfor two")
    assert path == tmp_path / "memory" / "2026-11-22.md"
    assert said(path) == "# 2026-11-22\n\n- 01:05 Bought bread\n  and milk\n\n  for two\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_heading_stands_once_before_its_entries(tmp_path: Path) -> None:
    watch = morning()
    for text, heading in (("one", "Trip"), ("two", "Trip"), ("three", " Work "), ("four", "Trip"), ("five", None)):
        path = append_log(owner(tmp_path), watch.clock, text, heading)
    assert said(path) == (
        "# 2026-11-21\n\n## Trip\n\n- 08:30 one\n- 08:30 two\n\n## Work\n\n- 08:30 three\n\n## Trip\n\n- 08:30 four\n"
        "- 08:30 five\n"
    )


def test_a_section_and_history(tmp_path: Path) -> None:
    watch = morning()
    path = append_section(group(tmp_path), watch.clock, "Trip to Rome!", "User: hello\n")
    append_log(group(tmp_path), watch.clock, "later")
    assert said(path) == "# 2026-11-21\n\n## 08:30 trip-to-rome\n\nUser: hello\n\n## Notes\n\n- 08:30 later\n"
    append_history(group(tmp_path), watch.clock, "We spoke\nof Rome.")
    path = append_history(group(tmp_path), watch.clock, "Then of Paris.")
    assert said(path) == "# History\n\n[2026-11-21 08:30] We spoke of Rome.\n\n[2026-11-21 08:30] Then of Paris.\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=examples(80))
@given(text=anything, heading=st.none() | anything)
def test_whatever_is_told_stays_one_bullet(tmp_path: Path, text: str, heading: str | None) -> None:
    watch = morning()
    path = append_log(owner(tmp_path), watch.clock, "before")
    before = path.read_bytes()
    try:
        append_log(owner(tmp_path), watch.clock, text, heading)
    except NotWritten:
        assert not text.strip()
        assert path.read_bytes() == before
        return
    after = path.read_bytes()
    assert after.startswith(before)
    added = after[len(before) :].decode()
    bullets = [line for line in added.splitlines() if line and not line.startswith(("  ", "## "))]
    assert len(bullets) == 1 and bullets[0].startswith("- 08:30 ")
    for word in files.clean(text).split():
        assert word in added
    assert "\0" not in added


def test_folders_are_made_for_their_owner_only(tmp_path: Path) -> None:
    scope = group(tmp_path / "home" / "workspace")
    make_private(scope.workspace)
    append_log(scope, morning().clock, "hello")
    made = [tmp_path / "home", scope.workspace, scope.folder.parent, scope.folder, scope.folder / "memory"]
    assert [folder.stat().st_mode & 0o777 for folder in made] == [0o700] * 5


@pytest.mark.parametrize("scope_of", [owner, group])
def test_a_workspace_that_is_gone_is_not_made_again(tmp_path: Path, scope_of: Callable[[Path], Scope]) -> None:
    scope = scope_of(tmp_path / "workspace")
    with pytest.raises(NotWritten, match="there is no such file"):
        append_log(scope, morning().clock, "hello")
    assert not scope.workspace.exists()


@pytest.mark.parametrize("name", ["memory", "Memory", "memory/notes", "people", "skills", "exports", "groups."])
def test_no_file_gets_the_name_of_a_folder_of_the_layout(tmp_path: Path, name: str) -> None:
    scope = owner(tmp_path)
    for write in (
        lambda path: rewrite(path, tmp_path, morning().clock.today(), lambda _: b"text"),
        lambda path: append(path, tmp_path, lambda _: "text", ""),
        lambda path: add(path, tmp_path, b"text"),
    ):
        with pytest.raises(NotWritten, match="is the name of a folder"):
            write(scope.folder / name)
    assert not (tmp_path / name).exists()


def test_an_entry_after_a_torn_line_begins_on_its_own(tmp_path: Path) -> None:
    watch = morning()
    path = append_log(owner(tmp_path), watch.clock, "one")
    with path.open("ab") as file:
        file.write(b"- 08:31 torn \xc3")
    append_log(owner(tmp_path), watch.clock, "two")
    assert path.read_bytes().endswith(b"- 08:31 torn \xc3\n- 08:30 two\n")


def test_a_log_larger_than_can_be_read_still_grows(tmp_path: Path) -> None:
    watch = morning()
    path = append_log(owner(tmp_path), watch.clock, "x" * (MAX_BYTES + 10), "Long")
    append_log(owner(tmp_path), watch.clock, "the end")
    assert path.read_bytes().endswith(b"\n- 08:30 the end\n")


def test_invariant_07_past_days_only_grow(tmp_path: Path) -> None:
    watch = morning()
    path = append_log(owner(tmp_path), watch.clock, "yesterday's news")
    before = path.read_bytes()
    watch.later(days=1)
    for name in (path.name, path.name.upper()):
        place = path.with_name(name)
        for change in (b"", before + b"- 09:00 forged\n", b"other"):
            with pytest.raises(NotWritten, match="another day"):
                rewrite(place, tmp_path, watch.clock.today(), partial(instead, change))
    with pytest.raises(NotWritten, match="another day"):
        remove(path, tmp_path, watch.clock.today())
    (tmp_path / "alias.md").symlink_to(path)
    with pytest.raises(NotWritten, match="another day"):
        rewrite(tmp_path / "alias.md", tmp_path, watch.clock.today(), lambda _: b"other")
    append_log(owner(tmp_path), watch.clock, "today's news")
    assert path.read_bytes() == before


def test_invariant_07_the_history_only_grows(tmp_path: Path) -> None:
    watch = morning()
    path = append_history(owner(tmp_path), watch.clock, "We talked of tea.")
    before = path.read_bytes()
    for change in (b"", before + b"[2026-11-21 09:00] forged\n", b"other"):
        with pytest.raises(NotWritten, match="only grows"):
            rewrite(path, tmp_path, watch.clock.today(), partial(instead, change))
    with pytest.raises(NotWritten, match="only grows"):
        remove(path, tmp_path, watch.clock.today())
    append_history(owner(tmp_path), watch.clock, "We talked of coffee.")
    assert path.read_bytes().startswith(before) and len(path.read_bytes()) > len(before)
    notes = tmp_path / "memory" / "notes" / "HISTORY.md"
    assert rewrite(notes, tmp_path, watch.clock.today(), lambda _: b"of Rome").text == "of Rome"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=examples(60))
@given(st.lists(st.tuples(st.sampled_from(["append", "section", "rewrite", "remove", "midnight"]), anything)))
def test_invariant_07_no_sequence_of_writes_shortens_a_log(tmp_path: Path, acts: list[tuple[str, str]]) -> None:
    watch = morning()
    scope = owner(tmp_path)
    known: dict[Path, bytes] = {path: path.read_bytes() for path in (tmp_path / "memory").glob("*.md")}
    for act, text in acts:
        today = watch.clock.today()
        log = tmp_path / "memory" / f"{today}.md"
        try:
            match act:
                case "append":
                    append_log(scope, watch.clock, text)
                case "section":
                    append_section(scope, watch.clock, text[:5], text)
                case "rewrite":
                    rewrite(log, tmp_path, today, partial(over_the_beginning, files.clean(text).encode()))
                case "remove":
                    remove(log, tmp_path, today)
                case "midnight":
                    watch.later(days=1)
        except NotWritten:
            pass
        for path, before in known.items():
            assert path.read_bytes().startswith(before)
        known = {path: path.read_bytes() for path in (tmp_path / "memory").glob("*.md")}


def test_todays_log_may_be_added_to_by_a_whole_write(tmp_path: Path) -> None:
    watch = morning()
    path = append_log(owner(tmp_path), watch.clock, "one")
    rewrite(path, tmp_path, watch.clock.today(), lambda before: (before or b"") + b"- 08:31 two\n")
    assert said(path).endswith("- 08:30 one\n- 08:31 two\n")


def test_a_replaced_file_keeps_its_mode_and_leaves_no_scratch(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("old")
    path.chmod(0o640)
    (tmp_path / fs.SCRATCH).write_text("left by a killed process")
    assert rewrite(path, tmp_path, TODAY, lambda before: (before or b"") + b" new").text == "old new"
    assert (said(path), path.stat().st_mode & 0o777) == ("old new", 0o640)
    assert [entry.name for entry in tmp_path.iterdir()] == ["MEMORY.md"]


def test_a_hand_edit_made_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("one\n")
    looks = 0

    def change(before: bytes | None) -> bytes:
        nonlocal looks
        looks += 1
        if looks == 1:
            path.write_text("one\nby hand\n")
        return (before or b"") + b"by tool\n"

    rewrite(path, tmp_path, TODAY, change)
    assert said(path) == "one\nby hand\nby tool\n"


def test_a_full_disk_is_said_and_leaves_no_torn_entry(tmp_path: Path) -> None:
    """In a process whose files may not grow over 1,000 bytes: the write stops in the middle, as on a full disk."""
    script = f"""
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, {str(Path.cwd())!r})
from agent.memory.files import rewrite, NotWritten
from agent.memory.log_writer import append_log
from tests.agent.places import morning, owner
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
root = Path({str(tmp_path)!r})
path = append_log(owner(root), morning().clock, "kept")
(root / "MEMORY.md").write_text("kept")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for write in (
    lambda: append_log(owner(root), morning().clock, "x" * 2000),
    lambda: rewrite(root / "MEMORY.md", root, morning().clock.today(), lambda _: b"x" * 2000),
):
    try:
        write()
    except NotWritten as error:
        print(error)
"""
    done = forked.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "memory/2026-11-21.md was not written: the disk is full",
        "MEMORY.md was not written: the disk is full",
    ]
    assert said(tmp_path / "memory" / "2026-11-21.md") == "# 2026-11-21\n\n- 08:30 kept\n"
    assert said(tmp_path / "MEMORY.md") == "kept"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["MEMORY.md", "memory"]


def test_a_file_where_a_folder_should_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file")
    with pytest.raises(FileError, match=r"memory/2026-11-21\.md was not written"):
        append_log(owner(tmp_path), morning().clock, "hello")


async def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    watch = morning()
    scope = owner(tmp_path)
    index = tmp_path / "MEMORY.md"

    async def write(number: int) -> None:
        await asyncio.to_thread(append_log, scope, watch.clock, f"entry {number}.\nmore")
        await asyncio.to_thread(
            rewrite, index, tmp_path, TODAY, lambda before: (before or b"") + f"{number}.\n".encode()
        )

    async with asyncio.TaskGroup() as tasks:
        for number in range(60):
            tasks.create_task(write(number))
    log = said(tmp_path / "memory" / "2026-11-21.md")
    assert log.startswith("# 2026-11-21\n\n- ") and log.count("# 2026") == 1
    assert sorted(line for line in log.splitlines() if line.startswith("- ")) == sorted(
        f"- 08:30 entry {number}." for number in range(60)
    )
    assert sorted(said(index).split()) == sorted(f"{number}." for number in range(60))


def test_writers_that_are_killed_leave_whole_files_and_no_lock(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path.cwd())!r})
from agent.memory.files import rewrite
from agent.memory.log_writer import append_log
from tests.agent.places import morning, owner
root, clock = Path({str(tmp_path)!r}), morning().clock
print("ready", flush=True)
number = 0
while True:
    number += 1
    append_log(owner(root), clock, f"{{number}} " + "word " * 2000 + "end")
    rewrite(root / "MEMORY.md", root, clock.today(), lambda before: b"start " + b"word " * 20000 + b"end")
    print(number, flush=True)
"""
    log = tmp_path / "memory" / "2026-11-21.md"
    known = b""
    for round_ in range(6):
        writer = forked.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        finished = 0
        for line in writer.stdout:
            if line.strip() == str(3 + round_):
                finished = 3 + round_
                break
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        after = log.read_bytes()
        assert after.startswith(known)
        grown = after[len(known) :].decode()
        assert grown.count(" end\n") >= finished
        assert said(tmp_path / "MEMORY.md").endswith("end")
        append_log(owner(tmp_path), morning().clock, "after the kill")
        known = log.read_bytes()
        assert known.endswith(b"\n- 08:30 after the kill\n")
