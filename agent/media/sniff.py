"""The kind of a file, by its bytes; its name and type only distinguish texts, and sound from film. Pure. Few bytes are
read, so no process with limits is needed."""

from __future__ import annotations

import enum
import re

HEIC = "heic"
"""The ending of photos by Apple's devices, which need a decoder of their own."""
HEAD = 4_096
"""Bytes at the beginning of a file that tell its kind."""
_CONTROL = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1b")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_MAIL = re.compile(rb"(return-path|received|from|date|message-id|mime-version|subject|delivered-to|to):[ \t]", re.I)
_COMMENTS = rb"(?:<!--(?:(?!-->).)*+-->\s*+)*+"
_HTML = re.compile(rb"\s*+" + _COMMENTS + rb"<(?:!doctype html|html|head|body)\b", re.I | re.S)
_SVG = re.compile(
    rb"\s*+(?:<\?xml[^>]*+>\s*+)?+" + _COMMENTS + rb"(?:<!doctype svg[^>]*+>\s*+)?+<(?:\w++:)?svg\b", re.I | re.S
)


TOO_MUCH = "reading it takes more time or memory than it may have"


class Unreadable(Exception):
    """The end of a sentence about the file: "it is protected by a password"."""


class Kind(enum.StrEnum):
    """`value` is a word for people."""

    EMPTY = "empty file"
    PICTURE = "picture"
    SVG = "SVG drawing"
    PDF = "PDF"
    ZIP = "ZIP archive"  # Office documents are among these: `reading` looks inside
    OLD_OFFICE = "document of an old Office format"
    HTML = "web page"
    LINKED_PAGE = "page of the web"  # as HTML, with its links; never sniffed
    MAIL = "e-mail"
    TEXT = "text"
    AUDIO = "sound"
    VIDEO = "video"
    UNKNOWN = "file of a kind that I don't know"


_MAGIC: tuple[tuple[bytes, Kind, str], ...] = (
    (b"\xff\xd8\xff", Kind.PICTURE, "jpg"),
    (b"\x89PNG\r\n\x1a\n", Kind.PICTURE, "png"),
    (b"GIF87a", Kind.PICTURE, "gif"),
    (b"GIF89a", Kind.PICTURE, "gif"),
    (b"BM", Kind.PICTURE, "bmp"),
    (b"II*\0", Kind.PICTURE, "tif"),
    (b"MM\0*", Kind.PICTURE, "tif"),
    (b"%PDF-", Kind.PDF, "pdf"),
    (b"PK\x03\x04", Kind.ZIP, "zip"),
    (b"PK\x05\x06", Kind.ZIP, "zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind.OLD_OFFICE, "doc"),
    (b"OggS", Kind.AUDIO, "ogg"),
    (b"ID3", Kind.AUDIO, "mp3"),
    (b"\xff\xfb", Kind.AUDIO, "mp3"),
    (b"\xff\xf3", Kind.AUDIO, "mp3"),
    (b"\xff\xf2", Kind.AUDIO, "mp3"),
    (b"\xff\xf1", Kind.AUDIO, "aac"),
    (b"\xff\xf9", Kind.AUDIO, "aac"),
    (b"fLaC", Kind.AUDIO, "flac"),
    (b"#!AMR", Kind.AUDIO, "amr"),
    (b"caff", Kind.AUDIO, "caf"),
    (b"\x1aE\xdf\xa3", Kind.VIDEO, "webm"),
)
_BRANDS: tuple[tuple[tuple[bytes, ...], Kind, str], ...] = (
    ((b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"), Kind.PICTURE, HEIC),
    ((b"avif", b"avis"), Kind.PICTURE, "avif"),
    ((b"M4A ", b"M4B "), Kind.AUDIO, "m4a"),
)


def sniffed(head: bytes, name: str = "", media_type: str = "") -> tuple[Kind, str]:
    """The kind of a file that begins with `head` (up to `HEAD` bytes), and an ending for its name."""
    if not head:
        return Kind.EMPTY, "bin"
    if head[:4] == b"RIFF":
        form = {b"WEBP": (Kind.PICTURE, "webp"), b"WAVE": (Kind.AUDIO, "wav")}
        return form.get(head[8:12], (Kind.UNKNOWN, "bin"))
    if head[4:8] == b"ftyp":
        found = ((kind, ending) for brands, kind, ending in _BRANDS if head[8:12] in brands)
        return next(found, (Kind.AUDIO, "m4a") if _is_sound(name, media_type) else (Kind.VIDEO, "mp4"))
    for magic, kind, ending in _MAGIC:
        if head.startswith(magic) and not (magic == b"BM" and _is_text(head)):
            return (Kind.AUDIO if kind is Kind.VIDEO and _is_sound(name, media_type) else kind), ending
    if b"%PDF-" in head[:1024]:
        return Kind.PDF, "pdf"
    return _text_kind(head, name.casefold(), media_type) if _is_text(head) else (Kind.UNKNOWN, "bin")


def _is_sound(name: str, media_type: str) -> bool:
    """True for sound in a container that may also hold film."""
    return media_type.startswith("audio/") or name.casefold().endswith((".m4a", ".weba"))


def _text_kind(head: bytes, name: str, media_type: str) -> tuple[Kind, str]:
    start = head.removeprefix(b"\xef\xbb\xbf")
    if _SVG.match(start):
        return Kind.SVG, "svg"
    if _HTML.match(start) or (media_type == "text/html" and b"<" in head):
        return Kind.HTML, "html"
    headers = sum(_MAIL.match(line) is not None for line in start.split(b"\n\n")[0].splitlines())
    if _MAIL.match(start) and (name.endswith(".eml") or media_type == "message/rfc822" or headers > 2):
        return Kind.MAIL, "eml"
    return Kind.TEXT, "txt"


def _is_text(head: bytes) -> bool:
    """True for text in any encoding, also with a stray NUL."""
    if head.startswith(_UTF16):
        return True
    return sum(byte in _CONTROL for byte in head) * 20 <= len(head)
