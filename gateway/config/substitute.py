"""`${NAME}` and `${NAME:-default}` in values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.config.problem import Place
from gateway.config.tree import Value

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}$]*+(?:\$(?!\{)[^}$]*+)*+))?\}")


@dataclass(slots=True)
class Substituted:
    """`touched` are the places whose value came from outside (never shown in errors); `missing` the places with the
    names of variables that are neither set nor have a default."""

    value: Value
    touched: set[Place] = field(default_factory=set)
    missing: dict[Place, str] = field(default_factory=dict)


def substitute(value: Value, variables: Mapping[str, str]) -> Substituted:
    """Replace the variables. An empty one counts as not set, as in a shell's `:-`; a value that becomes empty is null,
    which means the default. `$` without braces is a dollar."""
    result = Substituted(None)
    result.value = _replace(value, (), variables, result)
    return result


def _replace(value: Value, place: Place, variables: Mapping[str, str], result: Substituted) -> Value:
    if isinstance(value, dict):
        return {key: _replace(inner, (*place, key), variables, result) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replace(inner, (*place, index), variables, result) for index, inner in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value

    def fill(match: re.Match[str]) -> str:
        result.touched.add(place)
        found = variables.get(match["name"]) or match["default"]
        if found is None:
            result.missing.setdefault(place, match["name"])
        return found or ""

    return _VARIABLE.sub(fill, value) or None
