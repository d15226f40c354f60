"""Markdown as text to be read aloud."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from channels.text import (
    Block,
    CodeBlock,
    CodeSpan,
    Formula,
    Heading,
    Inline,
    Link,
    ListBlock,
    Marked,
    Paragraph,
    QuoteBlock,
    Rule,
    Table,
    Text,
    clean,
    parse,
)

MOST_CHARS = 4_000
"""The most that is read aloud; OpenAI's server takes 4,096."""
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"]+", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_SPACES = re.compile(r"[^\S\n]+")
_CLOSES = ".,;:!?)\"'"
_SENTENCE_ENDS = frozenset(".!?…。！？")
_PICTOGRAPHS = frozenset({"So", "Sk", "Cs", "Co", "Cn"})
_JOINERS = frozenset("\u200d\u20e3\ufe0e\ufe0f")


def speakable(markdown: str, most: int = MOST_CHARS) -> str:
    """The words without markup, code, addresses, tables and pictographs, one paragraph a line; may be empty. A longer
    text ends after `most` characters, at the end of a sentence."""
    lines = (_SPACES.sub(" ", line).strip() for line in _lines(parse(clean(markdown))))
    return _cut("\n".join(line for line in lines if any(map(str.isalnum, line))), most)


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph(inlines):
                yield from _words(inlines).split("\n")
            case Heading(_, inlines):
                yield _as_sentence(_words(inlines))
            case QuoteBlock(inner):
                yield from _lines(inner)
            case ListBlock(start, _, items):
                for number, item in enumerate(items, start or 0):
                    first, *more = list(_lines(item)) or [""]
                    if any(map(str.isalnum, first)):
                        yield _as_sentence(first if start is None else f"{number}. {first}")
                    yield from more
            case Table() | CodeBlock() | Rule():
                pass


def _words(inlines: Sequence[Inline]) -> str:
    return _TAG.sub(" ", _ADDRESS.sub(_closing, _without_pictographs("".join(map(_word, inlines)))))


def _word(inline: Inline) -> str:
    match inline:
        case Text(text) | CodeSpan(text):
            return text
        case Formula():
            return inline.shown
        case Marked(_, inlines) | Link(_, inlines):
            return "".join(map(_word, inlines))


def _closing(address: re.Match[str]) -> str:
    """Characters that close a sentence are no part of an address in it."""
    return address[0][len(address[0].rstrip(_CLOSES)) :]


def _without_pictographs(text: str) -> str:
    if text.isascii():
        return text
    return "".join(
        character
        for character in text
        if character not in _JOINERS and unicodedata.category(character) not in _PICTOGRAPHS
    )


def _as_sentence(line: str) -> str:
    """Ends the line with a full stop, so that a voice pauses after a heading or an item of a list."""
    line = line.strip()
    return f"{line}." if line and line[-1].isalnum() else line


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    for at in range(most, most // 2, -1):
        if text[at - 1] == "\n" or text[at - 1] in _SENTENCE_ENDS:
            return text[:at].rstrip()
    return text[:most].rpartition(" ")[0] or text[:most]
