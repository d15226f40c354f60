"""Zones by the words of people."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from agent.languages.codes import Language
from agent.languages.zones import is_same_time, nearest, zone_name, zones_meant

NOW = datetime(2026, 11, 27, 12, 26, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Tokyo", "Asia/Tokyo"),
        ("東京", "Asia/Tokyo"),
        ("münchen", "Europe/Berlin"),
        ("MUNCHEN!", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("New_York", "America/New_York"),
        ("europe/kyiv", "Europe/Kyiv"),
        ("india", "Asia/Kolkata"),
        ("cest", "Europe/Berlin"),
        ("utc", "UTC"),
        ("13:26", "Europe/Berlin"),
        ("13.26", "Europe/Berlin"),
        ("1:26 pm", "Europe/Berlin"),
        ("1:26", "Europe/Berlin"),
        ("1 PM", "Europe/Berlin"),
        ("17:56", "Asia/Kolkata"),
        ("17:58", "Asia/Kolkata"),
        ("01:26", "Pacific/Auckland"),
    ],
)
def test_a_place_and_the_time_there_are_understood(text: str, zone: str) -> None:
    assert zones_meant(text, NOW)[0] == zone or zone in zones_meant(text, NOW, Language("de"))[:1]


@pytest.mark.parametrize("text", ["", "Nirgendwo", "25:00", "12:60", "13 pm", "0 am", "../etc/passwd", "x" * 4000])
def test_what_is_no_place_and_no_time_is_none(text: str) -> None:
    assert zones_meant(text, NOW) == ()
    assert len(nearest(text[:60])) == 3


def test_the_nearest_are_real_places() -> None:
    assert nearest("Berln")[0] == "Europe/Berlin"
    assert nearest("new yor")[0] == "America/New_York"


def test_places_are_called_as_people_call_them() -> None:
    named = [zone_name(Language(code), "Asia/Tokyo") for code in ("en", "de", "ja")]
    assert named == ["Tokyo", "Tokio", "東京"]
    assert zone_name(Language("de"), "America/Argentina/Buenos_Aires") == "Buenos Aires"
    assert zone_name(Language("fr"), "Etc/UTC") == "UTC"


def test_zones_are_the_same_that_show_the_same_in_both_halves_of_the_year() -> None:
    berlin, rome, lagos, utc, london, reykjavik = map(
        ZoneInfo, ("Europe/Berlin", "Europe/Rome", "Africa/Lagos", "UTC", "Europe/London", "Atlantic/Reykjavik")
    )
    assert is_same_time(berlin, rome, NOW) and is_same_time(utc, reykjavik, NOW)
    assert not is_same_time(berlin, lagos, NOW) and not is_same_time(utc, london, NOW)
