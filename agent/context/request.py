"""A session that is open in memory, and its requests: for answers, the flush and the summary. All share system, tools
and messages before their own text, and so the server's cache."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agent.clock import Clock
from agent.context.budget import Budget, projected
from agent.context.file_changes import FileWatch
from agent.context.header import header
from agent.context.prompt import FixedPart
from agent.context.repair import repair
from agent.context.replay import Context, context
from agent.languages.codes import Language
from agent.memory.history import Author
from agent.memory.redaction_lock import ReadEpoch
from agent.memory.scope import Scope
from agent.model.base import Block, Message, Model, ModelRequest, ToolSpec
from agent.model.tokens import estimate, estimate_tools
from agent.search.results import Search
from agent.session.entries import Entry, system_of
from agent.session.transcript import Transcript
from agent.settings import AgentSettings
from agent.tools.base import Tool
from agent.values import SessionKey, UserMessage


@dataclass(frozen=True, slots=True)
class OpenSession:
    """`written`: files that its tools wrote; `sealed` as in `TurnRequest`."""

    transcript: Transcript
    scope: Scope
    tools: tuple[Tool, ...]
    freshness: FileWatch
    written: set[Path]
    sealed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """`author` signs what Daybook writes by itself; `read_fixed` blocks."""

    session: SessionKey
    scope: Scope
    transcript: Transcript
    specs: tuple[ToolSpec, ...]
    """All tools of its requests."""
    model: Model
    model_name: str
    settings: AgentSettings
    budget: Budget
    clock: Clock
    author: Author
    search: Search
    read_fixed: Callable[[], FixedPart]
    reading: Callable[[], ReadEpoch]
    """Taken before what is sent or written is read."""
    flushing: asyncio.Lock
    """The session's lock, held while a flush goes on."""
    language: Language = Language.ENGLISH
    """As in `ModelRequest`."""

    @property
    def system(self) -> tuple[str, ...]:
        return system_of(self.transcript.header, self.transcript.entries)

    @property
    def fixed(self) -> int:
        """Estimated tokens of system and tools."""
        return sum(estimate(block) for block in self.system) + estimate_tools(self.specs)

    def projected(self, entries: Sequence[Entry] | None = None) -> int:
        """Tokens of the next request, or of one with `entries`."""
        return projected(self.transcript.entries if entries is None else entries, self.fixed)

    @property
    def is_crowded(self) -> bool:
        """True when it is time to compact."""
        size = self.projected()
        return size >= self.budget.compact_at or not self.budget.fits(size)

    def context(self, entries: Sequence[Entry] | None = None, *, pictures: bool = True) -> Context:
        basis = _basis(self.model_name, self.system, self.specs)
        return context(self.transcript.entries if entries is None else entries, basis, pictures=pictures)

    def request(
        self,
        messages: Sequence[Message],
        reading: ReadEpoch,
        purpose: str,
        max_tokens: int | None = None,
        *,
        aside: bool = False,
    ) -> ModelRequest:
        """A valid request of those messages. `aside`: its last message does not become part of the conversation."""
        return ModelRequest(
            model=self.model_name,
            system=self.system,
            messages=repair(messages),
            tools=self.specs,
            max_tokens=max_tokens or self.budget.answer,
            purpose=purpose,
            session=str(self.session),
            effort=self.settings.model.effort,
            cache=self.settings.model.cache,
            aside=aside,
            is_current=reading.is_current,
            language=self.language,
        )

    def words_of_ours(self, text: str) -> Message:
        """A system notice, under a header that cannot be forged."""
        said = UserMessage("", "", "", "Daybook", self.clock.now())
        block: Block = {"type": "text", "text": f"{header(said, self.clock)}\n{text}"}
        return Message("user", (block,))


@lru_cache(maxsize=128)
def _basis(model: str, system: tuple[str, ...], specs: tuple[ToolSpec, ...]) -> str:
    """A name of everything before the messages, the same in every process."""
    basis = [model, *system]
    basis += [json.dumps([spec.name, spec.description, spec.schema]) for spec in specs]
    return hashlib.sha256(json.dumps(basis).encode()).hexdigest()
