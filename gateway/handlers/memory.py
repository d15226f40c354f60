"""Search in memory: the operations behind `daybook memory search`, `status`, `index` and `test`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from time import monotonic
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from agent.agent import Agent
from agent.clock import Clock
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.memory.paths import FileError
from agent.memory.scope import Scope, scope_named
from agent.model.base import Json
from agent.search.results import Hit
from agent.search.scope_index import IndexStatus
from agent.search.vectors.encoder import NoEmbedding
from gateway.handlers.agents import AgentName, named_agent
from gateway.kernel import Kernel
from gateway.operations import Argument, Day, Most, OperationGroup, Text, operation
from gateway.policy.sessions import scope_meant
from gateway.routines.memory_checks import tested
from gateway.rpc.protocol import OperationError

_EMBED_FOR = 1.0
"""Seconds after which embedding can be cancelled."""
_EMBEDDER_WAITS = 10.0
"""Seconds that an embedder has to show that it works."""
_FOR_PEOPLE = 10
"""Passages that are shown to people who do not say how many."""
_SEARCH_WAITS = 30.0
"""Seconds for which a search that a person asked for waits until all files are indexed."""


@dataclass(slots=True)
class _Progress:
    of_what: str = "files"
    done: int = 0
    of: int = 0


def _checked_scope(name: str) -> str:
    try:
        return scope_meant(name, Path()).name
    except ValueError as error:
        raise ValueError(
            Sentence("{text} is not one of `owner`, `person:ID` and `group:CHANNEL:CHAT`.", text=repr(name))
        ) from error


ScopeName: TypeAlias = Annotated[str, AfterValidator(_checked_scope)]
OneScope: TypeAlias = Annotated[ScopeName, Field(description="Whose memory: owner, person:ID or group:CHANNEL:CHAT.")]


class MemoryOperations(OperationGroup):
    refusals = (FileError,)

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._indexing: dict[tuple[str, str], _Progress] = {}

    @operation("memory.search")
    async def search(
        self,
        query: Annotated[Text, Argument()],
        scope: OneScope = "owner",
        n: Most = 0,
        now: Annotated[Day, Field(description="Search as of this day.")] = None,
        agent: AgentName = "",
        for_people: bool = False,
    ) -> Json:
        """Find passages that answer QUERY, best first.

        A list of `{path, start_line, end_line, date, score, text}`. `now` leaves out what is dated later; `for_people`
        returns `{hits, gaps}` without weak hits, each with its `strength`."""
        asked, within = self._of(scope, agent)
        clock = _clock_of(now, self.kernel.clock) if now else self.kernel.clock
        limit = asked.settings.memory.search.max_results
        most = n or (_FOR_PEOPLE if for_people else limit)
        await asyncio.to_thread(asked.index.refresh, within, clock, monotonic() + _SEARCH_WAITS)
        looked_at = max(most, limit) if for_people else most
        found = await asyncio.to_thread(asked.index.search, within, clock, [query], until=now, most=looked_at)
        if not for_people:
            return [_hit_json(hit) for hit in found.hits]
        hits = [hit for hit in found.hits if hit.strength][:most]
        shown: list[Json] = [{**_hit_json(hit), "strength": hit.strength} for hit in hits]
        return {"hits": shown, "gaps": list(found.gaps)}

    @operation("memory.status")
    async def status(self, scope: OneScope = "owner", agent: AgentName = "") -> Json:
        """Show the size of the search index, and whether it is up to date.

        `{scope, file, files, passages, bytes, stale, problems, in_memory, embedded,
        embedder_problem}`."""
        asked, within = self._of(scope, agent)
        return await self._status(asked, within)

    async def _status(self, agent: Agent, scope: Scope) -> Json:
        problem = await asyncio.to_thread(agent.index.embedder_problem, scope, _EMBEDDER_WAITS)
        status = await asyncio.to_thread(agent.index.status, scope)  # after it: by now the model is loaded, or never
        return {**_status_json(scope, status), "embedder_problem": problem}

    @operation("memory.index")
    async def index(
        self,
        scope: OneScope = "owner",
        force: Annotated[bool, Field(description="Rebuild everything, beside the current index.")] = False,
        agent: AgentName = "",
    ) -> Json:
        """Index what has changed.

        Returns what `memory.status` does."""
        asked, within = self._of(scope, agent)
        work = asked.index.rebuild if force else asked.index.refresh
        key = (asked.settings.name, within.name)
        progress = self._indexing[key] = _Progress()

        def indexed(done: int, of: int) -> None:
            progress.done, progress.of = done, of

        def embedded(count: int) -> None:
            progress.done += count

        try:
            await asyncio.to_thread(work, within, self.kernel.clock, progress=indexed)
            missing = await asyncio.to_thread(asked.index.unembedded_count, within)
            progress.of_what, progress.done, progress.of = "texts", 0, missing
            while await asyncio.to_thread(asked.index.embed, _EMBED_FOR, embedded):
                pass
        except StorageUnavailable as error:
            why = error.strerror or str(error)
            raise OperationError(Sentence("The index is unchanged: {why}.", why=why)) from error
        except NoEmbedding as problem:
            raise OperationError(
                Sentence("Everything is indexed by words, but not by meaning: {why}.", why=problem)
            ) from problem
        finally:
            if self._indexing.get(key) is progress:  # and not that of another who asked for the same since
                del self._indexing[key]
        return await self._status(asked, within)

    @operation("memory.progress")
    async def progress(self, scope: OneScope = "owner", agent: AgentName = "") -> Json:
        """`{what, done, of}` of a running `memory.index`: first its `files`, then the `texts` that
        are embedded; 0 of 0 where none runs."""
        asked, within = self._of(scope, agent)
        known = self._indexing.get((asked.settings.name, within.name), _Progress())
        return {"what": known.of_what, "done": known.done, "of": known.of}

    @operation("memory.test")
    async def test(self, scope: OneScope = "owner", agent: AgentName = "") -> Json:
        """Ask the questions in memory/tests.md. Exits with 1 if one fails.

        `{results, gaps, unread}`, each result `{question, words, line, passed, missing, where}`."""
        asked, within = self._of(scope, agent)
        report = await tested(asked, within, self.kernel.clock)
        results: list[Json] = [
            {
                "question": result.test.question,
                "words": list(result.test.words),
                "line": result.test.line,
                "passed": result.passed,
                "missing": list(result.missing),
                "where": result.where,
            }
            for result in report.results
        ]
        return {"results": results, "gaps": list(report.gaps), "unread": list(report.unread)}

    def _of(self, scope: str, agent: str) -> tuple[Agent, Scope]:
        found = named_agent(self.kernel, agent)
        return found, scope_named(scope, found.workspace)


def _hit_json(hit: Hit) -> dict[str, Json]:
    return {
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "date": hit.date.isoformat(),
        "score": hit.score,
        "text": hit.text,
    }


def _status_json(scope: Scope, status: IndexStatus) -> dict[str, Json]:
    return {
        "scope": scope.name,
        "file": status.file.name if status.file is not None else "",
        "files": status.files,
        "passages": status.passages,
        "bytes": status.bytes,
        "stale": status.stale,
        "problems": list(status.problems),
        "in_memory": status.in_memory,
        "embedded": status.embedded,
    }


def _clock_of(day: date, clock: Clock) -> Clock:
    """A clock at the end of another day."""
    moment = datetime.combine(day, time(23, 59, 59), clock.zone)
    return Clock(clock.zone, lambda: moment)
