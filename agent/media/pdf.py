"""The text of a PDF, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agent.media.unreadable import Unreadable

_SCANNED = 20
"""A document with fewer characters a page is a scan: what little text there is was stamped on it."""
_SPELLED = str.maketrans({"\r": None, "\x02": None, "\ufffe": None, "\xad": None})
"""PDFium ends lines as Windows does, and marks where it joined a word that a line's end had cut."""


def from_pdf(path: Path, most_pages: int) -> Iterator[str]:
    """Yields at most `most_pages`, each after its number. Raises `Unreadable`, also at the end for what is left out,
    and PDFium's error for a damaged file."""
    # heavy; only where a PDF is read
    from pypdfium2 import PdfDocument, PdfiumError  # type: ignore[import-untyped] # noqa: PLC0415
    from pypdfium2.raw import FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY  # type: ignore[import-untyped] # noqa: PLC0415

    try:
        document = PdfDocument(path)
    except PdfiumError as error:
        if error.err_code in (FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY):
            raise Unreadable("it is protected by a password") from error
        raise
    pages = len(document)
    found = 0
    for number in range(min(pages, most_pages)):
        page = document[number]
        words = page.get_textpage()
        text = words.get_text_range().translate(_SPELLED).strip()
        words.close()
        page.close()
        found += len(text)
        if text:
            yield f"[Page {number + 1} of {pages}]\n{text}\n\n"
    if found < _SCANNED * min(pages, most_pages):
        raise Unreadable("it has pictures of pages and hardly any text; send me the pages as photos")
    if pages > most_pages:
        raise Unreadable(f"only the first {most_pages} of its {pages:,} pages are shown")
