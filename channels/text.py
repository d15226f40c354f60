"""Markdown as a small tree to render from. Text that has no meaning there (raw HTML, link definitions, `__init__`) is
kept as written; only `<br>` in a cell of a table, which can't be written otherwise, is a line break."""

from __future__ import annotations

import builtins
import enum
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from channels.delimiters import extend, is_inside_word
from channels.formula import readable
from channels.maths import Tex, pieces, protected, restored, restored_address

_DEEPEST = 60
"""Levels of nesting. The parser drops deeper ones, so such a text is shown as written."""

_UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PIPE = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br[ \t]*+/?>", re.IGNORECASE)
_PYTHON_NAMES = frozenset(
    name for kind in vars(builtins).values() if isinstance(kind, type) for name in dir(kind) if name.startswith("__")
) | {f"__{name}__" for name in ("all", "author", "debug", "file", "import", "main", "path", "post_init", "version")}
"""Names kept as written; other words between such marks are strong."""


def clean(text: str) -> str:
    """Text for UTF-8: line ends become `\\n`, control characters are removed, surrogate pairs joined, lone ones
    U+FFFD."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNSENDABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def utf16_len(text: str) -> int:
    return len(text) + sum(1 for character in text if character > "\uffff") if not text.isascii() else len(text)


def web_host(url: str) -> str:
    """The host of an http or https address; empty for an address that no platform links."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    return host if parts.scheme in ("http", "https") and not any(map(str.isspace, url)) else ""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class CodeSpan:
    text: str


class Mark(enum.StrEnum):
    STRONG = "strong"
    EMPHASIS = "emphasis"
    STRIKE = "strike"
    SPOILER = "spoiler"


@dataclass(frozen=True, slots=True)
class Marked:
    mark: Mark
    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    tex: Tex

    @property
    def shown(self) -> str:
        return readable(self.tex.formula) or self.tex.written


Inline = Text | CodeSpan | Marked | Link | Formula
"""A line break inside a paragraph is a `Text("\\n")`."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class ListBlock:
    start: int | None
    """The first number, None for bullets."""
    tight: bool
    """No blank lines between the items."""
    items: tuple[tuple[Block, ...], ...]


class Align(enum.StrEnum):
    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


Cell = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The first of `rows` is the header."""

    aligns: tuple[Align, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    text: str
    language: str


@dataclass(frozen=True, slots=True)
class QuoteBlock:
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    pass


Block = Paragraph | Heading | ListBlock | Table | CodeBlock | QuoteBlock | Rule


def parse(markdown: str) -> tuple[Block, ...]:
    """CommonMark with tables, strikethrough and `||spoilers||`, also in unspaced scripts. Never raises."""
    source = protected(markdown)
    tokens = tokens_of(source)
    if any(token.level >= _DEEPEST - 2 for token in tokens):
        return (Paragraph((Text(markdown),)),)
    return _Reader(tokens, source.split("\n")).blocks()


def tokens_of(source: str) -> list[Token]:
    """The parser's tokens; `<br>` in a cell of a table is a line break."""
    tokens = _parser().parse(source)
    for cell, inline in pairwise(tokens):
        for child in (inline.children or []) if cell.type in ("th_open", "td_open") else []:
            if child.type == "html_inline" and _BREAK.fullmatch(child.content):
                child.type, child.tag, child.content = "hardbreak", "br", ""
    return tokens


def visible(inlines: Iterable[Inline]) -> str:
    """The text without marks; a link is its label and, if different, its address."""
    return "".join(_visible(inline) for inline in inlines)


def _visible(inline: Inline) -> str:
    match inline:
        case Text(text) | CodeSpan(text):
            return text
        case Formula():
            return inline.shown
        case Marked(_, inlines):
            return visible(inlines)
        case Link(url, inlines):
            return spelled_out(visible(inlines), url)


def spelled_out(label: str, url: str) -> str:
    """`label (url)`, or only the address if the label adds nothing."""
    if not label.strip() or url in (label, f"mailto:{label}"):
        return label.strip() or url
    return f"{label} ({url})"


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    parser.disable(["reference"])  # an unused definition would vanish
    extend(parser)
    return parser


class _Reader:
    def __init__(self, tokens: Sequence[Token], source: Sequence[str]) -> None:
        self._tokens = iter(tokens)
        self._source = source

    def blocks(self, until: str = "") -> tuple[Block, ...]:
        """Blocks up to and including the token of type `until`."""
        found: list[Block] = []
        for token in self._tokens:
            if token.type == until:
                break
            block = self._block(token)
            if block is not None:
                found.append(block)
        return tuple(found)

    def _block(self, token: Token) -> Block | None:
        match token.type:
            case "paragraph_open":
                return Paragraph(self._inlines("paragraph_close"))
            case "heading_open":
                return Heading(int(token.tag[1:]), self._inlines("heading_close"))
            case "bullet_list_open":
                return self._list(None, "bullet_list_close")
            case "ordered_list_open":
                return self._list(int(token.attrs.get("start", 1)), "ordered_list_close")
            case "table_open":
                return self._table()
            case "blockquote_open":
                return QuoteBlock(self.blocks("blockquote_close"))
            case "fence":
                return _code_block(token)
            case "code_block":
                return CodeBlock(restored(token.content.removesuffix("\n")), "")
            case "hr":
                return Rule()
            case "html_block":
                return Paragraph((Text(restored(token.content.rstrip("\n"))),))
            case _:
                raise AssertionError(f"the parser made a block of an unknown kind: {token.type}")

    def _inlines(self, until: str) -> tuple[Inline, ...]:
        found: tuple[Inline, ...] = ()
        for token in self._tokens:
            if token.type == until:
                break
            found += inlines_of(token.children or [])
        return found

    def _list(self, start: int | None, until: str) -> ListBlock:
        items: list[tuple[Block, ...]] = []
        tight = True
        for token in self._tokens:
            if token.type == until:
                break
            inner: list[Block] = []
            for child in self._tokens:
                if child.type == "list_item_close":
                    break
                tight = tight and not (child.type == "paragraph_open" and not child.hidden)
                block = self._block(child)
                if block is not None:
                    inner.append(block)
            items.append(tuple(inner))
        return ListBlock(start, tight, tuple(items))

    def _table(self) -> Table:
        aligns: list[Align] = []
        rows: list[list[Cell]] = []
        line = ""
        for token in self._tokens:
            match token.type:
                case "table_close":
                    break
                case "tr_open":
                    rows.append([])
                    line = self._source[token.map[0]] if token.map else ""
                case "tr_close":
                    if surplus := _cells(line)[len(aligns) :]:  # the parser drops cells without a header
                        rows[-1][-1] += tuple(_texts(" | " + " | ".join(surplus)))
                case "th_open" | "td_open":
                    if token.type == "th_open":
                        style = str(token.attrs.get("style", "text-align:left"))
                        aligns.append(Align(style.removeprefix("text-align:")))
                    rows[-1].append(self._inlines(token.type.replace("open", "close")))
                case _:
                    pass
        return Table(tuple(aligns), tuple(tuple(row) for row in rows))


def _code_block(token: Token) -> CodeBlock:
    """Further words of the fence, or a language without code, become a line of the code, so as not to be lost."""
    language, _, rest = restored(token.info).strip().partition(" ")
    lines = [line for line in (rest.strip(), restored(token.content).removesuffix("\n")) if line]
    return CodeBlock("\n".join(lines) or language, language)


def _cells(line: str) -> list[str]:
    inner = re.sub(r"^[ \t>]*\|?|(?<!\\)\|[ \t]*$", "", line)
    return [cell.strip() for cell in _PIPE.split(inner)]


@dataclass(slots=True)
class _Span:
    """An open mark or link."""

    opener: Token | None
    before: str
    """The character in front of it."""
    _found: list[Inline] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)

    def add(self, inline: Inline) -> None:
        if isinstance(inline, Text):
            self._text.append(inline.text)
        else:
            self._end_text()
            self._found.append(inline)

    @property
    def inlines(self) -> list[Inline]:
        self._end_text()
        return self._found

    def _end_text(self) -> None:
        self._found += _texts("".join(self._text))
        self._text = []


