"""Days that questions name by other days."""

from __future__ import annotations

from datetime import date

import pytest

from agent.languages.dates import days_named

TODAY = date(2026, 11, 21)  # a Saturday
NAMED = {
    (date(2026, 5, 3), date(2026, 5, 3)),
    (date(2025, 12, 24), date(2025, 12, 26)),
    (date(2026, 1, 6), date(2026, 1, 7)),
    (date(2026, 4, 3), date(2026, 4, 6)),
    (date(2026, 11, 9), date(2026, 11, 9)),
    (date(2026, 11, 16), date(2026, 11, 16)),
}
"""3 May, Christmas, Easter, two Mondays."""
BEGINNING = "0001-01-01"


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        # from one to another
        ("between March and May", "2026-03-01", "2026-05-31"),
        ("between March and May 2024", "2024-03-01", "2024-05-31"),
        ("from November to February", "2025-11-01", "2026-02-28"),
        ("between Christmas and New Year", "2025-12-24", "2026-01-01"),
        ("from Monday to Wednesday", "2026-11-16", "2026-11-18"),
        ("zwischen März und Mai", "2026-03-01", "2026-05-31"),
        ("von März bis Mai", "2026-03-01", "2026-05-31"),
        ("entre marzo y mayo", "2026-03-01", "2026-05-31"),
        ("entre mars et mai", "2026-03-01", "2026-05-31"),
        ("между мартом и маем", "2026-03-01", "2026-05-31"),
        ("с марта по май", "2026-03-01", "2026-05-31"),
        ("بين مارس ومايو", "2026-03-01", "2026-05-31"),
        ("三月到五月", "2026-03-01", "2026-05-31"),
        ("3月から5月まで", "2026-03-01", "2026-05-31"),
        ("3월부터 5월까지", "2026-03-01", "2026-05-31"),
        ("from 3 to 9 May", "2026-05-03", "2026-05-09"),
        ("between the 3rd and the 9th of May", "2026-05-03", "2026-05-09"),
        ("May 3-9, 2024", "2024-05-03", "2024-05-09"),
        ("vom 3. bis 9. Mai", "2026-05-03", "2026-05-09"),
        ("del 3 al 9 de mayo", "2026-05-03", "2026-05-09"),
        ("du 3 au 9 mai", "2026-05-03", "2026-05-09"),
        ("с 3 по 9 мая", "2026-05-03", "2026-05-09"),
        ("من 3 إلى 9 مايو", "2026-05-03", "2026-05-09"),
        ("5月3日到9日", "2026-05-03", "2026-05-09"),
        ("5月3日から9日まで", "2026-05-03", "2026-05-09"),
        ("5월 3일부터 9일까지", "2026-05-03", "2026-05-09"),
        # since, after
        ("since last Monday", "2026-11-16", "2026-11-21"),
        ("since March", "2026-03-01", "2026-11-21"),
        ("since 2023", "2023-01-01", "2026-11-21"),
        ("seit letztem Montag", "2026-11-16", "2026-11-21"),
        ("desde el lunes pasado", "2026-11-16", "2026-11-21"),
        ("depuis lundi", "2026-11-16", "2026-11-21"),
        ("с прошлого понедельника", "2026-11-16", "2026-11-21"),
        ("منذ الاثنين الماضي", "2026-11-16", "2026-11-21"),
        ("从上周一以来", "2026-11-09", "2026-11-21"),
        ("先週の月曜日から", "2026-11-09", "2026-11-21"),
        ("지난주 월요일부터", "2026-11-09", "2026-11-21"),
        ("after 3 May", "2026-05-04", "2026-11-21"),
        ("nach dem 3. Mai", "2026-05-04", "2026-11-21"),
        # before, until
        ("before Christmas", BEGINNING, "2025-12-23"),
        ("before 2020", BEGINNING, "2019-12-31"),
        ("until June", BEGINNING, "2026-06-30"),
        ("vor Weihnachten", BEGINNING, "2025-12-23"),
        ("antes de Navidad", BEGINNING, "2025-12-23"),
        ("avant Noël", BEGINNING, "2025-12-23"),
        ("до Рождества", BEGINNING, "2026-01-05"),
        ("قبل عيد الميلاد", BEGINNING, "2025-12-23"),
        ("圣诞节之前", BEGINNING, "2025-12-23"),
        ("クリスマスの前に", BEGINNING, "2025-12-23"),
        ("크리스마스 전에", BEGINNING, "2025-12-23"),
        ("the week of May 3", "2026-04-27", "2026-05-03"),
        # so long before and after
        ("a week before 3 May", "2026-04-23", "2026-04-29"),
        ("eine Woche vor dem 3. Mai", "2026-04-23", "2026-04-29"),
        ("una semana antes del 3 de mayo", "2026-04-23", "2026-04-29"),
        ("une semaine avant le 3 mai", "2026-04-23", "2026-04-29"),
        ("una settimana prima del 3 maggio", "2026-04-23", "2026-04-29"),
        ("قبل اسبوع من 3 مايو", "2026-04-23", "2026-04-29"),
        ("за неделю до 3 мая", "2026-04-26", "2026-05-02"),
        ("two days after Christmas", "2025-12-28", "2025-12-28"),
        ("the day after Christmas", "2025-12-27", "2025-12-27"),
        ("the week after Easter", "2026-04-07", "2026-04-13"),
        ("the weekend before Easter", "2026-03-28", "2026-03-29"),
        ("shortly after Christmas", "2025-12-27", "2026-01-02"),
        ("zwei Tage nach Weihnachten", "2025-12-28", "2025-12-28"),
        ("через два дня после Рождества", "2026-01-09", "2026-01-09"),
        ("圣诞节后两天", "2025-12-28", "2025-12-28"),
        ("圣诞节两天前", "2025-12-22", "2025-12-22"),
        ("クリスマスの二日後", "2025-12-28", "2025-12-28"),
        ("クリスマスの翌日", "2025-12-27", "2025-12-27"),
        ("크리스마스 이틀 후", "2025-12-28", "2025-12-28"),
        ("the Sunday before 3 May", "2026-04-26", "2026-04-26"),
    ],
)
def test_days_by_other_days(query: str, first: str, last: str) -> None:
    meant, *named = days_named(query, TODAY)
    assert meant == (date.fromisoformat(first), date.fromisoformat(last))
    assert len(named) <= 1 and NAMED.issuperset(named)


def test_a_day_that_others_are_counted_from_may_be_the_day_on_which_they_were_told() -> None:
    third = (date(2026, 5, 3), date(2026, 5, 3))
    assert days_named("a week before 3 May", TODAY) == ((date(2026, 4, 23), date(2026, 4, 29)), third)
    assert days_named("until 3 May", TODAY) == ((date.min, third[1]), third)
    assert days_named("until May", TODAY) == ((date.min, date(2026, 5, 31)),)


def test_two_days_that_are_named_beside_each_other_are_two() -> None:
    third, ninth = date(2026, 5, 3), date(2026, 5, 9)
    assert days_named("on 3 and 9 May", TODAY) == ((third, third), (ninth, ninth))
    assert days_named("on 3 May and on 9 May", TODAY) == ((third, third), (ninth, ninth))


@pytest.mark.parametrize(
    "query",
    ["the evening of 3 May", "after the talk on 3 May", "the letter from 3 May", "I wrote before; on 3 May I did not"],
)
def test_words_that_are_about_something_else_change_nothing(query: str) -> None:
    assert days_named(query, TODAY) == ((date(2026, 5, 3), date(2026, 5, 3)),)
