"""Days that questions name, against a user's today."""

from __future__ import annotations

from datetime import date
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.languages.date_words import region_of
from agent.languages.dates import days_named, without_days, written_day
from agent.languages.feasts import Span

TODAY = date(2026, 11, 21)  # a Saturday


def day(written: str) -> Span:
    return date.fromisoformat(written), date.fromisoformat(written)


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What did I eat on 3 May?", "2026-05-03", "2026-05-03"),
        ("dinner on May 3rd, 2023", "2023-05-03", "2023-05-03"),
        ("the 24th of December", "2025-12-24", "2025-12-24"),
        ("what happened 2026-10-02", "2026-10-02", "2026-10-02"),
        ("Was war am 3. März?", "2026-03-03", "2026-03-03"),
        ("am 5.11.2025", "2025-11-05", "2025-11-05"),
        ("el 3 de mayo de 2024", "2024-05-03", "2024-05-03"),
        ("le 14 juillet", "2026-07-14", "2026-07-14"),
        ("4月27号这天", "2026-04-27", "2026-04-27"),
        ("去年三月5日", "2025-03-05", "2025-03-05"),
        ("what did I do yesterday", "2026-11-20", "2026-11-20"),
        ("昨天吃了什么", "2026-11-20", "2026-11-20"),
        ("vorgestern", "2026-11-19", "2026-11-19"),
        ("who called last Tuesday?", "2026-11-17", "2026-11-17"),
        ("last Saturday", "2026-11-14", "2026-11-14"),
        ("letzten Freitag", "2026-11-20", "2026-11-20"),
        ("上周三", "2026-11-11", "2026-11-11"),
        ("上周聊了什么", "2026-11-09", "2026-11-15"),
        ("last week", "2026-11-09", "2026-11-15"),
        ("last weekend", "2026-11-14", "2026-11-15"),
        ("im März", "2026-03-01", "2026-03-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("in May 2023", "2023-05-01", "2023-05-31"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("two days ago", "2026-11-19", "2026-11-19"),
        ("during 2023", "2023-01-01", "2023-12-31"),
        ("去年去了哪里", "2025-01-01", "2025-12-31"),
        ("29 February", "2024-02-29", "2024-02-29"),
        ("last night", "2026-11-20", "2026-11-20"),
        ("a few weeks ago", "2026-10-10", "2026-11-07"),
        ("the week before last", "2026-11-02", "2026-11-08"),
        ("vor acht Tagen", "2026-11-11", "2026-11-17"),
        ("vorletztes Jahr", "2024-01-01", "2024-12-31"),
        ("Qu'est-ce que j'ai fait hier ?", "2026-11-20", "2026-11-20"),
        ("hier soir", "2026-11-20", "2026-11-20"),
        ("le week-end dernier", "2026-11-14", "2026-11-15"),
        ("il y a une semaine", "2026-11-11", "2026-11-17"),
        ("antes de ayer", "2026-11-19", "2026-11-19"),
        ("hace dos meses", "2026-09-07", "2026-10-07"),
        ("che cosa abbiamo fatto l'altro ieri?", "2026-11-19", "2026-11-19"),
        ("la settimana scorsa", "2026-11-09", "2026-11-15"),
        ("due mesi fa", "2026-09-07", "2026-10-07"),
        ("dal 3 al 5 maggio", "2026-05-03", "2026-05-05"),
        ("tra il 3 e il 5 maggio", "2026-05-03", "2026-05-05"),
        ("一昨日は?", "2026-11-19", "2026-11-19"),
        ("先週の火曜日", "2026-11-10", "2026-11-10"),
        ("火曜日に何をした", "2026-11-17", "2026-11-17"),
        ("2か月前", "2026-09-07", "2026-10-07"),
        ("去年の3月", "2025-03-01", "2025-03-31"),
        ("上上个月", "2026-09-01", "2026-09-30"),
        ("上週三", "2026-11-11", "2026-11-11"),
        ("어제 뭐 했어?", "2026-11-20", "2026-11-20"),
        ("지난주 화요일", "2026-11-10", "2026-11-10"),
        ("지난 화요일", "2026-11-17", "2026-11-17"),
        ("두 달 전", "2026-09-07", "2026-10-07"),
        ("3월 14일", "2026-03-14", "2026-03-14"),
        ("2023년 5월", "2023-05-01", "2023-05-31"),
        ("Что я делал вчера?", "2026-11-20", "2026-11-20"),
        ("на прошлой неделе", "2026-11-09", "2026-11-15"),
        ("в прошлый вторник", "2026-11-17", "2026-11-17"),
        ("два месяца назад", "2026-09-07", "2026-10-07"),
        ("неделю назад", "2026-11-11", "2026-11-17"),
        ("в мае 2023", "2023-05-01", "2023-05-31"),
        ("ماذا فعلت أمس؟", "2026-11-20", "2026-11-20"),
        ("أول أمس", "2026-11-19", "2026-11-19"),
        ("الأسبوع الماضي", "2026-11-09", "2026-11-15"),
        ("قبل شهرين", "2026-09-07", "2026-10-07"),
        ("يوم الثلاثاء الماضي", "2026-11-17", "2026-11-17"),
        ("14 مارس", "2026-03-14", "2026-03-14"),
        ("Tuesday last week", "2026-11-10", "2026-11-10"),
        ("13/07/2023", "2023-07-13", "2023-07-13"),
        ("07/31/23", "2023-07-31", "2023-07-31"),
        ("٣ مايو ٢٠٢٣", "2023-05-03", "2023-05-03"),
        # parts of a month, and of a year
        ("mid-August", "2026-08-10", "2026-08-20"),
        ("in early May", "2026-05-01", "2026-05-10"),
        ("late March 2024", "2024-03-21", "2024-03-31"),
        ("at the end of February", "2026-02-21", "2026-02-28"),
        ("Mitte März", "2026-03-10", "2026-03-20"),
        ("a finales de abril", "2026-04-21", "2026-04-30"),
        ("début mai", "2026-05-01", "2026-05-10"),
        ("в начале мая", "2026-05-01", "2026-05-10"),
        ("أواخر مايو", "2026-05-21", "2026-05-31"),
        ("五月初", "2026-05-01", "2026-05-10"),
        ("5月中旬に", "2026-05-10", "2026-05-20"),
        ("5월 말에", "2026-05-21", "2026-05-31"),
        ("early 2023", "2023-01-01", "2023-04-30"),
        ("Ende 2024", "2024-09-01", "2024-12-31"),
        # weeks, weekends and weekdays of a month
        ("the first weekend of October", "2026-10-03", "2026-10-04"),
        ("the second week of November", "2026-11-08", "2026-11-14"),
        ("the last week of May 2024", "2024-05-25", "2024-05-31"),
        ("last Monday of May", "2026-05-25", "2026-05-25"),
        ("zweite Woche im November", "2026-11-08", "2026-11-14"),
        ("am ersten Wochenende im Oktober", "2026-10-03", "2026-10-04"),
        ("el primer fin de semana de octubre", "2026-10-03", "2026-10-04"),
        ("il primo fine settimana di ottobre", "2026-10-03", "2026-10-04"),
        ("la deuxième semaine de novembre", "2026-11-08", "2026-11-14"),
        ("le premier week-end d'octobre", "2026-10-03", "2026-10-04"),
        ("на второй неделе ноября", "2026-11-08", "2026-11-14"),
        ("الأسبوع الثاني من نوفمبر", "2026-11-08", "2026-11-14"),
        ("十月第一个周末", "2026-10-03", "2026-10-04"),
        ("11月の第2週", "2026-11-08", "2026-11-14"),
        ("11월 둘째 주", "2026-11-08", "2026-11-14"),
    ],
)
def test_a_day_or_a_span_is_understood(query: str, first: str, last: str) -> None:
    assert days_named(query, TODAY) == ((date.fromisoformat(first), date.fromisoformat(last)),)


