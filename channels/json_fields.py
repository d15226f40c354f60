"""Typed access to fields of a platform's JSON, and words for their values."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from channels.text import clean

Json = Mapping[str, object]


class Malformed(Exception):
    pass


Scalar = TypeVar("Scalar", int, str)


def get(parent: Json, field: str, kind: type[Scalar]) -> Scalar | None:
    """The field's value; None for another type. A finite float counts as an integer."""
    value = parent.get(field)
    if kind is int and isinstance(value, float) and math.isfinite(value):
        value = int(value)
    return value if isinstance(value, kind) and not isinstance(value, bool) else None


def need(parent: Json, field: str, kind: type[Scalar]) -> Scalar:
    value = get(parent, field, kind)
    if value is None:
        raise Malformed(_complaint(parent, field))
    return value


def load_json(text: str | bytes) -> Any:
    """Raises `ValueError`, also for excessive nesting."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def text_of(parent: Json, field: str) -> str:
    return clean(get(parent, field, str) or "")


def object_of(parent: Json, field: str) -> Json | None:
    value = parent.get(field)
    return value if isinstance(value, Mapping) else None


def need_object(parent: Json, field: str) -> Json:
    value = object_of(parent, field)
    if value is None:
        raise Malformed(_complaint(parent, field))
    return value


def objects_of(parent: Json, field: str) -> Iterator[Json]:
    value = parent.get(field)
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            yield item


def strings_of(parent: Json, field: str) -> list[str]:
    value = parent.get(field)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def counted(number: int, thing: str) -> str:
    """`1 vote`, `2 votes`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def moment_in_utc(unix: int) -> str:
    try:
        return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return str(unix)


def _complaint(parent: Json, field: str) -> str:
    found = parent.get(field)
    return f"the field {field!r} is {'missing' if found is None else f'of the type {type(found).__name__}'}"
