"""The only reader of YAML and JSON from outside.

Deep nesting is refused: it crashes libyaml's composer, and in Python raises `RecursionError` at a depth of the
caller's. `load_yaml` refuses aliases, which can grow exponentially.
"""

from __future__ import annotations

import json
import math
from typing import Any

import yaml

MOST_DEEP_YAML = 50
MOST_DEEP_JSON = 100
_OPENS = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
_CLOSES = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
_SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite)
"""Made once: `json.loads` makes a decoder for each call, which costs more than a short text."""


def load_json(text: str | bytes, most_deep: int = MOST_DEEP_JSON) -> Any:
    """NaN and numbers beyond float's range become None. Raises `ValueError`, also for deep nesting."""
    text = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError(_too_deep("JSON", most_deep)) from error
    if text.count("[") + text.count("{") > most_deep and _depth(value, most_deep) > most_deep:
        raise ValueError(_too_deep("JSON", most_deep))
    return value


def compose_yaml(text: str, loader: Any = _SAFE) -> yaml.Node | None:
    """Aliases share nodes: bound the walk. Raises `yaml.YAMLError`, `ValueError`."""
    _check(text, loader, aliases=True)
    return yaml.compose(text, Loader=loader)


def load_yaml(text: str) -> object:
    """A short YAML text without aliases. Raises as `compose_yaml`."""
    _check(text, _SAFE, aliases=False)
    return yaml.load(text, _SAFE)


def _check(text: str, loader: Any, *, aliases: bool) -> None:
    """The parser keeps open levels in a list, not on the stack."""
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, _OPENS):
            depth += 1
            if depth > MOST_DEEP_YAML:
                raise _yaml_error(_too_deep("it", MOST_DEEP_YAML), event)
        elif isinstance(event, _CLOSES):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent) and not aliases:
            raise _yaml_error("an alias (*) is not taken here", event)


def _yaml_error(problem: str, at: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=at.start_mark)


def _depth(value: object, most: int) -> int:
    """The depth of nesting, found without recursion."""
    depth, level = 0, [value]
    while depth <= most and (level := [node for node in level if isinstance(node, list | dict)]):
        depth += 1
        level = [inner for node in level for inner in (node.values() if isinstance(node, dict) else node)]
    return depth


def _too_deep(what: str, most: int) -> str:
    return f"{what} is nested more than {most} deep"
