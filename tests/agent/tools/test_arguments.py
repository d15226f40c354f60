"""Whatever a model writes as input, a tool sees only what fits its schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.settings import MemorySettings
from agent.tools import build, schema
from agent.tools.arguments import checked, integer, text, texts
from agent.tools.base import ToolError
from tests.agent.places import morning, owner, search

SPEC = schema.spec(
    "example",
    "",
    {"path": schema.string()},
    {
        "kind": schema.string(enum=("a", "b")),
        "from": schema.whole_number(),
        "query": schema.one_or_several(),
        "body": schema.string(may_be_empty=True),
    },
)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1], "must be an object with named arguments, not an array"),
        ("x", "must be an object with named arguments, not a string"),
        ({}, "'path' is missing"),
        ({"path": None}, "'path' must be a string, not null"),
        ({"path": 3}, "'path' must be a string, not an integer"),
        ({"path": "  "}, "'path' is empty"),
        ({"path": "x", "kind": "c"}, "'kind' is 'c'; allowed: a, b"),
        ({"path": "x", "from": 0}, "'from' is 0; it must be at least 1"),
        ({"path": "x", "from": True}, "'from' must be an integer, not a boolean"),
        ({"path": "x", "from": 1.5}, "'from' must be an integer, not a number"),
        ({"path": "x", "from": "1"}, "'from' must be an integer, not a string"),
        ({"path": "x", "query": ["a", 1]}, "'query[1]' must be a string, not an integer"),
        ({"path": "x", "query": {}}, "'query' must be a string or an array, not an object"),
        ({"path": "x", "pth": 1}, "there is no argument 'pth'; allowed: path, kind, from, query, body"),
    ],
)
def test_what_does_not_fit_is_named(given: object, said: str) -> None:
    with pytest.raises(ToolError) as refusal:
        checked(given, SPEC.schema)
    assert said in str(refusal.value)


def test_what_fits_is_taken() -> None:
    fits = checked({"path": "x", "kind": None, "from": 2.0, "query": ["a", "b"], "body": ""}, SPEC.schema)
    assert fits == {"path": "x", "from": 2, "query": ["a", "b"], "body": ""}
    assert (text(fits, "path"), integer(fits, "from", 1), integer(fits, "lines", 7)) == ("x", 2, 7)
    assert (texts(fits, "query"), texts(fits, "path"), texts(fits, "none")) == (("a", "b"), ("x",), ())


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["path", "text", "content", "query", "old_text", "new_text", "name", "type", "from", "lines"])


@given(input=json | st.dictionaries(names, json, max_size=5))
def test_no_input_is_more_than_an_answer(input: object) -> None:
    for tool in build(owner(Path("nowhere")), morning().clock, MemorySettings(), search):
        try:
            checked(input, tool.spec.schema)
        except ToolError as error:
            assert len(str(error)) < 400
