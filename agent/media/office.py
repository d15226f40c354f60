"""Word, Excel, PowerPoint and OpenDocument files as text.

They are ZIP archives of XML. Each part is parsed as a stream and never as a whole, so memory does not grow with it;
what is unpacked is counted against a limit; a part that declares entities is refused (they make small files huge).
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import IO
from xml.parsers import expat

from agent.media.unreadable import Unreadable

MOST_UNPACKED = 256 * 1024 * 1024
"""Bytes of all parts of one document together."""
_MOST_SHARED = 20_000_000
"""Characters of the texts that an Excel file shares between its cells."""
_CHUNK = 64 * 1024
_SLIDE_NAME = re.compile(r"ppt/slides/slide(\d+)\.xml")
_SHEET_NAME = re.compile(r"xl/worksheets/sheet(\d+)\.xml")
_SAID_IN_CODE = re.compile(r'"[^"]*"|\[[^\[\]]*+\]|\\.')
"""Of a format of numbers: what is no code in it."""
_WORD = {"w:t": "", "w:tab": "\t", "w:br": "\n", "w:cr": "\n"}
_SLIDE = {"a:t": "", "a:tab": "\t", "a:br": "\n"}
_OPEN_DOCUMENT = {"text:p": "", "text:h": "", "text:span": "", "text:a": "", "text:s": " ", "text:tab": "\t"}
_OPEN_DOCUMENT |= {"text:line-break": "\n"}
_PARAGRAPHS = {"w:p": "\n", "w:tc": " | ", "a:p": "\n", "text:p": "\n", "text:h": "\n"}
_DATE_FORMATS = frozenset({14, 15, 16, 17, 22})
"""Excel's own number formats that show a day (ECMA-376, 18.8.30)."""
_EXCEL_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001 (a day on a sheet has no zone)

Attributes = Mapping[str, str]


