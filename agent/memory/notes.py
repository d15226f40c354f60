"""Notes: one memory each, in `memory/notes/<slug>.md`, with a line `- [name](memory/notes/slug.md) - description` in
the index, whose other text is kept; and how much of the index fits the prompt. People edit front matter, so any text
can be parsed. Blocks."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Literal

import yaml

from agent.clock import Clock
from agent.formats.parsing import load_yaml
from agent.formats.plain_text import slug
from agent.languages.sentences import Sentence
from agent.memory import files
from agent.memory.paths import FileError, UnreadableFile
from agent.memory.provenance import sources_in
from agent.memory.scope import Scope
from agent.settings import MemorySettings

INDEX_NAMES = ("MEMORY.md", "memory.md")
NEW_NOTES = "## New notes"
"""Heading of a section near the top, used if the index is longer than the prompt shows."""
_REST = "## Older"
_TITLE_LINES = 20


def with_line(index: bytes, path: str, name: str, description: str, shown: Callable[[str], int] = len) -> bytes:
    """The index with one line for the note: in its old place, else after the last note's; in a section near the top if
    the prompt would not show that place (`shown` counts lines)."""
    label = name.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    line = f"- [{label}]({path})" + (f" - {description}" if description else "")
    lines = _lines(index)
    present = [number for number, text in enumerate(lines) if _points_to(text, path)]
    if present:
        old = lines[present[0]]
        lines[present[0]] = line + old[len(old.rstrip("\r\n")) :]
        return _joined([text for number, text in enumerate(lines) if number not in present[1:]])
    usual: list[str] = []
    for found, at in _line_positions(lines, line):
        if at < shown(_joined(found).decode("utf-8", "replace")):
            return _joined(found)
        usual = usual or found
    return _joined(usual)


def _line_positions(lines: Sequence[str], line: str) -> Iterator[tuple[list[str], int]]:
    """Candidates, the usual place first: all lines, and the number of the new line, from 0."""
    head = next((at for at, text in enumerate(lines[:-1]) if text.strip() == NEW_NOTES), None)
    if head is not None:
        at = head + 1 + (lines[head + 1].strip(" \t\r") == "\n")
        yield [*lines[:at], line + "\n", *lines[at:]], at
    yield _after_last_note(lines, line)
    top = 0
    if lines and lines[0].rstrip() == "---":  # front matter
        top = next((at + 1 for at, text in enumerate(lines) if at and text.rstrip() == "---"), 0)
    title = top + 1 if lines[top : top + 1] and lines[top].startswith("# ") else top
    while top < title < min(len(lines), top + _TITLE_LINES) and not _BEGINS_PART.match(lines[title]):
        title += 1
    yield _in_new_section(lines, title, line)
    yield _in_new_section(lines, top, line)


def _after_last_note(before: Sequence[str], line: str) -> tuple[list[str], int]:
    lines = list(before)
    notes = [number for number, text in enumerate(lines) if _ANY_NOTE.match(text)]
    at = notes[-1] + 1 if notes else len(lines)
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    if not notes and lines and lines[-1].strip() and not lines[-1].startswith("- "):
        lines.append("\n")
        at += 1
    lines.insert(at, line + "\n")
    return lines, at


def _in_new_section(lines: Sequence[str], at: int, line: str) -> tuple[list[str], int]:
    gap = ["\n"] if at and lines[at - 1].strip() else []
    rest = [] if at == len(lines) or lines[at].startswith("#") else [f"{_REST}\n", "\n"]
    section = [*gap, f"{NEW_NOTES}\n", "\n", f"{line}\n", "\n", *rest]
    return [*lines[:at], *section, *lines[at:]], at + len(gap) + 2


def without_line(index: bytes, path: str) -> bytes:
    return _joined([text for text in _lines(index) if not _points_to(text, path)])


_LINK = re.compile(r"\s*+[-*+] ++\[")
_ANY_NOTE = re.compile(r"\s*[-*+] +\[.*\]\((?:\./)?memory/notes/[^()]*+\)")
_BEGINS_PART = re.compile(r"#|\s*+(?:[-*+]|\d++[.)])[ \t]")


def _points_to(line: str, path: str) -> bool:
    link = _LINK.match(line)
    return link is not None and (f"]({path})" in line[link.end() :] or f"](./{path})" in line[link.end() :])


def _lines(data: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "surrogateescape"))


def _joined(lines: list[str]) -> bytes:
    return "".join(lines).encode("utf-8", "surrogateescape")


_BLOCK = re.compile(r"---[ \t]*\r?\n(.{0,8000}?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_BEGINNING = re.compile(r"---[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class NoteDocument:
    fields: Mapping[str, object] | None
    """None: no readable front matter."""
    body: str
    problem: str = ""
    """Why there is none."""

    def line(self, key: str) -> str:
        """A field as one line; "" for other values."""
        value = (self.fields or {}).get(key)
        if value is None or isinstance(value, (list, dict, set, tuple, bytes)):
            return ""
        return " ".join(str(value).split())


def parse(text: str) -> NoteDocument:
    match = _BLOCK.match(text)
    if match is None:
        begun = _BEGINNING.match(text) is not None
        return NoteDocument(None, text, Sentence("its front matter has no closing --- line") if begun else "")
    try:
        fields = load_yaml(match[1])
    except (yaml.YAMLError, ValueError) as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        if mark is None:
            return NoteDocument(None, text, Sentence("its front matter is not valid YAML"))
        line = mark.line + 2  # counts from 0, below the first ---
        return NoteDocument(None, text, Sentence("its front matter is not valid YAML (line {line})", line=line))
    if not isinstance(fields, dict):
        return NoteDocument(None, text, Sentence("its front matter is not a list of `key: value` lines"))
    return NoteDocument({str(key): value for key, value in fields.items()}, text[match.end() :].lstrip("\r\n"))


def render(fields: Mapping[str, object], body: str) -> str:
    head = yaml.safe_dump(dict(fields), allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{body.strip()}\n"


NoteType = Literal["user", "feedback", "project", "reference"]
FOLDER = "memory/notes"
_MOST_OF_ONE_SLUG = 1_000


@dataclass(frozen=True, slots=True)
class Note:
    """`path` relative to the scope's folder; `changed` in the user's zone; missing fields are ""."""

    path: str
    name: str
    description: str
    type: str
    changed: date
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedNote:
    """`file` includes front matter."""

    path: Path
    file: files.FileText
    replaced: str | None
    """The old body, if any."""
    index: Path
    index_file: files.FileText


@dataclass(frozen=True, slots=True)
class DeletedNote:
    path: Path
    text: str
    index: Path | None


class _Taken(FileError):
    pass


def index_path(scope: Scope) -> Path:
    """The index, which also has curated facts: MEMORY.md or memory.md, for a group GROUP.md."""
    name = scope.prompt_files[-1]
    path = scope.folder / name
    if name == "MEMORY.md" and not path.exists() and (scope.folder / "memory.md").exists():
        return scope.folder / "memory.md"
    return path


def listing(scope: Scope, clock: Clock) -> list[Note]:
    """The notes, last changed first. The description of an unreadable note is the reason."""
    found = [
        (entry.changed, _note(scope, entry.name, clock.local(entry.changed).date()))
        for entry in files.entries(scope.folder / FOLDER, scope.folder)
        if entry.kind is files.EntryKind.FILE and entry.name.endswith(".md")
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
    settings: MemorySettings | None = None,
) -> SavedNote:
    """Writes a note and its index line. A note of that name (ignoring case and spacing) keeps file, day and extra
    fields. `may_replace` may raise `FileError`. Raises `FileError`."""
    title, summary = _one_line(name), _one_line(description)
    if not title:
        raise files.NotWritten("a note needs a name")
    if not content.strip():
        raise files.NotWritten("a note needs content")
    head = {"name": title, "description": summary, "type": type}
    path, file, replaced = _write(scope, clock, head, files.clean(content), may_replace)
    index = index_path(scope)
    limits = settings or MemorySettings()
    shown = partial(lines_shown, index, scope.folder, settings=limits)
    note = f"{FOLDER}/{path.name}"

    def with_note(before: bytes | None) -> bytes:
        files.text_of(before or b"", index.name)  # raises for binary data
        return with_line(before or b"", note, title, summary, shown)

    index_file = files.rewrite(index, scope.folder, clock.today(), with_note)
    return SavedNote(path, file, replaced, index, index_file)


def _write(
    scope: Scope, clock: Clock, head: Mapping[str, str], content: str, may_replace: Callable[[Path, bytes], None]
) -> tuple[Path, files.FileText, str | None]:
    today = clock.today()
    fields = {**head, "created": today}
    replaced: list[str] = []

    def changed(path: Path, before: bytes | None) -> bytes:
        replaced.clear()
        if before is None:
            return render(fields, content).encode()
        old = parse(files.decoded(before))
        if not _same_name(old.line("name"), head["name"]):
            raise _Taken("another note's")
        may_replace(path, before)
        replaced.append(old.body)
        kept = {key: value for key, value in (old.fields or {}).items() if key not in head}
        return render({**fields, **kept}, content).encode()

    for path in _candidate_paths(scope, clock, head["name"]):
        try:
            now = files.rewrite(path, scope.folder, today, partial(changed, path))
        except _Taken:
            continue
        return path, now, replaced[0] if replaced else None
    raise files.NotWritten(f"there are too many notes whose names look like {head['name']!r}; choose another name")


def delete(
    scope: Scope, clock: Clock, path: str, may_go: Callable[[Path, bytes], None] = lambda path, before: None
) -> DeletedNote:
    """Removes a note and its index line. `may_go` may raise `FileError`. Raises `FileError`."""
    file = files.inside(scope, path)
    relative = file.relative_to(scope.folder).as_posix()
    if file.parent != scope.folder / FOLDER or file.suffix != ".md":
        raise files.NotWritten(f"only notes can be deleted, by their path {FOLDER}/….md; memory_list shows them")
    deleted = files.remove(file, scope.folder, clock.today(), partial(may_go, file))
    if deleted is None:
        names = [f"{FOLDER}/{entry.name}" for entry in files.entries(file.parent, scope.folder)]
        near = difflib.get_close_matches(relative, names, n=3, cutoff=0.5)
        raise FileError(f"there is no note {relative}" + (f"; did you mean {', '.join(near)}?" if near else ""))
    index = index_path(scope)
    if files.read_text(index, scope.folder) is None:
        return DeletedNote(file, deleted.text, None)
    files.rewrite(index, scope.folder, clock.today(), lambda before: without_line(before or b"", relative))
    return DeletedNote(file, deleted.text, index)


def _note(scope: Scope, file_name: str, changed: date) -> Note:
    path = f"{FOLDER}/{file_name}"
    stem = file_name.removesuffix(".md")
    try:
        text = files.read_text(scope.folder / path, scope.folder)
    except UnreadableFile as error:
        return Note(path, stem, error.reason, "", changed)
    content = text.text if text is not None else ""
    head = parse(content)
    name = head.line("name") or stem
    return Note(path, name, head.line("description"), head.line("type"), changed, sources_in(content))


def _candidate_paths(scope: Scope, clock: Clock, title: str) -> list[Path]:
    """Files of notes with that name, then names from its slug."""
    base = slug(title)
    names = [f"{base}.md", *(f"{base}-{number}.md" for number in range(2, _MOST_OF_ONE_SLUG))]
    present = [Path(note.path).name for note in listing(scope, clock) if _same_name(note.name, title)]
    return [scope.folder / FOLDER / name for name in present + names]


def _one_line(text: str) -> str:
    return " ".join(files.clean(text).split())


def _same_name(name: str, other: str) -> bool:
    return unicodedata.normalize("NFC", name).casefold() == unicodedata.normalize("NFC", other).casefold()


def is_index(path: Path, folder: Path) -> bool:
    return path.parent == folder and path.name in INDEX_NAMES


def text_lines(text: str) -> list[str]:
    """Lines with their ends, as tools and the search index count them."""
    *whole, rest = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([rest] if rest else [])]


def count_fitting(lines: Sequence[str], limit: int, size: Callable[[str], int] = len) -> int:
    used = 0
    for count, line in enumerate(lines):
        used += size(line)
        if used > limit:
            return count
    return len(lines)


def index_lines_shown(lines: Sequence[str], settings: MemorySettings) -> int:
    sized = lines[: settings.max_index_lines]
    return count_fitting(sized, settings.max_index_bytes, lambda line: len(line.encode("utf-8", "replace")))


def lines_shown(path: Path, folder: Path, text: str, settings: MemorySettings) -> int:
    """The number of lines of MEMORY.md or GROUP.md in the prompt."""
    lines = text_lines(files.clean(text))
    return (
        index_lines_shown(lines, settings) if is_index(path, folder) else count_fitting(lines, settings.max_file_chars)
    )


def fullness(file: files.FileText, most_lines: int, most_bytes: int) -> str | None:
    """How far a file exceeds the prompt, in words; None if it fits."""
    lines = file.text.count("\n") + (not file.text.endswith("\n") and bool(file.text))
    if lines <= most_lines and file.size <= most_bytes:
        return None
    shown = f"only its first {most_lines:,} lines or {most_bytes:,} bytes are in the prompt"
    return f"{lines:,} lines and {file.size:,} bytes; {shown}"
