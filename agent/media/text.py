"""Plain text, web pages and e-mail as text. Pure."""

from __future__ import annotations

import codecs
import contextlib
import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage, MIMEPart
from html.parser import HTMLParser

from agent.media.unreadable import Unreadable

_NOT_SHOWN = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "object"})
_BREAKS = re.compile(
    "address|article|aside|blockquote|br|dd|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6r]|header|li|main|nav"
    "|ol|p|pre|section|table|title|tr|ul"
)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def decoded(data: bytes, *, cut: bool = False) -> str:
    """Text of any encoding: what its mark says, else UTF-8, else Windows-1252, in which every byte means something.
    `cut`: the last character may not be whole."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data.decode(name, "replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def from_html(text: str) -> str:
    """What a reader of the page sees; scripts and styles are left out."""
    page = _Page()
    page.feed(text)
    page.close()
    lines = (re.sub(r"[ \t\u00a0]+", " ", line).strip() for line in "".join(page.parts).splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def from_mail(data: bytes) -> Iterator[str]:
    """Headers, then the words, then the names of what is attached."""
    mail = email.message_from_bytes(data, policy=email.policy.default)
    if not isinstance(mail, EmailMessage):
        raise Unreadable("it is not an e-mail after all")
    yield "\n".join(f"{name}: {mail[name]}" for name in _HEADERS if mail[name]) + "\n\n"
    body = mail.get_body(("plain", "html"))
    if body is not None:
        text = _content(body)
        yield from_html(text) if body.get_content_subtype() == "html" else text
    names = [part.get_filename() or part.get_content_type() for part in mail.iter_attachments()]
    if names:
        yield f"\n\nAttached to this e-mail, not opened: {', '.join(names)}\n"


def _content(body: MIMEPart) -> str:
    if body.get_content_charset() is not None:
        with contextlib.suppress(LookupError, ValueError):  # an encoding that nobody knows
            return str(body.get_content())
    payload = body.get_payload(decode=True)
    return decoded(payload) if isinstance(payload, bytes) else ""


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _NOT_SHOWN:
            self._hidden.append(tag)
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif _BREAKS.fullmatch(tag):
            self.parts.append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        elif _BREAKS.fullmatch(tag):
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)
