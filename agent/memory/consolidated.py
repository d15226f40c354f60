"""Stores a consolidated session. A change that drops more than a quarter of the curated file becomes a proposal for the
owner. Blocks."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.clock import Clock
from agent.memory import files, notes
from agent.memory.files import FileError
from agent.memory.log_writer import append_history
from agent.memory.replace import append_lines, replace_once
from agent.memory.scope import Scope

_log = logging.getLogger(__name__)

_MOST_PARAGRAPH_CHARS = 4_000
_TOO_MUCH = "it would have dropped more than a quarter of the file"
_REFUSED = "the file could not be written ({why})"
_SAFE_SHARE = 4
"""A change may drop at most one part in this many."""


@dataclass(frozen=True, slots=True)
class CuratedEdit:
    """An empty `old_text` appends."""

    old_text: str
    new_text: str


@dataclass(frozen=True, slots=True)
class ConsolidationResult:
    history: str
    edits: tuple[CuratedEdit, ...] = ()


class _TooMuch(FileError):
    def __init__(self, after: bytes) -> None:
        super().__init__(_TOO_MUCH)
        self.after = after


def store_consolidation(scope: Scope, clock: Clock, found: ConsolidationResult, source: str, *, extract: bool) -> None:
    """Writes the paragraph and applies the edits. Idempotent.

    `source` names the session; `extract`: no model was used. Edits that no longer fit are skipped; if the file cannot
    be written, they become a proposal. Raises `FileError` if the paragraph cannot be written.
    """
    if found.history.strip():
        append_history(scope, clock, found.history[:_MOST_PARAGRAPH_CHARS], source, extract=extract)
    if not found.edits:
        return
    path = notes.index_path(scope)
    try:
        files.rewrite(
            path, scope.folder, clock.today(), lambda before: _apply_edits(before or b"", found.edits, path.name)
        )
    except _TooMuch as refused:
        _propose(scope, clock, path, refused.after, source, _TOO_MUCH)
    except FileError as problem:
        texts = "\n".join(edit.new_text for edit in found.edits if edit.new_text.strip())
        _log.warning("could not update %s: %s", path, problem)
        _propose(scope, clock, path, files.clean(texts).encode() + b"\n", source, _REFUSED.format(why=problem))


def _apply_edits(before: bytes, edits: Sequence[CuratedEdit], name: str) -> bytes:
    """Raises `_TooMuch`, and `UnreadableFile` for binary data."""
    files.text_of(before, name)
    after = before
    for edit in edits:
        try:
            after = _apply_edit(after, edit, name)
        except FileError as problem:
            # not the message: it quotes the file, and a log must not hold memories
            _log.info("skipped an edit of %s (%s)", name, type(problem).__name__)
    kept = set(after.splitlines())
    lost = sum(len(line) + 1 for line in before.splitlines() if line not in kept)
    if lost * _SAFE_SHARE > len(before):
        raise _TooMuch(after)
    return after


def _apply_edit(before: bytes, edit: CuratedEdit, name: str) -> bytes:
    if edit.old_text:
        return replace_once(before, edit.old_text, edit.new_text, name)
    if files.clean(edit.new_text).strip("\n").encode() in before.replace(b"\r\n", b"\n"):
        return before
    return append_lines(before, edit.new_text, name)


def _propose(scope: Scope, clock: Clock, path: Path, after: bytes, source: str, why: str) -> None:
    now = clock.now()
    folder = scope.folder / "memory" / "proposals"
    proposal = folder / f"{now:%Y-%m-%d-%H%M}-{path.stem.lower()}.md"
    note = (
        f"<!-- Proposed for {path.name} on {now:%Y-%m-%d %H:%M} ({source}); not done, for {why}. "
        "Copy over what is right, then delete this. -->\n\n"
    )
    try:
        files.rewrite(proposal, scope.folder, clock.today(), lambda before: (before or b"") + note.encode() + after)
        _log.warning("did not change %s, for %s; saved it as %s", path.name, why, proposal)
    except FileError as problem:
        _log.warning("could not save a proposal for %s: %s", path.name, problem)
