"""Offers search by meaning once, and carries out a yes while the gateway runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from agent.agent import Agent
from agent.memory.scope import Audience, Scope
from agent.model.base import Json
from agent.search.database import NotStored
from agent.search.vectors.encoder import NoEmbedding
from gateway.config import Config
from gateway.embedder.build import Embedders, embedding_of, is_there, missing, model_folder
from gateway.embedder.fetch import BY_HAND, KEPT, LOADED, FetchedModel, fetch
from gateway.home import Home, write_private
from gateway.rpc.protocol import Operation, OperationError, Params
from gateway.supervisor import BackgroundTasks

log = logging.getLogger(__name__)

QUESTION = "Find memories also by what they mean, not only by their words?"
GAIN = "Of ten answers that a search by words misses, it finds about two"
LATER = "`daybook memory embedder --fetch` fetches it later."
_FEW = 64
"""Texts without a vector that are no bar's worth: those of the last hours, which are embedded within seconds."""


def offer_of(home: Home, config: Config) -> str:
    """The question with its size and gain; empty where there is nothing to offer."""
    is_chosen = config.agents[config.default_agent].memory.search.embedding != "auto"
    if is_chosen or is_there(home) or home.embedder_declined.exists():
        return ""
    libraries = " and what runs it (45 MB)" if missing() else ""
    size = f"It downloads an English model ({LOADED} MB, of which {KEPT} MB stay){libraries}"
    return f"{QUESTION} {GAIN}. {size}; nothing that you write leaves this machine."


def decline(home: Home) -> None:
    """Records that the offer is not made again; `LATER` goes on working."""
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
        spawner: BackgroundTasks,
        fetched: Callable[[Home], Awaitable[FetchedModel]] = fetch,
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
        (`text` says why), `embedding` (`done` of `of` texts) or empty. The answer is `yes` or `no` to the offer, or
        `use` for a model that somebody else has put there."""
        match parameters.get("answer"):
            case None:
                pass
            case "yes":
                self._problem = ""
                if self._lacks_model():
                    self._begin()
                else:
                    absent = missing() if self._wants_auto() else ""
                    self._problem = f"A model is there, but {absent}." if absent else ""
                    await asyncio.to_thread(self._use)
                    for agent in self._agents.values():
                        agent.index.retry_embedder()
            case "no":
                self._problem = ""
                await asyncio.to_thread(decline, self._home)
            case "use":
                await asyncio.to_thread(self._use)
            case other:
                raise OperationError(f"{other!r} is no answer; give yes, no or use")
        return await self._state()

    def _lacks_model(self) -> bool:
        """True where a model is wanted and there is none. Nothing is fetched where another embedder is configured."""
        return self._wants_auto() and not is_there(self._home)

    def _wants_auto(self) -> bool:
        return self._config.agents[self._config.default_agent].memory.search.embedding == "auto"

    def _begin(self) -> None:
        if not self._is_fetching:
            self._is_fetching = True
            self._spawner.spawn(self._fetch(), "the embedder")

    async def _fetch(self) -> None:
        try:
            found = await self._fetched(self._home)
            if found.before is not None:
                log.warning("the model that was in %s is kept in %s", found.folder, found.before)
            await asyncio.to_thread(self._use)
        except (NoEmbedding, OSError) as problem:
            log.warning("no embedding model: %s", problem)
            self._problem = f"That did not work: {problem}.\n\n{by_hand(self._home)}"
        except Exception as bug:
            log.exception("no embedding model")
            self._problem = f"That did not work ({type(bug).__name__}).\n\n{by_hand(self._home)}"
        finally:
            self._is_fetching = False

    def _use(self) -> None:
        """Gives every agent without an embedder the one that its settings name now. Blocks."""
        for name, agent in self._agents.items():
            settings = embedding_of(self._config.agents[name].memory.search.embedding, self._home)
            if not agent.index.embeds and (meaning := self._embedders.meaning(settings)) is not None:
                agent.index.use(meaning)
                self._left(agent)  # here, since all that is indexed gets its keys, which no request shall wait for

    async def _state(self) -> dict[str, Json]:
        if self._is_fetching:
            return _told("fetching")
        if self._is_unused():
            self._problem = ""
            self._spawner.spawn(asyncio.to_thread(self._use), "the embedder")
            return _told("")
        if self._problem:
            return _told("failed", self._problem)
        if question := await asyncio.to_thread(offer_of, self._home, self._config):
            return _told("offered", question)
        agent = self._agents[self._config.default_agent]
        if (problem := agent.index.last_embedder_problem) and not self._home.embedder_declined.exists():
            return _told("failed", f"Memory is searched by words alone: {problem}.")
        left = await asyncio.to_thread(self._left, agent, loads=False)
        self._most = max(self._most, left) if left else 0
        if self._most < _FEW:
            return _told("")
        return {**_told("embedding"), "done": self._most - left, "of": self._most}

    def _is_unused(self) -> bool:
        """True where somebody has put a model into the home since the start."""
        names = [
            name
            for name, agent in self._agents.items()
            if not agent.index.embeds and self._config.agents[name].memory.search.embedding == "auto"
        ]
        return bool(names) and is_there(self._home) and not missing()

    @staticmethod
    def _left(agent: Agent, *, loads: bool = True) -> int:
        """The number of the owner's texts without a vector."""
        try:
            return agent.index.unembedded_count(Scope(Audience.OWNER, agent.workspace), loads=loads)
        except NotStored:
            return 0


def _told(state: str, text: str = "") -> dict[str, Json]:
    return {"state": state, "text": text, "done": 0, "of": 0}
