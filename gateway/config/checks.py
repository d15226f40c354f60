"""What no single key can tell: keys that contradict each other. Each check yields (place, sentence)."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from pathlib import Path

from agent.model.prices import Price, Prices
from channels.loopback import is_loopback
from gateway.config.model import Config, MemoryConfig, ModelConfig, WebConfig
from gateway.config.problem import Place, did_you_mean
from gateway.config.values import PLATFORMS

Finding = tuple[Place, str]

_SHORTEST_TOKEN = 16


def contradictions(config: Config) -> Iterator[Finding]:
    yield from _people(config)
    yield from _routes(config)
    yield from _workspaces(config)
    yield from _search(config.memory, ("memory",))
    for name, agent in config.agents.items():
        if agent.memory != config.memory:
            yield from _search(agent.memory, ("agents", name, "memory"))


def cautions(config: Config) -> Iterator[Finding]:
    """What is allowed and probably not meant."""
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


def _limits(config: Config) -> Iterator[Finding]:
    """A server of one's own costs nothing that could be counted."""
    limits: list[Place] = [("model", "daily_budget_usd")] if config.model.daily_budget_usd else []
    limits += [("limits", name) for name, most in config.limits if most is not None]
    models = {agent.model.name: agent.model for agent in config.agents.values() if agent.model.provider != "offline"}
    unpriced = [name for name, model in models.items() if not prices_of(model).price(name)]
    for place in limits if unpriced else ():
        yield place, f"limits nothing while the price of {unpriced[0]!r} is not known; put it into model.prices"


def prices_of(config: ModelConfig) -> Prices:
    return Prices(
        {name: Price(one.input, one.output, one.cache_write, one.cache_read) for name, one in config.prices.items()}
    )


def _web(web: WebConfig) -> Iterator[Finding]:
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


def _people(config: Config) -> Iterator[Finding]:
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


def _routes(config: Config) -> Iterator[Finding]:
    for index, route in enumerate(config.routes):
        if route.agent not in config.agents:
            names = ", ".join(config.agents)
            hint = did_you_mean(route.agent, config.agents)
            yield (
                ("routes", index, "agent"),
                f"found {route.agent!r}; allowed: an agent that is configured: {names}{hint}",
            )


def _workspaces(config: Config) -> Iterator[Finding]:
    """Tools reach a whole workspace: it must not hold another agent's, nor the home's secrets."""
    taken: dict[Path, str] = {}
    for name, agent in config.agents.items():
        folder = Path(os.path.normpath(agent.workspace))
        if folder == Path() or folder.parts[0] in ("..", "state"):
            yield ("agents", name, "workspace"), f"found {agent.workspace!r}; allowed: a folder of its own in the home"
        for other, its_agent in taken.items():
            if folder.is_relative_to(other) or other.is_relative_to(folder):
                yield ("agents", name, "workspace"), f"overlaps the workspace of {its_agent!r}; each agent has its own"
        taken[folder] = name


def _search(memory: MemoryConfig, place: Place) -> Iterator[Finding]:
    hybrid = memory.search.hybrid
    if hybrid.chunk_overlap >= hybrid.chunk_tokens:
        where: Place = (*place, "search", "hybrid", "chunk_overlap")
        yield where, f"found {hybrid.chunk_overlap}; allowed: less than chunk_tokens ({hybrid.chunk_tokens})"
