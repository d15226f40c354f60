from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.languages import date_words
from agent.languages.needed import needed_by
from tests.strength import examples


def _patterns() -> Iterator[re.Pattern[str]]:
    for held in vars(date_words).values():
        for one in held if isinstance(held, tuple) else [held]:
            pattern = one[0] if isinstance(one, tuple) else one
            if isinstance(pattern, re.Pattern):
                yield pattern


PATTERNS = list(_patterns())


@settings(max_examples=examples(1_000))
@given(st.sampled_from(PATTERNS).flatmap(lambda one: st.tuples(st.just(one), st.from_regex(one))))
def test_each_match_has_a_text_that_its_pattern_needs(drawn: tuple[re.Pattern[str], str]) -> None:
    pattern, text = drawn
    needed = needed_by(pattern)
    assert not needed or any(one in text for one in needed)


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"\b(?:last|past) week\b", {" week"}),
        (r"letzte[nr]? monat|上(?:个)?月", {"letzte", "上"}),
        (r"(?:early )?(may|june)\b", {"may", "june"}),
        (r"(?<!before )yesterday", {"yesterday"}),
        (r"week-? ?end", {"week"}),
        (r"week-? ?ends", {"week"}),
        (r"[年년]のa?", {"年", "년"}),
        (r"a\.b", {"a.b"}),
        (r"may|\d+", set()),
        (r"(?:may)*", set()),
        (r"(?:ab(?:c|de)){2,3}f", {"f"}),
        (r"", set()),
    ],
)
def test_what_a_pattern_needs(pattern: str, needed: set[str]) -> None:
    assert needed_by(re.compile(pattern)) == needed


def test_most_patterns_of_days_need_something() -> None:
    assert len([one for one in PATTERNS if not needed_by(one)]) <= 6
