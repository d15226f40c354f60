"""A change of one file and its undo. Pure.

With its context lines a change can be undone although the file was edited elsewhere; not at an ambiguous place.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.languages.sentences import Sentence
from agent.memory.paths import FileError

_AROUND_LINES = 2
_AROUND_BYTES = 400
_SHOWN_CHARS = 2_000


class Conflict(FileError):
    """The file was edited there since; the text quotes it."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """An edit: at byte `at`, `removed` became `added`, between `above` and `below`. `existed`, `exists`: the file
    before and after."""

    path: str
    at: int
    removed: bytes
    added: bytes
    above: bytes
    below: bytes
    existed: bool = True
    exists: bool = True


def edit_of(path: str, before: bytes | None, after: bytes | None) -> FilePatch:
    old, new = _lines(before or b""), _lines(after or b"")
    most = min(len(old), len(new))
    first = next((at for at in range(most) if old[at] != new[at]), most)
    most -= first
    last = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    tail = old[len(old) - last :]
    return FilePatch(
        path,
        sum(map(len, old[:first])),
        b"".join(old[first : len(old) - last]),
        b"".join(new[first : len(new) - last]),
        b"".join(old[max(0, first - _AROUND_LINES) : first])[-_AROUND_BYTES:],
        b"".join(tail[:_AROUND_LINES])[:_AROUND_BYTES],
        before is not None,
        after is not None,
    )


def addition_of(path: str, at: int, end: bytes, added: bytes, *, existed: bool) -> FilePatch:
    above = b"".join(_lines(end)[-_AROUND_LINES:])[-_AROUND_BYTES:]
    return FilePatch(path, at, b"", added, above, b"", existed)


def undo_edit(edit: FilePatch, now: bytes | None, replacement: bytes | None = None) -> bytes | None:
    """The file without the edit, or with `replacement` for `removed`. Raises `Conflict`."""
    if not edit.exists:
        if now in (None, edit.removed):
            return edit.removed
        raise Conflict(
            Sentence(
                "{file} has been written anew since. It says now:\n{text}", file=edit.path, text=_current_text(now)
            )
        )
    if now is None:
        raise Conflict(Sentence("{file} is no longer there", file=edit.path))
    at = _locate(edit, now)
    if at is None:
        raise Conflict(
            Sentence(
                "{file} has been changed at that place since; nothing was undone. It says now:\n{text}",
                file=edit.path,
                text=_current_text(now),
            )
        )
    before = edit.removed if replacement is None else replacement
    rest = now[:at] + before + now[at + len(edit.added) :]
    return None if not edit.existed and not rest.strip() else rest


def diff_text(edit: FilePatch) -> str:
    head = f"{edit.path}" + ("" if edit.existed else " (new)") + ("" if edit.exists else " (deleted)")
    marked = [
        sign + line.decode("utf-8", "replace").rstrip("\r\n")
        for sign, part in ((" ", edit.above), ("-", edit.removed), ("+", edit.added), (" ", edit.below))
        for line in _lines(part)
    ]
    return "\n".join([head, *marked])


def _locate(edit: FilePatch, now: bytes) -> int | None:
    """The edit's offset, if certain."""
    start, whole = edit.above + edit.added, edit.above + edit.added + edit.below
    begin = edit.at - len(edit.above)
    if begin >= 0 and now.startswith(whole, begin) and (edit.below or _ends(now, begin + len(whole))):
        return edit.at
    if edit.added.strip() and begin >= 0 and now.startswith(start, begin) and _ends(now, begin + len(start)):
        return edit.at  # only the text below has changed
    if edit.above or edit.below:
        at = _only_match(now, whole, ends=not edit.below)
        if at is not None:
            return at + len(edit.above)
    if edit.added.strip():
        return _only_match(now, edit.added, ends=True)
    for part, offset in ((edit.above, len(edit.above)), (edit.below, 0)):
        at = _only_match(now, part) if part.strip() and not edit.added else None
        if at is not None:
            return at + offset
    return None


def _only_match(now: bytes, part: bytes, *, ends: bool = False) -> int | None:
    found: list[int] = []
    at = now.find(part)
    while at >= 0 and len(found) < 2:
        if (at == 0 or now[at - 1] == ord("\n")) and (not ends or _ends(now, at + len(part))):
            found.append(at)
        at = now.find(part, at + 1)
    return found[0] if len(found) == 1 else None


def _ends(now: bytes, at: int) -> bool:
    return at == 0 or now[at - 1] == ord("\n") or now[at : at + 1] in (b"", b"\n")


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _current_text(now: bytes | None) -> str:
    text = (now or b"").decode("utf-8", "replace")
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + " […]"
