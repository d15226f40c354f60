"""The index of one audience, kept in line with its files.

A changed file is known by its size, times and inode, and by its hash where those look changed; it is indexed in one
transaction, so that a search sees the whole file as it was or as it is. Two connections: a search does not wait for a
file that is being indexed.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from agent.clock import Clock
from agent.memory import files
from agent.memory.index import sources
from agent.memory.index.cutting import Cut
from agent.memory.index.sources import Source, Talk, TalkSource
from agent.memory.index.store import Damaged, FileRow, NewFile, NotStored, Store, TextRow
from agent.memory.reach import Unreadable, make_private
from agent.memory.scope import Scope

_log = logging.getLogger(__name__)

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Files done, of how many."""

_FRESH = 0.1
"""Seconds within which a file could change again without its times showing it."""
_UNTRUSTED = ""
_LEAST_WAIT = 0.01
_NAMED_AT_ONCE = 500
_LOCK_WAIT = 10.0
"""Seconds to wait for another process that writes the same index, where nothing presses."""


@dataclass(frozen=True, slots=True)
class Status:
    """`bytes` on disk. `stale` counts files changed, new or gone since they were indexed; `problems` says what cannot
    be indexed, a sentence each; `in_memory`: the disk takes no index, so it is made anew with every start. `embedded`
    counts the passages that have a vector."""

    file: Path | None
    files: int
    passages: int
    bytes: int
    stale: int
    problems: tuple[str, ...]
    in_memory: bool
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class Freshness:
    """`stale` counts changed files that are not indexed yet. `gaps` says in sentences what a search will miss."""

    stale: int = 0
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Changes:
    changed: Sequence[Source]
    gone: Sequence[str]

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


