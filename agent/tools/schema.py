"""Arguments of tools: their JSON Schema, and checking them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Annotated, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from agent.model.base import Json, ToolSpec
from agent.tools.base import ToolError

_SENT = ("type", "items", "minimum", "enum", "minLength", "description")
"""The parts of a schema that are sent; they cost tokens in every request."""
_MOST_PROBLEMS = 2
_KINDS = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    list: "an array",
    dict: "an object",
    type(None): "null",
}
_EXPECTED = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_parsing": "an integer",
    "int_parsing_size": "an integer",
    "int_from_float": "an integer",
    "finite_number": "an integer",
    "dict_type": "an object",
    "list_type": "an array",
    "tuple_type": "a string or an array",
    "model_type": "an object with named arguments",
}


class Arguments(BaseModel):
    """Built when first used, for a faster start."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is empty")
    return text


def _no_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "is a boolean")
    return value


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Text: TypeAlias = Annotated[str, AfterValidator(_not_blank), WithJsonSchema({"type": "string", "minLength": 1})]
"""Text that is not blank."""
Count: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(_no_boolean)]
"""A whole number of at least 1, also as text."""
OneOrSeveral: TypeAlias = Annotated[
    tuple[str, ...],
    BeforeValidator(_listed),
    WithJsonSchema({"type": ["string", "array"], "items": {"type": "string"}}),
]

A = TypeVar("A", bound=Arguments)
R = TypeVar("R")


@cache
def spec(name: str, description: str, model: type[Arguments]) -> ToolSpec:
    schema = model.model_json_schema()
    properties: dict[str, Json] = {}
    for argument, node in schema["properties"].items():
        parts = {**next((choice for choice in node.get("anyOf", ()) if choice != {"type": "null"}), {}), **node}
        if "const" in parts:
            parts["enum"] = [parts["const"]]
        properties[argument] = {part: parts[part] for part in _SENT if part in parts}
    required: list[Json] = schema.get("required", [])
    return ToolSpec(
        name,
        description,
        {"type": "object", "properties": properties, "required": required, "additionalProperties": False},
    )


def takes(model: type[A], work: Callable[[A], Awaitable[R]]) -> Callable[[Json, str], Awaitable[R]]:
    async def run(given: Json, _: str) -> R:
        return await work(read(given, model))

    return run


def keyed(model: type[A], turn: str, act: Callable[[A, str], Awaitable[R]]) -> Callable[[Json, str], Awaitable[R]]:
    """The `run` of a durable tool. `turn` and the call's id make the key by which `act` takes effect once."""

    async def run(given: Json, call: str) -> R:
        return await act(read(given, model), f"{turn}:{call}")

    return run


def checked(model: type[A], effect: Callable[[A], Awaitable[R]]) -> Callable[[Json], Awaitable[R]]:
    async def look(given: Json) -> R:
        return await effect(read(given, model))

    return look


def read(given: object, model: type[A]) -> A:
    """The checked arguments; null counts as left out. Raises `ToolError` with the problems."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    if isinstance(given, Mapping):
        given = {
            name: value
            for name, value in given.items()
            if value is not None or (name in fields and fields[name].is_required())
        }
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=True)[:_MOST_PROBLEMS]
        raise ToolError("; ".join(_sentence(problem, list(fields)) for problem in problems)) from error


def _sentence(problem: ErrorDetails, allowed: list[str]) -> str:
    first, *rest = problem["loc"] or ("",)
    name = f"argument {str(first) + ''.join(f'[{at}]' for at in rest)!r}" if first else "the input"
    kind, found = problem["type"], problem["input"]
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        return f"there is no argument {_cut(first)}; allowed: {', '.join(allowed) or 'none'}"
    if kind == "literal_error":
        choices = problem["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
        return f"{name} is {_cut(found)}; allowed: {choices}"
    if kind == "greater_than_equal":
        return f"{name} is {_cut(found)}; it must be at least {problem['ctx']['ge']}"
    if kind in _EXPECTED:
        return f"{name} must be {_EXPECTED[kind]}, not {_KINDS.get(type(found), type(found).__name__)}"
    return f"{name} {problem['msg']}"


def _cut(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:79] + "…"
