"""Patterns of days in ten languages, over text folded by `terms.fold_for_index`, where letters have lost their marks
(й: и, ü: u, أ: ا); and date order and seasons by time zone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from zoneinfo import ZoneInfo

from agent.languages.feasts import FEASTS
from agent.languages.registry import DATES
from agent.languages.terms import fold_for_index

_HAN_WEEKDAYS = ("一月월", "二火화", "三水수", "四木목", "五金금", "六土토", "日天일")
UNSPACED = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
FRENCH = re.compile(
    r"\b(?:au|aux|avec|avons|avez|ai|as|ce|dans|est|et|etait|fait|j|je|l|la|le|les|ma|matin|mes|mon|n|nous|on|ou|pour"
    r"|qu|quand|que|quel|quelle|qui|quoi|soir|sur|une|vous)\b"
)
"""Words that distinguish the French `hier` from the German one."""
FRENCH_YESTERDAY = re.compile(r"(?<!avant-)(?<!avant )\bhier\b")


def _by_name(lists: Iterable[str], first: int = 0) -> dict[str, int]:
    return {
        fold_for_index(name): at
        for names in lists
        for at, same in enumerate(names.split(","), first)
        for name in same.split()
    }


def _any(names: Iterable[str], *, unspaced: bool | None = None) -> str:
    """A pattern for any of `names`, longest first."""
    some = (name for name in names if unspaced is None or unspaced is (re.match(UNSPACED, name) is not None))
    return "|".join(sorted(some, key=lambda name: (-len(name), name)))


def _like(pattern: str) -> re.Pattern[str]:
    return re.compile(fold_for_index(pattern))


def _either(patterns: Iterable[str]) -> str:
    return "|".join(filter(None, patterns))


def _by_distance(kinds: Iterable[tuple[str, ...]]) -> tuple[tuple[re.Pattern[str], int], ...]:
    """Patterns with their distance back; the farthest first."""
    by_distance = list(enumerate(zip_longest(*kinds)))
    return tuple((_like(_either(patterns)), back) for back, patterns in reversed(by_distance))


_PAST = tuple(dates.past for dates in DATES)
MONTHS = _by_name((dates.months for dates in DATES), 1)
WEEKDAYS = _by_name(dates.weekdays for dates in DATES)
HAN_WEEKDAYS = {name: at for at, names in enumerate(_HAN_WEEKDAYS) for name in names}
NUMBERS = _by_name((dates.numbers for dates in DATES), 1)
UNITS = {
    fold_for_index(name): days
    for dates in DATES
    for days, names in ((1, dates.day), (7, dates.week), (30, dates.month), (365, dates.year))
    for name in names.split()
}
"""Approximate days of each unit."""
AMBIGUOUS = frozenset({"may", "mar", "mars", "jan", "sept", "dec", "mon"})
"""Words that more often mean something else."""
SHORT_WEEKDAYS = frozenset({"mon", "tue", "wed", "thu", "fri", "sat", "sun"})
"""Ambiguous too, unless one of `BEFORE_SHORT` precedes."""
BEFORE_SHORT = frozenset({"last", "this", "on"})

HAN_COUNT = _any(NUMBERS, unspaced=True)
HAN_UNIT = _any(UNITS, unspaced=True)
_MONTH = _any(MONTHS)
_WEEKDAY = _any(WEEKDAYS)
_YEAR = r"(?:19|20)\d\d"
_HAN_NUMBER = r"\d{1,2}|十[一二]?|[一二三四五六七八九]"

ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})?(?!\d)")
SLASHED = re.compile(r"(?<![\d/.-])(\d{1,2})(?:/(\d{1,2})/(\d{4}|\d\d)|-(\d{1,2})-(\d{4}))(?![\d/-])")
DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.|er)?(?: of| de)? ?\b({_MONTH})\b\.?,?(?:(?: de| del| of)? ({_YEAR}))?"
)
MONTH_DAY = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? ({_YEAR}))?")
MONTH_ALONE = re.compile(
    rf"\b(?:(in|im|of|during|early|late|mid|by|since|until|before|after|between|from|to|this|last|next|en|de|von|seit"
    rf"|letzten) )?و?({_MONTH})\b(?:,?(?: de| del| of| in| عام| سنه)? ({_YEAR}))?"
)
TWO_MONTHS = re.compile(rf"\b({_MONTH}) (?:(?:and|to|until|till|through|bis|und|y|a|et|au|-) (?=({_MONTH})\b))")
"""Two adjacent months disambiguate each other."""
HAN_DATE = re.compile(
    rf"(?:(\d{{4}}) ?[年년] ?)?(?:(去年|昨年|今年|작년|올해) ?의?の?)?({_HAN_NUMBER}) ?[月월](?! ?전)(?: "
    rf"?(\d{{1,2}}) ?[日号號일])?"
)
ONLY_YEAR = re.compile(rf"(?<![\d-])({_YEAR})(?![\d-])")
_TO = r" ?(?:-|–|—|~|〜) ?| (?:to|and|until|till|through|bis|und|al|y|e|au|et|по|и|до|الي|و|حتي) "
_FROM = "from|between|von|vom|zwischen|de|del|desde|entre|du|depuis|dal|dall|tra|fra|с|со|между|من|بين"
_TH = r"(?:st|nd|rd|th|\.|er)?"
DAYS_OF_MONTH = re.compile(
    rf"(?:\b({_FROM}) (?:the |dem |el |le |il |l )?)?(?<![\d./:-])\b(\d{{1,2}}){_TH}({_TO})"
    r"(?:the |dem |den |zum |el |le |il |l )?"
    rf"(\d{{1,2}}){_TH}(?: of| de)? ?\b({_MONTH})\b(?:,?(?: de| del| of)? ({_YEAR}))?"
)
MONTH_DAYS = re.compile(
    rf"\b(?:({_FROM}) )?({_MONTH})\.? (\d{{1,2}}){_TH}({_TO})(?:the )?(\d{{1,2}}){_TH}\b(?:,? ({_YEAR}))?"
)
HAN_DAYS = re.compile(
    rf"[从從自]?(?:(\d{{4}}) ?[年년] ?)?({_HAN_NUMBER}) ?[月월] ?(\d{{1,2}}) ?[日号號일]? ?"
    r"(から|부터|到|至|-|~|〜|和|と) ?(\d{1,2}) ?[日号號일](?:まで|까지)?"
)
HAN_YEAR = re.compile(r"(?<!\d)(\d{4}) ?[年년](?! ?\d{1,2} ?[月월])")

_WHOLE = r"(?<![\d.,/–-])(?<!\d )" + "".join(
    rf"(?<!\b{part} )"
    for part in (
        "or", "to", "and", "или", "и", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
        "hundred", "двадцать", "тридцать", "сорок", "пятьдесят",
    )
)  # fmt: skip
"""Not the last part of a number, nor the second of two."""
AGO = tuple(
    re.compile(
        past.ago.format(whole=_WHOLE, n=rf"\d{{1,3}}|{_any(NUMBERS, unspaced=False)}", u=_any(UNITS, unspaced=False))
    )
    for past in _PAST
    if past.ago
)
HAN_AGO = re.compile(rf"(\d{{1,3}}|{HAN_COUNT})(?:个|個)? ?({HAN_UNIT})(?:之|以)? ?(?:前|전)")
FEW_AGO = _like(r"\b(?:a )?(couple of|few|some|several) (day|week|month|year)s ago\b")
SHORT_AGO = tuple(
    (_like(pattern), number, unit)
    for pattern, number, unit in dict.fromkeys(form for past in _PAST for form in past.short_ago)
)
DAYS_BACK = _by_distance(past.days for past in _PAST)

ON_WEEKDAY = re.compile(
    rf"\b(?:(last|this|on|since|until|till|before|after|from|to|through|between|and|und|von|zwischen|letzten|letztem"
    rf"|vergangenen|vorigen|am|diesen|dem|seit|bis|nach"
    rf"|vor|prima di|dopo|dal|scors[oa]|il|el|le|past|depuis|jusqu a|desde|hasta|в|во|с|со|до|после"
    r"|прошлыи|прошлую|прошлое|прошлого|прошлои|يوم"
    rf"|منذ) )({_WEEKDAY})\b"
    r"(?: (?:pasado|dernier|scors[oa]|الماضي|(last week|letzter? woche|la semana pasada|la semaine derniere)))?"
    rf"|\b({_WEEKDAY}) (?:pasado|dernier|scors[oa]|(last week)|الماضي)\b"
)
HAN_WEEKDAY = re.compile(
    r"(上上|上|这|這|本|先々|先|今|지난 ?주|이번 ?주)? ?(?:个|個)?(?:周|週|星期|礼拜|禮拜)? ?の?"
    r"(?:(?<=[周週期拜])([一二三四五六日天])|([月火水木金土日])曜日?|([월화수목금토일])요일)"
)
WEEKS_BACK = {"上上": 2, "先々": 2, "上": 1, "先": 1, "지난주": 1, "지난 주": 1}

WEEKEND = _by_distance(past.weekends for past in _PAST)
WEEK = _by_distance(past.weeks for past in _PAST)
MONTH = _by_distance(past.months for past in _PAST)
YEAR = _by_distance(past.years for past in _PAST)

# seasons, parts of months, weeks of months -----------------------------------------------------------------------

SEASONS = _by_name(dates.seasons for dates in DATES)
PARTS = {
    name: at for dates in DATES for at, names in enumerate(dates.parts.split(", ")) for name in names.split("|") if name
}
ORDINALS = _by_name((dates.ordinals for dates in DATES), 1) | {
    fold_for_index(name): -1 for dates in DATES for name in dates.last.split()
}
_PART_NAMES = _any(PARTS, unspaced=False)
WEEKEND_NAMES = _either(dates.weekend for dates in DATES)
_WEEK_NAMES = _either(dates.week_name for dates in DATES)
_ORDINAL = _any(ORDINALS, unspaced=False)
_HAN_ORDINAL = _any(ORDINALS, unspaced=True)
_OF = r"(?: of| in| im| des| vom| von| de| del| d| di| en| в| من| في)?(?: the)?"
_OF_YEAR = rf"(?:,?(?: of| in| im jahr| des jahres| de| del| عام| سنه)? ({_YEAR}))?"
_SHY = frozenset({"spring", "fall", "ete", "estate", "ربيع", "صيف", "خريف", "شتاء", "봄"})
"""Seasons that as often mean something else: they need a year or a word before them other than an article."""

SEASON = re.compile(
    rf"\b(?:(in the|in|during the|over the|since|until|before|after|this|the|early|late|mid|en|l|d|cet|cette|im|diesen"
    rf"|nell|dell|quest|scors[oa]"
    rf"|этим|этои|في|last|past|previous|letzte[nrms]|vergangene[nm]|vorige[nm]|pasad[oa]|прошл(?:ым|ои|ое|ую|ого)|next"
    rf"|nachste[nmr]|proxim[oa]) )?(?:({_any(set(SEASONS) - _SHY, unspaced=False)})|({_any(_SHY, unspaced=False)}))\b"
    rf"(?: (pasad[oa]|scors[oa]|dernier|derniere|passe|الماضي|before last))?"
    rf"{_OF_YEAR}(?: ?([-/–]) ?(?:{_YEAR}|\d\d)\b)?"
)
"""The last group tells whether a second year follows: a winter begins in the first."""
HAN_SEASON = re.compile(
    r"(?:(\d{4}) ?[年년] ?の?)?(上个|上個|지난 ?|この前の)?"
    r"(?:(?:(?<=年)|(?<=年の)|(?<=この)|(?<=今))([春夏秋冬])(?![节節])|([春夏秋冬])(?=天|季|に|休み|の間)|(여름|가을|겨울)"
    r"|(봄)(?=에|철| 동안))[天季]?"
)
LAST = re.compile(r"last|past|previous|letzt|vergangen|vorig|pasad|scors|прошл|dernier|passe|الماضي|上|지난|この前")
NEXT = re.compile(r"next|nachst|proxim|prossim")
PART_OF_MONTH = re.compile(
    rf"\b({_PART_NAMES})(?:-| )?(?:of |in |im |de |d |monat |شهر )?({_MONTH})\b"
    rf"(?:,?(?: de| del| of| عام| سنه)? ({_YEAR}))?"
)
HAN_PART_OF_MONTH = re.compile(
    rf"(?:(\d{{4}}) ?[年년] ?)?(?:(去年|昨年|今年|작년|올해) ?의?の?)?({_HAN_NUMBER}) ?[月월] ?"
    r"(上旬|初旬|初|中旬|下旬|底|末|중순|초(?=$|[ 에,.?])|말(?=$|[ 에,.?]))"
)
PART_OF_YEAR = re.compile(rf"\b({_PART_NAMES})(?:-| )?(?:of |de |des jahres |года )?({_YEAR})\b")
OF_MONTH = re.compile(
    rf"\b({_ORDINAL}) (?:({WEEKEND_NAMES})|({_WEEK_NAMES})|({_WEEKDAY})){_OF} ?({_MONTH})\b{_OF_YEAR}"
    rf"|(?<!\w)(?:({WEEKEND_NAMES})|({_WEEK_NAMES})|({_WEEKDAY})) ({_ORDINAL}){_OF} ({_MONTH})(?!\w){_OF_YEAR}"
)
HAN_OF_MONTH = re.compile(
    rf"(?:(\d{{4}}) ?[年년] ?の?)?({_HAN_NUMBER}) ?[月월] ?[的の의]? ?({_HAN_ORDINAL}) ?[个個の]? ?"
    rf"(?:(周末|週末|주말)|(星期|周|週|주)(?![一二三四五六日天])|(?:星期|周|週)([一二三四五六日天])|([月火水木金土日])曜日?|([월화수목금토일])요일)"
)

# feasts ----------------------------------------------------------------------------------------------------------


def _names(names: Iterable[str], *, unspaced: bool) -> str:
    return _any(names, unspaced=unspaced).replace(" ", "[ -]")


SHY_FEASTS = frozenset({"noel", "reveillon"})
"""People's names too: they need a year, or a word that precedes feasts."""
FEAST = re.compile(
    rf"\b(?:(last|past|letzte[nrms]?|pasad[oa]|прошл(?:ыи|ым|ое|ого|ую)|next|nachste[nmrs]?|proxim[oa]|a|de|pour|avant"
    rf"|apres|depuis|le|ce|du|et|entre) )?({_names(FEASTS, unspaced=False)})"
    rf"\b(?: (pasad[oa]|scors[oa]|dernier|derniere|الماضي))?"
    rf"{_OF_YEAR}"
)
HAN_FEAST = re.compile(
    rf"(?:(\d{{4}}) ?[年년] ?の?)?(上个|上個|지난 ?|この前の)?({_names(FEASTS, unspaced=True)})(?! ?[年月])"
)


