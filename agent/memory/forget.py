"""Finds and removes passages of a scope's memory about something. Blocks.

Logs and HISTORY.md keep a mark in place of a passage (`[forgotten 2026-11-21]`). The change history drops the text.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from agent.clock import Clock
from agent.languages.sentences import Sentence
from agent.languages.terms import fold, is_same_word, is_unspaced, query_terms, terms
from agent.memory import daily_log, files, notes
from agent.memory.files import EntryKind
from agent.memory.history import FORGET, History
from agent.memory.paths import FileError, UnreadableFile
from agent.memory.scope import Scope

_FACTS = ("USER.md", "MEMORY.md", "memory.md", "GROUP.md")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_LEAST_LINE = 8
"""Shorter lines are too common to identify a note's text elsewhere."""
_LEAST = 2
"""Minimum characters to forget: a single letter is in everything."""


@dataclass(frozen=True, slots=True)
class ForgetPassage:
    """`text` begins at `line` (from 1) of `path`."""

    path: str
    line: int
    text: str
    whole: bool = False
    """The note's file goes."""


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    wanted: str
    places: tuple[ForgetPassage, ...]
    unread: tuple[str, ...] = ()
    """Sentences on files that could not be read."""


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """The changed `files`, and the change's id, if any."""

    files: tuple[str, ...]
    change: str
    kept: tuple[tuple[str, str], ...] = ()
    """Unchangeable files, each with a sentence."""


def find(scope: Scope, wanted: str) -> ForgetPlan:
    """Passages with the phrase `wanted`, else with all its words, else with similar words. Raises `FileError` if it is
    too short."""
    if len(fold(wanted).strip()) < _LEAST:
        raise FileError(Sentence("that is too short to be looked for; write a word or two of what I shall forget"))
    unread: list[str] = []
    texts = list(_memory_texts(scope, unread))
    for holds in _matchers(wanted):
        places = [passage for path, text in texts for passage in _matching_passages(path, text, holds)]
        if places:
            return ForgetPlan(wanted, tuple(places), tuple(unread))
    return ForgetPlan(wanted, (), tuple(unread))


def refresh_plan(shown: ForgetPlan, scope: Scope) -> ForgetPlan:
    """The plan with matching passages written since. Raises `FileError`."""
    now = find(scope, shown.wanted)
    known = {(passage.path, passage.text) for passage in shown.places}
    more = (passage for passage in now.places if (passage.path, passage.text) not in known)
    return replace(shown, places=(*shown.places, *more), unread=now.unread)


def forget(history: History, scope: Scope, clock: Clock, session: str, finding: ForgetPlan) -> ForgetResult:
    """Removes passages that are still as shown; can be undone for ten minutes. Raises `StorageUnavailable`."""
    by_path: dict[str, list[ForgetPassage]] = {}
    for passage in finding.places:
        by_path.setdefault(passage.path, []).append(passage)
    changed: list[str] = []
    kept: list[tuple[str, str]] = []
    with history.author(scope, session).writes(FORGET) as unit:
        for path, places in by_path.items():
            before = unit.edits
            try:
                _remove(scope, clock, path, places)
            except FileError as problem:
                kept.append((path, str(problem)))
            changed += [path] if unit.edits > before else []
    gone = frozenset(line.strip() for passage in finding.places for line in passage.text.splitlines() if line.strip())
    deleted = frozenset(passage.path for passage in finding.places if passage.whole)
    holds = _phrase(finding.wanted)

    def held(path: str, text: str) -> bool:
        return path in deleted or any(line.strip() in gone or holds(line) for line in text.splitlines())

    history.forget(scope.name, held)
    return ForgetResult(tuple(changed), unit.id, tuple(kept))


def line_matcher(finding: ForgetPlan) -> Callable[[str], bool]:
    """A test for transcript lines: the plan's words, or a forgotten note's line."""
    phrase, *others = _matchers(finding.wanted)
    texts = [passage.text for passage in finding.places]
    is_whole = any(passage.whole for passage in finding.places)
    by_words = next((holds for holds in others if any(map(holds, texts))), None)
    if is_whole or any(map(phrase, texts)):
        by_words = None
    notes_on_it = [notes.parse(passage.text).body for passage in finding.places if passage.whole]
    note_lines = {
        text_only
        for text in notes_on_it
        for line in text.splitlines()
        if len(text_only := _without_bullet(line)) >= _LEAST_LINE
    }

    def holds(line: str) -> bool:
        return phrase(line) or (by_words is not None and by_words(line)) or _without_bullet(line) in note_lines

    return holds


def files_left(scope: Scope, finding: ForgetPlan) -> tuple[str, ...]:
    """Matching files left to the person: exports, schedule.yaml, HEARTBEAT.md."""
    folder, holds = scope.folder, line_matcher(finding)
    found: list[str] = []
    try:
        exported = [entry.name for entry in files.entries(folder / "exports", folder) if entry.kind is EntryKind.FILE]
    except UnreadableFile:
        exported = []
    for path in (
        folder / "schedule.yaml",
        folder / "HEARTBEAT.md",
        *(folder / "exports" / name for name in sorted(exported)),
    ):
        with suppress(UnreadableFile):
            file = files.read_text(path, folder)
            if file is not None and any(map(holds, file.text.splitlines())):
                found.append(path.relative_to(folder).as_posix())
    return tuple(found)


def _without_bullet(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() if bullet else 0 :].strip()


