"""NO_REPLY: the answer that says nothing. Recognised here, for whole texts and for streams (invariant 10)."""

from __future__ import annotations

import re

NO_REPLY = "NO_REPLY"
_AT_END = re.compile(r"\s*\bNO_REPLY\s*\Z", re.IGNORECASE)


def spoken(text: str) -> str:
    """What of a finished answer is to be delivered: "" for a bare token (any case, any white space around it),
    real text without a token at its end."""
    return _AT_END.sub("", text).strip() if _AT_END.search(text) else text.strip()


class SilentFilter:
    """Lets a stream through as long as what is held back could still become the token at the end of the text.

    `feed` returns what may be shown now; `finish` what is left at the end of the stream. White space before a possible
    token is held with it, so that nothing is shown for a bare token and no stray line before a trailing one.
    """

    def __init__(self) -> None:
        self._held = ""
        self._last_shown = ""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        keep = self._undecided(text)
        self._held = text[keep:]
        return self._show(text[:keep])

    def finish(self) -> str:
        held, self._held = self._held, ""
        stripped = held.strip()
        if stripped.upper() == NO_REPLY and self._at_word_start(held):
            return ""
        return self._show(held)

    def _show(self, text: str) -> str:
        if text:
            self._last_shown = text[-1]
        return text

    def _at_word_start(self, held: str) -> bool:
        return held[:1].isspace() or not (self._last_shown.isalnum() or self._last_shown == "_")

    def _undecided(self, text: str) -> int:
        """Index from which on `text` may still turn into white space, the token, white space."""
        body = text.rstrip()
        for size in range(min(len(NO_REPLY), len(body)), 0, -1):
            tail = body[-size:].upper()
            complete = size == len(NO_REPLY)
            if NO_REPLY.startswith(tail) and (complete or len(body) == len(text)):
                start = len(body) - size
                before = text[start - 1] if start else self._last_shown
                if not (before.isalnum() or before == "_"):
                    return len(text[:start].rstrip())
        return len(body)
