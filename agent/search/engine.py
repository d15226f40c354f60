"""The memory index of one agent: a file per scope in the home's `state/`, updated before each search, rebuilt if
missing or damaged. Everything blocks; any thread may call."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from agent.clock import Clock
from agent.formats.sqlite import StorageUnavailable
from agent.languages.date_words import Region, region_of
from agent.languages.sentences import Sentence
from agent.memory.scope import Audience, Scope
from agent.search import hybrid, ranking
from agent.search.chunking import Chunker
from agent.search.index_file import delete_index
from agent.search.results import Hit, Limits, Ranked, SearchResult
from agent.search.scope_index import IndexFreshness, IndexStatus, Progress, ScopeIndex
from agent.search.sources import SessionSources
from agent.search.store import IndexStore
from agent.search.tokenizer import words_asked
from agent.search.vectors.protocol import CHANGED_SIZE, EmbeddedQuestion, NoSemanticIndex, SemanticIndex, Similarity
from agent.settings import SearchSettings

MAIN = "main"
"""The agent whose owner's index is `memory.db`."""
WITHIN = 10.0
"""Seconds for a search without a deadline. Nearly all take milliseconds; a busy machine may need longer to find the
latest changes."""
_PART_FOR_FILES = 0.7
"""Share of a deadline for indexing, so that the rest suffices for ranking."""
_PART_FOR_EMBEDDING = 0.9
"""Share of a deadline until which a question must be embedded."""
_MOST_QUERIES = 16
MOST_OPEN = 64
"""Indexes kept open. Each takes five file descriptors, of which a process often has 1,024; reopening takes 20 ms."""


@dataclass(slots=True)
class _Open:
    index: ScopeIndex
    users: int = 0


