"""Marks untrusted text as data, which cannot close its mark, open another, or pass for a header; and reads messages in
which it was marked (written by `context.header`)."""

from __future__ import annotations

import re
from datetime import date

from agent.formats.plain_text import repair_surrogates

_TAG = re.compile(r"<(?=\s*+/?+\s*+daybook-)", re.IGNORECASE)
_HEADER = re.compile(r"^([^\S\n]*+)\[(?=\s*+\d{4}-\d{2}-\d{2}\b)", re.MULTILINE)
_OPENING = re.compile(r"<daybook-([a-z]++)[^<>]*+>\n")
_LINE_ENDS = dict.fromkeys(map(ord, "\v\f\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
_UNSAFE_IN_LABEL = re.compile(r'[\s<>\[\]"·\x00-\x1f\x7f\u2028\u2029]+')
_DOCUMENT = re.compile(r'^<daybook-document name="([^"]*)"', re.MULTILINE)
_MESSAGE_HEADER = re.compile(r"\A\[(\d{4}-\d{2}-\d{2}) \w{3} \d{2}:\d{2} [^\n]*\]\n")

NO_TEXT = "(no text)"


def clean(text: str) -> str:
    """Text without NUL, lone surrogates and carriage returns."""
    return repair_surrogates(text).replace("\0", "\N{REPLACEMENT CHARACTER}").replace("\r\n", "\n").replace("\r", "\n")


def escape_marks(text: str) -> str:
    return _TAG.sub("&lt;", clean(text))


def escape(text: str) -> str:
    """Text that cannot pass for a mark or a header."""
    return _HEADER.sub(r"\1\\[", escape_marks(text).translate(_LINE_ENDS))


def label(text: str, longest: int = 80) -> str:
    """A name on one line, without characters of marks and headers."""
    words = _UNSAFE_IN_LABEL.sub(" ", clean(text)).strip()
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"


def marked_block(kind: str, text: str, **labels: str) -> str:
    """`<daybook-kind name="value">` around text that cannot close it. Kinds: rules (the owner's, to be followed), file,
    changed, gone, recalled, quoted, overheard, enclosed, document, heard, shown, notice."""
    names = "".join(f' {name}="{label(value, 300)}"' for name, value in labels.items())
    return f"<daybook-{kind}{names}>\n{escape_marks(text).rstrip()}\n</daybook-{kind}>"


def without_blocks(text: str) -> str:
    kept: list[str] = []
    unclosed: set[str] = set()
    at = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < at or opening[1] in unclosed:
            continue
        closing = f"\n</daybook-{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            unclosed.add(opening[1])
            continue
        kept.append(text[at : opening.start()])
        at = end + len(closing)
        at += text.startswith("\n", at)
    return "".join([*kept, text[at:]])


def day_in_header(text: str) -> date | None:
    """The day of a message; None without a header."""
    match = _MESSAGE_HEADER.match(text)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def person_text(text: str) -> str:
    """What the person wrote, without header and marked blocks."""
    return without_blocks(_MESSAGE_HEADER.sub("", text, count=1)).strip()


def enclosures(text: str) -> list[str]:
    """The names of attached documents."""
    return _DOCUMENT.findall(text)
