"""How days are named in English, German, French, Spanish, Russian, Arabic, Chinese, Japanese and Korean: patterns over
folded text (`folding`), in which a character that takes points above has lost them (й: и, ü: u, أ: ا)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.memory.index.folding import folded

_MONTH_NAMES = (
    "january jan januar janner enero janvier январь января январе يناير",
    "february feb februar febrero fevrier февраль февраля феврале فبراير شباط",
    "march mar marz maerz marzo mars март марта марте مارس اذار",
    "april apr abril avril апрель апреля апреле ابريل نيسان",
    "may mai mayo май мая мае مايو ايار",
    "june jun juni junio juin июнь июня июне يونيو حزيران",
    "july jul juli julio juillet июль июля июле يوليو تموز",
    "august aug agosto aout август августа августе اغسطس",
    "september sept sep septiembre septembre сентябрь сентября сентябре سبتمبر ايلول",
    "october oct oktober okt octubre octobre октябрь октября октябре اكتوبر",
    "november nov noviembre novembre ноябрь ноября ноябре نوفمبر",
    "december dec dezember dez diciembre decembre декабрь декабря декабре ديسمبر",
)
_WEEKDAY_NAMES = (
    "monday mon montag lunes lundi понедельник الاثنين",
    "tuesday tue dienstag martes mardi вторник الثلاثاء",
    "wednesday wed mittwoch miercoles mercredi среду среда الاربعاء",
    "thursday thu donnerstag jueves jeudi четверг الخميس",
    "friday fri freitag viernes vendredi пятницу пятница الجمعة",
    "saturday sat samstag sonnabend sabado samedi субботу суббота السبت",
    "sunday sun sonntag domingo dimanche воскресенье الاحد",
)
_NUMBER_NAMES = (
    "",
    "a an one ein eine einem einer un une una один одну одна 一 한 하나 일",
    "two zwei dos deux два две 二 两 兩 두 이",
    "three drei tres trois три 三 세 삼 ثلاثة ثلاث",
    "four vier cuatro quatre четыре 四 네 사 اربعة اربع",
    "five funf cinco cinq пять 五 다섯 오 خمسة خمس",
    "six sechs seis шесть 六 여섯 육 ستة ست",
    "seven sieben siete sept семь 七 일곱 칠 سبعة سبع",
    "eight acht ocho huit восемь 八 여덟 팔 ثمانية ثماني",
    "nine neun nueve neuf девять 九 아홉 구 تسعة تسع",
    "ten zehn diez dix десять 十 열 십 عشرة عشر",
    "eleven elf once onze 十一",
    "twelve zwolf doce douze 十二",
)
_UNIT_NAMES = {
    1: "day days tag tage tagen dia dias jour jours день дня дней 天 日 일 يوم ايام",
    7: "week weeks woche wochen semana semanas semaine semaines неделю недели недель 周 週 星期 礼拜 禮拜 周间 "
    "週間 주 주일 اسبوع اسابيع",
    30: "month months monat monate monaten mes meses mois месяц месяца месяцев 月 ヶ月 か月 カ月 ケ月 ヵ月 箇月 "
    "달 개월 شهر اشهر شهور",
    365: "year years jahr jahre jahren ano anos an ans год года лет 年 년 سنة سنوات عام اعوام",
}

_HAN_WEEKDAYS = ("一月월", "二火화", "三水수", "四木목", "五金금", "六土토", "日天일")
_UNSPACED = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_FRENCH = (
    "au|aux|avec|avons|avez|ai|as|ce|dans|est|et|etait|fait|j|je|l|la|le|les|ma|matin|mes|mon|n|nous|on|ou|pour"
    "|qu|quand"
    "|que|quel|quelle|qui|quoi|soir|sur|une|vous"
)
"""Words that tell the French `hier` from the German one."""


def _by_name(lists: tuple[str, ...]) -> dict[str, int]:
    return {name: at for at, names in enumerate(lists) for name in folded(names).split()}


def _any(names: Iterable[str], *, unspaced: bool | None = None) -> str:
    """One of `names`, the longest first; `unspaced`: only those of scripts that are written so, or only the others."""
    some = (name for name in names if unspaced is None or unspaced is (re.match(_UNSPACED, name) is not None))
    return "|".join(sorted(some, key=len, reverse=True))


def _like(pattern: str) -> re.Pattern[str]:
    """`pattern`, in which words are spelt as people do, over folded text."""
    return re.compile(folded(pattern))


MONTHS = {name: at + 1 for name, at in _by_name(_MONTH_NAMES).items()}
WEEKDAYS = _by_name(_WEEKDAY_NAMES)
HAN_WEEKDAYS = {name: at for at, names in enumerate(_HAN_WEEKDAYS) for name in names}
NUMBERS = _by_name(_NUMBER_NAMES)
UNITS = {name: days for days, names in _UNIT_NAMES.items() for name in folded(names).split()}
"""Days of each, more or less."""
AMBIGUOUS = frozenset({"may", "mar", "mars", "jan", "sept", "dec", "mon"})
"""Words that are more often something else."""

_MONTH = _any(MONTHS)
_WEEKDAY = _any(WEEKDAYS)
_YEAR = r"(?:19|20)\d\d"
_HAN_NUMBER = r"\d{1,2}|十[一二]?|[一二三四五六七八九]"

ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})?(?!\d)")
DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th|\.|er)?(?: of| de)? ?\b({_MONTH})\b\.?,?(?:(?: de| of)? ({_YEAR}))?"
)
MONTH_DAY = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? ({_YEAR}))?")
MONTH_ALONE = re.compile(
    rf"\b(?:(in|im|of|during|early|late|mid|by|since|until|before|after|this|last|next|en|de|von|seit|\bletzten) )?"
    rf"({_MONTH})\b(?:,?(?: de| of)? ({_YEAR}))?"
)
HAN_DATE = re.compile(
    rf"(?:(\d{{4}}) ?[年년] ?)?(?:(去年|昨年|今年|작년|올해) ?의?の?)?({_HAN_NUMBER}) ?[月월](?! ?전)(?: "
    rf"?(\d{{1,2}}) ?[日号號일])?"
)
ONLY_YEAR = re.compile(rf"(?<![\d-])({_YEAR})(?![\d-])")
HAN_YEAR = re.compile(r"(?<!\d)(\d{4}) ?[年년](?! ?\d{1,2} ?[月월])")

AGO = tuple(
    re.compile(pattern.format(n=rf"\d{{1,3}}|{_any(NUMBERS, unspaced=False)}", u=_any(UNITS, unspaced=False)))
    for pattern in (
        r"\b({n}) ({u}) ago\b",
        r"\bvor ({n}) ({u})\b",
        r"\bhace ({n}) ({u})\b",
        r"\bil y a ({n}) ({u})\b",
        r"\b(?:({n}) )?({u}) назад\b",
        r"(?<![^\s])(?:قبل|منذ) (?:({n}) )?({u})(?![^\s.,!?؟])",
    )
)
HAN_AGO = re.compile(
    rf"(\d{{1,3}}|{_any(NUMBERS, unspaced=True)})(?:个|個)? ?({_any(UNITS, unspaced=True)})(?:之|以)? ?(?:前|전)"
)
FEW_AGO = _like(r"\b(?:a )?(couple of|few|some|several) (day|week|month|year)s ago\b")
SHORT_AGO = tuple(
    (_like(pattern), number, unit)
    for pattern, number, unit in (
        (r"하루 전", 1, 1), (r"이틀 전", 2, 1), (r"사흘 전", 3, 1),
        (r"قبل يومين", 2, 1), (r"قبل اسبوعين", 2, 7), (r"قبل شهرين", 2, 30), (r"قبل (?:سنتين|عامين)", 2, 365),
        (r"\b(?:a )?fortnight ago\b|\bil y a quinze jours\b|hace quince dias", 2, 7),
        (r"\bvor acht tagen\b|\bil y a huit jours\b|hace ocho dias", 1, 7),
        (r"半年前|반년 전|полгода назад|half a year ago|vor einem halben jahr", 6, 30),
    )
)  # fmt: skip

DAYS_BACK = tuple(
    (_like(pattern), back)
    for pattern, back in (
        (r"day before yesterday|\bvorgestern\b|\banteayer\b|\bantes de ayer\b|\bavant-? ?hier\b|前天|一昨日"
         r"|おととい|그저께|그제"
         r"|\bпозавчера\b|(?:اول|قبل) (?:امس|البارحة)", 2),
        (r"(?<!before )\byesterday\b|\blast night\b|\bgestern\b|(?<!antes de )\bayer\b|\banoche\b|昨天"
         r"|(?<!一)昨日|昨晚|昨夜|きのう|어제|어젯밤"
         r"|\bвчера\b|(?<!اول )(?<!قبل )(?:امس|البارحة|امبارح)"
         r"|(?<!avant-)(?<!avant )\bhier (?:soir|matin|apres)|^hier\b.{0,3}$"
         rf"|\b(?:{_FRENCH})\b.{{0,80}}(?<!avant-)(?<!avant )\bhier\b|(?<!avant-)(?<!avant "
         rf")\bhier\b.{{0,80}}\b(?:{_FRENCH})\b", 1),
        (r"\btoday\b|\btonight\b|\bthis morning\b|\bheute\b|\bhoy\b|aujourd.?hui|今天|今日|今晚|今早|今朝"
         r"|きょう|오늘|\bсегодня\b"
         r"|(?<!\w)اليوم(?!\w)", 0),
    )
)  # fmt: skip

ON_WEEKDAY = re.compile(
    rf"\b(?:(last|this|on|\bletzten|am|diesen|el|le|past|в|во|прошлыи|прошлую|прошлое|يوم) )({_WEEKDAY})\b"
    rf"|\b({_WEEKDAY}) (?:pasado|dernier|last week|الماضي)\b"
)
HAN_WEEKDAY = re.compile(
    r"(上上|上|这|這|本|先々|先|今|지난 ?주|이번 ?주)? ?(?:个|個)?(?:周|週|星期|礼拜|禮拜)? ?の?"
    r"(?:(?<=[周週期拜])([一二三四五六日天])|([月火水木金土日])曜|([월화수목금토일])요일)"
)
WEEKS_BACK = {"上上": 2, "先々": 2, "上": 1, "先": 1, "지난주": 1, "지난 주": 1}

WEEKEND = tuple(
    (_like(pattern), back)
    for pattern, back in (
        (r"\b(?:last|past) weekend\b|\bletzte[sn]? wochenende|fin de semana pasado|week-? ?end dernier|上(?:个"
         r"|個)?[周週]末|先週末"
         r"|지난 ?주말|прошлы[ех] выходны[ех]|(?:عطلة|نهاية) (?:نهاية )?الاسبوع الماضي", 1),
        (r"\bthis weekend\b|diese[sn]? wochenende|este fin de semana|ce week-? ?end|(?:这|這)?(?:个"
         r"|個)?[周週]末|이번 ?주말", 0),
    )
)  # fmt: skip
WEEK = tuple(
    (_like(pattern), back)
    for pattern, back in (
        (r"\bweek before last\b|vorletzte[rn]? woche|上上(?:个|個)?(?:周|週|星期|礼拜|禮拜)|先々週|지지난 ?주"
         r"|позапрошлои неделе", 2),
        (r"\b(?:last|past|previous) week\b|\bletzte[rn]? woche|semana pasada|semaine (?:derniere|passee)"
         r"|(?<!上)上(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?![一二三四五六日天末])|先週|지난 ?주|прошлои неделе"
         r"|الاسبوع الماضي", 1),
        (r"\bthis week\b|diese[rn]? woche|esta semana|cette semaine"
         r"|(?:这|這|本)(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?![一二三四五六日天末])|今週|이번 ?주|этои неделе"
         r"|هذا الاسبوع", 0),
    )
)  # fmt: skip
MONTH = tuple(
    (_like(pattern), back)
    for pattern, back in (
        (r"\bmonth before last\b|vorletzte[nr]? monat|上上(?:个|個)?月|先々月|지지난 ?달", 2),
        (r"\b(?:last|past) month\b|\bletzte[nr]? monat|mes pasado|mois (?:dernier|passe)|(?<!上)上(?:个|個)?月"
         r"|先月|지난 ?달"
         r"|прошлом месяце|الشهر الماضي", 1),
        (r"\bthis month\b|diese[nrm]? monat|este mes|ce mois|(?:这|這|本)(?:个|個)?月|今月|이번 ?달|этом месяце"
         r"|هذا الشهر", 0),
    )
)  # fmt: skip
YEAR = tuple(
    (_like(pattern), back)
    for pattern, back in (
        (r"\byear before last\b|vorletzte[ns]? jahr|(?<!\d)前年|一昨年|おととし|재작년|позапрошлом году", 2),
        (r"\b(?:last|past) year\b|\bletzte[ns]? jahr|ano pasado|\b(?:an|annee) (?:dernier|derniere|passee)|去年"
         r"|昨年|작년|지난 ?해|прошлом году"
         r"|(?:السنة|العام) الماضي(?:ة)?", 1),
        (r"\bthis year\b|diese[sm]? jahr|este ano|cette annee|今年|올해|этом году|هذ(?:ا العام|ه السنة)", 0),
    )
)  # fmt: skip

PHRASES = (
    ISO, DOTTED, DAY_MONTH, MONTH_DAY, HAN_DATE, HAN_WEEKDAY, MONTH_ALONE, ON_WEEKDAY, ONLY_YEAR, HAN_YEAR,
    *AGO, HAN_AGO, FEW_AGO,
    *(pattern for pattern, _, _ in SHORT_AGO),
    *(pattern for kind in (DAYS_BACK, WEEKEND, WEEK, MONTH, YEAR) for pattern, _ in kind),
)  # fmt: skip
"""All of them; a longer one before the shorter ones that it holds."""
