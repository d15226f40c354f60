"""What a person reads where Discord shows a text: its clients' Markdown rules, as far as they change what is seen.

The rules are those of simple-markdown with Discord's own additions; each is tried at a place, in this order.
"""

from __future__ import annotations

import re

_CODE_BLOCK = re.compile(r"```(?:[A-Za-z0-9_+\-.#]+?\n)?\n*([^\n][\s\S]*?)\n*```")
_QUOTE = re.compile(r" *>(?!>>) +[^\n]*(?:\n *>(?!>>) +[^\n]*)*|(?: *> *(?=\n|$))")
_HEADING = re.compile(r" *(?:#{1,3})\s+((?:\\[\s\S]|[^\n\\])+?)#*\s*(?=\n|$)")
_BULLET = re.compile(r"( *)[*-] +(?=[^\n])")
_ESCAPE = re.compile(r"\\([^0-9A-Za-z\s])")
_ADDRESS = re.compile(r"https?://[^\s<]+")
_LINK = re.compile(r"\[((?:\\[\s\S]|[^\[\]\\])+)\]\((https?://[^\s)]+)\)")
_STRONG = re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)")
_UNDERLINE = re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)")
_ITALIC = re.compile(
    r"_((?:__|\\[\s\S]|[^\\_])+?)_\b"
    r"|\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)"
)
_ITALIC_END = re.compile(r"_((?:__|\\[\s\S]|[^\\_])+?)_(?!\w)")
_STRIKE = re.compile(r"~~((?:\\[\s\S]|[^\\])+?)~~")
_SPOILER = re.compile(r"\|\|((?:\\[\s\S]|[^\\])+?)\|\|")
_CODE = re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)")
_OBJECT = re.compile(r"<(?:@[!&]?\d+|#\d+|a?:\w+:\d+|t:-?\d+(?::[A-Za-z])?|/[^:>]+:\d+|https?://[^>\s]+)>")
_MARKED = (_STRONG, _UNDERLINE, _ITALIC, _ITALIC_END, _STRIKE, _SPOILER)


def read(text: str) -> str:
    """The characters that are seen; bullets as `•`, what no writer of plain text wants as ⟨object⟩."""
    return _read(text, quotes=True).replace("\u200b", "")


def _read(text: str, *, quotes: bool, lines: bool = True) -> str:
    out: list[str] = []
    at = 0
    while at < len(text):
        starts_line = lines and (at == 0 or text[at - 1] == "\n")
        if starts_line and quotes and (found := _QUOTE.match(text, at)):
            out.append(_read(re.sub(r"^ *> ?", "", found[0], flags=re.MULTILINE), quotes=False))
        elif starts_line and (found := _HEADING.match(text, at)):
            out.append(_read(found[1], quotes=False, lines=False))
        elif starts_line and (found := _BULLET.match(text, at)):
            out.append(found[1] + "• ")
        elif (found := _CODE_BLOCK.match(text, at)) or (found := _ESCAPE.match(text, at)):
            out.append(found[1])
        elif found := _ADDRESS.match(text, at):
            out.append(found[0])
        elif found := _LINK.match(text, at):
            out.append(_read(found[1], quotes=False, lines=False))
        elif found := next((one for rule in _MARKED if (one := rule.match(text, at))), None):
            out.append(_read(next(filter(None, found.groups())), quotes=False, lines=False))
        elif found := _CODE.match(text, at):
            inner = found[2]
            out.append(re.sub(r"^ (?=`)|(?<=`) $", "", inner))
        elif found := _OBJECT.match(text, at):
            out.append("⟨object⟩")
        else:
            out.append(text[at])
            at += 1
            continue
        at = found.end()
    return "".join(out)
