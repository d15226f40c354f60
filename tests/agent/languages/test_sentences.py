"""Every sentence of every language has what it needs, and the page that shows them all is up to date."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass

import pytest

from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.registry import LANGUAGES
from tests.languages import SAID
from tests.recorded.sentences import fillings, page, parameters, sentences
from tests.recorded.surface import RECORDED

ENGLISH = {one.name: one.text for one in sentences(LANGUAGES[Language.ENGLISH])}
every_language = pytest.mark.parametrize("language", ALL_LANGUAGES)

ALSO_ENGLISH = {
    (Language("es"), "approvals.no"),
    (Language("fr"), "journal.assistant"),
    (Language("it"), "approvals.no"),
}
"""The same word in both languages."""
_CODE = re.compile(r"`[^`]*`|\{\w+\}")
_NOT_SAID = re.compile(
    r"\b(?:talks?|told|stands?|cure|let in|put aside|flush|compaction|scores?|scopes?|anew|whoever|shall|cannot)\b",
    re.IGNORECASE,
)
"""Words that people do not read in English, or that no person says to a friend."""
_FORMAL = {
    Language("de"): re.compile(r"(?<![.:!?] )(?<!^)\b(?:Sie|Ihnen|Ihre?[nmrs]?)\b"),
    Language("fr"): re.compile(r"\b(?:vous|votre|vos)\b|\b\w+ez\b", re.IGNORECASE),
    Language("es"): re.compile(r"\busted(?:es)?\b", re.IGNORECASE),
    Language("it"): re.compile(
        r"(?<![.:!?] )(?<!^)\b(?:Lei|Suo|Sua|Suoi|Sue)\b|\b(?:voi|vostr[oaie])\b|\b(?:scriva|apra|dica|scelga|metta)\b"
    ),
    Language.CHINESE: re.compile("您"),
}
_BUTTONS = ("reminders.done", "reminders.in_10_minutes", "reminders.in_an_hour", "reminders.tomorrow")


def test_every_language_has_a_table() -> None:
    assert list(LANGUAGES) == list(ALL_LANGUAGES)


@every_language
def test_each_sentence_is_there_and_takes_what_the_english_one_takes(language: Language) -> None:
    for sentence in sentences(LANGUAGES[language]):
        assert sentence.text == sentence.text.strip() != "", sentence.name
        assert parameters(sentence.text) == parameters(ENGLISH[sentence.name]), sentence.name
        for filling in fillings(language, sentence.name):
            assert "{" not in sentence.text.format_map(filling), sentence.name


@every_language
def test_no_sentence_is_english_by_accident(language: Language) -> None:
    for sentence in sentences(LANGUAGES[language]):
        own, english = (_CODE.sub("", text) for text in (sentence.text, ENGLISH[sentence.name]))
        words = set(re.findall(r"\w+", own.lower()))
        is_english = own == english or bool(words & {"the", "you", "your", "and", "this", "with", "not"})
        is_meant = not any(letter.isalpha() for letter in own) or (language, sentence.name) in ALSO_ENGLISH
        assert is_english == (language == Language.ENGLISH) or is_meant, sentence


@every_language
def test_people_are_addressed_as_friends_are(language: Language) -> None:
    for sentence in sentences(LANGUAGES[language]):
        text = _CODE.sub("", sentence.text)
        if language in _FORMAL:
            assert not _FORMAL[language].search(text), sentence
        if language == Language.ENGLISH:
            assert not _NOT_SAID.search(text), sentence


@every_language
def test_labels_fit_on_buttons(language: Language) -> None:
    labels = {one.name: one.text for one in sentences(LANGUAGES[language])}
    assert all(len(labels[name]) <= 20 for name in _BUTTONS)


@every_language
def test_days_and_months_have_names(language: Language) -> None:
    moments = LANGUAGES[language].moments
    assert len(set(moments.weekdays.split())) == 7 and len(set(moments.months.split())) == 12


def test_the_page_of_all_sentences_is_as_it_was_recorded() -> None:
    """If that is meant: `python -m tests.recorded.write`, and read it."""
    assert (RECORDED / "sentences.txt").read_text(encoding="utf-8") == f"{page().strip()}\n"


@every_language
def test_what_a_button_says_is_understood_as_a_word_too(language: Language) -> None:
    table = LANGUAGES[language]
    assert table.approvals.yes.lower() in table.yes.split("|")
    assert table.approvals.no.lower() in table.no.split("|")


@pytest.mark.parametrize("part", ["intents", "remember", "common", "dates"])
@pytest.mark.parametrize("language", [one for one in ALL_LANGUAGES if one != Language.ENGLISH])
def test_no_words_by_which_we_understand_a_language_were_left_in_english(language: Language, part: str) -> None:
    """Whoever copies English's file sees here what is still to be translated."""
    theirs, english = getattr(LANGUAGES[language], part), getattr(LANGUAGES[Language.ENGLISH], part)
    if not is_dataclass(theirs):
        assert theirs != english
        return
    for one in fields(theirs):
        value = getattr(theirs, one.name)
        assert not value or value != getattr(english, one.name), f"{part}.{one.name}"


def test_the_tests_know_every_language() -> None:
    assert set(SAID) == set(ALL_LANGUAGES), "a sentence for tests/languages.py"
