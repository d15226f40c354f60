"""A time anywhere in a text, and the rest of the text. Pure.

No time is returned that was not said: either the rest of the text has no word of time, or the text is not understood.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache

from agent.languages import time_words
from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.time_words import TimeWords
from agent.languages.typos import mended
from gateway.recurrence import InvalidWhen
from gateway.scheduling.words.hour_of_day import Unclear
from gateway.scheduling.words.meaning import HourMissing, Timed, meant
from gateway.scheduling.words.reader import TimeMention, TimeReader
from gateway.scheduling.words.said import PartOfDay, Said
from gateway.scheduling.words.tokens import clean, folded, phrase_key, tokens

_HOURS = frozenset((PartOfDay.NOON, PartOfDay.MIDNIGHT))
_LONGEST = 250
"""Characters. In a longer text the time stands first, and not every word of time in it is meant."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A time, and the rest of the text. `time` None: a time is said, but not clear; `HourMissing`: a day without an
    hour. `language`: in which it was said."""

    time: Timed | HourMissing | None
    rest: str
    language: Language
    has_day: bool = False
    """It says more than an hour."""
    either: int | None = None
    """The minutes of the day of an hour that may also be twelve hours later: of `at 6`, 360."""


def read(text: str, now: datetime, languages: Collection[Language] = ()) -> Phrase | None:
    """The time that `text` says, on the wall clock of `now`; None where it says no time. `languages`: the likeliest
    first. Raises `InvalidWhen` for a time that does not exist."""
    text = clean(text).strip()
    if len(text) > _LONGEST:
        head = text[:_LONGEST]
        phrase = read(head, now, languages)
        before, is_there, after = head.rpartition(phrase.rest) if phrase is not None and phrase.rest else ("", "", "")
        is_first = is_there and not after.strip(" ,;.")
        return replace(phrase, rest=text[len(before) :]) if phrase is not None and is_first else None
    if languages:
        text = mended(text, next(iter(languages)))
    found: list[tuple[Language, Phrase | _Impossible]] = []
    for language in dict.fromkeys((*languages, *ALL_LANGUAGES)):
        try:
            phrase = _read(text, now, _words(language))
        except _Impossible as error:
            found.append((language, error))
            continue
        if phrase is not None:
            found.append((language, phrase))
    if not found:
        return None
    language, best = min(found, key=lambda reading: len(reading[1].rest))
    if isinstance(best, _Impossible):
        raise best
    likeliest = dict(found).get(next(iter(languages), language))
    is_other = isinstance(likeliest, Phrase) and likeliest.time != best.time and isinstance(likeliest.time, Timed)
    return replace(best, time=None) if is_other or _says_more(best.rest, language) else best


def says_time(text: str) -> bool:
    """Whether the text has a time or a length of time, in any language."""
    text = clean(text).strip()
    return any(_runs(text, language) or length_in(text, language) for language in ALL_LANGUAGES)


def length_in(text: str, language: Language) -> tuple[timedelta, str] | None:
    """The only length of time that `text` names, and the rest of it; months count as 30 days."""
    text = clean(text).strip()
    found = tokens(text, _words(language))
    lengths = list(TimeReader(found, _words(language)).lengths())
    if len(lengths) != 1:
        return None
    span, start, end = lengths[0]
    rest = f"{text[: found[start].start]} {text[found[end - 1].end :]}".strip()
    return timedelta(days=span.days + 30 * span.months, minutes=span.minutes), rest


def said_in(text: str, language: Language) -> str:
    """The words of `text` that say a time or a length of time."""
    text = clean(text).strip()
    found = tokens(text, _words(language))
    reader = TimeReader(found, _words(language))
    spans = [*((run.start, run.end) for run in reader.runs()), *((start, end) for _, start, end in reader.lengths())]
    said: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if said and start < said[-1][1]:
            said[-1] = said[-1][0], max(end, said[-1][1])
        else:
            said.append((start, end))
    return " ".join(text[found[start].start : found[end - 1].end] for start, end in said)


def behind_time(text: str, language: Language) -> str:
    """The text behind the time with which `text` begins; empty where it begins with no time."""
    text = clean(text).strip()
    first = next((run for run in _runs(text, language) if run.start <= 1), None)
    return text[tokens(text, _words(language))[first.end - 1].end :] if first is not None else ""


class _Impossible(InvalidWhen):
    def __init__(self, sentence: str, rest: str) -> None:
        super().__init__(sentence)
        self.rest = rest


@cache
def _words(language: Language) -> TimeWords:
    return time_words.read(language, phrase_key)


def _read(text: str, now: datetime, words: TimeWords) -> Phrase | None:
    found = tokens(text, words)
    runs = list(TimeReader(found, words).runs())
    if not runs:
        return None
    said = sum((run.said for run in runs), Said(is_unclear=_contradict(runs, len(found))))
    rest = _rest(text, [(found[run.start].start, found[run.end - 1].end) for run in runs], words)
    either = _either(said)
    try:
        return Phrase(meant(said, now, words), rest, words.language, bool(said.days or said.span), either)
    except HourMissing as missing:
        return Phrase(missing, rest, words.language)
    except Unclear:
        return Phrase(None, rest, words.language, either=either)
    except InvalidWhen as error:
        raise _Impossible(str(error), rest) from error


def _either(said: Said) -> int | None:
    if len(said.clocks) != 1 or said.parts or not 0 < said.clocks[0].hour <= 12 or said.clocks[0].is_exact:
        return None
    (clock,) = said.clocks
    return clock.hour * 60 + clock.minute + clock.shift


def _contradict(runs: Sequence[TimeMention], length: int) -> bool:
    """True for hours in two places, or for a word of how often in the midst of a text of `length` words."""
    hours = [run for run in runs if run.said.clocks or not _HOURS.isdisjoint(run.said.parts)]
    return len(hours) > 1 or any(run.start and run.end < length and _says_only_how_often(run) for run in runs)


def _says_only_how_often(run: TimeMention) -> bool:
    """`the weekly report`: of the report, or of the reminder?"""
    return run.said == Said(repeat=run.said.repeat)


def _says_more(rest: str, language: Language) -> bool:
    """Whether another language has a word of time in the rest: no part of a mixed sentence is lost."""
    return bool(rest) and any(
        run.said.days or run.said.repeat or run.said.clocks
        for other in ALL_LANGUAGES
        if other is not language
        for run in _runs(rest, other)
    )


def _runs(text: str, language: Language) -> Sequence[TimeMention]:
    return list(TimeReader(tokens(text, _words(language)), _words(language)).runs())


def _rest(text: str, spans: Sequence[tuple[int, int]], words: TimeWords) -> str:
    pieces, at = [], 0
    joints = (*words.joints_before, *words.joints_first)  # of what is to be done, not in the midst of it
    for start, end in spans:
        pieces.append(_trimmed(text[at:start], words.joints_after, at_end=True))
        at = end
    pieces.append(text[at:])
    glue = "" if words.has_han_numbers else " "
    rest = glue.join(piece.strip() for piece in pieces if piece.strip())
    return _trimmed(_trimmed(rest, joints, at_end=False), words.joints_last, at_end=True)


def _trimmed(text: str, joints: Sequence[str], *, at_end: bool) -> str:
    """The text without the words that only join a time and what is to be done."""
    marks = " \t\n,;:–—-，、：。"
    text = text.strip().rstrip(marks) if at_end else text.lstrip(" .").lstrip(marks)
    same = folded(text)
    for joint in joints:
        joint = folded(joint)
        is_word = joint[-1:].isalpha() and joint.isascii()
        if at_end and same.endswith(joint) and (not is_word or not same[: -len(joint)][-1:].isalnum()):
            return text[: -len(joint)].rstrip(marks)
        if not at_end and same.startswith(joint) and (not is_word or not same[len(joint) :][:1].isalnum()):
            return text[len(joint) :].lstrip(marks)
    return text
