"""Files as people send them, and as nobody should: made here, so that a test says what is in them."""

from __future__ import annotations

import base64
import io
import struct
import wave
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence

from PIL import Image


def picture(width: int = 60, height: int = 40, kind: str = "PNG", colour: str = "red", orientation: int = 0) -> bytes:
    out = io.BytesIO()
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    Image.new("RGB", (width, height), colour).save(out, kind, exif=exif)
    return out.getvalue()


def animated(kind: str) -> bytes:
    out = io.BytesIO()
    frames = [Image.new("RGB", (30, 20), colour) for colour in ("red", "green", "blue")]
    frames[0].save(out, kind, save_all=True, append_images=frames[1:])
    return out.getvalue()


def heic(width: int = 60, height: int = 40, colour: str = "red") -> bytes:
    """As Apple's devices photograph: the picture, and a smaller one of itself beside it."""
    from pillow_heif import from_pillow  # noqa: PLC0415 (heavy)

    out = io.BytesIO()
    from_pillow(Image.new("RGB", (width, height), colour)).save(out, quality=50)
    return out.getvalue()


def huge_png(width: int = 30_000, height: int = 30_000) -> bytes:
    """A small file that says that it has so many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(90_000)))
        + chunk(b"IEND", b"")
    )


def pdf(pages: Iterable[str]) -> bytes:
    """A PDF with a line of text on each page."""
    texts = list(pages)
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(texts)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, text in enumerate(texts):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        font = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {font} /Contents {5 + 2 * at} 0 R >>")
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def locked_pdf(password: str = "secret", algorithm: str = "AES-256") -> bytes:
    """One that asks for a password; for none where that is empty: anybody may read it, and not print it."""
    from pypdf import PdfReader, PdfWriter  # noqa: PLC0415 (heavy)

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["A text for those who know the password"]))))
    writer.encrypt(password, "of the owner", algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def packed_pdf(megabytes: int) -> bytes:
    """A PDF of a few hundred kilobytes with a page whose text unpacks to so many megabytes."""
    drawn = zlib.compress(b"BT /F1 12 Tf " + b"(x) Tj " * (megabytes * 1_000_000 // 7) + b"ET", 9)
    head = b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(drawn)
    before, _, rest = pdf([""]).partition(b"<< /Length")
    return before + head + drawn + rest[rest.index(b"\nendstream") :]


def nested_pdf(depth: int) -> bytes:
    """A PDF with lists inside lists that no reader needs."""
    whole = pdf(["This stands on the first page"])
    return whole.replace(b"/Root 1 0 R", b"/X " + b"[" * depth + b"]" * depth + b" /Root 1 0 R")


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return out.getvalue()


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(*paragraphs: str, head: str = "") -> bytes:
    return word("".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs), head=head)


def word(body: str, styles: str = "", lists: str = "", head: str = "") -> bytes:
    """A Word document of this XML."""
    return archive(
        {
            "word/document.xml": f"{head}<w:document {_W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
            "word/numbering.xml": f"<w:numbering {_W}>{lists}</w:numbering>",
        }
    )


_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_REFERENCES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relations(parts: Mapping[str, str], kind: str) -> str:
    """A part with references to others of a kind, by the reference."""
    found = "".join(
        f'<Relationship Id="{name}" Type="{_REFERENCES}/{kind}" Target="{path}"/>' for name, path in parts.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{found}</Relationships>'
    )


def xlsx(
    rows: Iterable[str], shared: Iterable[str] = (), styles: str = "", others: Mapping[str, str] | None = None
) -> bytes:
    """`rows` are the XML of each row's cells on the sheet "Costs"; `others` are the rows of the sheets before it, which
    were moved there."""
    moved = dict(enumerate((others or {}).items(), start=2))
    tabs = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, (name, _) in moved.items())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("_rels/.rels", relations({"r1": "xl/workbook.xml"}, "officeDocument"))
        packed.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_SHEETS}" xmlns:r="{_REFERENCES}"><sheets>{tabs}'
            '<sheet name="Costs" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        sheets = {f"r{at}": f"worksheets/sheet{at}.xml" for at in (1, *moved)}
        packed.writestr("xl/_rels/workbook.xml.rels", relations(sheets, "worksheet"))
        packed.writestr("xl/styles.xml", f'<styleSheet xmlns="{_SHEETS}">{styles}</styleSheet>')
        texts = "".join(f"<si><t>{text}</t></si>" for text in shared)
        packed.writestr("xl/sharedStrings.xml", f'<sst xmlns="{_SHEETS}">{texts}</sst>')
        head = f'<worksheet xmlns="{_SHEETS}"><sheetData>'
        for at, (_, row) in moved.items():
            packed.writestr(f"xl/worksheets/sheet{at}.xml", f"{head}<row>{row}</row></sheetData></worksheet>")
        with packed.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(head.encode())
            for row in rows:
                sheet.write((row if row.startswith("<row") else f"<row>{row}</row>").encode())
            sheet.write(b"</sheetData></worksheet>")
    return out.getvalue()


def pptx(*slides: str) -> bytes:
    """A presentation with a text box on each slide."""
    return presentation(
        [f"<p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>" for text in slides]
    )


def presentation(slides: Sequence[str], order: Sequence[int] = (), notes: Mapping[int, str] | None = None) -> bytes:
    """`slides` are the XML of each slide's shapes, by their files; `order`, the files (from 1) as they are shown;
    `notes`, the XML of the shapes of a slide's notes."""
    names = (
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="' + _REFERENCES + '" '
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    )
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + at}" r:id="r{at}"/>' for at in order or numbers)
    parts = {
        "ppt/presentation.xml": f"<p:presentation {names}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations({f"r{at}": f"slides/slide{at}.xml" for at in numbers}, "slide"),
    }
    parts |= {f"ppt/slides/slide{at}.xml": f"<p:sld {names}>{slide}</p:sld>" for at, slide in enumerate(slides, 1)}
    for at, note in (notes or {}).items():
        path = f"notesSlides/notesSlide{at}.xml"
        parts[f"ppt/slides/_rels/slide{at}.xml.rels"] = relations({"r1": f"../{path}"}, "notesSlide")
        parts[f"ppt/{path}"] = f"<p:notes {names}>{note}</p:notes>"
    return archive(parts)