def _texts(text: str) -> Iterator[Text | Formula]:
    for piece in pieces(text):
        if isinstance(piece, Tex):
            yield Formula(piece)
        elif piece:
            yield Text(piece)


def inlines_of(tokens: Sequence[Token]) -> tuple[Inline, ...]:
    stack = [_Span(None, "")]
    last = ""
    for token, follows in _with_next_character(tokens):
        match token.type:
            case "text" | "text_special" | "html_inline":
                stack[-1].add(Text(token.content))
                last = token.content[-1:] or last
            case "softbreak" | "hardbreak":
                stack[-1].add(Text("\n"))
                last = "\n"
            case "code_inline":
                stack[-1].add(CodeSpan(restored(token.content)))
                last = token.content[-1:]
            case "image":
                address = restored_address(str(token.attrs.get("src", "")))
                label = restored(token.content) or address
                stack[-1].add(Link(address, (Text(label),)))
                last = label[-1:]
            case _ if token.nesting == 1:
                stack.append(_Span(token, last))
            case _:
                span = stack.pop()
                for inline in _close(span, follows):
                    stack[-1].add(inline)
    return tuple(stack[0].inlines)


def _with_next_character(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    for index, token in enumerate(tokens):
        following = next((after.content[:1] for after in tokens[index + 1 : index + 4] if after.content), "")
        yield token, following


def _close(span: _Span, follows: str) -> list[Inline]:
    """A name (`__init__`), product (`2*3*4`) or code (`a||b||c`) stays unmarked."""
    assert span.opener is not None
    inlines, markup = span.inlines, span.opener.markup
    if span.opener.type == "link_open":
        return [Link(restored_address(str(span.opener.attrs.get("href", ""))), tuple(inlines))]
    words = visible(inlines)
    in_word = is_inside_word(span.before, follows)
    # Stars multiply beside numbers, or around a one-letter variable.
    is_product = span.before.isdigit() or follows.isdigit() or words.isdigit() or len(words) == 1
    is_code = in_word and (markup[0] in "~|" or is_product)
    if is_code or (markup == "__" and f"__{words}__" in _PYTHON_NAMES):
        return [Text(markup), *inlines, Text(markup)]
    return [Marked(_MARKS[span.opener.type], tuple(inlines))]


_MARKS = {
    "em_open": Mark.EMPHASIS,
    "strong_open": Mark.STRONG,
    "s_open": Mark.STRIKE,
    "spoiler_open": Mark.SPOILER,
}
