"""A backup holds a home as it was, is checked, and is restored whole or not at all."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.features.backup.archive import check, is_encrypted, restore, write
from gateway.features.backup.errors import BackupError
from gateway.features.backup.nightly import NightlyBackup
from gateway.home import Home, HomeBusy
from gateway.scheduling.builtins import DueTime, JobFailed
from gateway.store.database import SqliteEngine
from gateway.store.schema import STEPS
from tests import forked
from tests.flows.process import ROOT
from tests.gateway.conftest import full_disk
from tests.strength import matrix

PASSPHRASES = (None, "correct horse")
KEY = "sk-long-enough-to-be-nowhere-by-chance"
MEMORY = "- The cat is Luna\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    (home.path / ".env").write_text(f"ANTHROPIC_API_KEY={KEY}\n")
    (home.path / "workspace" / "memory").mkdir(parents=True)
    (home.path / "workspace" / "MEMORY.md").write_text(MEMORY)
    (home.path / "workspace" / "memory" / "2026-01-02.md").write_text("# 2026-01-02\n")
    (home.path / "workspace" / "Grüße ☕.bin").write_bytes(os.urandom(3_000_000))
    (home.sessions / "main").mkdir()
    (home.sessions / "main" / "owner.jsonl").write_text('{"a": 1}\n')
    (home.state / "memory").mkdir()
    (home.state / "memory" / "index.db").write_bytes(b"made again")
    with closing(SqliteEngine(home.database)) as engine:
        engine.connection.execute("INSERT INTO choice (session, name, value) VALUES ('s', 'n', 'kept')")
    return home


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and not path.name.startswith(("daybook.db", "gateway."))
        and not path.is_relative_to(folder / "state" / "memory")
    }


def choices(home: Home) -> list[str]:
    with closing(sqlite3.connect(home.database)) as db:
        return [value for (value,) in db.execute("SELECT value FROM choice")]


@pytest.mark.parametrize("passphrase", PASSPHRASES)
def test_there_and_back_everything_is_the_same(home: Home, tmp_path: Path, passphrase: str | None) -> None:
    file = tmp_path / "backup.tar.gz"
    manifest = write(home, file, passphrase)
    assert manifest.skipped == () and file.stat().st_mode & 0o777 == 0o600
    assert is_encrypted(file) is (passphrase is not None)
    assert passphrase is None or KEY.encode() not in file.read_bytes()
    back = Home(tmp_path / "back")
    restored, aside = restore(file, back, passphrase)
    assert (restored, aside) == (manifest, None)
    assert content(back.path) == content(home.path)
    assert choices(back) == ["kept"]
    assert not (back.state / "memory").exists(), "the index is made again"
    assert {path.stat().st_mode & 0o777 for path in back.path.rglob("*") if path.is_file()} == {0o600}


def test_a_database_that_is_written_meanwhile_is_whole(home: Home, tmp_path: Path) -> None:
    with closing(SqliteEngine(home.database)) as engine:  # its last rows are in the write-ahead log alone
        engine.connection.execute("INSERT INTO choice (session, name, value) VALUES ('s', 'm', 'in the log')")
        write(home, tmp_path / "backup.tar.gz")
    back = Home(tmp_path / "back")
    restore(tmp_path / "backup.tar.gz", back)
    assert sorted(choices(back)) == ["in the log", "kept"]


def test_files_of_the_person_are_kept_whatever_their_names(home: Home, tmp_path: Path) -> None:
    folder = home.path / "workspace"
    for name in (b"photos.db", b"poetry.lock", b"caf\xe9.txt", b"line\nbreak"):
        (folder / os.fsdecode(name)).write_bytes(b"mine")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    assert write(home, tmp_path / "b").skipped == ()
    back = Home(tmp_path / "back")
    restore(tmp_path / "b", back)
    assert content(back.path) == content(home.path)
    assert (back.path / "workspace" / "run.sh").stat().st_mode & 0o777 == 0o700


def test_a_database_that_is_damaged_is_named(home: Home, tmp_path: Path) -> None:
    (home.state / "history").mkdir()
    (home.state / "history" / "main.db").write_bytes(b"no database" * 100)
    assert write(home, tmp_path / "b").skipped == ("state/history/main.db",)
    home.database.write_bytes(b"no database" * 100)
    with pytest.raises(BackupError, match=r"daybook\.db can't be read"):
        write(home, tmp_path / "c")


def test_what_a_killed_one_left_is_removed(home: Home, tmp_path: Path) -> None:
    (tmp_path / ".b.4711.new").write_bytes(b"half")
    write(home, tmp_path / "b")
    (tmp_path / ".daybook-restore-x").mkdir()
    os.utime(tmp_path / ".daybook-restore-x", (0, 0))
    (tmp_path / "back").mkdir()
    restore(tmp_path / "b", Home(tmp_path / "back"))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b", "back", "home"]


def test_a_file_in_the_place_of_the_home_is_said(home: Home, tmp_path: Path) -> None:
    write(home, tmp_path / "b")
    (tmp_path / "back").write_text("mine")
    with pytest.raises(BackupError, match="Can't restore"):
        restore(tmp_path / "b", Home(tmp_path / "back"))


def test_links_are_left_out_and_named(home: Home, tmp_path: Path) -> None:
    (home.path / "workspace" / "passwd").symlink_to("/etc/passwd")
    assert write(home, tmp_path / "b").skipped == ("workspace/passwd",)


def test_the_place_must_be_new_and_outside(home: Home, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(BackupError, match="exists already"):
        write(home, tmp_path / "there")
    with pytest.raises(BackupError, match="in the home itself"):
        write(home, home.path / "workspace" / "b")
    with pytest.raises(BackupError, match="there is no such file"):
        write(home, tmp_path / "none" / "b")
    assert (tmp_path / "there").read_text() == "mine"


def test_a_full_disk_is_said_and_leaves_nothing(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "b"
    with full_disk(1_000_000), pytest.raises(BackupError, match="Can't write"):
        write(home, target)
    assert not [one for one in tmp_path.iterdir() if one != home.path]


def test_a_home_that_is_there_stays_without_force_and_aside_with_it(home: Home, tmp_path: Path) -> None:
    write(home, tmp_path / "b")
    (home.path / "workspace" / "MEMORY.md").write_text("newer")
    with pytest.raises(BackupError, match="--force"):
        restore(tmp_path / "b", home)
    with home.hold(), pytest.raises(HomeBusy):
        restore(tmp_path / "b", home, force=True)
    _, aside = restore(tmp_path / "b", home, force=True)
    assert aside is not None and (aside / "workspace" / "MEMORY.md").read_text() == "newer"
    assert (home.path / "workspace" / "MEMORY.md").read_text() == MEMORY


@matrix(passphrase=PASSPHRASES, where=[0.02, 0.5, 0.98])
def test_a_changed_byte_is_found_and_nothing_is_restored(
    home: Home, tmp_path: Path, passphrase: str | None, where: float
) -> None:
    write(home, tmp_path / "b", passphrase)
    data = bytearray((tmp_path / "b").read_bytes())
    data[int(len(data) * where)] ^= 0x55
    (tmp_path / "b").write_bytes(data)
    with pytest.raises(BackupError, match="damaged"):
        restore(tmp_path / "b", Home(tmp_path / "back"), passphrase)
    assert not (tmp_path / "back").exists() and not list(tmp_path.glob(".daybook-restore-*"))


@matrix(passphrase=PASSPHRASES, left=[0, 5, 40, 0.5, 0.999])
def test_a_file_that_was_cut_off_is_no_backup(home: Home, tmp_path: Path, passphrase: str | None, left: float) -> None:
    write(home, tmp_path / "b", passphrase)
    data = (tmp_path / "b").read_bytes()
    (tmp_path / "b").write_bytes(data[: int(left if left > 1 or not left else len(data) * left)])
    with pytest.raises(BackupError):
        check(tmp_path / "b", passphrase)


@pytest.mark.parametrize("given", ["another", "", None])
def test_another_passphrase_is_refused(home: Home, tmp_path: Path, given: str | None) -> None:
    write(home, tmp_path / "b", "correct horse")
    with pytest.raises(BackupError, match="passphrase"):
        check(tmp_path / "b", given)


def made(path: Path, members: dict[str, bytes], **changed: object) -> Path:
    """An archive that somebody made by hand."""
    manifest = {"format": 1, "daybook": "9", "schema": len(STEPS), "made_at": "t", "files": [], **changed}
    with tarfile.open(path, "w:gz") as tar:
        for name, data in {**members, "manifest.json": json.dumps(manifest).encode()}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("name", ["/etc/evil", "home/../../evil", "evil", "home", "home/..\\evil", "../home/x"])
def test_nothing_is_written_outside_of_the_home(tmp_path: Path, name: str) -> None:
    with pytest.raises(BackupError, match=r"outside of the home|no backup"):
        restore(made(tmp_path / "b", {name: b"x"}), Home(tmp_path / "in" / "back"))
    assert [one.name for one in tmp_path.rglob("*") if "evil" in one.name] == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_what_is_no_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "b", "w:gz") as tar:
        info = tarfile.TarInfo("home/x")
        info.type, info.linkname = kind, "/etc/passwd"
        tar.addfile(info)
    with pytest.raises(BackupError, match="no backup"):
        restore(tmp_path / "b", Home(tmp_path / "back"))


def test_files_that_the_manifest_does_not_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="is damaged"):
        restore(made(tmp_path / "b", {"home/x": b"x"}), Home(tmp_path / "back"))
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("newer", [{"format": 2}, {"schema": 999}])
def test_a_backup_of_a_newer_daybook_is_refused(tmp_path: Path, newer: dict[str, object]) -> None:
    with pytest.raises(BackupError, match="newer Daybook"):
        restore(made(tmp_path / "b", {}, **newer), Home(tmp_path / "back"))


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("dear diary" * 1_000)
    with pytest.raises(BackupError, match="no backup"):
        check(tmp_path / "b")


_KILLED = """
import sys
from pathlib import Path
from gateway.features.backup.archive import restore, write
from gateway.home import Home
print("ready", flush=True)
home, file = Home(Path(sys.argv[2])), Path(sys.argv[3])
write(home, file) if sys.argv[1] == "write" else restore(file, home, force=True)
"""


@pytest.mark.parametrize("what", ["write", "restore"])
def test_killed_at_any_moment_there_is_the_old_or_the_new(home: Home, tmp_path: Path, what: str) -> None:
    good, before = tmp_path / "good", content(home.path)
    write(home, good)
    for step in range(8):
        file = tmp_path / f"b{step}" if what == "write" else good
        script = [sys.executable, "-c", _KILLED, what, str(home.path), str(file)]
        process = forked.Popen(script, stdout=subprocess.PIPE, cwd=ROOT)
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(step * 0.03)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if what == "write":
            assert not file.exists() or check(file)
        elif not home.path.exists():  # killed between two names: what was there is beside it
            (aside,) = tmp_path.glob("home.before-restore-*")
            aside.rename(home.path)
        assert content(home.path) == before
        assert choices(home) == ["kept"]
        for aside in tmp_path.glob("home.before-restore-*"):
            assert content(aside) == before


def due(day: int) -> DueTime:
    return DueTime(datetime(2026, 1, day, 3, tzinfo=UTC))


async def test_every_night_one_is_written_and_the_newest_are_kept(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    nightly = NightlyBackup(home, folder, 3, None)
    for day in range(1, 6):
        assert "MB" in (await nightly.built_in.run(due(day))).note
    (folder / "holiday.jpg").write_bytes(b"mine")
    await nightly.built_in.run(due(5))  # again, as after a crash
    names = sorted(one.name for one in folder.iterdir())
    assert names == [*(f"daybook-2026-01-0{day}.tar.gz" for day in (3, 4, 5)), "holiday.jpg"]
    assert all(check(folder / name).files for name in names[:3])


async def test_a_night_that_fails_is_told(home: Home, tmp_path: Path) -> None:
    (tmp_path / "backups").write_text("a file is in its place")
    nightly = NightlyBackup(home, tmp_path / "backups", 3, None)
    with pytest.raises(JobFailed, match="nightly backup failed"):
        await nightly.built_in.run(due(1))