class AudienceIndex:
    """`file` need not exist; without one the index is in memory. Blocks; any thread may call."""

    def __init__(
        self,
        file: Path | None,
        scope: Scope,
        cut: Cut,
        extra: Sequence[Path] = (),
        talks: TalkSource | None = None,
        embeds: bool = False,
    ) -> None:
        """`embeds`: its texts are going to have vectors."""
        self.scope = scope
        self._file = file
        self._cut = cut
        self._extra = extra
        self._talks = talks
        self._embeds = embeds
        self._writing = threading.RLock()
        self._reading = threading.Lock()
        self._writer: Store | None = None
        self._reader: Store | None = None
        self._inode = 0
        self._known: dict[str, FileRow] = {}
        self._data_version = 0
        self._embedded: tuple[int, int, str] | None = None

    def refresh(self, clock: Clock, deadline: float | None, progress: Progress | None = None) -> Freshness:
        """Index what changed, the newest first, until `deadline` (of `time.monotonic`)."""
        if not self._writing.acquire(timeout=-1 if deadline is None else max(0.0, deadline - time.monotonic())):
            return Freshness(1, ("the newest changes: they are still being indexed.",))
        try:
            return self._mended(lambda: self._refreshed(clock, deadline, progress))
        except NotStored as error:
            _log.error("%s", error.strerror)
            return Freshness(0, (f"what changed lately: {error.strerror}.",))
        finally:
            self._writing.release()

    def read(self, look: Callable[[Store], T], deadline: float) -> tuple[T | None, str]:
        """What `look` finds, or None and the reason in a sentence."""
        if not self._reading.acquire(timeout=max(_LEAST_WAIT, deadline - time.monotonic())):
            return None, "anything: there was no time."
        try:
            return (look(self._reader), "") if self._reader is not None else (None, "anything: there is no index.")
        except NotStored as error:
            return None, f"anything: {error.strerror}."
        except Damaged as damage:
            _log.warning("the search index %s is damaged: %s", self._file, damage)
        finally:
            self._reading.release()
        with self._writing:
            self._begin_anew()
        return None, "anything: the index was damaged and is made anew; ask again in a moment."

    def rebuild(self, clock: Clock, progress: Progress | None = None) -> Freshness:
        """Beside the present one, then in its place. Raises `NotStored`; the present one stays."""
        if self._file is None:
            with self._writing:
                self._begin_anew()
            return self.refresh(clock, None, progress)
        with self._writing, self._alone(None):
            beside = _beside(self._file)
            _delete(beside)
            gaps: list[str] = []
            listed = list(self._listed(gaps))
            try:
                store = Store.create(beside, self.scope.name, str(self._cut))
                with closing(store):
                    with suppress(Damaged, NotStored):  # they can be made again
                        store.take_vectors(self._file)
                    for number, source in enumerate(listed, 1):
                        self._put(store, source, None, clock)
                        if progress is not None:
                            progress(number, len(listed))
                self._swap(beside)
                self._open()
            except Damaged as damage:
                raise NotStored(0, f"the search index cannot be made ({damage})") from damage
            except BaseException:
                _delete(beside)
                raise
            return Freshness(0, (*gaps, *self._problems()))

    def status(self, clock: Clock, model: str = "") -> Status:
        """`model`: whose vectors are counted."""
        with self._writing:
            gaps: list[str] = []
            with suppress(NotStored):
                self._mended(self._ready)
            changes = self._changes(gaps)
            new = [one for one in changes.changed if one.name not in self._known or self._known[one.name].signature]
            stale = len(new) + len(changes.gone)
            passages = self._writer.passage_count() if self._writer is not None else 0
            embedded = self._writer.vector_count(model) if self._writer is not None and model else 0
            parts = _with_its_files(self._file) if self._file is not None else []
            size = sum(one.stat().st_size for one in parts if one.exists())
            problems = (*gaps, *self._problems())
            known = len(self._known)
            return Status(self._file, known, passages, size, stale, problems, self._is_in_memory, embedded)

    def purge(self, clock: Clock) -> None:
        with self._writing:
            self.refresh(clock, None)
            if self._writer is not None:
                with self._reading:
                    self._writer.purge()

    def unembedded(self, model: str, most: int) -> list[TextRow]:
        """Texts of which `put_vectors` has none of that model yet. Where there are none, what is left of texts that
        are gone and of other models is dropped. Raises `NotStored`."""
        with self._writing:
            return self._mended(lambda: self._unembedded(model, most))

    def put_vectors(self, model: str, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        """By the key of their text. Raises `NotStored`."""
        with self._writing:
            self._mended(lambda: self._put_vectors(model, vectors))

    def close(self) -> None:
        with self._writing, self._reading:
            self._close()

    # all below under `_writing` ------------------------------------------------------------------------------------

    def _mended(self, work: Callable[[], T]) -> T:
        """Once more with a new index where the one on disk is damaged."""
        try:
            return work()
        except Damaged as damage:
            _log.warning("the search index %s is made anew: %s", self._file, damage)
        self._begin_anew()
        try:
            return work()
        except Damaged as damage:
            raise NotStored(0, f"the search index cannot be used ({damage})") from damage

    def _unembedded(self, model: str, most: int) -> list[TextRow]:
        self._ready()
        assert self._writer is not None
        state = (*self._writer.state, model)
        if state == self._embedded:
            return []
        with self._alone(None):
            self._name(self._writer, None)
            found = self._writer.without_vector(model, most)
            if not found:
                self._writer.drop_vectors(model)
                self._embedded = (*self._writer.state, model)
        return found

    @staticmethod
    def _name(store: Store, file: int | None) -> None:
        while unnamed := store.unnamed_texts(_NAMED_AT_ONCE, file):
            store.name_texts(row._replace(key=key_of(row.text)) for row in unnamed)

    def _put_vectors(self, model: str, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        self._ready()
        assert self._writer is not None
        with self._alone(None):
            self._writer.put_vectors(model, vectors)

    def _refreshed(self, clock: Clock, deadline: float | None, progress: Progress | None) -> Freshness:
        self._ready()
        gaps: list[str] = []
        changes = self._changes(gaps)
        left = len(changes)
        if left:
            with self._alone(deadline) as alone:
                left = self._take_in(changes, clock, deadline, progress) if alone else left
        if left:
            what = "1 changed file: it is" if left == 1 else f"{left} changed files: they are"
            gaps.append(f"{what} not in the index yet.")
        return Freshness(left, (*gaps, *self._problems()))

    @property
    def _is_in_memory(self) -> bool:
        return self._writer is not None and self._writer is self._reader

    def _ready(self) -> None:
        if self._is_in_memory:
            return
        inode = _inode(self._file) if self._file is not None else 0
        if self._writer is not None and inode == self._inode:
            return
        if inode:
            self._open()
        else:
            self._begin_anew()

    def _open(self) -> None:
        assert self._file is not None
        with self._reading:
            self._close()
            self._writer = Store.open(self._file, self.scope.name, str(self._cut))
            self._reader = Store.open(self._file, self.scope.name, str(self._cut))
            self._inode = _inode(self._file)
        self._recall()

    def _recall(self) -> None:
        assert self._writer is not None
        self._known = self._writer.files()
        self._data_version = self._writer.data_version

    def _begin_anew(self) -> None:
        """An empty index in place of what is there; in memory, where the disk takes none."""
        try:
            if self._file is not None:
                with self._alone(None):
                    beside = _beside(self._file)
                    _delete(beside)
                    Store.create(beside, self.scope.name, str(self._cut)).close()
                    self._swap(beside)
                    self._open()
                return
        except (NotStored, Damaged) as error:
            _log.error("the search index %s is kept in memory: %s", self._file, error)
        with self._reading:
            self._close()
            self._writer = self._reader = Store.create(None, self.scope.name, str(self._cut))
        self._recall()

    def _swap(self, beside: Path) -> None:
        """The old one's log must not be taken for the new one's."""
        assert self._file is not None
        try:
            with self._reading:
                self._close()
                for side in _with_its_files(self._file)[1:]:
                    side.unlink(missing_ok=True)
                beside.replace(self._file)
        except OSError as error:
            raise NotStored(error.errno or 0, f"the search index cannot be replaced ({error.strerror})") from error

    def _close(self) -> None:
        for store in {id(one): one for one in (self._writer, self._reader) if one is not None}.values():
            store.close()
        self._writer = self._reader = None
        self._inode = 0
        self._known = {}

    def _changes(self, gaps: list[str]) -> _Changes:
        found = {source.name: source for source in self._listed(gaps)}
        changed = [
            source
            for name, source in found.items()
            if (known := self._known.get(name)) is None or known.signature != source.signature
        ]
        return _Changes(changed, [name for name in self._known if name not in found])

    def _listed(self, gaps: list[str]) -> Iterator[Source]:
        yield from sources.markdown(self.scope, self._extra, gaps)
        if self._talks is not None:
            yield from self._talks.sources(self.scope)

    def _take_in(self, changes: _Changes, clock: Clock, deadline: float | None, progress: Progress | None) -> int:
        """How many changes are left."""
        assert self._writer is not None
        if self._writer.data_version != self._data_version:  # another process was here
            self._recall()
            changes = self._changes([])
        for name in changes.gone:
            self._writer.remove(name)
            self._known.pop(name, None)
        newest_first = sorted(changes.changed, key=lambda source: source.changed, reverse=True)
        for number, source in enumerate(newest_first):
            if deadline is not None and time.monotonic() > deadline:
                return len(newest_first) - number
            row = self._put(self._writer, source, self._known.get(source.name), clock)
            if row is not None:
                self._known[source.name] = row
            elif self._known.pop(source.name, None) is not None:
                self._writer.remove(source.name)
            if progress is not None:
                progress(number + 1, len(newest_first))
        return 0

    def _put(self, store: Store, source: Source, known: FileRow | None, clock: Clock) -> FileRow | None:
        """None where the file is gone."""
        read_at = time.time()
        try:
            data = sources.read(source)
            if data is None:
                return None
            trusted = source if _is_settled(source, read_at) else _with_signature(source, _UNTRUSTED)
            sha = files.sha_of(data)
            if known is not None and known.sha == sha and source.talk is None:
                store.touch(source.name, trusted.signature, sources.day_of_change(source, clock))
                return FileRow(known.id, trusted.signature, sha, "")
            if source.talk is not None and self._talks is not None:
                said = self._talks.parsed(data, clock, source.talk is Talk.CURRENT)
                new = sources.new_file(trusted, sha, "", said, clock, self._cut)
            else:
                new = sources.parsed(trusted, data, clock, self._cut)
        except Unreadable as error:
            new = NewFile(source.name, source.signature, "", problem=f"{error.reason}.")
        row = store.put(new)
        if self._embeds:  # what it says unchanged keeps its vectors at once
            self._name(store, row.id)
        return row

    def _problems(self) -> tuple[str, ...]:
        return tuple(row.problem for row in self._known.values() if row.problem)

    @contextmanager
    def _alone(self, deadline: float | None) -> Iterator[bool]:
        """Keep other processes from writing; False where one does until `deadline`. Raises `NotStored`."""
        if self._file is None or self._is_in_memory:
            yield True
            return
        wait = _LOCK_WAIT if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            make_private(self._file.parent)
            lock = FileLock(self._file.with_name(f"{self._file.name}.lock"), mode=0o600)
            lock.acquire(timeout=wait, poll_interval=0.01)
        except Timeout:
            if deadline is None:
                raise NotStored(0, "another process is writing the search index") from None
            yield False
            return
        except OSError as error:
            raise NotStored(error.errno or 0, f"the search index cannot be written ({error.strerror})") from error
        try:
            yield True
        finally:
            lock.release()


def key_of(text: str) -> bytes:
    """What a text's vector is kept under."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_settled(source: Source, read_at: float) -> bool:
    """Whether its times would show another change."""
    _, _, changed, _ = source.signature.split(" ")[:4]
    age = read_at - int(changed) / 1e9
    return age > _FRESH or age < -1.0


def _with_signature(source: Source, signature: str) -> Source:
    return source._replace(signature=signature)


def _inode(file: Path) -> int:
    """0 where there is no such file."""
    try:
        return file.stat().st_ino
    except OSError:  # what else is wrong shows when it is made
        return 0


def _beside(file: Path) -> Path:
    return file.with_name(f"{file.name}.new")


def _with_its_files(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}{ending}") for ending in ("", "-wal", "-shm", "-journal")]


def _delete(file: Path) -> None:
    try:
        for one in _with_its_files(file):
            one.unlink(missing_ok=True)
    except OSError as error:
        raise NotStored(error.errno or 0, f"the search index cannot be written ({error.strerror})") from error
