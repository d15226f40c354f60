"""Names of days in nine languages, as patterns over text folded by `terms.folded`, where letters have lost their marks
(й: и, ü: u, أ: ا); and what a time zone says about date order and seasons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from agent.languages.feasts import FEASTS
from agent.languages.terms import fold_for_index

_MONTH_NAMES = (
    "january jan januar janner enero janvier январь января январе январем يناير",
    "february feb februar febrero fevrier февраль февраля феврале февралем فبراير شباط",
    "march mar marz maerz marzo mars март марта марте мартом مارس اذار",
    "april apr abril avril апрель апреля апреле апрелем ابريل نيسان",
    "may mai mayo май мая мае маем مايو ايار",
    "june jun juni junio juin июнь июня июне июнем يونيو حزيران",
    "july jul juli julio juillet июль июля июле июлем يوليو تموز",
    "august aug agosto aout август августа августе августом اغسطس",
    "september sept sep septiembre septembre сентябрь сентября сентябре сентябрем سبتمبر ايلول",
    "october oct oktober okt octubre octobre октябрь октября октябре октябрем اكتوبر",
    "november nov noviembre novembre ноябрь ноября ноябре ноябрем نوفمبر",
    "december dec dezember dez diciembre decembre декабрь декабря декабре декабрем ديسمبر",
)
_WEEKDAY_NAMES = (
    "monday mon montag lunes lundi понедельник понедельника الاثنين",
    "tuesday tue dienstag martes mardi вторник вторника الثلاثاء",
    "wednesday wed mittwoch miercoles mercredi среду среда среды الاربعاء",
    "thursday thu donnerstag jueves jeudi четверг четверга الخميس",
    "friday fri freitag viernes vendredi пятницу пятница пятницы الجمعة",
    "saturday sat samstag sonnabend sabado samedi субботу суббота субботы السبت",
    "sunday sun sonntag domingo dimanche воскресенье воскресенья الاحد",
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
UNSPACED = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
FRENCH = re.compile(
    r"\b(?:au|aux|avec|avons|avez|ai|as|ce|dans|est|et|etait|fait|j|je|l|la|le|les|ma|matin|mes|mon|n|nous|on|ou|pour"
    r"|qu|quand|que|quel|quelle|qui|quoi|soir|sur|une|vous)\b"
)
"""Words that distinguish the French `hier` from the German one."""
FRENCH_YESTERDAY = re.compile(r"(?<!avant-)(?<!avant )\bhier\b")


def _by_name(lists: tuple[str, ...]) -> dict[str, int]:
    return {name: at for at, names in enumerate(lists) for name in fold_for_index(names).split()}


def _any(names: Iterable[str], *, unspaced: bool | None = None) -> str:
    """A pattern for any of `names`, longest first."""
    some = (name for name in names if unspaced is None or unspaced is (re.match(UNSPACED, name) is not None))
    return "|".join(sorted(some, key=len, reverse=True))


def _like(pattern: str) -> re.Pattern[str]:
    return re.compile(fold_for_index(pattern))


MONTHS = {name: at + 1 for name, at in _by_name(_MONTH_NAMES).items()}
WEEKDAYS = _by_name(_WEEKDAY_NAMES)
HAN_WEEKDAYS = {name: at for at, names in enumerate(_HAN_WEEKDAYS) for name in names}
NUMBERS = _by_name(_NUMBER_NAMES)
UNITS = {name: days for days, names in _UNIT_NAMES.items() for name in fold_for_index(names).split()}
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
_TO = r" ?(?:-|–|—|~|〜) ?| (?:to|and|until|till|through|bis|und|al|y|au|et|по|и|до|الي|و|حتي) "
_FROM = "from|between|von|vom|zwischen|de|del|desde|entre|du|depuis|с|со|между|من|بين"
_TH = r"(?:st|nd|rd|th|\.|er)?"
DAYS_OF_MONTH = re.compile(
    rf"(?:\b({_FROM}) (?:the |dem |el |le )?)?(?<![\d./:-])\b(\d{{1,2}}){_TH}({_TO})(?:the |dem |den |zum |el |le )?"
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
    re.compile(pattern.format(n=rf"\d{{1,3}}|{_any(NUMBERS, unspaced=False)}", u=_any(UNITS, unspaced=False)))
    for pattern in (
        _WHOLE + r"\b({n}) ({u}) ago\b",
        r"\bvor ({n}) ({u})\b",
        r"\bhace ({n}) ({u})\b",
        r"\bil y a ({n}) ({u})\b",
        rf"(?:{_WHOLE}\b({{n}}) |(?<!\bодин )(?<!\bодну )\b(?=(?:день|неделю|месяц|год) ))({{u}}) назад\b",
        r"(?<![^\s])(?:قبل|منذ) (?:({n}) )?({u})(?![^\s.,!?؟])",
    )
)
HAN_AGO = re.compile(rf"(\d{{1,3}}|{HAN_COUNT})(?:个|個)? ?({HAN_UNIT})(?:之|以)? ?(?:前|전)")
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
         r"|(?<!avant-)(?<!avant )\bhier (?:soir|matin|apres)|^hier\b.{0,3}$", 1),
        (r"\btoday\b|\btonight\b|\bthis morning\b|\bheute\b|\bhoy\b|aujourd.?hui|今天|今日|今晚|今早|今朝"
         r"|きょう|오늘|\bсегодня\b"
         r"|(?<!\w)اليوم(?!\w)", 0),
    )
)  # fmt: skip

ON_WEEKDAY = re.compile(
    rf"\b(?:(last|this|on|since|until|till|before|after|from|to|through|between|and|und|von|zwischen|letzten|letztem|vergangenen|vorigen|am|diesen|dem|seit|bis|nach"
    rf"|vor|el|le|past|depuis|jusqu a|desde|hasta|в|во|с|со|до|после|прошлыи|прошлую|прошлое|прошлого|прошлои|يوم"
    rf"|منذ) )({_WEEKDAY})\b"
    r"(?: (?:pasado|dernier|الماضي|(last week|letzter? woche|la semana pasada|la semaine derniere)))?"
    rf"|\b({_WEEKDAY}) (?:pasado|dernier|(last week)|الماضي)\b"
)
HAN_WEEKDAY = re.compile(
    r"(上上|上|这|這|本|先々|先|今|지난 ?주|이번 ?주)? ?(?:个|個)?(?:周|週|星期|礼拜|禮拜)? ?の?"
    r"(?:(?<=[周週期拜])([一二三四五六日天])|([月火水木金土日])曜日?|([월화수목금토일])요일)"
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
        (r"\b(?:last|past) year\b|\bletzte[ns]? jahr|\bano pasado|\b(?:an|annee) (?:dernier|derniere|passee)|去年"
         r"|昨年|작년|지난 ?해|прошлом году"
         r"|(?:السنة|العام) الماضي(?:ة)?", 1),
        (r"\bthis year\b|diese[sm]? jahr|este ano|cette annee|今年|올해|этом году|هذ(?:ا العام|ه السنة)", 0),
    )
)  # fmt: skip

# seasons, parts of months, weeks of months -----------------------------------------------------------------------

_SEASON_NAMES = (
    "spring springtime fruhling fruhjahr primavera printemps весна весны весне весну весной الربيع ربيع 春 봄",
    "summer summertime sommer verano ete лето лета лету летом лете الصيف صيف 夏 여름",
    "autumn fall herbst otono automne осень осени осенью الخريف خريف 秋 가을",
    "winter wintertime invierno hiver зима зимы зиме зиму зимой الشتاء شتاء 冬 겨울",
)
_PART_NAMES = (
    "early|beginning of|start of|anfang|beginn|principios de|comienzos de|inicios de|debut|в начале|начало|начала"
    "|اوائل|بدايه|مطلع",
    "mid|middle of|mitte|mediados de|mi|в середине|середина|середины|منتصف|اواسط",
    "late|end of|ende|finales de|fines de|fin|в конце|конец|конца|اواخر|نهايه",
)
_HAN_PART_NAMES = ("上旬|初旬|初|초", "中旬|중순", "下旬|底|末|말")
_ORDINAL_NAMES = (
    "",
    "first 1st erste ersten erstes erster primer primera premier premiere первая первой первую первый первые первых"
    " الاول الاولى اول 第一 第1 最初 首 첫째 첫",
    "second 2nd zweite zweiten zweites zweiter segundo segunda deuxieme seconde вторая второй вторую вторые вторых"
    " الثاني الثانية ثاني 第二 第2 둘째",
    "third 3rd dritte dritten drittes dritter tercer tercera troisieme третья третьей третью третий третьи третьих"
    " الثالث الثالثة ثالث 第三 第3 셋째",
    "fourth 4th vierte vierten viertes vierter cuarto cuarta quatrieme четвертая четвертой четвертую четвертый"
    " четвертые الرابع الرابعة رابع 第四 第4 넷째",
    "fifth 5th funfte funften funftes quinto quinta cinquieme пятая пятой пятую пятый пятые الخامس 第五 第5 다섯째",
)
_LAST_NAMES = (
    "last letzte letzten letztes letzter ultimo ultima dernier derniere последняя последней последнюю последний"
    " последние последних الاخير الاخيرة اخر 最后一 最後 마지막"
)
SEASONS = _by_name(_SEASON_NAMES)
PARTS = {
    name: at for names in (_PART_NAMES, _HAN_PART_NAMES) for at, one in enumerate(names) for name in one.split("|")
}
ORDINALS = _by_name(_ORDINAL_NAMES) | dict.fromkeys(fold_for_index(_LAST_NAMES).split(), -1)
WEEKEND_NAMES = (
    "weekend|wochenende|fin de semana|week-? ?end|выходные|выходных|عطله نهايه اسبوع|عطله نهايه الاسبوع|نهايه اسبوع"
    "|周末|週末|주말"
)
_WEEK_NAMES = "week|woche|semana|semaine|неделя|неделе|неделю|недели|اسبوع|الاسبوع|星期|周|週|주"
_ORDINAL = _any(ORDINALS, unspaced=False)
_HAN_ORDINAL = _any(ORDINALS, unspaced=True)
_OF = r"(?: of| in| im| des| vom| von| de| del| d| en| в| من| في)?(?: the)?"
_OF_YEAR = rf"(?:,?(?: of| in| im jahr| des jahres| de| del| عام| سنه)? ({_YEAR}))?"
_SHY = frozenset({"spring", "fall", "ete", "ربيع", "صيف", "خريف", "شتاء", "봄"})
"""Seasons that as often mean something else: they need a year or a word before them other than an article."""

SEASON = re.compile(
    rf"\b(?:(in the|in|during the|over the|since|until|before|after|this|the|early|late|mid|en|l|d|cet|cette|im|diesen"
    rf"|этим|этои|في|last|past|previous|letzte[nrms]|vergangene[nm]|vorige[nm]|pasad[oa]|прошл(?:ым|ои|ое|ую|ого)|next"
    rf"|nachste[nmr]|proxim[oa]) )?(?:({_any(set(SEASONS) - _SHY, unspaced=False)})|({_any(_SHY, unspaced=False)}))\b"
    rf"(?: (pasad[oa]|dernier|derniere|passe|الماضي|before last))?{_OF_YEAR}(?: ?([-/–]) ?(?:{_YEAR}|\d\d)\b)?"
)
"""The last group tells if a second year follows: of a winter, the first one is when it begins."""
HAN_SEASON = re.compile(
    r"(?:(\d{4}) ?[年년] ?の?)?(上个|上個|지난 ?|この前の)?"
    r"(?:(?:(?<=年)|(?<=年の)|(?<=この)|(?<=今))([春夏秋冬])(?![节節])|([春夏秋冬])(?=天|季|に|休み|の間)|(여름|가을|겨울)"
    r"|(봄)(?=에|철| 동안))[天季]?"
)
LAST = re.compile(r"last|past|previous|letzt|vergangen|vorig|pasad|прошл|dernier|passe|الماضي|上|지난|この前")
NEXT = re.compile(r"next|nachst|proxim")
PART_OF_MONTH = re.compile(
    rf"\b({'|'.join(_PART_NAMES)})(?:-| )?(?:of |in |im |de |d |monat |شهر )?({_MONTH})\b"
    rf"(?:,?(?: de| del| of| عام| سنه)? ({_YEAR}))?"
)
HAN_PART_OF_MONTH = re.compile(
    rf"(?:(\d{{4}}) ?[年년] ?)?(?:(去年|昨年|今年|작년|올해) ?의?の?)?({_HAN_NUMBER}) ?[月월] ?"
    r"(上旬|初旬|初|中旬|下旬|底|末|중순|초(?=$|[ 에,.?])|말(?=$|[ 에,.?]))"
)
PART_OF_YEAR = re.compile(rf"\b({'|'.join(_PART_NAMES)})(?:-| )?(?:of |de |des jahres |года )?({_YEAR})\b")
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
    rf"|apres|depuis|le|ce|du|et|entre) )?({_names(FEASTS, unspaced=False)})\b(?: (pasad[oa]|dernier|derniere|الماضي))?"
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
    """`month_first`: 12/7 is in December; None: unknown."""

    month_first: bool | None = None
    is_southern: bool = False


ANYWHERE = Region()


def region_of(zone: ZoneInfo) -> Region:
    key = zone.key or ""
    month_first = True if _MONTH_FIRST.fullmatch(key) else False if _DAY_FIRST.fullmatch(key) else None
    return Region(month_first, _SOUTHERN.fullmatch(key) is not None)
