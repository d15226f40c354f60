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

from agent.media.markdown import Markdown, heading_mark, list_mark
from agent.media.sniff import Unreadable

_NOT_SHOWN = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "object"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_APART = frozenset({"title", "p", "blockquote", "section", "article", "figure", "dl", "fieldset"})
"""Elements with a blank line before and after them."""
_BREAKS = frozenset(
    {
        "address",
        "aside",
        "caption",
        "dd",
        "div",
        "dt",
        "figcaption",
        "footer",
        "form",
        "header",
        "hr",
        "legend",
        "li",
        "main",
        "nav",
        "option",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
    }
)
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_HEADERS = ("From", "To", "Cc", "Date", "Subject")


def decoded(data: bytes, *, cut: bool = False) -> str:
    """Text by its byte order mark, else UTF-8, else Windows-1252, in which every byte means something. `cut`: the last
    character may not be whole."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return data.decode(name, "replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def from_html(text: str) -> str:
    """The visible text of a page, as Markdown."""
    page = HtmlReader()
    page.feed(text)
    page.close()
    page.markdown.end()
    return page.markdown.take().strip()


def from_mail(data: bytes) -> Iterator[str]:
    """Yields headers, then the text, then the names of attachments."""
    mail = email.message_from_bytes(data, policy=email.policy.default)
    if not isinstance(mail, EmailMessage):
        raise Unreadable("it is not an e-mail")
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


class HtmlReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.markdown = Markdown()
        self._hidden: list[str] = []
        self._lists: list[int | None] = []
        """The next number of each open list; None for one without numbers."""
        self._verbatim = 0

    @property
    def is_hidden(self) -> bool:
        return bool(self._hidden)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: said or "" for name, said in attrs}
        if tag in _NOT_SHOWN and tag not in self._hidden:
            self._hidden.append(tag)
        if self._hidden:
            return
        match tag:
            case "td" | "th":
                self.markdown.start_cell(_count(given.get("colspan")), _count(given.get("rowspan")))
            case "tr":
                self.markdown.start_row()
            case "table":
                self.markdown.start_table()
            case "br":
                self.markdown.add("\n")
            case "li":
                self.markdown.end_paragraph()
                self._begin_item(given.get("value"))
            case "ul" | "ol":
                if not self._lists:
                    self.markdown.blank()
                self.markdown.end_paragraph()
                self._lists.append(_count(given.get("start")) if tag == "ol" else None)
            case "pre":
                self.markdown.blank()
                self._verbatim += 1
            case _ if tag in _HEADINGS:
                self.markdown.blank()
                self.markdown.mark(heading_mark(int(tag[1])))
            case _ if tag in _APART:
                self.markdown.blank()
            case _ if tag in _BREAKS:
                self.markdown.end_paragraph()

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
            return
        if self._hidden:
            return
        match tag:
            case "tr":
                self.markdown.end_row()
            case "table":
                self.markdown.end_table()
            case "ul" | "ol":
                self.markdown.end_paragraph()
                if self._lists:
                    self._lists.pop()
                if not self._lists:
                    self.markdown.blank()
            case "pre":
                self.markdown.blank()
                self._verbatim = max(0, self._verbatim - 1)
            case _ if tag in _APART or tag in _HEADINGS:
                self.markdown.blank()
            case _ if tag in _BREAKS:
                self.markdown.end_paragraph()

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if not self._verbatim:
            data = _SPACE.sub(" ", data)
            data = data.lstrip() if self.markdown.ends_in_space else data
        if data:
            self.markdown.add(data)

    def _begin_item(self, said: str | None) -> None:
        mark = "-"
        if self._lists and (count := self._lists[-1]) is not None:
            count = _count(said) if said else count
            self._lists[-1] = count + 1
            mark = f"{count}."
        self.markdown.mark(list_mark(mark, max(0, len(self._lists) - 1)))


def _count(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 7 else 1
