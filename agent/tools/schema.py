"""Short forms for the JSON Schemas of tools, which are in every request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from agent.model.base import Json, ToolSpec

Schema: TypeAlias = dict[str, Json]


def string(description: str = "", *, enum: Sequence[str] = (), may_be_empty: bool = False) -> Schema:
    schema: Schema = {"type": "string"}
    if enum:
        schema["enum"] = list(enum)
    elif not may_be_empty:
        schema["minLength"] = 1
    return _described(schema, description)


def one_or_several(description: str = "") -> Schema:
    return _described({"type": ["string", "array"], "items": {"type": "string"}}, description)


def whole_number(description: str = "") -> Schema:
    return _described({"type": "integer", "minimum": 1}, description)


def spec(
    name: str, description: str, required: dict[str, Schema], optional: dict[str, Schema] | None = None
) -> ToolSpec:
    schema: Schema = {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name, description, schema)


def _described(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description} if description else schema
