"""Colours for code and MathML for formulas, in a process of their own: `python -m channels.web.markup`.

Both libraries work with regular expressions on text of others, which may be made to take for ever. Here it can only
block this process, which has limits and is ended by its parent. A line of JSON in,
`{"id", "kind", "language", "text"}`, a line out, `{"id", "html"}`; the HTML is empty where there is nothing better than
the text itself.
"""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sys
from xml.etree import ElementTree

from latex2mathml.converter import convert
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import find_lexer_class_by_name
from pygments.util import ClassNotFound

from channels.json_fields import load_json

SECONDS = 2
"""For one text."""
_MOST_MEMORY = 1 << 29
_ELEMENT = re.compile(
    "math|mi|mn|mo|ms|mtext|mspace|mrow|mfrac|msqrt|mroot|mstyle|mpadded|mphantom|mfenced|menclose|msub|msup|msubsup"
    "|munder|mover|munderover|mmultiscripts|mprescripts|none|mtable|mtr|mtd"
)
_ATTRIBUTE = re.compile(
    "display|mathvariant|stretchy|fence|separator|lspace|rspace|form|accent|accentunder|movablelimits|minsize|maxsize"
    "|symmetric|largeop|linethickness|columnalign|rowalign|columnlines|rowlines|notation|open|close|separators|width"
    "|height|depth|displaystyle|scriptlevel"
)
_NAMESPACE = "http://www.w3.org/1998/Math/MathML"


def coloured(language: str, code: str) -> str:
    """The code as HTML with classes; empty for an unknown language."""
    try:
        lexer = find_lexer_class_by_name(language)(stripnl=False, ensurenl=False)
    except ClassNotFound:
        return ""
    html = str(highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="c-")))
    return html if code.endswith("\n") else html.removesuffix("\n")


def mathml(latex: str, *, block: bool) -> str:
    """The formula as MathML, with known elements and attributes only; empty if it is none."""
    root = ElementTree.fromstring(convert(latex, display="block" if block else "inline"))
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{_NAMESPACE}}}")
        if not _ELEMENT.fullmatch(element.tag):
            return ""
        for name in [name for name in element.attrib if not _ATTRIBUTE.fullmatch(name)]:
            del element.attrib[name]
    return ElementTree.tostring(root, encoding="unicode") if root.tag == "math" else ""


def answer(request: dict[str, str]) -> str:
    """The HTML for a request. Never raises: it is empty where a library fails."""
    try:
        if request["kind"] == "code":
            return coloured(request["language"], request["text"])
        return mathml(request["text"], block=request["kind"] == "block")
    except Exception:
        return ""


def main() -> None:
    _limit()
    for line in sys.stdin:
        if hasattr(signal, "alarm"):
            signal.alarm(2 * SECONDS)  # ends this process, also one whose parent has gone
        request = load_json(line)
        print(json.dumps({"id": request["id"], "html": answer(request)}), flush=True)
        if hasattr(signal, "alarm"):
            signal.alarm(0)


def _limit() -> None:
    try:
        import resource  # noqa: PLC0415 (not on every system)
    except ImportError:
        return
    for limit, most in ((resource.RLIMIT_AS, _MOST_MEMORY), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))


if __name__ == "__main__":
    main()
