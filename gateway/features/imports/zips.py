"""Zips that somebody brings: nothing is unpacked, and what is read of them is checked and bounded. Blocks."""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from agent.languages.sentences import Sentence, joined
from agent.languages.system_errors import system_says
from gateway.features.imports.values import MOST_BYTES, ImportRefused

_MOST_NAMES = 200_000
_BOMB = 200
"""Times that a file may be larger than packed; text is about ten times."""
_SMALL = 10_000_000
_DRIVE = re.compile(r"[A-Za-z]:")
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Others take memory as the zip wishes."""


class OddFile(OSError):
    """A file that is not read for its kind or size. Its text says why, as a clause."""


class CheckedZip:
    """The regular files of a zip, by their names with / between folders. Raises `ImportRefused` for one that lies."""

    def __init__(self, archive: zipfile.ZipFile, label: str) -> None:
        self._archive = archive
        self._label = label
        infos = archive.infolist()
        if len(infos) > _MOST_NAMES:
            limit = f"{_MOST_NAMES:,}"
            raise ImportRefused(
                Sentence("{name} holds more than {limit} files, so it was not read.", name=label, limit=limit)
            )
        self.opened = 0
        """Bytes of all files that were opened, unpacked."""
        self._opened: set[str] = set()
        self._infos: dict[str, zipfile.ZipInfo] = {}
        self.links: list[str] = []
        self.odd: list[str] = []
        """Pipes, devices and the like."""
        for info in infos:
            self._add(info)

    @property
    def names(self) -> Collection[str]:
        return self._infos.keys()

    def _add(self, info: zipfile.ZipInfo) -> None:
        raw = info.filename.replace("\\", "/")
        path = PurePosixPath(raw)
        if ".." in path.parts or raw.startswith("/") or _DRIVE.match(raw):
            raise ImportRefused(
                Sentence("{name} holds a name that leads out of it, so it was not read.", name=self._label)
            )
        name, kind = path.as_posix(), stat.S_IFMT(info.external_attr >> 16)
        if raw.endswith("/") or stat.S_ISDIR(kind):
            return
        if stat.S_ISLNK(kind):
            self.links.append(name)
        elif kind and not stat.S_ISREG(kind):
            self.odd.append(name)
        elif name in self._infos:
            raise ImportRefused(
                Sentence("{zip} holds two files named {name}, so it was not read.", zip=self._label, name=name)
            )
        else:
            self._infos[name] = info

    def open(self, name: str) -> IO[bytes]:
        """Raises `ImportRefused`, and while it is read what `readable` translates."""
        info = self._infos[name]
        base = PurePosixPath(name).name
        if info.flag_bits & 1:
            raise ImportRefused(
                Sentence("{name} is protected by a password. Unpack it first, and import the folder.", name=self._label)
            )
        if info.compress_type not in _PACKINGS:
            raise ImportRefused(
                Sentence(
                    "{name} in {zip} is packed in a way that is not read. Zip it as usual.", name=base, zip=self._label
                )
            )
        if info.file_size > MOST_BYTES:
            raise ImportRefused(too_large(base, info.file_size))
        if info.file_size > _SMALL and info.file_size > _BOMB * max(1, info.compress_size):
            raise ImportRefused(
                Sentence(
                    "{name} in {zip} unpacks to far more than any text would, so it was not read.",
                    name=base,
                    zip=self._label,
                )
            )
        if name not in self._opened:
            self._opened.add(name)
            self.opened += info.file_size  # more of it is never read, whatever it holds
        return self._archive.open(info)


@contextmanager
def readable(path: Path, cure: str) -> Iterator[None]:
    """Translates what goes wrong while a file that was brought is read. Raises `ImportRefused`."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        damaged = Sentence("{name} is damaged, or was not copied completely.", name=path.name)
        raise ImportRefused(joined([damaged, cure], " ")) from error
    except OSError as error:
        raise ImportRefused(Sentence("{path} cannot be read: {why}.", path=path, why=_reason(error))) from error


def unreadable(error: OSError) -> Sentence:
    """Ends a sentence that begins with the file's name."""
    return Sentence("cannot be read: {why}", why=_reason(error))


def _reason(error: OSError) -> str:
    return str(error) if isinstance(error, OddFile) else system_says(error)


def too_large(name: str, size: int) -> Sentence:
    return Sentence(
        "{name} has {size} MB, more than the {limit} MB that are read at most.",
        name=name,
        size=f"{size / 1_000_000:,.0f}",
        limit=f"{MOST_BYTES // 1_000_000:,}",
    )
