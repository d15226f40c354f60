"""The transcripts on disk: `<root>/<agent>/<key path>/<id>.jsonl`, and a file `current` with the id in use.

Blocks. Reading is safe beside a writer; writing needs the home's lock.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.formats.parsing import load_json
from agent.fs import atomic_write, rewrite
from agent.languages.sentences import Sentence
from agent.languages.system_errors import system_says
from agent.session.entries import BRANCH, MessageEntry, replaces
from agent.session.jsonl import read_entry, read_header
from agent.session.redaction import redacted
from agent.session.transcript import TranscriptNotWritten
from agent.session.turn_record import said_in
from agent.values import TASKS, SessionKey

_log = logging.getLogger(__name__)
_ID = re.compile(r"\d{8}-\d{6}-\d{3}-[0-9a-f]{4}")
_CURRENT = "current"
LONGEST_TITLE = 120
_TITLE_CHARS = 60
_SHORTEST_BEGINNING = 3
"""Characters of the beginning of a title by which a session is found."""
_BRANCH = f'"type":"{BRANCH}"'.encode()


@dataclass(frozen=True, slots=True)
class SessionLabel:
    """What a person calls a conversation, and whether it is put away: a small file beside its transcript."""

    title: str = ""
    """Empty: made from the first message."""
    archived: bool = False


def label_path(transcript: Path) -> Path:
    return transcript.with_suffix(".label.json")


def read_label(transcript: Path) -> SessionLabel:
    """The label of a transcript; a damaged file counts as none."""
    path = label_path(transcript)
    try:
        return _label_in(path.read_bytes())
    except FileNotFoundError:
        return SessionLabel()
    except (OSError, ValueError) as problem:
        _log.warning("%s cannot be read: %s", path.name, problem)
        return SessionLabel()


def change_label(transcript: Path, *, title: str | None = None, archived: bool | None = None) -> None:
    """Sets the given fields. Raises `OSError`."""

    def changed(before: bytes | None) -> str:
        try:
            label = _label_in(before or b"{}")
        except ValueError:
            label = SessionLabel()
        new_title = label.title if title is None else title
        return json.dumps({"title": new_title, "archived": label.archived if archived is None else archived}) + "\n"

    rewrite(label_path(transcript), changed)


def _label_in(content: bytes) -> SessionLabel:
    data = load_json(content)
    fields = data if isinstance(data, dict) else {}
    title, archived = fields.get("title"), fields.get("archived")
    return SessionLabel(title if isinstance(title, str) else "", archived is True)


class NoSuchSession(LookupError):
    """No session has that id or title, or several have: a sentence for the person."""


class SessionInUse(Exception):
    """The current session cannot be put away."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session as it is listed. `messages` counts those of people, the assistant and tools."""

    id: str
    key: SessionKey
    started: datetime
    last: datetime
    """When the newest message was written."""
    messages: int
    title: str = ""
    """What a person called it, else the beginning of their first message; empty before that."""
    archived: bool = False
    """Put away: not listed unless asked for."""


def new_id(now: datetime) -> str:
    """`20261121-083000-123-9f3a`: UTC, so that ids sort by time."""
    utc = now.astimezone(UTC)
    return f"{utc:%Y%m%d-%H%M%S}-{utc.microsecond // 1000:03d}-{secrets.token_hex(2)}"


