"""Days that a text means by words that are true on one day only: "tomorrow", "on Friday", "vor drei Tagen", "下周五".

Read months later, such a word says nothing, and no search finds it. So the day is written beside it, at the line's end:

    - 09:12 Alice: dentist tomorrow at ten (2026-05-06)
    - 09:13 Bob: I see you on Friday (2026-05-08 / 2026-05-01)

The words themselves stay as they were said. A weekday alone may be the last or the next one, in whatever tense: "moved
it to Friday". Then both are written. What is vague (next week, in a month) stays vague, and today is the log's own day.

The tables of the past and of names are the search's (`date_words`), which reads questions; what lies ahead is here.
Reminders (`gateway.schedule.phrases`) read a whole time at the beginning of a wish, and refuse what this leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import TypeAlias

from agent.memory.index import date_words as words
from agent.memory.index.dates import written_day
from agent.memory.index.folding import folded

Days: TypeAlias = tuple[date, ...]
"""One day, or two of which one is meant."""
_Placed: TypeAlias = tuple[int, Days]

_LONGEST = 2_000
"""Characters of an entry. What is longer is a document, whose days are not those on which it was handed over."""
_MOST = 4
"""Days written beside a line. What names more of them is a plan for the week, and clear without."""
_LEAST_LETTERS = 5
"""Of a weekday's name: `sun`, `sat` and `mon` are more often something else."""
_EITHER, _BETWEEN = " / ", ", "
_DAY = r"\d{4}-\d{2}-\d{2}"
_WRITTEN = re.compile(rf" \({_DAY}(?:(?: / |, ){_DAY}){{0,7}}\)$", re.MULTILINE)


def _any(names: str) -> str:
    """One of the names in a text with bars between them, as folded text spells it, the longest first."""
    return "|".join(sorted(folded(names).split("|"), key=len, reverse=True))


_NAMES = _any("|".join(name for name in words.WEEKDAYS if len(name) >= _LEAST_LETTERS))
_LAST = _any(
    "last|past|this past|since|since last|letzten|letzter|letztem|letzte|vergangenen|vorigen|seit|seit letztem|desde el"
    "|depuis|прошлый|прошлую|прошлое|прошлой|с прошлого"
)
_NEXT = _any(
    "next|coming|this|this coming|by|by next|until|until next|till|nächsten|nächster|nächste|kommenden|kommender|diesen"
    "|dieser|bis|bis zum|bis nächsten|este|próximo|hasta el|ce|d'ici|d’ici|jusqu'à|jusqu’à|следующий|следующую"
    "|следующее|этот|эту|до"
)
_NEXT_WEEK = _any("next week|next week on|nächste woche|nächste woche am|kommende woche|kommende woche am")
_AGAIN = _any(
    "every|each|most|jeden|jeder|jedem|los|todos los|cada|chaque|tous les|le|каждый|каждую|каждое|كل|good|black|ash"
    "|week from|week on|week after|week before|day after|days after|day before|days before"
)
"""Before a weekday that comes again and again, or that is not the day that is meant."""
_LAST_AFTER = _any("pasado|dernier|passé|الماضي|last week|letzter woche|letzte woche|прошлой недели")
_NEXT_AFTER = _any("próximo|que viene|prochain|القادم|المقبل")
_NEXT_WEEK_AFTER = _any(
    "next week|nächste woche|nächster woche|der nächsten woche|de la próxima semana|de la semana que viene"
    "|de la semaine prochaine|следующей недели"
)
_AGAIN_AFTER = _any("in a week|in einer woche|in two weeks|in zwei wochen|en huit")
_TO = _any("to|through|till|bis|a|à|al|по|-|–")
_RANGE = re.compile(rf"\b(?:{_NAMES}) ?(?:{_TO}) ?(?:{_NAMES})\b")
_WEEKDAY = re.compile(
    rf"(?:\b(?:({_AGAIN})|({_LAST})|({_NEXT_WEEK})|({_NEXT})) )?\b({_NAMES})\b"
    rf"(?: (?:({_AGAIN_AFTER})|({_LAST_AFTER})|({_NEXT_WEEK_AFTER})|({_NEXT_AFTER}))\b)?"
)
_CHINESE_WEEKDAY = re.compile(
    r"(?<![一二三四五六七八九十两兩几幾\d])(下下|下|上上|上|这|這|本|每|到|至)?(?:个|個)?(?:周|週|星期|礼拜|禮拜)"
    r"([一二三四五六日]|天(?![气氣天]))(?![到至~-]|次)"
)
_JAPANESE_WEEKDAY = re.compile(
    r"(再来週|来週|今週|先週|先々週|毎週|今度|次|この前|前)?の?(?<![月火水木金土日・])([月火水木金土日])曜"
)
_KOREAN_WEEKDAY = re.compile(r"(다음 ?주|이번 ?주|지난 ?주|지난|다음|오는|매주)? ?([월화수목금토일])요일")
_WEEKS_ON = {
    "下下": 2, "下": 1, "这": 0, "這": 0, "本": 0, "上": -1, "上上": -2,
    "再来週": 2, "来週": 1, "今週": 0, "先週": -1, "先々週": -2,
    "다음주": 1, "이번주": 0, "지난주": -1,
}  # fmt: skip
_AHEAD_OR_BEHIND = {"今度": 1, "次": 1, "다음": 1, "오는": 1, "この前": -1, "前": -1, "지난": -1}
_NONE = frozenset({"每", "到", "至", "毎週", "매주"})

