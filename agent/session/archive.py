"""The transcripts on disk: `<root>/<agent>/<key path>/<id>.jsonl`, and a file `current` with the id in use.

Blocks. Reading is safe while another process writes; writing needs the home's lock.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.fs import write_whole
from agent.session.jsonl import read_entry, read_header
from agent.session.transcript import TranscriptNotWritten
from agent.values import SessionKey

_log = logging.getLogger(__name__)
_ID = re.compile(r"\d{8}-\d{6}-\d{3}-[0-9a-f]{4}")
_CURRENT = "current"


class NoSuchSession(LookupError):
    """No session, or more than one, has that id. The text is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """`messages` counts those of people, the assistant and tools; `last` is the moment of the newest."""

    id: str
    key: SessionKey
    started: datetime
    last: datetime
    messages: int


def new_id(now: datetime) -> str:
    """`20261121-083000-123-9f3a`: UTC, so that ids sort by time; safe as a file name."""
    utc = now.astimezone(UTC)
    return f"{utc:%Y%m%d-%H%M%S}-{utc.microsecond // 1000:03d}-{secrets.token_hex(2)}"


class Archive:
    def __init__(self, root: Path, agent: str) -> None:
        self._folder = root / agent
        self._agent = agent

    def path(self, key: SessionKey, id: str) -> Path:
        return self._of(key) / f"{id}.jsonl"

    def current(self, key: SessionKey) -> str | None:
        """The id in use: the named one, else the newest."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            named = (self._of(key) / _CURRENT).read_text("ascii").strip()
            if _ID.fullmatch(named) and self.path(key, named).is_file():
                return named
        return max(self._ids(self._of(key)), default=None)

    def make_current(self, key: SessionKey, id: str) -> None:
        """Raises `TranscriptNotWritten`."""
        try:
            write_whole(self._of(key) / _CURRENT, f"{id}\n")
        except OSError as error:
            raise TranscriptNotWritten(
                f"The choice of session could not be written to disk ({error.strerror})."
            ) from error

    def sessions(self, key: SessionKey | None = None) -> tuple[SessionInfo, ...]:
        """All sessions, or those of one key, the latest first. A file that is no transcript is skipped and logged."""
        keys = [key] if key is not None else list(self._keys())
        found = [info for one in keys for id in self._ids(self._of(one)) if (info := self._info(one, id)) is not None]
        return tuple(sorted(found, key=lambda info: (info.last, info.id), reverse=True))

    def find(self, id: str, key: SessionKey | None = None) -> SessionInfo:
        """The session whose id is `id`, or the only one that begins or ends so. Raises `NoSuchSession`."""
        wanted = id.strip()
        keys = [key] if key is not None else list(self._keys())
        known = [(one, name) for one in keys for name in self._ids(self._of(one))]
        exact = [entry for entry in known if entry[1] == wanted]
        hits = exact or [
            entry for entry in known if wanted and (entry[1].startswith(wanted) or entry[1].endswith(wanted))
        ]
        if len(hits) > 1:
            raise NoSuchSession(f"{wanted!r} fits {len(hits)} sessions; give more of the id")
        info = self._info(*hits[0]) if hits else None
        if info is None:
            raise NoSuchSession(f"there is no session {wanted!r}")
        return info

    @property
    def folder(self) -> Path:
        return self._folder

    def files(self, path: str) -> Iterator[tuple[SessionKey, str, Path]]:
        """Every transcript at and below a key's path."""
        for folder, _, names in os.walk(self._folder.joinpath(*path.split("/"))):
            key = SessionKey(self._agent, Path(folder).relative_to(self._folder).as_posix())
            for name in names:
                id = name.removesuffix(".jsonl")
                if id != name and _ID.fullmatch(id):
                    yield key, id, Path(folder) / name

    def prune(self, before: datetime) -> tuple[SessionInfo, ...]:
        """Deletes the sessions last used before that moment, except those in use, and returns them."""
        gone = []
        for info in self.sessions():
            if info.last < before and info.id != self.current(info.key):
                self.path(info.key, info.id).unlink(missing_ok=True)
                gone.append(info)
        return tuple(gone)

    def _of(self, key: SessionKey) -> Path:
        parts = key.path.split("/")
        if key.agent != self._agent or any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
            raise ValueError(f"{key} is no session of the agent {self._agent}")
        return self._folder.joinpath(*parts)

    def _keys(self) -> Iterator[SessionKey]:
        for folder, _, files in os.walk(self._folder):
            if any(name.endswith(".jsonl") for name in files):
                yield SessionKey(self._agent, Path(folder).relative_to(self._folder).as_posix())

    def _ids(self, folder: Path) -> list[str]:
        try:
            names = [path.name for path in folder.iterdir()]
        except OSError:
            return []
        return [name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl") and _ID.fullmatch(name[:-6])]

    def _info(self, key: SessionKey, id: str) -> SessionInfo | None:
        """Reads the header, the newest whole line, and how many lines look like messages, without parsing all."""
        try:
            with self.path(key, id).open("rb") as file:
                header = read_header(file.readline())
                started = last = datetime.fromisoformat(header.started)
                messages, newest = 0, b""
                for line in file:
                    if b'"type":"message"' in line[:200] and line.endswith(b"\n"):
                        messages, newest = messages + 1, line
            if newest:
                with contextlib.suppress(ValueError):
                    last = datetime.fromisoformat(read_entry(newest).ts)
        except (OSError, ValueError) as error:
            _log.warning("%s is not a usable transcript: %s", self.path(key, id).name, error)
            return None
        return SessionInfo(id, key, started, last, messages)
