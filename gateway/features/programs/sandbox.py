"""The sandbox of programs: bubblewrap, where the system lets it work. A program sees what is listed here, nothing else.

No sandbox holds root: its number owns too much, whatever it sees. Its programs run in a sandbox all the same, and
`is_tight` says that it does not hold.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gateway.config import Config
from gateway.home import Home

_PROBE_S = 30.0
_TMP = Path("/tmp")
_ALONE = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt")))
_OF_ETC = (
    *("alternatives", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf", "passwd"),
    *("pki/ca-trust/extracted", "pki/tls/certs", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf"),
)
_OF_NETWORKS = ("hosts", "resolv.conf")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_GIT = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "safe.bareRepository": "explicit"}
"""Settings that a folder's own files must not choose."""
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "PYTHONDONTWRITEBYTECODE": "1"}
"""Makes commands that only read write nothing."""
_PASSED_ON = ("LANG", "LC_ALL", "TZ")
"""All that a program knows of our environment beside PATH: no keys."""


@dataclass(frozen=True, slots=True)
class Mounts:
    """The parts of the disk that one program sees beside the system. It may write in `folder`, but for what is `kept`
    in it; `scratch` is its /tmp. `writable`: the only parts of the folder that it may write, if a link in the folder
    must stay."""

    folder: Path
    kept: Sequence[Path]
    scratch: Path
    writable: Sequence[Path] | None = None


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The sandbox of this machine. `bwrap` empty: there is none, and a program can do what we can. `hidden`: paths
    inside shown folders that are not shown."""

    bwrap: str = ""
    is_root: bool = False
    hidden: tuple[Path, ...] = ()
    path: str = _PATH

    @property
    def is_tight(self) -> bool:
        return bool(self.bwrap) and not self.is_root

    def command(self, argv: Sequence[str], at: Path, mounts: Mounts, *, network: bool) -> tuple[str, ...]:
        if not self.bwrap:
            return tuple(argv)
        folder = mounts.folder
        outside = [path for path in self.hidden if not path.is_relative_to(folder)]
        around = [path for path in outside if folder.is_relative_to(path) or _is_below(path, _SYSTEM)]
        inside = [path for path in self.hidden if path.is_relative_to(folder) and path != folder]
        covered = [*_outermost(around), *_outermost(inside)]
        arguments = [
            *(self.bwrap, *_ALONE, *(("--share-net",) if network else ()), *_system(network=network)),
            *("--bind", str(mounts.scratch), str(_TMP), "--bind", str(mounts.scratch), "/dev/shm"),
            *(part for path in _outermost(around) for part in _covering(path)),
            *("--bind" if mounts.writable is None else "--ro-bind", str(folder), str(folder)),
            *_each("--bind", mounts.writable or ()),
            *_each("--ro-bind", mounts.kept),
            *(part for path in _outermost(inside) for part in _covering(path)),
            *(part for path in covered if path.is_dir() for part in ("--remount-ro", str(path))),
            *("--remount-ro", "/dev", "--remount-ro", "/"),
        ]
        return (*arguments, "--chdir", str(at), "--", *argv)

    def environment(self, environ: Mapping[str, str], scratch: Path) -> dict[str, str]:
        home = str(_TMP if self.bwrap else scratch)
        own = {"PATH": self.path, "HOME": home, "TMPDIR": home, "TERM": "dumb", **_QUIET}
        for number, (key, value) in enumerate(_GIT.items()):
            own |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        own["GIT_CONFIG_COUNT"] = str(len(_GIT))
        return {name: environ[name] for name in _PASSED_ON if name in environ} | own

    def find(self, program: str, at: Path) -> str | None:
        """Where a program is, as the sandbox sees it."""
        if "/" in program:
            return shutil.which(str(at / program))
        return shutil.which(program, path=self.path)


NO_SANDBOX = {
    False: "There is no sandbox here: programs can read and change all that Daybook can. Install bubblewrap, or turn"
    " tools.exec off.",
    True: "Daybook runs as root, so there is no sandbox that would hold programs: they can read and change all"
    " of this computer. Run it as another user, or turn tools.exec off.",
}
"""The warning, by whether Daybook runs as root."""


def missed_sandbox(home: Home, sandbox: Sandbox) -> str:
    """A sentence where programs had a sandbox here before and have none now: a yes of then was for a sandbox. Notes the
    present one. Blocks."""
    if sandbox.is_tight:
        with suppress(OSError):
            home.had_sandbox.touch(mode=0o600)
        return ""
    if not home.had_sandbox.exists():
        return ""
    why = "it runs as root now" if sandbox.is_root else "bubblewrap does not work now"
    return (
        f"Programs are off: they had a sandbox here before, and {why}. Bring it back and restart Daybook, or delete"
        f" {home.had_sandbox} if programs shall run without one."
    )


def find_sandbox(home: Home, config: Config, environ: Mapping[str, str] = os.environ) -> Sandbox:
    """The sandbox that works here, tried out. Blocks."""
    is_root = sys.platform != "win32" and os.geteuid() == 0
    bwrap = works(shutil.which("bwrap", path=_PATH))
    if not bwrap:
        return Sandbox(is_root=is_root, path=environ.get("PATH", _PATH))
    path = [folder for folder in environ.get("PATH", _PATH).split(":") if _is_below(Path(folder).resolve(), _SYSTEM)]
    return Sandbox(bwrap, is_root, tuple(_hidden(home, config, environ)), ":".join(path) or _PATH)


def works(bwrap: str | None) -> str:
    """The program's path if it makes a sandbox here, else empty. Blocks."""
    if bwrap is None or sys.platform != "linux":
        return ""
    command = (bwrap, *_ALONE, *_system(network=False), "--", "true")
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return bwrap if done.returncode == 0 else ""


def _system(*, network: bool) -> Iterator[str]:
    """The mounts that every program sees: the system's programs and libraries, and the files of /etc that these
    need."""
    for folder in _SYSTEM:
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), str(folder))
        elif folder.is_dir():
            yield from ("--ro-bind", str(folder), str(folder))
    for name in (*_OF_ETC, *(_OF_NETWORKS if network else ())):
        yield from ("--ro-bind-try", os.path.realpath(f"/etc/{name}"), f"/etc/{name}")
    yield from ("--dev", "/dev", "--proc", "/proc")
    for path in ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"):
        yield from ("--ro-bind-try", path, path)


def _hidden(home: Home, config: Config, environ: Mapping[str, str]) -> Iterator[Path]:
    """The paths that are ours, the person's, or named by the configuration, wherever they lie."""
    read = [path for agent in config.agents.values() for path in agent.memory.search.extra_paths]
    named = [*config.written_folders(), *read]
    paths = [home.path, home.state, home.config_file, home.env_file, Path(environ.get("HOME", "/root"))]
    for path in dict.fromkeys(path.resolve() for path in (*paths, *map(home.workspace, named))):
        if not any(system.resolve().is_relative_to(path) for system in _SYSTEM):
            yield path


def _outermost(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in sorted(paths):
        if not _is_below(path, found):
            found.append(path)
    return found


def _covering(path: Path) -> tuple[str, ...]:
    """The mount that hides a folder or a file that is there now."""
    if path.is_dir():
        return ("--tmpfs", str(path))
    return ("--ro-bind", os.devnull, str(path)) if path.exists() else ()


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _each(option: str, paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        yield from (option, str(path), str(path))
