"""Detects requests to remember something in every language. Pure.

Imperatives that begin a clause count, and requests as questions; questions about the past, reports, negations,
quotations and code do not. In doubt it counts: a superfluous entry costs less than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from agent.languages.registry import LANGUAGES
from agent.languages.table import LanguageTable, RememberPatterns

_FLAGS = re.IGNORECASE


@dataclass(frozen=True)
class _Phrases:
    """One language's patterns; the group `ask` is the request itself."""

    asks: re.Pattern[str]
    requests: re.Pattern[str]
    refuses: re.Pattern[str]


def _any(parts: Iterable[str]) -> str:
    return "|".join(filter(None, parts))


_TABLES = tuple(LANGUAGES.values())
_JOINTS = rf"^|[,;:–—(-]|\s(?:{_any(table.remember.joints for table in _TABLES)})\s"


def _compiled(table: LanguageTable) -> _Phrases:
    given = table.remember
    if not table.spaced:
        return _Phrases(re.compile(given.asks), re.compile(given.requests), re.compile(given.refuses))
    start = rf"(?:{_JOINTS})[\W_]{{0,4}}(?:(?:{given.before})[\s,]{{1,4}}){{0,6}}"
    return _Phrases(
        re.compile(rf"{start}(?P<ask>{given.asks})", _FLAGS),
        re.compile(rf"{start}(?P<ask>{given.requests})", _FLAGS),
        re.compile(given.refuses, _FLAGS),
    )


_PHRASES = tuple(map(_compiled, _TABLES))


_LONGEST = 2_000
"""Characters read from each end, so that a long paste cannot hold up a turn."""

QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>.*?$"
    r"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|»[^«»\n]*«|「[^「」\n]*」|『[^『』\n]*』|《[^《》\n]*》"
    r'|"[^"\n]*"|(?<!\w)‘[^‘’\n]*’(?!\w)|(?<!\w)\'[^\'\n]*\'(?!\w)',
    re.DOTALL | re.MULTILINE,
)
_SENTENCE = re.compile(r"[^.!?。！？…\n]+[.!?。！？…\"”»」)]*|[.!?。！？]+")


def _words(of: Callable[[RememberPatterns], str]) -> str:
    """A pattern for a field of all languages; whole words where a language separates words."""
    spaced = _any(of(table.remember) for table in _TABLES if table.spaced)
    return _any([rf"\b(?:{spaced})\b", *(of(table.remember) for table in _TABLES if not table.spaced)])


_REPORTED = re.compile(rf"(?:{_words(lambda patterns: patterns.reported)})\W*\Z", _FLAGS)
_CONFIRMS = re.compile(rf"[,，、]\s*(?:{_any(table.remember.confirms for table in _TABLES)})\s*[?？]+", _FLAGS)
_INSTEAD = re.compile(_words(lambda patterns: patterns.instead), _FLAGS)
_TAKES_BACK_WITHIN = 60
"""A refusal of at most so many characters cancels earlier requests ("Actually, don't remember that"); a longer one is
about something else."""


@lru_cache(maxsize=64)
def asks_to_remember(text: str) -> bool:
    if len(text) > 2 * _LONGEST:
        text = f"{text[:_LONGEST]}\n{text[-_LONGEST:]}"
    is_asked = False
    for sentence in _SENTENCE.findall(QUOTED.sub(" … ", text)):
        if _is_request(sentence.strip()):
            is_asked = True
        elif len(sentence) <= _TAKES_BACK_WITHIN and any(phrases.refuses.search(sentence) for phrases in _PHRASES):
            is_asked = False
    return is_asked


def _is_request(sentence: str) -> bool:
    is_question = sentence.rstrip('"”»」)').endswith(("?", "？")) or sentence.startswith("¿")
    past = is_question and not _CONFIRMS.search(sentence)
    for language in _PHRASES:
        patterns = (language.requests,) if past else (language.asks, language.requests)
        for pattern in patterns:
            for match in pattern.finditer(sentence):
                if not _is_refused(sentence, match, language):
                    return True
    return False


def _is_refused(sentence: str, match: re.Match[str], language: _Phrases) -> bool:
    """Refused in the same clause, or reported speech."""
    at = next((match.start(name) for name, found in match.groupdict().items() if found is not None), match.start())
    before = _INSTEAD.split(sentence[:at])[-1]
    if _REPORTED.search(before) or language.refuses.search(before) or language.refuses.search(match.group()):
        return True
    clause = re.split(r"[,，、:：;；–—]", sentence[at:], maxsplit=1)[0]
    refusal = language.refuses.search(before[-12:] + clause)
    return refusal is not None and refusal.start() <= len(before[-12:]) + 2
