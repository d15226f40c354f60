"""Words that are true on one day only get that day beside them."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.memory.days_meant import day_ahead, days_meant, with_days, without_days_meant

TUESDAY = date(2026, 5, 5)
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
        ("next Friday at Ben's", "2026-05-08"),
        ("I send it by Monday", "2026-05-11"),
        ("since last Sunday it rains", "2026-05-03"),
        ("in three days it is over", "2026-05-08"),
        ("2 days ago it began", "2026-05-03"),
        ("on Friday next week", "2026-05-15"),
        ("gestern war ich beim Arzt, morgen gehe ich wieder", "2026-05-04, 2026-05-06"),
        ("Morgen früh rufe ich an", "2026-05-06"),
        ("nächsten Dienstag zum Zahnarzt", "2026-05-12"),
        ("letzten Samstag war Markt", "2026-05-02"),
        ("vor drei Tagen", "2026-05-02"),
        ("mañana por la mañana", "2026-05-06"),
        ("el viernes que viene", "2026-05-08"),
        ("vendredi prochain chez Luc", "2026-05-08"),
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


def test_a_day_beside_its_weekday_is_one_day() -> None:
    assert with_days("tomorrow, on Wednesday", TUESDAY).endswith(" (2026-05-06)")
    assert days_meant("Friday, that is in three days", TUESDAY) == ((date(2026, 5, 8),),)


def test_each_line_has_its_own() -> None:
    text = "The week:\n- tomorrow Ann\n- milk\n- yesterday Ben"
    assert with_days(text, TUESDAY) == "The week:\n- tomorrow Ann (2026-05-06)\n- milk\n- yesterday Ben (2026-05-04)"


def test_a_promise_is_of_a_day_to_come() -> None:
    assert day_ahead("send the invoice on Friday", TUESDAY) == date(2026, 5, 8)
    assert day_ahead("send what came yesterday", TUESDAY) is None
    assert day_ahead("call on Thursday or on Friday", TUESDAY) is None


@given(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), st.dates())
def test_nothing_that_was_said_is_lost(said: str, day: date) -> None:
    written = with_days(said, day)
    assert with_days(written, day) == written
    for line, before in zip(written.split("\n"), said.split("\n"), strict=True):
        assert line.startswith(before.rstrip())
        assert line == before or without_days_meant(line) == before.rstrip()
    for days in days_meant(said.replace("99999", "9"), day):
        assert all(abs(one - day) < timedelta(days=22) for one in days) and len(days) <= 2


@given(st.text(), st.dates())
def test_any_text_is_taken(said: str, day: date) -> None:
    assert with_days(said, day).startswith(said.split("\n")[0].rstrip())
