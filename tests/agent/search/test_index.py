"""The index follows the files, whatever becomes of either, and holds one audience alone."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from agent.formats.sqlite import StorageUnavailable
from agent.memory.daily_log import log_path
from agent.memory.log_writer import append_log
from agent.memory.scope import Scope
from agent.search.engine import MOST_OPEN, MemoryIndex
from agent.search.results import SearchResult
from agent.settings import SearchSettings
from tests import forked
from tests.agent.places import group, morning, owner, person, unhurried

CLOCK = morning().clock
LOG = "memory/2026-11-18.md"


class Desk:
    """A workspace beside its state, and an index on them."""

    def __init__(self, home: Path, settings: SearchSettings | None = None) -> None:
        self.workspace = home / "workspace"
        self.state = home / "state"
        (self.workspace / "memory").mkdir(parents=True)
        self.scope = owner(self.workspace)
        self.index = unhurried(self.state, settings=settings)

    @property
    def file(self) -> Path:
        return self.state / "memory.db"

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def search(
        self,
        scope: Scope,
        queries: Sequence[str],
        *,
        since: date | None = None,
        until: date | None = None,
        below: str = "",
    ) -> SearchResult:
        return self.index.search(scope, CLOCK, queries, since=since, until=until, below=below)

    def paths(self, query: str, scope: Scope | None = None) -> list[str]:
        """Where the words of `query` themselves are found."""
        return [hit.path for hit in self.search(scope or self.scope, [query]).hits if hit.matched]

    def gaps(self) -> tuple[str, ...]:
        return self.search(self.scope, ["anything"]).gaps


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.index.close()


def test_a_hand_edit_a_rename_and_a_deletion_are_seen_at_once(desk: Desk) -> None:
    log = desk.write(LOG, "- 09:00 dentist\n")
    assert desk.paths("dentist") == [LOG]
    desk.write(LOG, "- 09:00 plumber\n")
    assert desk.paths("dentist") == [] and desk.paths("plumber") == [LOG]
    log.rename(desk.workspace / "memory/2026-11-17.md")
    assert desk.paths("plumber") == ["memory/2026-11-17.md"]
    (desk.workspace / "memory/2026-11-17.md").unlink()
    assert desk.paths("plumber") == []


def test_an_edit_that_leaves_size_and_time_is_seen(desk: Desk) -> None:
    log = desk.write(LOG, "- 09:00 tulips\n")
    known = log.stat()
    assert desk.paths("tulips") == [LOG]
    desk.write(LOG, "- 09:00 violet\n")
    os.utime(log, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert desk.paths("tulips") == [] and desk.paths("violet") == [LOG]


def test_a_file_that_changes_ten_times_is_found_as_it_is(desk: Desk) -> None:
    for number in range(10):
        desk.write(LOG, f"- 09:00 version{number}\n")
        assert desk.paths(f"version{number}") == [LOG]
    assert desk.paths("version8") == []


def test_a_file_that_changes_all_the_time_is_found_as_it_is_or_was_just_before(desk: Desk) -> None:
    """A writer that never rests beside searches: each finds one whole state, and none older than the one before."""
    desk.write(LOG, "- 09:00 counted 0\n- 09:01 counted 0 too\n")
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            text = f"- 09:00 counted {number}\n- 09:01 counted {number} too\n"
            (desk.workspace / "new").write_text(text)
            (desk.workspace / "new").replace(desk.workspace / LOG)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        before = 0
        for _ in range(40):
            hits = desk.search(desk.scope, ["counted"]).hits
            (number,) = {int(hit.text.split()[3]) for hit in hits if hit.matched}
            assert number >= before
            before = number
    finally:
        stop.set()
        writer.join()
    assert before > 0


def test_links_are_skipped_and_odd_files_are_named(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("- secret dentist\n")
    (desk.workspace / "link.md").symlink_to(outside)
    (desk.workspace / "loop").symlink_to(desk.workspace)
    os.mkfifo(desk.workspace / "pipe.md")
    desk.write("latin.md", "- Café dentist Müller\n".encode("latin-1"))
    desk.write("binary.md", b"dentist\0")
    assert desk.paths("dentist") == ["latin.md"]
    assert desk.gaps() == ("binary.md is a binary file.",)


@pytest.mark.full
def test_a_large_file_is_indexed_to_its_last_line(desk: Desk) -> None:
    line = "- 09:00 the usual walk along the river with the dog and nothing else to tell\n"
    desk.write("notes.md", line * (6_000_000 // len(line)) + "- 10:00 quixotic windmill\n")
    desk.index.refresh(desk.scope, CLOCK)
    (hit, *_) = desk.search(desk.scope, ["windmill"]).hits
    assert (hit.path, hit.text) == ("notes.md", "- 10:00 quixotic windmill")


def test_one_endless_line_is_cut_at_its_sentences(desk: Desk) -> None:
    desk.write("notes.md", "A sentence about nothing much. " * 3_000 + "The windmill turned.")
    (hit, *_) = desk.search(desk.scope, ["windmill"]).hits
    assert hit.text.endswith("The windmill turned.") and len(hit.text) < 2_000


def test_further_paths_are_the_owner_s(tmp_path: Path) -> None:
    extra = tmp_path / "extra"
    (extra / "deep").mkdir(parents=True)
    (extra / "deep" / "a.md").write_text("- tandem bicycle\n")
    (extra / "deep" / "link.md").symlink_to(tmp_path / "single.md")
    (tmp_path / "single.md").write_text("- tandem parachute\n")
    desk = Desk(tmp_path, SearchSettings(extra_paths=(extra, tmp_path / "single.md", tmp_path / "missing")))
    found = desk.search(desk.scope, ["tandem"])
    assert {hit.path for hit in found.hits} == {f"{extra}/deep/a.md", f"{tmp_path}/single.md"}
    assert "missing" in found.gaps[0]
    assert desk.paths("tandem", person(desk.workspace)) == []
    desk.index.close()


def test_invariant_08_an_audience_s_file_holds_nothing_of_others(desk: Desk) -> None:
    scopes = [owner(desk.workspace), person(desk.workspace), group(desk.workspace), group(desk.workspace, "discord-2")]
    for number, scope in enumerate(scopes):
        append_log(scope, CLOCK, f"canary{number} dentist")
    for scope in scopes:
        desk.index.refresh(scope, CLOCK)
    for number, scope in enumerate(scopes):
        hits = desk.search(scope, ["dentist canary0 canary1 canary2 canary3"]).hits
        seen = {word for hit in hits for word in hit.text.split() if word.startswith("canary")}
        assert seen == ({"canary0", "canary1", "canary2", "canary3"} if number == 0 else {f"canary{number}"})
    desk.index.close()
    others = [file.read_bytes() for file in (desk.state / "memory").rglob("*") if file.is_file()]
    assert all(b"canary0" not in data for data in others)
    assert sum(b"canary2" in data for data in others) == 1
    assert all(oct(file.stat().st_mode)[-3:] == "600" for file in desk.state.rglob("*.db*"))


def test_what_others_remember_does_not_show_in_a_score(desk: Desk) -> None:
    append_log(group(desk.workspace), CLOCK, "the dentist and the plumber")
    before = desk.search(group(desk.workspace), ["dentist"]).hits
    for number in range(30):
        append_log(owner(desk.workspace), CLOCK, f"dentist {number}")
    desk.index.refresh(desk.scope, CLOCK)
    assert desk.search(group(desk.workspace), ["dentist"]).hits == before


def test_what_was_forgotten_leaves_the_file(desk: Desk) -> None:
    desk.write(LOG, "- 09:00 xanthippe called\n- 10:00 bread\n")
    assert desk.paths("xanthippe") == [LOG]
    desk.write(LOG, "- 09:00 [forgotten]\n- 10:00 bread\n")
    desk.index.purge(desk.scope, CLOCK)
    assert all(b"xanthipp" not in file.read_bytes() for file in desk.state.rglob("*") if file.is_file())


def test_what_was_forgotten_leaves_the_indexes_of_other_computers_too(tmp_path: Path) -> None:
    """They share a home; each has an index of its own."""
    desk = Desk(tmp_path)
    folders = [desk.state / "index" / host for host in ("attic", "shed")]
    here, there = (MemoryIndex(desk.state, settings=SearchSettings(folder=one), within=60) for one in folders)
    alice = person(desk.workspace, "alice")
    append_log(alice, CLOCK, "xanthippe called")
    desk.write(LOG, "- 09:00 xanthippe called\n- 10:00 bread\n")
    for scope in (desk.scope, alice):
        assert there.search(scope, CLOCK, ["xanthippe"]).hits
    desk.write(LOG, "- 09:00 [forgotten]\n- 10:00 bread\n")
    log = log_path(alice, CLOCK.today())
    log.write_text(log.read_text().replace("xanthippe", "[forgotten]"))
    here.purge(alice, CLOCK)
    here.purge(desk.scope, CLOCK)
    assert all(b"xanthipp" not in file.read_bytes() for file in desk.state.rglob("*") if file.is_file())
    assert not [hit for hit in there.search(desk.scope, CLOCK, ["xanthippe"]).hits if hit.matched]
    assert [hit.path for hit in there.search(desk.scope, CLOCK, ["bread"]).hits if hit.matched] == [LOG]
    for index in (here, there, desk.index):
        index.close()


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "the of and",
        "?!…",
        '"',
        "'",
        "dentist\0",
        "dentist AND (",
        'NEAR("a" b) OR *',
        "-dentist:^",
        "🦷",
        "🦷 dentist 牙医 стоматолог",
        "牙",
        "\ud800 dentist",
        "dentist " * 130_000,
        "a" * 1_000_000,
    ],
)
def test_any_question_is_answered(desk: Desk, query: str) -> None:
    desk.write(LOG, "- 09:00 dentist 牙医 🦷\n")
    found = desk.search(desk.scope, [query])
    assert found.gaps == ()
    assert bool(found.hits) == ("dentist" in query or "牙" in query)


@pytest.mark.parametrize("damage", ["garbage", "cut", "empty", "middle", "other version", "no tables"])
def test_a_damaged_index_is_made_anew(desk: Desk, damage: str) -> None:
    for number in range(40):
        desk.write(
            f"memory/n{number}.md", f"- dentist {number} and words to fill a page of the file {number * 7}\n" * 9
        )
    desk.index.refresh(desk.scope, CLOCK)
    desk.index.close()
    whole = desk.file.read_bytes()
    match damage:
        case "garbage":
            desk.file.write_bytes(b"no database at all " * 500)
        case "cut":
            desk.file.write_bytes(whole[: len(whole) // 2])
        case "empty":
            desk.file.write_bytes(b"")
        case "middle":
            desk.file.write_bytes(whole[:8_192] + os.urandom(len(whole) - 8_192))
        case _:
            with sqlite3.connect(desk.file) as db:
                db.execute("DROP TABLE passage" if damage == "no tables" else "UPDATE meta SET value = '0'")
            db.close()
    found = desk.search(desk.scope, ["dentist"])
    if found.gaps:  # the damage showed only in the search itself
        assert "made anew" in found.gaps[0]
    assert desk.paths("dentist") and desk.gaps() == ()
    assert desk.index.status(desk.scope).files == 40


def test_an_index_deleted_while_it_is_open_comes_back(desk: Desk) -> None:
    desk.write(LOG, "- 09:00 dentist\n")
    assert desk.paths("dentist") == [LOG]
    for file in desk.state.glob("memory.db*"):
        file.unlink()
    assert desk.paths("dentist") == [LOG]
    assert desk.file.exists()


def test_a_rebuild_gives_the_same_answers(desk: Desk) -> None:
    for day in range(1, 20):
        desk.write(f"memory/2026-10-{day:02}.md", f"- dentist {day}\n- plumber {day}\n")
    before = desk.search(desk.scope, ["dentist"]).hits
    seen: list[tuple[int, int]] = []
    desk.index.rebuild(desk.scope, CLOCK, lambda done, of: seen.append((done, of)))
    assert seen[-1] == (19, 19)
    assert desk.search(desk.scope, ["dentist"]).hits == before
    assert not desk.file.with_name("memory.db.new").exists()


def test_a_state_that_takes_no_file_costs_only_the_file(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.write(LOG, "- 09:00 dentist\n")
    desk.state.write_text("in the way")
    assert desk.paths("dentist") == [LOG]
    assert desk.index.status(desk.scope).in_memory
    desk.write(LOG, "- 09:00 plumber\n")
    assert desk.paths("plumber") == [LOG]


def test_an_index_that_cannot_be_opened_is_told_and_not_taken_for_purged(desk: Desk) -> None:
    desk.write(LOG, "- 09:00 dentist\n")
    desk.file.mkdir(parents=True)
    said = "the search index cannot be used (unable to open database file)"
    assert desk.gaps()[0] == f"what changed lately: {said}."
    assert desk.index.status(desk.scope).problems == (f"{said}.",)
    with pytest.raises(StorageUnavailable, match="cannot be used"):
        desk.index.purge(desk.scope, CLOCK)
    desk.file.rmdir()
    assert desk.paths("dentist") == [LOG]
    desk.index.purge(desk.scope, CLOCK)
    assert desk.index.status(desk.scope).problems == ()


def test_without_time_a_search_says_what_it_misses_and_the_next_goes_on(desk: Desk) -> None:
    for day in range(1, 20):
        desk.write(f"memory/2026-10-{day:02}.md", "- dentist\n")
    found = desk.index.search(desk.scope, CLOCK, ["dentist"], deadline=time.monotonic() - 1)
    assert found.gaps == ("19 changed files: they are not in the index yet.",)
    assert desk.index.status(desk.scope).stale == 19
    assert desk.gaps() == ()
    assert desk.index.status(desk.scope).stale == 0


def test_days_and_folders_limit_a_search(desk: Desk) -> None:
    desk.write("memory/2026-10-01.md", "- dentist one\n")
    desk.write("memory/2026-10-02.md", "- dentist two\n")
    desk.write("people/alice/memory/2026-10-02.md", "- dentist three\n")

    def found(**limits: object) -> list[str]:
        hits = desk.search(desk.scope, ["dentist on 2 October"], **limits).hits  # type: ignore[arg-type]
        return sorted(hit.text.split()[-1] for hit in hits)

    assert found() == ["one", "three", "two"]
    assert found(since=date(2026, 10, 2)) == ["three", "two"]
    assert found(until=date(2026, 10, 1)) == ["one"]
    assert found(below="memory") == ["one", "two"]


def test_only_what_is_surely_of_a_later_day_is_hidden_until_a_day(desk: Desk) -> None:
    """Files without a day are edited today, whatever they tell of."""
    desk.write("MEMORY.md", "- dentist memory\n")
    desk.write("memory/notes/old.md", "---\nname: Old\ncreated: 2026-02-01\n---\n\n- dentist old\n")
    desk.write("memory/notes/new.md", "---\nname: New\ncreated: 2026-10-01T08:00:00\n---\n\n- dentist new\n")
    desk.write("memory/notes/odd.md", "---\nname: Odd\ncreated: once\n---\n\n- dentist odd\n")
    desk.write("memory/2026-03-01.md", "- dentist march\n")
    desk.write("memory/2026-10-01.md", "- dentist october\n")

    def found(**limits: date) -> set[str]:
        hits = desk.search(desk.scope, ["dentist"], **limits).hits  # type: ignore[arg-type]
        return {hit.text.split()[-1] for hit in hits if hit.text.startswith("- ")}

    assert found(until=date(2026, 3, 31)) == {"memory", "old", "odd", "march"}
    assert found(until=date(2026, 1, 1)) == {"memory", "odd"}
    assert found(since=date(2026, 3, 2)) == {"memory", "old", "new", "odd", "october"}
    past = 1_767_225_600  # 1 January 2026
    os.utime(desk.workspace / "MEMORY.md", (past, past))
    assert found(since=date(2026, 3, 2)) == {"old", "new", "odd", "october"}
    assert found(until=date(2026, 3, 31)) == {"memory", "old", "odd", "march"}


def test_a_file_too_large_for_the_time_is_left_and_said_and_taken_in_behind(desk: Desk) -> None:
    desk.write(LOG, "- 09:00 windmill\n")
    assert desk.paths("windmill") == [LOG]
    desk.write("archive.md", "- windmill by the lake\n" + " " * 45_000_000)  # 30 seconds' worth, as far as is known
    found = desk.index.search(desk.scope, CLOCK, ["windmill"], deadline=time.monotonic() + 29)
    assert {hit.path for hit in found.hits} == {LOG}
    assert found.gaps == ("1 changed file: it is not in the index yet.",)
    assert desk.index.behind() == [desk.scope]
    assert desk.index.refresh(desk.scope, CLOCK, time.monotonic() + 29).stale == 0
    assert desk.index.behind() == []
    assert desk.paths("windmill") == ["archive.md", LOG] or desk.paths("windmill") == [LOG, "archive.md"]


def test_a_paragraph_of_history_is_of_its_day(desk: Desk) -> None:
    paragraphs = (
        "[2026-09-30 08:00] The dentist called. (talk a e1)",
        "[2026-10-02 09:00] The dentist came. (talk b e2)",
    )
    desk.write(
        "memory/HISTORY.md", "\n".join(("# History", "", *paragraphs, "[2026-13-40 99:99] a dentist by hand", ""))
    )
    hits = [hit for hit in desk.search(desk.scope, ["dentist"]).hits if hit.matched]
    assert {(3, "2026-09-30"), (4, "2026-10-02")} <= {(hit.start_line, str(hit.date)) for hit in hits}
    early = desk.search(desk.scope, ["dentist"], until=date(2026, 10, 1)).hits
    assert paragraphs[0] in [hit.text for hit in early if hit.matched]
    assert paragraphs[1] not in [hit.text for hit in early]


def test_the_clock_in_the_past_hides_nothing(desk: Desk) -> None:
    file = desk.write("notes.md", "- dentist\n")
    os.utime(file, (32_503_680_000, 32_503_680_000))  # the year 3000
    assert desk.paths("dentist") == ["notes.md"]
    desk.write("notes.md", "- plumber\n")
    assert desk.paths("plumber") == ["notes.md"]


# processes -------------------------------------------------------------------------------------------------------

WORK = """
import resource, sys, time
from pathlib import Path
from tests.agent.places import morning, owner, unhurried
home, limit = Path(sys.argv[1]), int(sys.argv[2])
if limit:
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
index = unhurried(home / "state")
def progress(done, of):
    print(done, flush=True)
