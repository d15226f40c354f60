"""Writes the date beside days in a log that mean nothing later ("tomorrow", "on Friday").

    - 09:12 Alice: dentist tomorrow at ten (2026-05-06)
    - 09:13 Bob: I see you on Friday (2026-05-08 / 2026-05-01)

A weekday may be the last or the next one. A wrong day is worse than none: other and vague times, possible names,
quotations, code and today stay as they are. `gateway.scheduling.phrases` reads reminders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TypeAlias

from agent.languages import date_words as words
from agent.languages.dates import written_day
from agent.languages.terms import fold_for_index

Days: TypeAlias = tuple[date, ...]
"""One day, or two of which one is meant."""


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    days: Days
    """Empty if it is unclear which day."""
    is_weekday: bool = False
    is_number: bool = False

    @property
    def is_name(self) -> bool:
        return not (self.is_weekday or self.is_number)


_LONGEST = 2_000
"""Longer entries are documents, whose days are not relative to the entry's."""
_MOST = 4
"""A line with more days is a plan, and clear without them."""
_LEAST_LETTERS = 5
"""Shorter weekday names (`sun`, `sat`, `mon`) more often mean something else."""
_NEAR_CHARS, _NEAR_WORDS = 60, 4
_EITHER, _BETWEEN = " / ", ", "
_DAY = r"\d{4}-\d{2}-\d{2}"
_MARK = r"(?: \(from: [^()\n]{1,400}\)){1,4}$"
_WRITTEN = re.compile(rf" \({_DAY}(?:(?: / |, ){_DAY}){{0,7}}\)(?=$|{_MARK})", re.MULTILINE)
_AT_END = re.compile(rf"(?:{_MARK})|$")


def _any(names: str) -> str:
    return "|".join(sorted(fold_for_index(names).split("|"), key=len, reverse=True))


# what is not a person's own words about a day --------------------------------------------------------------------

_FENCE = re.compile(r"\s{0,3}(?:[-*+] )?(?:```|~~~)")
_NOT_PROSE = re.compile(r" {4,}(?![-*+\d])|\t(?![-*+\d])|\s*(?:#{1,6} |\||(?:[-*+] {1,3})?>|<!--)")
"""Code, a heading, a row of a table, a quotation, a comment."""
_LITERAL = re.compile(
    r"`[^`\n]{1,400}`|<!--|-->|!?\[[^\]\n]{0,200}\]\([^)\n]{0,400}\)|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]"
    r"|«[^»\n]{1,400}»|»[^«\n]{1,400}«|「[^」\n]{1,400}」|《[^》\n]{1,400}》|『[^』\n]{1,400}』|(?<!\w)['‘][^'’\n]{1,80}['’](?!\w)"
)
_NO_WORD = re.compile(r"^[#/@]\w|://|[A-Za-z0-9_][._/\\@=][A-Za-z_]")
"""Part of an address, a path, a command or a name in code."""
_NAME = re.compile(
    r"(?<=[^\W\d_] )(?:Tomorrow|Yesterday|Morgen|Gestern|Hier|Mañana"
    r"|Ayer|Domani|Ieri|Demain|Завтра|Вчера)\b|(?<=, )Morgen\b"
    r"|(?<![\d:])\d{1,4} Morgen\b|\bMorgen(?=[!,.]|$)|^morgen(?=[!,.]|$)"
    r"|\b(?!(?:On|By|From|To|Until|Till|Since|This|Next|Last|Past|Coming|Every|And|Am|Bis|Seit|El|Los|Ce|Le|See) )"
    r"[A-ZÀ-Þ][a-zà-ÿ'’]+ (?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Domingo)\b"
    r"|(?<!\bon )(?<!\bOn )\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day [A-Z][a-z]+"
)
"""A title, a person's name, or the German noun."""
_SPELT = (words.ISO, words.DOTTED, words.SLASHED, words.DAY_MONTH, words.MONTH_DAY, words.HAN_DATE)
_SENTENCE = re.compile(r"[.!?;…](?= |$)|[。！？；]")

# what stands beside a day ----------------------------------------------------------------------------------------

