"""The files of memory for people: the operations behind the page's Memory view."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agent.agent import Agent
from agent.clock import utc_stamp
from agent.journal import open_items
from agent.languages.sentences import Sentence
from agent.memory import files
from agent.memory.files import EntryKind, FileText, FolderEntry
from agent.memory.paths import FileError
from agent.memory.scope import Audience, Scope
from agent.model.base import Json
from agent.values import SessionKey
from gateway.handlers.agents import AgentName, named_agent
from gateway.kernel import Kernel
from gateway.operations import OperationGroup, Text, operation
from gateway.rpc.protocol import OperationError

T = TypeVar("T")
_BY = "page"
"""How the change history signs a change made on the page."""
_MOST_ENTRIES = 2_000
_HIDDEN = frozenset({"state", ".git"})


class _Changed(FileError):
    """Somebody else has written the file since it was read."""


class FileOperations(OperationGroup):
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @operation("memory.folder")
    async def folder(self, path: str = "", agent: AgentName = "") -> Json:
        """`{path, entries, more}`, folders first. An entry: `{name, path, kind, size, changed}`."""
        _, scope = self._of(agent)
        found = await _done(files.entries, self._inside(scope, path), scope.folder)
        shown = [
            entry for entry in found if entry.kind in (EntryKind.FILE, EntryKind.FOLDER) and entry.name not in _HIDDEN
        ]
        shown.sort(key=lambda entry: (entry.kind is not EntryKind.FOLDER, entry.name.casefold()))
        listed = [_entry_json(path, entry) for entry in shown[:_MOST_ENTRIES]]
        return {"path": path, "entries": listed, "more": len(shown) - len(listed)}

    @operation("memory.read")
    async def read(self, path: Text, agent: AgentName = "") -> Json:
        """`{path, text, hash, size}`."""
        _, scope = self._of(agent)
        file = await _done(files.read_text, self._inside(scope, path), scope.folder)
        if file is None:
            raise OperationError(Sentence("There is no file {path}.", path=path))
        return {"path": path, **_text_json(file)}

    @operation("memory.write", on_page=True)
    async def write(self, path: Text, text: str, hash: str = "", agent: AgentName = "") -> Json:
        """Writes the file if it still has that hash (empty: a new file). Returns `{saved: true, hash}`, or `{saved:
        false, text, hash}` with what it says now."""
        writer, scope = self._of(agent)
        place, content = self._inside(scope, path), files.clean(text).replace("\r\n", "\n").encode()
        present: list[FileText] = []

        def change(before: bytes | None) -> bytes:
            if before != content and (files.sha_of(before) if before is not None else "") != hash:
                present[:] = [files.text_of(before or b"", path)]
                raise _Changed
            return content

        def write() -> FileText:
            with writer.history.author(scope).writes(_BY):
                return files.rewrite(place, scope.folder, self.kernel.clock.today(), change)

        try:
            written = await asyncio.to_thread(write)
        except _Changed:
            return {"saved": False, **_text_json(present[0])}
        except FileError as problem:
            raise OperationError(_sentence(problem)) from problem
        return {"saved": True, "hash": written.sha}

    @operation("memory.open")
    async def open(self, agent: AgentName = "") -> Json:
        """Promises that are not kept yet, as `{text, who, due}`."""
        _, scope = self._of(agent)
        items = await _done(open_items.still_open, scope)
        return [
            {"text": item.what, "who": item.who, "due": item.due.isoformat() if item.due is not None else ""}
            for item in items
        ]

    @operation("memory.context")
    async def context(self, agent: AgentName = "") -> Json:
        """What the model sees in the owner's conversation now: `{model, window, used, parts, files}`.
        A part is `{name, tokens}`; a file is `{path, cut}`."""
        asked, scope = self._of(agent)
        report = await asked.context_report(SessionKey(asked.settings.name, "owner"), scope)
        parts: list[Json] = [{"name": share.name, "tokens": share.tokens} for share in report.system]
        parts.append({"name": "tools", "tokens": sum(share.tokens for share in report.tools)})
        parts.append({"name": "conversation", "tokens": max(0, report.projected - report.fixed)})
        return {
            "model": report.model,
            "window": report.budget.window,
            "used": report.projected,
            "parts": parts,
            "files": [{"path": file.path, "cut": file.is_cut} for file in report.files],
        }

    def _of(self, agent: str) -> tuple[Agent, Scope]:
        found = named_agent(self.kernel, agent)
        return found, Scope(Audience.OWNER, found.workspace)

    @staticmethod
    def _inside(scope: Scope, path: str) -> Path:
        try:
            return files.inside(scope, path)
        except FileError as problem:
            raise OperationError(_sentence(problem)) from problem


async def _done(work: Callable[..., T], *arguments: object) -> T:
    """Does blocking work in a thread. Raises `OperationError`."""
    try:
        return await asyncio.to_thread(work, *arguments)
    except FileError as problem:
        raise OperationError(_sentence(problem)) from problem


def _sentence(problem: FileError) -> str:
    text = str(problem)
    return f"{text[:1].upper()}{text[1:]}."


def _entry_json(folder: str, entry: FolderEntry) -> dict[str, Json]:
    return {
        "name": entry.name,
        "path": f"{folder}/{entry.name}" if folder else entry.name,
        "kind": str(entry.kind),
        "size": entry.size,
        "changed": utc_stamp(entry.changed),
    }


def _text_json(file: FileText) -> dict[str, Json]:
    return {"text": file.text, "hash": file.sha, "size": file.size}
