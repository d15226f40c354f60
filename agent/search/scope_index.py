"""The index of one scope, kept in line with its files.

Changes are detected by size, times and inode, then by hash. A file is indexed in one transaction.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agent.clock import Clock
from agent.formats.sqlite import StorageUnavailable
from agent.languages.sentences import Sentence
from agent.memory import files
from agent.memory.paths import UnreadableFile
from agent.memory.scope import Scope
from agent.search import sources
from agent.search.chunking import Chunker
from agent.search.database import Damaged, unusable
from agent.search.index_file import IndexFile
from agent.search.rows import FileRow, NewFile, TextRow
from agent.search.sources import IndexSource, SessionAge, SessionSources
from agent.search.store import IndexStore

_log = logging.getLogger(__name__)

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Files done, of how many."""

_FRESH = 0.1
"""Seconds within which a further change may not show in the times."""
_UNTRUSTED = ""
_LEAST_WAIT = 0.01
_BYTES_A_SECOND = 1_500_000
"""Markdown indexed, on a slow machine."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The state of an index. `bytes` on disk."""

    file: Path | None
    files: int
    passages: int
    bytes: int
    stale: int
    """Files changed since indexing."""
    problems: tuple[str, ...]
    """Sentences."""
    in_memory: bool
    """Rebuilt at every start."""
    embedded: int = 0
    """Passages with a vector."""


@dataclass(frozen=True, slots=True)
class IndexFreshness:
    """The result of indexing."""

    stale: int = 0
    """Changed files left."""
    gaps: tuple[str, ...] = ()
    """Sentences on what a search misses."""


@dataclass(frozen=True, slots=True)
class _Changes:
    changed: Sequence[IndexSource]
    gone: Sequence[str]

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


class PendingTexts:
    """Texts that need a vector, newest first; for one index file and model at a time. Raises as `IndexStore`."""

    def __init__(self) -> None:
        self._source: tuple[str, int] | None = None
        self._newest = 0
        self._left: list[tuple[int, int]] = []
        """Texts that were not looked at yet, by their first passages: above one number, up to the other. The newest are
        last."""
        self._done: tuple[tuple[int, int], str] | None = None

    def next(self, store: IndexStore, model: str, most: int) -> list[TextRow]:
        """Distinct texts to embed. If none, vectors of removed texts and other models are dropped."""
        if self._done == (store.state, model):
            return []
        named, source = store.vectors.name_all(), (model, store.vectors.dropped)
        if named or self._source != source:
            self._source, self._newest, self._left = source, 0, []
        newest = store.vectors.newest_text
        if newest > self._newest:
            self._left.append((self._newest, newest))
            self._newest = newest
        while self._left:
            above, to = self._left.pop()
            rows = store.vectors.missing(model, above, to, most)
            if rows:
                self._left.append((above, rows[0].first))  # they may be requested again
                return list({row.key: row for row in rows}.values())
        store.vectors.drop(model)
        self._done = (store.state, model)
        return []


