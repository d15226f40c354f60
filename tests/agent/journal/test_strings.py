"""The journal's own words, and the summary's request, in the language of the talk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.journal.fallback import extract, language_of_day
from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.registry import LANGUAGES as TABLES
from agent.model.offline.intent import told_language
from agent.model.scripted import ScriptedModel
from tests.agent.journal.diary import Diary
from tests.agent.journal.test_fallback import talk
from tests.languages import SAID

LANGUAGES = pytest.mark.parametrize("language", ALL_LANGUAGES)


@LANGUAGES
def test_what_an_extract_leaves_out_is_said_in_the_language_of_the_talk(language: Language) -> None:
    said = [f"Alice: {SAID[language]}"] * 30
    assert extract(talk(*said))[-1] == f"- {TABLES[language].journal.left_out.format(number=10)}"
    answered = extract(talk(f"Alice: {SAID[language]}", ": Bob Bob Bob Bob"))
    assert answered[-1] == f"- 09:02 {TABLES[language].journal.assistant}: Bob Bob Bob Bob"


@LANGUAGES
async def test_a_gap_is_said_in_the_language_of_the_talk(diary: Diary, language: Language) -> None:
    diary.model = ScriptedModel(behind="- 09:00 Nothing.")
    diary.says(SAID[language])
    diary.breaks()
    diary.breaks()
    diary.says(SAID[language])
    await diary.write()
    assert f"- {TABLES[language].journal.gap_of(2)}\n" in diary.log()


@LANGUAGES
def test_the_language_of_most_lines_is_that_of_the_day(language: Language) -> None:
    said = [f"- 09:00 Alice: {SAID[language]}", "- 09:01 Alice: 12", f"- 09:02 Alice: {SAID[language]}"]
    assert language_of_day(said) is language
    for other in set(ALL_LANGUAGES) - {language}:
        assert language_of_day([*said, SAID[other]]) is language
        assert language_of_day([SAID[language], SAID[other]]) is None


def test_of_a_day_without_words_none_is_known() -> None:
    assert language_of_day([]) is None
    assert language_of_day(["- 09:00 4711", "…"]) is None


@given(
    first=st.sampled_from(["Anna", "Lou", "José", "Max", "Zoë"]),
    rest=st.lists(
        st.sampled_from(
            [
                "D",
                "N",
                "Qu",
                "S",
                "El",
                "Le",
                "Un",
                "Du",
                "Al",
                "de la Cruz",
                "van der Berg",
                "d'Arc",
                "O'Neil",
                "y Ana",
            ]
        ),
        min_size=1,
        max_size=3,
    ),
    language=st.sampled_from([one for one in ALL_LANGUAGES if TABLES[one].spaced]),
)
def test_a_name_tells_no_language(first: str, rest: list[str], language: Language) -> None:
    name = " ".join([first, *rest])
    assert language_of_day([f"- 08:30 {name}: bike, shed"]) is None
    assert told_language(name) is None
    line = SAID[language]
    assert language_of_day([f"- 08:30 {name}: {line}"]) is told_language(line)
