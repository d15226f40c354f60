"""What a power cut must not take (a new name is on the disk only when its folder is), and who waits for whom."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from agent.compaction.deferred import DeferredStore, DeferredTask
from agent.compaction.flush_state import ContextLossReason
from agent.fs import Folder, atomic_write, folder_at, locked
from agent.memory.scope import Audience, Scope
from agent.session.archive import Archive, new_id
from tests.agent.session.test_archive import DAY, OWNER

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="nothing tells what is synced")


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, frozenset[str]]]:
    """Every folder that was synced, with the names that it had by then."""
    told: list[tuple[Path, frozenset[str]]] = []
    sync = os.fsync

    def fsync(fd: int) -> None:
        place = Path(f"/proc/self/fd/{fd}").readlink()
        if place.is_dir():
            told.append((place, frozenset(one.name for one in place.iterdir())))
        sync(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    return told


def names(synced: list[tuple[Path, frozenset[str]]], folder: Path) -> frozenset[str]:
    return next((names for place, names in reversed(synced) if place == folder), frozenset())


def test_the_choice_of_session(tmp_path: Path, synced: list[tuple[Path, frozenset[str]]]) -> None:
    archive = Archive(tmp_path / "sessions" / "main", "main")
    archive.make_current(OWNER, new_id(DAY))
    assert "current" in names(synced, archive.folder / "owner")
    assert "owner" in names(synced, archive.folder)
    assert "sessions" in names(synced, tmp_path)


def test_what_is_owed(tmp_path: Path, synced: list[tuple[Path, frozenset[str]]]) -> None:
    debts = DeferredStore(tmp_path / "sessions", tmp_path)
    owed = DeferredTask("owner", new_id(DAY), Scope(Audience.OWNER, tmp_path), ContextLossReason.NEW, "e1")
    for note in (debts.note, debts.failed):
        synced.clear()
        note(owed)
        assert f"{owed.session}-e1.owed" in names(synced, tmp_path / "sessions" / "owner")
    assert debts.all() == [owed] and len(list((tmp_path / "sessions" / "owner").iterdir())) == 1


def test_who_has_the_lock_of_a_folder_writes_into_it_without_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As the log does, which is rotated wherever something is said."""
    with folder_at(tmp_path) as folder, locked(folder):
        atomic_write(tmp_path / "a", "one")
        with folder_at(tmp_path) as again:
            assert is_locked(again), "what is inside does not give the lock back"
    assert not caplog.records, "who waits for itself passes in the end, and says so"
    assert (tmp_path / "a").read_text() == "one"
    with folder_at(tmp_path) as again:
        assert not is_locked(again)


def test_a_lock_that_cannot_be_given_back_makes_no_failure_of_what_is_done(tmp_path: Path) -> None:
    """As on a disk of the network that is lost: what is locked is known no more."""
    fd = os.open(tmp_path, os.O_RDONLY)
    with locked(Folder(tmp_path, fd)):
        os.close(fd)


def is_locked(folder: Folder) -> bool:
    assert folder.fd is not None
    try:
        fcntl.flock(folder.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(folder.fd, fcntl.LOCK_UN)
    return False