@pytest.mark.parametrize(
    "query",
    [
        "May I come in?",
        "room 2.30",
        "",
        "tea",
        "Was war hier los?",
        "Wo ist hier der Laden?",
        "the fall of the wall",
        "I met her at the estate in Kent",
        "J'ai été malade",
        "Noel called me",
        "where do we go next summer?",
        "3/4 of the cake",
    ],
)
def test_what_names_no_day_means_none(query: str) -> None:
    assert days_named(query, TODAY) == ()


def test_of_two_readings_that_cannot_be_told_apart_both_are_meant() -> None:
    assert days_named("on 12/07/2023", TODAY) == (day("2023-07-12"), day("2023-12-07"))
    assert days_named("winter 2023", TODAY) == (
        (date(2022, 12, 1), date(2023, 2, 28)),
        (date(2023, 12, 1), date(2024, 2, 29)),
    )


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("America/Chicago", ["2023-12-07"]),
        ("Europe/Berlin", ["2023-07-12"]),
        ("Australia/Sydney", ["2023-07-12"]),
        ("America/Toronto", ["2023-07-12", "2023-12-07"]),
        ("UTC", ["2023-07-12", "2023-12-07"]),
    ],
)
def test_where_somebody_lives_tells_what_comes_first(zone: str, expected: list[str]) -> None:
    region = region_of(ZoneInfo(zone))
    assert days_named("on 12/07/2023", TODAY, region) == tuple(map(day, expected))
    assert days_named("on 13/07/2023", TODAY, region) == (day("2023-07-13"),)


