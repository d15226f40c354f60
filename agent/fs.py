"""Files that survive a power cut: the content is synced, then the folder that names it. Blocks."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def atomic_write(path: Path, content: str | bytes) -> None:
    """Replaces a file (0600), making its folders (0700). Raises `OSError`; the old content stays."""
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        put_in_place(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def put_in_place(written: Path, path: Path) -> None:
    """Syncs a file, then moves it. Raises `OSError`."""
    with written.open("rb+") as file:
        os.fsync(file.fileno())
    make_folder(path.parent)
    written.replace(path)
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it (0700). Raises `OSError`."""
    missing = [one for one in (folder, *folder.parents) if not one.is_dir()]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for made in missing:
        sync_folder(made.parent)


def sync_folder(folder: Path) -> None:
    """Does nothing on Windows. Raises `OSError`."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