def _remove(scope: Scope, clock: Clock, path: str, places: Sequence[ForgetPassage]) -> None:
    """Raises `FileError`."""
    file = scope.folder / path
    today = clock.today()
    if any(passage.whole for passage in places):
        if files.remove(file, scope.folder, today) is not None:
            index = notes.index_path(scope)
            if files.read_text(index, scope.folder) is not None:
                files.rewrite(index, scope.folder, today, lambda now: notes.without_line(now or b"", path))
        return
    redacts = daily_log.day_of(file) is not None or daily_log.is_history(file)
    mark = f"[forgotten {today.isoformat()}]" if redacts else ""
    files.put_back(file, scope.folder, today, partial(_without_passages, file.name, places, mark), redacts=redacts)


def _without_passages(name: str, places: Sequence[ForgetPassage], mark: str, now: bytes | None) -> bytes | None:
    """Removes passages where they are now. Raises `UnreadableFile` for binary data."""
    if now is None:
        return None
    files.text_of(now, name)
    start = codecs.BOM_UTF8 if now.startswith(codecs.BOM_UTF8) else b""
    lines = now.removeprefix(start).split(b"\n")
    shown = [line.decode("utf-8", "replace").rstrip() for line in lines]
    for passage in sorted(places, key=lambda passage: -passage.line):
        wanted = passage.text.split("\n")
        at = _nearest_match(shown, wanted, passage.line - 1)
        if at is not None:
            left = [daily_log.strike_out(shown[at], mark)] if mark else []
            lines[at : at + len(wanted)] = [line.encode() for line in left]
            shown[at : at + len(wanted)] = left
    return start + b"\n".join(lines)


def _nearest_match(lines: Sequence[str], wanted: Sequence[str], near: int) -> int | None:
    size = len(wanted)
    found = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == list(wanted)]
    return min(found, key=lambda at: abs(at - near), default=None)


def _matching_passages(path: str, text: str, holds: Callable[[str], bool]) -> Iterator[ForgetPassage]:
    lines = [line.rstrip() for line in text.split("\n")]
    body = 0
    if path.startswith(f"{notes.FOLDER}/"):
        head = notes.parse(text)
        if holds(f"{head.line('name')} {head.line('description')} {Path(path).stem}"):
            yield ForgetPassage(path, 1, text.rstrip(), whole=True)
            return
        body = len(lines) - len(head.body.split("\n")) if head.body else 0
    at = body
    while at < len(lines):
        end = _passage_end(lines, at)
        block = "\n".join(lines[at:end])
        if lines[at].strip() and holds(block):
            yield ForgetPassage(path, at + 1, block)
        at = end


def _passage_end(lines: Sequence[str], at: int) -> int:
    end = at + 1
    if _BULLET.match(lines[at]):
        indent = len(lines[at]) - len(lines[at].lstrip())
        while end < len(lines) and lines[end].strip() and len(lines[end]) - len(lines[end].lstrip()) > indent:
            end += 1
    return end


def _memory_texts(scope: Scope, unread: list[str]) -> Iterator[tuple[str, str]]:
    folder = scope.folder
    paths = [folder / name for name in _FACTS]
    waiting = [folder / "memory"]
    while waiting:
        within = waiting.pop()
        try:
            found = files.entries(within, folder)
        except UnreadableFile as problem:
            unread.append(problem.reason)
            continue
        waiting += [within / entry.name for entry in found if entry.kind is EntryKind.FOLDER]
        paths += [within / entry.name for entry in found if entry.kind is EntryKind.FILE and entry.name.endswith(".md")]
    seen: set[tuple[int, int]] = set()  # on case-insensitive file systems, two names are one file
    for path in paths:
        try:
            file = files.read_text(path, folder)
        except UnreadableFile as problem:
            unread.append(problem.reason)
            continue
        if file is None:
            continue
        status = path.stat()
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            yield path.relative_to(folder).as_posix(), file.text


def _phrase(wanted: str) -> Callable[[str], bool]:
    """Matches whole words, ignoring case, accents and width."""
    phrase = re.escape(" ".join(fold(wanted).split())).replace(r"\ ", r"\s+")
    start = "" if is_unspaced(fold(wanted).strip()[:1]) else r"(?<!\w)"
    end = "" if is_unspaced(fold(wanted).strip()[-1:]) else r"(?!\w)"
    pattern = re.compile(f"{start}{phrase}{end}")
    return lambda text: pattern.search(fold(text)) is not None


def _all_words(wanted: str) -> Callable[[str], bool]:
    needed = frozenset(query_terms(wanted))

    def holds(text: str) -> bool:
        there = frozenset(terms(fold(text)))
        return bool(needed) and all(word in there or (word[-1] == "s" and word[:-1] in there) for word in needed)

    return holds


def _similar_words(wanted: str) -> Callable[[str], bool]:
    """Matches other forms of the words, also shortened (`cumple`) or written together (`wifi`); of an unspaced run,
    most of its pairs of letters."""
    needed = list(dict.fromkeys(query_terms(wanted)))

    def holds(text: str) -> bool:
        folded = fold(text)
        there = frozenset((*terms(folded), *terms(folded.replace("-", ""))))
        found = [
            word
            for word in needed
            if word in there or (not is_unspaced(word) and any(is_same_word(word, other) for other in there))
        ]
        left = [word for word in needed if word not in found]
        unspaced = sum(map(is_unspaced, found))
        return bool(found) and all(map(is_unspaced, left)) and len(left) <= unspaced

    return holds


def _matchers(wanted: str) -> tuple[Callable[[str], bool], ...]:
    """From the strictest to the loosest."""
    return _phrase(wanted), _all_words(wanted), _similar_words(wanted)