class ScopeIndex:
    """The index of one scope; `file` None: in memory. Blocks; any thread may call."""

    def __init__(
        self,
        file: Path | None,
        scope: Scope,
        cut: Chunker,
        extra: Sequence[Path] = (),
        talks: SessionSources | None = None,
        embeds: bool = False,
    ) -> None:
        """`embeds`: its texts will have vectors."""
        self.scope = scope
        self._file = IndexFile(file, scope.name, str(cut))
        self._chunker = cut
        self._extra = extra
        self._sessions = talks
        self._embeds = embeds
        self._writing = threading.RLock()
        self._closing = threading.Event()
        self._known: dict[str, FileRow] = {}
        self._data_version = 0
        self._pending = PendingTexts()

    def refresh(
        self, clock: Clock, deadline: float | None, progress: Progress | None = None, *, patient: bool = False
    ) -> IndexFreshness:
        """Index changes, newest first, until `deadline` (of `time.monotonic`). `patient`: do not skip files too large
        for the time."""
        if not self._writing.acquire(timeout=-1 if deadline is None else max(0.0, deadline - time.monotonic())):
            return IndexFreshness(1, ("the newest changes: they are still being indexed.",))
        try:
            return self._with_repair(lambda: self._refresh(clock, deadline, progress, patient=patient))
        except StorageUnavailable as error:
            if not self._closing.is_set():
                _log.error("%s", error.strerror)
            return IndexFreshness(0, (Sentence("what changed lately: {why}.", why=error.strerror),))
        finally:
            self._writing.release()

    def open(self) -> None:
        """Prepare reads before any refresh. Raises `StorageUnavailable`."""
        with self._writing:
            self._with_repair(self._ready)

    def read(self, look: Callable[[IndexStore], T], deadline: float) -> tuple[T | None, str]:
        """The result of `look`, or None and the reason in a sentence."""
        file = self._file
        if not file.reading.acquire(timeout=max(_LEAST_WAIT, deadline - time.monotonic())):
            return None, Sentence("anything: {why}.", why=Sentence("there was no time"))
        try:
            return (look(file.reader), "") if file.reader is not None else (None, "anything: there is no index.")
        except StorageUnavailable as error:
            return None, Sentence("anything: {why}.", why=error.strerror)
        except Damaged as damage:
            _log.warning("the search index %s is damaged, rebuilding it: %s", file.path, damage)
        finally:
            file.reading.release()
        with self._writing:
            self._begin_anew()
        return None, Sentence("anything: the index was damaged and is made anew; ask again in a moment.")

    def rebuild(self, clock: Clock, progress: Progress | None = None) -> IndexFreshness:
        """Build a new index, then swap it in. Raises `StorageUnavailable`; the present one stays."""
        if self._file.path is None:
            with self._writing:
                self._begin_anew()
            return self.refresh(clock, None, progress)
        with self._writing, self._file.alone(None):
            gaps: list[str] = []
            listed = list(self._sources(gaps))
            try:
                with self._file.replacement() as store:
                    with suppress(Damaged, StorageUnavailable):  # vectors can be made again
                        store.vectors.take(self._file.path)
                    for number, source in enumerate(listed, 1):
                        self._put(store, source, None, clock)
                        if progress is not None:
                            progress(number, len(listed))
            except Damaged as damage:
                raise unusable(damage) from damage
            self._reload()
            return IndexFreshness(0, (*gaps, *self._problems()))

    def status(self, model: str = "") -> IndexStatus:
        with self._writing:
            try:
                return self._with_repair(lambda: self._status(model))
            except StorageUnavailable as error:
                why = Sentence("{why}.", why=error.strerror)
                return IndexStatus(self._file.path, 0, 0, self._file.bytes, 0, (why,), in_memory=False)

    def purge(self, clock: Clock) -> None:
        """Raises `StorageUnavailable`."""
        with self._writing:
            self._with_repair(lambda: self._purge(clock))

    def unembedded(self, model: str, most: int) -> list[TextRow]:
        """Texts without a vector, newest first. If none, vectors of removed texts and other models are dropped. Raises
        `StorageUnavailable`."""
        with self._writing:
            return self._with_repair(lambda: self._unembedded(model, most))

    def unembedded_count(self, model: str) -> int:
        """Raises `StorageUnavailable`."""
        with self._writing:
            return self._with_repair(lambda: self._unembedded_count(model))

    def put_vectors(self, model: str, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        """Store pairs of text key and vector. Raises `StorageUnavailable`."""
        with self._writing:
            self._with_repair(lambda: self._put_vectors(model, vectors))

    def close(self) -> None:
        """Also aborts indexing, which the next start repeats."""
        self._closing.set()
        with self._writing:
            self._file.close()
            self._known = {}

    # all below under `_writing` ------------------------------------------------------------------------------------

    def _with_repair(self, work: Callable[[], T]) -> T:
        """Run `work`, again with a new index if the file is damaged."""
        try:
            return work()
        except Damaged as damage:
            _log.warning("rebuilding the search index %s: %s", self._file.path, damage)
        self._begin_anew()
        try:
            return work()
        except Damaged as damage:
            raise unusable(damage) from damage

    def _ready(self) -> None:
        if self._file.is_new():
            self._reload()

    def _begin_anew(self) -> None:
        self._file.begin_anew()
        self._reload()

    def _reload(self) -> None:
        self._known = self._file.writer.files()
        self._data_version = self._file.writer.data_version
        self._pending = PendingTexts()

    def _status(self, model: str) -> IndexStatus:
        self._ready()
        gaps: list[str] = []
        changes = self._changes(gaps)
        new = [
            source for source in changes.changed if source.name not in self._known or self._known[source.name].signature
        ]
        writer = self._file.writer
        return IndexStatus(
            file=self._file.path,
            files=len(self._known),
            passages=writer.passage_count(),
            bytes=self._file.bytes,
            stale=len(new) + len(changes.gone),
            problems=(*gaps, *self._problems()),
            in_memory=self._file.in_memory,
            embedded=writer.vectors.count(model) if model else 0,
        )

    def _purge(self, clock: Clock) -> None:
        self._refresh(clock, None, None, patient=True)
        with self._file.reading:
            self._file.writer.purge()

    def _unembedded(self, model: str, most: int) -> list[TextRow]:
        self._ready()
        with self._file.alone(None):
            return self._pending.next(self._file.writer, model, most)

    def _unembedded_count(self, model: str) -> int:
        self._ready()
        with self._file.alone(None):
            if self._file.writer.vectors.name_all():  # indexed before there was an embedder
                self._pending = PendingTexts()
        return self._file.writer.vectors.missing_count(model)

    def _put_vectors(self, model: str, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        self._ready()
        with self._file.alone(None):
            self._file.writer.vectors.put(model, vectors)

    def _refresh(
        self, clock: Clock, deadline: float | None, progress: Progress | None, *, patient: bool
    ) -> IndexFreshness:
        self._ready()
        gaps: list[str] = []
        changes = self._changes(gaps)
        left = len(changes)
        if left:
            with self._file.alone(deadline) as alone:
                left = self._index_changes(changes, clock, deadline, progress, patient=patient) if alone else left
        if left:
            several = Sentence("{count} changed files: they are not in the index yet.", count=left)
            gaps.append(Sentence("1 changed file: it is not in the index yet.") if left == 1 else several)
        return IndexFreshness(left, (*gaps, *self._problems()))

    def _changes(self, gaps: list[str]) -> _Changes:
        found = {source.name: source for source in self._sources(gaps)}
        changed = [
            source
            for name, source in found.items()
            if (known := self._known.get(name)) is None or known.signature != source.signature
        ]
        return _Changes(changed, [name for name in self._known if name not in found])

    def _sources(self, gaps: list[str]) -> Iterator[IndexSource]:
        yield from sources.markdown(self.scope, self._extra, gaps)
        if self._sessions is not None:
            yield from self._sessions.sources(self.scope)

    def _index_changes(
        self, changes: _Changes, clock: Clock, deadline: float | None, progress: Progress | None, *, patient: bool
    ) -> int:
        """The number of changes left."""
        writer = self._file.writer
        if writer.data_version != self._data_version:  # another process wrote
            self._reload()
            changes = self._changes([])
        for name in changes.gone:
            writer.remove(name)
            self._known.pop(name, None)
        newest_first = sorted(changes.changed, key=lambda source: source.changed, reverse=True)
        too_large = 0
        for number, source in enumerate(newest_first):
            if deadline is not None and (room := deadline - time.monotonic()) < source.size / _BYTES_A_SECOND:
                if room < 0:
                    return too_large + len(newest_first) - number
                if not patient:
                    too_large += 1
                    continue
            row = self._put(writer, source, self._known.get(source.name), clock)
            if row is not None:
                self._known[source.name] = row
            elif self._known.pop(source.name, None) is not None:
                writer.remove(source.name)
            if progress is not None:
                progress(number + 1, len(newest_first))
        return too_large

    def _put(self, store: IndexStore, source: IndexSource, known: FileRow | None, clock: Clock) -> FileRow | None:
        """None if the file is gone."""
        read_at = time.time()
        try:
            data = sources.read(source)
            if data is None:
                return None
            trusted = source if _is_settled(source, read_at) else source._replace(signature=_UNTRUSTED)
            sha = files.sha_of(data)
            if known is not None and known.sha == sha and source.talk is None:
                store.touch(source.name, trusted.signature, sources.day_of_change(source, clock))
                return FileRow(known.id, trusted.signature, sha, "")
            if source.talk is not None and self._sessions is not None:
                messages = self._sessions.parsed(data, clock, source.talk is SessionAge.CURRENT)
                new = sources.new_file(trusted, sha, "", messages, clock, self._chunker, self._check_open)
            else:
                new = sources.parsed(trusted, data, clock, self._chunker, self._check_open)
        except UnreadableFile as error:
            new = NewFile(source.name, source.signature, "", problem=f"{error.reason}.")
        return store.put(new, named=self._embeds, going=self._check_open)

    def _check_open(self) -> None:
        if self._closing.is_set():
            raise StorageUnavailable(Sentence("the search index is being closed"))

    def _problems(self) -> tuple[str, ...]:
        return tuple(row.problem for row in self._known.values() if row.problem)


def _is_settled(source: IndexSource, read_at: float) -> bool:
    _, _, changed, _ = source.signature.split(" ")[:4]
    age = read_at - int(changed) / 1e9
    return age > _FRESH or age < -1.0
