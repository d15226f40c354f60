"""Days by other days: "since last Monday", "two weeks before 3 May", "クリスマスの二日前".

Most languages put the relation first; Chinese, Japanese and Korean last.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import NamedTuple

from agent.languages import date_words as words
from agent.languages.registry import DATES
from agent.languages.terms import fold_for_index


@dataclass(frozen=True, slots=True)
class Mention:
    """Days `first` to `last`, named from `start` to `end`, the name from `head` on. `rank` 0 is the most exact."""

    start: int
    head: int
    end: int
    first: date
    last: date
    rank: int
    is_spoken: bool = False
    """People also use the name when they talk about those days, as of a feast."""


class _Resolved(NamedTuple):
    """The days that a relation means. `is_distance`: counted from the named day."""

    first: date
    last: date
    is_distance: bool = False


class _Relation(enum.Enum):
    BEFORE = enum.auto()
    UNTIL = enum.auto()
    SINCE = enum.auto()
    AFTER = enum.auto()


def _set(names: Iterable[str]) -> frozenset[str]:
    return frozenset(fold_for_index(" ".join(names)).split())


_GIVEN = tuple(dates.relations for dates in DATES)
_RELATIONS = {
    fold_for_index(name): relation
    for relations in _GIVEN
    for relation, names in (
        (_Relation.BEFORE, relations.before),
        (_Relation.UNTIL, relations.until),
        (_Relation.SINCE, relations.since),
        (_Relation.AFTER, relations.after),
    )
    for name in names.split()
}
_FILLERS = _set(relations.fillers for relations in _GIVEN)
_OF = _set(relations.of for relations in _GIVEN)
_SHORTLY = _set(relations.shortly for relations in _GIVEN)
_BETWEEN = _set(relations.between for relations in _GIVEN)
_FROM = _set(relations.from_ for relations in _GIVEN)
_AND = _set(relations.and_ for relations in _GIVEN)
_TO = _set((*(relations.to for relations in _GIVEN), "- – — ~ 〜"))
_TO_AFTER_FROM = _set(relations.to_after_from for relations in _GIVEN)
_UNITS = words.UNITS | dict.fromkeys(_set(relations.nights for relations in _GIVEN), 1)
_WEEKENDS = _set(relations.weekends for relations in _GIVEN)
_TWO = {fold_for_index(name): days for name, days in (("يومين", 1), ("اسبوعين", 7), ("شهرين", 30))}
_DAYS_IN_KOREAN = {"하루": 1, "이틀": 2, "사흘": 3}
_ADJACENT = {"翌日": 1, "다음 날": 1, "다음날": 1, "前日": -1, "전날": -1}

_LINK = r" ?[의の的之以]? ?"
_COUNT = rf"(\d{{1,3}}|{words.HAN_COUNT})[个個か]? ?({words.HAN_UNIT})"
_DISTANCE_SUFFIX = re.compile(rf"{_LINK}(?:{_COUNT}|(하루|이틀|사흘)) ?[之以]?(?:(前|전)|[后後후뒤])")
_DISTANCE_AFTER_SIDE = re.compile(rf"{_LINK}(?:(前)|[后後]){_COUNT}")
_ADJACENT_SUFFIX = re.compile(rf"{_LINK}({'|'.join(_ADJACENT)})")
_RELATION_SUFFIX = re.compile(
    rf"{_LINK}(前(?!夕)|전|まで|까지|[为為]止|以[来來]|开始|起(?!床|来)|から|以降|부터|이래|이후|[后後](?!来)|후|뒤)"
)
_BETWEEN_SUFFIX = re.compile(r"(?:まで)?(?:之[间間]|[间間]|の間| ?사이)")
_SUFFIXES = (_ADJACENT_SUFFIX, _DISTANCE_SUFFIX, _DISTANCE_AFTER_SIDE, _RELATION_SUFFIX, _BETWEEN_SUFFIX)
_WORD = re.compile(r"\S+")
_ABOUT_DAYS = (
    frozenset(_RELATIONS) | _FILLERS | _SHORTLY | _BETWEEN | _FROM | _AND | _TO | _WEEKENDS
    | frozenset(words.WEEKDAYS) | frozenset(_UNITS) | frozenset(_TWO) | frozenset(words.NUMBERS)
)  # fmt: skip
_FROM_HAN = ("从", "從", "自")
_LOOKED_AT = 60
"""Characters read before a day."""
_WEEK = 7
_SATURDAY = 5
WEEKDAY_RANK = 1


def related(text: str, mentions: Sequence[Mention], today: date) -> Iterator[Mention]:
    """The days that a folded text means by its `mentions`. "Until 3 May" yields 3 May too: it may have been written
    then."""
    at = 0
    while at < len(mentions):
        mention = mentions[at]
        at += 1
        if at < len(mentions) and _are_joined(text, mention, mentions[at]):
            yield _join(mention, mentions[at])
            at += 1
            continue
        resolved = _by_words_before(text, mention, today) or _by_suffix(text, mention, today)
        if resolved is None or resolved.first > resolved.last:
            yield mention
            continue
        yield replace(mention, first=resolved.first, last=resolved.last)
        if resolved.is_distance or (mention.last - mention.first).days < _WEEK:
            yield mention


def reach(text: str, mention: Mention) -> tuple[int, int]:
    start = mention.start
    for word in reversed(_WORD.findall(text, max(0, start - _LOOKED_AT), start)):
        if word not in _ABOUT_DAYS and not word.isdecimal():
            break
        start = text.rindex(word, 0, start)
    suffix = next(filter(None, (pattern.match(text, mention.end) for pattern in _SUFFIXES)), None)
    return start, suffix.end() if suffix else mention.end


# from one day to another -----------------------------------------------------------------------------------------


def _are_joined(text: str, mention: Mention, other: Mention) -> bool:
    gap = text[mention.end : other.head].split()
    if not gap or any(word not in _FILLERS for word in gap[1:]):
        return False
    named, fillers = _words_before(text, mention.head)
    before = {*named[-1:], *fillers}
    if gap[0] in _AND:
        return not before.isdisjoint(_BETWEEN) or _BETWEEN_SUFFIX.match(text, other.end) is not None
    return gap[0] in _TO or (gap[0] in _TO_AFTER_FROM and not before.isdisjoint(_FROM))


def _join(mention: Mention, other: Mention) -> Mention:
    """From the first day to the other. A first day without a year is the last such day before the other."""
    first = mention.first
    while first > other.last:
        first = first - timedelta(days=_WEEK) if mention.rank == WEEKDAY_RANK else _a_year_before(first)
    return Mention(mention.start, mention.head, other.end, first, other.last, min(mention.rank, other.rank))


def _a_year_before(day: date) -> date:
    if day.year == 1:
        return date.min
    return day.replace(year=day.year - 1, day=min(day.day, 28) if day.month == 2 else day.day)


# words about a day -----------------------------------------------------------------------------------------------


def _by_words_before(text: str, mention: Mention, today: date) -> _Resolved | None:
    named, fillers = _words_before(text, mention.head)
    if text[: mention.start].endswith(_FROM_HAN):
        return _by_relation(mention, _Relation.SINCE, today)
    if not named:
        return None
    if (relation := _RELATIONS.get(named[-1])) is not None:
        return _by_distance(mention, relation, named[:-1]) or _by_relation(mention, relation, today)
    if named[-1] in _TWO or named[-1] in _UNITS or named[-1] in _WEEKENDS:
        if (span := _by_distance_between(mention, named)) is not None:
            return span
        is_week = _UNITS.get(named[-1], _WEEK) == _WEEK
        if is_week and fillers and fillers[0] in _OF and (mention.last - mention.first).days < _WEEK:
            return _week_of(mention, named[-1])
    return None


def _words_before(text: str, at: int) -> tuple[list[str], list[str]]:
    found = [word.lstrip("(\"'¿¡«„“") for word in text[max(0, at - _LOOKED_AT) : at].split()]
    end = len(found)
    while end and found[end - 1] in _FILLERS:
        end -= 1
    return found[:end], found[end:]


def _by_distance(mention: Mention, relation: _Relation, named: Sequence[str]) -> _Resolved | None:
    """ "Two weeks after", "the Sunday before", "shortly after"."""
    if relation not in (_Relation.BEFORE, _Relation.AFTER) or not named:
        return None
    is_after = relation is _Relation.AFTER
    if named[-1] in _SHORTLY:
        return _at_distance(mention, None, _WEEK, is_after=is_after)
    if named[-1] in _WEEKENDS:
        saturday = _nearest_weekday(mention, _SATURDAY, is_after=is_after)
        return _Resolved(saturday, _later(saturday, 1), is_distance=True)
    if named[-1] in words.WEEKDAYS and named[-1] not in words.AMBIGUOUS | words.SHORT_WEEKDAYS:
        day = _nearest_weekday(mention, words.WEEKDAYS[named[-1]], is_after=is_after)
        return _Resolved(day, day, is_distance=True)
    unit = _UNITS.get(named[-1])
    return _at_distance(mention, _number(named[-2:-1]), unit, is_after=is_after) if unit is not None else None


def _by_distance_between(mention: Mention, named: Sequence[str]) -> _Resolved | None:
    """Arabic forms: "after two weeks from"."""
    unit = _TWO.get(named[-1]) or _UNITS.get(named[-1])
    number = 2 if named[-1] in _TWO else _number(named[-2:-1])
    side = named[-3:-2] if number is not None and named[-1] not in _TWO else named[-2:-1]
    relation = _RELATIONS.get(side[0]) if side else None
    if unit is None or relation not in (_Relation.BEFORE, _Relation.AFTER):
        return None
    return _at_distance(mention, number or 1, unit, is_after=relation is _Relation.AFTER)


def _by_suffix(text: str, mention: Mention, today: date) -> _Resolved | None:
    if match := _ADJACENT_SUFFIX.match(text, mention.end):
        days = _ADJACENT[match[1]]
        return _at_distance(mention, 1, 1, is_after=days > 0)
    if match := _DISTANCE_SUFFIX.match(text, mention.end):
        number = _DAYS_IN_KOREAN.get(match[3]) or _number([match[1]])
        return _at_distance(mention, number, _UNITS.get(match[2], 1), is_after=match[4] is None)
    if match := _DISTANCE_AFTER_SIDE.match(text, mention.end):
        return _at_distance(mention, _number([match[2]]), _UNITS.get(match[3], 1), is_after=match[1] is None)
    if match := _RELATION_SUFFIX.match(text, mention.end):
        return _by_relation(mention, _RELATIONS[match[1]], today)
    return None


def _number(word: Sequence[str]) -> int | None:
    if not word:
        return None
    return int(word[0]) if word[0].isdecimal() and len(word[0]) < 4 else words.NUMBERS.get(word[0])


def _by_relation(mention: Mention, relation: _Relation, today: date) -> _Resolved | None:
    if relation is _Relation.UNTIL:
        return _Resolved(date.min, mention.last)
    if relation is _Relation.SINCE:
        return _Resolved(mention.first, today)
    if relation is _Relation.BEFORE:
        return _Resolved(date.min, _later(mention.first, -1))
    return _Resolved(_later(mention.last, 1), today)


def _at_distance(mention: Mention, number: int | None, unit: int, *, is_after: bool) -> _Resolved:
    """The days that are `number` units away from the mention; without a number, the unit that adjoins it."""
    edge, sign = (mention.last, 1) if is_after else (mention.first, -1)
    if number is None:
        near, far = _later(edge, sign), _later(edge, sign * unit)
        return _Resolved(min(near, far), max(near, far), is_distance=True)
    slack = 0 if unit == 1 else unit // 2
    middle = _later(edge, sign * number * unit)
    return _Resolved(_later(middle, -slack), _later(middle, slack), is_distance=True)


def _week_of(mention: Mention, unit: str) -> _Resolved:
    monday = _later(mention.first, -mention.first.weekday())
    return _Resolved(_later(monday, _SATURDAY) if unit in _WEEKENDS else monday, _later(monday, 6))


def _nearest_weekday(mention: Mention, weekday: int, *, is_after: bool) -> date:
    edge = _later(mention.last, 1) if is_after else _later(mention.first, -1)
    return _later(edge, (weekday - edge.weekday()) % 7 if is_after else -((edge.weekday() - weekday) % 7))


def _later(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min
