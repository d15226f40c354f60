"""Days and times as people say them, in the middle of a sentence."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from agent.languages.codes import Language
from agent.languages.moments import day_in, moment_in

BERLIN = ZoneInfo("Europe/Berlin")
TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("language", "near", "far", "next_year"),
    [
        (Language.ENGLISH, "tomorrow", "on Wednesday 25 November", "on Friday 1 January 2027"),
        (Language("de"), "morgen", "am Mittwoch (25. November)", "am Freitag (1. Januar 2027)"),
        (Language("es"), "mañana", "el miércoles 25 de noviembre", "el viernes 1 de enero de 2027"),
        (Language("fr"), "demain", "le mercredi 25 novembre", "le vendredi 1er janvier 2027"),
        (Language("it"), "domani", "mercoledì 25 novembre", "venerdì 1º gennaio 2027"),
        (Language.CHINESE, "明天", "11月25日星期三", "2027年1月1日星期五"),
        (Language.JAPANESE, "明日", "11月25日（水）", "2027年1月1日（金）"),
    ],
)
def test_a_day_is_said_as_people_say_it(language: Language, near: str, far: str, next_year: str) -> None:
    assert day_in(language, TODAY + timedelta(days=1), TODAY) == near
    assert day_in(language, TODAY + timedelta(days=3), TODAY) == far
    assert day_in(language, date(2027, 1, 1), TODAY) == next_year


def test_today_is_that_of_the_moment_s_own_clock() -> None:
    """In Berlin it is the next day already."""
    now = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
    assert moment_in(Language.ENGLISH, datetime(2026, 11, 23, 9, 0, tzinfo=BERLIN), now) == "today at 09:00"
    assert moment_in(Language.ENGLISH, datetime(2026, 11, 22, 9, 0, tzinfo=BERLIN), now) == "yesterday at 09:00"
