"""Which files a path can mean. Every way to a workspace file goes through here.

A path that a model writes is checked as text (`inside`), and whatever is opened is opened folder by folder below its
root without following links (`holding`), so that no name and no link swapped in at the last moment leads out.
"""

from __future__ import annotations

import errno
import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from agent.memory.scope import Audience, Scope

MAX_PATH_CHARS = 1_000
MAX_NAME_BYTES = 255
_UNNAMEABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})  # control characters, halves of characters, line ends
_CLOSED_ANYWHERE = frozenset({".git", ".env"})
_CLOSED_AT_TOP = frozenset({"state", "config.yaml"})
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_WALKS = os.open in os.supports_dir_fd


class FileError(Exception):
    """What could not be done with a workspace file. The text is a sentence for whoever asked: it says what to do, and
    names nothing outside the scope."""


class UnreadableFile(FileError):
    """There is something, but no text to be had from it. `reason` is the sentence."""

    @property
    def reason(self) -> str:
        return str(self)


class OutOfReach(UnreadableFile):
    """The path leads, or may lead, out of the folder."""


def inside(scope: Scope, path: str) -> Path:
    """The file or folder that `path`, relative to the scope's folder, names. It need not exist.

    Raises `OutOfReach` for whatever is not a plain relative path: the check needs no look at the disk, so that the
    answer tells nothing about what is outside. Links are judged when the file is opened.
    """
    shown = _shown(path)
    if len(path) > MAX_PATH_CHARS:
        raise OutOfReach(f"{shown} is too long for a path (at most {MAX_PATH_CHARS} characters)")
    if any(unicodedata.category(character) in _UNNAMEABLE for character in path):
        raise OutOfReach(f"{shown} holds characters that no file name here may have")
    windows = PureWindowsPath(path)
    if path.startswith(("/", "~")) or "\\" in path or windows.drive or windows.root:
        raise OutOfReach(f"{shown} is not relative; give a path below this conversation's folder, with / between names")
    parts = PurePosixPath(path).parts
    if ".." in parts:
        raise OutOfReach(f"{shown} contains '..'; give a path below this conversation's folder")
    if any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        raise OutOfReach(f"{shown} has a name longer than {MAX_NAME_BYTES} bytes")
    if _closed(scope, [part.casefold() for part in parts]):
        raise OutOfReach(f"{shown} belongs to the machinery and is closed to tools")
    return scope.folder.joinpath(*parts)


def _closed(scope: Scope, names: list[str]) -> bool:
    """`state` and `config.yaml` lie in the workspace where the home itself is one."""
    at_top = scope.audience is Audience.OWNER and bool(_CLOSED_AT_TOP.intersection(names[:1]))
    return at_top or bool(_CLOSED_ANYWHERE.intersection(names))


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder. Names are looked up in the folder itself (`fd`), wherever it may be moved meanwhile; where the
    system cannot do that (Windows), by `path`."""

    path: Path
    fd: int | None

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """A file descriptor. A link is not followed: it is `OSError` ELOOP."""
        flags |= _NO_LINK | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        return os.open(self._name(name), flags, mode, dir_fd=self.fd)

    def stat(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(self._name(name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def rename(self, old: str, new: str) -> None:
        os.replace(self._name(old), self._name(new), src_dir_fd=self.fd, dst_dir_fd=self.fd)

    def remove(self, name: str) -> None:
        os.unlink(self._name(name), dir_fd=self.fd)

    @contextmanager
    def entered(self, name: str) -> Iterator[Folder]:
        """A folder in this one. A link is not followed. Raises `OSError`, `OutOfReach`."""
        if self.fd is None:
            yield Folder(self.path / name, None)
            return
        fd = _step(self.fd, name)
        try:
            yield Folder(self.path / name, fd)
        finally:
            os.close(fd)

    def sync(self) -> None:
        """Bring names added, changed and removed to the disk."""
        if self.fd is not None:
            os.fsync(self.fd)

    def _name(self, name: str) -> str:
        return name if self.fd is not None else str(self.path / name)


@contextmanager
def holding(path: Path, root: Path, *, make: bool = False) -> Iterator[tuple[Folder, str]]:
    """Open the folder that holds `path`, whose real place must be below `root`; gives it and the name of the file.

    `root` itself may be reached through links; links below it are followed only to places below it. `make` creates
    missing folders (0700). Raises `OutOfReach`, `Unreadable` where `path` is the root, `OSError` (FileNotFoundError
    where a folder is missing).
    """
    real_root, parts = _real(path, root)
    if not parts:
        raise UnreadableFile("this is the folder itself, not a file in it; list_files shows what it holds")
    if make:
        make_private(real_root)
    with _walked(real_root, parts[:-1], make) as folder:
        yield folder, parts[-1]


def make_private(folder: Path) -> None:
    """Make a folder and the missing ones above it, each for its owner only (`mkdir` with `parents` would not)."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def opened(path: Path, root: Path) -> Iterator[Folder]:
    """Open the folder `path`, at or below `root`; raises as `holding` does."""
    real_root, parts = _real(path, root)
    with _walked(real_root, parts, make=False) as folder:
        yield folder


def _real(path: Path, root: Path) -> tuple[Path, tuple[str, ...]]:
    real_root = Path(os.path.realpath(root))
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(real_root):
        raise OutOfReach(f"{_shown(name_below(path, root))} leads out of this conversation's folder through a link")
    return real_root, real.relative_to(real_root).parts


@contextmanager
def _walked(root: Path, parts: tuple[str, ...], make: bool) -> Iterator[Folder]:
    if not _WALKS:
        folder = root.joinpath(*parts)
        if make:
            make_private(folder)
        yield Folder(folder, None)
        return
    fd = os.open(root, _FOLDER)
    try:
        for part in parts:
            if make:
                try:
                    os.mkdir(part, 0o700, dir_fd=fd)
                except FileExistsError:
                    pass
            parent, fd = fd, _step(fd, part)
            os.close(parent)
        yield Folder(root.joinpath(*parts), fd)
    finally:
        os.close(fd)


def _step(fd: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER | _NO_LINK, dir_fd=fd)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OutOfReach("a folder became a link while it was opened") from error
        raise


def name_below(path: Path, root: Path) -> str:
    """How messages and results name a file: relative to `root`, with / between names."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def folded_name(name: str) -> str:
    """A name as the least particular file system would take it: without case, in one form of its letters."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).rstrip(". ")


def ways(path: Path, root: Path) -> tuple[Sequence[str], Sequence[str]]:
    """The folded names of a path below `root`, as it was given and as its links lead. Blocks."""
    real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    given = path.relative_to(root).parts
    leads = real.relative_to(real_root).parts if real.is_relative_to(real_root) else given
    return [folded_name(one) for one in given], [folded_name(one) for one in leads]


def _shown(path: str) -> str:
    shown = repr(path.encode("utf-8", "replace").decode())
    return shown if len(shown) <= 80 else f"{shown[:77]}…'"
