"""The files of memory for people: the operations behind the page's Memory view."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
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
from gateway.commands.context import Services
from gateway.handlers.agents import named_agent
from gateway.rpc.protocol import Operation, OperationError, Params, required

T = TypeVar("T")
_BY = "page"
"""How the change history signs a change made on the page."""
_MOST_ENTRIES = 2_000
_HIDDEN = frozenset({"state", ".git"})


class _Changed(FileError):
    """Somebody else has written the file since it was read."""


class FileOperations:
    def __init__(self, services: Services) -> None:
        self.services = services

    def table(self) -> Mapping[str, Operation]:
        return {
            "memory.folder": self.folder,
            "memory.read": self.read,
            "memory.write": self.write,
            "memory.open": self.open,
            "memory.context": self.context,
        }

    async def folder(self, parameters: Params) -> Json:
        """`{path?, agent?}`: `{path, entries, more}`, folders first. An entry: `{name, path, kind, size, changed}`."""
        _, scope = self._of(parameters)
        path = str(parameters.get("path") or "")
        found = await _done(files.entries, self._inside(scope, path), scope.folder)
        shown = [
            entry for entry in found if entry.kind in (EntryKind.FILE, EntryKind.FOLDER) and entry.name not in _HIDDEN
        ]
        shown.sort(key=lambda entry: (entry.kind is not EntryKind.FOLDER, entry.name.casefold()))
        listed = [_entry_json(path, entry) for entry in shown[:_MOST_ENTRIES]]
        return {"path": path, "entries": listed, "more": len(shown) - len(listed)}

    async def read(self, parameters: Params) -> Json:
        """`{path, agent?}`: `{path, text, hash, size}`."""
        _, scope = self._of(parameters)
        path = required(parameters, "path")
        file = await _done(files.read_text, self._inside(scope, path), scope.folder)
        if file is None:
            raise OperationError(Sentence("There is no file {path}.", path=path))
        return {"path": path, **_text_json(file)}

    async def write(self, parameters: Params) -> Json:
        """`{path, text, hash, agent?}`: writes the file if it still has that hash (empty: a new file). Returns `{saved:
        true, hash}`, or `{saved: false, text, hash}` with what it says now."""
        agent, scope = self._of(parameters)
        path, text, known = required(parameters, "path"), parameters.get("text"), str(parameters.get("hash") or "")
        if not isinstance(text, str):
            raise OperationError("text is missing.")
        place, content = self._inside(scope, path), files.clean(text).replace("\r\n", "\n").encode()
        present: list[FileText] = []

        def change(before: bytes | None) -> bytes:
            if before != content and (files.sha_of(before) if before is not None else "") != known:
                present[:] = [files.text_of(before or b"", path)]
                raise _Changed
            return content

        def write() -> FileText:
            with agent.history.author(scope).writes(_BY):
                return files.rewrite(place, scope.folder, self.services.clock.today(), change)

        try:
            written = await asyncio.to_thread(write)
        except _Changed:
            return {"saved": False, **_text_json(present[0])}
        except FileError as problem:
            raise OperationError(_sentence(problem)) from problem
        return {"saved": True, "hash": written.sha}

    async def open(self, parameters: Params) -> Json:
        """`{agent?}`: promises that are not kept yet, as `{text, who, due}`."""
        _, scope = self._of(parameters)
        items = await _done(open_items.still_open, scope)
        return [
            {"text": item.what, "who": item.who, "due": item.due.isoformat() if item.due is not None else ""}
            for item in items
        ]

    async def context(self, parameters: Params) -> Json:
        """`{agent?}`: what the model sees in the owner's conversation now: `{model, window, used, parts, files}`.
        A part is `{name, tokens}`; a file is `{path, cut}`."""
        agent, scope = self._of(parameters)
        report = await agent.context_report(SessionKey(agent.settings.name, "owner"), scope)
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

    def _of(self, parameters: Params) -> tuple[Agent, Scope]:
        agent = named_agent(self.services, parameters)
        return agent, Scope(Audience.OWNER, agent.workspace)

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
