"""Checks across keys: contradictions, and keys of the contract that this version does not support yet. Each yields
(place, sentence).

A key leaves the list of unsupported ones with the change that makes it work.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from agent.model.prices import Prices, TokenPrice
from channels.loopback import is_loopback
from gateway.config.errors import ConfigPath, did_you_mean
from gateway.config.schema import Config, MemoryConfig, ModelConfig, WebConfig
from gateway.config.values import PLATFORMS
from gateway.config.yaml_tree import Value

ConfigFinding = tuple[ConfigPath, str]

_SHORTEST_TOKEN = 16


def contradictions(config: Config) -> Iterator[ConfigFinding]:
    yield from _people(config)
    yield from _routes(config)
    yield from _workspaces(config)
    yield from _search(config.memory, ("memory",))
    for name, agent in config.agents.items():
        if agent.memory != config.memory:
            yield from _search(agent.memory, ("agents", name, "memory"))


def cautions(config: Config) -> Iterator[ConfigFinding]:
    """Settings that are allowed and probably not meant."""
    telegram, discord = config.channels.telegram, config.channels.discord
    for name, channel in (("telegram", telegram), ("discord", discord)):
        if channel.enabled and channel.token is None:
            yield (
                ("channels", name, "enabled"),
                f"true without a token, so {name} stays down; set channels.{name}.token",
            )
    if config.model.provider == "anthropic" and not (config.model.api_key or config.model.base_url):
        yield ("model", "provider"), "anthropic without model.api_key, so every answer will be an error; set the key"
    yield from _limits(config)
    yield from _web(config.channels.web)


def _limits(config: Config) -> Iterator[ConfigFinding]:
    """Limits that have no effect: a server of one's own costs nothing."""
    limits: list[ConfigPath] = [("model", "daily_budget_usd")] if config.model.daily_budget_usd else []
    limits += [("limits", name) for name, most in config.limits if most is not None]
    models = {agent.model.name: agent.model for agent in config.agents.values() if agent.model.provider != "offline"}
    unpriced = [name for name, model in models.items() if not prices_of(model).is_known(name)]
    for place in limits if unpriced else ():
        yield place, f"limits nothing while the price of {unpriced[0]!r} is not known; put it into model.prices"


def prices_of(config: ModelConfig) -> Prices:
    return Prices(
        {
            name: TokenPrice(one.input, one.output, one.cache_write, one.cache_read)
            for name, one in config.prices.items()
        }
    )


def _web(web: WebConfig) -> Iterator[ConfigFinding]:
    if not web.enabled:
        return
    if not is_loopback(web.host):
        sentence = (
            f"{web.host}: the web page can be opened from other machines, by plain HTTP that a network can read; "
            "use 127.0.0.1 and a tunnel (ssh -L) unless you trust that network"
        )
        yield ("channels", "web", "host"), sentence
    if web.token is not None and len(web.token.get_secret_value().strip()) < _SHORTEST_TOKEN:
        sentence = f"fewer than {_SHORTEST_TOKEN} characters can be guessed; null makes a good one"
        yield ("channels", "web", "token"), sentence


def _people(config: Config) -> Iterator[ConfigFinding]:
    seen: dict[str, str] = {}
    folded: dict[str, str] = {}
    for name, accounts in config.people.items():
        if re.fullmatch(rf"(?:{'|'.join(PLATFORMS)})-\d+", name):
            yield ("people", name), f"found {name!r}, which is how an unnamed account's folder is called; take a name"
        if (other := folded.setdefault(name.casefold(), name)) != name:
            yield ("people", name), f"differs from {other!r} only in case, and so do their folders; take another name"
        for index, account in enumerate(accounts):
            if (owner := seen.setdefault(account, name)) != name:
                yield ("people", name, index), f"{account} is already one of {owner!r}; one account is one person"


