"""The output of a program: both ends of it, as far as people and models read it, without known secrets."""

from __future__ import annotations

import copy

from agent.formats.secrets import NO_SECRETS, KnownSecrets
from agent.memory.files import MAX_BYTES

MOST_SHOWN = 20_000
"""Characters; half of them from the end."""
_TAIL = 4 * MOST_SHOWN
"""Bytes."""


class ProgramOutput:
    """A program's output. `is_over` once it is all there: until then its end may be the beginning of a secret."""

    def __init__(self, secrets: KnownSecrets = NO_SECRETS) -> None:
        self.is_over = False
        self._secrets = secrets
        self._most = MAX_BYTES + 4 * secrets.longest
        self._head = bytearray()
        self._tail = b""
        self._size = 0

    def add(self, data: bytes) -> None:
        self._size += len(data)
        room = self._most - len(self._head)
        self._head += data[:room]
        if len(data) > room:
            self._tail = (self._tail + data[max(room, 0) :])[-_TAIL:]

    def copy(self) -> ProgramOutput:
        """The present state, for another thread."""
        made = copy.copy(self)
        made._head = self._head[:]  # noqa: SLF001 (of the same class)
        return made

    @property
    def whole(self) -> bytes:
        """All bytes, or as many as a file of the workspace may hold."""
        struck = self._secrets.in_bytes(bytes(self._head))
        return struck[: MAX_BYTES - self._secrets.longest] if self._tail else struck[:MAX_BYTES]

    @property
    def is_long(self) -> bool:
        return self._size > MOST_SHOWN and len(self._text()) > MOST_SHOWN

    def shown(self, file: str = "") -> str:
        """At most `MOST_SHOWN` characters, and a note on the rest. `file`: where the whole output is."""
        text = self._text()
        if len(text) <= MOST_SHOWN and not self._tail:
            return text
        end = self._struck((self._head[-_TAIL:] + self._tail)[-_TAIL:])  # a secret may stand on both sides
        head, tail = text[: MOST_SHOWN // 2], end[-MOST_SHOWN // 2 :]
        where = f"; it is in {file}" if file else ""
        cut = f" as far as its first {MAX_BYTES:,} bytes" if file and self._tail else ""
        return f"{head}\n[{self._size:,} bytes in all; the middle is left out here{where}{cut}]\n{tail}"

    def _text(self) -> str:
        return self._struck(self._head[:MAX_BYTES] if not self._tail else self._head)

    def _struck(self, data: bytes | bytearray) -> str:
        text = data.decode("utf-8", "replace")
        return self._secrets(text) if self.is_over else self._secrets.before_cut(text)
