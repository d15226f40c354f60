"""Files of imported conversations: one a day, with a mark that says how far each conversation was imported."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from agent.clock import Clock
from agent.formats.plain_text import slug
from agent.languages.sentences import Sentence
from agent.memory import daily_log, files, notes
from agent.memory.files import EntryKind
from agent.memory.paths import FileError
from agent.memory.provenance import Provenance, add_marks, provenance_of_writes
from agent.memory.scope import Scope
from gateway.features.imports.claude import ImportedNote
from gateway.features.imports.placing import Placer, too_much_text
from gateway.features.imports.secrets import without_secrets
from gateway.features.imports.values import (
    LABELS,
    MOST_OF_FILE,
    MOST_TEXT,
    Findings,
    ImportedChat,
    ImportedMessage,
    ImportKind,
)

FOLDER = "memory/imported"
_MARK = re.compile(r"^<!-- imported (\S{1,40}) (\S{1,200}) (\S{1,40}) -->$", re.MULTILINE)
_UNSAFE_ID = re.compile(r"[^A-Za-z0-9_.:-]")
_LONGEST_MESSAGE = 1_000_000
_TITLE_CHARS = 120
_CONTROLS = dict.fromkeys(code for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t")
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class _Section:
    """One conversation's part of a day."""

    begun: datetime
    text: str


def source_of(kind: ImportKind) -> str:
    """The name in provenance marks."""
    return f"{LABELS[kind]} import"


def marked(text: str, *sources: str) -> str:
    """The text with provenance marks, so that it counts as somebody else's."""
    with provenance_of_writes(Provenance(sources)):
        return add_marks("", text)


def imported_before(scope: Scope, kind: ImportKind, findings: Findings) -> dict[str, datetime]:
    """The last message imported of each conversation, by its id."""
    found: dict[str, datetime] = {}
    folder = scope.folder / FOLDER / kind
    for entry in files.entries(folder, scope.folder):
        if entry.kind is not EntryKind.FILE or not entry.name.endswith(".md"):
            continue
        try:
            data = files.read_bytes(folder / entry.name, scope.folder) or b""
        except FileError as problem:
            findings.remarks.append(Sentence("{why}: what was imported into it may come a second time.", why=problem))
            continue
        for of, id, last in _MARK.findall(files.decoded(data)):
            at = _stamp(last)
            if of == kind and at is not None:
                found[id] = max(at, found.get(id, at))
    return found


def place_chats(
    chats: Iterable[ImportedChat], kind: ImportKind, scope: Scope, clock: Clock, findings: Findings, placer: Placer
) -> None:
    """Plans the files of conversations that are new, or went on since. Raises `ImportRefused`."""
    known = imported_before(scope, kind, findings)
    days: defaultdict[date, list[_Section]] = defaultdict(list)
    size = 0
    for chat in chats:
        id = _UNSAFE_ID.sub("_", chat.id)[:200] or "unnamed"
        new = tuple(message for message in in_order(chat.messages) if id not in known or message.at > known[id])
        if not new:
            findings.already += 1
            continue
        known[id] = max(message.at for message in new)
        findings.chats += 1
        findings.messages += len(new)
        by_day: defaultdict[date, list[ImportedMessage]] = defaultdict(list)
        for message in new:
            by_day[clock.local(message.at).date()].append(message)
        for day, messages in by_day.items():
            days[day].append(_section(chat, id, messages, kind, clock, findings))
            size += len(days[day][-1].text)
            if size > MOST_TEXT:
                raise too_much_text()
    for day in sorted(days):
        for part in _parts(day, sorted(days[day], key=lambda section: section.begun)):
            placer.place(f"{FOLDER}/{kind}/{day.isoformat()}.md", part.encode())


def in_order(messages: Iterable[ImportedMessage]) -> Iterator[ImportedMessage]:
    """Messages whose moments only grow: two of one moment could not be told apart by a later import."""
    last: datetime | None = None
    for message in messages:
        at = message.at if last is None or message.at > last else last + _INSTANT
        last = at
        yield message if at == message.at else replace(message, at=at)


