"""A run without `--full` leaves nothing out altogether."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.strength import _diagonal, examples


@given(st.lists(st.integers(1, 6).map(range).map(list), min_size=1, max_size=4))
def test_every_value_of_every_dimension_is_tried(values: list[list[int]]) -> None:
    rows = _diagonal(values)
    assert [{row[at] for row in rows} for at in range(len(values))] == [set(one) for one in values]
    assert len(rows) == max(map(len, values)) and set(rows) <= set(itertools.product(*values))


@given(st.integers(1, 2_000))
def test_some_examples_are_tried_of_every_property(number: int) -> None:
    assert min(number, 2) <= examples(number) <= number