_TIMES = "|".join(
    (
        *(name for name, days in words.UNITS.items() if days > 1 and len(name) > 3 and name.isalpha()),
        *(name for name in words.MONTHS if len(name) > 3 and name not in words.AMBIGUOUS),
    )
)
_OTHER_TIME = re.compile(
    rf"\b(?:{_any(_TIMES)}|{_any('every|each|always|usually|often|never|normally|weekly|jede|jeden|jeder|jedem|jedes')}"
    rf"|{_any('immer|meistens|cada|todos|todas|siempre|ogni|tutti|tutte|sempre')}"
    rf"|{_any('chaque|tous|toujours|всегда|обычно|неделе|месяце|году')}"
    r"|del mes|del mese|fortnight|кажд\w{2,3}|days? (?:after|before)|\d{1,2}(?:st|nd|rd|th)"
    r"|(?:19|20)\d\d)\b|每|毎|隔|\bكل\b"
)
"""Another time that the day may be counted from, or a repetition. Looked for in the whole sentence of a weekday or
number, and within a few words of "tomorrow"."""
_BEFORE_NAME = re.compile(
    r"(?:\b(?:of|no|born|better|von|vom|god|antes de|el|un|para|ne|not from) |\bd['’]|^de |\bmuy de |\w-)$"
)
_BEFORE_WEEKDAY = re.compile(
    rf"(?:\b(?:{_any('a|an|the|that|those|one|some|any|other|alternate|next|good|black|los|un|il|di|le|les|tous les')}"
    rf"|{_any('ein|einem|einen|eines|called|named|watch|watched|casual|following|previous|du|صلاة')}"
    rf"|{_any('|'.join(name for name in words.ORDINALS if name.isalpha() and len(name) > 2))}"
    r"|(?:vor)?vor\w{0,3}igen|(?:vorletzt|ubernachst)\w{1,2}|\w+(?:ая|ыи|ое|ои)) |\w-)$"
)
_AFTER_WEEKDAY = re.compile(
    r"['’]s\b|-|–|,? (?:(?:the|den|dem|el|le|em) )?\d{1,2}(?![\d:]|\.\d\d| ?(?:am|pm|a\.m|p\.m|uhr|h|часов|o)\b)|"
    r"\d| ?/| (?:before|after|week|vor|nach|in|en huit|blues|night lights"
    r"|negro|santo|grasso|saint|العظيمه|السوداء|الاسود)\b"
)
_AFTER_NAME = re.compile(
    r"-\w| (?:never|zusammen|allerseits|in (?:ein|zwei|drei|vier)\w*|en (?:huit|quinze))\b|, tarde\b"
)
_AFTER_NUMBER = re.compile(
    r"-\w|['’]s\b| (?:or|oder|o|ou|или|before|after|vor|nach|antes|despues|prima|dopo|avant|apres|до|после)\b"
)
_SAYS = re.compile(
    r"\b(?:said|says|told|wrote|asked|sagte|gesagt|schrieb|dijo|detto|dit|сказал|сказала|написал)\b|说|説|言っ"
)
_FUTURE = re.compile(
    r"['’](?:ll|s|re|m)\b|\b(?:will|shall|going to|is|are|due|wird|werde|werden|ist|sind|sera|seran|voy|va|vamos|буду"
    r"|будет|будем|muss|fliege|fahre|gehe|treffe"
    r"|(?:i|we) (?:see|meet|have|need|fly|leave|go|visit|start|move))\b|سوف"
)
"""Without it, "in three days" may be a duration."""
_PAST = re.compile(r"了|た$|[었았했]")
_A_WEEK = frozenset({"acht", "huit", "ocho"})
"""Eight days in words often mean a week."""
_HERE = re.compile(r"hier\b(?! (?:soir|matin|apres))")
_HAN = re.compile(words.UNSPACED)
_MAY_BEGIN = re.compile(r"(?:^|[^\w、・~〜.,-]|[我你他她它们們在是于於はも])$")
"""Text that may precede a word in a script without spaces; otherwise it is part of a longer word."""
_GOES_ON = re.compile(r"[气氣后後半续続期者数數线線性空香葉叶서야]|天(?![气氣])|的?努|会更好|の?前|への|がある")
_WEEKDAY_GOES_ON = re.compile(r"[天日直起共定般围圍丰常报報均人周週到至~次年个個和、・曜大ァ-ヶ-]|から|まで|と|마다")

# the days themselves ---------------------------------------------------------------------------------------------