def _section(
    chat: ImportedChat,
    id: str,
    messages: list[ImportedMessage],
    kind: ImportKind,
    clock: Clock,
    findings: Findings,
) -> _Section:
    source, title = source_of(kind), " ".join(visible(chat.title).split())[:_TITLE_CHARS] or "Untitled"
    where = Sentence("“{title}” of {day}", title=title, day=clock.local(messages[0].at).date().isoformat())
    title = without_secrets(title, where, findings.secrets)
    last = messages[-1].at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    head = f"## {title} (from: {source})\n<!-- imported {kind} {id} {last} -->\n"
    parts = [head]
    for message in messages:
        text = visible(message.text)
        if len(text) > _LONGEST_MESSAGE:
            why = Sentence("is longer than {limit} characters and was cut", limit=f"{_LONGEST_MESSAGE:,}")
            findings.skip(Sentence("a message in {where}", where=where), why)
            text = f"{text[:_LONGEST_MESSAGE]} […]"
        if text.strip():
            said = f"{message.speaker}: {without_secrets(text, where, findings.secrets)}"
            parts.append(marked(daily_log.entry(clock.local(message.at), said), source))
        for document in message.documents:
            words = without_secrets(visible(document.text), where, findings.secrets)
            if len(words) > _LONGEST_MESSAGE:
                what = Sentence("{name} in {where}", name=document.name, where=where)
                findings.skip(what, Sentence("is a long document and was cut"))
                words = f"{words[:_LONGEST_MESSAGE]} […]"
            name = " ".join(visible(document.name).split())[:_TITLE_CHARS]
            name = without_secrets(name, where, findings.secrets)
            said = f"{message.speaker}, document {name}:\n{words}"
            parts.append(marked(daily_log.entry(clock.local(message.at), said), name, source))
    return _Section(messages[0].at, "".join(parts))


def _parts(day: date, sections: list[_Section]) -> Iterator[str]:
    """The day's files, each small enough to be read."""
    title = daily_log.new_log(day)
    text = title
    for section in sections:
        if text != title and len(text.encode()) + len(section.text.encode()) > MOST_OF_FILE:
            yield text
            text = title
        if text != title:
            text += "\n"
        if len(section.text.encode()) <= MOST_OF_FILE:
            text += section.text
            continue
        for piece in _pieces(section.text):
            yield title + piece
    if text != title:
        yield text


def _pieces(text: str) -> Iterator[str]:
    """A long section in several, each under its heading and mark."""
    head, body = _heading_of(text)
    piece, size = head, len(head.encode())
    for line in body.splitlines(keepends=True):
        length = len(line.encode())
        if piece != head and size + length > MOST_OF_FILE:
            yield piece
            piece, size = head, len(head.encode())
        piece += line
        size += length
    yield piece


def _heading_of(text: str) -> tuple[str, str]:
    at = text.index("\n", text.index("\n") + 1) + 1
    return text[:at], text[at:]


def place_note(note: ImportedNote, kind: ImportKind, clock: Clock, findings: Findings, placer: Placer) -> None:
    """Plans a note and, in a folder of its own, its documents. Raises `ImportRefused`."""
    source, name = source_of(kind), " ".join(visible(note.name).split())[:_TITLE_CHARS]
    folder = slug(name)
    where = Sentence("“{title}”", title=name)
    body = without_secrets(visible(note.text), where, findings.secrets) or "Its documents are beside it."
    head = {"name": name, "description": note.description, "type": "reference"}
    created = {"created": clock.local(note.created).date()} if note.created is not None else {}
    text = notes.render({**head, **created}, body)
    placer.place(f"{notes.FOLDER}/{folder}.md", cut(marked(text, source), name, findings).encode())
    for document in note.documents:
        where = Sentence("“{title}”", title=document.name)
        words = without_secrets(visible(document.text), where, findings.secrets)
        title = " ".join(visible(document.name).split())[:_TITLE_CHARS]
        whole = cut(f"# {title}\n\n{marked(words, title, source).strip()}\n", title, findings)
        placer.place(f"{FOLDER}/{kind}/{folder}/{slug(title.removesuffix('.md'))}.md", whole.encode())


def cut(text: str, name: str, findings: Findings) -> str:
    """The text as far as a file may hold it."""
    data = text.encode()
    if len(data) <= MOST_OF_FILE:
        return text
    why = Sentence("is larger than {limit} MB and was cut", limit=MOST_OF_FILE // 1_000_000)
    findings.skip(Sentence("“{title}”", title=name), why)
    return data[:MOST_OF_FILE].decode("utf-8", "ignore").rpartition("\n")[0] + "\n"


def visible(text: str) -> str:
    """Text without control characters, which no file of memory should hold."""
    return files.clean(text).replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)


def _stamp(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None
