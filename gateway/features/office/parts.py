"""The parts of an Office document, a ZIP archive of XML.

Parts are parsed as streams, so memory does not grow with them; unpacked bytes are limited; a part that declares
entities, which make small files huge, is refused.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from xml.parsers import expat

from agent.media.sniff import Unreadable

MOST_UNPACKED = 256 * 1024 * 1024
"""Bytes of all parts of one document together."""
_CHUNK = 64 * 1024
_ROWS = frozenset({"row", "table-row"})
_VALUES = frozenset({"v", "is", "p"})

Attributes = Mapping[str, str]


class Handler(Protocol):
    """Gets names without a prefix."""

    def start(self, tag: str, given: Attributes) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...


@dataclass
class Parts:
    archive: zipfile.ZipFile
    names: frozenset[str] = field(init=False)
    _left: int = MOST_UNPACKED

    def __post_init__(self) -> None:
        self.names = frozenset(self.archive.namelist())

    def parse(self, name: str, handler: Handler) -> Iterator[None]:
        """Feeds a part to the handler; yields after each piece, whose text can then be taken."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda tag, given: handler.start(local(tag), given)
        parser.EndElementHandler = lambda tag: handler.end(local(tag))
        parser.CharacterDataHandler = handler.data
        parser.StartDoctypeDeclHandler = _refuse_entities
        for chunk in self.read(name):
            parser.Parse(chunk)
            yield
        parser.Parse(b"", True)
        yield

    def parse_whole(self, name: str, handler: Handler) -> None:
        if name in self.names:
            for _ in self.parse(name, handler):
                pass

    def read(self, name: str) -> Iterator[bytes]:
        with self.archive.open(name) as part:
            while chunk := part.read(_CHUNK):
                self._left -= len(chunk)
                if self._left < 0:
                    raise Unreadable(f"unpacked it is larger than {MOST_UNPACKED // 1024 // 1024} MB")
                yield chunk

    def read_rows(self, name: str, most_rows: int, most_cells: int) -> tuple[bytes, bool]:
        """A part of a workbook, cut after so many rows or cells with a value; and whether it was cut."""
        data = io.BytesIO()
        open_tags: list[str] = []
        rows, cells, cut = 0, 0, -1

        def start(tag: str, given: Attributes) -> None:
            nonlocal rows, cells, cut
            if cut >= 0:
                return
            element = local(tag)
            cells += element in _VALUES
            if element in _ROWS:
                rows = max(rows + 1, number(given.get("r")))
                if rows > most_rows or cells > most_cells:
                    cut = parser.CurrentByteIndex
                    return
            open_tags.append(tag)

        def end(_: str) -> None:
            if cut < 0:
                open_tags.pop()

        parser = expat.ParserCreate()
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.StartDoctypeDeclHandler = _refuse_entities
        for chunk in self.read(name):
            data.write(chunk)
            parser.Parse(chunk)
            if cut >= 0:
                closing = "".join(f"</{tag}>" for tag in reversed(open_tags))
                return data.getvalue()[:cut] + closing.encode(), True
        parser.Parse(b"", True)
        return data.getvalue(), False

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Kind and path of the related parts, by reference."""
        folder, file = posixpath.split(name)
        found = _Relations(folder)
        self.parse_whole(f"{folder}/_rels/{file}.rels", found)
        return found.parts


@dataclass
class _Relations:
    folder: str
    parts: dict[str, tuple[str, str]] = field(default_factory=dict)

    def start(self, tag: str, given: Attributes) -> None:
        if tag == "Relationship":
            path = posixpath.normpath(posixpath.join("/", self.folder, given.get("Target", ""))).lstrip("/")
            self.parts[given.get("Id", "")] = given.get("Type", "").rpartition("/")[2], path

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass


def local(name: str) -> str:
    """The name without its prefix."""
    return name.rpartition(":")[2]


def value(given: Attributes, name: str) -> str:
    """An attribute, by its name without a prefix."""
    return next((found for key, found in given.items() if local(key) == name), "")


def number(text: str | None, default: int = 0) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else default


def _refuse_entities(*_: object) -> None:
    raise Unreadable("it declares entities of its own, as no Office program does; I don't open such files")
