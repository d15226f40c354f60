"""Checks the arguments of a tool call against the tool's JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping

from agent.model.base import Json
from agent.tools.base import Arguments, ToolError

_NAMES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


def checked(arguments: object, schema: Mapping[str, Json]) -> Arguments:
    """The model's input, if it fits `schema`; an optional argument given as null is left out.

    Understands type, properties, required, enum, items, minimum, minLength (1: not blank). Unknown names are refused.
    Raises `ToolError`, naming the argument, what was found and what is allowed.
    """
    if not isinstance(arguments, Mapping):
        raise ToolError(f"the input must be an object with named arguments, not {_kind(arguments)}")
    properties = schema.get("properties")
    assert isinstance(properties, Mapping)
    required = _words(schema.get("required"))
    given = {name: value for name, value in arguments.items() if value is not None or name in required}
    missing = [name for name in required if name not in given]
    if missing:
        raise ToolError(f"argument {missing[0]!r} is missing")
    unknown = [str(name) for name in given if name not in properties]
    if unknown:
        raise ToolError(f"there is no argument {_cut(unknown[0])}; allowed: {', '.join(map(str, properties))}")
    return {name: _value(value, _schema(properties[name]), name) for name, value in given.items()}


def text(arguments: Arguments, name: str, default: str = "") -> str:
    value = arguments.get(name, default)
    assert isinstance(value, str)
    return value


def integer(arguments: Arguments, name: str, default: int) -> int:
    value = arguments.get(name, default)
    assert isinstance(value, int)
    return value


def texts(arguments: Arguments, name: str) -> tuple[str, ...]:
    """One string or several."""
    return _words(arguments.get(name))


def _value(value: object, schema: Mapping[str, Json], name: str) -> Json:
    allowed = _words(schema.get("type"))
    if isinstance(value, float) and value.is_integer() and "integer" in allowed:
        value = int(value)
    if not any(_is(value, kind) for kind in allowed):
        raise ToolError(f"argument {name!r} must be {' or '.join(map(_article, allowed))}, not {_kind(value)}")
    choices = schema.get("enum")
    if isinstance(choices, (list, tuple)) and value not in choices:
        raise ToolError(f"argument {name!r} is {_cut(value)}; allowed: {', '.join(map(str, choices))}")
    least = schema.get("minimum")
    if isinstance(least, int) and isinstance(value, (int, float)) and value < least:
        raise ToolError(f"argument {name!r} is {_cut(value)}; it must be at least {least}")
    if isinstance(value, str):
        if schema.get("minLength") and not value.strip():
            raise ToolError(f"argument {name!r} is empty")
        return value
    if isinstance(value, (list, tuple)):
        items = _schema(schema.get("items"))
        return [_value(item, items, f"{name}[{at}]") for at, item in enumerate(value)]
    return value  # type: ignore[return-value]


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _NAMES.get(kind, ()))


def _words(value: Json) -> tuple[str, ...]:
    """A string or a list of strings, or neither."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(word) for word in value) if isinstance(value, (list, tuple)) else ()


def _schema(value: Json) -> Mapping[str, Json]:
    assert isinstance(value, Mapping)
    return value


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return next((_article(kind) for kind in _NAMES if _is(value, kind)), _article(type(value).__name__))


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"


def _cut(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:79] + "…"
