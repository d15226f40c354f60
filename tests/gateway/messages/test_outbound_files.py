"""Copies of files on their way out: by content, private, and not kept for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.memory.paths import FileError
from agent.memory.scope import Audience, Scope
from gateway.messages.outbound_files import OutboundFiles


@pytest.fixture
def scope(tmp_path: Path) -> Scope:
    scope = Scope(Audience.OWNER, tmp_path / "workspace")
    scope.folder.mkdir()
    return scope


@pytest.fixture
def outgoing(tmp_path: Path) -> OutboundFiles:
    return OutboundFiles(tmp_path / "state" / "outgoing")


def test_the_same_content_is_kept_once(scope: Scope, outgoing: OutboundFiles) -> None:
    for name in ("a.txt", "b.txt"):
        (scope.folder / name).write_text("the same")
    first, other = (outgoing.keep(scope, name, 100) for name in ("a.txt", "b.txt"))
    assert (first.name, other.name) == ("a.txt", "b.txt")
    assert first.path == other.path
    assert [file.name for file in first.path.parent.iterdir()] == [first.path.name]
    assert first.path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("size", [0, 101])
def test_what_cannot_be_sent_leaves_nothing_behind(
    scope: Scope, outgoing: OutboundFiles, tmp_path: Path, size: int
) -> None:
    (scope.folder / "file").write_bytes(b"x" * size)
    with pytest.raises(FileError):
        outgoing.keep(scope, "file", 100)
    assert list((tmp_path / "state" / "outgoing").iterdir()) == []


def test_old_copies_go_but_not_what_is_still_to_be_sent(scope: Scope, outgoing: OutboundFiles) -> None:
    kept = []
    for name in ("old", "old and wanted", "new"):
        (scope.folder / name).write_text(name)
        kept.append(outgoing.keep(scope, name, 100).path)
    for file in kept[:2]:
        os.utime(file, (0, 0))
    outgoing.prune({kept[1]})
    assert [file.exists() for file in kept] == [False, True, True]


def test_without_a_folder_there_is_nothing_to_remove(outgoing: OutboundFiles) -> None:
    outgoing.prune(())


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        (b"\x89PNG\r\n\x1a\n", True),
        (b"\xff\xd8\xff\xe0", True),
        (b"GIF89a", True),
        (b"RIFF\0\0\0\0WEBPVP8 ", True),
        (b"RIFF\0\0\0\0WAVEfmt ", False),
        (b"<svg xmlns=", False),
    ],
)
def test_a_picture_is_known_by_its_bytes(scope: Scope, outgoing: OutboundFiles, head: bytes, shown: bool) -> None:
    (scope.folder / "a.png").write_bytes(head)
    assert outgoing.keep(scope, "a.png", 100).is_image is shown
