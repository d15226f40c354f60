"""Days that a question names: "on 3 May", "im März", "上周", "two days after Christmas".

A span is a first and a last day; `date.min` means no beginning. Ambiguous days are the latest past ones: memories are
about the past.
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from agent.languages.date_readers import KINDS, SPOKEN, DatedText, relative_years, written
from agent.languages.date_relations import Mention, reach, related
from agent.languages.date_words import ANYWHERE, Region
from agent.languages.feasts import Span as Span  # re-exported
from agent.languages.terms import fold_for_index

_HEADING = 200
_OLDEST = 1_900
_READ_CHARS = 2_000


def days_named(query: str, today: date, region: Region = ANYWHERE) -> tuple[Span, ...]:
    """The days that a question names, of the most exact kind only: a month beside a day belongs to it."""
    text = _plain(query)
    found = list(related(text, _mentions(text, today, region), today))
    best = min((mention.rank for mention in found), default=0)
    return tuple(dict.fromkeys((mention.first, mention.last) for mention in found if mention.rank == best))


def without_days(query: str) -> str:
    """The question, folded and without words that only name its days."""
    text = _plain(query)
    parts: list[str] = []
    at = 0
    for mention in (mention for mention in _mentions(text, _LEAP_YEAR, ANYWHERE) if not mention.is_spoken):
        start, end = reach(text, mention)
        parts.append(text[at:start])
        at = max(at, end)
    return " ".join([*parts, text[at:]])


def written_day(text: str) -> date | None:
    """The first day that is written out with its year, or None."""
    found = written(DatedText(_plain(text[:_HEADING]), date.min))
    return next((first for _, first, _ in found if first.year >= _OLDEST), None)


_LEAP_YEAR = date(2024, 12, 31)


def _plain(text: str) -> str:
    return " ".join(fold_for_index(text[:_READ_CHARS]).replace("'", " ").replace("’", " ").split())


@lru_cache(maxsize=16)
def _mentions(text: str, today: date, region: Region) -> tuple[Mention, ...]:
    """Cached, because recall, search and ranking all ask for the days of a message."""
    years = {first.year for _, first, _ in relative_years(DatedText(text, today))}
    read = DatedText(text, today, region, years.pop() if len(years) == 1 else None)
    taken = bytearray(len(text))
    found: list[Mention] = []
    for rank, kind in KINDS:
        fresh = list(kind(read))
        found += [
            Mention(start, head, end, first, last, rank, kind in SPOKEN)
            for (start, head, end), first, last in fresh
            if first <= last and not any(taken[start:end])
        ]
        for (start, _, end), _, _ in fresh:
            taken[start:end] = b"1" * (end - start)
    return tuple(sorted(found, key=lambda mention: (mention.start, mention.first)))
