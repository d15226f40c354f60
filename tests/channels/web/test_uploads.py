"""Files on disk that came in through the page."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from channels.web.uploads import Uploads, picture_type


def kept(uploads: Uploads, content: bytes) -> str:
    with uploads.incoming() as incoming:
        incoming.file.write(content)
        return incoming.keep()


def test_what_is_kept_is_found_and_what_is_not_is_gone(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path / "web")
    handle = kept(uploads, b"hello")
    with pytest.raises(ValueError, match="halfway"), uploads.incoming() as incoming:
        incoming.file.write(b"half")
        raise ValueError("halfway")
    found = uploads.find(handle)
    assert found is not None and found.read_bytes() == b"hello"
    assert [one.name for one in (tmp_path / "web").iterdir()] == [handle]
    assert found.stat().st_mode & 0o777 == 0o600 and found.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("handle", ["", "..", "../secret", "0" * 31, "0" * 32, "A" * 32, "/etc/passwd"])
def test_no_name_leads_elsewhere(tmp_path: Path, handle: str) -> None:
    (tmp_path / "secret").write_text("x")
    assert Uploads(tmp_path / "web").find(handle) is None


def test_a_copy_has_at_most_so_many_bytes(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path / "web")
    handle = kept(uploads, b"12345")
    assert uploads.copy(handle, tmp_path / "copy", 5)
    assert (tmp_path / "copy").read_bytes() == b"12345"
    assert not uploads.copy(handle, tmp_path / "other", 4)
    assert not (tmp_path / "other").exists()


def test_what_nobody_names_is_deleted_after_a_day(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path / "web")
    uploads.prune(frozenset())
    said, unsaid, new = (kept(uploads, b"x") for _ in range(3))
    for handle in (said, unsaid):
        os.utime(tmp_path / "web" / handle, (0, 0))
    uploads.prune({said})
    assert {one.name for one in (tmp_path / "web").iterdir()} == {said, new}


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", ""),
        (b"<svg onload=alert(1)>", ""),
        (b"<html>", ""),
        (b"", ""),
    ],
)
def test_only_pictures_that_can_do_nothing_are_shown(tmp_path: Path, head: bytes, kind: str) -> None:
    (tmp_path / "file").write_bytes(head)
    assert picture_type(tmp_path / "file") == kind
