"""The state that a conversation's tools share: its scope, and which files it has read."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from agent.clock import Clock
from agent.memory.files import FileText, clean, sha_of, text_of
from agent.memory.history import Author
from agent.memory.notes import fullness, is_index
from agent.memory.paths import FileError, folded_parts, inside, name_below
from agent.memory.scope import Scope
from agent.model.base import Json
from agent.search.chunking import Passage
from agent.search.result_text import QuotedLines
from agent.search.results import Search
from agent.settings import MemorySettings
from agent.tools.base import Effect, Tool, ToolError, ToolResult
from agent.tools.foreign_text import ForeignText, in_text, is_of_others, of_others
from agent.tools.schema import A, Arguments, checked, spec, takes

P = ParamSpec("P")
R = TypeVar("R")

_SHOWN_CHARS = 20_000
_TO_OWNER = re.compile(r"""\bto:[ \t]{0,8}["']?owner\b""")
_OWN_KINDS = frozenset({".md", ".txt"})
"""Files in which marks show what was made from text of others."""


class TranscriptReader(Protocol):
    """Opens a past session by the path of its hits. Blocks. Raises `FileError`."""

    def opened(self, scope: Scope, path: str, clock: Clock) -> Sequence[Passage] | None: ...


class Unseen(FileError):
    """A write would replace text that the conversation has not seen; the message shows it."""


@dataclass(frozen=True, slots=True)
class _Known:
    """How many lines of a file the conversation has seen, from the first."""

    sha: str
    lines: int


