"""What changed on disk is told once, and what the session itself wrote is not."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from agent.clock import Clock
from agent.context.file_changes import FileWatch
from agent.context.prompt import fixed_part
from agent.memory.scope import Audience, Scope
from agent.session.entries import SeenFile
from agent.settings import MemorySettings

LIMITS = MemorySettings()


class Eyes:
    """A session's view: what it has seen, and a look at what changed."""

    def __init__(self, root: Path) -> None:
        self.day = datetime(2026, 11, 21, 9, tzinfo=UTC)
        self.scope = Scope(Audience.OWNER, root)
        self.clock = Clock(ZoneInfo("Europe/Berlin"), lambda: self.day)
        self.seen: dict[str, SeenFile] = dict(fixed_part(self.scope, self.clock.today(), LIMITS).files)
        self.freshness = FileWatch(self.scope, self.clock, LIMITS, session="mine")

    def look(self) -> str:
        before = dict(self.seen)
        told = self.look_again()
        assert bool(told) == (self.seen != before)
        return told

    def look_again(self) -> str:
        """Something may be seen without a word."""
        changes = self.freshness.changes(self.seen)
        self.seen.update(changes.files)
        return "\n".join(changes.blocks)


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_nothing_changed_is_nothing_told(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "one\n")
    eyes = Eyes(tmp_path)
    assert eyes.look() == "" == eyes.look()


def test_a_file_that_only_grew_is_told_by_what_was_added(tmp_path: Path) -> None:
    path = write(tmp_path, "MEMORY.md", "one\ntwo\n")
    eyes = Eyes(tmp_path)
    path.write_text("one\ntwo\nthree\n")
    told = eyes.look()
    assert "three" in told and "two" not in told
    assert eyes.seen["MEMORY.md"].shown == ((1, 3),)
    assert eyes.look() == ""


def test_a_file_changed_otherwise_is_told_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "MEMORY.md", "one\ntwo\n")
    eyes = Eyes(tmp_path)
    path.write_text("one\n2\n")
    assert "one\n2" in eyes.look()
    path.unlink()
    assert "no longer there" in eyes.look()
    assert eyes.look() == ""
    path.write_text("born again\n")
    assert "born again" in eyes.look()


def test_a_change_of_the_same_size_at_the_same_moment_is_found(tmp_path: Path) -> None:
    path = write(tmp_path, "MEMORY.md", "aaa\n")
    eyes = Eyes(tmp_path)
    for letter in "bcdefgh":
        path.write_text(letter * 3 + "\n")
        assert letter * 3 in eyes.look()


def test_a_new_day_brings_its_log_once(tmp_path: Path) -> None:
    write(tmp_path, "memory/2026-11-21.md", "# 2026-11-21\n")
    eyes = Eyes(tmp_path)
    write(tmp_path, "memory/2026-11-22.md", "# 2026-11-22\n\n- 00:05 written by another talk\n")
    assert eyes.look() == ""
    eyes.day = datetime(2026, 11, 22, 9, tzinfo=UTC)
    assert "written by another talk" in eyes.look()
    assert eyes.look() == ""


def test_what_the_session_wrote_itself_is_seen(tmp_path: Path) -> None:
    path = write(tmp_path, "MEMORY.md", "one\n")
    eyes = Eyes(tmp_path)
    path.write_text("one\nmine\n")
    eyes.seen.update(eyes.freshness.written([path, tmp_path / "memory" / "notes" / "n.md"], eyes.seen))
    assert eyes.look() == ""
    path.write_text("one\nmine\nyours\n")
    assert "yours" in (told := eyes.look()) and "mine" not in told


def test_what_cannot_be_read_any_more_is_told_once(tmp_path: Path) -> None:
    path = write(tmp_path, "USER.md", "Alice\n")
    eyes = Eyes(tmp_path)
    path.write_bytes(b"\x00\x01")
    assert "Not shown" in eyes.look()
    assert eyes.look() == ""
    path.write_text("Alice again\n")
    assert "Alice again" in eyes.look()


def test_rules_that_changed_are_still_rules(tmp_path: Path) -> None:
    path = write(tmp_path, "AGENTS.md", "Be brief.\n")
    eyes = Eyes(tmp_path)
    path.write_text("Be thorough.\n")
    assert eyes.look().startswith('<daybook-rules name="AGENTS.md">')


def test_a_quiet_file_is_not_read_again(tmp_path: Path) -> None:
    path = write(tmp_path, "MEMORY.md", "one\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    eyes = Eyes(tmp_path)
    assert eyes.look() == ""
    path.write_text("two\n")  # the same size; the stamp is put back, so that only reading could tell
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert eyes.look() == ""


def section(session: str, *bullets: str) -> str:
    lines = "".join(f"- {bullet}\n" for bullet in bullets)
    return f"## Journal · owner · 09:00-12:00\n\n{lines}\n<!-- journal {session} 1-9 model -->\n"


LOG = "memory/2026-11-21.md"


def test_a_talk_is_not_told_its_own_journal(tmp_path: Path) -> None:
    """Neither where that begins the day's log, nor where it is added to it."""
    eyes = Eyes(tmp_path)
    path = write(tmp_path, LOG, "# 2026-11-21\n\n" + section("mine", "09:00 I said tea"))
    assert eyes.look_again() == ""
    assert (eyes.seen[LOG].known, eyes.seen[LOG].shown) == (((1, 7),), ())
    path.write_text(path.read_text() + "\n" + section("mine", "10:00 I said milk"))
    assert eyes.look_again() == ""
    assert eyes.seen[LOG].known == ((1, len(path.read_text().splitlines())),)
    path.write_text(path.read_text() + "- 10:05 by another\n")
    told = eyes.look_again()
    assert "by another" in told and "milk" not in told


def test_what_others_wrote_beside_it_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, LOG, "# 2026-11-21\n\n- 08:00 early\n")
    eyes = Eyes(tmp_path)
    own, theirs = section("mine", "09:00 I said tea"), section("theirs", "09:30 they said cake")
    path.write_text(f"{path.read_text()}\n{own}\n{theirs}- 13:00 after it\n")
    told = eyes.look_again()
    assert "cake" in told and "after it" in told and "tea" not in told and "early" not in told
    assert eyes.look_again() == ""
    new = write(tmp_path, "memory/2026-11-20.md", f"# 2026-11-20\n\n{theirs}\n{own}")
    told = eyes.look_again()
    assert "cake" in told and "tea" not in told and new.exists()
