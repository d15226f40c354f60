"""Times as natives type them, in every language. Never another time than was said: what is not understood is asked."""

from __future__ import annotations

import pytest

from agent.languages.codes import ALL_LANGUAGES, Language
from tests.gateway.scheduling.words.saying import MOMENTS, UNCLEAR, corpus, orders, value_of

LEAST_RIGHT = 0.97


@pytest.mark.parametrize("language", ALL_LANGUAGES)
def test_what_natives_type_is_understood_and_never_read_as_another_time(language: Language) -> None:
    cases = list(corpus(language))
    assert len({case.said for case in cases}) >= 120
    wrong, missed = [], []
    for case in cases:
        found, rest = value_of(case.said, case.now, language)
        if rest or found != case.value:
            is_asked = found in (UNCLEAR, case.value)
            (missed if is_asked else wrong).append((case.said, str(case.now), case.value, found, rest))
    assert not wrong
    assert len(missed) <= (1 - LEAST_RIGHT) * len(cases), missed


@pytest.mark.parametrize("language", ALL_LANGUAGES)
def test_a_task_keeps_its_words_and_its_own_times_are_asked_about(language: Language) -> None:
    wrong = []
    for order in orders(language):
        found, rest = value_of(order.said, MOMENTS[0], language)
        if found != UNCLEAR and order.value != UNCLEAR and (found, rest) != (order.value, order.task):
            wrong.append((order, found, rest))
    assert not wrong
