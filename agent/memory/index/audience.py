"""The index of one audience, kept in line with its files.

A changed file is known by its size, times and inode, and by its hash where those look changed; it is indexed in one
transaction, so that a search sees the whole file as it was or as it is. Two connections: a search does not wait for a
file that is being indexed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from agent.clock import Clock
from agent.memory import daily, files
from agent.memory.index import sources
from agent.memory.index.cutting import Cut
from agent.memory.index.sources import Source, TalkSource
from agent.memory.index.store import MEMORY, Damaged, FileRow, NewFile, NotStored, Store
from agent.memory.reach import Unreadable, make_private
from agent.memory.scope import Scope

_log = logging.getLogger(__name__)

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Files done, of how many."""

_FRESH = 0.1
"""Seconds within which a file could change again without its times showing it."""
_UNTRUSTED = ""
_LOCK_WAIT = 10.0
"""Seconds to wait for another process that writes the same index, where nothing presses."""


@dataclass(frozen=True, slots=True)
class Status:
    """`bytes` on disk. `stale` counts files changed, new or gone since they were indexed; `problems` says what cannot
    be indexed, a sentence each; `in_memory`: the disk takes no index, so it is made anew with every start."""

    file: Path
    files: int
    passages: int
    bytes: int
    stale: int
    problems: tuple[str, ...]
    in_memory: bool


@dataclass(frozen=True, slots=True)
class _Changes:
    changed: Sequence[Source]
    gone: Sequence[str]

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


