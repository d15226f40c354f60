"""The sandbox of programs: bubblewrap, where the system lets it work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.home import Home

_PROBE_S = 10.0
_TMP = Path("/tmp")
_ALONE = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/", "/")
_OWN = ("--dev", "/dev", "--proc", "/proc")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NAMES = Path("/etc/resolv.conf")
_PASSED_ON = ("LANG", "LC_ALL", "TZ")
"""All that a program knows of our environment beside PATH: no keys."""


@dataclass(frozen=True, slots=True)
class Mounts:
    """What one program sees of the disk beside the system: `folder` it may write, but what is `kept` in it; `scratch`
    is its /tmp."""

    folder: Path
    kept: Sequence[Path]
    scratch: Path


@dataclass(frozen=True, slots=True)
class Sandbox:
    """`bwrap` empty: there is none, and a program can do what we can. `hidden`: folders that programs do not see;
    `shown`: folders inside those that they do."""

    bwrap: str = ""
    hidden: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    path: str = _PATH

    def command(self, argv: Sequence[str], at: Path, mounts: Mounts, *, network: bool) -> tuple[str, ...]:
        if not self.bwrap:
            return tuple(argv)
        covered = [one for one in self.hidden if one.is_relative_to(mounts.folder)]
        arguments = [
            *(self.bwrap, *_ALONE, *(("--share-net",) if network else ()), *_OWN),
            *("--bind", str(mounts.scratch), str(_TMP), "--bind", str(mounts.scratch), "/dev/shm"),
            *_each("--tmpfs", self.hidden),
            *(part for one in self.shown for part in ("--ro-bind", str(one), str(one))),
            *("--bind", str(mounts.folder), str(mounts.folder)),
            *(part for one in mounts.kept for part in ("--ro-bind", str(one), str(one))),
            *_each("--tmpfs", covered),
            *(("--ro-bind-try", *2 * (os.path.realpath(_NAMES),)) if network else ()),
            *_each("--remount-ro", (*self.hidden, Path("/dev"))),
        ]
        return (*arguments, "--chdir", str(at), "--", *argv)

    def environment(self, environ: Mapping[str, str], scratch: Path) -> dict[str, str]:
        home = str(_TMP if self.bwrap else scratch)
        own = {"PATH": self.path, "HOME": home, "TMPDIR": home, "TERM": "dumb"}
        return {name: environ[name] for name in _PASSED_ON if name in environ} | own

    def find(self, program: str, at: Path) -> str | None:
        """Where a program is, as the sandbox sees it."""
        if "/" in program:
            return shutil.which(str(at / program))
        return shutil.which(program, path=self.path)


def find_sandbox(home: Home, environ: Mapping[str, str] = os.environ) -> Sandbox:
    """Tries it out. Blocks."""
    bwrap = works(shutil.which("bwrap", path=_PATH))
    if not bwrap:
        return Sandbox(path=environ.get("PATH", _PATH))
    homes = (Path(environ.get("HOME", "/root")), Path("/root"), Path("/home"), Path("/run"), home.path)
    hidden: list[Path] = []
    for one in sorted({one.resolve() for one in homes if one.is_dir()}):
        if one != Path(one.anchor) and not any(one.is_relative_to(other) for other in hidden):
            hidden.append(one)
    ours = {Path(one).resolve() for one in (sys.prefix, sys.base_prefix)}
    shown = tuple(sorted(one for one in ours if _is_below(one, hidden)))
    path = [one for one in environ.get("PATH", _PATH).split(":") if one.startswith("/")]
    seen = [one for one in path if not _is_below(Path(one).resolve(), hidden) or _is_below(Path(one).resolve(), shown)]
    return Sandbox(bwrap, tuple(hidden), shown, ":".join(seen) or _PATH)


def works(bwrap: str | None) -> str:
    """The program's path if it makes a sandbox here, else empty. Blocks."""
    if bwrap is None or sys.platform != "linux":
        return ""
    command = (bwrap, *_ALONE, *_OWN, "--", "true")
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return bwrap if done.returncode == 0 else ""


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(one) for one in folders)


def _each(option: str, paths: Sequence[Path]) -> list[str]:
    return [part for one in paths for part in (option, str(one))]