_NAMES = _any(
    "|".join(name for name in words.WEEKDAYS if len(name) >= _LEAST_LETTERS and name not in {"среда", "среды"})
)
_LAST = _any(
    "last|past|this past|scorso|scorsa|letzten|letzter|letztem|letzte|vergangenen|vorigen"
    "|прошлый|прошлую|прошлое|прошлой"
)
_NEXT = _any("next|nächsten|nächster|nächste|próximo|prossimo|prossima|следующий|следующую|следующее")
_COMING = _any("coming|this coming|kommenden|kommender")
_LAST_AFTER = _any("pasado|scorso|scorsa|dernier|passé|الماضي")
_NEXT_AFTER = _any("próximo|prossimo|prossima|prochain|القادم|المقبل")
_COMING_AFTER = _any("que viene|che viene")
_LAST_WEEK_AFTER = _any("last week|letzter woche|letzte woche|прошлой недели")
_NEXT_WEEK_AFTER = _any(
    "next week|nächste woche|nächster woche|der nächsten woche|de la próxima semana|de la semana que viene"
    "|de la semaine prochaine|della settimana prossima|della prossima settimana|следующей недели"
)
_WEEKDAY = re.compile(
    rf"(?:\b(?:({_LAST})|({_NEXT})|({_COMING})) )?\b({_NAMES})\b"
    rf"(?: (?:({_LAST_AFTER})|({_NEXT_AFTER})|({_COMING_AFTER})|({_LAST_WEEK_AFTER})|({_NEXT_WEEK_AFTER}))\b)?"
)
_CHINESE_WEEKDAY = re.compile(
    r"(下下|下|上上|上|这|這|本)?(?:个|個)?(?:周|週|星期|礼拜|禮拜)([一二三四五六日]|天(?![气氣]))"
)
_JAPANESE_WEEKDAY = re.compile(r"(再来週|来週|今週|先週|先々週|今度|次|この前|前)?の?([月火水木金土日])曜(?!大)日?")
_KOREAN_WEEKDAY = re.compile(r"(다음 ?주|이번 ?주|지난 ?주|지난|다음|오는|매주)? ?([월화수목금토일])요일")
_WEEKS_ON = {
    "下下": 2, "下": 1, "这": 0, "這": 0, "本": 0, "上": -1, "上上": -2,
    "再来週": 2, "来週": 1, "今週": 0, "先週": -1, "先々週": -2,
    "다음주": 1, "이번주": 0, "지난주": -1,
}  # fmt: skip
_DIRECTION = {"今度": 1, "次": 1, "다음": 1, "오는": 1, "この前": -1, "前": -1, "지난": -1}

_NOT_THE_MORNING = "".join(
    f"(?<!{fold_for_index(before)} )"
    for before in (
        "guten", "heute", "gestern", "am", "jeden", "den", "der", "dem", "nächsten", "diesen", "dieser", "diesem",
        "ein", "einen", "schönen", "vom", "zum", "tag", "mittwoch", "abend", "gegen", "anderen", "frühen", "war", "bis",
    )
)  # fmt: skip
_NOT_LA = "".join(f"(?<!{before} )" for before in ("la", "esta", "una", "cada", "media", "pasado"))
_DAYS_AHEAD = tuple(
    (re.compile(pattern), ahead)
    for pattern, ahead in (
        (
            rf"\bday after tomorrow\b|\b{fold_for_index('übermorgen')}\b|\bpasado manana\b"
            rf"|\bdopo ?domani\b|\bapres[- ]demain\b"
            r"|\bпослезавтра\b|بعد غد|[后後]天|明後日|あさって|모레",
            2,
        ),
        (
            rf"(?<!after )\btomorrow\b|{_NOT_THE_MORNING}\bmorgen\b|{_NOT_LA}\bmanana\b"
            rf"|(?<!dopo )\b(?:domani|domattina)\b"
            rf"|(?<!apres[- ])\bdemain\b|\bзавтра\b|(?<!\w){fold_for_index('غدا')}(?!\w)"
            r"|明[天日晚早]|あした|내일(?! ?모레)",
            1,
        ),
    )
)
_NUMBER = _any("|".join(("[0-9]{1,3}", *(name for name in words.NUMBERS if len(name) > 1))))
_IN_DAYS = re.compile(
    rf"\b(?:in ({_NUMBER}) (?:days?|tag|tagen)|(?:dentro de|en) ({_NUMBER}) dias?|dans ({_NUMBER}) jours?"
    rf"|(?:tra|fra) ({_NUMBER}) giorni?"
    rf"|через ({_NUMBER}) (?:день|дня|днеи))\b|(?<!\w)بعد ({_NUMBER}) (?:يوم|ايام)(?!\w)"
)
_SURELY_AHEAD = re.compile(r"dentro|dans|tra|fra")
_UNSPACED_DAYS = re.compile(r"(\d{1,3}|[一二两兩三四五六七八九十]) ?(天 ?[之以]? ?[前后後]|日 ?後|일 ?뒤)")


