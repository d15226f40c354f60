"""Words that are true on one day only get that day beside them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.languages.dates import days_named
from agent.languages.days_meant import day_ahead, relative_days, with_days, without_days

TUESDAY = date(2026, 5, 5)
WEDNESDAY = date(2026, 5, 6)
SUNDAY = date(2026, 5, 10)
WORDS = (
    "tomorrow", "yesterday", "on Friday", "last Monday", "next Sunday", "in 3 days", "2 days ago", "morgen", "gestern",
    "am Freitag", "bis Montag", "mañana", "el lunes", "demain", "vendredi prochain", "明天", "下周五", "周五", "三天后",
    "来週の金曜日", "내일", "다음 주 금요일", "завтра", "в пятницу", "غدا", "2026-05-08", "8 May 2026", "(2026-05-06)",
    "dentist", "at ten", ">", "- ", "…", "\n", "(", "99999 days ago",
)  # fmt: skip


@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("the dentist tomorrow at ten", "2026-05-06"),
        ("the day after tomorrow we leave", "2026-05-07"),
        ("yesterday Ben came, tomorrow Ann", "2026-05-04, 2026-05-06"),
        ("I saw Ben last Friday", "2026-05-01"),
        ("next Monday at Ben's", "2026-05-11"),
        ("next Friday at Ben's", "2026-05-08 / 2026-05-15"),  # of this week, or of the next one
        ("last Monday at Ben's", "2026-05-04 / 2026-04-27"),
        ("this coming Friday", "2026-05-08"),
        ("SEE YOU TOMORROW", "2026-05-06"),
        ("- 09:12 Alice: Morgen früh rufe ich an", "2026-05-06"),
        ("the course will begin in ten days", "2026-05-15"),
        ("in three days we'll know", "2026-05-08"),
        ("in three days I fly home", "2026-05-08"),
        ("три дня назад", "2026-05-02"),
        ("видел его день назад", "2026-05-04"),
        ("我前天去了", "2026-05-03"),
        ("前天晚上下雨", "2026-05-03"),
        ("明日の朝", "2026-05-06"),
        ("hier soir chez Luc", "2026-05-04"),
        ("since last Sunday it rains", "2026-05-03"),
        ("in three days it is over", "2026-05-08"),
        ("2 days ago it began", "2026-05-03"),
        ("on Friday next week", "2026-05-15"),
        ("gestern war ich beim Arzt, morgen gehe ich wieder", "2026-05-04, 2026-05-06"),
        ("Morgen früh rufe ich an", "2026-05-06"),
        ("Ich komme morgen.", "2026-05-06"),
        ("nächsten Dienstag zum Zahnarzt", "2026-05-12"),
        ("letzten Samstag war Markt", "2026-05-02"),
        ("vor drei Tagen", "2026-05-02"),
        ("mañana por la mañana", "2026-05-06"),
        ("el viernes que viene", "2026-05-08"),
        ("lundi prochain chez Luc", "2026-05-11"),
        ("dopodomani partiamo", "2026-05-07"),
        ("fra 10 giorni finisce", "2026-05-15"),
        ("lunedì prossimo da Luca", "2026-05-11"),
        ("domattina dal dentista", "2026-05-06"),
        ("après-demain", "2026-05-07"),
        ("下周五看牙医", "2026-05-15"),
        ("上周三见了王医生", "2026-04-29"),
        ("三天后出发", "2026-05-08"),
        ("来週の金曜日に歯医者", "2026-05-15"),
        ("明後日", "2026-05-07"),
        ("다음 주 금요일에 치과", "2026-05-15"),
        ("послезавтра врач", "2026-05-07"),
        ("غدا الطبيب", "2026-05-06"),
    ],
)
def test_the_day_stands_behind_what_was_said(said: str, days: str) -> None:
    assert with_days(said, TUESDAY) == f"{said} ({days})"


@pytest.mark.parametrize(
    "said",
    [
        "dentist on Friday at ten",
        "moved it to Friday",
        "I send it by Friday",
        "this Friday was long",
        "until Friday I am ill",
        "See you Friday",
        "on Friday Ben comes",
        "Friday at 10:30",
        "bis Freitag",
        "diesen Freitag",
        "hasta el viernes",
        "ce vendredi",
        "до пятницы",
        "am Freitag",
        "el viernes",
        "周五看牙医",
        "金曜日に",
        "в пятницу",
    ],
)
def test_of_a_weekday_alone_both_are_written(said: str) -> None:
    """The tense tells nothing: "she said she would come on Friday"."""
    assert with_days(said, TUESDAY) == f"{said} (2026-05-08 / 2026-05-01)"


@pytest.mark.parametrize(
    "said",
    [
        "Guten Morgen! Heute Morgen war es kalt",
        "every Friday we swim",
        "los viernes nado",
        "le vendredi je nage",
        "每周三游泳",
        "一周三次游泳",
        "本周天气很好",
        "以后天天运动",
        "二十天后回来",
        "Monday to Friday, nine to five",
        "Black Friday is loud",
        "the sun sat on mon ami",
        "today is fine, tonight too",
        "we met on Tuesday",  # it may be the very day
        "a week from Friday",
        "next week, or in a month",
        "Friday 2026-05-08",
        "on Friday (8 May 2026)",
        "yesterday (2026-05-04)",
        "> he wrote: see you tomorrow",
        f"tomorrow {'and on ' * 400}",
    ],
)
def test_what_is_clear_vague_or_not_theirs_stays(said: str) -> None:
    assert with_days(said, TUESDAY) == said


@pytest.mark.parametrize(
    "said",
    [
        "Friday, May 22",
        "Friday 22 May",
        "Friday the 22nd",
        "Friday the 13th",
        "Friday 5/22 dentist",
        "viernes 22",
        "el viernes 22 de mayo",
        "am Freitag, den 22. Mai",
        "am Freitag, den 22.",
        "vendredi 22 mai",
        "пятница, 22 мая",
        "next Friday, 2026-05-15",
        "next Friday (May 15) we leave",
        "5月22日金曜日",
    ],
)
def test_of_a_day_spelt_out_no_other_is_written(said: str) -> None:
    assert with_days(said, TUESDAY) == said


@pytest.mark.parametrize(
    "said",
    [
        "a week from tomorrow",
        "a week tomorrow",
        "a year ago tomorrow",
        "a month ago yesterday",
        "Morgen in einer Woche fliege ich",
        "demain en huit",
        "last Friday of the month",
        "last Friday of every month",
        "the second Friday in June",
        "am ersten Montag im Juni",
        "every other Friday",
        "every Monday and Friday",
        "I swim Monday and Friday",
        "usually I swim on Friday",
        "jeden zweiten Freitag",
        "ogni lunedì palestra",
        "il lunedì vado in palestra",
        "on a Friday",
        "the Friday before Easter",
        "the Friday after the wedding",
        "Friday a week ago",
        "Friday after next",
        "next next Friday",
        "next week on Monday",
        "next week I am in Rome, and back on Saturday",
        "на следующей неделе в пятницу",
        "Easter Monday we travel",
        "Domingo de Ramos",
        "Cyber Monday deals",
        "Viernes Santo en Sevilla",
        "чёрная пятница",
        "окружающая среда",
        "du lundi au vendredi",
        "de lunes a viernes",
        "Friday - Sunday",
        "two days before the wedding",
        "two days after the wedding",
        "через два дня после свадьбы",
        "in three days he recovered",
        "I read it in three days",
        "en tres días se recuperó",
        "dans huit jours",
        "day before the day before yesterday",
        "On Sunday he wrote: I'll be there tomorrow",
        "not tomorrow but Friday",
        "Gestern sagte er, er komme morgen",
    ],
)
def test_what_is_counted_from_something_else_stays(said: str) -> None:
    assert with_days(said, TUESDAY) == said


@pytest.mark.parametrize(
    "said",
    [
        *("目前天气很冷", "以前天天跑步", "雨后天晴", "先天和后天", "后天的努力", "大前天", "大后天", "上周一直下雨"),
        *("下周一起吃饭", "上周三天没睡", "两三天前", "三、四天后", "2~3天后", "10.5天后", "手术后三天后", "三天前后"),
        *("5月8日前交", "每月15日前交房租", "15日前に払う", "三天后他走了", "周一到周五", "周一至周五", "黑色星期五"),
        *(
            "第二个周日",
            "下个月的周五",
            "毎月曜日",
            "隔週金曜日",
            "月・水・金曜日",
            "月曜から金曜まで",
            "日曜大工が趣味",
        ),
        *(
            "明日香さん",
            "明日葉の天ぷら",
            "結婚式の2日後",
            "手術後3日後",
            "誕生日の三日前",
            "금요일마다",
            "매주 금요일",
        ),
    ],
)
def test_parts_of_longer_words_without_spaces_stay(said: str) -> None:
    assert with_days(said, TUESDAY) == said


@pytest.mark.parametrize(
    "said",
    [
        *(
            "twenty-five days ago",
            "twenty two days ago",
            "a hundred and two days ago",
            "1,200 days ago",
            "1 200 days ago",
        ),
        *("1.5 days ago", "2-3 days ago", "two or three days ago", "vor zwei bis drei Tagen", "двадцать два дня назад"),
        *("двадцать один день назад", "in a day or two", "in 2-3 days", "in two or three days"),
    ],
)
def test_a_part_of_a_number_is_none(said: str) -> None:
    assert with_days(said, TUESDAY) == said
    assert days_named(said, TUESDAY) == ()


@pytest.mark.parametrize(
    "said",
    [
        *(
            "Morgen!",
            "Morgen zusammen, wie geht's",
            "Guten Morgen",
            "am frühen Morgen",
            "gegen Morgen",
            "es war Morgen",
        ),
        *("10 Morgen Wald", "die Mode von morgen", "Schnee von gestern", "a las ocho de la mañana", "muy de mañana"),
        *("un mañana mejor", "Hier!", "Hier wohne ich", "hier :)", "né d'hier", "I was not born yesterday"),
        *("Tomorrow never dies", "a better tomorrow", "like there is no tomorrow", "the song Yesterday by the Beatles"),
        *("We watched The Day After Tomorrow", 'We watched "The Day After Tomorrow"', "Professor Ayer wrote it"),
        *("Wednesday Addams is great", "the Sunday Times wrote", "Santo Domingo es bonito", "Friday's child"),
        *("»morgen« und “tomorrow” und „gestern“", "«завтра»", "「明日」", "see `tomorrow.py` and `on Friday`"),
        *("https://example.org/tomorrow/friday", "friday@example.org wrote", "TODO_friday.md", "[tomorrow](a/b.md)"),
        *("# Tomorrow", "| tomorrow | b |", "  > tomorrow", "- > tomorrow", "<!-- tomorrow -->", "    tomorrow = 1"),
        *("```\nprint(tomorrow)\n```", "~~~\ntomorrow", "<!--\ntomorrow\n-->", "a tomorrow-friendly policy"),
    ],
)
def test_names_sayings_quotations_and_code_stay(said: str) -> None:
    assert with_days(said, TUESDAY) == said


@pytest.mark.parametrize(
    ("said", "days"),
    [
        ("next Thursday we fly", "2026-05-07 / 2026-05-14"),
        ("nächsten Donnerstag fliegen wir", "2026-05-07 / 2026-05-14"),
        ("this Monday I saw the dentist", "2026-05-11 / 2026-05-04"),
        ("Bis Montag war ich krank", "2026-05-11 / 2026-05-04"),
    ],
)
def test_a_weekday_of_this_week_or_of_another(said: str, days: str) -> None:
    assert with_days(said, WEDNESDAY) == f"{said} ({days})"


@pytest.mark.parametrize("said", ["on Friday next week", "下周五", "来週の金曜日"])
def test_of_sunday_it_is_not_known_in_which_week_it_is(said: str) -> None:
    assert with_days(said, SUNDAY) == f"{said} (2026-05-15 / 2026-05-22)"
    assert with_days("下周日", TUESDAY) == "下周日 (2026-05-17 / 2026-05-10)"


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("see you tomorrow (from: a mail)", "see you tomorrow (2026-05-06) (from: a mail)"),
        ("tomorrow (from: a) (from: b)", "tomorrow (2026-05-06) (from: a) (from: b)"),
        ("tomorrow (2026-03-04), and more", "tomorrow (2026-03-04), and more"),
        ("tomorrow (2026-03-04) (from: a mail)", "tomorrow (2026-03-04) (from: a mail)"),
        ("```\ntomorrow\n```\ntomorrow", "```\ntomorrow\n```\ntomorrow (2026-05-06)"),
    ],
)
def test_on_a_later_day_nothing_is_added(said: str, written: str) -> None:
    assert with_days(said, TUESDAY) == written
    assert with_days(written, SUNDAY) == written
    assert without_days(written) == without_days(said)


def test_a_day_beside_its_weekday_is_one_day() -> None:
    assert with_days("tomorrow, on Wednesday", TUESDAY).endswith(" (2026-05-06)")
    assert relative_days("Friday, that is in three days", TUESDAY) == ((date(2026, 5, 8),),)


def test_each_line_has_its_own() -> None:
    text = "The week:\n- tomorrow Ann\n- milk\n- yesterday Ben"
    assert with_days(text, TUESDAY) == "The week:\n- tomorrow Ann (2026-05-06)\n- milk\n- yesterday Ben (2026-05-04)"


def test_a_promise_is_of_a_day_to_come() -> None:
    assert day_ahead("send the invoice on Friday", TUESDAY) == date(2026, 5, 8)
    assert day_ahead("send what came yesterday", TUESDAY) is None
    assert day_ahead("call on Thursday or on Friday", TUESDAY) is None
    assert day_ahead("call next Friday", TUESDAY) is None  # of this week or of the next one
    assert day_ahead("dentist next Friday, 2026-05-15", TUESDAY) == date(2026, 5, 15)
    assert day_ahead("yesterday (2026-05-04) we met", TUESDAY) is None


@given(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), st.dates())
def test_nothing_that_was_said_is_lost(said: str, day: date) -> None:
    written = with_days(said, day)
    assert with_days(written, day) == written
    for line, before in zip(written.split("\n"), said.split("\n"), strict=True):
        assert line.startswith(before.rstrip())
        assert line == before or without_days(line) == before.rstrip()
    for days in relative_days(said.replace("99999", "9"), day):
        assert all(abs(one - day) < timedelta(days=22) for one in days) and len(days) <= 2


@given(st.text(), st.dates())
def test_any_text_is_taken(said: str, day: date) -> None:
    assert with_days(said, day).startswith(said.split("\n")[0].rstrip())
