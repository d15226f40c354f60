"""Server-sent events out of a server's bytes, whatever they are: a byte that is not UTF-8 costs one character, a last
line without an end nothing, and what is no event at all is kept, so that it can be quoted. Pure."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

_MOST_OTHER = 16_000
"""Characters kept of what is no event."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """`name` is empty where the server gives none."""

    name: str
    data: str


class EventReader:
    """Reads one body, chunk by chunk. `other`: lines that belong to no event."""

    def __init__(self) -> None:
        self.other = ""
        self._name = ""
        self._data: list[str] = []
        self._begun: list[bytes] = []
        self._after_cr = False
        self._is_first = True

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Each event as soon as the line that ends it is there."""
        for line in self._lines(chunk):
            if line:
                self._take(line.decode("utf-8", "replace"))
            else:
                yield from self._finished()

    def finish(self) -> Iterator[ServerEvent]:
        """The last event, where no line ends it."""
        if self._begun:
            self._take(b"".join(self._begun).decode("utf-8", "replace"))
        yield from self._finished()

    def _lines(self, chunk: bytes) -> Iterator[bytes]:
        """Lines without their ends, which may be LF, CR LF or CR, each as soon as it is whole."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk, self._after_cr = chunk[1:], False
        if not chunk:
            return
        self._after_cr = chunk.endswith(b"\r")
        *ended, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for part in ended:
            line = b"".join((*self._begun, part))
            self._begun.clear()
            yield line.removeprefix(codecs.BOM_UTF8) if self._is_first else line
            self._is_first = False
        if rest:
            self._begun.append(rest)

    def _take(self, line: str) -> None:
        field, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field not in ("", "id", "retry") or not colon:
            self.other = f"{self.other}{line}\n"[:_MOST_OTHER]

    def _finished(self) -> Iterator[ServerEvent]:
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "", []
        if data:
            yield ServerEvent(name, data)