_NOT_THE_MORNING = "".join(
    f"(?<!{folded(before)} )"
    for before in (
        "guten", "heute", "gestern", "am", "jeden", "den", "der", "dem", "nächsten", "diesen", "dieser", "ein", "einen",
        "schönen", "vom", "zum", "tag", "mittwoch",
    )
)  # fmt: skip
_NOT_LA = "".join(f"(?<!{before} )" for before in ("la", "esta", "una", "cada", "media", "pasado"))
_DAYS_AHEAD = tuple(
    (re.compile(pattern), ahead)
    for pattern, ahead in (
        (
            rf"\bday after tomorrow\b|\b{folded('übermorgen')}\b|\bpasado manana\b|\bapres[- ]demain\b|\bпослезавтра\b"
            r"|بعد غد|(?<![以之今然午最前背大先])[后後]天|明後日|あさって|모레",
            2,
        ),
        (
            rf"(?<!after )\btomorrow\b|{_NOT_THE_MORNING}\bmorgen\b|{_NOT_LA}\bmanana\b|(?<!apres[- ])\bdemain\b"
            rf"|\bзавтра\b|(?<!\w){folded('غدا')}(?!\w)|明[天日晚早]|あした|내일(?! ?모레)",
            1,
        ),
    )
)
_NUMBER = _any("|".join(("[0-9]{1,3}", *(name for name in words.NUMBERS if len(name) > 1))))
_IN_DAYS = re.compile(
    rf"\b(?:in ({_NUMBER}) (?:days?|tag|tagen)|(?:dentro de|en) ({_NUMBER}) dias?|dans ({_NUMBER}) jours?"
    rf"|через ({_NUMBER}) (?:день|дня|днеи))\b|(?<!\w)بعد ({_NUMBER}) (?:يوم|ايام)(?!\w)"
)
_UNSPACED_DAYS = re.compile(
    r"(?<![一二三四五六七八九十百\d])(\d{1,3}|[一二两兩三四五六七八九十]) ?[天日일] ?[之以]? ?([前전后後후뒤])(?!天)"
)


def days_meant(line: str, said: date) -> tuple[Days, ...]:
    """The days that a line of text, said on that day, means by such words, in their order; none that it spells out."""
    text = " ".join(folded(line).split())
    found = sorted({*_by_name(text, said), *_by_number(text, said), *_by_weekday(_RANGE.sub(" ", text), said)})
    known = written_day(line)
    meant = dict.fromkeys(days for _, days in found)
    spelt = {day for days in meant for day in days if day == known or day.isoformat() in line}
    sure = {days[0] for days in meant if len(days) == 1}
    return tuple(days for days in meant if not spelt.intersection(days) and (len(days) == 1 or not sure & set(days)))


