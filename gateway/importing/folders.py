"""Walks a folder that somebody brings, without following links. Blocks."""

from __future__ import annotations

import codecs
import os
import stat
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.importing.conversations import visible
from gateway.importing.exports import it_looks_like, looks_like
from gateway.importing.values import MOST_OF_FILE, Findings, ImportKind, ImportRefused

_MOST_FILES = 50_000
_DEEPEST = 40
_BYTE_ORDERS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class BroughtFile:
    """`name` is relative to the folder, with / between names."""

    name: str
    path: Path
    changed: float
    """Seconds since 1970."""

    @property
    def is_markdown(self) -> bool:
        return self.name.lower().endswith((".md", ".markdown"))


def check_folder(path: Path, kind: ImportKind) -> None:
    """Raises `ImportRefused` for what is no folder."""
    try:
        is_folder, is_there = path.is_dir(), path.exists()
        is_export = is_there and not is_folder and (zipfile.is_zipfile(path) or path.suffix.lower() == ".json")
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {(error.strerror or 'no reason is known').lower()}.") from error
    if is_export:
        raise ImportRefused(
            f"{path.name} is a file, not a folder. If it is an export of conversations, "
            f"use `daybook import claude` or `daybook import chatgpt`; else unpack it first."
        )
    if not is_folder:
        raise ImportRefused(f"{path} is not a folder." if is_there else f"There is no folder {path}.")
    other = looks_like(path)
    if other in (ImportKind.CLAUDE, ImportKind.CHATGPT) and not list(path.glob("*.md")):
        raise ImportRefused(
            f"{path} is no {'folder of Markdown' if kind is ImportKind.TEXT else 'workspace'}. "
            f"{it_looks_like(other, path)}"
        )


def files_below(root: Path, findings: Findings) -> Iterator[BroughtFile]:
    """All regular files, sorted by name; hidden ones are passed over. Raises `ImportRefused`."""
    for count, file in enumerate(_walk(root, "", findings, 0), 1):
        if count > _MOST_FILES:
            raise ImportRefused(f"{root} holds more than {_MOST_FILES:,} files. Nothing was imported.")
        yield file


def _walk(folder: Path, prefix: str, findings: Findings, depth: int) -> Iterator[BroughtFile]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda one: one.name)
    except OSError as error:
        findings.skip(prefix or str(folder), f"cannot be read: {(error.strerror or 'no reason is known').lower()}")
        return
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            findings.skip(_shown(name), "is a link, which is not followed")
        elif entry.is_dir(follow_symlinks=False):
            if depth < _DEEPEST:
                yield from _walk(Path(entry.path), f"{name}/", findings, depth + 1)
            else:
                findings.skip(_shown(name), "lies too deep")
        elif entry.is_file(follow_symlinks=False):
            yield BroughtFile(name, Path(entry.path), entry.stat(follow_symlinks=False).st_mtime)
        else:
            findings.skip(_shown(name), "is not a regular file")


def read_bytes(file: BroughtFile, findings: Findings) -> bytes | None:
    """None, and reported, if it cannot be taken."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(file.path, flags), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                findings.skip(_shown(file.name), "is not a regular file")
                return None
            data = opened.read(MOST_OF_FILE + 1)
    except OSError as error:
        findings.skip(_shown(file.name), f"cannot be read: {(error.strerror or 'no reason is known').lower()}")
        return None
    if len(data) > MOST_OF_FILE:
        findings.skip(_shown(file.name), f"is larger than {MOST_OF_FILE // 1_000_000} MB")
        return None
    return data


def read_text(file: BroughtFile, findings: Findings) -> str | None:
    """UTF-8, UTF-16 or Western European text; None, and reported, if it is none or empty."""
    data = read_bytes(file, findings)
    if data is None:
        return None
    if data.startswith(_BYTE_ORDERS):
        text = data.decode("utf-16", "replace")
    elif b"\0" in data:
        findings.skip(_shown(file.name), "is not text")
        return None
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
            findings.remarks.append(f"{_shown(file.name)} is not UTF-8; it was read as Western European text.")
    return visible(text) if text.strip() else None


def report_others(names: Counter[str], findings: Findings) -> None:
    """Reports what is not text, by the ends of names."""
    for end, count in sorted(names.items()):
        findings.skip(f"{end or 'no ending'} ({count})", "is no Markdown")


def _shown(name: str) -> str:
    return name.encode("utf-8", "replace").decode()
