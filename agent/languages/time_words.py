"""The words of time of each language, from the files beside this."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.languages.codes import Language
from agent.languages.files import read_file

NextWeekday = Literal["ask", "nearest", "week"]
"""Which day "next Friday" is, where this week's is still ahead: unclear, that one, or the one of next week."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Numbers(_Model):
    words: str = ""
    """From zero on."""
    more: Mapping[str, str] = Field(default_factory=dict)
    ordinals: str = ""
    """From first on."""
    ordinal_ends: str = ""


class _Times(_Model):
    next_weekday: NextWeekday
    slashed: Literal["ask", "day", "month"]
    afternoon_digits: bool = False
    bare_hour: Literal["ask", "morning"] = "morning"
    is_unspaced: bool = False
    numbered_weekdays: bool = False
    words: Mapping[str, str]
    clock: Mapping[str, str] = Field(default_factory=dict)
    numbers: _Numbers
    zones: Mapping[str, str]
    joints_before: str = ""
    joints_after: str = ""
    joints_first: str = ""
    joints_last: str = ""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meanings of a phrase. `weak`: only beside another word of time. `sequence`: all of these, in this order."""

    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()
    sequence: tuple[str, ...] = ()
    number: float | None = None


@dataclass(frozen=True, slots=True)
class TimeWords:
    language: Language
    phrases: Mapping[tuple[str, ...], Meaning]
    longest: Mapping[str, int]
    """By word, the number of words in the longest phrase that begins with it."""
    clock: Mapping[tuple[str, ...], str]
    """Minutes to add to the hour N, by a form of signs, numbers N and M, and words of time. The longest form first."""
    next_weekday: NextWeekday
    slashed: Literal["ask", "day", "month"]
    afternoon_digits: bool
    bare_hour: Literal["ask", "morning"]
    """At which half of the day "at 8" is, with nothing beside it."""
    has_han_numbers: bool
    numbered_weekdays: bool
    """A number after a weekday and "and" is a weekday."""
    joints_before: tuple[str, ...]
    """Between a time and what comes after it, as they are written."""
    joints_after: tuple[str, ...]
    joints_first: tuple[str, ...]
    """Before what is to be done."""
    joints_last: tuple[str, ...]


def read(language: Language, key: Callable[[str], tuple[str, ...]]) -> TimeWords:
    """The words of time of a language. `key`: how a phrase is looked up."""
    time = _Times.model_validate(read_file(language)["time"])
    gathered: dict[tuple[str, ...], Meaning] = defaultdict(Meaning)
    for name, phrases in time.words.items():
        for phrase in _listed(phrases):
            gathered[key(phrase)] = _with(gathered[key(phrase)], name)
    for value, phrases in _numbers(time.numbers):
        for phrase in _listed(phrases):
            gathered[key(phrase)] = replace(gathered[key(phrase)], number=value)
    for number, phrase in enumerate(time.numbers.ordinals.split(), 1):
        for form in phrase.split("|"):
            known = gathered[key(form)]
            gathered[key(form)] = replace(known, strong=known.strong | {"ordinal"}, number=float(number))
    for end in _listed(time.numbers.ordinal_ends):
        gathered[key(end)] = _with(gathered[key(end)], "ordinal_end")
    for zone, phrases in time.zones.items():
        for phrase in _listed(phrases):
            known = gathered[key(phrase)]
            gathered[key(phrase)] = replace(known, weak=known.weak | {f"zone:{zone}"})
    forms = {tuple(form.split()): minutes for form, minutes in time.clock.items()}
    longest: dict[str, int] = {}
    for words in gathered:
        longest[words[0]] = max(len(words), longest.get(words[0], 0))
    return TimeWords(
        language,
        dict(gathered),
        longest,
        dict(sorted(forms.items(), key=lambda form: -len(form[0]))),
        time.next_weekday,
        time.slashed,
        time.afternoon_digits,
        time.bare_hour,
        time.is_unspaced,
        time.numbered_weekdays,
        _listed(time.joints_before),
        _listed(time.joints_after),
        _listed(time.joints_first),
        _listed(time.joints_last),
    )


def _with(known: Meaning, name: str) -> Meaning:
    if " " in name:
        return replace(known, sequence=tuple(name.split()))
    if name.endswith("?"):
        return replace(known, weak=known.weak | {name[:-1]})
    return replace(known, strong=known.strong | {name})


def _numbers(numbers: _Numbers) -> list[tuple[float, str]]:
    counted = [(float(value), phrase) for value, phrase in enumerate(numbers.words.split())]
    return [*counted, *((float(value), phrase) for value, phrase in numbers.more.items())]


def _listed(phrases: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in phrases.split("|") if phrase.strip())
