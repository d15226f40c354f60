"""One change of one file as what was taken out and what was put in, and how to take it back. Pure bytes.

Only whole lines that differ are kept, with the lines around them: so a change is taken back out of a file that others
have edited since, and is left alone where its place cannot be found without doubt.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.memory.paths import FileError

_AROUND_LINES = 2
_AROUND_BYTES = 400
_SHOWN_CHARS = 2_000


class Conflict(FileError):
    """A change cannot be taken back, for the file has been edited there since. Says what it says now."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """`removed` stood at byte `at` of the file, and `added` stands there now, between `above` and `below`. `existed`
    and `exists`: whether there was a file before and after. `path` is relative to the scope's folder."""

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
    """Something added at the end of a file of `at` bytes whose last ones are `end`."""
    above = b"".join(_lines(end)[-_AROUND_LINES:])[-_AROUND_BYTES:]
    return FilePatch(path, at, b"", added, above, b"", existed)


def undone(edit: FilePatch, now: bytes | None, leaving: bytes | None = None) -> bytes | None:
    """What the file says without the edit, everything else in it kept; None: no such file. `leaving` is put where the
    edit stands instead of what was there before it. Raises `Conflict`."""
    if not edit.exists:
        if now in (None, edit.removed):
            return edit.removed
        raise Conflict(f"{edit.path} has been written anew since. {_says(now)}")
    if now is None:
        raise Conflict(f"{edit.path} is no longer there")
    at = _place(edit, now)
    if at is None:
        raise Conflict(f"{edit.path} has been changed at that place since; nothing was undone. {_says(now)}")
    before = edit.removed if leaving is None else leaving
    rest = now[:at] + before + now[at + len(edit.added) :]
    return None if not edit.existed and not rest.strip() else rest


def shown(edit: FilePatch) -> str:
    """As `diff` shows it to people."""
    head = f"{edit.path}" + ("" if edit.existed else " (new)") + ("" if edit.exists else " (deleted)")
    marked = [
        sign + line.decode("utf-8", "replace").rstrip("\r\n")
        for sign, part in ((" ", edit.above), ("-", edit.removed), ("+", edit.added), (" ", edit.below))
        for line in _lines(part)
    ]
    return "\n".join([head, *marked])


def _place(edit: FilePatch, now: bytes) -> int | None:
    """Where the edit stands in the file as it is now."""
    behind, whole = edit.above + edit.added, edit.above + edit.added + edit.below
    begin = edit.at - len(edit.above)
    if begin >= 0 and now.startswith(whole, begin) and (edit.below or _ends(now, begin + len(whole))):
        return edit.at
    if edit.added.strip() and begin >= 0 and now.startswith(behind, begin) and _ends(now, begin + len(behind)):
        return edit.at  # only what follows has changed
    if edit.above or edit.below:
        at = _only(now, whole, ends=not edit.below)
        if at is not None:
            return at + len(edit.above)
    if edit.added.strip():
        return _only(now, edit.added, ends=True)
    for part, offset in ((edit.above, len(edit.above)), (edit.below, 0)):
        at = _only(now, part) if part.strip() and not edit.added else None
        if at is not None:
            return at + offset
    return None


def _only(now: bytes, part: bytes, *, ends: bool = False) -> int | None:
    """The one place where `part` begins a line and, if asked for, ends one."""
    found: list[int] = []
    at = now.find(part)
    while at >= 0 and len(found) < 2:
        if (at == 0 or now[at - 1] == ord("\n")) and (not ends or _ends(now, at + len(part))):
            found.append(at)
        at = now.find(part, at + 1)
    return found[0] if len(found) == 1 else None


def _ends(now: bytes, at: int) -> bool:
    """Whether a line ends before `at`, or right there."""
    return at == 0 or now[at - 1] == ord("\n") or now[at : at + 1] in (b"", b"\n")


def _lines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _says(now: bytes | None) -> str:
    text = (now or b"").decode("utf-8", "replace")
    cut = text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + " […]"
    return f"It says now:\n{cut}"
