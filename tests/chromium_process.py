"""The system's Chromium as a server of Playwright's, which all tests of a process use: a start costs two seconds."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60_000
"""Milliseconds for what has to come; a browser on a busy machine is slow."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str:
    """Its path: $CHROMIUM, or what is installed; empty where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), "")


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address at which Playwright connects; `folder` takes the browser's options."""
    arguments = [*_ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    config = folder / "chromium.json"
    config.write_text(json.dumps({"executablePath": find_chromium(), "args": arguments, "timeout": PATIENCE}))
    command = [sys.executable, "-m", "playwright", "launch-server", "--browser", "chromium", "--config", str(config)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            os.killpg(server.pid, signal.SIGTERM)  # on which it ends its browser
            server.stdout.read()
