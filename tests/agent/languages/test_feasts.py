"""Seasons and feasts that questions name."""

from __future__ import annotations

from datetime import date

import pytest

from agent.languages.dates import days_named
from agent.languages.feasts import FEASTS, nth_weekday

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What did we do last summer?", "2026-06-01", "2026-08-31"),
        ("this winter", "2025-12-01", "2026-02-28"),
        ("in spring", "2026-03-01", "2026-05-31"),
        ("last fall", "2025-09-01", "2025-11-30"),
        ("this fall", "2026-09-01", "2026-11-30"),
        ("the summer before last", "2025-06-01", "2025-08-31"),
        ("the summer of 2023", "2023-06-01", "2023-08-31"),
        ("winter 2023/24", "2023-12-01", "2024-02-29"),
        ("summer last year", "2025-06-01", "2025-08-31"),
        ("letzten Sommer", "2026-06-01", "2026-08-31"),
        ("letztes Jahr im Sommer", "2025-06-01", "2025-08-31"),
        ("im Herbst 2024", "2024-09-01", "2024-11-30"),
        ("el verano pasado", "2026-06-01", "2026-08-31"),
        ("la primavera de 2024", "2024-03-01", "2024-05-31"),
        ("l'été dernier", "2026-06-01", "2026-08-31"),
        ("l'estate scorsa", "2026-06-01", "2026-08-31"),
        ("nell'estate 2023", "2023-06-01", "2023-08-31"),
        ("en été 2023", "2023-06-01", "2023-08-31"),
        ("прошлым летом", "2026-06-01", "2026-08-31"),
        ("летом 2023 года", "2023-06-01", "2023-08-31"),
        ("الصيف الماضي", "2026-06-01", "2026-08-31"),
        ("صيف 2023", "2023-06-01", "2023-08-31"),
        ("去年夏天去了哪里", "2025-06-01", "2025-08-31"),
        ("2023年秋天", "2023-09-01", "2023-11-30"),
        ("去年の夏", "2025-06-01", "2025-08-31"),
        ("夏休みに", "2026-06-01", "2026-08-31"),
        ("지난 여름에", "2026-06-01", "2026-08-31"),
        ("작년 봄에", "2025-03-01", "2025-05-31"),
    ],
)
def test_a_season_is_the_last_one_past(query: str, first: str, last: str) -> None:
    assert days_named(query, TODAY) == ((date.fromisoformat(first), date.fromisoformat(last)),)


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What did I get for Christmas?", "2025-12-24", "2025-12-26"),
        ("on Christmas Eve 2023", "2023-12-24", "2023-12-24"),
        ("New Year's Eve", "2025-12-31", "2025-12-31"),
        ("New Year’s Day 2024", "2024-01-01", "2024-01-01"),
        ("over New Year", "2025-12-31", "2026-01-01"),
        ("Halloween last year", "2025-10-31", "2025-10-31"),
        ("Halloween", "2026-10-31", "2026-10-31"),
        ("Valentine's Day", "2026-02-14", "2026-02-14"),
        ("Thanksgiving", "2025-11-27", "2025-11-27"),
        ("Black Friday 2024", "2024-11-29", "2024-11-29"),
        ("Mother's Day", "2026-05-10", "2026-05-10"),
        ("Easter 2024", "2024-03-29", "2024-04-01"),
        ("Good Friday", "2026-04-03", "2026-04-03"),
        ("zu Weihnachten", "2025-12-24", "2025-12-26"),
        ("an Silvester 2024", "2024-12-31", "2024-12-31"),
        ("letzte Ostern", "2026-04-03", "2026-04-06"),
        ("Pfingsten 2025", "2025-06-07", "2025-06-09"),
        ("en Navidad", "2025-12-24", "2025-12-26"),
        ("la Nochevieja pasada", "2025-12-31", "2025-12-31"),
        ("Semana Santa", "2026-03-29", "2026-04-05"),
        ("à Noël", "2025-12-24", "2025-12-26"),
        ("Pâques 2025", "2025-04-18", "2025-04-21"),
        ("на Рождество", "2026-01-06", "2026-01-07"),
        ("на Пасху", "2026-04-12", "2026-04-13"),
        ("на Новый год", "2025-12-31", "2026-01-01"),
        ("عيد الميلاد", "2025-12-24", "2025-12-26"),
        ("عيد الفطر", "2026-03-19", "2026-03-23"),
        ("圣诞节", "2025-12-24", "2025-12-26"),
        ("去年春节", "2025-01-29", "2025-02-04"),
        ("中秋节", "2026-09-24", "2026-09-26"),
        ("Chinese New Year 2024", "2024-02-10", "2024-02-16"),
        ("大晦日", "2025-12-31", "2025-12-31"),
        ("去年のクリスマス", "2025-12-24", "2025-12-26"),
        ("추석", "2026-09-24", "2026-09-26"),
        ("크리스마스에", "2025-12-24", "2025-12-26"),
        ("Ramadan 2025", "2025-02-28", "2025-03-31"),
    ],
)
def test_a_feast_is_on_its_days(query: str, first: str, last: str) -> None:
    assert days_named(query, TODAY) == ((date.fromisoformat(first), date.fromisoformat(last)),)


def test_the_last_one_is_over() -> None:
    christmas = date(2026, 12, 25)
    assert days_named("at Christmas", christmas) == ((date(2026, 12, 24), date(2026, 12, 26)),)
    assert days_named("last Christmas", christmas) == ((date(2025, 12, 24), date(2025, 12, 26)),)


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("easter sunday", "2000-04-23 2008-03-23 2011-04-24 2019-04-21 2024-03-31 2030-04-21 2038-04-25"),
        ("春节", "2000-02-05 2007-02-18 2012-01-23 2015-02-19 2020-01-25 2023-01-22 2026-02-17 2029-02-13"),
        ("端午", "2018-06-18 2020-06-25 2023-06-22 2025-05-31 2026-06-19"),
        ("thanksgiving", "2022-11-24 2023-11-23 2024-11-28"),
        ("memorial day", "2023-05-29 2024-05-27 2026-05-25"),
    ],
)
def test_a_feast_that_moves(name: str, days: str) -> None:
    for one in map(date.fromisoformat, days.split()):
        assert FEASTS[name](one.year)[0][0] == one


@pytest.mark.parametrize(
    ("name", "days"),
    [
        ("пасха", "2021-05-02 2023-04-16 2024-05-05 2025-04-20 2026-04-12"),
        ("中秋", "2018-09-24 2020-10-01 2022-09-10 2023-09-29 2025-10-06 2028-10-03"),
        ("ramadan", "2021-04-13 2023-03-23 2024-03-11 2025-03-01 2026-02-18"),
    ],
)
def test_a_feast_of_several_days_holds_its_day(name: str, days: str) -> None:
    for one in map(date.fromisoformat, days.split()):
        assert any(first <= one <= last for first, last in FEASTS[name](one.year))


def test_every_feast_can_be_computed_for_two_centuries() -> None:
    for feast in set(FEASTS.values()):
        assert all(first <= last for year in range(1_900, 2_201) for first, last in feast(year))


def test_a_month_has_four_or_five_of_a_weekday() -> None:
    assert nth_weekday(2026, 2, 6, 4) == nth_weekday(2026, 2, 6, -1) == date(2026, 2, 22)
    assert nth_weekday(2026, 2, 6, 5) is None
    assert nth_weekday(9999, 12, 4, -1) == date(9999, 12, 31)