_MONTH_FIRST = re.compile(
    "US/.*|America/(?:New_York|Chicago|Denver|Los_Angeles|Phoenix|Detroit|Boise|Anchorage|Juneau|Sitka|Nome|Adak"
    "|Metlakatla|Yakutat|Menominee|Indiana/.*|Kentucky/.*|North_Dakota/.*|Puerto_Rico)|Pacific/Honolulu|Asia/Manila"
)
_SOUTHERN = re.compile(
    "Australia/.*|Pacific/Auckland|Africa/(?:Johannesburg|Harare|Maputo|Windhoek|Gaborone|Lusaka)"
    "|America/(?:Argentina/.*|Buenos_Aires|Sao_Paulo|Santiago|Montevideo|Asuncion|La_Paz)"
)
_DAY_FIRST = re.compile(rf"Europe/.*|Africa/.*|America/(?:Bogota|Lima|Mexico_City|Caracas)|{_SOUTHERN.pattern}")


@dataclass(frozen=True, slots=True)
class Region:
    month_first: bool | None = None
    """12/7 is in December; None: unknown."""
    is_southern: bool = False


ANYWHERE = Region()


def region_of(zone: ZoneInfo) -> Region:
    key = zone.key or ""
    month_first = True if _MONTH_FIRST.fullmatch(key) else False if _DAY_FIRST.fullmatch(key) else None
    return Region(month_first, _SOUTHERN.fullmatch(key) is not None)
