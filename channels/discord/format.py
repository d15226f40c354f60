"""Markdown in Discord's dialect; what it lacks becomes plain characters.

Rules from Discord's clients (simple-markdown), see https://support.discord.com/hc/en-us/articles/210298617.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from channels.table import draw_table
from channels.text import (
    Block,
    CodeBlock,
    CodeSpan,
    Formula,
    Heading,
    Inline,
    Link,
    ListBlock,
    Mark,
    Marked,
    Paragraph,
    QuoteBlock,
    Rule,
    Table,
    Text,
    clean,
    parse,
    spelled_out,
    utf16_len,
    visible,
    web_host,
)

MAX_TEXT = 2000
"""Characters of a message; counted in UTF-16 units, which are never fewer than Discord's count."""

_RULE = "—" * 10
_DEEPEST_HEADING = 3
_MARKS = {Mark.STRONG: "**", Mark.EMPHASIS: "*", Mark.STRIKE: "~~", Mark.SPOILER: "||"}
_ZERO_WIDTH = "\u200b"

_ADDRESS = re.compile(r"https?://[^\s<>]+")
_SPECIAL = re.compile(r"[\\*`_]|~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\||<(?=[@#/]|a?:\w|t:|https?:)")
_SPECIAL_IN_LABEL = re.compile(rf"{_SPECIAL.pattern}|\[")
_LINE_START = re.compile(r"^([ \t]*)(?=(?:#{1,3}|-#|>{1,3}|-|\+)(?:[ \t]|$))", re.MULTILINE)
_NUMBER_START = re.compile(r"^([ \t]*\d{1,9})(?=[.)](?:[ \t]|$))", re.MULTILINE)
_CLOSING = re.compile(r"(?<!#)#++$")
"""Discord ignores these at the end of a heading."""
_LANGUAGE = re.compile(r"[A-Za-z0-9_+\-.#]+")
_FENCE = "```"


@lru_cache(maxsize=256)
def rendered(markdown: str) -> str:
    """The text to send, cached: a piece is measured when cut, and rendered when sent."""
    source = clean(markdown)
    blocks = parse(source)
    if not any(map(_is_seen, blocks)):  # Markdown that shows nothing (an empty heading) is shown as it was written
        return _lines_escaped(_escaped(source))
    return "\n".join(_blocks(blocks))


def length(markdown: str) -> int:
    return utf16_len(rendered(markdown))


def _is_seen(block: Block) -> bool:
    match block:
        case Paragraph(inlines) | Heading(_, inlines):
            return bool(visible(inlines).strip())
        case CodeBlock(text):
            return bool(text.strip())
        case QuoteBlock(blocks):
            return any(isinstance(inner, QuoteBlock) or _is_seen(inner) for inner in blocks)
        case _:
            return True


def _blocks(blocks: Sequence[Block], *, apart: bool = True, nested: bool = False) -> list[str]:
    lines: list[str] = []
    for block in blocks:
        if lines and apart:
            lines.append("")
        lines.extend(_block(block, nested=nested))
    return lines


def _block(block: Block, *, nested: bool) -> list[str]:
    match block:
        case Paragraph(inlines):
            return _lines(inlines)
        case Heading(level, inlines):
            if nested or level > _DEEPEST_HEADING:
                return [" ".join(_lines((Marked(Mark.STRONG, inlines),)))]
            title = " ".join(_lines(inlines))
            if not title.strip():
                return [""]
            title = _CLOSING.sub(lambda match: "\\#" * len(match[0]), title)
            return [f"{'#' * level} {title}"]
        case ListBlock():
            return _list_lines(block)
        case CodeBlock(text, language):
            return _code_lines(text, language)
        case Table():
            return _code_lines("\n".join(draw_table(block)), "")
        case QuoteBlock(blocks):
            return [f"> {line}" for line in _blocks(blocks, nested=nested) or [""]]
        case Rule():
            return [_RULE]


def _list_lines(block: ListBlock) -> list[str]:
    lines: list[str] = []
    for number, item in enumerate(block.items, block.start or 0):
        if lines and not block.tight:
            lines.append("")
        mark = "- " if block.start is None else f"{number}. "
        content = _blocks(item, apart=not block.tight, nested=True) or [""]
        if content[0].startswith(_FENCE):
            content.insert(0, "")
        lines.extend(_indented(content, mark))
    return lines


def _indented(lines: Sequence[str], mark: str) -> list[str]:
    """Code keeps its margin for copying."""
    indented: list[str] = []
    in_code = False
    for index, line in enumerate(lines):
        is_fence = line.startswith(_FENCE)
        if index == 0:
            indented.append((mark + line).rstrip() if line else mark + _ZERO_WIDTH)
        else:
            indented.append(line if in_code or is_fence or not line else " " * len(mark) + line)
        in_code ^= is_fence
    return indented