class Archive:
    def __init__(self, root: Path, agent: str) -> None:
        self._folder = root / agent
        self._agent = agent

    def path(self, key: SessionKey, id: str) -> Path:
        return self._of(key) / f"{id}.jsonl"

    def current(self, key: SessionKey) -> str | None:
        """The id of the transcript in use: the one that the file names, else the newest."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            named = (self._of(key) / _CURRENT).read_text("ascii").strip()
            if _ID.fullmatch(named) and self.path(key, named).is_file():
                return named
        return max(self._ids(self._of(key)), default=None)

    def make_current(self, key: SessionKey, id: str) -> None:
        """Raises `TranscriptNotWritten`."""
        try:
            atomic_write(self._of(key) / _CURRENT, f"{id}\n")
        except OSError as error:
            raise TranscriptNotWritten(
                Sentence("I couldn't note which conversation goes on: {why}.", why=system_says(error))
            ) from error

    def sessions(self, key: SessionKey | None = None) -> tuple[SessionInfo, ...]:
        """All sessions, or those of a key, the last used first. A file that is no transcript is left out and logged."""
        keys = [key] if key is not None else list(self._keys())
        found = [
            info
            for session_key in keys
            for id in self._ids(self._of(session_key))
            if (info := self._info(session_key, id)) is not None
        ]
        return tuple(sorted(found, key=lambda info: (info.last, info.id), reverse=True))

    def tasks_since(self, key: SessionKey, id: str) -> list[tuple[SessionKey, str]]:
        """Keys and ids of the tasks that a session has delegated since the transcript `id` began."""
        return [(task_key, name) for task_key, name, _ in self.files(f"{key.path}/{TASKS}") if name >= id]

    def find(self, id: str, key: SessionKey | None = None) -> SessionInfo:
        """The session whose id is `id`, or the only session whose id begins or ends so, or that has that title. Raises
        `NoSuchSession`."""
        wanted = id.strip()
        keys = [key] if key is not None else list(self._keys())
        known = [(session_key, name) for session_key in keys for name in self._ids(self._of(session_key))]
        exact = [entry for entry in known if entry[1] == wanted]
        hits = exact or [
            entry for entry in known if wanted and (entry[1].startswith(wanted) or entry[1].endswith(wanted))
        ]
        infos = [info for hit in hits if (info := self._info(*hit)) is not None] or titled(self.sessions(key), wanted)
        if len(infos) > 1:
            fits = Sentence("{words} fits {count} sessions; give more of the id", words=repr(wanted), count=len(infos))
            raise NoSuchSession(fits)
        if not infos:
            raise NoSuchSession(Sentence("there is no session {words}", words=repr(wanted)))
        return infos[0]

    def rename(self, key: SessionKey, id: str, title: str) -> str:
        """Gives a session a title, an empty text takes it back; returns it as it is kept. Raises `OSError`."""
        path, kept = self.path(key, id), " ".join(title.split())[:LONGEST_TITLE]
        change_label(path, title=kept)
        return kept

    def put_away(self, key: SessionKey, id: str, *, archived: bool) -> None:
        """Raises `SessionInUse` and `OSError`."""
        if archived and self.current(key) == id:
            raise SessionInUse
        change_label(self.path(key, id), archived=archived)

    def untitle(self, is_meant: Callable[[SessionKey], bool], holds: Callable[[str], bool]) -> None:
        """Takes back the titles that hold what is to be forgotten, in the sessions that are meant. Raises `OSError`."""
        for key in filter(is_meant, self._keys()):
            for id in self._ids(self._of(key)):
                if holds(read_label(self.path(key, id)).title):
                    self.rename(key, id, "")

    @property
    def folder(self) -> Path:
        return self._folder

    def files(self, path: str) -> Iterator[tuple[SessionKey, str, Path]]:
        for folder, _, names in os.walk(self._folder.joinpath(*path.split("/"))):
            key = SessionKey(self._agent, Path(folder).relative_to(self._folder).as_posix())
            for name in names:
                id = name.removesuffix(".jsonl")
                if id != name and _ID.fullmatch(id):
                    yield key, id, Path(folder) / name

    def prune(self, before: datetime) -> tuple[SessionInfo, ...]:
        """Deletes and returns the sessions last used before that moment, except those in use; a task's is used once."""
        gone = []
        for info in self.sessions():
            is_over = f"/{TASKS}/" in info.key.path or info.id != self.current(info.key)
            if info.last < before and is_over:
                for path in (self.path(info.key, info.id), label_path(self.path(info.key, info.id))):
                    path.unlink(missing_ok=True)
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
        """Reads the header, the first message of a person and the newest whole line; counts messages without parsing
        all."""
        try:
            with self.path(key, id).open("rb") as file:
                header = read_header(file.readline())
                started = last = datetime.fromisoformat(header.started)
                messages, newest, first = 0, b"", b""
                redactions: list[bytes] = []
                for line in file:
                    if b'"type":"message"' in line[:200] and line.endswith(b"\n"):
                        messages, newest = messages + 1, line
                        first = first or (line if b'"said":["' in line else b"")
                    elif b'"type":"redaction"' in line[:200] and line.endswith(b"\n"):
                        redactions.append(line)
                    elif first and _BRANCH in line[:200] and line.endswith(b"\n") and _replaces(line, first):
                        first = b""
            if newest:
                with contextlib.suppress(ValueError):
                    last = datetime.fromisoformat(read_entry(newest).ts)
        except (OSError, ValueError) as error:
            _log.warning("%s is not a usable transcript: %s", self.path(key, id).name, error)
            return None
        label = read_label(self.path(key, id))
        title = label.title or (_title([first, *redactions], key) if first else "")
        return SessionInfo(id, key, started, last, messages, title, label.archived)


def titled(infos: Sequence[SessionInfo], words: str) -> list[SessionInfo]:
    """The sessions of that title; if there are none, those whose title begins so."""
    wanted = " ".join(words.split()).casefold()
    same = [info for info in infos if wanted and info.title.casefold() == wanted]
    long_enough = len(wanted) >= _SHORTEST_BEGINNING
    return same or [info for info in infos if long_enough and info.title.casefold().startswith(wanted)]


def _replaces(mark: bytes, first: bytes) -> bool:
    """True if a new version begins before that message."""
    try:
        return replaces(read_entry(mark), read_entry(first))
    except ValueError:
        return False


def _title(lines: Sequence[bytes], key: SessionKey) -> str:
    """The first message's beginning, without what was forgotten and what a task or job is told of itself."""
    try:
        first, *_ = redacted([read_entry(line) for line in lines])
    except ValueError:
        return ""
    text = said_in(first) if isinstance(first, MessageEntry) else ""
    if key.is_aside and text.startswith("("):
        text = text.partition(")\n\n")[2] or text
    words = " ".join(text.split())
    return words if len(words) <= _TITLE_CHARS else words[: _TITLE_CHARS - 1].rstrip() + "…"
