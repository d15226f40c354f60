"""The parts of the owner's workspace that a program may change, and whether anybody has written there since. Blocks.

Files that say what Daybook does are mounted read-only. A name that is not mounted can be made, so that names which are
missing are made, empty, for as long as a program runs.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from agent.formats.sqlite import StorageUnavailable
from agent.memory.consents import Consents
from agent.memory.history import History
from agent.memory.paths import folded_name
from agent.memory.scope import FOLDERS_OF_OTHERS, Scope
from agent.tools.guard import GUARDED_FILES, GUARDED_FOLDERS, Guarded, guarded
from gateway.features.programs.long_outputs import FOLDER as OUTPUTS
from gateway.features.programs.sandbox import Mounts

_log = logging.getLogger(__name__)

_MOST_FILES = 50_000
"""In a larger workspace every program counts as having written."""
_MOST_WRITABLE = 1_000
_DATA_FOLDERS = frozenset({"memory", "received"})
_DATA_FILES = frozenset(map(folded_name, ("MEMORY.md", "USER.md", "GROUP.md", "schedule.yaml")))

Stamps = Mapping[str, tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Written:
    """Where a workspace's agent keeps which files tools and programs wrote."""

    workspace: Path
    history: History
    consents: Consents


def is_read_by_programs(path: str, folder: str = "") -> bool:
    """False for memory and for received files, which tell a program nothing of what to do; where a program runs among
    these, true for all. `folder`: where it runs."""
    if _DATA_FOLDERS.intersection(map(folded_name, PurePosixPath(folder).parts)):
        return True
    names = [folded_name(part) for part in PurePosixPath(path).parts]
    if names[:1] and names[0] in FOLDERS_OF_OTHERS:
        names = names[2:]
    if names[:1] == [OUTPUTS] and path.endswith(".log"):
        return False
    return bool(names) and names[0] not in _DATA_FOLDERS and not (len(names) == 1 and names[0] in _DATA_FILES)


@dataclass(slots=True)
class _Watched:
    workspace: Path
    argv: Sequence[str]
    stamps: Stamps | None


@dataclass(slots=True)
class _Made:
    """Names that were made in one folder, by their numbers on disk, and how many programs need them."""

    users: int = 0
    files: dict[Path, int] = field(default_factory=dict)


class Workspaces:
    def __init__(self, written: Sequence[Written]) -> None:
        self._written = {agent.workspace.resolve(): agent for agent in written}
        self._not_kept = 0
        self._watched: list[_Watched] = []
        self._made: dict[Path, _Made] = {}
        self._lock = threading.Lock()

    def mark(self, scope: Scope, folder: str, words: Sequence[str]) -> str:
        """A text that changes with each write, by a tool or by a program that does not begin with `words`, to a file
        that programs read: the writes of an allowed program itself are allowed with it. Raises `StorageUnavailable`."""
        workspace = scope.workspace.resolve()
        with self._lock:
            for watched in self._watched:
                if watched.workspace == workspace:
                    self._look(watched)
        written = self._written[workspace]
        by_tools = written.history.last_edit(lambda path: is_read_by_programs(path, folder))
        return f"{by_tools} {written.consents.last_program_write(words)} {self._not_kept}"

    @contextmanager
    def lent(self, scope: Scope, scratch: Path, argv: Sequence[str]) -> Iterator[Mounts]:
        """The mounts of a program while it runs. Raises `OSError`."""
        folder = scope.folder.resolve()
        with self._lock:
            self._make_names(folder)
            watched = _Watched(scope.workspace.resolve(), argv, _stamps(scope.workspace.resolve()))
            self._watched.append(watched)
        try:
            yield _mounts(scope, folder, scratch)
        finally:
            with self._lock:
                self._watched.remove(watched)
                self._look(watched)
                self._remove_names(folder)

    def _look(self, watched: _Watched) -> None:
        now = _stamps(watched.workspace)
        if now is None or now != watched.stamps:
            watched.stamps = now
            try:
                self._written[watched.workspace].consents.program_wrote(watched.argv)
            except StorageUnavailable as error:
                _log.error("that a program has written is not kept over a restart: %s", error)
                self._not_kept += 1

    def _make_names(self, folder: Path) -> None:
        made = self._made.setdefault(folder, _Made())
        made.users += 1
        for name in (*GUARDED_FILES, *GUARDED_FOLDERS):
            path = folder / name
            with suppress(FileExistsError):
                if name in GUARDED_FOLDERS:
                    path.mkdir(mode=0o700)
                else:
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                    os.utime(path, ns=(0, 0))
                made.files[path] = path.lstat().st_ino

    def _remove_names(self, folder: Path) -> None:
        made = self._made[folder]
        made.users -= 1
        if not made.users:
            del self._made[folder]
            for path, number in made.files.items():
                _remove_empty(path, number)


def remove_left_names(folder: Path) -> None:
    """Removes empty files that a killed gateway has made for its programs."""
    for name in GUARDED_FILES:
        with suppress(OSError):
            if (folder / name).lstat().st_mtime_ns == 0:
                _remove_empty(folder / name, (folder / name).lstat().st_ino)


def _remove_empty(path: Path, number: int) -> None:
    with suppress(OSError):
        found = path.lstat()
        if found.st_ino != number:
            return
        if path.is_dir():
            path.rmdir()
        elif not found.st_size:
            path.unlink()


def _mounts(scope: Scope, folder: Path, scratch: Path) -> Mounts:
    found = sorted(folder.iterdir())
    kept = [
        path for path in found if not path.is_symlink() and guarded(scope, scope.folder / path.name) != Guarded.FREE
    ]
    names = {folded_name(name) for name in (*GUARDED_FILES, *GUARDED_FOLDERS)}
    links = [path for path in found if path.is_symlink() and folded_name(path.name) in names]
    if not links:
        return Mounts(folder, kept, scratch)
    targets = [link.resolve() for link in links]
    inside = [target for target in targets if target.is_relative_to(folder) and target != folder]
    tops = {folder / target.relative_to(folder).parts[0] for target in inside}
    free = [path for path in found if path not in kept and path not in tops and not path.is_symlink()]
    writable = [path for path in free if path.is_dir()] + [path for path in free if path.is_file()]
    return Mounts(folder, kept, scratch, writable[:_MOST_WRITABLE])


def _stamps(folder: Path) -> Stamps | None:
    """Numbers that change with each file that programs read; None for too many files."""
    found: dict[str, tuple[int, int, int]] = {}
    for parent, folders, names in os.walk(folder):
        below = Path(parent).relative_to(folder).as_posix()
        folders[:] = [child for child in folders if is_read_by_programs(f"{below}/{child}/x")]
        for name in names:
            path = f"{below}/{name}"
            if is_read_by_programs(path):
                with suppress(OSError):
                    stat = os.lstat(os.path.join(parent, name))  # noqa: PTH118 (many times)
                    found[path] = (stat.st_ino, stat.st_size, stat.st_ctime_ns)
        if len(found) > _MOST_FILES:
            return None
    return found
