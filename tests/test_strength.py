"""A run without `--full` leaves no kind out altogether."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tests.strength import _diagonal, affordable, examples


@given(st.lists(st.integers(1, 6).map(range).map(list), min_size=1, max_size=4))
def test_every_value_of_every_dimension_is_tried(values: list[list[int]]) -> None:
    rows = _diagonal(values)
    assert [{row[at] for row in rows} for at in range(len(values))] == [set(one) for one in values]
    assert len(rows) == max(map(len, values)) and set(rows) <= set(itertools.product(*values))


@given(st.integers(1, 2_000))
def test_some_examples_are_tried_of_every_property(number: int) -> None:
    assert min(number, 2) <= examples(number) <= number


@given(st.lists(st.floats(0, 3)))
def test_of_each_file_a_test_is_tried_whatever_it_costs_and_all_that_cost_little(costs: list[float]) -> None:
    tried = affordable(costs)
    assert len(tried) == len(costs) and any(tried) == bool(costs)
    assert all(one for one, cost in zip(tried, costs, strict=True) if cost < 0.05)
    dear = [cost for one, cost in zip(tried, costs, strict=True) if one and cost >= 0.05]
    assert sum(dear) <= max([0.3, *dear[:1]])