while True:
    found = index.refresh(owner(home / "workspace"), morning().clock, progress=progress)
    if not any("another process" in gap for gap in found.gaps):
        break
print("gaps", found.gaps, len(index.search(owner(home / "workspace"), morning().clock, ["dentist"]).hits), flush=True)
"""


def started(home: Path, limit: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORK, str(home), str(limit)]
    return forked.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])


def many_files(desk: Desk, count: int = 150) -> None:
    for number in range(count):
        desk.write(f"memory/n{number}.md", "".join(f"- {at} some words and number {number}\n" for at in range(60)))
    desk.write("memory/last.md", "- dentist\n")


def lines_of(process: subprocess.Popen[str]) -> Sequence[str]:
    out, _ = process.communicate(timeout=240)
    return out.splitlines()


def test_killed_in_a_build_the_next_one_goes_on(desk: Desk, tmp_path: Path) -> None:
    many_files(desk)
    process = started(tmp_path)
    assert process.stdout is not None
    while int(process.stdout.readline()) < 20:
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    assert desk.index.status(desk.scope).stale < 151
    assert desk.index.refresh(desk.scope, CLOCK).gaps == ()
    assert desk.paths("dentist") == ["memory/last.md"]
    assert desk.index.status(desk.scope).files == 151


def test_two_processes_build_one_index(desk: Desk, tmp_path: Path) -> None:
    many_files(desk, 60)
    both = [started(tmp_path), started(tmp_path)]
    for process in both:
        assert lines_of(process)[-1] == "gaps () 1"
    status = desk.index.status(desk.scope)
    assert (status.files, status.passages, status.stale) == (61, 60 * 60 + 1, 0)


def test_a_full_disk_is_said_and_what_is_indexed_answers(desk: Desk, tmp_path: Path) -> None:
    many_files(desk)
    said = lines_of(started(tmp_path, limit=400_000))[-1]
    assert "cannot be used" in said
    assert desk.index.refresh(desk.scope, CLOCK).gaps == ()  # there is room again
    assert desk.paths("dentist") == ["memory/last.md"]


def test_many_audiences_take_few_files(desk: Desk) -> None:
    """A process may have 1,024 files open on many a Linux."""
    folk = [person(desk.workspace, f"person-{number}") for number in range(MOST_OPEN + 20)]
    for number, scope in enumerate([*folk, *folk[:3]]):
        desk.write(f"people/{scope.id}/memory/2026-11-18.md", f"- 09:00 tulips{number}\n")
        assert desk.paths(f"tulips{number}", scope) == [LOG]
    mine = [file for file in psutil.Process().open_files() if Path(file.path).is_relative_to(desk.state)]
    assert len(mine) <= 5 * MOST_OPEN


def test_the_end_of_the_process_does_not_wait_for_a_large_file(desk: Desk) -> None:
    """A file that is being indexed is given up, and nothing of it is left; the next start begins it again."""
    desk.write("archive.md", "- 09:00 the usual walk along the river with the dog and a dentist\n" * 600_000)
    desk.write(LOG, "- 09:00 the newest comes first\n")
    begun = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        build = threads.submit(desk.index.refresh, desk.scope, CLOCK, progress=lambda done, of: begun.set())
        assert begun.wait(240)
        desk.index.close()
        assert "is being closed" in build.result().gaps[0]
    assert desk.index.status(desk.scope).passages == 1
    desk.write("archive.md", "- 09:00 dentist\n")
    assert desk.paths("dentist") == ["archive.md"]


def test_an_index_in_use_is_not_closed(desk: Desk) -> None:
    folk = [person(desk.workspace, f"person-{number}") for number in range(MOST_OPEN + 8)]
    for scope in folk:
        desk.write(f"people/{scope.id}/memory/2026-11-18.md", f"- 09:00 tulips of {scope.id}\n")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda scope: desk.paths("tulips", scope), folk * 2))
    assert all(found)
