"""Folders of files that somebody brings, as they are or in a zip; links are not followed. Blocks."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from agent.languages.sentences import Sentence, joined
from gateway.features.imports.values import LABELS, MOST_BYTES, Findings, ImportKind, ImportRefused
from gateway.features.imports.zips import CheckedZip, OddFile, readable, unreadable

_MOST_FILES = 50_000
_DEEPEST = 40
_MOST_LISTED = 100
_OF_MACOS = "__MACOSX"
_OF_LOGSEQ = Sentence("is Logseq's own, with its settings and old versions of pages")
_LINK = Sentence("is a link, which is not followed")
_IRREGULAR = Sentence("is not a regular file")
_TOO_DEEP = Sentence("lies too deep")


class FileTree(Protocol):
    """Files by names relative to a folder, with / between folders."""

    def top(self) -> Collection[str]:
        """Names of the files and folders that are directly in it."""
        ...

    def has_file(self, name: str) -> bool: ...

    def has_folder(self, name: str) -> bool: ...

    def below(self, folder: str) -> FileTree: ...

    def files(self, findings: Findings, below: str = "") -> Iterator[BroughtFile]:
        """All regular files in it or a folder of it, sorted by name; hidden ones and Logseq's own are passed over.
        Raises `ImportRefused`."""
        ...

    def open(self, name: str) -> IO[bytes]:
        """Raises `OSError`, `ImportRefused`."""
        ...


@dataclass(frozen=True, slots=True)
class BroughtFile:
    """`name` is relative to the tree."""

    name: str
    tree: FileTree

    @property
    def is_markdown(self) -> bool:
        return self.name.lower().endswith((".md", ".markdown"))


class FolderTree:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def top(self) -> Collection[str]:
        return [entry.name for entry in self._folder.iterdir()]

    def has_file(self, name: str) -> bool:
        return (self._folder / name).is_file()

    def has_folder(self, name: str) -> bool:
        return (self._folder / name).is_dir()

    def below(self, folder: str) -> FileTree:
        return FolderTree(self._folder / folder)

    def files(self, findings: Findings, below: str = "") -> Iterator[BroughtFile]:
        prefix = f"{below}/" if below else ""
        return _bounded(self._walk(self._folder / below, prefix, findings, 0), self._folder)

    def _walk(self, folder: Path, prefix: str, findings: Findings, depth: int) -> Iterator[BroughtFile]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            findings.skip(prefix or str(folder), unreadable(error))
            return
        for entry in entries:
            name = f"{prefix}{entry.name}"
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                findings.skip(shown(name), _LINK)
            elif entry.is_dir(follow_symlinks=False):
                if _is_logseqs(name, self.has_file):
                    findings.skip(f"{shown(name)}/", _OF_LOGSEQ)
                elif depth < _DEEPEST:
                    yield from self._walk(Path(entry.path), f"{name}/", findings, depth + 1)
                else:
                    findings.skip(shown(name), _TOO_DEEP)
            elif entry.is_file(follow_symlinks=False):
                yield BroughtFile(name, self)
            else:
                findings.skip(shown(name), _IRREGULAR)

    def open(self, name: str) -> IO[bytes]:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        opened = os.fdopen(os.open(self._folder / name, flags), "rb")
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            opened.close()
            raise OddFile(Sentence("it is not a regular file"))
        if status.st_size > MOST_BYTES:
            opened.close()
            raise OddFile(Sentence("it is larger than a gigabyte"))
        return opened


class _ZipTree:
    def __init__(self, zipped: CheckedZip, label: str, prefix: str = "") -> None:
        self._zip = zipped
        self._label = label
        self._prefix = prefix

    def top(self) -> Collection[str]:
        begin = len(self._prefix)
        return {name[begin:].split("/", 1)[0] for name in self._zip.names if name.startswith(self._prefix)}

    def has_file(self, name: str) -> bool:
        return self._prefix + name in self._zip.names

    def has_folder(self, name: str) -> bool:
        return any(file.startswith(f"{self._prefix}{name}/") for file in self._zip.names)

    def below(self, folder: str) -> FileTree:
        return _ZipTree(self._zip, self._label, f"{self._prefix}{folder}/")

    def files(self, findings: Findings, below: str = "") -> Iterator[BroughtFile]:
        return _bounded(self._walk(findings, f"{self._prefix}{below}/" if below else self._prefix), self._label)

    def _walk(self, findings: Findings, within: str) -> Iterator[BroughtFile]:
        for names, why in (
            (self._zip.links, _LINK),
            (self._zip.odd, _IRREGULAR),
        ):
            found = [name.removeprefix(self._prefix) for name in names if name.startswith(within)]
            for name in found[:_MOST_LISTED]:
                findings.skip(name, why)
            if len(found) > _MOST_LISTED:
                findings.skip(Sentence("each of {count} more", count=f"{len(found) - _MOST_LISTED:,}"), why)
        of_logseq: dict[str, bool] = {}
        for whole in sorted(self._zip.names):
            name = whole.removeprefix(self._prefix)
            parts = name.split("/")
            if not whole.startswith(within) or any(part.startswith(".") for part in parts):
                continue
            if any(self._is_passed_over("/".join(parts[:n]), of_logseq, findings) for n in range(1, len(parts))):
                continue
            if len(parts) > _DEEPEST:
                findings.skip(name, _TOO_DEEP)
            else:
                yield BroughtFile(name, self)

    def _is_passed_over(self, folder: str, known: dict[str, bool], findings: Findings) -> bool:
        if folder not in known:
            known[folder] = _is_logseqs(folder, self.has_file)
            if known[folder]:
                findings.skip(f"{folder}/", _OF_LOGSEQ)
        return known[folder]

    def open(self, name: str) -> IO[bytes]:
        opened = self._zip.open(self._prefix + name)
        if self._zip.opened > MOST_BYTES:
            names = {"name": self._label, "limit": f"{MOST_BYTES // 1_000_000:,}"}
            raise ImportRefused(Sentence("{name} unpacks to more than {limit} MB, so it was not read.", **names))
        return opened


@contextmanager
def open_tree(path: Path, kind: ImportKind) -> Iterator[FileTree]:
    """A folder, or the folder in a zip. Raises `ImportRefused`, also for errors while it is read."""
    with readable(path, Sentence("Make it again.")), ExitStack() as stack:
        if path.is_dir():
            tree: FileTree = FolderTree(path)
        elif not path.exists():
            raise ImportRefused(Sentence("There is no folder or file {path}.", path=path))
        elif path.suffix.lower() == ".json" or not path.is_file():
            raise ImportRefused(_no_folder(path))
        elif zipfile.is_zipfile(path):
            zipped = CheckedZip(stack.enter_context(zipfile.ZipFile(path)), path.name)
            tree = _unwrapped(_ZipTree(zipped, path.name))
        elif path.suffix.lower() == ".zip":
            empty = ImportRefused(Sentence("{name} is empty.", name=path.name))
            raise zipfile.BadZipFile if path.stat().st_size else empty
        else:
            raise ImportRefused(_no_folder(path))
        other = looks_like(tree)
        if other in (ImportKind.CLAUDE, ImportKind.CHATGPT) and not any(name.endswith(".md") for name in tree.top()):
            refused = Sentence("{path} is no workspace.", path=path)
            if kind is ImportKind.TEXT:
                refused = Sentence("{path} is no folder of Markdown.", path=path)
            raise ImportRefused(joined([refused, it_looks_like(other, path)], " "))
        yield tree


def _is_logseqs(folder: str, has_file: Callable[[str], bool]) -> bool:
    """True for the folder beside the pages of a graph, and for its old versions where its settings are missing."""
    name = PurePosixPath(folder)
    if name.name == "logseq":
        return has_file(f"{folder}/config.edn")
    return name.parent.name == "logseq" and name.name in ("bak", "version-files")


def _no_folder(path: Path) -> Sentence:
    return Sentence(
        "{name} is not a folder or a zip of one. If it is an export of conversations, "
        "use `daybook import claude` or `daybook import chatgpt`.",
        name=path.name,
    )


def _unwrapped(tree: FileTree) -> FileTree:
    """The folder that was zipped: most programs put it into the zip with its own name."""
    for _ in range(_DEEPEST):
        top = [name for name in tree.top() if name not in (_OF_MACOS, ".DS_Store")]
        if len(top) != 1 or looks_like(tree) is not None or not tree.has_folder(top[0]):
            break
        tree = tree.below(top[0])
    return tree


def looks_like(tree: FileTree) -> ImportKind | None:
    """The kind of a folder by the names in it."""
    for folder in ("", "workspace/"):
        if tree.has_file(f"{folder}memory/MEMORY.md") or tree.has_file(f"{folder}memory/HISTORY.md"):
            return ImportKind.NANOBOT
        if any(tree.has_file(folder + name) for name in ("SOUL.md", "IDENTITY.md", "AGENTS.md", "MEMORY.md")):
            return ImportKind.OPENCLAW
    if tree.has_file("conversations.json"):
        return ImportKind.CHATGPT if tree.has_file("chat.html") else ImportKind.CLAUDE
    if any(name.lower().endswith(".md") or name in (".obsidian", "logseq") for name in tree.top()):
        return ImportKind.TEXT
    return None


def it_looks_like(kind: ImportKind, path: Path) -> Sentence:
    """Says which command imports it."""
    what = {
        ImportKind.CLAUDE: Sentence("an export of Claude"),
        ImportKind.CHATGPT: Sentence("an export of ChatGPT"),
        ImportKind.TEXT: Sentence("a folder of Markdown"),
    }.get(kind, Sentence("a workspace of {kind}", kind=LABELS[kind]))
    return Sentence("It looks like {what}: `daybook import {kind} {path}`.", what=what, kind=kind, path=path)


def _bounded(found: Iterator[BroughtFile], what: object) -> Iterator[BroughtFile]:
    for count, file in enumerate(found, 1):
        if count > _MOST_FILES:
            raise ImportRefused(
                Sentence(
                    "{name} holds more than {limit} files. Nothing was imported.", name=what, limit=f"{_MOST_FILES:,}"
                )
            )
        yield file


def shown(name: str) -> str:
    """A name that can be written, whatever bytes it has."""
    return name.encode("utf-8", "replace").decode()