class MemoryIndex:
    """All indexes of one agent. `state` None: in memory only. `talks` supplies past sessions."""

    def __init__(
        self,
        state: Path | None,
        agent: str = MAIN,
        settings: SearchSettings | None = None,
        talks: SessionSources | None = None,
        meaning: SemanticIndex | None = None,
        within: float = WITHIN,
    ) -> None:
        self._settings = settings or SearchSettings()
        self._state = self._settings.folder or state
        self._agent = agent
        self._sessions = talks if self._settings.transcripts else None
        self._semantic = meaning
        self._within = within
        self._chunker = Chunker() if self._settings.hybrid is None else hybrid.chunker_for(self._settings.hybrid)
        self._opening = threading.Lock()
        self._open: dict[str, _Open] = {}
        self._stale_scopes: dict[str, Scope] = {}

    def search(
        self,
        scope: Scope,
        clock: Clock,
        queries: Sequence[str],
        *,
        since: date | None = None,
        until: date | None = None,
        most: int = 40,
        below: str = "",
        deadline: float | None = None,
    ) -> SearchResult:
        """Index changes as far as time allows, then search as `results.Search`."""
        began = time.monotonic()
        end = began + self._within if deadline is None else deadline
        every = [query for query in dict.fromkeys(queries) if query.strip()]
        wanted = every[:_MOST_QUERIES]
        embedded: dict[str, EmbeddedQuestion] = {}
        no_similarity: list[str] = []
        today, region = clock.today(), region_of(clock.zone)
        limits = (since.toordinal() if since else 0, until.toordinal() if until else 0, below)

        def look(store: IndexStore) -> list[Hit]:
            first, last, folder = limits
            bounds = Limits(first, last if last < store.newest else 0, folder)
            found: list[tuple[str, list[Ranked]]] = []
            for query in wanted:
                like, why = self._similarity(scope, store, embedded.get(query), bounds)
                found.append((query, self._rank(store, query, today, bounds, most, like, region)))
                no_similarity.append(why)
            return _merge(found, most)

        with self._index_of(scope) as index:
            gaps = self._refresh(index, clock, began + (end - began) * _PART_FOR_FILES).gaps
            if (semantic := self._semantic) is not None:
                embed_until = began + (end - began) * _PART_FOR_EMBEDDING
                embedded |= {query: semantic.question(query, embed_until) for query in wanted}
            hits, problem = index.read(look, end)
        meaning = [
            Sentence("what says it in other words: {why}.", why=why) for why in dict.fromkeys(no_similarity) if why
        ]
        left = len(every) - len(wanted)
        left_out = f"{left} of {len(every)} queries: no more than {_MOST_QUERIES} are asked at once." if left else ""
        return SearchResult(tuple(hits or ()), tuple(filter(None, (left_out, *gaps, problem, *meaning))))

    def refresh(
        self, scope: Scope, clock: Clock, deadline: float | None = None, progress: Progress | None = None
    ) -> IndexFreshness:
        """Index changes until `deadline` (of `time.monotonic`); a file begun is finished."""
        with self._index_of(scope) as index:
            return self._refresh(index, clock, deadline, progress, patient=True)

    def behind(self) -> list[Scope]:
        """Scopes with changes that a search had no time for."""
        return list(self._stale_scopes.values())

    def _refresh(
        self,
        index: ScopeIndex,
        clock: Clock,
        deadline: float | None,
        progress: Progress | None = None,
        *,
        patient: bool = False,
    ) -> IndexFreshness:
        found = index.refresh(clock, deadline, progress, patient=patient)
        if found.stale:
            self._stale_scopes[index.scope.name] = index.scope
        else:
            self._stale_scopes.pop(index.scope.name, None)
        return found

    def rebuild(self, scope: Scope, clock: Clock, progress: Progress | None = None) -> IndexFreshness:
        """Rebuild the index; the present one still answers. Raises `StorageUnavailable`."""
        with self._index_of(scope) as index:
            return index.rebuild(clock, progress)

    def status(self, scope: Scope) -> IndexStatus:
        with self._index_of(scope) as index:
            return index.status(self._semantic.model if self._semantic is not None else "")

    def purge(self, scope: Scope, clock: Clock) -> None:
        """Remove forgotten text physically, from the owner's index too. Indexes of other computers are deleted: they
        make theirs again. Raises `StorageUnavailable`."""
        for affected in dict.fromkeys((scope, Scope(Audience.OWNER, scope.workspace))):
            with self._index_of(affected) as index:
                index.purge(clock)
            for copy in self._copies(affected):
                delete_index(copy)

    def _copies(self, scope: Scope) -> list[Path]:
        """The files of other computers for a scope."""
        folder, own = self._settings.folder, self._index_path(scope)
        if folder is None or own is None:
            return []
        return [other / own.relative_to(folder) for other in folder.parent.iterdir() if other != folder]

    def close(self) -> None:
        with self._opening:
            for opened in self._open.values():
                opened.index.close()
            self._open.clear()

    @contextmanager
    def _index_of(self, scope: Scope) -> Iterator[ScopeIndex]:
        with self._opening:
            opened = self._open.pop(scope.name, None)
            if opened is None or opened.index.scope.folder != scope.folder:
                settings, talks = self._settings, self._sessions if scope.is_private else None
                file = self._index_path(scope)
                opened = _Open(ScopeIndex(file, scope, self._chunker, settings.extra_paths, talks, self.embeds))
            self._open[scope.name] = opened
            opened.users += 1
        try:
            yield opened.index
        finally:
            with self._opening:
                opened.users -= 1
                idle = [name for name, other in self._open.items() if not other.users]
                surplus = [self._open.pop(name).index for name in idle[: max(0, len(self._open) - MOST_OPEN)]]
            for index in surplus:
                index.close()

    def _index_path(self, scope: Scope) -> Path | None:
        if self._state is None:
            return None
        if scope.audience is Audience.OWNER and self._agent == MAIN:
            return self._state / "memory.db"
        name = hashlib.sha256(scope.name.encode()).hexdigest()[:16]  # ids may differ only in case
        return self._state / "memory" / self._agent / f"{scope.audience}-{name}.db"

    def _rank(
        self,
        store: IndexStore,
        query: str,
        today: date,
        limits: Limits,
        most: int,
        like: Similarity | None,
        region: Region,
    ) -> list[Ranked]:
        if self._settings.hybrid is not None:
            return hybrid.rank(store, query, today, limits, most, self._settings.hybrid, like)
        return ranking.rank(store, query, today, limits, most, like, region)

    # meaning -----------------------------------------------------------------------------------------------------

    @property
    def embeds(self) -> bool:
        return self._semantic is not None and not isinstance(self._semantic, NoSemanticIndex)

    def use(self, meaning: SemanticIndex) -> None:
        self._semantic = meaning

    def embed(self, seconds: float, done: Callable[[int], None] | None = None) -> bool:
        """Embed texts of the indexes in use for about `seconds`; true if more may be left. Raises `NoEmbedding`,
        `StorageUnavailable`."""
        if self._semantic is None:
            return False
        with self._opening:
            scopes = [opened.index.scope for opened in self._open.values()]
        end = time.monotonic() + seconds
        more = False
        for scope in scopes:
            with self._index_of(scope) as index:
                more |= self._semantic.embed(index, end, done)
                if not more:  # so that the next search need not
                    index.read(partial(self._semantic.follow, scope.name), end)
        return more

    def unembedded_count(self, scope: Scope, *, loads: bool = True) -> int:
        """The number of texts without a vector; 0 without a model (`loads` loads it). Raises `StorageUnavailable`."""
        if (meaning := self._semantic) is None or not (model := meaning.load() if loads else meaning.model):
            return 0
        with self._index_of(scope) as index:
            return index.unembedded_count(model)

    @property
    def last_embedder_problem(self) -> str:
        """The embedder's last failure; "" if it worked or there is none."""
        return self._semantic.problem if self._semantic is not None else ""

    def retry_embedder(self) -> None:
        if self._semantic is not None:
            self._semantic.retry()

    def embedder_problem(self, scope: Scope, seconds: float) -> str:
        """Test the embedder; "" if it works."""
        if (meaning := self._semantic) is None:
            return ""
        end = time.monotonic() + seconds
        question = meaning.question(f"Does it answer at {time.time_ns()}?", end)  # not in the cache
        if question.vector is None:
            return question.gap
        with self._index_of(scope) as index:
            with suppress(StorageUnavailable):  # reported by the status
                index.open()
            compared, _ = index.read(lambda store: meaning.like(scope.name, store, question, Limits()), end)
        return CHANGED_SIZE if compared is not None and compared[1] == CHANGED_SIZE else ""

    def _similarity(
        self, scope: Scope, store: IndexStore, question: EmbeddedQuestion | None, limits: Limits
    ) -> tuple[Similarity | None, str]:
        if self._semantic is None or question is None:
            return None, ""
        return self._semantic.like(scope.name, store, question, limits)


def _merge(found: Sequence[tuple[str, Sequence[Ranked]]], most: int) -> list[Hit]:
    """Each passage once, with its best score; first the best of each question."""
    best: dict[tuple[int, int], tuple[Ranked, dict[str, float]]] = {}
    positions: dict[tuple[int, int], int] = {}
    for query, ranked in found:
        embedded = words_asked(query)
        for position, result in enumerate(ranked):
            positions[result.first, result.last] = min(position, positions.get((result.first, result.last), position))
            matched = {word: result.matched[token] for word, token in embedded.items() if token in result.matched}
            known = best.get((result.first, result.last))
            if known is None:
                best[result.first, result.last] = (result, matched)
            else:
                better = result if result.score > known[0].score else known[0]
                best[result.first, result.last] = (better, known[1] | matched)
    ordered = sorted(best.values(), key=lambda item: (positions[item[0].first, item[0].last], -item[0].score))
    return [
        Hit(
            result.path,
            result.lines[0],
            result.lines[1],
            date.fromordinal(result.day),
            round(result.score, 4),
            result.text,
            matched,
            result.parts,
        )
        for result, matched in ordered[:most]
    ]
