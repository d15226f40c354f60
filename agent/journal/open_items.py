"""The open list of a scope, `memory/open.md`: promises, by whom and until when. Blocks.

    - [ ] 2026-11-27 Alice: send the invoice (said 2026-11-21)
    - [x] Bob: bring the ladder (said 2026-11-20) (done 2026-11-21)

People may edit it: other text in the file stays; an item is identified by its words.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from agent.clock import Clock
from agent.languages.sentences import Sentence
from agent.languages.terms import fold
from agent.memory import files
from agent.memory.scope import Scope

_DAY = r"\d{4}-\d{2}-\d{2}"
_LINE = re.compile(
    rf"[ \t]*[-*+] \[(?P<mark>[ xX])\] (?:(?P<due>{_DAY}) )?(?:(?P<who>[^:]{{1,60}}): )?(?P<what>\S.*?)"
    rf"(?: \(said (?P<said>{_DAY})\))?(?: \(done (?P<done>{_DAY})\))?",
    re.ASCII,
)
_DONE = re.compile(rf" \(done {_DAY}\)\Z", re.ASCII)
_BEGINNING = b"# Open\n\n"
_MOST_CHARS = 200


@dataclass(frozen=True, slots=True)
class OpenItem:
    """`who` may be empty in a hand-written line, and days unknown."""

    who: str
    what: str
    due: date | None = None
    said: date | None = None
    done: bool = False
    closed: date | None = None

    @property
    def id(self) -> str:
        """Five letters or digits, derived from the words."""
        name = f"{fold(self.who).strip()}:{' '.join(fold(self.what).split()).rstrip('.! ')}"
        return base64.b32encode(hashlib.sha256(name.encode()).digest())[:5].decode().lower()

    @property
    def text(self) -> str:
        """`2026-11-27 Alice: send the invoice`."""
        due = f"{self.due.isoformat()} " if self.due else ""
        return f"{due}{self.who}: {self.what}" if self.who else f"{due}{self.what}"

    @property
    def line(self) -> str:
        said = f" (said {self.said.isoformat()})" if self.said else ""
        return f"- [{'x' if self.done else ' '}] {self.text}{said}"


class NoSuchItem(LookupError):
    """No item, or more than one, matches: a sentence for the person."""


def path(scope: Scope) -> Path:
    return scope.folder / "memory" / "open.md"


def tidy(text: str) -> str:
    """The text on one line, without marks."""
    words = " ".join(files.clean(text).replace("<!--", "").replace("-->", "").split())
    return words if len(words) <= _MOST_CHARS else words[: _MOST_CHARS - 1].rstrip() + "…"


def read(line: str) -> OpenItem | None:
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    due, said, closed = (_day(match[name]) for name in ("due", "said", "done"))
    return OpenItem((match["who"] or "").strip(), match["what"], due, said, match["mark"] != " ", closed)


def still_open(scope: Scope) -> tuple[OpenItem, ...]:
    """The open items, the earliest due first. Raises `FileError`."""
    file = files.read_text(path(scope), scope.folder)
    found = [item for line in (file.text if file else "").splitlines() if (item := read(line)) and not item.done]
    return tuple(sorted(dict.fromkeys(found), key=lambda item: (item.due or date.max, item.text)))


def keep(scope: Scope, clock: Clock, promises: Sequence[OpenItem]) -> None:
    """Adds new items, also items promised again after they were done; an open item may move to another day. Raises
    `FileError`."""
    if promises:
        files.rewrite(path(scope), scope.folder, clock.today(), lambda now: _with_added(now or _BEGINNING, promises))


def close(scope: Scope, clock: Clock, ids: Sequence[str]) -> None:
    """Ticks items; skips unknown ids. Raises `FileError`."""
    wanted = frozenset(ids) & {item.id for item in still_open(scope)}
    if wanted:
        files.rewrite(
            path(scope), scope.folder, clock.today(), lambda now: _with_ticked(now or b"", wanted, clock.today())
        )


def find(scope: Scope, words: str) -> OpenItem:
    """The open item with that id, or the only item with all the words. Raises `NoSuchItem`, `FileError`."""
    known = still_open(scope)
    wanted = fold(words).split()
    by_id = [item for item in known if wanted == [item.id]]
    found = by_id or [item for item in known if wanted and all(word in fold(item.text) for word in wanted)]
    if len(found) != 1:
        if found:
            raise NoSuchItem(
                Sentence(
                    "“{text}” fits {count} of the open promises; say more of it", text=tidy(words), count=len(found)
                )
            )
        raise NoSuchItem(Sentence("“{text}” is not in the list of open promises", text=tidy(words)))
    return found[0]


def _with_added(now: bytes, promises: Sequence[OpenItem]) -> bytes:
    lines = now.decode("utf-8", "surrogateescape").split("\n")
    for promise in promises:
        same = {at: known for at, line in enumerate(lines) if (known := read(line)) and known.id == promise.id}
        open_ = next((at for at, known in same.items() if not known.done), None)
        if open_ is not None:
            known = same[open_]
            if promise.due not in (None, known.due):
                lines[open_] = dataclasses.replace(known, due=promise.due).line
        elif all(_is_later(promise, known) for known in same.values()):
            lines[-1:] = [*filter(None, lines[-1:]), promise.line, ""]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _is_later(promise: OpenItem, done: OpenItem) -> bool:
    """True if `promise` was made after `done` was done, by the list."""
    over = done.closed or done.said
    return over is not None and promise.said is not None and promise.said > over


def _with_ticked(now: bytes, ids: frozenset[str], today: date) -> bytes:
    lines = now.decode("utf-8", "surrogateescape").split("\n")
    for at, line in enumerate(lines):
        if (known := read(line)) and not known.done and known.id in ids:
            lines[at] = f"{_DONE.sub('', line.rstrip()).replace('[ ]', '[x]', 1)} (done {today.isoformat()})"
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None