def day_ahead(text: str, said: date) -> date | None:
    """The one day to come that a text means; None where it means none, or several."""
    ahead = [max(days) for days in days_meant(text, said) if max(days) > said]
    return ahead[0] if len(ahead) == 1 else None


def with_days(text: str, said: date) -> str:
    """A text with the days that it means at the ends of its lines. Twice is the same as once."""
    if len(text) > _LONGEST:
        return text
    return "\n".join(_with_days(line, said) for line in text.split("\n"))


def without_days_meant(text: str) -> str:
    """A text as it was before `with_days`."""
    return _WRITTEN.sub("", text)


def _with_days(line: str, said: date) -> str:
    if line.startswith(">") or _WRITTEN.search(line):
        return line
    found = days_meant(line, said)
    if not 0 < len(found) <= _MOST:
        return line
    return f"{line.rstrip()} ({_BETWEEN.join(_EITHER.join(map(date.isoformat, days)) for days in found)})"


def _by_name(text: str, said: date) -> Iterator[_Placed]:
    """Tomorrow, yesterday and those beside them."""
    for pattern, ahead in (*_DAYS_AHEAD, *((pattern, -back) for pattern, back in words.DAYS_BACK if back)):
        if match := pattern.search(text):
            yield from _day(match.start(), said, ahead)


def _by_number(text: str, said: date) -> Iterator[_Placed]:
    for match in _IN_DAYS.finditer(text):
        yield from _day(match.start(), said, _number(next(filter(None, match.groups()))))
    for match in _UNSPACED_DAYS.finditer(text):
        yield from _day(match.start(), said, _number(match[1]) * (-1 if match[2] in "前전" else 1))
    for pattern in words.AGO:
        for match in pattern.finditer(text):
            if words.UNITS[match[2]] == 1:
                yield from _day(match.start(), said, -(_number(match[1]) if match[1] else 1))


def _by_weekday(text: str, said: date) -> Iterator[_Placed]:
    for match in _WEEKDAY.finditer(text):
        again, last, next_week, next_ = (match[at] or match[at + 5] for at in range(1, 5))
        wanted = words.WEEKDAYS[match[5]]
        if again:
            continue
        if next_week:
            yield from _of_week(match.start(), said, wanted, 1)
        else:
            yield from _beside(match.start(), said, wanted, -1 if last else 1 if next_ else 0)
    for pattern in (_CHINESE_WEEKDAY, _JAPANESE_WEEKDAY, _KOREAN_WEEKDAY):
        for match in pattern.finditer(text):
            which, wanted = (match[1] or "").replace(" ", ""), words.HAN_WEEKDAYS[match[2]]
            if which in _NONE:
                continue
            if which in _WEEKS_ON:
                yield from _of_week(match.start(), said, wanted, _WEEKS_ON[which])
            else:
                yield from _beside(match.start(), said, wanted, _AHEAD_OR_BEHIND.get(which, 0))


def _of_week(at: int, said: date, weekday: int, weeks: int) -> Iterator[_Placed]:
    """That day of the week so many weeks on, the week beginning on Monday."""
    return _day(at, said, 7 * weeks + weekday - said.weekday())


def _beside(at: int, said: date, weekday: int, direction: int) -> Iterator[_Placed]:
    """The last one (-1), the next one (1), or either; nothing where that may be the very day."""
    ahead = (weekday - said.weekday()) % 7
    if direction:
        yield from _day(at, said, (ahead or 7) if direction > 0 else ahead - 7)
    elif ahead:
        both = [day for days in (ahead, ahead - 7) for _, (day,) in _day(at, said, days)]
        yield at, tuple(both)


def _day(at: int, said: date, days: int) -> Iterator[_Placed]:
    try:
        yield at, (said + timedelta(days=days),)
    except OverflowError:
        return


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else words.NUMBERS[word]
