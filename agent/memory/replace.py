"""Replaces one passage of a file, only if it is unambiguous."""

from __future__ import annotations

import difflib

from agent.memory.daily_log import gap_before_entry
from agent.memory.files import clean, decoded, text_of
from agent.memory.paths import FileError

_SHOWN_CHARS = 600
_LINE_CHARS = 160
_COMPARED_CHARS = 2_000
_LIKE_ENOUGH = 0.35


class NoSuchEdit(FileError):
    """The edit does not identify one passage."""


def replace_once(before: bytes, old_text: str, new_text: str, name: str) -> bytes:
    """Replaces the only occurrence of `old_text`. Raises `NoSuchEdit`, which shows the nearest passage or all."""
    if not old_text:
        raise NoSuchEdit("old_text is empty; copy the passage to be changed from the file")
    old, new = clean(old_text), clean(new_text)
    if old == new:
        raise NoSuchEdit("old_text and new_text are the same; there is nothing to change")
    if old.encode() not in before and b"\r\n" in before:
        old, new = (text.replace("\r\n", "\n").replace("\n", "\r\n") for text in (old, new))
    offsets = _occurrences(before, old.encode())
    if not offsets:
        raise NoSuchEdit(f"{name} does not contain old_text. {_nearest(decoded(before), old)}")
    if len(offsets) > 1:
        raise NoSuchEdit(_ambiguous(before, offsets, name))
    return before[: offsets[0]] + new.encode() + before[offsets[0] + len(old.encode()) :]


def append_lines(before: bytes, text: str, name: str) -> bytes:
    """Appends `text` in the file's line ends. Raises `UnreadableFile` for binary data."""
    text_of(before, name)
    end_of_line = b"\r\n" if b"\r\n" in before else b"\n"
    new = clean(text).strip("\n").encode().replace(b"\r\n", b"\n").replace(b"\n", end_of_line)
    end = b"" if before.endswith(b"\n") or not before else end_of_line
    gap = gap_before_entry(decoded(before + end).replace("\r\n", "\n")).encode().replace(b"\n", end_of_line)
    return before + end + gap + new + end_of_line


def _occurrences(data: bytes, part: bytes, most: int = 6) -> list[int]:
    offsets: list[int] = []
    offset = data.find(part)
    while offset >= 0 and len(offsets) < most:
        offsets.append(offset)
        offset = data.find(part, offset + 1)
    return offsets


def _ambiguous(data: bytes, offsets: list[int], name: str) -> str:
    numbers = [data.count(b"\n", 0, offset) + 1 for offset in offsets]
    lines = decoded(data).split("\n")
    shown = "\n".join(f"{number}: {lines[number - 1].strip()[:_LINE_CHARS]}" for number in dict.fromkeys(numbers))
    where = ", ".join(map(str, numbers))
    return f"old_text is in {name} more than once (lines {where}); take in more of the text around it:\n{shown}"


def _nearest(text: str, wanted: str) -> str:
    """Quotes the most similar passage. Common letter pairs preselect, since comparing is slow."""
    lines = text.split("\n")
    height = min(len(wanted.strip("\n").split("\n")), 40)
    pairs = [_pairs(line) for line in lines]
    target = _pairs(wanted)
    starts = range(max(1, len(lines) - height + 1))
    rough = [(len(target & set().union(*pairs[start : start + height])), -start) for start in starts]
    best_score, best = 0.0, 0
    for common, negative in sorted(rough, reverse=True)[:12]:
        passage = "\n".join(lines[-negative : -negative + height])[:_COMPARED_CHARS]
        ratio = difflib.SequenceMatcher(None, passage, wanted.strip("\n")[:_COMPARED_CHARS]).ratio()
        score = (ratio + common / max(len(target), 1)) / 2
        if score > best_score:
            best_score, best = score, -negative
    if best_score < _LIKE_ENOUGH:
        return "Nothing in it is like it; read the file first."
    passage = "\n".join(lines[best : best + height])
    shown = passage if len(passage) <= _SHOWN_CHARS else passage[:_SHOWN_CHARS] + " […]"
    return f"The nearest passage, at line {best + 1}, is:\n{shown}"


def _pairs(text: str) -> set[str]:
    folded = text.casefold()
    return {folded[at : at + 2] for at in range(len(folded) - 1)}
