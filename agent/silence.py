"""NO_REPLY: the answer that says nothing. Recognised here, for whole texts and for streams (invariant 10)."""

from __future__ import annotations

import re
import unicodedata

NO_REPLY = "NO_REPLY"

_TOKENS = rf"(?:\s*(?<!\w){NO_REPLY})"
_BEGUN = "|".join(NO_REPLY[:size] for size in range(len(NO_REPLY) - 1, 0, -1))
_AT_END = re.compile(rf"{_TOKENS}+\s*\Z", re.IGNORECASE)
_UNDECIDED = re.compile(rf"{_TOKENS}*\s*(?:(?<!\w)(?:{_BEGUN}))?\Z", re.IGNORECASE)
"""The end of a stream that may still turn out to be white space and tokens. Matches every text, if only at its end."""

_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Me"})
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are drawn as nothing."""


def spoken(text: str) -> str:
    """What of a finished answer is to be delivered: "" for a bare token (any case, any white space around it, also
    twice), real text without a token at its end."""
    return _AT_END.sub("", text).strip()


def can_be_seen(text: str) -> bool:
    """Whether a reader sees anything of it: not of spaces, of joiners, of marks without a letter. Platforms refuse such
    a text as empty, or show nothing."""
    return any(character not in _BLANKS and unicodedata.category(character) not in _UNSEEN for character in text)


class SilentFilter:
    """Lets a stream through as long as what is held back could still become the token at the end of the text.

    `feed` returns what may be shown now; `finish` what is left at the end of the stream. White space before a possible
    token is held with it, so that nothing is shown for a bare token and no stray line before a trailing one.
    """

    def __init__(self) -> None:
        self._held = ""
        self._last_shown = ""

    def feed(self, piece: str) -> str:
        text = self._last_shown + self._held + piece
        undecided = _UNDECIDED.search(text, len(self._last_shown))
        keep = undecided.start() if undecided else len(text)
        shown, self._held = text[len(self._last_shown) : keep], text[keep:]
        self._last_shown = shown[-1:] or self._last_shown
        return shown

    def finish(self) -> str:
        text, shown = self._last_shown + self._held, len(self._last_shown)
        silent = _AT_END.search(text, shown)
        self._held = ""
        return text[shown : silent.start() if silent else len(text)]
