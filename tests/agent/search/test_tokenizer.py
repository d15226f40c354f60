"""Words of all scripts as the index sees them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.languages.terms import fold, fold_for_index, pairs, terms
from agent.search.tokenizer import query_terms, tokens, words_asked, words_of_questions
from tests.agent.places import morning, owner, unhurried


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी में किताब", ["हिन्दी", "में", "किताब"]),  # Hindi
        ("मराठी भाषा", ["मराठी", "भाषा"]),  # Marathi
        ("नेपाली किताबहरू", ["नेपाली", "किताबहरू"]),  # Nepali
        ("বাংলা ভাষায়", ["বাংলা", "ভাষায়"]),  # Bengali
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),  # Tamil
        ("తెలుగు భాష", ["తెలుగు", "భాష"]),  # Telugu
        ("שָׁלוֹם עוֹלָם", ["שלום", "עולם"]),  # Hebrew, with points
        ("مَرْحَبًا", ["مرحبا"]),  # Arabic, with points
        ("می‌خواهم", ["میخواهم"]),  # Persian, with what keeps letters apart
        ("Haus\u00adtür", ["haustur"]),
        ("naïve Ångström", ["naiv", "angstrom"]),
        ("𝓐𝓷𝓷𝓪 ＢＥＮ", ["anna", "ben"]),
        ("कमरा २०३", ["कमरा", "203"]),
        ("1️⃣ ❤️ ok", ["1", "ok"]),
    ],
)
def test_a_word_has_its_marks(text: str, expected: list[str]) -> None:
    assert [fold_for_index(one) for one in expected] == expected
    assert tokens(text) == expected


def test_marks_that_writers_leave_out_are_no_difference() -> None:
    assert tokens("फ़ोन हाँ") == tokens("फोन हां")


def test_where_no_spaces_are_written_a_letter_has_its_marks() -> None:
    assert pairs("ที่บ้าน") == ["ที่บ้", "บ้า", "าน", "น"]
    assert pairs("ที่") == ["ที่"]
    assert terms("歯医者") == ["歯医", "医者"]
    assert pairs("歯医者") == ["歯医", "医者", "者"]
    assert [term.prefix for term in query_terms("ที่")] == [True]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("I don't think Anna's brother'll move", ["anna", "brother", "move"]),
        ("We’ve won, haven’t we?", ["win"]),
        ("Don wouldn`t wear a T-shirt", ["don", "wear", "t", "shirt"]),
        ("Was hat Oma denn jetzt wirklich gesagt?", ["oma", "gesagt"]),
        ("J'ai vraiment perdu l'anneau ici ?", ["j", "perdu", "l", "anneau"]),
    ],
)
def test_words_that_every_talk_is_made_of_are_not_looked_for(query: str, expected: list[str]) -> None:
    assert [term.token for term in query_terms(query)] == expected


def test_the_words_of_a_question_are_those_that_are_not_looked_for() -> None:
    assert [term.token for term in words_of_questions("What would you like, 你好吗?")] == [
        "what",
        "would",
        "you",
        "like",
    ]
    assert not any(term.prefix for term in words_of_questions("Would they know where?"))
    assert [term.token for term in query_terms("What would you like?")] == ["what", "would", "you", "like"]


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=80))
def test_every_word_of_a_question_has_its_token(text: str) -> None:
    assert words_asked(text).keys() == set(terms(fold(text)))
    assert not any(one.isspace() for one in "".join(tokens(text)))


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("दाँत का डॉक्टर शुक्रवार को है", "दांत का डॉक्टर कब है?"),
        ("আমার বোনের নাম রিনা", "বোনের নাম কী?"),
        ("என் தங்கையின் பெயர் மீனா", "தங்கையின் பெயர் என்ன?"),
        ("నా చెల్లి పేరు లక్ష్మి", "చెల్లి పేరు ఏమిటి?"),
        ("माझ्या बहिणीचे नाव मीरा", "बहिणीचे नाव काय?"),
        ("मेरो बहिनीको नाम सीता हो", "बहिनीको नाम के हो?"),
        ("หมอฟันนัดวันศุกร์ตอนสิบโมง", "หมอฟันวันไหน"),
        ("הרופאה אמרה לחזור בסתיו", "מה אמרה הרופאה?"),
    ],
)
def test_a_note_is_found_in_its_language(note: str, query: str, tmp_path: Path) -> None:
    others = "- bread and butter\n- किताब मेज़ पर है\n- বই টেবিলে আছে\n- ฝนตกทั้งวัน\n- הספר על השולחן\n"
    (tmp_path / "MEMORY.md").write_text(f"- {note}\n", "utf-8")
    (tmp_path / "other.md").write_text(others, "utf-8")
    index = unhurried(None)
    try:
        assert index.search(owner(tmp_path), morning().clock, [query]).hits[0].text == f"- {note}"
    finally:
        index.close()
