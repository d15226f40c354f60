"""Markdown as safe HTML for the page: all text is escaped, and no picture is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape

from channels.text import (
    Align,
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
    visible,
    web_host,
)

_APP_LINK = re.compile("(?:mailto|tel):[^/?#]", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_ADDRESS_ENDS_BEFORE = ".,;:!?'*_~"
_LANGUAGE = re.compile(r"[A-Za-z0-9_+\-.#]{1,40}")
_NOT_IN_ADDRESS = re.compile(r"[\x00-\x20\x7f\\]")
_REVERSING = re.compile("[\u202a-\u202e]")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Characters that change the direction of the text: obsolete ones, all, and all invisible ones."""
_TAG = re.compile(r"<[^<>]*+>")
_MARKS = {
    Mark.STRONG: ("<strong>", "</strong>"),
    Mark.EMPHASIS: ("<em>", "</em>"),
    Mark.STRIKE: ("<s>", "</s>"),
    Mark.SPOILER: ('<span class="spoiler" role="button" tabindex="0">', "</span>"),
}


@lru_cache(maxsize=256)
def rendered(markdown: str) -> str:
    """The HTML of a message. Cached: each opened page shows the same messages."""
    source = clean(markdown)
    html = _blocks(parse(source))
    if "<hr>" not in html and not _TAG.sub("", html).strip():  # an empty heading is shown as it was written
        return f"<p>{_text(source)}</p>"
    return html


def file_name(name: str) -> str:
    """One line, without characters that disguise the name's ending."""
    return " ".join(_TURNING.sub("", name).split()) or "file"


def is_linkable(url: str) -> bool:
    return not _NOT_IN_ADDRESS.search(url) and (bool(web_host(url)) or _APP_LINK.match(url) is not None)


def _blocks(blocks: Iterable[Block], *, tight: bool = False) -> str:
    return "".join(_block(block, tight=tight) for block in blocks)


def _block(block: Block, *, tight: bool) -> str:
    match block:
        case Paragraph(inlines):
            return _inlines(inlines) if tight else f"<p>{_inlines(inlines)}</p>"
        case Heading(level, inlines):
            return f"<h{level}>{_inlines(inlines)}</h{level}>"
        case ListBlock(start, is_tight, items):
            return _list(start, is_tight, items)
        case Table(aligns, rows):
            return _table(aligns, rows)
        case CodeBlock(text, language):
            name = f' data-language="{language}"' if _LANGUAGE.fullmatch(language) else ""
            return f"<pre{name}><code>{_code(text)}</code></pre>"
        case QuoteBlock(blocks):
            return f"<blockquote>{_blocks(blocks)}</blockquote>"
        case Rule():
            return "<hr>"


def _list(start: int | None, tight: bool, items: Sequence[Sequence[Block]]) -> str:
    inner = "".join(_item(_blocks(item, tight=tight)) for item in items)
    if start is None:
        return f"<ul>{inner}</ul>"
    return f"<ol>{inner}</ol>" if start == 1 else f'<ol start="{start}">{inner}</ol>'


def _item(html: str) -> str:
    """An item that begins with `[ ]` or `[x]` is a task."""
    paragraph = "<p>" if html.startswith("<p>") else ""
    mark = html[len(paragraph) : len(paragraph) + 4]
    if mark not in ("[ ] ", "[x] ", "[X] "):
        return f"<li>{html}</li>"
    box = "☐" if mark == "[ ] " else "☑"
    return f'<li class="task">{paragraph}<span class="box">{box}</span> {html[len(paragraph) + 4 :]}</li>'


def _table(aligns: Sequence[Align], rows: Sequence[Sequence[Sequence[Inline]]]) -> str:
    head, *body = rows

    def row(cells: Sequence[Sequence[Inline]], tag: str) -> str:
        drawn = (f'<{tag} class="{align}">{_inlines(cell)}</{tag}>' for align, cell in zip(aligns, cells, strict=False))
        return f"<tr>{''.join(drawn)}</tr>"

    lines = "".join(row(cells, "td") for cells in body)
    return f'<div class="table"><table><thead>{row(head, "th")}</thead><tbody>{lines}</tbody></table></div>'


def _inlines(inlines: Iterable[Inline], *, in_link: bool = False) -> str:
    return "".join(_inline(inline, in_link=in_link) for inline in inlines)


def _inline(inline: Inline, *, in_link: bool) -> str:
    match inline:
        case Text(text):
            return _text(text) if in_link else _with_addresses(_REVERSING.sub("", text))
        case Formula(tex):
            kind = "block" if tex.is_block else "inline"
            return f'<span class="maths" data-kind="{kind}">{escape(_REVERSING.sub("", tex.formula.strip()))}</span>'
        case CodeSpan(text):
            return f"<code>{_code(text)}</code>"
        case Marked(mark, inner):
            before, after = _MARKS[mark]
            return f"{before}{_inlines(inner, in_link=in_link)}{after}"
        case Link(url, inner):
            return _link(url, inner)


def _link(url: str, inner: Sequence[Inline]) -> str:
    """A label that is another address is spelled out, so that it cannot mislead."""
    label = visible(inner)
    if not is_linkable(url):
        return _text(spelled_out(label, url))
    if "://" in _UNSEEN.sub("", label) and label.strip() != url:
        return f"{_text(label)} ({_anchor(url, _text(url))})"
    return _anchor(url, _inlines(inner, in_link=True) if label.strip() else _text(url))


def _anchor(url: str, label: str) -> str:
    return f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer nofollow">{label}</a>'


def _with_addresses(text: str) -> str:
    parts: list[str] = []
    at = 0
    for found in _ADDRESS.finditer(text):
        url = _trimmed(found[0])
        if is_linkable(url):
            parts += [_text(text[at : found.start()]), _anchor(url, _text(url))]
            at = found.start() + len(url)
    return "".join([*parts, _text(text[at:])])


def _trimmed(address: str) -> str:
    surplus = {closing: address.count(closing) - address.count(opening) for opening, closing in ("()", "[]", "{}")}
    end = len(address)
    while end and ((last := address[end - 1]) in _ADDRESS_ENDS_BEFORE or surplus.get(last, 0) > 0):
        if last in surplus:
            surplus[last] -= 1
        end -= 1
    return address[:end]


def _text(text: str) -> str:
    return escape(_REVERSING.sub("", text)).replace("\n", "<br>")


def _code(text: str) -> str:
    """Shows characters that reverse the text by number, so that code reads as it runs."""
    return escape(_TURNING.sub(lambda found: f"[U+{ord(found[0]):04X}]", text))