Work = Callable[["ToolContext", A], Awaitable[str | ToolResult]]
"""The work of a tool. In a bare text, text of others is found by its marks."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """`author` signs each change; `past` opens past sessions."""

    scope: Scope
    clock: Clock
    settings: MemorySettings
    wrote: Callable[[Path], None]
    """Called with the path of every changed file."""
    search: Search
    author: Author | None = None
    past: TranscriptReader | None = None
    sealed: Mapping[str, str] = field(default_factory=dict)
    """Names workspace files that may not change, with the reason."""
    day_of_text: Callable[[Clock], date | None] = Clock.today
    """The day of the text that is written down."""
    _known: dict[Path, _Known] = field(default_factory=dict)

    def tool(
        self,
        name: str,
        description: str,
        model: type[A],
        run: Work[A],
        *,
        reads_only: bool = False,
        remembers: bool = False,
        effect: Callable[[ToolContext, A], Awaitable[Effect | None]] | None = None,
        approved: Work[A] | None = None,
    ) -> Tool:
        def in_context(work: Work[A]) -> Callable[[Json, str], Awaitable[ToolResult]]:
            async def call(arguments: A) -> ToolResult:
                try:
                    with self.author.writes(name) if self.author is not None else nullcontext():
                        return _cleaned(await work(self, arguments))
                except ToolError as error:
                    raise self._foreign_error(error, arguments) from error

            return takes(model, call)

        async def look(arguments: A) -> Effect | None:
            try:
                return await effect(self, arguments) if effect is not None else None
            except ToolError as error:
                raise self._foreign_error(error, arguments) from error

        return Tool(
            spec(name, description, model),
            in_context(run),
            reads_only,
            remembers,
            writes_files=not reads_only,
            effect=checked(model, look) if effect is not None else None,
            approved=in_context(approved) if approved is not None else None,
        )

    async def blocking(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs file access in a thread. Raises `ToolError` for a `FileError`."""
        try:
            return await asyncio.to_thread(call, *args, **kwargs)
        except FileError as error:
            raise ToolError(clean(str(error))) from error

    def _foreign_error(self, error: ToolError, arguments: Arguments) -> ToolError:
        said, given = str(error), getattr(arguments, "path", None)
        try:
            found = self.foreign(self.path(given), said) if isinstance(given, str) else in_text(said)
        except ToolError:
            found = in_text(said)
        return ToolError(said, found)

    def path(self, given: str) -> Path:
        """The file in the scope's folder. Raises `ToolError`."""
        try:
            return inside(self.scope, given)
        except FileError as error:
            raise ToolError(clean(str(error))) from error

    def name(self, path: Path) -> str:
        return name_below(path, self.scope.folder)

    def quoted(self, path: Path, first: int, last: int, *, is_part: bool = False) -> QuotedLines:
        return QuotedLines(name_below(path, self.scope.workspace), (first, last), is_part)

    def foreign(self, path: Path, text: str) -> tuple[ForeignText, ...]:
        """The foreign parts of a file: all of it if it is of others or cannot have marks. Blocks."""
        for names in folded_parts(path, self.scope.folder):
            kind = Path(names[-1]).suffix if names else ""
            if is_of_others("/".join(names), self.scope) or (
                kind not in _OWN_KINDS and not _is_own_schedule(names, text)
            ):
                return of_others(self.name(path), text, self.scope)
        return in_text(text)

    def fullness(self, path: Path, file: FileText) -> str:
        """A warning if the prompt does not show all of an index; else empty."""
        if not is_index(path, self.scope.folder):
            return ""
        full = fullness(file, self.settings.max_index_lines, self.settings.max_index_bytes)
        if full is None:
            return ""
        return f"\n{path.name} now has {full}. Move details to notes and shorten it soon."

    def may_change(self, path: Path) -> None:
        """Raises `ToolError` for a sealed file."""
        real = os.path.realpath(path).casefold()
        for name, why in self.sealed.items():
            if real == os.path.realpath(self.scope.workspace / name).casefold():
                raise ToolError(f"{self.name(path)} was not changed: {why}")

    def has_read(self, path: Path, file: FileText, first: int, last: int) -> None:
        """Notes that lines were shown; counts only those from the first without a gap."""
        known = self._known.get(path)
        so_far = known.lines if known is not None and known.sha == file.sha else 0
        if first <= so_far + 1:
            self._known[path] = _Known(file.sha, max(so_far, last))

    def has_made(self, path: Path, file: FileText) -> None:
        self._known[path] = _Known(file.sha, count_lines(file.text))

    def has_edited(self, path: Path, before: FileText, after: FileText) -> None:
        known = self._known.get(path)
        if known is not None and known.sha == before.sha:
            whole = known.lines >= count_lines(before.text)
            self._known[path] = _Known(after.sha, count_lines(after.text) if whole else 0)

    def may_replace(self, path: Path, before: bytes) -> None:
        """Raises `Unseen` unless the whole present text was seen."""
        file, known = text_of(before, self.name(path)), self._known.get(path)
        has_seen = known is not None and known.sha == file.sha and known.lines >= count_lines(file.text)
        if has_seen or not before.strip():
            return
        if len(file.text) > _SHOWN_CHARS:
            raise Unseen(
                f"{self.name(path)} exists and this conversation has not read all of it; "
                "change it with edit_file, or read it to its end first"
            )
        self.has_made(path, file)
        raise Unseen(
            f"{self.name(path)} was not written: it holds text that this conversation has not seen. It says now:\n"
            f"{file.text}\nKeep what should stay and write it again."
        )

    def may_update(self, path: Path, before: bytes) -> None:
        """Raises `Unseen` for others' changes since."""
        self.may_change(path)
        if path in self._known:
            self.may_replace(path, before)

    def may_delete(self, path: Path, before: bytes) -> None:
        """Raises `Unseen` for others' changes since."""
        known = self._known.get(path)
        if known is None or known.sha == sha_of(before):
            return
        file = text_of(before, self.name(path))
        self.has_made(path, file)
        raise Unseen(
            f"{self.name(path)} was not deleted: it has been changed since this conversation saw it. It says now:\n"
            f"{file.text[:_SHOWN_CHARS]}"
        )


def _is_own_schedule(names: Sequence[str], text: str) -> bool:
    """True for a schedule whose jobs all report to the owner."""
    others = (line for line in text.splitlines() if "to:" in line and not _TO_OWNER.search(line))
    return names == ["schedule.yaml"] and not any(others)


def _cleaned(output: str | ToolResult) -> ToolResult:
    if isinstance(output, ToolResult):
        return dataclasses.replace(output, text=clean(output.text))
    text = clean(output)
    return ToolResult(text, foreign=in_text(text))


def lines_of(text: str) -> list[str]:
    """Lines, ended by a newline only."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def count_lines(text: str) -> int:
    return len(lines_of(text))
