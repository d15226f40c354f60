"""Descriptions of tools by servers, made fit for a request: a model's server refuses every call for one odd schema.
Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent.formats.untrusted import escape_marks
from agent.model.base import Json, ToolSpec
from agent.model.tokens import estimate_tool
from agent.tools.foreign_text import visible

LONGEST_DESCRIPTION = 1_000
LONGEST_NAME = 64
MOST_TOKENS = 2_000
"""Tokens of one tool; a larger tool loses its descriptions, then its schema."""
_IN_SCHEMA = 300
_DEEPEST = 8
_MOST_ENTRIES = 60
_MOST_NODES = 500
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_CHOICES = ("anyOf", "oneOf", "allOf")


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool of a server, fit for a request."""

    name: str
    """The name that the server calls it by."""
    description: str
    schema: Mapping[str, Json]
    reads_only: bool
    """By the server's own word."""
    digest: str
    """Names all that the server says of the tool."""

    def spec(self, server: str) -> ToolSpec:
        return ToolSpec(offered_name(server, self.name), self.description, self.schema)


def offered_name(server: str, tool: str) -> str:
    """`NAME__tool` in the characters and length that models' servers take."""
    name = f"{server}__{_UNFIT.sub('_', tool)}"
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(tool.encode()).hexdigest()[:8]}"


def remote_tool(name: str, description: str, schema: Json, *, reads_only: bool) -> RemoteTool:
    whole = json.dumps([name, description, schema, reads_only], sort_keys=True)
    digest = hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()
    about = visible(escape_marks(description), LONGEST_DESCRIPTION)
    for worded in (True, False):
        tool = RemoteTool(name, about, _top(schema, worded=worded), reads_only, digest)
        if estimate_tool(tool.spec("")) <= MOST_TOKENS:
            return tool
    return RemoteTool(name, about, {"type": "object"}, reads_only, digest)


def _top(schema: Json, *, worded: bool) -> dict[str, Json]:
    """The schema's top, which has neither choices nor odd names of properties."""
    made = _Cleaner(_definitions(schema), worded=worded).clean(schema)
    kept = {key: value for key, value in made.items() if key not in (*_CHOICES, "enum", "description")}
    return {**kept, "type": "object", "properties": made.get("properties", {})}


def _definitions(schema: Json) -> Mapping[str, Json]:
    found: dict[str, Json] = {}
    for key in ("$defs", "definitions"):
        inner = schema.get(key) if isinstance(schema, Mapping) else None
        if isinstance(inner, Mapping):
            found |= {f"#/{key}/{name}": value for name, value in inner.items()}
    return found


class _Cleaner:
    """Keeps the known parts, in their right form; references, which may refer to themselves, are filled in."""

    def __init__(self, definitions: Mapping[str, Json], *, worded: bool) -> None:
        self._definitions = definitions
        self._worded = worded
        self._left = _MOST_NODES

    def clean(self, node: Json, depth: int = 0) -> dict[str, Json]:
        self._left -= 1
        if not isinstance(node, Mapping) or depth > _DEEPEST or self._left < 0:
            return {}
        if isinstance(reference := node.get("$ref"), str):
            node = {**_mapping(self._definitions.get(reference)), **{key: node[key] for key in node if key != "$ref"}}
        made = self._plain(node)
        if properties := _mapping(node.get("properties")):
            names = [name for name in properties if _PROPERTY.fullmatch(name)][:_MOST_ENTRIES]
            made["properties"] = {name: self.clean(properties[name], depth + 1) for name in names}
            required = node.get("required")
            needed = [name for name in required if name in names] if isinstance(required, list) else []
            made |= {"required": list(dict.fromkeys(needed))} if needed else {}
        if isinstance(items := node.get("items"), Mapping):
            made["items"] = self.clean(items, depth + 1)
        for key in _CHOICES:
            if isinstance(choices := node.get(key), list) and choices:
                made[key] = [self.clean(choice, depth + 1) for choice in choices[:_MOST_ENTRIES]]
        return made

    def _plain(self, node: Mapping[str, Json]) -> dict[str, Json]:
        made: dict[str, Json] = {}
        if types := _types(node.get("type")):
            made["type"] = types
        if self._worded and isinstance(about := node.get("description"), str):
            made["description"] = visible(escape_marks(about), _IN_SCHEMA)
        if isinstance(values := node.get("enum"), list) and (plain := [value for value in values if _is_plain(value)]):
            made["enum"] = plain[:_MOST_ENTRIES]
        if "const" in node and _is_plain(node["const"]):
            made["enum"] = [node["const"]]
        if isinstance(extra := node.get("additionalProperties"), bool):
            made["additionalProperties"] = extra
        return made | {key: number for key in _NUMBERS if _is_number(number := node.get(key))}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _types(value: Json) -> Json:
    if isinstance(value, str):
        return value if value in _TYPES else None
    several = [name for name in value if isinstance(name, str) and name in _TYPES] if isinstance(value, list) else []
    return list(dict.fromkeys(several)) or None


def _is_plain(value: Json) -> bool:
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 200)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
