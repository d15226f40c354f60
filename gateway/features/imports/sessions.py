"""Conversations of OpenClaw and nanobot from the files of their sessions, a JSON object a line. Blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from operator import itemgetter
from pathlib import PurePosixPath
from typing import IO, Protocol

from agent.clock import Clock
from agent.formats.parsing import load_json
from agent.languages.sentences import Sentence
from agent.memory.scope import Scope
from agent.model.base import Json
from gateway.features.imports import openclaw
from gateway.features.imports.conversations import place_chats
from gateway.features.imports.json_stream import MOST_OF_ELEMENT
from gateway.features.imports.nanobot import NanobotReader
from gateway.features.imports.placing import Placer
from gateway.features.imports.trees import BroughtFile, FileTree, shown
from gateway.features.imports.values import (
    LABELS,
    MOST_OF_FILE,
    Findings,
    ImportedChat,
    ImportedMessage,
    ImportKind,
    SessionLine,
)
from gateway.features.imports.zips import unreadable

NANOBOTS = "sessions"
"""The folder of nanobot's sessions, in its workspace or, of old, beside it."""
OPENCLAWS = "agents"
_INDEX = "sessions.json"
_TITLE_CHARS = 60


class SessionReader(Protocol):
    """Reads the lines of one session, in their order; then it has an id."""

    id: str
    title: str
    begun: datetime | None

    def said(self, line: Mapping[str, Json], clock: Clock, /) -> SessionLine: ...


@dataclass(slots=True)
class _Tally:
    """What was not taken of all sessions together: there may be thousands."""

    files: Counter[str] = field(default_factory=Counter)
    """By why they hold no conversation."""
    unknown: Counter[str] = field(default_factory=Counter)
    automatic: int = 0

    def report(self, kind: ImportKind, findings: Findings) -> None:
        for why, count in sorted((+self.files).items()):
            files = Sentence("{count} files of sessions", count=f"{count:,}")
            findings.skip(files if count > 1 else Sentence("1 file of sessions"), why)
        for what, count in sorted(self.unknown.items()):
            named = Sentence("“{what}” in sessions ({count})", what=what, count=f"{count:,}")
            findings.skip(named, Sentence("is not known"))
        if self.automatic:
            findings.remarks.append(
                Sentence(
                    "{count} messages that {name} wrote itself (heartbeats, jobs, starts of sessions) were left out.",
                    count=f"{self.automatic:,}",
                    name=LABELS[kind],
                )
            )


def place_sessions(
    tree: FileTree, root: FileTree, kind: ImportKind, scope: Scope, clock: Clock, findings: Findings, placer: Placer
) -> None:
    """Plans the files of the conversations in a home, whose workspace is the root. Raises `ImportRefused`."""
    tally = _Tally()
    if kind is ImportKind.OPENCLAW:
        chats = _of_openclaw(tree, clock, findings, tally)
    else:
        of_old = () if tree is root else _of_nanobot(tree, clock, findings, tally)
        chats = chain(of_old, _of_nanobot(root, clock, findings, tally))
    place_chats(chats, kind, scope, clock, findings, placer)
    tally.report(kind, findings)


def _of_openclaw(tree: FileTree, clock: Clock, findings: Findings, tally: _Tally) -> Iterator[ImportedChat]:
    if not tree.has_folder(OPENCLAWS):
        return
    by_agent: dict[str, list[BroughtFile]] = {}
    for file in tree.files(findings, OPENCLAWS):
        match file.name.split("/"):
            case [_, agent, "sessions", _]:
                by_agent.setdefault(agent, []).append(file)
            case [_, _, "agent", name] if name.endswith(".sqlite"):
                unread = Sentence("may hold newer conversations: databases are not read")
                findings.skip(shown(file.name), unread)
    seen: set[tuple[str, str]] = set()
    """Entries of all files: a session that was compacted or branched off repeats those that it keeps."""
    for agent, files in by_agent.items():
        index = openclaw.index(_read_index(tree, f"{OPENCLAWS}/{agent}/sessions/{_INDEX}", findings))
        taken: list[tuple[str, BroughtFile, openclaw.ListedSession]] = []
        for file in files:
            base = PurePosixPath(file.name).name
            session = index.get(openclaw.session_of(base), openclaw.UNLISTED)
            if why := openclaw.why_not(base) or (Sentence("are of jobs and helpers") if session.is_automatic else ""):
                tally.files[why] += base != _INDEX
            else:
                taken.append((_begin(file), file, session))
        for _, file, session in sorted(taken, key=itemgetter(0)):
            reader = openclaw.OpenClawReader(PurePosixPath(file.name).name, session, seen)
            if (chat := _chat(file, reader, clock, findings, tally)) is not None:
                yield chat


