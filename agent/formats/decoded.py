"""Reads disguised text: in capitals, wide or look-alike letters, with invisible characters, percent-encoded, in base64,
hexadecimal or backwards. Pure, and linear in the text.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from urllib.parse import unquote_plus

_NOT_BARE = {code: None for code in range(128) if not chr(code).isalnum()}
_LOOK_ALIKE = str.maketrans("авеіјкмнорсѕтухуһԁԛԝɡαβεηικνορτυχ", "abeijkmhopcstyxyhdqwgabehikvoptux")
"""Small letters of Cyrillic and Greek by the Latin ones that look like them."""
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{8,}")
_BASE64_ALONE = re.compile(r"[A-Za-z0-9+_-]{8,}")
_BASE32 = re.compile(r"[A-Za-z2-7]{16,}")
_BASE32_DIGITS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHIJKLMNOPQRSTUV")
_HEX = re.compile(r"[0-9A-Fa-f]+(?:[-: .,_/][0-9A-Fa-f]+)*")
_NOT_HEX = re.compile(r"[^0-9A-Fa-f]")
_CODES = re.compile(r"\d{2,3}(?:[-: .,_/]\d{2,3}){3,}")
_ESCAPE = re.compile(r"(?:\\u|%u|\\U0000)([0-9A-Fa-f]{4})")
_PUNYCODE = re.compile(r"xn--([a-z0-9-]{1,60})", re.IGNORECASE)
_SAID = re.compile(r"[^\W_]{3,}")
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffd]+")
_DEEPEST = 3
_LEAST_SAID = 0.4
"""The share of decoded bytes that has to be text; less is noise."""
_MOST = 120
"""Readings of one text."""
_MOST_OF_PIECES = 40
_LONGEST = 20_000
"""Characters of a text that is decoded; a longer one is read only as it stands."""


def plain(text: str) -> str:
    """Letters and digits alone, in one spelling."""
    if text.isascii():
        return text.lower().translate(_NOT_BARE)
    split = unicodedata.normalize("NFKD", text.translate(_TAGS))
    bare = unicodedata.normalize("NFC", "".join(letter for letter in split if unicodedata.category(letter) != "Mn"))
    folded = unicodedata.normalize("NFKC", bare.casefold()).translate(_LOOK_ALIKE)
    return "".join(_digit(letter) for letter in folded if letter.isalnum())


@lru_cache(maxsize=256)
def readings(text: str) -> tuple[str, ...]:
    """Everything that a text may say, in plain letters and digits."""
    found: dict[str, None] = {plain(text): None}
    seen, todo = {text}, [(text, _DEEPEST)]
    for reading, deep in todo:
        if not deep or len(reading) > _LONGEST:
            continue
        for way in WAYS:
            for other in way(reading):
                if other and other not in seen and len(seen) < _MOST:
                    seen.add(other)
                    todo.append((other, deep - 1))
                    found[plain(other)] = None
    return tuple(filter(None, found))


def of_pieces(pieces: Sequence[str]) -> Iterator[str]:
    """The joined pieces, as they stand and with each piece decoded in the same ways."""
    first = tuple(pieces)
    seen, todo = {first}, [(first, _DEEPEST)]
    for some, deep in todo:
        yield "".join(some)
        for other in zip(*map(_ways_of_piece, some), strict=True) if deep else ():
            if other not in seen and len(seen) < _MOST_OF_PIECES:
                seen.add(other)
                todo.append((other, deep - 1))


@lru_cache(maxsize=4_096)
def _ways_of_piece(piece: str) -> tuple[str, ...]:
    """The piece decoded in each of the ways, or as it stands where that fails."""
    return tuple(way(piece) or piece for way in _WAYS_OF_PIECES)


def _digit(letter: str) -> str:
    return letter if letter.isascii() or not letter.isdigit() else str(unicodedata.digit(letter))


def _seen(text: str) -> Iterator[str]:
    """The text without invisible characters, in the usual form of each letter."""
    if not text.isascii():
        usual = unicodedata.normalize("NFKC", text.translate(_TAGS))
        yield "".join(character for character in usual if unicodedata.category(character) != "Cf")


def _unescaped(text: str) -> Iterator[str]:
    for _ in range(6):
        before = text
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), html.unescape(unquote_plus(text)))
        text = _PUNYCODE.sub(_of_punycode, text)
        if text == before:
            break
    yield text


def _of_punycode(match: re.Match[str]) -> str:
    try:
        return match[1].encode().decode("punycode")
    except UnicodeError:
        return match[0]


def _backwards(text: str) -> Iterator[str]:
    yield text[::-1]


def _rotated(text: str) -> Iterator[str]:
    if text.isascii():
        yield codecs.encode(text, "rot13")


def _of_base64(text: str) -> Iterator[str]:
    """Decodes runs, and the whole text without separators, from each of the four places where a group may begin."""
    found = [_BASE64.findall(text), _BASE64_ALONE.findall(text)]
    found += [[re.sub(r"[^A-Za-z0-9+]", "", text)]] if _may_be_cut(text) else []
    runs = [[run for run in some if not run.islower()] for some in found]  # of text it has capitals, words have none
    for start in range(4):
        for some in filter(None, runs):
            yield _joined(_bytes_of_base64(run[start:]) for run in some)


def _may_be_cut(text: str) -> bool:
    """False for words with spaces between them."""
    return sum(map(text.count, " \n\t")) * 12 <= len(text)


def _bytes_of_base64(run: str) -> bytes:
    whole = run[: len(run) - (len(run) % 4 == 1)]
    return base64.b64decode(whole.translate(str.maketrans("-_", "+/")) + "=" * (-len(whole) % 4))


def _of_base32(text: str) -> Iterator[str]:
    runs = [_BASE32.findall(text)]
    runs += [[re.sub(r"[^A-Za-z2-7]", "", text)]] if _may_be_cut(text) else []
    for some in runs:
        coded = [run for run in some if not run.isalpha()]
        for start in range(8 if coded else 0):
            yield _joined(_bytes_of_base32(run[start:]) for run in coded)


def _bytes_of_base32(run: str) -> bytes:
    whole = run[: len(run) - (len(run) % 8 in (1, 3, 6))]
    bits = 5 * len(whole)  # `base64` decodes it character by character in Python
    return (int(whole.upper().translate(_BASE32_DIGITS), 32) >> bits % 8).to_bytes(bits // 8) if whole else b""


def _of_hex(text: str) -> Iterator[str]:
    found = [run for run in _HEX.findall(text.replace("0x", "").replace("\\x", "")) if len(run) >= 8]
    runs = [digits for run in found if len(digits := _NOT_HEX.sub("", run)) >= 8]
    for start in range(2 if runs else 0):
        yield _joined(bytes.fromhex(run[start : len(run) - (len(run) - start) % 2]) for run in runs)


def _of_codes(text: str) -> Iterator[str]:
    for run in _CODES.findall(text):
        numbers = [int(number) for number in re.findall(r"\d+", run)]
        if all(32 <= number < 127 for number in numbers):
            yield "".join(map(chr, numbers))


def _joined(decoded: Iterator[bytes]) -> str:
    """The readable text in the bytes; empty for noise."""
    said: list[str] = []
    for data in decoded:
        text = data.decode("utf-8", "replace")
        parts = [part for part in _ODD.split(text) if _SAID.search(part)]
        said += parts if sum(map(len, parts)) >= _LEAST_SAID * len(text) else ()
    return "\n".join(said)


WAYS: Sequence[Callable[[str], Iterator[str]]] = (
    _seen,
    _unescaped,
    _backwards,
    _of_base64,
    _of_hex,
    _rotated,
    _of_base32,
    _of_codes,
)


def _exactly(decode: Callable[[str], bytes]) -> Callable[[str], str]:
    def read(piece: str) -> str:
        try:
            text = decode(piece).decode()
        except (ValueError, binascii.Error):
            return ""
        return text if text.isprintable() else ""

    return read


def _strict_base64(piece: str) -> bytes:
    bare = piece.rstrip("=").translate(str.maketrans("-_", "+/"))
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)


def _strict_base32(piece: str) -> bytes:
    bare = piece.rstrip("=").upper()
    return base64.b32decode(bare + "=" * (-len(bare) % 8))


_WAYS_OF_PIECES: Sequence[Callable[[str], str]] = (
    lambda piece: next(_unescaped(piece), ""),
    lambda piece: piece[::-1],
    lambda piece: codecs.encode(piece, "rot13"),
    _exactly(_strict_base64),
    _exactly(_strict_base32),
    _exactly(bytes.fromhex),
    _exactly(lambda piece: bytes(map(int, re.findall(r"\d+", piece)))),
)
