"""Words in which a letter is wrong."""

from __future__ import annotations

import pytest

from agent.languages.codes import Language
from agent.languages.typos import mended


@pytest.mark.parametrize(
    ("language", "typed", "meant"),
    [
        ("en", "firday at quater to 5, tomrrow or septmber", "friday at quarter to 5, tomorrow or september"),
        ("de", "freitg um virtel vor vier, mrogen im dezmber", "freitag um viertel vor vier, morgen im dezember"),
        ("es", "vierns, mannana o dicimbre", "viernes, manana o diciembre"),
        ("fr", "vendrdi, demian ou decmbre", "vendredi, demain ou decembre"),
        ("it", "venrdi, domnai o dicmbre", "venerdi, domani o dicembre"),
    ],
)
def test_a_time_is_read_with_a_letter_wrong(language: Language, typed: str, meant: str) -> None:
    assert mended(typed, Language(language)) == meant


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "a sundae, the mourning, a quartet, the remainder, removed and timed"),
        ("de", "eine montage für frau sontag, lecker und vierter"),
        ("es", "la manzana entera de marte, junior y las partes"),
        ("fr", "martin, le domaine, annulée et marin"),
        ("it", "il domain, il giungo, la maggior parte e sveglio"),
        ("ja", "明日の朝"),
    ],
)
def test_what_is_a_word_itself_is_meant(language: Language, text: str) -> None:
    assert mended(text, Language(language), orders=True) == text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("remimd me", "remind me"), ("reminer", "reminder"), ("tiemr 5", "timer 5"), ("cancle", "cancel")],
)
def test_an_order_is_read_with_a_letter_wrong(typed: str, meant: str) -> None:
    assert mended(typed, Language.ENGLISH, orders=True) == meant
