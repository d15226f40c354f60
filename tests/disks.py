"""Disks that are full."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(size: str, folder: Path | None = None) -> Iterator[Path]:
    """A file system of its own at `folder`, or at a new one. Skips the test where this machine does not allow one."""
    with contextlib.ExitStack() as stack:
        folder = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="daybook-disk-")))
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "none", folder]
        if subprocess.run(mount, capture_output=True).returncode:
            pytest.skip("needs the right to mount a tmpfs: run as root")
        stack.callback(subprocess.run, ["umount", "--lazy", folder], check=True)
        yield folder


def fill(file: Path) -> None:
    """Take all room that is left."""
    with contextlib.suppress(OSError), file.open("wb", buffering=0) as stream:
        while True:
            stream.write(b"\0" * 4096)
