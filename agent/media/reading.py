"""Reads one file in a process of its own: `python -m agent.media.reading KIND FILE ABOUT CHARS PAGES READER`.
ABOUT is where a picture goes, or the address and the encoding of a page of the web. READER names the function that
reads a kind that is not read here; else it is empty.

A file may use up memory or time, or break the library: only this process suffers, which has limits, no other file and
no network. It writes at once, a JSON object a line: `{"begun": true}` as its time begins, `{"text": …}` any number of
times, at last `{"end": REMARK, "ending": …}`. So a killed process leaves what it had read.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import IO

from agent.media.confine import confine
from agent.media.pictures import shrink
from agent.media.sniff import TOO_MUCH, Kind, Unreadable
from agent.media.text import decoded, from_html, from_mail

MOST_MEMORY = 1024 * 1024 * 1024
MOST_CPU = 60
"""Seconds after the start. More than the parent's clock allows: it ends a process that nobody waits for."""
MOST_WRITTEN = 64 * 1024 * 1024
"""Bytes of a picture."""
_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG (prctl(2))."""
_PIECE = 5_000
"""Characters of one line: twelve bytes each at most as JSON, and asyncio reads no line of more than 64 KiB."""
_SCANNED = 20
"""A PDF with fewer characters a page is a scan: what little text there is was stamped on it."""
_SPELLED = str.maketrans({"\r": None, "\x02": None, "\ufffe": None, "\xad": None})
"""PDFium ends lines as Windows does, and marks where it joined a word that a line's end had cut."""
_MARKUP = 8
"""Characters of a page for each character of its text."""


ReadFile = Callable[[IO[bytes], int], Iterator[str]]


def main(arguments: list[str]) -> None:
    kind, file, about, chars, pages, reader = arguments
    read: ReadFile | None = resolve_name(reader) if reader else None
    target = Path(about if kind == Kind.PICTURE else os.devnull)
    if kind == Kind.PICTURE:
        target.touch()
    confine(Path(file), target)
    if sys.platform == "linux":  # elsewhere the limits end this process, or the next line that nobody reads
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    _limit()
    print(json.dumps({"begun": True}), flush=True)
    ending = ""
    try:
        if kind == Kind.PICTURE:
            ending, remark = shrink(Path(file), Path(about)), ""
        else:
            remark = _write(_texts(Kind(kind), Path(file), about, int(chars), int(pages), read), int(chars))
    except Unreadable as problem:
        remark = str(problem)
    except BaseException as problem:  # from a library, on a bad file; a panic of Rust is no Exception
        remark = TOO_MUCH if _is_for_want_of_room(problem) else "it is damaged, or of a kind that I can't open"
    print(json.dumps({"end": remark, "ending": ending}), flush=True)


def _is_for_want_of_room(problem: BaseException | None) -> bool:
    """True for an error that has want of memory or stack as its cause, also below a library's error."""
    while problem is not None:
        if isinstance(problem, MemoryError | RecursionError):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def _texts(kind: Kind, path: Path, about: str, chars: int, pages: int, read: ReadFile | None) -> Iterator[str]:
    with path.open("rb") as file:
        if read is not None:
            yield from read(file, chars)
            return
        match kind:
            case Kind.PDF:
                yield from _from_pdf(path, pages)
            case Kind.HTML:
                yield from_html(_start_of(file, _MARKUP * chars))
            case Kind.LINKED_PAGE:
                from agent.media.page import from_page  # noqa: PLC0415 (large; only for pages)

                address, charset = about.split()[:2]
                yield from from_page(file.read(), address, charset)
            case Kind.MAIL:
                yield from from_mail(file.read())
            case _:
                yield _start_of(file, chars)


def _from_pdf(path: Path, most_pages: int) -> Iterator[str]:
    """Yields at most `most_pages`, each after its number. Raises `Unreadable`, also at the end for pages left out, and
    PDFium's error for a damaged file."""
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


def _start_of(file: IO[bytes], chars: int) -> str:
    size = 4 * (chars + 1)
    data = file.read(size)
    return decoded(data, cut=len(data) == size)


def _write(texts: Iterator[str], most: int) -> str:
    """Writes what fits; returns a remark on the rest."""
    left, any_text = most, False
    for text in texts:
        shown = text[:left]
        for start in range(0, len(shown), _PIECE):
            print(json.dumps({"text": shown[start : start + _PIECE]}), flush=True)
        left -= len(shown)
        any_text = any_text or bool(shown.strip())
        if len(shown) < len(text):
            return f"only its first {most:,} characters are shown"
    if not any_text:
        raise Unreadable("there is no text in it")
    return ""


def _limit() -> None:
    """Sets limits. Where the system has none (Windows; macOS for memory), the parent's clock ends the process."""
    try:
        import resource  # noqa: PLC0415 (not on every system)
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        most = math.ceil(time.process_time()) + MOST_CPU
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))
    with contextlib.suppress(ValueError, OSError):  # libraries abort for want of memory: leave no copy of it on disk
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main(sys.argv[1:])
