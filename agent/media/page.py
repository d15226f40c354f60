"""A web page as text: title, date, main part, and the addresses of its links."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urldefrag, urljoin

from lxml.etree import ParserError
from lxml.html import HtmlElement, HTMLParser, document_fromstring, tostring
from readability import Document

from agent.media.markdown import AFTER_LINKS
from agent.media.sniff import Unreadable
from agent.media.text import HtmlReader, decoded

_MOST_LINKS = 300
_LONGEST_ADDRESS = 500
_HEAD = 4_096
_CHARSET = re.compile(rb"charset=[\"']?([A-Za-z0-9_:.-]{1,40})", re.I)
_CODECS = frozenset(
    {"big5", "cp", "euc", "gb18030", "gb2312", "gbk", "iso8859", "johab", "koi8", "latin", "mac", "shift"}
)
"""Beginnings of the names of codecs that pages use; others, as punycode, are no text encodings."""
_ENOUGH = 600
"""Characters of a main part that stands by itself."""
_LEAST_SHARE = 0.25
"""A smaller part of a page is no main part: the page is a list or a front page."""
_PUBLISHED = (
    "//meta[@property='article:published_time']/@content",
    "//meta[@itemprop='datePublished']/@content",
    "//meta[@name='date' or @name='dc.date' or @name='DC.date.issued' or @name='pubdate']/@content",
    "//*[@itemprop='datePublished']/@datetime",
    "//article//time/@datetime",
)
_JSON_DATE = re.compile(r'"datePublished"\s{0,4}:\s{0,4}"(\d{4}-\d{2}-\d{2})')


def from_page(data: bytes, address: str, charset: str) -> Iterator[str]:
    """Yields the links, then the text. Raises `Unreadable`."""
    text = _decoded(data, charset)
    try:
        page = document_fromstring(text.encode(), parser=HTMLParser(encoding="utf-8"))
    except (ParserError, ValueError) as error:
        raise Unreadable("there is no text in it") from error
    base = next(iter(page.xpath("//base/@href")), "")
    reader = _LinkedPage(urljoin(address, str(base)))
    reader.feed(_main_part(text, page))
    reader.close()
    reader.markdown.end()
    body = reader.markdown.take().replace(AFTER_LINKS, " ").strip()
    head = [f"# {title}"] if (title := _title(page)) and not body.startswith(f"# {title}") else []
    if day := _published(page, text):
        head.append(f"Published {day}")
    yield "\n".join(f"[{number}] {link}" for link, number in reader.links.items()) + AFTER_LINKS
    yield "\n\n".join([*head, body])


class _LinkedPage(HtmlReader):
    """Writes a link's number behind its words."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.links: dict[str, int] = {}
        self._base = base
        self._open = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "a" and not self.is_hidden:
            self._open = self._number(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._open and not self.is_hidden:
            self.markdown.add(f" [{self._open}]")
            self._open = 0
        super().handle_endtag(tag)

    def _number(self, href: str) -> int:
        try:
            link = urldefrag(urljoin(self._base, href.strip())).url
        except ValueError:
            return 0
        if not href or href.startswith("#") or not link.startswith(("http://", "https://")):
            return 0
        if len(link) > _LONGEST_ADDRESS or not link.isprintable() or " " in link:
            return 0
        if link not in self.links and len(self.links) == _MOST_LINKS:
            return 0
        return self.links.setdefault(link, len(self.links) + 1)


def _decoded(data: bytes, charset: str) -> str:
    """Text by its byte order mark, the server's charset, the page's own, else a guess."""
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return decoded(data)
    named = _CHARSET.search(data[:_HEAD])
    for name in (charset, named[1].decode("ascii") if named else ""):
        try:
            codec = codecs.lookup(name).name
        except (LookupError, ValueError):
            continue
        if codec == "iso8859-1":
            codec = "cp1252"  # as browsers read it
        if codec != "utf-8" and codec.startswith(tuple(_CODECS)):
            return data.decode(codec, "replace")
    return decoded(data, cut=True)


def _main_part(text: str, page: HtmlElement) -> str:
    whole = len(" ".join(str(page.text_content()).split()))
    try:
        part = str(Document(text).summary(html_partial=True))
        length = len(" ".join(str(document_fromstring(part).text_content()).split()))
    except Exception:  # its heuristics fail on odd pages: the whole page is shown then
        return text
    return part if length >= _ENOUGH or length >= _LEAST_SHARE * whole else str(tostring(page, encoding="unicode"))


def _title(page: HtmlElement) -> str:
    for path in ("//meta[@property='og:title']/@content", "//title/text()", "//h1//text()"):
        for found in page.xpath(path):
            if title := " ".join(str(found).split()):
                return title[:300]
    return ""


def _published(page: HtmlElement, text: str) -> str:
    """The day that the page names, YYYY-MM-DD; empty if none."""
    found = [str(day) for path in _PUBLISHED for day in page.xpath(path)]
    if match := _JSON_DATE.search(text):
        found.append(match[1])
    for day in found:
        try:
            return datetime.fromisoformat(day.strip()[:10]).date().isoformat()
        except ValueError:
            continue
    return ""
