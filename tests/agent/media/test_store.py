"""Kept files: by content, whole, private, and deleted only when nobody names them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from agent.media.store import Store


def kept(store: Store, content: bytes, ending: str = "txt") -> str:
    with store.scratch() as scratch:
        scratch.write_bytes(content)
        return store.keep(scratch, ending)


def test_the_same_content_is_kept_once_and_only_for_its_owner(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = kept(store, b"content")
    assert kept(store, b"content") == path
    place = store.place(path)
    assert place.read_bytes() == b"content"
    assert place.stat().st_mode & 0o777 == 0o600 and place.parent.stat().st_mode & 0o777 == 0o700
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == [place]


def test_a_scratch_file_that_is_not_kept_is_gone(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Store(tmp_path).scratch() as scratch:
        scratch.write_bytes(b"half")
        raise ZeroDivisionError
    assert not scratch.exists()


@pytest.mark.parametrize("path", ["", "media/../x", "/etc/passwd", "media/aa/../../x.txt", f"media/bb/{'a' * 64}.txt"])
def test_only_paths_of_ours_lead_anywhere(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="kept file"):
        Store(tmp_path).place(path)


def test_cleaning_spares_what_is_named_or_new(tmp_path: Path) -> None:
    store = Store(tmp_path / "state")
    named, orphan, young = (kept(store, content) for content in (b"named", b"orphan", b"young"))
    sessions = tmp_path / "state" / "sessions" / "main" / "owner"
    sessions.mkdir(parents=True)
    (sessions / "a.jsonl").write_bytes(b'{"text": "\xff <daybook-document kept=\\"' + named.encode() + b'\\">"}\n')
    now = time.time()
    for path in (named, orphan):
        os.utime(store.place(path), (now - 100, now - 100))
    assert store.clean(sessions, now - 50) == 1
    assert [store.place(path).exists() for path in (named, orphan, young)] == [True, False, True]
