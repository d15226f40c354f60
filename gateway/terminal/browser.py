"""Opens a link that logs in, in the browser of the person at this computer."""

from __future__ import annotations

import contextlib
import html
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from gateway.home import Home, write_private

_SNAPS = Path("/snap/bin")
_SNAP_BROWSERS = ("firefox", "chromium", "brave", "opera")


def has_browser(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """False over SSH, and on Linux without a display: a browser would open elsewhere, or in this very terminal."""
    if "SSH_CONNECTION" in environ or "SSH_TTY" in environ:
        return False
    has_display = any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    return has_display or platform in ("darwin", "win32")


def open_link(home: Home, link: str) -> None:
    """Opens a link without waiting for the browser, which writes nothing into this terminal. Raises `OSError`.

    Where other users can see the arguments of a program (`ps`), it gets the path of a private file that leads to the
    link. Browsers installed as snaps can't read that file and get the link itself.
    """
    target = link
    if sys.platform not in ("darwin", "win32") and not any((_SNAPS / name).exists() for name in _SNAP_BROWSERS):
        target = _redirect(home.state / "open.html", link).as_uri()
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", target],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _redirect(file: Path, link: str) -> Path:
    """Writes a page that leads to the link. It may stay: the link works once, and not for long."""
    with contextlib.suppress(FileNotFoundError):
        file.unlink()
    refresh = html.escape(f"0; url={link}")
    write_private(file, f'<!doctype html><meta http-equiv="refresh" content="{refresh}"><title>Daybook</title>\n')
    return file
