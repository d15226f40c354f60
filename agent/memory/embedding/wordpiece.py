"""BERT's WordPiece tokenizer, as its authors define it (google-research/bert, `tokenization.py`): text is cleaned,
split at spaces, punctuation and CJK characters, and each word is cut greedily into the longest pieces known."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"
_LONGEST_WORD = 100
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_LEAST_IDEOGRAPHS = 3_000
"""A vocabulary with so many can write Chinese; that of an English model has a few hundred."""


class WordPiece:
    """`vocabulary`: numbers of pieces. Raises `KeyError` where one of the special pieces is not in it."""

    def __init__(self, vocabulary: Mapping[str, int], *, lower: bool) -> None:
        self._vocabulary = vocabulary
        self._lower = lower
        self._unknown, self._begin, self._end = (vocabulary[piece] for piece in (UNKNOWN, BEGIN, END))
        self._pieces = lru_cache(maxsize=20_000)(self._cut)
        self.writes_cjk = sum(len(piece) == 1 and is_cjk(piece) for piece in vocabulary) >= _LEAST_IDEOGRAPHS

    def __call__(self, text: str, most: int) -> list[int]:
        """At most `most` numbers, the marks at both ends among them."""
        found = [self._begin]
        for word in _words(text, lower=self._lower):
            found += self._pieces(word)
            if len(found) >= most:
                break
        return [*found[: most - 1], self._end]

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        found: list[int] = []
        at = 0
        while at < len(word):
            mark = "##" if at else ""
            for end in range(len(word), at, -1):
                piece = self._vocabulary.get(mark + word[at:end])
                if piece is not None:
                    break
            else:
                return (self._unknown,)
            found.append(piece)
            at = end
        return tuple(found)


def is_cjk(char: str) -> bool:
    code = ord(char)
    return code >= 0x3400 and any(first <= code <= last for first, last in _CJK)


def _words(text: str, *, lower: bool) -> Iterator[str]:
    for word in _spaced(text).split():
        yield from _apart(_folded(word) if lower else word)


def _spaced(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(_cleaned(char) for char in text)


def _cleaned(char: str) -> str:
    if char in "\t\n\r" or unicodedata.category(char) == "Zs":
        return " "
    if char in "\0\ufffd" or unicodedata.category(char)[0] == "C":
        return ""
    return f" {char} " if is_cjk(char) else char


def _folded(word: str) -> str:
    low = word.lower()
    if low.isascii():
        return low
    return "".join(char for char in unicodedata.normalize("NFD", low) if unicodedata.category(char) != "Mn")


def _apart(word: str) -> Iterator[str]:
    if word.isalnum():
        yield word
        return
    start = 0
    for at, char in enumerate(word):
        if _is_punctuation(char):
            if start < at:
                yield word[start:at]
            yield char
            start = at + 1
    if start < len(word):
        yield word[start:]


def _is_punctuation(char: str) -> bool:
    return char in _ASCII_PUNCTUATION or (not char.isascii() and unicodedata.category(char)[0] == "P")
