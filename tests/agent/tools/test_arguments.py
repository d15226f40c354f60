"""Whatever a model writes as input, a tool sees only what fits its arguments."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from agent.memory.scope import Audience, Scope
from agent.model.base import Json
from agent.settings import MemorySettings
from agent.tools import build
from agent.tools.base import ToolError
from agent.tools.schema import Arguments, Count, OneOrSeveral, Text, read, spec
from tests.agent.places import morning, search


class Example(Arguments):
    path: Annotated[Text, Field(description="of a file")]
    kind: Literal["a", "b"] | None = None
    first: Annotated[Count, Field(alias="from")] = 1
    query: OneOrSeveral = ()
    body: str = ""
    when: dict[str, object] | None = None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1], "the input must be an object with named arguments, not an array"),
        ("x", "the input must be an object with named arguments, not a string"),
        (None, "the input must be an object with named arguments, not null"),
        ({}, "argument 'path' is missing"),
        ({"path": None}, "argument 'path' must be a string, not null"),
        ({"path": 3}, "argument 'path' must be a string, not an integer"),
        ({"path": "  "}, "argument 'path' is empty"),
        ({"path": "x", "kind": "c"}, "argument 'kind' is 'c'; allowed: a, b"),
        ({"path": "x", "from": 0}, "argument 'from' is 0; it must be at least 1"),
        ({"path": "x", "from": True}, "argument 'from' must be an integer, not a boolean"),
        ({"path": "x", "from": 1.5}, "argument 'from' must be an integer, not a number"),
        ({"path": "x", "from": "one"}, "argument 'from' must be an integer, not a string"),
        ({"path": "x", "from": "9" * 5000}, "argument 'from' must be an integer, not a string"),
        ({"path": "x", "first": 2}, "there is no argument 'first'; allowed: path, kind, from, query, body, when"),
        ({"path": "x", "query": ["a", 1]}, "argument 'query[1]' must be a string, not an integer"),
        ({"path": "x", "query": {}}, "argument 'query' must be a string or an array, not an object"),
        ({"path": "x", "when": "now"}, "argument 'when' must be an object, not a string"),
        (
            {"pth": 1},
            "argument 'path' is missing; there is no argument 'pth'; allowed: path, kind, from, query, body, when",
        ),
    ],
)
def test_what_does_not_fit_is_named(given: object, said: str) -> None:
    with pytest.raises(ToolError) as refusal:
        read(given, Example)
    assert str(refusal.value) == said


def test_what_fits_is_taken() -> None:
    found = read({"path": "x", "kind": None, "from": 2.0, "query": ["a", "b"], "body": "\ud83d", "no": None}, Example)
    assert found == Example(path="x", **{"from": 2}, query=("a", "b"), body="\ud83d")
    assert read({"path": "x", "query": "a", "from": "5"}, Example).query == ("a",), "one string is a list of one"
    assert read({"path": "x", "from": "5"}, Example).first == 5, "as some models write a number"


def test_only_what_a_model_needs_of_a_schema_is_sent() -> None:
    assert spec("example", "An example.", Example).schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "of a file"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "from": {"type": "integer", "minimum": 1},
            "query": {"type": ["string", "array"], "items": {"type": "string"}},
            "body": {"type": "string"},
            "when": {"type": "object"},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("scope", "files"),
    [
        (Scope(Audience.OWNER, Path("nowhere")), ["USER.md", "MEMORY.md"]),
        (Scope(Audience.GROUP, Path("nowhere"), "telegram-1"), ["GROUP.md"]),
    ],
)
def test_a_scope_has_its_own_files(scope: Scope, files: list[str]) -> None:
    tools = build(scope, morning().clock, MemorySettings(), search)
    schema = next(tool.spec.schema for tool in tools if tool.name == "memory_update")
    assert json.dumps(schema).count(json.dumps(files)) == 1


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_names = st.sampled_from(["path", "text", "content", "query", "old_text", "new_text", "name", "type", "from", "lines"])
_names |= st.text(alphabet=st.characters(exclude_categories=[]), max_size=3)


@given(input=_values | st.dictionaries(_names, _values, max_size=5))
def test_no_input_is_more_than_a_result_or_an_error_of_the_tool(input: object) -> None:
    async def run(folder: Path) -> None:
        for tool in build(Scope(Audience.OWNER, folder), morning().clock, MemorySettings(), search):
            given: Json = input  # type: ignore[assignment]
            for call in filter(None, (tool.effect and tool.effect(given), tool.run(given, "1"))):
                try:
                    await call
                except ToolError as error:
                    assert len(str(error)) < 500

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))
