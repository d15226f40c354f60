"""Recognises NO_REPLY, which is not delivered, in texts and streams (invariant 10)."""

from __future__ import annotations

import unicodedata

NO_REPLY = "NO_REPLY"

_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Me"})
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that Unicode calls letters or symbols and that are drawn as nothing."""


def deliverable_text(text: str) -> str:
    """The text to deliver: "" for a bare token (any case, repeated), else without a token at its end."""
    return text[: _trailing_token_start(text, 0, len(text))].strip()


def is_visible(text: str) -> bool:
    """True if something of it is drawn: platforms refuse other texts."""
    return any(character not in _BLANKS and unicodedata.category(character) not in _UNSEEN for character in text)


class SilentFilter:
    """Holds a stream's text back while it could still become the token at the end."""

    def __init__(self) -> None:
        self._held: list[str] = []  # white space and whole tokens
        self._partial = ""
        self._before = ""  # the character before it
        self._last_shown = ""

    def feed(self, piece: str) -> str:
        text = self._before + self._partial + piece
        first = len(self._before)
        partial_start = _partial_token_start(text, first)
        undecided = _trailing_quiet_start(text, first, partial_start)
        shown = ""
        if undecided > first:
            shown = "".join([*self._held, text[first:undecided]])
            self._held = []
            self._last_shown = shown[-1]
        self._held.append(text[undecided:partial_start])
        self._partial = text[partial_start:]
        self._before = text[:partial_start][-1:]
        return shown

    def finish(self) -> str:
        text, shown = "".join([self._last_shown, *self._held, self._partial]), len(self._last_shown)
        self._held, self._partial = [], ""
        return text[shown : _trailing_token_start(text, shown, len(text))]


def _trailing_token_start(text: str, first: int, end: int) -> int:
    """`end` if there is no token."""
    begin = _trailing_quiet_start(text, first, end)
    return begin if text[begin:end].strip() else end


def _trailing_quiet_start(text: str, first: int, end: int) -> int:
    while True:
        while end > first and text[end - 1].isspace():
            end -= 1
        begin = end - len(NO_REPLY)
        if begin < first or text[begin:end].upper() != NO_REPLY or _is_inside_word(text, begin):
            return end
        end = begin


def _partial_token_start(text: str, first: int) -> int:
    """The text's length if there is none."""
    for size in range(min(len(NO_REPLY) - 1, len(text) - first), 0, -1):
        begin = len(text) - size
        if text[begin:].upper() == NO_REPLY[:size] and not _is_inside_word(text, begin):
            return begin
    return len(text)


def _is_inside_word(text: str, at: int) -> bool:
    return at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
