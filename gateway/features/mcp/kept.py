"""The data kept of servers under the home's state: their lists of tools, which tools the owner has agreed to, the
calls, the owner's logins. Blocks. A kept file that cannot be read counts as missing."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from agent.formats.parsing import load_json
from agent.fs import atomic_write, make_folder
from agent.media.pictures import Picture
from gateway.features.mcp.logins import ServerLogin
from gateway.features.mcp.schemas import RemoteTool

log = logging.getLogger(__name__)

T = TypeVar("T")

_WORDS = TypeAdapter(dict[str, str])
_LISTS = TypeAdapter(dict[str, tuple[str, ...]])
_CALLS_KEPT = 30 * 86_400
_MOST_CONVERSATIONS = 200


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended. `is_done` False: begun, and no end is known."""

    is_done: bool
    text: str = ""
    failed: bool = False
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class _StoredTool:
    name: str
    description: str
    schema: str
    """JSON."""
    reads_only: bool
    digest: str


_TOOLS = TypeAdapter(tuple[_StoredTool, ...])
_CALL = TypeAdapter(CallOutcome)


class KeptMcp:
    """Keeps data of servers. `folder` belongs to this alone; `logins`: another folder for them. Making one blocks,
    too."""

    def __init__(self, folder: Path, logins: Path | None = None) -> None:
        self._folder = folder
        self._logins = logins or folder / "logins"
        self._used = _read(folder / "agreed.json", _WORDS) or {}
        self._loaded = _read(folder / "loaded.json", _LISTS) or {}

    def login(self, name: str, url: str) -> ServerLogin:
        return ServerLogin(name, url, self._logins)

    def tools(self, server: str) -> tuple[RemoteTool, ...] | None:
        """A server's list of tools; None if it is not known. `server` names its settings, too."""
        stored = _read(self._list(server), _TOOLS)
        if stored is None:
            return None
        return tuple(
            RemoteTool(tool.name, tool.description, load_json(tool.schema), tool.reads_only, tool.digest)
            for tool in stored
        )

    def keep_tools(self, server: str, tools: tuple[RemoteTool, ...]) -> None:
        stored = tuple(
            _StoredTool(tool.name, tool.description, json.dumps(tool.schema), tool.reads_only, tool.digest)
            for tool in tools
        )
        atomic_write(self._list(server), _TOOLS.dump_json(stored))

    def used(self) -> Mapping[str, str]:
        """The digests of tools as they were when the owner agreed to their use, by offered name."""
        return self._used

    def keep_used(self, name: str, digest: str) -> None:
        if self.used().get(name) != digest:
            self._used = {**self.used(), name: digest}
            atomic_write(self._folder / "agreed.json", _WORDS.dump_json(self._used))

    def loaded(self, session: str) -> tuple[str, ...]:
        """The tools that a conversation has looked up, newest first."""
        return self._loaded.get(session, ())

    def keep_loaded(self, session: str, names: tuple[str, ...]) -> None:
        known = self.loaded(session)
        both = tuple(dict.fromkeys((*names, *known)))
        if both == known:
            return
        others = {key: value for key, value in self._loaded.items() if key != session}
        self._loaded = dict([*others.items(), (session, both)][-_MOST_CONVERSATIONS:])
        atomic_write(self._folder / "loaded.json", _LISTS.dump_json(self._loaded))

    def begin(self, call: str) -> CallOutcome | None:
        """Notes that a call begins; returns the earlier outcome of a call that was begun before."""
        path = self._call(call)
        make_folder(path.parent)
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return self.outcome(call)
        atomic_write(path, _CALL.dump_json(CallOutcome(False)))
        return None

    def finish(self, call: str, outcome: CallOutcome) -> None:
        atomic_write(self._call(call), _CALL.dump_json(outcome))

    def outcome(self, call: str) -> CallOutcome | None:
        """The outcome of a call; None for a call that never began."""
        path = self._call(call)
        return (_read(path, _CALL) or CallOutcome(False)) if path.exists() else None

    def forget_old_calls(self, now: float) -> None:
        for path in (self._folder / "calls").glob("*.json"):
            try:
                if now - path.stat().st_mtime > _CALLS_KEPT:
                    path.unlink()
            except OSError as error:
                log.warning("an old call is not deleted: %s", error)

    def _list(self, server: str) -> Path:
        return self._folder / "servers" / f"{server}.json"

    def _call(self, call: str) -> Path:
        return self._folder / "calls" / f"{hashlib.sha256(call.encode()).hexdigest()}.json"


def _read(path: Path, kind: TypeAdapter[T]) -> T | None:
    try:
        return kind.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        log.warning("%s can't be read and counts as missing: %s", path.name, type(error).__name__)
        return None
