"""YAML and JSON of others: files that people and models write, answers of servers. The only place that reads them.

Both formats nest as deeply as somebody likes, and what reads them calls itself for each level: libyaml's composer until
the process dies of a full stack (SIGSEGV), Python's until `RecursionError`, at a depth that depends on who asks. So it
is refused in words, from a fixed depth on. YAML has bombs besides, aliases of aliases and merges of merges, which
grow as they are read: `load_yaml` takes no aliases.
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


def load_json(text: str | bytes, most_deep: int = MOST_DEEP_JSON) -> Any:
    """The value of a JSON text; numbers that JSON cannot write again (NaN, 1e999) are None. Raises `ValueError` for
    whatever is no JSON, and for what is nested too deeply."""
    try:
        value = json.loads(text, parse_constant=_none, parse_float=_finite)
    except RecursionError as error:
        raise ValueError(_too_deep("JSON", most_deep)) from error
    opens = text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")
    if opens > most_deep and _depth(value, most_deep) > most_deep:
        raise ValueError(_too_deep("JSON", most_deep))
    return value


def compose_yaml(text: str, loader: Any = _SAFE) -> yaml.Node | None:
    """The root of a YAML text; its aliases share nodes, so what walks them bounds its own steps. Raises
    `yaml.YAMLError`, with the line where it is nested too deeply, and `ValueError`."""
    _check(text, loader, aliases=True)
    return yaml.compose(text, Loader=loader)


def load_yaml(text: str) -> object:
    """The plain value of a short YAML text without aliases. Raises as `compose_yaml`."""
    _check(text, _SAFE, aliases=False)
    return yaml.load(text, _SAFE)


def _check(text: str, loader: Any, *, aliases: bool) -> None:
    """The parser that makes events holds open levels in a list, not on the stack."""
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, _OPENS):
            depth += 1
            if depth > MOST_DEEP_YAML:
                raise _refused(_too_deep("it", MOST_DEEP_YAML), event)
        elif isinstance(event, _CLOSES):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent) and not aliases:
            raise _refused("an alias (*) is not taken here", event)


def _refused(problem: str, at: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=at.start_mark)


def _depth(value: object, most: int) -> int:
    """How deeply a value is nested, or any number above `most`. Level by level, so that it needs no stack."""
    depth, level = 0, [value]
    while depth <= most and (level := [one for one in level if isinstance(one, list | dict)]):
        depth += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth


def _none(_: str) -> None:
    return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _too_deep(what: str, most: int) -> str:
    return f"{what} is nested more than {most} deep"
