"""Notes: one memory each, in `memory/notes/<slug>.md`, with its line in the scope's index. Everything blocks."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from agent.clock import Clock
from agent.memory import files, front_matter, index_lines
from agent.memory.provenance import sources_in
from agent.memory.reach import FileError, Unreadable
from agent.memory.scope import Scope
from agent.memory.slug import slug

TYPES = ("user", "feedback", "project", "reference")
FOLDER = "memory/notes"
_MOST_OF_ONE_SLUG = 1_000


@dataclass(frozen=True, slots=True)
class Note:
    """What the manifest says of a note. `path` is relative to the scope's folder; `changed` the user's day of its last
    change; what a hand left out is "" (the name: its file's). `sources`: what its marks name (`provenance`)."""

    path: str
    name: str
    description: str
    type: str
    changed: date
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """`file` is what the note says now, its head included; `replaced` the body that an update took the place of."""

    path: Path
    file: files.FileText
    replaced: str | None
    index: Path
    index_file: files.FileText


@dataclass(frozen=True, slots=True)
class Deleted:
    """`text` is what the note said; `index` the index file, None where there is none."""

    path: Path
    text: str
    index: Path | None


class _Taken(FileError):
    """The file is another note's."""


def index_path(scope: Scope) -> Path:
    """The file that holds the curated facts and the notes' lines: MEMORY.md (memory.md where only that is there), for
    a group GROUP.md."""
    name = scope.prompt_files[-1]
    path = scope.folder / name
    if name == "MEMORY.md" and not path.exists() and (scope.folder / "memory.md").exists():
        return scope.folder / "memory.md"
    return path


def listing(scope: Scope, clock: Clock) -> list[Note]:
    """All notes, the last changed first. One that cannot be read is listed with the reason as its description."""
    found = [
        (entry.changed, _note(scope, entry.name, clock.local(entry.changed).date()))
        for entry in files.entries(scope.folder / FOLDER, scope.folder)
        if entry.kind is files.Kind.FILE and entry.name.endswith(".md")
    ]
    return [note for _, note in sorted(found, key=lambda pair: (pair[0], pair[1].path), reverse=True)]


def save(
    scope: Scope,
    clock: Clock,
    name: str,
    description: str,
    type: str,
    content: str,
    may_replace: Callable[[Path, bytes], None] = lambda path, before: None,
) -> Saved:
    """Write a note and its index line. The note of the same name, however spaced or capitalised, is updated and keeps
    its file, its day of creation and what a hand added to its head. `may_replace` is asked before that and raises
    `FileError` to say no. Raises `FileError`."""
    title, summary = _one_line(name), _one_line(description)
    if not title:
        raise files.NotWritten("a note needs a name")
    if not content.strip():
        raise files.NotWritten("a note needs content")
    head = {"name": title, "description": summary, "type": type}
    path, file, replaced = _write(scope, clock, head, files.clean(content), may_replace)
    index = index_path(scope)
    index_file = files.rewrite(
        index,
        scope.folder,
        clock.today(),
        lambda before: index_lines.with_line(_text(before, index.name), f"{FOLDER}/{path.name}", title, summary),
    )
    return Saved(path, file, replaced, index, index_file)


def _write(
    scope: Scope, clock: Clock, head: Mapping[str, str], content: str, may_replace: Callable[[Path, bytes], None]
) -> tuple[Path, files.FileText, str | None]:
    today = clock.today()
    fields = {**head, "created": today}
    replaced: list[str] = []

    def changed(path: Path, before: bytes | None) -> bytes:
        replaced.clear()
        if before is None:
            return front_matter.render(fields, content).encode()
        old = front_matter.parse(files.decoded(before))
        if not _same_name(old.line("name"), head["name"]):
            raise _Taken("another note's")
        may_replace(path, before)
        replaced.append(old.body)
        kept = {key: value for key, value in (old.fields or {}).items() if key not in head}
        return front_matter.render({**fields, **kept}, content).encode()

    for path in _places(scope, clock, head["name"]):
        try:
            now = files.rewrite(path, scope.folder, today, partial(changed, path))
        except _Taken:
            continue
        return path, now, replaced[0] if replaced else None
    raise files.NotWritten(f"there are too many notes whose names look like {head['name']!r}; choose another name")


def delete(
    scope: Scope, clock: Clock, path: str, may_go: Callable[[Path, bytes], None] = lambda path, before: None
) -> Deleted:
    """Remove a note and its index line. `may_go` is asked before that and raises `FileError` to say no. Raises
    `FileError`."""
    place = files.inside(scope, path)
    relative = place.relative_to(scope.folder).as_posix()
    if place.parent != scope.folder / FOLDER or place.suffix != ".md":
        raise files.NotWritten(f"only notes can be deleted, by their path {FOLDER}/….md; memory_list shows them")
    gone = files.remove(place, scope.folder, clock.today(), partial(may_go, place))
    if gone is None:
        names = [f"{FOLDER}/{entry.name}" for entry in files.entries(place.parent, scope.folder)]
        near = difflib.get_close_matches(relative, names, n=3, cutoff=0.5)
        raise FileError(f"there is no note {relative}" + (f"; did you mean {', '.join(near)}?" if near else ""))
    index = index_path(scope)
    if files.read_text(index, scope.folder) is None:
        return Deleted(place, gone.text, None)
    files.rewrite(index, scope.folder, clock.today(), lambda before: index_lines.without_line(before or b"", relative))
    return Deleted(place, gone.text, index)


def _note(scope: Scope, file_name: str, changed: date) -> Note:
    path = f"{FOLDER}/{file_name}"
    stem = file_name.removesuffix(".md")
    try:
        text = files.read_text(scope.folder / path, scope.folder)
    except Unreadable as error:
        return Note(path, stem, error.reason, "", changed)
    said = text.text if text is not None else ""
    head = front_matter.parse(said)
    name = head.line("name") or stem
    return Note(path, name, head.line("description"), head.line("type"), changed, sources_in(said))


def _places(scope: Scope, clock: Clock, title: str) -> list[Path]:
    """Where the note may be: the file that bears its name, else the first free file of its slug."""
    base = slug(title)
    names = [f"{base}.md", *(f"{base}-{number}.md" for number in range(2, _MOST_OF_ONE_SLUG))]
    present = [Path(note.path).name for note in listing(scope, clock) if _same_name(note.name, title)]
    return [scope.folder / FOLDER / name for name in present + names]


def _text(data: bytes | None, name: str) -> bytes:
    """Raises `Unreadable` for what is no UTF-8 text: a line could only damage it."""
    files.text_of(data or b"", name)
    return data or b""


def _one_line(text: str) -> str:
    return " ".join(files.clean(text).split())


def _same_name(one: str, other: str) -> bool:
    return _key(one) == _key(other)


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
