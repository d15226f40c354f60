"""Tells sooner than a pattern of many words does that it is not in a text.

Dozens of patterns look for the days that a message names, and each tries hundreds of words at every letter. For most
messages, a few comparisons show that none can match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

_TOKEN = re.compile(
    r"(?P<look>\(\?<?[=!])|(?P<open>\((?:\?:)?)|(?P<close>\))|(?P<or>\|)|(?P<quantity>[*?]|\{[0-9,]+\})|(?P<more>\+)"
    r"|\\(?P<quoted>[^\w\s])|\[(?P<class>[^][^\\-]+)\]|(?P<any>\\.|\[(?:\\.|[^][\\])+\]|[.^$])|(?P<letter>.)",
    re.DOTALL,
)
_UNKNOWN: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Searched:
    """A text in which many patterns are looked for."""

    text: str
    _has: dict[frozenset[str], bool] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    def find(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """As `pattern.finditer(text)`, without a search if the text has nothing that a match needs."""
        needed = needed_by(pattern)
        if needed and needed not in self._has:
            self._has[needed] = any(piece in self.text for piece in needed)
        return pattern.finditer(self.text) if self._has.get(needed, True) else iter(())


@cache
def needed_by(pattern: re.Pattern[str]) -> frozenset[str]:
    """Texts of which each match has at least one; empty if none are known."""
    return _alternatives(_TOKEN.finditer(pattern.pattern))


def _alternatives(tokens: Iterator[re.Match[str]]) -> frozenset[str]:
    """Texts of which each match of a group has at least one. Reads to the group's end."""
    branches: list[frozenset[str]] = []
    parts, run = [_UNKNOWN], ""  # of a branch: the needs of its parts, and letters that are no part yet
    for token in tokens:
        kind = token.lastgroup
        if kind in ("letter", "quoted"):
            run += token[kind]
            continue
        if kind == "quantity":  # what is before it may be missing
            parts[-1], run = (parts[-1], run[:-1]) if run else (_UNKNOWN, "")
        parts += [frozenset({run})] if run else []
        run = ""
        if kind == "open":
            parts.append(_alternatives(tokens))
        elif kind == "look":
            _alternatives(tokens)
            parts.append(_UNKNOWN)
        elif kind == "class":
            parts.append(frozenset(token[kind]))
        elif kind == "any":
            parts.append(_UNKNOWN)
        elif kind in ("or", "close"):
            branches.append(_rarest(parts))
            parts = [_UNKNOWN]
            if kind == "close":
                return _either(branches)
    return _either([*branches, _rarest([*parts, frozenset({run}) if run else _UNKNOWN])])


def _rarest(parts: list[frozenset[str]]) -> frozenset[str]:
    return max(parts, key=lambda part: min(map(len, part), default=0))


def _either(branches: list[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*branches) if all(branches) else _UNKNOWN
