"""One odd tool in a list costs that tool, never the list."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import ListToolsResult
from mcp_types.methods import validate_server_result

from gateway.features.mcp.listing import mended
from gateway.features.mcp.schemas import remote_tool

GOOD: dict[str, Any] = {
    "name": "good",
    "description": "Find a book.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "$defs": {"x": {}}},
    "annotations": {"readOnlyHint": True},
}
PLAIN: dict[str, Any] = {"name": "odd", "inputSchema": {"type": "object"}}
MENDED: dict[str, dict[str, Any]] = {
    "no schema": {"name": "odd"},
    "schema null": {**PLAIN, "inputSchema": None},
    "schema empty": {**PLAIN, "inputSchema": {}},
    "schema of an array": {**PLAIN, "inputSchema": {"type": "array", "items": {"type": "string"}}},
    "schema in words": {**PLAIN, "inputSchema": "object"},
    "schema a list": {**PLAIN, "inputSchema": [1]},
    "schema of two types": {**PLAIN, "inputSchema": {"type": ["object", "null"]}},
    "odd dialect": {**PLAIN, "inputSchema": {"type": "object", "$schema": 7}},
    "properties null": {**PLAIN, "inputSchema": {"type": "object", "properties": None}},
    "properties a list": {**PLAIN, "inputSchema": {"type": "object", "properties": [{"name": "a"}]}},
    "a property null": {**PLAIN, "inputSchema": {"type": "object", "properties": {"a": None, "b": {"type": None}}}},
    "a property in words": {**PLAIN, "inputSchema": {"type": "object", "properties": {"a": "string"}}},
    "half a character as property": {**PLAIN, "inputSchema": {"type": "object", "properties": {"\ud800": {}}}},
    "half a character deep inside": {
        **PLAIN,
        "inputSchema": {"type": "object", "properties": {"a": {"enum": ["\udfff"]}}},
    },
    "required null": {**PLAIN, "inputSchema": {"type": "object", "required": None}},
    "required yes": {**PLAIN, "inputSchema": {"type": "object", "required": True}},
    "required numbers": {**PLAIN, "inputSchema": {"type": "object", "required": ["a", 5, None]}},
    "result of an array": {**PLAIN, "outputSchema": {"type": "array", "items": {}}},
    "result in words": {**PLAIN, "outputSchema": "text"},
    "icon without source": {**PLAIN, "icons": [{"mimeType": "image/png"}]},
    "icons no list": {**PLAIN, "icons": "a.png"},
    "title a number": {**PLAIN, "title": 5},
    "unknown task support": {**PLAIN, "execution": {"taskSupport": "perhaps"}},
    "execution a list": {**PLAIN, "execution": []},
    "description null": {**PLAIN, "description": None},
    "description a number": {**PLAIN, "description": 5},
    "description a list": {**PLAIN, "description": ["Find", "it"]},
    "half a character in the description": {**PLAIN, "description": "Find \ud83d it"},
    "annotations null": {**PLAIN, "annotations": None},
    "annotations a list": {**PLAIN, "annotations": ["readOnly"]},
    "odd hints": {**PLAIN, "annotations": {"readOnlyHint": "yes", "title": 7, "destructiveHint": 3}},
    "meta a list": {**PLAIN, "_meta": [1]},
    "name too long": {**PLAIN, "name": "x" * 5_000},
    "odd characters in the name": {**PLAIN, "name": "a b/ü\n\u202e"},
    "the same name again": {**PLAIN, "name": "good"},
}
LEFT_OUT: dict[str, Any] = {
    "no name": {"inputSchema": {"type": "object"}},
    "name null": {**PLAIN, "name": None},
    "name a number": {**PLAIN, "name": 5},
    "name empty": {**PLAIN, "name": ""},
    "name blank": {**PLAIN, "name": " \n"},
    "name with half a character": {**PLAIN, "name": "\ud800"},
    "in words": "odd",
    "null": None,
    "a number": 5,
    "a list": [GOOD],
    "nested without end": {**PLAIN, "inputSchema": {"a": [[]]}},
}
deep: list[Any] = LEFT_OUT["nested without end"]["inputSchema"]["a"]
for _ in range(5_000):
    deep[0] = [deep[0]]

VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")


def listed(*listing: Any, **more: Any) -> dict[str, Any]:
    """An answer, with what the newest protocol wants beside."""
    return {"tools": list(listing), "resultType": "complete", "ttlMs": 0, "cacheScope": "private", **more}


def made(*listing: Any, **more: Any) -> tuple[dict[str, Any], list[str]]:
    return mended(listed(*listing, **more))


def taken(result: dict[str, Any]) -> ListToolsResult:
    """As the SDK takes it, by every protocol. Raises `ValueError` where it refuses."""
    for version in VERSIONS:
        validate_server_result("tools/list", version, result)
    return ListToolsResult.model_validate(result, by_name=False)


def test_a_list_as_it_should_be_stays_as_it_is() -> None:
    result, left_out = made(GOOD, nextCursor="2")
    assert result == listed(GOOD, nextCursor="2") and not left_out


@pytest.mark.parametrize("odd", MENDED.values(), ids=MENDED)
@pytest.mark.parametrize("order", [1, -1], ids=["after", "before"])
def test_an_odd_tool_is_offered_beside_a_good_one(odd: dict[str, Any], order: int) -> None:
    result, left_out = made(*[GOOD, odd][::order])
    assert not left_out and GOOD in result["tools"]
    assert [one.name for one in taken(result).tools] == ["good", odd["name"]][::order]


@pytest.mark.parametrize("odd", LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_cannot_be_called_is_left_out_and_named(odd: Any) -> None:
    result, left_out = made(odd, GOOD)
    assert [one.name for one in taken(result).tools] == ["good"]
    [name] = left_out
    assert name.isascii() and len(name) <= 80


def test_an_argument_of_which_nothing_is_said_may_be_anything() -> None:
    result, _ = made(MENDED["a property null"], MENDED["a property in words"])
    assert [one["inputSchema"]["properties"] for one in result["tools"]] == [
        {"a": True, "b": {"type": None}},
        {"a": True},
    ]


@pytest.mark.parametrize("cursor", [None, 5, ["2"], {}])
def test_an_odd_cursor_ends_the_list(cursor: Any) -> None:
    assert taken(made(GOOD, nextCursor=cursor)[0]).next_cursor is None


def test_notes_beside_the_list_are_not_looked_at() -> None:
    assert [one.name for one in taken(made(GOOD, _meta=["odd"])[0]).tools] == ["good"]


def test_null_is_an_empty_list() -> None:
    assert taken(made(tools=None)[0]).tools == []


@pytest.mark.parametrize("tools", ["good", 5, {"good": GOOD}])
def test_what_is_no_list_is_refused_as_before(tools: Any) -> None:
    result, _ = made(tools=tools)
    with pytest.raises(ValueError, match="tools"):
        taken(result)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "icons", "annotations", "execution", "_meta")
SCHEMAS = st.fixed_dictionaries({}, optional=dict.fromkeys(("type", "properties", "required", "$schema"), ANY))
TOOLS = ANY | st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, ANY | SCHEMAS))


@given(st.lists(TOOLS, max_size=4))
def test_whatever_stands_beside_it_a_good_tool_is_offered(odd: list[Any]) -> None:
    before = copy.deepcopy(odd)
    result, left_out = made(*odd, GOOD)
    tools = taken(result).tools
    assert tools[-1].name == "good" and result["tools"][-1] == GOOD
    assert len(tools) + len(left_out) == len(odd) + 1
    for one in tools:
        remote_tool(one.name, one.description or "", one.input_schema, reads_only=False)
    assert repr(odd) == repr(before), "what was given stays as it was"