def _routes(config: Config) -> Iterator[ConfigFinding]:
    for index, route in enumerate(config.routes):
        if route.agent not in config.agents:
            names = ", ".join(config.agents)
            hint = did_you_mean(route.agent, config.agents)
            yield (
                ("routes", index, "agent"),
                f"found {route.agent!r}; allowed: an agent that is configured: {names}{hint}",
            )


def _workspaces(config: Config) -> Iterator[ConfigFinding]:
    """Workspaces that contain another agent's, or the home's secrets: tools reach a whole workspace."""
    taken: dict[Path, str] = {}
    for name, agent in config.agents.items():
        folder = Path(os.path.normpath(agent.workspace))
        if folder == Path() or folder.parts[0] in ("..", "state"):
            yield ("agents", name, "workspace"), f"found {agent.workspace!r}; allowed: a folder of its own in the home"
        for other, its_agent in taken.items():
            if folder.is_relative_to(other) or other.is_relative_to(folder):
                yield ("agents", name, "workspace"), f"overlaps the workspace of {its_agent!r}; each agent has its own"
        taken[folder] = name


def _search(memory: MemoryConfig, place: ConfigPath) -> Iterator[ConfigFinding]:
    hybrid = memory.search.hybrid
    if hybrid.chunk_overlap >= hybrid.chunk_tokens:
        where: ConfigPath = (*place, "search", "hybrid", "chunk_overlap")
        yield where, f"found {hybrid.chunk_overlap}; allowed: less than chunk_tokens ({hybrid.chunk_tokens})"


@dataclass(frozen=True, slots=True)
class UnfinishedKey:
    """`lacks`: what is missing, as the warning says it. `default`: set to that, the key asks for nothing."""

    lacks: str
    default: Value = None


NOT_YET: Mapping[ConfigPath, UnfinishedKey] = {
    ("tools", "web"): UnfinishedKey("there is no tool that fetches pages", default=True),
    ("tools", "web_search"): UnfinishedKey("there is no tool that searches the web"),
    ("tools", "exec"): UnfinishedKey("there is no tool that runs programs", default=False),
    ("tools", "exec_allow"): UnfinishedKey("there is no tool that runs programs"),
    ("tools", "mcp"): UnfinishedKey("tools of MCP servers are not used"),
    ("media", "speak"): UnfinishedKey("answers are not spoken"),
    ("media", "images"): UnfinishedKey("there is no tool that makes pictures"),
    ("schedule", "heartbeat", "to"): UnfinishedKey("the heartbeat speaks to the owner", default="owner"),
    ("database_url",): UnfinishedKey("one gateway serves a home, with SQLite in state/"),
    ("backup",): UnfinishedKey("nothing is copied; copy the home yourself"),
}
_OTHER_PROVIDER = "openai:"


def expected_in_vain(config: Value) -> Iterator[tuple[ConfigPath, str]]:
    """The places where a configuration asks for something unsupported, and what that is."""
    for place, unfinished in NOT_YET.items():
        for where in (place, *_of_agents(config, place)):
            if not _is_default(_at(config, where), unfinished.default):
                yield where, f"does nothing in this version yet: {unfinished.lacks}"
    for where in (("model", "fallbacks"), *_of_agents(config, ("model", "fallbacks"))):
        names = _at(config, where)
        for index, name in enumerate(names if isinstance(names, list) else ()):
            if isinstance(name, str) and name.startswith(_OTHER_PROVIDER):
                yield (*where, index), f"found {name!r}, and other providers are not asked in this version yet"


def is_not_yet(place: ConfigPath) -> bool:
    """True for a key of the contract that `Config` does not know."""
    return (place[2:] if place[:1] == ("agents",) else place) in NOT_YET


def _of_agents(config: Value, place: ConfigPath) -> Iterator[ConfigPath]:
    agents = _at(config, ("agents",))
    for name in agents if isinstance(agents, dict) and place[0] in ("model", "tools") else ():
        yield ("agents", str(name), *place)


def _at(value: Value, place: ConfigPath) -> Value:
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
