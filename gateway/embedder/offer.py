"""Offers search by meaning once, and carries out a yes while the gateway runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

from agent.agent import Agent
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence, joined
from agent.languages.system_errors import system_says
from agent.memory.scope import Audience, Scope
from agent.model.base import Json
from agent.search.vectors.encoder import NoEmbedding
from gateway.config import Config
from gateway.embedder.build import Embedders, embedding_of, is_there, missing, model_folder
from gateway.embedder.fetch import KEPT, LOADED, SETTINGS, FetchedModel, fetch
from gateway.home import Home, write_private
from gateway.operations import OperationGroup, operation
from gateway.supervisor import BackgroundTasks

log = logging.getLogger(__name__)

OfferAnswer: TypeAlias = Literal["", "yes", "no", "use"]
QUESTION = Sentence("Find memories by what they mean, not just by their words?")
GAIN = Sentence("Search by meaning finds about two in ten of the answers that words alone miss")
LATER = Sentence("`daybook memory embedder --fetch` adds search by meaning later.")
_FEW = 64
"""Fewer texts without a vector need no progress bar: those of the last hours are embedded within seconds."""


def offer_of(home: Home, config: Config) -> str:
    """The question, or "" where there is nothing to offer."""
    is_chosen = config.agents[config.default_agent].memory.search.embedding != "auto"
    if is_chosen or is_there(home) or home.embedder_declined.exists():
        return ""
    return Sentence(
        "{question} {gain}. This downloads an English model ({loaded} MB, {kept} MB on disk){libraries}; "
        "nothing you write leaves this machine.",
        question=QUESTION,
        gain=GAIN,
        loaded=LOADED,
        kept=KEPT,
        libraries=Sentence(" and the libraries that run it (45 MB)") if missing() else "",
    )


def decline(home: Home) -> None:
    """Records that the offer is not made again."""
    if not home.embedder_declined.exists():
        write_private(home.embedder_declined, "")


def by_hand(home: Home) -> str:
    return Sentence(
        "Without a network, or for another language, copy these files of a model's repository into {folder}:\n"
        "`onnx/model.onnx` (or a variant beside it, such as `model_qint8_avx512_vnni.onnx`, which is a quarter of the "
        "size) and\n`tokenizer.json`, and those it has of {others}.\n"
        "Good models are `sentence-transformers/all-MiniLM-L6-v2` for English, and\n"
        "`sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2` for other languages.",
        folder=model_folder(home),
        others=SETTINGS,
    )


def installed_but(absent: str) -> str:
    return Sentence("A model is installed, but {why}.", why=absent)


class EmbedderOffer(OperationGroup):
    """`fetched` brings a model into the home."""

    def __init__(
        self,
        home: Home,
        config: Config,
        agents: Mapping[str, Agent],
        embedders: Embedders,
        background: BackgroundTasks,
        fetched: Callable[[Home], Awaitable[FetchedModel]] = fetch,
    ) -> None:
        self._home = home
        self._config = config
        self._agents = agents
        self._embedders = embedders
        self._background = background
        self._fetched = fetched
        self._is_fetching = False
        self._problem = ""
        self._most = 0

    @operation("memory.embedder", on_page=True)
    async def operate(self, answer: OfferAnswer = "") -> Json:
        """`{state, text, done, of}`. State: `offered` (`text` asks, `size` is in MB), `fetching`, `failed`
        (`text` says why), `embedding` (`done` of `of` texts) or "". Answer: `yes`, `no`, or `use` for a model that was
        put there."""
        match answer:
            case "yes":
                self._problem = ""
                if self._wants_auto() and not is_there(self._home):  # nothing is fetched beside another embedder
                    if not self._is_fetching:
                        self._is_fetching = True
                        self._background.spawn(self._fetch(), "the embedder")
                else:
                    absent = missing() if self._wants_auto() else ""
                    self._problem = installed_but(absent) if absent else ""
                    await asyncio.to_thread(self._use)
                    for agent in self._agents.values():
                        agent.index.retry_embedder()
            case "no":
                self._problem = ""
                await asyncio.to_thread(decline, self._home)
            case "use":
                await asyncio.to_thread(self._use)
        return await self._state()

    def _wants_auto(self) -> bool:
        return self._config.agents[self._config.default_agent].memory.search.embedding == "auto"

    async def _fetch(self) -> None:
        try:
            found = await self._fetched(self._home)
            if found.before is not None:
                log.warning("the previous model of %s is kept in %s", found.folder, found.before)
            await asyncio.to_thread(self._use)
        except (NoEmbedding, OSError) as problem:
            log.warning("the embedding model could not be installed: %s", problem)
            why = system_says(problem) if isinstance(problem, OSError) else problem
            self._problem = self._failed(why)
        except Exception as bug:
            log.exception("the embedding model could not be installed")
            self._problem = self._failed(type(bug).__name__)
        finally:
            self._is_fetching = False

    def _failed(self, why: object) -> str:
        return joined([Sentence("That didn't work: {why}.", why=why), by_hand(self._home)])

    def _use(self) -> None:
        """Gives each agent without an embedder its configured one, once that is there. Blocks."""
        for name, agent in self._agents.items():
            settings = embedding_of(self._config.agents[name].memory.search.embedding, self._home)
            if not agent.index.embeds and (index := self._embedders.semantic_index(settings)) is not None:
                agent.index.use(index)
                self._left(agent)  # here, since all that is indexed gets its keys, which no request shall wait for

    async def _state(self) -> dict[str, Json]:
        if self._is_fetching:
            return _state_json("fetching")
        if self._is_unused():
            self._problem = ""
            self._background.spawn(asyncio.to_thread(self._use), "the embedder")
            return _state_json("")
        if self._problem:
            return _state_json("failed", self._problem)
        if question := await asyncio.to_thread(offer_of, self._home, self._config):
            return {**_state_json("offered", question), "size": LOADED}
        agent = self._agents[self._config.default_agent]
        if (problem := agent.index.last_embedder_problem) and not self._home.embedder_declined.exists():
            return _state_json("failed", Sentence("Memory is searched by words only: {why}.", why=problem))
        left = await asyncio.to_thread(self._left, agent, loads=False)
        self._most = max(self._most, left) if left else 0
        if self._most < _FEW:
            return _state_json("")
        return {**_state_json("embedding"), "done": self._most - left, "of": self._most}

    def _is_unused(self) -> bool:
        """True if a model was put into the home since the start."""
        names = [
            name
            for name, agent in self._agents.items()
            if not agent.index.embeds and self._config.agents[name].memory.search.embedding == "auto"
        ]
        return bool(names) and is_there(self._home) and not missing()

    @staticmethod
    def _left(agent: Agent, *, loads: bool = True) -> int:
        try:
            return agent.index.unembedded_count(Scope(Audience.OWNER, agent.workspace), loads=loads)
        except StorageUnavailable:
            return 0


def _state_json(state: str, text: str = "") -> dict[str, Json]:
    return {"state": state, "text": text, "done": 0, "of": 0}
