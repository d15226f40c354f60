r"""Formulas in a Markdown text: `$$…$$`, `\[…\]`, `\(…\)`, `\begin{…}…\end{…}`, and `$…$` where it cannot be money.
Pure.

Markdown would take their signs for its own (`a_1`, `\(`), so `protected` writes them in characters that mean nothing to
it, and `pieces` or `restored` is needed wherever text leaves the parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

LONGEST = 2_000
"""Characters of a formula; a longer one is text."""
_BLOCK = {"$$": "$$", "\\[": "\\]"}
_CLOSERS = {**_BLOCK, "\\(": "\\)", "$": "$"}
_OPENS = re.compile(r"\$|\\\(|\\\[|\\begin\{")
_MARK = re.compile(
    r"\$\$|\$|\\\(|\\\[|\\begin\{[A-Za-z]{1,20}\*?\}|`+|^[ ]{0,3}(?:```+|~~~+)|\\\\|\\\$",
    re.MULTILINE,
)
_SHIFT = 0xF0000
_END = "\U000ffffd"
_HIDDEN = re.compile("[\U000f0009-\U000ffffd]+")
_SAYS_SOMETHING = re.compile(r"[\\^_=+\-*/<>{}()\d|]|^\s*\w\s*$")
"""A formula has a sign or a digit, or is a letter: `$$ and $$` is none."""
_SURELY_MATHS = re.compile(r"(?<!\\)(?:\\[A-Za-z{,;!]|[\^_=<>])")
"""Never between prices, nor in brackets that are only escaped (`\\[1\\] a source`, `\\(see above\\)`)."""
_SIGN = re.compile(r"(?<!\\)[+\-*/|()\[\]]")
_LETTER = re.compile(r"\s*[A-Za-z\u0391-\u03c9]\s*")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_HIDDEN_IN_ADDRESS = re.compile(r"(?:%F3(?:%[89AB][0-9A-F]){3})+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_IN_ADDRESS = frozenset("_/%=&#?")
_QUOTE_MARKS = re.compile(r"^[ ]{0,3}(?:>[ ]?)+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tex:
    written: str
    """With its signs."""
    formula: str
    is_block: bool
    """Stands in a line of its own."""


def protected(markdown: str) -> str:
    """The text with its formulas hidden from Markdown."""
    if not _OPENS.search(markdown) or _HIDDEN.search(
        markdown
    ):  # a text that uses these characters itself has no formulas
        return markdown
    parts: list[str] = []
    done = at = 0
    missing: set[str] = set()
    while (found := _MARK.search(markdown, at)) is not None:
        mark = found[0]
        at = found.end()
        if mark in ("\\\\", "\\$") or mark in missing:
            continue
        if mark[0] not in "\\$":  # code, which stays as it is
            closer = mark.strip()
            end = markdown.find(closer, at)
            if end < 0:
                missing.add(mark)
            else:
                at = end + len(closer)
        elif end := _formula_end(markdown, mark, found.start(), at):
            parts += [markdown[done : found.start()], _hidden(_unquoted(markdown, found.start(), end))]
            done = at = end
    return "".join([*parts, markdown[done:]])


def restored(text: str) -> str:
    """The text as it was written."""
    return _HIDDEN.sub(lambda run: _shown(run[0].replace(_END, "")), text)


def restored_address(url: str) -> str:
    """An address as Markdown reads it: percent-encoded by the parser, and `\\(` is an escaped bracket there."""
    written = _HIDDEN_IN_ADDRESS.sub(lambda run: unquote(run[0]), url)
    return url if written == url else _ESCAPED.sub(r"\1", restored(written))


def pieces(text: str) -> Iterator[str | Tex]:
    """The text in pieces: as written, or a formula."""
    at = 0
    for run in _HIDDEN.finditer(text):
        yield text[at : run.start()]
        *formulas, rest = run[0].split(_END)
        yield from (_tex(_shown(formula)) for formula in formulas)
        yield rest
        at = run.end()
    yield text[at:]


def _tex(written: str) -> Tex:
    opener = next((mark for mark in ("$$", "\\[", "\\(", "$") if written.startswith(mark)), "")
    return Tex(written, written[len(opener) : len(written) - len(opener)], opener in _BLOCK or not opener)


def _formula_end(markdown: str, mark: str, start: int, at: int) -> int:
    """Where the formula ends; 0 if none begins there."""
    limit = at + LONGEST
    if mark.startswith("\\begin"):
        closer = mark.replace("begin", "end", 1)
        end = markdown.find(closer, at, limit)
        while end >= 0 and markdown.count(mark, at, end) > markdown.count(closer, at, end):
            end = markdown.find(closer, end + 1, limit)
    else:
        closer = _CLOSERS[mark]
        end = markdown.find(closer, at, limit)
    after = end + len(closer)
    beside = (markdown[start - 1] if start else " ") + markdown[after : after + 1]
    return after if end >= 0 and _is_formula(markdown[at:end], mark, beside) else 0


def _is_formula(text: str, mark: str, beside: str) -> bool:
    if "\n\n" in text or max(text, default=" ") > "\uffff" or not text.strip():
        return False
    sure = _SURELY_MATHS.search(text) is not None and beside[:1] not in _IN_ADDRESS
    match mark:
        case "$":
            alone = not any(character.isalnum() or character in "$\\" for character in beside)
            return alone and text == text.strip() and "\n" not in text and (sure or bool(_LETTER.fullmatch(text)))
        case "\\[":
            return sure or "\n" in text.strip(" ")
        case "\\(" if beside[:1] in _IN_ADDRESS:
            return False
        case "\\(":
            return sure or bool(_LETTER.fullmatch(text)) or (bool(_SIGN.search(text)) and not _WORD.search(text))
        case _:
            return _SAYS_SOMETHING.search(text) is not None


def _unquoted(markdown: str, start: int, end: int) -> str:
    """The formula without the marks of a quotation at the beginnings of its lines."""
    line = markdown.rfind("\n", 0, start) + 1
    return _QUOTE_MARKS.sub("", markdown[start:end]) if _QUOTE_MARKS.match(markdown, line) else markdown[start:end]


def _hidden(text: str) -> str:
    return "".join(chr(ord(character) + _SHIFT) for character in text if character >= " " or character in "\n\t") + _END


def _shown(text: str) -> str:
    return "".join(chr(ord(character) - _SHIFT) for character in text)
