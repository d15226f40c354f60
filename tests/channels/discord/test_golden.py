"""Whole texts as Discord shows them: kept in files, and for any text word by word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.discord.format import length, rendered
from channels.split import split
from tests.channels.discord.golden import FOLDER, SOURCES, shown
from tests.channels.discord.reader import read
from tests.channels.writing import WRITTEN, Written, normal_form
from tests.strength import examples


@pytest.mark.parametrize("source", sorted(SOURCES.glob("*.md")), ids=lambda source: source.stem)
def test_a_text_looks_as_somebody_has_seen_it(source: Path) -> None:
    seen = (FOLDER / f"{source.stem}.txt").read_text(encoding="utf-8")
    assert shown(source.read_text(encoding="utf-8")) == seen


@settings(max_examples=examples(60))
@given(WRITTEN, st.integers(120, 600))
def test_what_is_seen_is_what_was_written_whatever_the_split(written: Written, limit: int) -> None:
    pieces = split(written.markdown, length, limit)
    assert normal_form(read(rendered(piece)) for piece in pieces) == normal_form([written.words])
    assert all(length(piece) <= limit for piece in pieces)