def _code_lines(text: str, language: str) -> list[str]:
    """A zero-width character breaks fences inside the code: Discord knows only fences of three characters."""
    inside = text.replace(_FENCE, f"`{_ZERO_WIDTH}`{_ZERO_WIDTH}`")
    inside = inside + _ZERO_WIDTH if inside.endswith("`") or not inside.strip() else inside
    name = language if _LANGUAGE.fullmatch(language) else ""
    return [_FENCE + name, *inside.split("\n"), _FENCE]


def _lines(inlines: Sequence[Inline]) -> list[str]:
    return _lines_escaped(_inlines(inlines, frozenset())).split("\n")


def _lines_escaped(text: str) -> str:
    return _NUMBER_START.sub(r"\1\\", _LINE_START.sub(r"\1\\", text))


def _inline(inline: Inline, around: frozenset[Mark]) -> str:
    match inline:
        case Text(text):
            return _escaped(text)
        case Formula():
            return _escaped(inline.shown)
        case CodeSpan(text):
            return _code_span(text)
        case Marked(mark, inner):
            content = _inlines(inner, around | {mark})
            plain = mark in around or not content.strip() or _holds(inner, _MARKS[mark][0])
            return content if plain else _between(_MARKS[mark], content)
        case Link(url, inner):
            return _link(url, inner, around)


def _inlines(inlines: Iterable[Inline], around: frozenset[Mark]) -> str:
    """Adjacent marks of the same character are kept apart by a zero-width character."""
    text = ""
    for inline in inlines:
        part = _inline(inline, around)
        if part and text and text[-1] == part[0] and part[0] in "*~`|" and not isinstance(inline, Text):
            text += _ZERO_WIDTH
        text += part
    return text


def _holds(inlines: Iterable[Inline], character: str) -> bool:
    """True if a mark would end inside, in code or an address, where nothing can be escaped."""
    for inline in inlines:
        match inline:
            case CodeSpan(text):
                found = character in text
            case Link(url, inner):
                found = character in url or _holds(inner, character)
            case Marked(_, inner):
                found = _holds(inner, character)
            case Formula():
                found = False
            case Text(text):
                found = any(character in address for address in _ADDRESS.findall(text))
        if found:
            return True
    return False


def _between(mark: str, content: str) -> str:
    bare = content.strip()
    start, end = content.index(bare), content.index(bare) + len(bare)
    before = _ZERO_WIDTH if bare[0] == mark[0] else ""
    after = _ZERO_WIDTH if bare[-1] == mark[0] else ""
    return f"{content[:start]}{mark}{before}{bare}{after}{mark}{content[end:]}"


def _code_span(text: str) -> str:
    flat = text.replace("\n", " ")
    if "`" not in flat:
        return f"`{flat}`" if flat.strip() else _escaped(flat)
    inside = flat.replace("``", f"`{_ZERO_WIDTH}`")
    before, after = (" " if inside.startswith("`") else ""), (" " if inside.endswith("`") else "")
    return f"``{before}{inside}{after}``"


def _link(url: str, inner: Sequence[Inline], around: frozenset[Mark]) -> str:
    """A label that is another address is spelled out: it must not mislead."""
    label = visible(inner)
    if not is_linkable(url):
        return _escaped(spelled_out(label, url))
    if spelled_out(label, url) == url:
        return url
    if "://" in label or "\n" in label:
        return f"{_escaped(label)} ({url})"
    return f"[{_inlines(inner, around)}]({url})"


def is_linkable(url: str) -> bool:
    """True if Discord makes a link of an address."""
    return bool(web_host(url)) and not any(character in "()<>" for character in url)


def _escaped(text: str) -> str:
    """Escapes special characters, except in addresses, which a backslash would break."""
    parts: list[str] = []
    at = 0
    for match in _ADDRESS.finditer(text):
        parts += [_unmarked(text[at : match.start()]), match[0]]
        at = match.end()
    return "".join([*parts, _unmarked(text[at:])])


def _unmarked(text: str) -> str:
    *labelled, rest = text.split("](")
    parts: list[str] = []
    for part in labelled:
        label = max(part.rfind("]"), part.rfind("\n")) + 1
        parts += [_SPECIAL.sub(_backslash, part[:label]), _SPECIAL_IN_LABEL.sub(_backslash, part[label:]), "]("]
    return "".join([*parts, _SPECIAL.sub(_backslash, rest)])


def _backslash(match: re.Match[str]) -> str:
    return "\\" + match[0]
