"""The state that the tools of one conversation share: its scope, and what it has read."""

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
from agent.memory.limits import fullness, is_index
from agent.memory.paths import FileError, folded_parts, inside, name_below
from agent.memory.scope import Scope
from agent.model.base import ToolSpec
from agent.search.chunking import Passage
from agent.search.result_text import QuotedLines
from agent.search.results import Search
from agent.settings import MemorySettings
from agent.tools.base import Arguments, Effect, Tool, ToolError, ToolResult
from agent.tools.foreign_text import ForeignText, in_text, is_of_others, of_others

P = ParamSpec("P")
R = TypeVar("R")

_SHOWN_CHARS = 20_000
_TO_OWNER = re.compile(r"""\bto:[ \t]{0,8}["']?owner\b""")
_OWN_KINDS = frozenset({".md", ".txt"})
"""Files in which what was made from text of others has a mark."""


class TranscriptReader(Protocol):
    """The messages of the past session that hits call `path`, by the lines of its transcript; None where the scope has
    no such session. Blocks. Raises `FileError`."""

    def opened(self, scope: Scope, path: str, clock: Clock) -> Sequence[Passage] | None: ...


class Unseen(FileError):
    """A write would replace text that this conversation has not seen. Carries the text."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The line up to which the conversation has seen the file of this sha."""

    sha: str
    lines: int


