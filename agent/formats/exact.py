"""Text as people see it before they consent to it: all of it, and no two texts alike. Pure.

letters, digits and signs, blanks between them, line ends           as they are
characters without a glyph, that move others, or end a line unseen  \\uXXXX, \\UXXXXXXXX
line ends at the beginning and the end                              ⏎
a back-slash before a u or U, ⏎ itself                              twice; \\u23ce
"""

from __future__ import annotations

import re
import unicodedata

_LINE_END = "\N{RETURN SYMBOL}"
_SEEN = frozenset("LNPSM")
"""First letters of categories that have a glyph…"""
_UNSEEN = re.compile(  # … but for these: Unicode's default-ignorable ones, and the empty pattern of braille
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_ASCII_WORD = re.compile(r"[A-Za-z0-9]")
_BLANKS_AT_END = re.compile(r" ++(?=\n|\Z)")
_PARTS = re.compile(
    r"(?P<slashes>\\++)(?=(?P<letter>[uU])?)|(?P<edge>\A\n++|(?<!\n)\n++\Z)"
    r"|(?P<blanks>(?<! ) ++(?=\n|\Z))|(?P<one>[^!-~\n ])"
)


def exactly(text: str) -> str:
    """The text with all of it visible; different for each text."""
    kinds = _not_seen_in(text)

    def shown(found: re.Match[str]) -> str:
        part = found[0]
        match found.lastgroup:
            case "edge":
                return _LINE_END * len(part)
            case "blanks":
                return "".join(map(_escape, part))
            case "one":
                return part if _is_seen(part, kinds) else _escape(part)
            case _:  # back-slashes, before what could be taken for an escape with them
                end = found.end()
                escaped = found["letter"] or (end < len(text) and text[end] != "\n" and not _stays(text, end, kinds))
                return part * 2 if escaped else part

    return _PARTS.sub(shown, text)


def _stays(text: str, at: int, kinds: frozenset[str]) -> bool:
    character = text[at]
    if character == " ":
        return _BLANKS_AT_END.match(text, at) is None
    return "!" <= character <= "~" or _is_seen(character, kinds)


def _not_seen_in(text: str) -> frozenset[str]:
    """Kinds of characters that could make two texts look alike: marks with several spellings, and letters from right
    to left, which change places with digits and other letters."""
    if text.isascii():
        return frozenset()
    marks = {"M"} if not unicodedata.is_normalized("NFC", text) else set[str]()
    return frozenset(marks | _RIGHT_TO_LEFT if _ASCII_WORD.search(text) else marks)


def _is_seen(character: str, kinds: frozenset[str]) -> bool:
    category = unicodedata.category(character)
    if category[0] not in _SEEN or character == _LINE_END or _UNSEEN.match(character):
        return False
    return unicodedata.normalize("NFC", character) == character and kinds.isdisjoint(
        (category[0], unicodedata.bidirectional(character))
    )


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def fenced(text: str) -> str:
    """A block of code in Markdown that shows a text exactly; empty for none."""
    return block_of(exactly(text)) if text else ""


def block_of(shown: str) -> str:
    """A block of code in Markdown around text that may be shown as it is."""
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{shown}\n{fence}"


_MARKDOWN = re.compile(r"[\\`*_~#|\[\]<>]")


def on_a_line(text: str, longest: int = 2_000) -> str:
    """The text exactly, for one line of Markdown; the beginning of a long text."""
    shown = exactly(text).replace("\n", _LINE_END)
    shown = shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
    return _MARKDOWN.sub(r"\\\g<0>", shown)
