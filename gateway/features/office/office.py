"""Word, Excel, PowerPoint and OpenDocument files as text."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import IO

from agent.media.sniff import Unreadable
from gateway.features.office.opendocument import from_open_document
from gateway.features.office.parts import Parts
from gateway.features.office.sheets import from_workbook
from gateway.features.office.slides import from_slides
from gateway.features.office.word import from_word

OLD_OFFICE = "it is of an old Office format, which I can't open; send it as DOCX, XLSX, PPTX or PDF"
_MOST_ROWS = 50_000
"""Rows of one sheet: calamine holds all cells from the first to the last in memory."""
_SIGNPOSTS = frozenset({"content.xml", "_rels/.rels"})
_NO_CELLS = ("xl/media/", "xl/drawings/", "xl/charts/", "xl/embeddings/", "xl/pivotCache/", "xl/externalLinks/")
_SHEET_TYPE = "application/vnd.oasis.opendocument.spreadsheet"


def from_office(file: IO[bytes], most_chars: int) -> Iterator[str]:
    """Yields the text. Raises `Unreadable`, and the libraries' errors for a damaged file."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield from _text(Parts(archive), most_chars // 2)
    except (RuntimeError, NotImplementedError) as error:  # zipfile's errors for encryption and rare packings
        raise Unreadable("it is protected by a password, or packed in a way that I don't know") from error


def from_old_office(file: IO[bytes], _: int) -> Iterator[str]:
    """Text of Excel before 2007. Raises `Unreadable` for other documents of that time."""
    from python_calamine import CalamineError  # noqa: PLC0415 (only where a workbook is read)

    try:
        yield from from_workbook(file)
    except CalamineError as error:
        raise Unreadable(OLD_OFFICE) from error


def _text(parts: Parts, most_cells: int) -> Iterator[str]:
    names = parts.names
    if "word/document.xml" in names:
        yield from from_word(parts)
    elif "xl/workbook.xml" in names or "xl/workbook.bin" in names:
        yield from _sheets(parts, most_cells)
    elif "ppt/presentation.xml" in names:
        yield from from_slides(parts)
    elif "content.xml" in names:
        if "META-INF/manifest.xml" in names and b"encryption-data" in b"".join(parts.read("META-INF/manifest.xml")):
            raise Unreadable("it is protected by a password")
        kind = b"".join(parts.read("mimetype")) if "mimetype" in names else b""
        yield from _sheets(parts, most_cells) if kind.startswith(_SHEET_TYPE.encode()) else from_open_document(parts)
    else:
        raise Unreadable("it is a ZIP archive, which I don't unpack; send me the files in it one by one")


def _sheets(parts: Parts, most_cells: int) -> Iterator[str]:
    """Has calamine read a copy without parts that it does not need, cut where it would take too much memory. A cell is
    at least two characters of text."""
    any_cut = False
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in sorted(parts.names):
            if name in _SIGNPOSTS or (name.startswith("xl/") and not name.startswith(_NO_CELLS)):
                if name.endswith(".xml"):
                    content, is_cut = parts.read_rows(name, _MOST_ROWS, most_cells)
                    any_cut = any_cut or is_cut
                else:
                    content = b"".join(parts.read(name))
                archive.writestr(name, content)
        if "content.xml" in parts.names:
            archive.writestr("mimetype", _SHEET_TYPE)
            archive.writestr("META-INF/manifest.xml", "<manifest/>")
    copy.seek(0)
    yield from from_workbook(copy)
    if any_cut:
        raise Unreadable("not all rows of its sheets are shown")
