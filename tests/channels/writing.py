"""Texts as models write them, for hypothesis, and the normal form in which what was written is what is seen.

The normal form of a text: its letters, digits and pictures, in order. White space at a cut, marks of Markdown (that a
cut may lay bare) and what a platform draws around a list or a table are not in it. So it is the same for the words that
were meant and for all messages together that a reader sees, whatever the split.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import strategies as st

WORDS = (
    *(
        "word",
        "snake_case",
        "__init__",
        "2*3*4",
        "x",
        "a||b",
        "Straße",
        "重要",
        "「大切」な",
        "です。",
        "강조는",
        "ไทย",
    ),
    *("مرحبا", "שלום", "हिन्दी", "🙂", "👩‍👩‍👧", "🇩🇪", "end.", "(so)", "5", "C++", "a/b", "&", "<b>", "#1"),
)


def normal_form(texts: Iterable[str]) -> str:
    return "".join(
        character
        for text in texts
        for character in text
        if unicodedata.category(character)[0] in "LN" or _drawn(character)
    )


def _drawn(character: str) -> bool:
    return unicodedata.category(character) == "So"


@dataclass(frozen=True)
class Written:
    """Lines of Markdown, and the words that they are to show."""

    lines: tuple[str, ...]
    words: str
    is_list: bool = False

    @property
    def markdown(self) -> str:
        return "\n".join(self.lines)


def _marked(word: str, mark: str) -> tuple[str, str]:
    """A phrase in Markdown, and its words."""
    if mark == "link":
        return f"[{word}](https://example.org/?)", word
    return f"{mark}{word}{mark}", word


_word = st.sampled_from(WORDS)
_letters = st.sampled_from(("word", "two words", "重要", "שלום", "snake_case", "🙂", "three long words"))
_phrase = st.one_of(
    _word.map(lambda word: (word, word)),
    st.builds(_marked, _letters, st.sampled_from(("**", "*", "`", "~~", "||"))),
    st.sampled_from((("un**believ**able", "unbelievable"), ("__strong__", "strong"), ("fan*tas*tic", "fantastic"))),
    st.builds(_marked, st.sampled_from(("label", "重要", "مرحبا")), st.just("link")),
)


def _line(phrases: list[tuple[str, str]]) -> tuple[str, str]:
    return " ".join(markdown for markdown, _ in phrases), " ".join(words for _, words in phrases)


_text = st.lists(_phrase, min_size=1, max_size=8).map(_line)


def _paragraph(lines: list[tuple[str, str]]) -> Written:
    """No line begins with what would make it another kind of block."""
    return Written(tuple(f"so {markdown}" for markdown, _ in lines), "".join(f"so{words}" for _, words in lines))


def _heading(level: int, text: tuple[str, str]) -> Written:
    return Written((f"{'#' * level} so {text[0]}",), f"so{text[1]}")


def _code(lines: list[str], language: str) -> Written:
    """Not without code: then its language is all there is to see."""
    return Written(("```" + language, *lines, "so", "```"), "".join(lines) + "so")


def _table(rows: list[list[str]]) -> Written:
    """Its header is drawn again where it is cut, so nothing of it is in the normal form."""
    cells = tuple("| " + " | ".join(row) + " |" for row in rows)
    return Written(("| ! | !! |", "|---|--:|", *cells), "".join(cell for row in rows for cell in row))


def _quote(blocks: list[Written]) -> Written:
    inner = _one_after_another(blocks)
    return Written(tuple(f"> {line}".rstrip() for line in inner.lines), inner.words)


def _list(items: list[list[Written]], ordered: bool) -> Written:
    lines: list[str] = []
    words = ""
    for number, blocks in enumerate(items, 1):
        mark = f"{number}. " if ordered else "- "
        inner = _one_after_another(blocks)
        first, *others = inner.lines
        lines += [mark + first, *(" " * len(mark) + line if line else "" for line in others)]
        words += (str(number) if ordered else "") + inner.words
    return Written(tuple(lines), words, is_list=True)


def _one_after_another(blocks: list[Written]) -> Written:
    """Two lists without anything between them would be one."""
    lines: list[str] = []
    after_list = False
    for block in blocks:
        lines += ["", "---", ""] if after_list and block.is_list else [""] if lines else []
        lines += block.lines
        after_list = block.is_list
    return Written(tuple(lines), "".join(block.words for block in blocks))


_leaf = st.one_of(
    st.builds(_paragraph, st.lists(_text, min_size=1, max_size=4)),
    st.builds(_heading, st.integers(1, 4), _text),
    st.builds(
        _code,
        st.lists(
            st.sampled_from(("x = 1", "    return 界", "", "# so", "- no list", "**no**")), min_size=1, max_size=9
        ),
        st.sampled_from(("", "py")),
    ),
    st.builds(
        _table,
        st.lists(st.lists(st.sampled_from(("tea", "3", "緑茶", "🙂")), min_size=2, max_size=2), min_size=1, max_size=6),
    ),
    st.just(Written(("---",), "")),
)
_plain_leaf = st.builds(_paragraph, st.lists(_text, min_size=1, max_size=2))


def _containers(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    item = st.builds(lambda first, more: [first, *more], _plain_leaf, st.lists(inner, max_size=2))
    return st.one_of(
        st.builds(_list, st.lists(item, min_size=1, max_size=4), st.booleans()),
        st.builds(_quote, st.lists(inner, min_size=1, max_size=3)),
    )


WRITTEN = st.lists(st.recursive(_leaf, _containers, max_leaves=4), min_size=1, max_size=4).map(_one_after_another)
"""Whole answers: paragraphs, headings, lists and quotes in each other, code, tables, in many scripts."""