def open_document(body: str, kind: str = "text", styles: str = "") -> bytes:
    """A document of OpenDocument; `kind` is `text`, `presentation` or `spreadsheet`."""
    spaces = ("office", "table", "text", "style")
    names = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in spaces)
    names += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    names += ' xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"'
    return archive(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": f"<office:document-content {names}><office:automatic-styles>{styles}"
            f"</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}></office:body>"
            "</office:document-content>",
        }
    )


def bomb(megabytes: int) -> bytes:
    """A Word document of a few hundred kilobytes that unpacks to so many megabytes."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("word/document.xml", "w", force_zip64=True) as part,
    ):
        part.write(f"<w:document {_W}><w:body>".encode())
        for _ in range(megabytes):
            part.write(b" " * 1024 * 1024)
        part.write(b"<w:p><w:r><w:t>end</w:t></w:r></w:p></w:body></w:document>")
    return out.getvalue()


OGG = b"OggS\0\x02" + bytes(58)
"""The beginning of a voice note."""


def opus(words: str = "") -> bytes:
    """A first page of Ogg (RFC 3533) with the header of Opus (RFC 7845), and in its comment the words."""
    header = b"OpusHead\x01\x01" + struct.pack("<HIhB", 312, 48_000, 0, 0)
    comment = b"OpusTags" + struct.pack("<I", len(words.encode())) + words.encode()[:200] + bytes(4)
    first = b"OggS\0\x02" + bytes(20) + bytes([1, len(header)]) + header
    return first + b"OggS\0\4" + bytes(20) + bytes([1, len(comment)]) + comment


def wav(seconds: float = 0.2) -> bytes:
    """A tone."""
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes(bytes((at * 7) % 256 for at in range(int(seconds * 16_000))))
    return out.getvalue()


MP3 = b"ID3\4\0\0" + bytes(200)
"""The beginning of a song."""

LARGE_HEIC = zlib.decompress(
    base64.b64decode(
        "eNrt2U1IFGEYwPFnZjUHUtsysS+yDEShTIkgPNRgWkQdOnQJklzXXXxpR4d1Ce2DtktGl6SkqJMQQqeSgg6SUYeoQ4cwOhQdulTYITx0MMnsHb"
        "UOHsIH8vYf/+zMvPvOqj9mBnZXRDalc31hZ8okxS6BSTdE24FJpEWc40Eql5D5ZWtnRya7sC2hSeZk0VJlMt1zL9Lsi2N/7OKcn1/bA67Yh23G"
        "dKXndqPRcruTchf2Ok8nG6LN0tDkgr9T3pkwG9r1qAmT3XZ91k7b78SioYG5SWOT8nNmakpkVazNHrHOd4qd2dloQiyaEYsaG3X9hH2yrslxFj"
        "0zJNOetD6/8fVQ7b0ud0OxF42+jB48v90eUtTsPMuOtPv2N5UluzPZrmSm1w6XyIq8HVpresLU/L9XaadURH9WPDS9JhqJeZ59NakwYfBH0KIU"
        "XHRjBVbjWtCRsIDhpRrnfpk7efvYe7Pr1pH0mh/nnpzcefPw8PhEbrS17v9v+J/vhm9mf1UPXphp/NI/8Wl8vG9s4Nuph4/aWnYMi3ivpTQuPQ"
        "s89I9e5e+4tUGNyIG8DErhUUiWVMGJ6yIvpKgei6XnvO0HQVnhYxSUVXJRKotz21feyRIYaPIuo6BpYxwFTXvbUNB0xkdB0/c8CoqcqyAoch+A"
        "oCg2DYKiwg8gKPJqQFC00gNBUQlvhDSt5n2QpnK4NK0fAEHRZs4uTVUfQVBUPQSCou1bQFBUz8WoaTdnl6Y9fPysqZFbvSa+3FC1j7NLU9NTEB"
        "Q1880ZXMtWCxcjXMvWQS5GuOCCCy64CC644IILLrgILrjgggsuuAguuOCCCy6CCy644IILLoILLrjgggsuggsuuOCCCy6CCy644IKL4IILLrjg"
        "govgggsuuGj5Gsn/BgrAP2I="
    )
)
"""`heic(8_000, 6_000)`, which takes ten seconds to make."""
