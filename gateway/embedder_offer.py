"""The one question whether memory is also to be searched by what is meant, and what comes of a yes while it runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from agent.agent import Agent
from agent.memory.embedding.encoder import NoEmbedding
from agent.memory.index.database import NotStored
from agent.memory.scope import Audience, Scope
from agent.model.base import Json
from gateway.config import Config
from gateway.control import Operation, OperationError, Params
from gateway.embedder_fetch import BY_HAND, KEPT, LOADED, fetch
from gateway.embedding import Embedders, embedding_of, is_there, missing, model_folder
from gateway.home import Home, write_private
from gateway.spawner import Spawner

log = logging.getLogger(__name__)

QUESTION = "Find memories also by what they mean, not only by their words?"
GAIN = "Of ten answers that a search by words misses, it finds about two"
LATER = "`daybook memory embedder --fetch` fetches it later."
_FEW = 64
"""Texts without a vector that are no bar's worth: those of the last hours, which are embedded within seconds."""


def offer_of(home: Home, config: Config) -> str:
    """The question with its size and gain; empty where there is nothing to ask."""
    is_chosen = config.agents[config.default_agent].memory.search.embedding != "auto"
    if is_chosen or is_there(home) or home.embedder_declined.exists():
        return ""
    libraries = " and what runs it (45 MB)" if missing() else ""
    size = f"It downloads an English model ({LOADED} MB, of which {KEPT} MB stay){libraries}"
    return f"{QUESTION} {GAIN}. {size}; nothing that you write leaves this machine."


def decline(home: Home) -> None:
    """Do not ask again; `LATER` goes on working."""
    if not home.embedder_declined.exists():
        write_private(home.embedder_declined, "")


def by_hand(home: Home) -> str:
    return BY_HAND.format(folder=model_folder(home))


class EmbedderOffer:
    """`fetched` brings a model into the home."""

    def __init__(
        self,
        home: Home,
        config: Config,
        agents: Mapping[str, Agent],
        embedders: Embedders,
        spawner: Spawner,
        fetched: Callable[[Home], Awaitable[Path]] = fetch,
    ) -> None:
        self._home = home
        self._config = config
        self._agents = agents
        self._embedders = embedders
        self._spawner = spawner
        self._fetched = fetched
        self._is_fetching = False
        self._problem = ""
        self._most = 0

    def table(self) -> Mapping[str, Operation]:
        return {"memory.embedder": self.operate}

    async def operate(self, parameters: Params) -> Json:
        """`{answer?}`: `{state, text, done, of}`. The state is `offered` (`text` is the question), `fetching`, `failed`
        (`text` says why), `embedding` (`done` texts `of` all) or empty. The answer is `yes` or `no` to the offer, or
        `use` where somebody else has brought a model."""
        match parameters.get("answer"):
            case None:
                pass
            case "yes":
                self._begin()
            case "no":
                self._problem = ""
                await asyncio.to_thread(decline, self._home)
            case "use":
                await asyncio.to_thread(self._use)
            case other:
                raise OperationError(f"{other!r} is no answer; give yes, no or use")
        return await self._state()

    def _begin(self) -> None:
        if not self._is_fetching:
            self._is_fetching, self._problem = True, ""
            self._spawner.spawn(self._fetch(), "the embedder")

    async def _fetch(self) -> None:
        try:
            await self._fetched(self._home)
            await asyncio.to_thread(self._use)
        except (NoEmbedding, OSError) as problem:
            log.warning("no model that finds by meaning: %s", problem)
            self._problem = f"That did not work: {problem}.\n\n{by_hand(self._home)}"
        finally:
            self._is_fetching = False

    def _use(self) -> None:
        """Give every agent that has none the embedder that its settings mean now. Blocks."""
        for name, agent in self._agents.items():
            settings = embedding_of(self._config.agents[name].memory.search.embedding, self._home)
            if not agent.index.embeds and (meaning := self._embedders.meaning(settings)) is not None:
                agent.index.use(meaning)

    async def _state(self) -> dict[str, Json]:
        if self._is_fetching:
            return _told("fetching")
        if self._problem:
            return _told("failed", self._problem)
        if question := await asyncio.to_thread(offer_of, self._home, self._config):
            return _told("offered", question)
        left = await asyncio.to_thread(self._left)
        self._most = max(self._most, left) if left else 0
        if self._most < _FEW:
            return _told("")
        return {**_told("embedding"), "done": self._most - left, "of": self._most}

    def _left(self) -> int:
        """Texts of the owner that have no vector yet."""
        agent = self._agents[self._config.default_agent]
        try:
            return agent.index.unembedded_count(Scope(Audience.OWNER, agent.workspace))
        except NotStored:
            return 0


def _told(state: str, text: str = "") -> dict[str, Json]:
    return {"state": state, "text": text, "done": 0, "of": 0}
