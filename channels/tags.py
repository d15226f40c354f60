"""HTML that models write in their Markdown (`<br>`, `<sub>2</sub>`, `<details>`), as tokens of Markdown. What stands
alone (`the <b> tag`) and what does more than look stays as it was written. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from channels.formula import script

FROM_TAG = "tag"
"""`Token.info` of a mark that was a tag."""
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*+)([^<>]*+)>")
_HREF = re.compile(r"""\shref[ ]?=[ ]?(?:"([^"]{0,2000})"|'([^']{0,2000})')""", re.IGNORECASE)
_MARKS = {
    **dict.fromkeys(("b", "strong", "mark", "summary", "h1", "h2", "h3", "h4", "h5", "h6"), ("strong", "**")),
    **dict.fromkeys(("i", "em", "u", "ins", "cite", "dfn", "var"), ("em", "*")),
    **dict.fromkeys(("s", "strike", "del"), ("s", "~~")),
    "tg-spoiler": ("spoiler", "||"),
    "a": ("link", ""),
}
_CODE = frozenset({"code", "kbd", "samp", "tt"})
_SCRIPTS = {"sub": False, "sup": True}
_OWN_LINE = frozenset(
    {"p", "div", "details", "summary", "center", "section", "ul", "ol", "blockquote", "h1", "h2", "h3"}
)
_OWN_LINE |= {"h4", "h5", "h6"}
_LOOKS = frozenset({"span", "font", "small", "big", "abbr", "q"})
_PAIRED = _MARKS.keys() | _CODE | _SCRIPTS.keys() | _OWN_LINE | _LOOKS | {"li"}


def without_tags(tokens: Sequence[Token], parser: MarkdownIt) -> list[Token]:
    """`parser` reads what stands in a block of HTML; it knows no such blocks."""
    blocks = [token.content for token in tokens if token.type == "html_block"]
    opened, closed = (
        {found[2].lower() for text in blocks for found in _TAG.finditer(text) if bool(found[1]) is end}
        for end in (False, True)
    )
    across = opened & closed & _OWN_LINE
    return list(_blocks(tokens, parser, across))


def _blocks(tokens: Sequence[Token], parser: MarkdownIt, across: set[str]) -> Iterator[Token]:
    for token in tokens:
        if token.type == "inline":
            token.children = _inline(token.children or [], set())
        if token.type == "html_block" and _is_harmless(token.content, across):
            yield from _opened(token, parser, across)
        else:
            yield token


def _is_harmless(text: str, across: set[str]) -> bool:
    """True if all its tags are ours to draw, and have their ends."""
    tags = list(_TAG.finditer(text))
    starts, ends = (Counter(found[2].lower() for found in tags if bool(found[1]) is end) for end in (False, True))
    names = starts.keys() | ends.keys()
    alone = {name for name in names - across if starts[name] != ends[name]} - {"br"}
    return "<!" not in text and "<?" not in text and not alone and names <= _PAIRED | {"br"}


def _opened(block: Token, parser: MarkdownIt, across: set[str]) -> Iterator[Token]:
    """What stands in a block of HTML."""
    first = block.map[0] if block.map else 0
    inner = parser.parse(block.content)
    for token in inner:
        token.level += block.level
        token.map = [first + line for line in token.map] if token.map else None
        if token.type == "inline":
            token.children = _inline(token.children or [], across)
    for at, token in enumerate(inner):
        around = inner[max(0, at - 1) : at + 2]
        emptied = any(one.type == "inline" and not _shows(one) for one in around)
        if not (emptied and token.type in ("paragraph_open", "inline", "paragraph_close")):
            yield token


def _shows(inline: Token) -> bool:
    return any(child.content.strip() for child in inline.children or [])


def _inline(tokens: Sequence[Token], across: set[str]) -> list[Token]:
    if not any(token.type == "html_inline" for token in tokens):
        return list(tokens)
    ends = _pairs(tokens)
    closing = set(ends.values())
    out: list[Token] = []
    skip_to = 0
    for at, token in enumerate(tokens):
        if at < skip_to:
            continue
        found = _TAG.fullmatch(token.content) if token.type == "html_inline" else None
        name = found[2].lower() if found else ""
        end = ends.get(at, -1)
        if name == "br":
            out.append(Token("hardbreak", "br", 0))
        elif not found or (end < 0 and at not in closing and name not in across):
            out.append(token)
        elif end > at and name in _SCRIPTS and _is_text(tokens[at + 1 : end]):
            words = "".join(one.content for one in tokens[at + 1 : end])
            out.append(_text(script(words, raised=_SCRIPTS[name])))
            skip_to = end + 1
        elif end > at and name in _CODE and _is_text(tokens[at + 1 : end]):
            out.append(
                Token(
                    "code_inline", "code", 0, content="".join(one.content for one in tokens[at + 1 : end]), markup="`"
                )
            )
            skip_to = end + 1
        else:
            out += _drawn(name, found, is_end=bool(found[1]))
    return _trimmed(out)


def _pairs(tokens: Sequence[Token]) -> dict[int, int]:
    """Where each tag that is open ends, in the same mark of Markdown."""
    ends: dict[int, int] = {}
    around: list[tuple[list[tuple[str, int]], Counter[str]]] = [([], Counter())]
    for at, token in enumerate(tokens):
        if token.nesting == 1:
            around.append(([], Counter()))
        elif token.nesting == -1:
            around.pop()
        elif token.type == "html_inline" and (found := _TAG.fullmatch(token.content)):
            name, (still_open, counts) = found[2].lower(), around[-1]
            if name not in _PAIRED:
                continue
            if not found[1]:
                still_open.append((name, at))
                counts[name] += 1
            while found[1] and counts[name]:
                inner, begun = still_open.pop()
                counts[inner] -= 1
                if inner == name:
                    ends[begun] = at
                    break
    return ends


def _drawn(name: str, tag: re.Match[str], *, is_end: bool) -> Iterator[Token]:
    if name in _OWN_LINE and not is_end:
        yield Token("softbreak", "br", 0)
    if name == "li":
        yield from [] if is_end else [Token("softbreak", "br", 0), _text("• ")]
    elif name == "q":
        yield _text("”" if is_end else "“")
    elif name in _MARKS:
        kind, markup = _MARKS[name]
        href = _HREF.search(tag[3])
        attrs: dict[str, str | int | float] = {"href": unescape(href[1] or href[2] or "")} if href else {}
        drawn_as = "a" if kind == "link" else kind
        token = Token(f"{kind}_{'close' if is_end else 'open'}", drawn_as, -1 if is_end else 1, attrs, markup=markup)
        yield replace(token, info=FROM_TAG)
    if name in _OWN_LINE and is_end:
        yield Token("softbreak", "br", 0)


def _text(words: str) -> Token:
    return Token("text", "", 0, content=words)


def _is_text(tokens: Sequence[Token]) -> bool:
    return all(one.type in ("text", "text_special") for one in tokens)


def _trimmed(tokens: list[Token]) -> list[Token]:
    """Without ends of lines at both ends, and one after another from tags."""
    kept: list[Token] = []
    for token in tokens:
        if token.type == "softbreak" and (not kept or kept[-1].type in ("softbreak", "hardbreak")):
            continue
        kept.append(token)
    while kept and kept[-1].type == "softbreak":
        kept.pop()
    return kept
