"""The text of a PDF, page by page."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import IO

from agent.media.unreadable import TOO_MUCH, Unreadable

_SCANNED = 20
"""A document with fewer characters a page is a scan: what little text there is was stamped on it."""
_NO_AES = (
    "it is encrypted, and the library that opens such PDFs is not installed here (pip install cryptography); send it "
    "without protection"
)


def from_pdf(file: IO[bytes], most_pages: int) -> Iterator[str]:
    """Its pages' text, each under its number, at most `most_pages` of them; what is left out is said at the end.
    Raises `Unreadable`, and for a damaged file whatever pypdf raises, and lazily so."""
    from pypdf.errors import DependencyError, LimitReachedError  # noqa: PLC0415 (heavy; only where a PDF is read)

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        yield from _pages(file, most_pages)
    except LimitReachedError as limit:  # pypdf's own, on what is unpacked and on what a page is made of
        raise Unreadable(TOO_MUCH) from limit
    except DependencyError as missing:
        raise Unreadable(_NO_AES) from missing


def _pages(file: IO[bytes], most_pages: int) -> Iterator[str]:
    from pypdf import PdfReader  # noqa: PLC0415 (heavy; only where a PDF is read)

    reader = PdfReader(file)
    if reader.is_encrypted and not reader.decrypt(""):  # many are so that anybody may read, and not print
        raise Unreadable("it is protected by a password")
    pages = len(reader.pages)
    found = 0
    for number in range(min(pages, most_pages)):
        text = reader.pages[number].extract_text().strip()
        found += len(text)
        if text:
            yield f"[Page {number + 1} of {pages}]\n{text}\n\n"
    if found < _SCANNED * min(pages, most_pages):
        raise Unreadable("it has pictures of pages and hardly any text; send me the pages as photos")
    if pages > most_pages:
        raise Unreadable(f"only the first {most_pages} of its {pages:,} pages are shown")
