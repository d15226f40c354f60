"""Resolves paths to workspace files, for every access.

A model's path is checked as text (`inside`); files are opened folder by folder without following links, so that a new
link cannot lead out.
"""

from __future__ import annotations

import errno
import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

from agent.fs import Folder
from agent.memory.scope import FOLDERS_OF_OTHERS, Audience, Scope

MAX_PATH_CHARS = 1_000
MAX_NAME_BYTES = 255
_UNNAMEABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})  # control characters, surrogates, line ends
_CLOSED_ANYWHERE = frozenset({".git", ".env"})
_CLOSED_AT_TOP = frozenset({"state", "config.yaml"})
FOLDERS = frozenset(
    {"memory", "memory/notes", "memory/imported", "memory/proposals", "skills", *FOLDERS_OF_OTHERS, "exports"}
    | {"media", "pictures", "programs", "received"}
)
"""Daybook's folders, relative to a scope's folder: no file has these names."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_WALKS = os.open in os.supports_dir_fd


class FileError(Exception):
    """The text tells the requester what to do, and names nothing outside the scope."""


class UnreadableFile(FileError):
    @property
    def reason(self) -> str:
        return str(self)


class OutOfReach(UnreadableFile):
    """The path may lead out of the folder."""


def inside(scope: Scope, path: str) -> Path:
    """The file of a plain relative `path`. Raises `OutOfReach`. Does not read the disk, so it reveals nothing
    outside."""
    shown = _quoted(path)
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
    names = [part.casefold() for part in parts]
    # `state` and `config.yaml` are there if the home is the workspace
    is_closed_at_top = scope.audience is Audience.OWNER and bool(_CLOSED_AT_TOP.intersection(names[:1]))
    if is_closed_at_top or _CLOSED_ANYWHERE.intersection(names):
        raise OutOfReach(f"{shown} belongs to the machinery and is closed to tools")
    return scope.folder.joinpath(*parts)


@contextmanager
def entered(folder: Folder, name: str) -> Iterator[Folder]:
    """Opens a subfolder without following links. Raises `OSError`, `OutOfReach`."""
    if folder.fd is None:
        yield Folder(folder.path / name, None)
        return
    fd = _open_subfolder(folder.fd, name)
    try:
        yield Folder(folder.path / name, fd)
    finally:
        os.close(fd)


@contextmanager
def open_parent(path: Path, root: Path, *, make: bool = False) -> Iterator[tuple[Folder, str]]:
    """Opens the folder that holds `path`; yields it with the file's name.

    Below `root`, links may lead only below it. `make` creates folders (0700). Raises `OutOfReach`, `OSError`,
    `UnreadableFile` for the root.
    """
    real_root, parts = _resolve(path, root)
    if not parts:
        raise UnreadableFile("this is the folder itself, not a file in it; list_files shows what it holds")
    if make:
        _make_root(real_root)
    with _walk(real_root, parts[:-1], make) as folder:
        yield folder, parts[-1]


def _make_root(root: Path) -> None:
    """Makes the folder of a person or group in an existing workspace. A workspace that was deleted or moved is not made
    again: its content would seem never to have been."""
    workspace = root.parent.parent if root.parent.name in FOLDERS_OF_OTHERS else root
    if not workspace.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(workspace))
    make_private(root)


def make_private(folder: Path) -> None:
    """Makes a folder and those above it 0700 (`mkdir` with `parents` would not)."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def open_folder(path: Path, root: Path) -> Iterator[Folder]:
    """Raises as `open_parent`."""
    real_root, parts = _resolve(path, root)
    with _walk(real_root, parts, make=False) as folder:
        yield folder


def _resolve(path: Path, root: Path) -> tuple[Path, tuple[str, ...]]:
    real_root = Path(os.path.realpath(root))
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(real_root):
        raise OutOfReach(f"{_quoted(name_below(path, root))} leads out of this conversation's folder through a link")
    return real_root, real.relative_to(real_root).parts


@contextmanager
def _walk(root: Path, parts: tuple[str, ...], make: bool) -> Iterator[Folder]:
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
            parent, fd = fd, _open_subfolder(fd, part)
            os.close(parent)
        yield Folder(root.joinpath(*parts), fd)
    finally:
        os.close(fd)


def _open_subfolder(fd: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER | _NO_LINK, dir_fd=fd)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OutOfReach("a folder became a link while it was opened") from error
        raise


def name_below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def folded_name(name: str) -> str:
    """A name as the most tolerant file system compares it."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).rstrip(". ")


def folded_parts(path: Path, root: Path) -> tuple[Sequence[str], Sequence[str]]:
    """Folded parts, as given and with links resolved. Blocks."""
    real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    given = path.relative_to(root).parts
    leads = real.relative_to(real_root).parts if real.is_relative_to(real_root) else given
    return [folded_name(part) for part in given], [folded_name(part) for part in leads]


def _quoted(path: str) -> str:
    shown = repr(path.encode("utf-8", "replace").decode())
    return shown if len(shown) <= 80 else f"{shown[:77]}…'"
