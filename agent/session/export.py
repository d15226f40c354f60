"""A transcript as Markdown, and a conversation's end for the daily log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agent.clock import Clock
from agent.languages.days_meant import with_days, without_days
from agent.memory.provenance import with_mark
from agent.model.base import REFUSED
from agent.model.offline.model import NAME as OFFLINE
from agent.search.answer_types import only_asks
from agent.session.entries import CompactionEntry, Entry, MarkEntry, MessageEntry, in_newest_version, is_reset
from agent.session.taint import own_sources
from agent.session.transcript import Transcript
from agent.session.turn_record import calls_of, said_in, text_of
from agent.silence import deliverable_text

_ME = "Assistant"
_EARLIER = "_An earlier version, which was replaced:_"
SNAPSHOT_MESSAGES = 15
_FOUND = re.compile(r"^> ", re.MULTILINE)
"""A passage from memory."""
_ENTRY = re.compile(r"^- (?:\d{2}:\d{2} )?")
_SNAPSHOT_CHARS = 1_000
"""Of one message in a snapshot; the transcript keeps the whole."""


@dataclass(frozen=True, slots=True)
class Line:
    """A message of a person or the assistant."""

    at: datetime
    who: str
    """A person's name, or empty for the assistant."""
    text: str
    sources: tuple[str, ...] = ()
    """Of foreign text in it."""
    is_answered: bool = False
    """A question to which the offline assistant found something."""

    def marked(self, text: str) -> str:
        """The text with its mark; a person's own has none."""
        return text if self.who else with_mark(text, self.sources)


@dataclass(frozen=True, slots=True)
class Snapshot:
    heading: str
    body: str


def lines(entries: Sequence[Entry], clock: Clock) -> Iterator[Line]:
    """Messages and answers, without tools, silence and notices."""
    for entry in entries:
        if not isinstance(entry, MessageEntry):
            continue
        at = clock.local(datetime.fromisoformat(entry.ts))
        if entry.role == "user" and entry.meta.said:
            yield Line(at, entry.meta.sender or "You", said_in(entry), own_sources(entry))
        elif (
            entry.role == "assistant"
            and entry.meta.stop_reason != REFUSED
            and (text := deliverable_text(text_of(entry)))
        ):
            yield Line(at, "", text, own_sources(entry))


def is_canned(entry: Entry) -> bool:
    """True for the offline assistant's answer to a note."""
    return isinstance(entry, MessageEntry) and entry.role == "assistant" and entry.meta.model == OFFLINE


def spoken(entries: Sequence[Entry], clock: Clock) -> list[tuple[int, Line]]:
    """Each line with its entry's place, without the offline assistant's answers, which repeat what was noted."""
    said: list[tuple[int, Line]] = []
    for at, entry in enumerate(entries):
        for line in lines([entry], clock):
            if not is_canned(entry):
                said.append((at, line))
            elif said and said[-1][1].who and only_asks(said[-1][1].text) and _FOUND.search(line.text):
                said[-1] = (said[-1][0], replace(said[-1][1], is_answered=True))
    return said


def snapshot(transcript: Transcript, clock: Clock, log: str) -> Snapshot | None:
    """The end of a conversation for the daily log, without the messages that the log has already."""
    said = [line for _, line in spoken(transcript.entries, clock) if not line.is_answered]
    noted = noted_in(log)
    new = [line for line in said[-SNAPSHOT_MESSAGES:] if as_said(line.text) not in noted and _bullet(line) not in log]
    if not new:
        return None
    first = next((line.text for line in said if line.who), said[0].text)
    return Snapshot(f"talk {_slug(first)}", "\n".join(map(_bullet, new)))


def noted_in(log: str) -> frozenset[str]:
    """The notes of a day's log, as they were said."""
    return frozenset(_ENTRY.sub("", as_said(line)) for line in log.splitlines())


def as_said(text: str) -> str:
    """The text on one line, without the dates that were added."""
    return " ".join(without_days(text).split())


def markdown(transcript: Transcript, clock: Clock) -> str:
    header = transcript.header
    started = clock.local(datetime.fromisoformat(header.started))
    parts = [
        f"# Conversation of {started:%Y-%m-%d %H:%M}",
        f"Session `{header.id}` of `{header.agent}/{header.key}`, {clock.zone.key}.",
    ]
    entries, was_earlier = transcript.all_entries, False
    for entry, belongs in zip(entries, in_newest_version(entries), strict=True):
        shown = list(_paragraphs(entry, clock))
        if not belongs and shown:
            shown = [_quoted(part) for part in ([] if was_earlier else [_EARLIER]) + shown]
        was_earlier = not belongs
        parts += shown
    if transcript.damage:
        parts.append(f"_{len(transcript.damage)} damaged lines of the transcript are left out._")
    return "\n\n".join(parts) + "\n"


def _paragraphs(entry: Entry, clock: Clock) -> Iterator[str]:
    for line in lines([entry], clock):
        yield f"**{line.who or _ME}** · {line.at:%Y-%m-%d %H:%M}\n\n{line.text}"
    for call in calls_of(entry):
        yield f"> `{call['name']}` {_short(json.dumps(call.get('input'), ensure_ascii=False))}"
    match entry:
        case MessageEntry(role="user") if entry.meta.tool:
            outcome = "failed" if entry.meta.error else "gave"
            result = str(entry.content[0].get("content")) if entry.content else ""
            yield f"> `{entry.meta.tool}` {outcome}: {_short(result)}"
        case CompactionEntry():
            yield f"---\n\n_Summary of the above:_\n\n{entry.summary}"
        case MarkEntry() if is_reset(entry):
            yield "---"


def _quoted(markdown: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in markdown.split("\n"))


def _bullet(line: Line) -> str:
    text = line.text if len(line.text) <= _SNAPSHOT_CHARS else line.text[: _SNAPSHOT_CHARS - 1] + "…"
    text = line.marked(with_days(text, line.at.date()))
    return f"- {line.at:%H:%M} {line.who or _ME}: " + text.replace("\n", "\n  ")


def _slug(text: str) -> str:
    return "-".join(re.findall(r"\w+", text.lower())[:6])[:60] or "untitled"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:299] + "…"