def relative_days(line: str, written_on: date) -> tuple[Days, ...]:
    """The days that a line means, in order; none if it writes a day out."""
    text = _plain(line)
    if any(pattern.search(text) for pattern in _SPELT):
        return ()
    found = dict.fromkeys(
        days for sentence in _SENTENCE.split(text) for days in _days_in_sentence(sentence.strip(), written_on)
    )
    sure = {days[0] for days in found if len(days) == 1}
    return tuple(days for days in found if len(days) == 1 or not sure & set(days))


def day_ahead(text: str, written_on: date) -> date | None:
    """The only future day that a text means, or None."""
    if written := written_day(text):
        return written if written >= written_on else None
    ahead = [day for days in relative_days(text, written_on) for day in days if day > written_on]
    return ahead[0] if len(ahead) == 1 else None


def with_days(text: str, written_on: date) -> str:
    """Appends to each line the days that it means. Idempotent."""
    if len(text) > _LONGEST:
        return text
    lines: list[str] = []
    is_code = is_comment = False
    for line in text.split("\n"):
        is_fence = _FENCE.match(line) is not None
        is_comment = is_comment or "<!--" in line
        lines.append(line if is_code or is_fence or is_comment else _line_with_days(line, written_on))
        is_code ^= is_fence
        is_comment = is_comment and line.rfind("-->") < max(line.rfind("<!--"), 0)
    return "\n".join(lines)


def without_days(text: str) -> str:
    """The inverse of `with_days`."""
    return _WRITTEN.sub("", text)


def _line_with_days(line: str, written_on: date) -> str:
    if _NOT_PROSE.match(line):
        return line
    end = line.rstrip()
    mark = _AT_END.search(end)
    own = end[: mark.start()] if mark else end
    found = relative_days(own, written_on)
    if not 0 < len(found) <= _MOST:
        return line
    return f"{own} ({_BETWEEN.join(_EITHER.join(map(date.isoformat, days)) for days in found)}){end[len(own) :]}"


def _plain(line: str) -> str:
    own = " ".join("·" if _NO_WORD.search(word) else word for word in _LITERAL.sub("·", line).split())
    return " ".join(fold_for_index(_NAME.sub("·", own)).split())


def _days_in_sentence(text: str, written_on: date) -> Iterator[Days]:
    others = [match.start() for match in _OTHER_TIME.finditer(text)]
    first, last = (others[0], others[-1]) if others else (len(text), -1)
    has_feast = words.FEAST.search(text) is not None
    every = (*_by_name(text, written_on), *_by_number(text, written_on), *_by_weekday(text, written_on))
    found = [
        replace(mention, days=())
        if _is_doubtful(text, mention)
        or (not mention.is_name and (has_feast or first < mention.start or last >= mention.end))
        else mention
        for mention in sorted(every, key=lambda mention: mention.start)
    ]
    sure = {mention.days[0] for mention in found if len(mention.days) == 1}
    kept = [mention for mention in found if len(mention.days) != 2 or not sure & set(mention.days)]
    several = len({mention.days for mention in kept}) > 1
    if several and (_SAYS.search(text) or not all(mention.is_name for mention in kept)):
        return  # one day may be counted from another, or denied
    yield from (mention.days for mention in kept if mention.days)


def _is_doubtful(text: str, mention: _Mention) -> bool:
    before, after = (
        text[max(0, mention.start - _NEAR_CHARS) : mention.start],
        text[mention.end : mention.end + _NEAR_CHARS],
    )
    near = " ".join((*before.split()[-_NEAR_WORDS:], "·", *after.split()[:_NEAR_WORDS]))
    if _OTHER_TIME.search(near):
        return True
    if _HAN.match(text, mention.end - 1):
        goes_on = (_WEEKDAY_GOES_ON if mention.is_weekday else _GOES_ON).match(after)
        return goes_on is not None or not _MAY_BEGIN.search(before)
    if mention.is_number:
        return _AFTER_NUMBER.match(after) is not None
    if mention.is_weekday:
        return bool(_BEFORE_WEEKDAY.search(before) or _AFTER_WEEKDAY.match(after))
    return bool(_BEFORE_NAME.search(before) or _AFTER_NAME.match(after))


