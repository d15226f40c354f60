"""Files that survive a power cut: the content is synced, then the folder that names it. Blocks."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Replace a file's content atomically; missing folders are made (0700). Raises `OSError`; the old content stays."""
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder and the missing ones above it (0700). Raises `OSError`."""
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
