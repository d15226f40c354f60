"""Emphasis and links beyond CommonMark: unspaced scripts, spoilers, and a limit for unmatched brackets.

CommonMark takes every letter for the inside of a word, which leaves `**「重要」**は` with its asterisks (see
https://github.com/tats-u/markdown-cjk-friendly).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.rules_inline.state_inline import Delimiter

_UNSPACED = re.compile(r"[\u0e00-\u109f\u1780-\u17ff]")
"""Thai, Lao, Tibetan, Burmese, Khmer."""
_LAST_ADDRESS = "daybook_last_address"
Rule = Callable[[StateInline, bool], bool]


def extend(parser: MarkdownIt) -> None:
    """Adds these rules to a parser, and `||spoilers||` (tokens `spoiler_open`, `spoiler_close`)."""
    inline = parser.inline
    inline.ruler.at("emphasis", _emphasis)
    inline.add_terminator_char("|")
    inline.ruler.at("strikethrough", _doubled)
    inline.ruler.after("emphasis", "spoiler", _doubled)
    inline.ruler2.before("fragments_join", "spoiler", _pair_spoilers)
    inline.ruler.at("link", _only_before_address(link))
    inline.ruler.at("image", _only_before_address(image))


def _only_before_address(rule: Rule) -> Rule:
    """The library rescans the rest for each bracket: some thousands of unmatched brackets would take seconds."""

    def limited(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] not in "[!":
            return False
        known = state.env.get(_LAST_ADDRESS)
        if known is None or known[0] is not state.src:
            known = state.env[_LAST_ADDRESS] = (state.src, state.src.rfind("]("))
        return state.pos < known[1] and rule(state, silent)

    return limited


def is_inside_word(before: str, after: str) -> bool:
    """True inside a word (`2*3*4`, `a_b`) of a spaced script."""
    return all(
        character.isalnum() and not _is_wide(character) and not _UNSPACED.match(character)
        for character in (before, after)
    )


def _is_wide(character: str) -> bool:
    return bool(character) and unicodedata.east_asian_width(character) in "WFH"


@dataclass(frozen=True, slots=True)
class _Run:
    length: int
    opens: bool
    closes: bool


def _scan(state: StateInline, splits_words: bool) -> _Run:
    start, end = state.pos, state.pos
    while end < state.posMax and state.src[end] == state.src[start]:
        end += 1
    before = state.src[start - 1] if start > 0 else " "
    after = state.src[end] if end < state.posMax else " "
    space_before, space_after = isWhiteSpace(ord(before)), isWhiteSpace(ord(after))
    point_before, point_after = _is_punctuation(before), _is_punctuation(after)
    wide_before, wide_after = _is_wide(before), _is_wide(after)
    left = not space_after and (not point_after or wide_after or space_before or point_before or wide_before)
    right = not space_before and (not point_before or wide_before or space_after or point_after or wide_after)
    opens = left and (splits_words or not right or point_before)
    closes = right and (splits_words or not left or point_after)
    return _Run(end - start, opens, closes)


def _is_punctuation(character: str) -> bool:
    return isMdAsciiPunct(ord(character)) or isPunctChar(character)


def _emphasis(state: StateInline, silent: bool) -> bool:
    mark = state.src[state.pos]
    if silent or mark not in "*_":
        return False
    run = _scan(state, splits_words=mark == "*")
    for _ in range(run.length):
        _push(state, mark, run, run.length)
    state.pos += run.length
    return True


def _doubled(state: StateInline, silent: bool) -> bool:
    mark = state.src[state.pos]
    if silent or mark not in "~|":
        return False
    run = _scan(state, splits_words=True)
    if run.length == 2:
        _push(state, mark * 2, run, 0)
    else:
        state.pending += mark * run.length
    state.pos += run.length
    return True


def _push(state: StateInline, text: str, run: _Run, length: int) -> None:
    """`length` 0 disables the rule that makes `***` ambiguous."""
    state.push("text", "", 0).content = text
    state.delimiters.append(Delimiter(ord(text[0]), length, len(state.tokens) - 1, -1, run.opens, run.closes))


def _pair_spoilers(state: StateInline) -> None:
    for delimiters in (state.delimiters, *(meta["delimiters"] for meta in state.tokens_meta if meta)):
        for delimiter in delimiters:
            if delimiter.marker == ord("|") and delimiter.end != -1:
                ends = ((delimiter.token, "spoiler_open", 1), (delimiters[delimiter.end].token, "spoiler_close", -1))
                for index, kind, nesting in ends:
                    token = state.tokens[index]
                    token.type, token.nesting, token.markup, token.content = kind, nesting, "||", ""