def _by_name(text: str, written_on: date) -> Iterator[_Mention]:
    for pattern, ahead in (*_DAYS_AHEAD, *((pattern, -back) for pattern, back in words.DAYS_BACK if back)):
        for match in pattern.finditer(text):
            if not _HERE.match(match[0]):
                yield _Mention(*match.span(), _day(written_on, ahead))


def _by_number(text: str, written_on: date) -> Iterator[_Mention]:
    is_ahead, is_past = _FUTURE.search(text) is not None, _PAST.search(text) is not None
    for match in _IN_DAYS.finditer(text):
        number = next(filter(None, match.groups()))
        is_sure = is_ahead or _SURELY_AHEAD.match(match[0])
        yield _number_mention(match, _day(written_on, _number(number)) if is_sure and number not in _A_WEEK else ())
    for match in _UNSPACED_DAYS.finditer(text):
        is_back = match[2].endswith("前")
        days = _day(written_on, _number(match[1]) * (-1 if is_back else 1))
        yield _number_mention(match, days if is_back or not is_past else ())
    for pattern in words.AGO:
        for match in pattern.finditer(text):
            if words.UNITS[match[2]] == 1:
                number = match[1] or "1"
                yield _number_mention(match, _day(written_on, -_number(number)) if number not in _A_WEEK else ())


def _number_mention(match: re.Match[str], days: Days) -> _Mention:
    return _Mention(*match.span(), days, is_number=True)


def _by_weekday(text: str, written_on: date) -> Iterator[_Mention]:
    for match in _WEEKDAY.finditer(text):
        last, next_, coming, name, last_after, next_after, coming_after, last_week, next_week = match.groups()
        wanted = words.WEEKDAYS[name]
        if last_week or next_week:
            days = _weekday_of_week(written_on, wanted, -1 if last_week else 1)
        elif coming or coming_after:
            days = _day(written_on, (wanted - written_on.weekday()) % 7 or 7)
        else:
            days = _near_weekday(written_on, wanted, -1 if last or last_after else 1 if next_ or next_after else 0)
        yield _Mention(*match.span(), days, is_weekday=True)
    for pattern in (_CHINESE_WEEKDAY, _JAPANESE_WEEKDAY, _KOREAN_WEEKDAY):
        for match in pattern.finditer(text):
            which, wanted = (match[1] or "").replace(" ", ""), words.HAN_WEEKDAYS[match[2]]
            if which == "매주":
                days = ()
            elif which in _WEEKS_ON:
                days = _weekday_of_week(written_on, wanted, _WEEKS_ON[which])
            else:
                days = _near_weekday(written_on, wanted, _DIRECTION.get(which, 0))
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            yield _Mention(start, match.end(), days, is_weekday=True)


def _weekday_of_week(written_on: date, weekday: int, weeks: int) -> Days:
    """The weekday so many weeks away; two days if weeks from Sunday on give another day."""
    days = 7 * weeks + weekday - written_on.weekday()
    other = 7 * ((written_on.weekday() == 6) - (weekday == 6))
    return (*_day(written_on, days), *_day(written_on, days + other)) if other else _day(written_on, days)


def _near_weekday(written_on: date, weekday: int, direction: int) -> Days:
    """The last such weekday (-1), the next (1), or both (0); empty if it may be today. A near day may also
    mean a week farther."""
    ahead = (weekday - written_on.weekday()) % 7
    if not direction:
        return (*_day(written_on, ahead), *_day(written_on, ahead - 7)) if ahead else ()
    days = (ahead or 7) if direction > 0 else ahead - 7
    is_near = abs(days) == 1 or 0 <= written_on.weekday() + days < 7
    return (*_day(written_on, days), *_day(written_on, days + 7 * direction)) if is_near else _day(written_on, days)


def _day(written_on: date, days: int) -> Days:
    try:
        return (written_on + timedelta(days=days),) if days else ()
    except OverflowError:
        return ()


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else words.NUMBERS[word]
