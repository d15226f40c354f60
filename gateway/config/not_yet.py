"""The keys of the contract that this version does not act on yet. Whoever sets one is warned, not left in belief.

A key leaves this list with the change that makes it work; whether `Config` knows it already plays no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from gateway.config.problem import Place
from gateway.config.tree import Value


@dataclass(frozen=True, slots=True)
class Unfinished:
    """`lacks`: what there is not, as the warning says it. `default`: set to that, nothing is expected of it."""

    lacks: str
    default: Value = None


NOT_YET: Mapping[Place, Unfinished] = {
    ("tools", "web"): Unfinished("there is no tool that fetches pages", default=True),
    ("tools", "web_search"): Unfinished("there is no tool that searches the web"),
    ("tools", "exec"): Unfinished("there is no tool that runs programs", default=False),
    ("tools", "exec_allow"): Unfinished("there is no tool that runs programs"),
    ("tools", "mcp"): Unfinished("tools of MCP servers are not used"),
    ("media", "speak"): Unfinished("answers are not spoken"),
    ("media", "images"): Unfinished("there is no tool that makes pictures"),
    ("schedule", "heartbeat", "to"): Unfinished("the heartbeat speaks to the owner", default="owner"),
    ("database_url",): Unfinished("one gateway serves a home, with SQLite in state/"),
    ("backup",): Unfinished("nothing is copied; copy the home yourself"),
}
_OTHER_PROVIDER = "openai:"


def expected_in_vain(config: Value) -> Iterator[tuple[Place, str]]:
    """Where a configuration as written asks for what does nothing yet, and what that is."""
    for place, unfinished in NOT_YET.items():
        for where in (place, *_of_agents(config, place)):
            if not _is_default(_at(config, where), unfinished.default):
                yield where, f"does nothing in this version yet: {unfinished.lacks}"
    for where in (("model", "fallbacks"), *_of_agents(config, ("model", "fallbacks"))):
        names = _at(config, where)
        for index, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str) and name.startswith(_OTHER_PROVIDER):
                yield (*where, index), f"found {name!r}, and other providers are not asked in this version yet"


def is_not_yet(place: Place) -> bool:
    """Whether a key that `Config` does not know is one of the contract's."""
    return (place[2:] if place[:1] == ("agents",) else place) in NOT_YET


def _of_agents(config: Value, place: Place) -> Iterator[Place]:
    agents = _at(config, ("agents",))
    for name in agents if isinstance(agents, dict) and place[0] in ("model", "tools") else ():
        yield ("agents", str(name), *place)


def _at(value: Value, place: Place) -> Value:
    for part in place:
        value = value.get(str(part)) if isinstance(value, dict) else None
    return value


def _is_default(value: Value, default: Value) -> bool:
    if isinstance(default, bool) and isinstance(value, str):
        try:
            return TypeAdapter(bool).validate_python(value) is default
        except ValidationError:
            return False  # the value is told as wrong anyway
    return value == default or _is_empty(value)


def _is_empty(value: Value) -> bool:
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return value is None or value in ("", [])
