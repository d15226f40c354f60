"""Server-sent events out of a server's bytes, whatever they are: a byte that is not UTF-8 costs one character, a last
line without an end nothing, and what is no event at all is kept, so that it can be quoted. Pure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

_MOST_OTHER = 16_000
"""Characters kept of what is no event."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """`name` is empty where the server gives none."""

    name: str
    data: str


class EventReader:
    """Reads one body. `other`: lines that belong to no event."""

    def __init__(self) -> None:
        self.other = ""
        self._name = ""
        self._data: list[str] = []

    async def read(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent]:
        """Each event as soon as the line that ends it is there; the last one also where no line ends it."""
        async for line in _lines(chunks):
            if line:
                self._take(line.decode("utf-8", "replace"))
            elif (event := self._finished()) is not None:
                yield event
        if (event := self._finished()) is not None:
            yield event

    def _take(self, line: str) -> None:
        field, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        elif field not in ("", "id", "retry") or not colon:
            self.other = f"{self.other}{line}\n"[:_MOST_OTHER]

    def _finished(self) -> ServerEvent | None:
        name, data = self._name, "\n".join(self._data)
        self._name, self._data = "", []
        return ServerEvent(name, data) if data else None


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines without their ends, which may be LF, CR LF or CR, each as soon as it is whole."""
    begun: list[bytes] = []
    after_cr, is_first = False, True
    async for chunk in chunks:
        if after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if not chunk:
            continue
        after_cr = chunk.endswith(b"\r")
        *ended, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for part in ended:
            line = b"".join((*begun, part))
            begun.clear()
            yield line.removeprefix(b"\xef\xbb\xbf") if is_first else line
            is_first = False
        if rest:
            begun.append(rest)
    if begun:
        yield b"".join(begun)
