"""Checks across keys, each as (path, sentence)."""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from pathlib import Path

from agent.languages.sentences import Sentence
from agent.model.base import split_provider
from agent.model.openai.dialect import api_root
from agent.model.prices import Prices, TokenPrice
from channels.network import is_loopback
from channels.registry import MANIFESTS
from gateway.config.errors import ConfigPath, did_you_mean
from gateway.config.schema import SERVED, Config, MemoryConfig, ModelConfig, WebConfig

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
    for name, channel in config.channels.platforms.items():
        if channel.enabled and not channel.is_on:
            yield (
                ("channels", name, "enabled"),
                Sentence("`true` without a token, so {name} stays off; set `channels.{name}.token`", name=name),
            )
    yield from _model(config.model)
    yield from _limits(config)
    yield from _web(config.channels.web)


def _model(model: ModelConfig) -> Iterator[ConfigFinding]:
    here = model.server()
    if model.provider == "anthropic" and not (here.api_key or here.base_url):
        yield (
            ("model", "provider"),
            Sentence("`anthropic` without `model.api_key`, so no model can answer; set the key"),
        )
    if model.provider == "openai":
        if not (here.api_key or here.base_url):
            sentence = Sentence(
                "`openai` without `model.base_url` or `model.api_key`, so no model can answer; set one of them"
            )
            yield ("model", "provider"), sentence
        if "name" not in model.model_fields_set:
            sentence = Sentence(
                "is {name}, the default for `anthropic`; set the model's name at the server", name=model.name
            )
            yield ("model", "name"), sentence
    for index, name in enumerate(model.fallbacks if model.provider != "offline" else ()):
        provider, _ = split_provider(name, SERVED)
        other = model.server(provider)
        if provider and not (other.api_key or other.base_url):
            sentence = Sentence(
                "{name} has no server; set {key} or its key", name=repr(name), key=f"model.servers.{provider}.base_url"
            )
            yield ("model", "fallbacks", index), sentence


def _limits(config: Config) -> Iterator[ConfigFinding]:
    """Warns of spending limits that cannot hold because a model's price is unknown."""
    limits: list[ConfigPath] = [("model", "daily_budget_usd")] if config.model.daily_budget_usd else []
    limits += [("limits", name) for name, most in config.limits if most is not None]
    models = {agent.model.name: agent.model for agent in config.agents.values() if agent.model.provider != "offline"}
    unpriced = [name for name, model in models.items() if not prices_of(model).is_known(name)]
    for path in limits if unpriced else ():
        yield (
            path,
            Sentence(
                "has no effect, because the price of {name} is unknown; add it to `model.prices`",
                name=repr(unpriced[0]),
            ),
        )


def prices_of(config: ModelConfig, provider: str = "") -> Prices:
    """The prices at a provider's server, by default the model's own."""
    own = {
        name: TokenPrice(price.input, price.output, price.cache_write, price.cache_read)
        for name, price in config.prices.items()
    }
    if (provider or config.provider) != "openai":
        return Prices(own)
    return Prices(own, api_url=api_root(config.server(provider).base_url))


def _web(web: WebConfig) -> Iterator[ConfigFinding]:
    if not web.enabled:
        return
    if not is_loopback(web.host):
        sentence = Sentence(
            "{host}: other machines can open the web page, over plain HTTP that others on the network can read; "
            "use 127.0.0.1 and a tunnel (ssh -L) unless you trust that network",
            host=web.host,
        )
        yield ("channels", "web", "host"), sentence
    if web.token is not None and len(web.token.get_secret_value().strip()) < _SHORTEST_TOKEN:
        sentence = Sentence(
            "fewer than {count} characters can be guessed; `null` makes a good one", count=_SHORTEST_TOKEN
        )
        yield ("channels", "web", "token"), sentence


def _people(config: Config) -> Iterator[ConfigFinding]:
    seen: dict[str, str] = {}
    folded: dict[str, str] = {}
    for name, accounts in config.people.items():
        channel, _, id = name.partition("-")
        if channel in MANIFESTS and MANIFESTS[channel].settings.PERSON.fullmatch(id):
            yield (
                ("people", name),
                Sentence(
                    "found {found}, which is what an unnamed account's folder is called; choose another name",
                    found=repr(name),
                ),
            )
        if (other := folded.setdefault(name.casefold(), name)) != name:
            yield (
                ("people", name),
                Sentence(
                    "differs from {other} only in upper and lower case, and so do their folders; choose another name",
                    other=repr(other),
                ),
            )
        for index, account in enumerate(accounts):
            if (owner := seen.setdefault(account, name)) != name:
                yield (
                    ("people", name, index),
                    Sentence(
                        "{account} already belongs to {owner}; an account belongs to one person",
                        account=account,
                        owner=repr(owner),
                    ),
                )


def _routes(config: Config) -> Iterator[ConfigFinding]:
    for index, route in enumerate(config.routes):
        if route.agent not in config.agents:
            names = ", ".join(config.agents)
            hint = did_you_mean(route.agent, config.agents)
            yield (
                ("routes", index, "agent"),
                Sentence(
                    "found {found}; allowed: an agent that is configured: {names}{hint}",
                    found=repr(route.agent),
                    names=names,
                    hint=hint,
                ),
            )


def _workspaces(config: Config) -> Iterator[ConfigFinding]:
    """Workspaces that contain another's, or the home's secrets: tools reach a whole workspace."""
    taken: dict[Path, str] = {}
    for name, agent in config.agents.items():
        folder = Path(os.path.normpath(agent.workspace))
        if folder == Path() or folder.parts[0] in ("..", "state"):
            sentence = Sentence("found {found}; allowed: a folder of its own in the home", found=repr(agent.workspace))
            yield ("agents", name, "workspace"), sentence
        for other, its_agent in taken.items():
            if folder.is_relative_to(other) or other.is_relative_to(folder):
                sentence = Sentence("overlaps the workspace of {other}; give each agent its own", other=repr(its_agent))
                yield ("agents", name, "workspace"), sentence
        taken[folder] = name


def _search(memory: MemoryConfig, path: ConfigPath) -> Iterator[ConfigFinding]:
    hybrid = memory.search.hybrid
    if hybrid.chunk_overlap >= hybrid.chunk_tokens:
        where: ConfigPath = (*path, "search", "hybrid", "chunk_overlap")
        yield (
            where,
            Sentence(
                "found {found}; allowed: less than `chunk_tokens` ({most})",
                found=hybrid.chunk_overlap,
                most=hybrid.chunk_tokens,
            ),
        )
