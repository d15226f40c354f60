"""Search in memory: the operations behind `daybook memory search`, `status`, `index` and `test`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from time import monotonic

from agent.agent import Agent
from agent.clock import Clock
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.memory.paths import FileError
from agent.memory.scope import Audience, Scope
from agent.model.base import Json
from agent.search.results import Hit
from agent.search.scope_index import IndexStatus
from agent.search.vectors.encoder import NoEmbedding
from gateway.commands.context import Services
from gateway.handlers.agents import named_agent, no_scope
from gateway.routines.memory_checks import tested
from gateway.rpc.protocol import Operation, OperationError, Params, number, required

_EMBED_FOR = 1.0
"""Seconds after which embedding can be cancelled."""
_EMBEDDER_WAITS = 10.0
"""Seconds that an embedder has to show that it works."""
_FOR_PEOPLE = 20
"""Passages that are shown to people who do not say how many."""
_SEARCH_WAITS = 30.0
"""Seconds for which a search that a person asked for waits until all files are indexed."""


@dataclass(slots=True)
class _Progress:
    of_what: str = "files"
    done: int = 0
    of: int = 0


class MemoryOperations:
    def __init__(self, services: Services) -> None:
        self.services = services
        self._indexing: dict[tuple[str, str], _Progress] = {}

    def table(self) -> Mapping[str, Operation]:
        return {
            "memory.search": self.search,
            "memory.status": self.status,
            "memory.index": self.index,
            "memory.progress": self.progress,
            "memory.test": self.test,
        }

    async def search(self, parameters: Params) -> Json:
        """`{query, scope?, agent?, n?, now?, for_people?}`: a list of `{path, start_line, end_line, date, score,
        text}`. `now` leaves out what is dated later; `for_people` returns `{hits, gaps}` without weak hits, each with
        its `strength`."""
        agent, scope = self._asked_of(parameters)
        clock, until = self.services.clock, None
        if day := parameters.get("now"):
            clock = _clock_of(str(day), clock)
            until = clock.today()
        limit = agent.settings.memory.search.max_results
        for_people = parameters.get("for_people") is True
        most = number(parameters, "n") or (_FOR_PEOPLE if for_people else limit)
        query = required(parameters, "query")
        await asyncio.to_thread(agent.index.refresh, scope, clock, monotonic() + _SEARCH_WAITS)
        looked_at = max(most, limit) if for_people else most
        found = await asyncio.to_thread(agent.index.search, scope, clock, [query], until=until, most=looked_at)
        if not for_people:
            return [_hit_json(hit) for hit in found.hits]
        hits = [hit for hit in found.hits if hit.strength][:most]
        shown: list[Json] = [{**_hit_json(hit), "strength": hit.strength} for hit in hits]
        return {"hits": shown, "gaps": list(found.gaps)}

    async def status(self, parameters: Params) -> Json:
        """`{scope?, agent?}`: `{scope, file, files, passages, bytes, stale, problems, in_memory, embedded,
        embedder_problem}`."""
        agent, scope = self._asked_of(parameters)
        problem = await asyncio.to_thread(agent.index.embedder_problem, scope, _EMBEDDER_WAITS)
        status = await asyncio.to_thread(agent.index.status, scope)  # after it: by now the model is loaded, or never
        return {**_status_json(scope, status), "embedder_problem": problem}

    async def index(self, parameters: Params) -> Json:
        """`{scope?, agent?, force?}`: indexes what changed, or everything with `force`; returns what `memory.status`
        does."""
        agent, scope = self._asked_of(parameters)
        work = agent.index.rebuild if parameters.get("force") is True else agent.index.refresh
        key = (agent.settings.name, scope.name)
        progress = self._indexing[key] = _Progress()

        def indexed(done: int, of: int) -> None:
            progress.done, progress.of = done, of

        def embedded(count: int) -> None:
            progress.done += count

        try:
            await asyncio.to_thread(work, scope, self.services.clock, progress=indexed)
            missing = await asyncio.to_thread(agent.index.unembedded_count, scope)
            progress.of_what, progress.done, progress.of = "texts", 0, missing
            while await asyncio.to_thread(agent.index.embed, _EMBED_FOR, embedded):
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
        return await self.status(parameters)

    async def progress(self, parameters: Params) -> Json:
        """`{scope?, agent?}`: `{what, done, of}` of a running `memory.index`: first its `files`, then the `texts` that
        are embedded; 0 of 0 where none runs."""
        agent, scope = self._asked_of(parameters)
        known = self._indexing.get((agent.settings.name, scope.name), _Progress())
        return {"what": known.of_what, "done": known.done, "of": known.of}

    async def test(self, parameters: Params) -> Json:
        """`{scope?, agent?}`: `{results, gaps, unread}`, each result `{question, words, line, passed, missing,
        where}`."""
        agent, scope = self._asked_of(parameters)
        try:
            report = await tested(agent, scope, self.services.clock)
        except FileError as error:
            raise OperationError(str(error)) from error
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

    def _asked_of(self, parameters: Params) -> tuple[Agent, Scope]:
        agent = named_agent(self.services, parameters)
        return agent, self._scope(str(parameters.get("scope") or "owner"), agent)

    @staticmethod
    def _scope(name: str, agent: Agent) -> Scope:
        workspace = agent.workspace
        audience, _, rest = name.partition(":")
        try:
            match audience:
                case "owner" if not rest:
                    return Scope(Audience.OWNER, workspace)
                case "person":
                    return Scope(Audience.PERSON, workspace, rest)
                case "group":
                    return Scope(Audience.GROUP, workspace, rest.replace(":", "-"))
        except ValueError:
            pass
        raise OperationError(no_scope(name))


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


def _clock_of(day: str, clock: Clock) -> Clock:
    """A clock at the end of another day."""
    try:
        moment = datetime.combine(date.fromisoformat(day), time(23, 59, 59), clock.zone)
    except ValueError as error:
        raise OperationError(Sentence("{text} is not a date; write it as 2026-11-23.", text=repr(day))) from error
    return Clock(clock.zone, lambda: moment)