def test_south_of_the_equator_summer_is_at_the_turn_of_the_year() -> None:
    (summer,) = days_named("last summer", TODAY, region_of(ZoneInfo("Australia/Sydney")))
    assert summer == (date(2025, 12, 1), date(2026, 2, 28))


@given(st.text(max_size=60), st.dates())
def test_any_text_on_any_day_can_be_read(query: str, today: date) -> None:
    assert all(first <= last for first, last in days_named(query, today))


PIECES = st.lists(
    st.sampled_from(
        [
            "last",
            "this",
            "week",
            "31",
            "2",
            "may",
            "9999",
            "0001",
            "年",
            "13月",
            "40日",
            "上周日",
            "十二月",
            "ago",
            "three",
            "years",
            "vor",
            "999",
            "tagen",
            "hace",
            "since",
            "before",
            "between",
            "and",
            "to",
            "christmas",
            "last summer",
            "winter",
            "easter",
            "春节",
            "ramadan",
            "first week of",
            "early",
            "12/07/2023",
            "week",
            "after",
            "後",
            "から",
        ]
    )
).map(" ".join)


@given(PIECES, st.sampled_from([date.min, date.max, TODAY, date(2024, 2, 29)]))
def test_words_of_time_in_any_order_can_be_read(query: str, today: date) -> None:
    assert all(first <= last for first, last in days_named(query, today))


@given(st.text(max_size=60))
def test_what_is_left_of_any_text_can_be_read(query: str) -> None:
    assert isinstance(without_days(query), str)
    assert written_day(query) is None or query


def test_what_is_left_names_no_day() -> None:
    assert without_days("What did Anna eat on 3 May 2023?").split() == ["what", "did", "anna", "eat", "?"]
    assert without_days("Was Anna ill two days after 3 May?").split() == ["was", "anna", "ill", "?"]
    assert without_days("5月3日の二日後のケーキ").split() == ["のケーキ"]


@pytest.mark.parametrize(
    "heading", ["2026-02-10", "Tue, 10 February 2026", "10.2.2026", "February 10, 2026", "2026年2月10日"]
)
def test_a_day_that_is_written_out(heading: str) -> None:
    assert written_day(heading) == date(2026, 2, 10)


@pytest.mark.parametrize("heading", ["February", "10 February", "2026", "Plans", "2026-13-40", ""])
def test_a_day_that_is_not(heading: str) -> None:
    assert written_day(heading) is None