def _begin(file: BroughtFile) -> str:
    """What sorts the files of an agent by their begin."""
    try:
        with file.tree.open(file.name) as opened:
            head = load_json(opened.readline(MOST_OF_FILE).decode())
    except (OSError, ValueError):
        return ""
    return str(head.get("timestamp")) if isinstance(head, dict) else ""


def _of_nanobot(tree: FileTree, clock: Clock, findings: Findings, tally: _Tally) -> Iterator[ImportedChat]:
    if not tree.has_folder(NANOBOTS):
        return
    for file in tree.files(findings, NANOBOTS):
        if not file.name.endswith(".jsonl"):
            tally.files[Sentence("hold no conversation")] += 1
        elif (chat := _chat(file, NanobotReader(PurePosixPath(file.name).name), clock, findings, tally)) is not None:
            yield chat


def _chat(
    file: BroughtFile,
    reader: SessionReader,
    clock: Clock,
    findings: Findings,
    tally: _Tally,
) -> ImportedChat | None:
    """None, and reported, if nothing was said in it or it cannot be read."""
    name = shown(file.name)
    messages: list[ImportedMessage] = []
    broken = chars = 0
    try:
        with file.tree.open(file.name) as opened:
            for line in _lines(opened):
                if line is None:
                    broken += 1
                    continue
                said = reader.said(line, clock)
                chars += len(said.text)
                if chars > MOST_OF_ELEMENT:
                    limit = MOST_OF_ELEMENT // 1_000_000
                    findings.skip(name, Sentence("is a conversation of more than {limit} MB", limit=limit))
                    return None
                at = said.at or (messages[-1].at if messages else reader.begun)
                tally.automatic += said.is_automatic
                if said.unknown:
                    tally.unknown[said.unknown] += 1
                if not said.text:
                    continue
                if at is None:
                    findings.skip(name, Sentence("has no date"))
                    return None
                messages.append(ImportedMessage(at, said.speaker, said.text))
    except OSError as error:
        findings.skip(name, unreadable(error))
        return None
    if broken:
        lines = Sentence("has {count} lines that cannot be read", count=f"{broken:,}")
        findings.skip(name, lines if broken > 1 else Sentence("has 1 line that cannot be read"))
    if not messages:
        return None
    return ImportedChat(reader.id, reader.title or _first_words(messages), tuple(messages))


def _first_words(messages: list[ImportedMessage]) -> str:
    words = " ".join(messages[0].text[: 4 * _TITLE_CHARS].split())
    return (
        words if len(words) <= _TITLE_CHARS else f"{words[:_TITLE_CHARS].rpartition(' ')[0] or words[:_TITLE_CHARS]} …"
    )


def _lines(file: IO[bytes]) -> Iterator[Mapping[str, Json] | None]:
    """The objects of the lines; None is a line that is none, or too long."""
    while line := file.readline(MOST_OF_ELEMENT):
        is_whole = len(line) < MOST_OF_ELEMENT or line.endswith(b"\n")
        while not line.endswith(b"\n") and len(line) == MOST_OF_ELEMENT:
            line = file.readline(MOST_OF_ELEMENT)
        if not line.strip():
            continue
        try:
            value = load_json(line.decode()) if is_whole else None
        except ValueError:
            value = None
        yield value if isinstance(value, dict) else None


def _read_index(tree: FileTree, name: str, findings: Findings) -> Json:
    if not tree.has_file(name):
        return None
    try:
        with tree.open(name) as opened:
            return load_json(opened.read(MOST_OF_ELEMENT).decode())  # type: ignore[no-any-return]
    except (OSError, ValueError):
        why = Sentence("cannot be read, so sessions of jobs cannot be told from conversations")
        findings.skip(shown(name), why)
        return None
