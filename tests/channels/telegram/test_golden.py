"""Whole texts as Telegram shows them: kept in files, and for any text word by word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.split import split
from channels.telegram.format import formatted, length, plain
from tests.channels.telegram.golden import FOLDER, shown
from tests.channels.writing import WRITTEN, Written, normal_form
from tests.strength import examples

SOURCES = sorted(FOLDER.glob("*.md"))


@pytest.mark.parametrize("source", SOURCES, ids=[source.stem for source in SOURCES])
def test_a_text_looks_as_somebody_has_seen_it(source: Path) -> None:
    assert shown(source.read_text(encoding="utf-8")) == source.with_suffix(".txt").read_text(encoding="utf-8")


@settings(max_examples=examples(60))
@given(WRITTEN, st.integers(120, 600))
def test_what_is_seen_is_what_was_written_whatever_the_split(written: Written, limit: int) -> None:
    pieces = split(written.markdown, length, limit)
    assert normal_form(formatted(piece).text for piece in pieces) == normal_form([written.words])
    assert all(length(piece) <= limit for piece in pieces)


@settings(max_examples=examples(40))
@given(WRITTEN)
def test_plain_text_says_the_same(written: Written) -> None:
    said = normal_form([plain(written.markdown)]).replace(normal_form(["https://example.org/?"]), "")
    assert said == normal_form([written.words])