Work = Callable[["ToolContext", Arguments], Awaitable[str | ToolResult]]
"""What a tool does; where it returns a bare text, `ToolContext.tool` finds what of it is text of others."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """`wrote` is called with the path of every changed file; `search` searches the scope's memory; `author` signs each
    change; `talks` opens past sessions, if there is one; `sealed` names workspace files that may not change, each with
    the reason; `said_on`: the day of what is written down, None where unknown."""

    scope: Scope
    clock: Clock
    settings: MemorySettings
    wrote: Callable[[Path], None]
    search: Search
    author: Author | None = None
    talks: TranscriptReader | None = None
    sealed: Mapping[str, str] = field(default_factory=dict)
    said_on: Callable[[Clock], date | None] = Clock.today
    _known: dict[Path, _Known] = field(default_factory=dict)

    def tool(
        self,
        spec: ToolSpec,
        run: Work,
        *,
        reads_only: bool = False,
        remembers: bool = False,
        effect: Callable[[ToolContext, Arguments], Awaitable[Effect | None]] | None = None,
        approved: Work | None = None,
    ) -> Tool:
        """The tool that runs `run` in this context. Every result is text that can be sent. `effect` and `approved` as
        in `Tool`."""

        def at_desk(work: Work) -> Callable[[Arguments], Awaitable[ToolResult]]:
            async def call(arguments: Arguments) -> ToolResult:
                try:
                    with self.author.writes(spec.name) if self.author is not None else nullcontext():
                        return _cleaned(await work(self, arguments))
                except ToolError as error:
                    raise self._foreign_error(error, arguments) from error

            return call

        async def look(arguments: Arguments) -> Effect | None:
            try:
                return await effect(self, arguments) if effect is not None else None
            except ToolError as error:
                raise self._foreign_error(error, arguments) from error

        return Tool(
            spec,
            at_desk(run),
            reads_only,
            remembers,
            writes_files=not reads_only,
            effect=look if effect is not None else None,
            approved=at_desk(approved) if approved is not None else None,
        )

    async def blocking(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs file access in a thread; a file's error becomes a `ToolError`."""
        try:
            return await asyncio.to_thread(call, *args, **kwargs)
        except FileError as error:
            raise ToolError(clean(str(error))) from error

    def _foreign_error(self, error: ToolError, arguments: Arguments) -> ToolError:
        """The error with the foreign text that it shows."""
        said, given = str(error), arguments.get("path")
        try:
            found = self.foreign(self.path(given), said) if isinstance(given, str) else in_text(said)
        except ToolError:
            found = in_text(said)
        return ToolError(said, found)

    def path(self, given: str) -> Path:
        """The file or folder that a model names, relative to the scope's folder. Raises `ToolError`."""
        try:
            return inside(self.scope, given)
        except FileError as error:
            raise ToolError(clean(str(error))) from error

    def name(self, path: Path) -> str:
        return name_below(path, self.scope.folder)

    def quoted(self, path: Path, first: int, last: int, *, is_part: bool = False) -> QuotedLines:
        return QuotedLines(name_below(path, self.scope.workspace), (first, last), is_part)

    def foreign(self, path: Path, text: str) -> tuple[ForeignText, ...]:
        """The foreign part of a file's text: all of a file of another scope, of an exported session, and of a file that
        cannot have marks; else the marked lines. Blocks: follows links."""
        for names in folded_parts(path, self.scope.folder):
            kind = Path(names[-1]).suffix if names else ""
            if is_of_others("/".join(names), self.scope) or (
                kind not in _OWN_KINDS and not _is_own_schedule(names, text)
            ):
                return of_others(self.name(path), text, self.scope)
        return in_text(text)

    def fullness(self, path: Path, file: FileText) -> str:
        """A warning line where `path` is the index and the prompt no longer shows all of it."""
        if not is_index(path, self.scope.folder):
            return ""
        full = fullness(file, self.settings.max_index_lines, self.settings.max_index_bytes)
        if full is None:
            return ""
        return f"\n{path.name} now has {full}. Move details to notes and shorten it soon."

    def may_change(self, path: Path) -> None:
        """Raises `ToolError` where the file is sealed, also by a link or other letter case."""
        real = os.path.realpath(path).casefold()
        for name, why in self.sealed.items():
            if real == os.path.realpath(self.scope.workspace / name).casefold():
                raise ToolError(f"{self.name(path)} was not changed: {why}")

    def has_read(self, path: Path, file: FileText, first: int, last: int) -> None:
        """Notes that lines `first` to `last` were shown. Only reading from the start without a gap counts."""
        known = self._known.get(path)
        so_far = known.lines if known is not None and known.sha == file.sha else 0
        if first <= so_far + 1:
            self._known[path] = _Known(file.sha, max(so_far, last))

    def has_made(self, path: Path, file: FileText) -> None:
        """The conversation wrote all of this file."""
        self._known[path] = _Known(file.sha, count_lines(file.text))

    def has_edited(self, path: Path, before: FileText, after: FileText) -> None:
        """A passage was replaced; the rest is as well known as before."""
        known = self._known.get(path)
        if known is not None and known.sha == before.sha:
            whole = known.lines >= count_lines(before.text)
            self._known[path] = _Known(after.sha, count_lines(after.text) if whole else 0)

    def may_replace(self, path: Path, before: bytes) -> None:
        """Raises `Unseen` unless the conversation has seen the whole present text."""
        if not before.strip() or self._has_seen(path, before):
            return
        file = text_of(before, self.name(path))
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
        """Raises `Unseen` where others have changed a file since the conversation saw it."""
        self.may_change(path)
        if path in self._known:
            self.may_replace(path, before)

    def may_delete(self, path: Path, before: bytes) -> None:
        """Raises `Unseen` where others have changed a file since the conversation saw it."""
        known = self._known.get(path)
        if known is None or known.sha == sha_of(before):
            return
        file = text_of(before, self.name(path))
        self.has_made(path, file)
        raise Unseen(
            f"{self.name(path)} was not deleted: it has been changed since this conversation saw it. It says now:\n"
            f"{file.text[:_SHOWN_CHARS]}"
        )

    def _has_seen(self, path: Path, data: bytes) -> bool:
        known = self._known.get(path)
        return known is not None and known.sha == sha_of(data) and known.lines >= count_lines(text_of(data, "").text)


def _is_own_schedule(names: Sequence[str], text: str) -> bool:
    """True for a list of jobs that has none for another chat, whose people may have caused it."""
    others = (line for line in text.splitlines() if "to:" in line and not _TO_OWNER.search(line))
    return names == ["schedule.yaml"] and not any(others)


def _cleaned(output: str | ToolResult) -> ToolResult:
    """The output as it can be sent. Where the tool does not say what is foreign, its marks do."""
    if isinstance(output, ToolResult):
        return dataclasses.replace(output, text=clean(output.text))
    text = clean(output)
    return ToolResult(text, foreign=in_text(text))


def lines_of(text: str) -> list[str]:
    """Lines as every tool counts them: ended by a newline only."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def count_lines(text: str) -> int:
    return len(lines_of(text))
