"""Shows colours and Markdown at terminals that have colours, unless `NO_COLOR` is set."""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping
from typing import TextIO

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import chop_cells
from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.theme import Theme

from channels.formula import readable
from channels.maths import Tex, pieces, protected, restored, restored_address
from channels.text import tokens_of

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
"""Finds where blocks begin."""

_THEME = Theme({"markdown.code": "cyan", "markdown.code_block": "cyan"})
"""Rich's own theme puts black behind code, on light terminals too."""


def is_styled(out: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """True for a terminal with colours; pipes, dumb terminals and those who set NO_COLOR get plain text."""
    if not out.isatty() or environment.get("NO_COLOR") or environment.get("TERM", "dumb") == "dumb":
        return False
    return codecs.lookup(out.encoding or "ascii").name == "utf-8"


def render(out: TextIO, shown: RenderableType) -> str:
    """The text to write to `out`, as wide as it is now, without spaces at the ends of lines."""
    console = Console(file=out, force_terminal=True, highlight=False, markup=False, emoji=False, theme=_THEME)
    with console.capture() as capture:
        console.print(shown)
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def markdown(out: TextIO, text: str) -> str:
    """Markdown as text to write to the terminal `out`."""
    return render(out, _markdown(text))


def rows_of(text: str, columns: int) -> list[str]:
    """The rows that a text takes at a terminal."""
    return [row for line in text.rstrip().split("\n") for row in chop_cells(line, max(columns, 3)) or [""]]


def _markdown(text: str) -> Markdown:
    """The text as Markdown whose lines end where they were written, as in a chat."""
    markdown = Markdown(text, code_theme="ansi_dark", hyperlinks=False)
    markdown.parsed = [part for token in tokens_of(protected(text)) for part in _shown(token)]
    for token in _with_children(markdown.parsed):
        if token.type == "softbreak":
            token.type = "hardbreak"
        elif token.type in ("html_inline", "spoiler_open", "spoiler_close"):
            token.type, token.content, token.nesting = "text", token.content or "||", 0
        token.content = restored(token.content) if token.type != "text" else _readable(token.content)
        if "href" in token.attrs:
            token.attrs["href"] = restored_address(str(token.attrs["href"]))
    return markdown


def _shown(token: Token) -> list[Token]:
    """Makes HTML a paragraph of text, so that it is not left out."""
    if token.type != "html_block":
        return [token]
    inner = [Token("text", "", 0, content=token.content.rstrip("\n"))]
    return [
        Token("paragraph_open", "p", 1),
        Token("inline", "", 0, children=inner),
        Token("paragraph_close", "p", -1),
    ]


def _readable(text: str) -> str:
    return "".join(
        (readable(piece.formula) or piece.written) if isinstance(piece, Tex) else piece for piece in pieces(text)
    )


def _with_children(tokens: list[Token]) -> list[Token]:
    return [part for token in tokens for part in (token, *(token.children or ()))]


def last_block(text: str) -> int:
    """The offset of the last block of Markdown, which may still change as text is added."""
    begins = [token.map[0] for token in _PARSER.parse(text) if token.level == 0 and token.map]
    return sum(len(line) for line in text.splitlines(keepends=True)[: begins[-1]]) if begins else 0