def from_office(file: IO[bytes]) -> Iterator[str]:
    """The text of a document, in pieces. Raises `Unreadable`, and for a damaged file whatever the libraries raise, and
    lazily so."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield from _Document(archive).text()
    except (RuntimeError, NotImplementedError) as error:  # what zipfile says of encryption and of rare packings
        raise Unreadable("it is protected by a password, or packed in a way that I don't know") from error


@dataclass
class _Document:
    archive: zipfile.ZipFile
    left: int = MOST_UNPACKED

    def text(self) -> Iterator[str]:
        names = set(self.archive.namelist())
        if "word/document.xml" in names:
            yield from self._words("word/document.xml", _WORD)
            for note in sorted(name for name in names if re.fullmatch(r"word/(foot|end)notes\.xml", name)):
                yield from self._words(note, _WORD)
        elif "xl/workbook.xml" in names:
            yield from self._sheets(names)
        elif "ppt/presentation.xml" in names:
            for number, slide in enumerate(_numbered(names, _SLIDE_NAME), start=1):
                yield f"\n[Slide {number}]\n"
                yield from self._words(slide, _SLIDE)
        elif "content.xml" in names:
            yield from self._words("content.xml", _OPEN_DOCUMENT)
        else:
            raise Unreadable("it is a ZIP archive, which I don't unpack; send me the files in it one by one")

    def _words(self, name: str, shown: Mapping[str, str]) -> Iterator[str]:
        """Text inside the elements `shown`, each begun by what is given for it; paragraphs end in a line's end."""
        pieces: list[str] = []
        inside: list[bool] = [False]

        def start(tag: str, _: Attributes) -> None:
            inside.append(inside[-1] or tag in shown)
            if tag in shown:
                pieces.append(shown[tag])

        def end(tag: str) -> None:
            inside.pop()
            if tag in _PARAGRAPHS:
                pieces.append(_PARAGRAPHS[tag])

        def data(text: str) -> None:
            if inside[-1]:
                pieces.append(text)

        for _ in self._parsed(name, start, end, data):
            yield "".join(pieces)
            pieces.clear()

    def _sheets(self, names: set[str]) -> Iterator[str]:
        shared = self._shared() if "xl/sharedStrings.xml" in names else []
        dates = self._dates() if "xl/styles.xml" in names else frozenset()
        titles = self._titles()
        sheets = _numbered(names, _SHEET_NAME)
        for at, sheet in enumerate(sheets):
            yield f"\n[Sheet {titles[at] if at < len(titles) else at + 1}]\n"
            reader = _Rows(shared, dates)
            for _ in self._parsed(sheet, reader.start, reader.end, reader.data):
                yield "".join(reader.lines)
                reader.lines.clear()

    def _shared(self) -> list[str]:
        texts: list[str] = []
        open_texts: list[str] = []
        reads = False
        size = 0

        def start(tag: str, _: Attributes) -> None:
            nonlocal reads
            reads = tag == "t"
            if tag == "si":
                open_texts.clear()

        def end(tag: str) -> None:
            nonlocal reads
            reads = False
            if tag == "si":
                texts.append("".join(open_texts))

        def data(text: str) -> None:
            nonlocal size
            if reads and (size := size + len(text)) <= _MOST_SHARED:
                open_texts.append(text)

        for _ in self._parsed("xl/sharedStrings.xml", start, end, data):
            pass
        return texts

    def _dates(self) -> frozenset[int]:
        """Styles of cells whose number is a day."""
        codes: dict[int, str] = {}
        styles: list[int] = []
        inside: list[str] = []

        def start(tag: str, given: Attributes) -> None:
            inside.append(tag)
            if tag == "numFmt":
                codes[_int(given.get("numFmtId"))] = _SAID_IN_CODE.sub("", given.get("formatCode", ""))
            elif tag == "xf" and "cellXfs" in inside:
                styles.append(_int(given.get("numFmtId")))

        def end(_: str) -> None:
            inside.pop()

        for _ in self._parsed("xl/styles.xml", start, end, lambda text: None):
            pass
        own = {id for id, code in codes.items() if "y" in code.lower() or "d" in code.lower()}
        return frozenset(at for at, id in enumerate(styles) if id in _DATE_FORMATS or id in own)

    def _titles(self) -> list[str]:
        titles: list[str] = []

        def start(tag: str, given: Attributes) -> None:
            if tag == "sheet":
                titles.append(given.get("name", ""))

        for _ in self._parsed("xl/workbook.xml", start, lambda tag: None, lambda text: None):
            pass
        return titles

    def _parsed(
        self,
        name: str,
        start: Callable[[str, Attributes], None],
        end: Callable[[str], None],
        data: Callable[[str], None],
    ) -> Iterator[None]:
        """Feed a part to the handlers; stops after each piece, so that what was found can be taken away."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = data
        parser.StartDoctypeDeclHandler = _refuse_entities
        with self.archive.open(name) as part:
            while chunk := part.read(_CHUNK):
                self.left -= len(chunk)
                if self.left < 0:
                    raise Unreadable(f"unpacked it is larger than {MOST_UNPACKED // 1024 // 1024} MB")
                parser.Parse(chunk)
                yield
            parser.Parse(b"", True)
            yield


@dataclass
class _Rows:
    """Rows of a sheet as lines, its cells apart by tabs."""

    shared: list[str]
    dates: frozenset[int]
    lines: list[str] = field(default_factory=list)
    _row: list[str] = field(default_factory=list)
    _value: list[str] = field(default_factory=list)
    _type: str = ""
    _style: int = 0
    _reads: bool = False

    def start(self, tag: str, given: Attributes) -> None:
        match tag:
            case "row":
                self._row = []
            case "c":
                column = _column(given.get("r", ""))
                self._row += [""] * (min(column, 200) - len(self._row))
                self._type, self._style, self._value = given.get("t", ""), _int(given.get("s")), []
            case "v" | "t":
                self._reads = True

    def data(self, text: str) -> None:
        if self._reads:
            self._value.append(text)

    def end(self, tag: str) -> None:
        match tag:
            case "v" | "t":
                self._reads = False
            case "c":
                self._row.append(self._shown("".join(self._value)))
            case "row" if any(self._row):
                self.lines.append("\t".join(self._row).rstrip() + "\n")

    def _shown(self, value: str) -> str:
        if self._type == "s":
            at = _int(value)
            return self.shared[at] if 0 <= at < len(self.shared) else ""
        if not self._type or self._type == "n":
            return _day(value) if self._style in self.dates else value
        return {"1": "TRUE", "0": "FALSE"}.get(value, value) if self._type == "b" else value


def _refuse_entities(*_: object) -> None:
    raise Unreadable("it declares entities of its own, as no Office program does; I don't open such files")


def _numbered(names: set[str], pattern: re.Pattern[str]) -> list[str]:
    found = [(int(match[1]), name) for name in names if (match := pattern.fullmatch(name))]
    return [name for _, name in sorted(found)]


def _column(reference: str) -> int:
    """`C7` is 2."""
    number = 0
    for letter in re.match(r"[A-Z]{0,3}", reference)[0]:  # type: ignore[index]
        number = number * 26 + ord(letter) - 64
    return max(0, number - 1)


def _day(value: str) -> str:
    try:
        moment = _EXCEL_EPOCH + timedelta(days=float(value))
    except (ValueError, OverflowError):
        return value
    return f"{moment:%Y-%m-%d}" if float(value).is_integer() else f"{moment:%Y-%m-%d %H:%M}"


def _int(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 10 else 0
