r"""Formulas in a Markdown text: `$$…$$`, `\[…\]` and `\(…\)`. Pure.

Markdown would take their signs for its own (`a_1`, `\(`), so `protected` writes them in characters that mean nothing to
it, and `restored` is needed wherever text leaves the renderer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 2_000
"""Characters of a formula; a longer one is text."""
_BLOCK = {"$$": "$$", "\\[": "\\]"}
_CLOSERS = {**_BLOCK, "\\(": "\\)"}
_MARK = re.compile(r"\$\$|\\\(|\\\[|`+|^[ ]{0,3}(?:```+|~~~+)|\\\\", re.MULTILINE)
_SHIFT = 0xF0000
_HIDDEN = re.compile("[\U000f0020-\U000ffffd]+")
_SAYS_SOMETHING = re.compile(r"[\\^_=+\-*/<>{}()\d|]|^\s*\w\s*$")
"""A formula has a sign or a digit, or is a letter: `$$ and $$` is none."""


def protected(markdown: str) -> str:
    """The text with its formulas out of Markdown's reach."""
    if "$$" not in markdown and "\\(" not in markdown and "\\[" not in markdown:
        return markdown
    parts: list[str] = []
    done = at = 0
    missing: set[str] = set()
    while (found := _MARK.search(markdown, at)) is not None:
        mark = found[0]
        at = found.end()
        if mark == "\\\\" or mark in missing:
            continue
        closer = _CLOSERS.get(mark, mark.strip())
        end = markdown.find(closer, at)
        if end < 0:
            missing.add(mark)
        elif mark not in _CLOSERS:  # code, which stays as it is
            at = end + len(closer)
        elif _is_formula(markdown[at:end]):
            at = end + len(closer)
            parts += [markdown[done : found.start()], _hidden(markdown[found.start() : at])]
            done = at
    return "".join([*parts, markdown[done:]])


def restored(text: str) -> str:
    """The text as it was written."""
    return _HIDDEN.sub(lambda run: "".join(chr(ord(one) - _SHIFT) for one in run[0]), text)


def pieces(text: str) -> Iterator[tuple[str, bool | None]]:
    """The text in pieces: as written, or a formula without its signs, and whether it stands in a line of its own (None:
    no formula)."""
    at = 0
    for run in _HIDDEN.finditer(text):
        yield text[at : run.start()], None
        written, at = restored(run[0]), run.end()
        while written:  # neighbours without a space between
            closer = _CLOSERS.get(written[:2], "")
            end = written.find(closer, 2) if closer else -1
            if end < 0:  # typed in these very characters
                yield written, None
                break
            yield written[2:end], written[:2] in _BLOCK
            written = written[end + 2 :]
    yield text[at:], None


def _is_formula(text: str) -> bool:
    short = len(text) <= LONGEST and "\n\n" not in text and max(text, default=" ") <= "\uffff"
    return short and bool(text.strip()) and _SAYS_SOMETHING.search(text) is not None


def _hidden(text: str) -> str:
    return "".join(chr(ord(one) + _SHIFT) if one >= " " else chr(_SHIFT + 32) for one in text)