class AudienceIndex:
    """`file` need not exist. Blocks; any thread may call."""

    def __init__(
        self, file: Path, scope: Scope, cut: Cut, extra: Sequence[Path] = (), talks: TalkSource | None = None
    ) -> None:
        self.scope = scope
        self._file = file
        self._cut = cut
        self._extra = extra
        self._talks = talks
        self._writing = threading.RLock()
        self._reading = threading.Lock()
        self._writer: Store | None = None
        self._reader: Store | None = None
        self._inode = 0
        self._known: dict[str, FileRow] = {}
        self._data_version = 0

    def refresh(self, clock: Clock, deadline: float | None, progress: Progress | None = None) -> tuple[str, ...]:
        """Index what changed, the newest first, until `deadline` (of `time.monotonic`). Returns in sentences what a
        search will miss."""
        if not self._writing.acquire(timeout=-1 if deadline is None else max(0.0, deadline - time.monotonic())):
            return ("the newest changes are still being indexed.",)
        try:
            return self._mended(lambda: self._refreshed(clock, deadline, progress))
        except NotStored as error:
            _log.error("%s", error.strerror)
            return (f"what changed lately: {error.strerror}.",)
        finally:
            self._writing.release()

    def read(self, look: Callable[[Store], T], deadline: float) -> tuple[T | None, str]:
        """What `look` finds, or None and the reason in a sentence."""
        for attempt in (1, 2):
            if not self._reading.acquire(timeout=max(0.01, deadline - time.monotonic())):
                return None, "there was no time to search."
            try:
                if self._reader is None:
                    return None, "the index is not there yet."
                return look(self._reader), ""
            except NotStored as error:
                return None, f"{error.strerror}."
            except Damaged as damage:
                self._report(damage)
            finally:
                self._reading.release()
            with self._writing:
                self._begin_anew()
            if attempt == 1:
                break
        return None, "the search index was damaged; it is made anew, so ask again in a moment."

    def rebuild(self, clock: Clock, progress: Progress | None = None) -> tuple[str, ...]:
        """Beside the present one, then in its place. Raises `NotStored`; the present one stays."""
        with self._writing, self._alone(None):
            beside = self._file.with_name(f"{self._file.name}.new")
            _delete(beside)
            gaps: list[str] = []
            listed = list(self._listed(gaps))
            store = Store.create(beside, self.scope.name, str(self._cut))
            try:
                rows: dict[str, FileRow] = {}
                for number, source in enumerate(listed, 1):
                    row = self._put(store, source, None, clock)
                    if row is not None:
                        rows[source.name] = row
                    if progress is not None:
                        progress(number, len(listed))
                store.close()
            except BaseException:
                store.close()
                _delete(beside)
                raise
            self._swap(beside)
            self._open()
            return (*gaps, *self._problems())

    def status(self, clock: Clock) -> Status:
        with self._writing:
            gaps: list[str] = []
            with suppress(NotStored):
                self._mended(self._ready)
            changes = self._changes(gaps)
            passages = self._writer.passage_count() if self._writer is not None else 0
            size = sum(one.stat().st_size for one in _with_its_files(self._file) if one.exists())
            problems = (*gaps, *self._problems())
            in_memory = self._writer is not None and self._writer is self._reader
            return Status(self._file, len(self._known), passages, size, len(changes), problems, in_memory)

    def purge(self, clock: Clock) -> None:
        with self._writing:
            self.refresh(clock, None)
            if self._writer is not None:
                with self._reading:
                    self._writer.purge()

    def close(self) -> None:
        with self._writing, self._reading:
            self._close()

    # all below under `_writing` ------------------------------------------------------------------------------------

    def _mended(self, work: Callable[[], T]) -> T:
        """Once more with a new index where the one on disk is damaged."""
        try:
            return work()
        except Damaged as damage:
            self._report(damage)
        self._begin_anew()
        try:
            return work()
        except Damaged as damage:
            raise NotStored(0, f"the search index cannot be used ({damage})") from damage

    def _report(self, damage: Damaged) -> None:
        _log.warning("the search index %s is made anew: %s", self._file.name, damage)

    def _refreshed(self, clock: Clock, deadline: float | None, progress: Progress | None) -> tuple[str, ...]:
        self._ready()
        gaps: list[str] = []
        changes = self._changes(gaps)
        left = len(changes)
        if left:
            with self._alone(deadline) as alone:
                left = self._take_in(changes, clock, deadline, progress) if alone else left
        if left:
            gaps.append(f"{left} changed file{'s' if left > 1 else ''}: there was no time to index them yet.")
        return (*gaps, *self._problems())

    def _ready(self) -> None:
        try:
            inode = self._file.stat().st_ino
        except FileNotFoundError:
            inode = 0
        if self._writer is not None and (inode == self._inode or self._writer is self._reader):
            return
        if inode:
            self._open()
        else:
            self._begin_anew()

    def _open(self) -> None:
        with self._reading:
            self._close()
            self._writer = Store.open(self._file, self.scope.name, str(self._cut))
            self._reader = Store.open(self._file, self.scope.name, str(self._cut))
            self._inode = self._file.stat().st_ino
        self._recall()

    def _recall(self) -> None:
        assert self._writer is not None
        self._known = self._writer.files()
        self._data_version = self._writer.data_version

    def _begin_anew(self) -> None:
        """An empty index in place of what is there; in memory, where the disk takes none."""
        beside = self._file.with_name(f"{self._file.name}.new")
        try:
            with self._alone(None):
                _delete(beside)
                Store.create(beside, self.scope.name, str(self._cut)).close()
                self._swap(beside)
                self._open()
        except NotStored as error:
            _log.error("%s: %s; it is kept in memory", self._file.name, error.strerror)
            with self._reading:
                self._close()
                self._writer = self._reader = Store.create(MEMORY, self.scope.name, str(self._cut))
            self._recall()

    def _swap(self, beside: Path) -> None:
        """The old one's log must not be taken for the new one's."""
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
        day = daily.day_of(source.path)
        try:
            data = sources.read(source)
            if data is None:
                return None
            trusted = source if _is_settled(source, read_at) else _with_signature(source, _UNTRUSTED)
            sha = files.sha_of(data)
            if known is not None and known.sha == sha and not source.is_talk:
                store.touch(source.name, trusted.signature, sources.day_of_change(source, clock))
                return FileRow(known.id, trusted.signature, sha, "")
            if source.is_talk and self._talks is not None:
                began, said = self._talks.parsed(source, data, clock)
                new = sources.new_file(trusted, sha, began, True, "", said, self._cut)
            else:
                new = sources.parsed(trusted, data, clock, self._cut)
        except Unreadable as error:
            new = NewFile(
                source.name,
                source.signature,
                "",
                day or sources.day_of_change(source, clock),
                day is not None,
                problem=f"{error.reason}.",
            )
        return store.put(new)

    def _problems(self) -> tuple[str, ...]:
        return tuple(row.problem for row in self._known.values() if row.problem)

    @contextmanager
    def _alone(self, deadline: float | None) -> Iterator[bool]:
        """Keep other processes from writing; False where one does until `deadline`. Raises `NotStored`."""
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


def _is_settled(source: Source, read_at: float) -> bool:
    """Whether its times would show another change."""
    _, _, changed, _ = source.signature.split(" ")[:4]
    age = read_at - int(changed) / 1e9
    return age > _FRESH or age < -1.0


def _with_signature(source: Source, signature: str) -> Source:
    return Source(source.name, source.path, source.root, signature, source.changed, source.is_talk)


def _with_its_files(file: Path) -> list[Path]:
    return [file.with_name(f"{file.name}{ending}") for ending in ("", "-wal", "-shm", "-journal")]


def _delete(file: Path) -> None:
    try:
        for one in _with_its_files(file):
            one.unlink(missing_ok=True)
    except OSError as error:
        raise NotStored(error.errno or 0, f"the search index cannot be written ({error.strerror})") from error
