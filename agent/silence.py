"""Recognises NO_REPLY, which is not delivered, in texts and streams (invariant 10)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

NO_REPLY = "NO_REPLY"

_TOKEN = re.compile(r"NO\\?_REPLY", re.IGNORECASE)
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Me"})
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that Unicode calls letters or symbols and that are drawn as nothing."""

_BULLETS = "*>-–—•#+"
_STOPS = frozenset(".!…,:;。．！、，：；-–—•#+")
_AROUND = {
    mark: kind
    for kind, marks in enumerate(("*", "_", "~", "`", '"“”„‟«»「」『』＂', "'‘’‚‹›", "()（）", "[]【】", "<>", "{}"))
    for mark in marks
}
"""Marks of emphasis, quotes and brackets, with their kind: marks of a kind open and close each other."""


def deliverable_text(text: str) -> str:
    """The text to deliver: "" for a bare token (any case, repeated, in marks or quotes, with a full stop), else without
    a token at its beginning or end."""
    if "REPLY" not in text.upper():
        return text.strip()
    stream = SilentFilter()
    return (stream.feed(text) + stream.finish()).strip()


def is_visible(text: str) -> bool:
    """True if any character is drawn: platforms refuse other texts."""
    return any(character not in _BLANKS and unicodedata.category(character) not in _UNSEEN for character in text)


class SilentFilter:
    """Holds a stream's text back while it could still become the token, or marks around it, at either end."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._token_at = 0
        """Where in `_held` the token begins; `_matched` letters of it came."""
        self._matched = 0
        self._has_token = False
        """A whole token is in `_held`."""
        self._at_start = True
        self._in_word = False

    def feed(self, piece: str) -> str:
        shown: list[str] = []
        for character in piece:
            self._take(character, shown)
            self._in_word = character.isalnum() or (character == "_" and self._in_word)
        return "".join(shown)

    def finish(self) -> str:
        shown: list[str] = []
        if 0 < self._matched < len(NO_REPLY):
            self._decide(shown)
        elif self._has_token or self._matched:
            shown += [] if self._at_start else [_behind("".join(self._held))]
        else:
            shown += self._held
        self._held, self._matched, self._has_token = [], 0, False
        return "".join(shown)

    def _take(self, character: str, shown: list[str]) -> None:
        if self._matched and self._goes_on(character):
            self._held.append(character)
            return
        if self._matched == len(NO_REPLY) and not character.isalnum():
            self._has_token, self._matched = True, 0
        elif self._matched:  # a word that only began like it
            self._decide(shown)
        if character in "Nn" and not self._in_word:
            self._token_at, self._matched = len(self._held), 1
            self._held.append(character)
        elif _is_blank(character) or ((self._held or self._at_start) and (character in _AROUND or character in _STOPS)):
            self._held.append(character)
        else:
            self._token_at = len(self._held)
            self._decide(shown)
            shown.append(character)

    def _goes_on(self, character: str) -> bool:
        """True if the token goes on; an underscore behind a whole token may still make it another word."""
        if self._matched == len(NO_REPLY):
            return character == "_"
        escapes = character == "\\" and self._matched == 2 and self._held[-1] != "\\"
        if not escapes and character.upper() != NO_REPLY[self._matched]:
            return False
        self._matched += not escapes
        return True

    def _decide(self, shown: list[str]) -> None:
        """Real text begins at `_token_at`: held text before it belongs to it, or stood around a token."""
        before = "".join(self._held[: self._token_at])
        shown.append(_before_text(before) if self._at_start and self._has_token else before)
        shown += self._held[self._token_at :]
        self._held, self._matched, self._has_token, self._at_start = [], 0, False, False


def _is_blank(character: str) -> bool:
    return character.isspace() or not (character.isalnum() or is_visible(character))


def _ended(text: str) -> str:
    """The text without blanks at its end."""
    end = len(text)
    while end and _is_blank(text[end - 1]):
        end -= 1
    return text[:end]


def _before_text(held: str) -> str:
    """The part of a beginning with tokens that belongs to the text behind it: marks that are not closed."""
    before, between, behind = _around_tokens(held)
    glued = _last_marks(before)
    is_open = _kinds(before + between)
    rest = _unclosed(behind, is_open)
    opening = ""
    for mark in reversed(glued):
        if is_open[_AROUND[mark]] > 0:
            is_open[_AROUND[mark]] -= 1
            opening = mark + opening
    return opening + _ended(rest[::-1])[::-1]


def _behind(held: str) -> str:
    """The part of an end with tokens that belongs to the text before it: marks that were not opened."""
    before, between, behind = _around_tokens(held)
    glued = _last_marks(before)
    rest = _unclosed(behind, _kinds(glued + between))
    kept = before.removesuffix(glued)
    own = _ended(kept)
    marks = _last_marks(own)
    if (
        marks
        and (is_open := _kinds(marks))
        and not (after := _unclosed(rest, is_open)).strip()
        and not any(is_open.values())
    ):
        own, rest = own.removesuffix(marks), after  # `** NO_REPLY **`, or a fence around it
    elif "\n" not in kept[len(own) :]:
        own = own.rstrip(_BULLETS)
    return _ended(own) + (_ended(rest) if any(mark in _AROUND for mark in rest) else "")


def _around_tokens(held: str) -> tuple[str, str, str]:
    """The text before the first token, between tokens, and behind the last."""
    tokens = list(_TOKEN.finditer(held))
    first, last = tokens[0], tokens[-1]
    return held[: first.start()], _TOKEN.sub("", held[first.start() : last.end()]), held[last.end() :]


def _last_marks(text: str) -> str:
    return text[len(text.rstrip("".join(_AROUND))) :]


def _kinds(text: str) -> Counter[int]:
    return Counter(_AROUND[mark] for mark in text if mark in _AROUND)


def _unclosed(behind: str, is_open: Counter[int]) -> str:
    """The rest of a text behind marks that close open ones, and stops right behind the token."""
    end = at = 0
    while at < len(behind):
        mark = behind[at]
        if mark in _AROUND and is_open[_AROUND[mark]] > 0:
            is_open[_AROUND[mark]] -= 1
        elif not (_is_blank(mark) or (mark in _STOPS and end == at)):
            break
        at += 1
        end = end if _is_blank(mark) else at
    return behind[end:]
