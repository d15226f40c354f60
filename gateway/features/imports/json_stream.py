"""Reads a large JSON list element by element, so that memory and the event loop are not held by the whole."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO

from agent.formats.parsing import load_json
from agent.languages.sentences import Sentence
from agent.model.base import Json
from gateway.features.imports.values import ImportRefused

_PIECE = 1_000_000
MOST_OF_ELEMENT = 64_000_000
"""Bytes of one element."""
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_BETWEEN = b" \t\r\n,"
_OF_BOM = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def elements(file: IO[bytes], name: str, most: int) -> Iterator[Json]:
    """The elements of the list in a JSON file of at most `most` bytes; an object is a list of one. None is one that
    cannot be read. Raises `ImportRefused`."""
    pieces = _pieces(file, name, most)
    buffer = bytearray(next(pieces, b""))
    buffer = buffer.lstrip(_BETWEEN)
    while not buffer and (piece := next(pieces, b"")):
        buffer = bytearray(piece).lstrip(_BETWEEN)
    if not buffer:
        raise ImportRefused(Sentence("{name} is empty.", name=name))
    is_list = buffer.startswith(b"[")
    if not is_list and not buffer.startswith(b"{"):
        raise ImportRefused(Sentence("{name} is not JSON, or not a list of conversations.", name=name))
    if is_list:
        del buffer[:1]
    at, depth = 0, 0
    while True:
        at = _after_text(buffer, at)
        while at >= len(buffer) or buffer[at] == ord('"'):
            piece = next(pieces, b"")
            if not piece:
                raise ImportRefused(
                    Sentence("{name} ends in the middle: it was not saved or downloaded completely.", name=name)
                )
            if not depth and buffer.strip(_BETWEEN) and at >= len(buffer):
                raise ImportRefused(Sentence("{name} is a list, but not one of conversations.", name=name))
            buffer += piece
            if len(buffer) > MOST_OF_ELEMENT + _PIECE:
                limit = MOST_OF_ELEMENT // 1_000_000
                raise ImportRefused(
                    Sentence(
                        "One conversation in {name} is larger than {limit} MB, so it was not read.",
                        name=name,
                        limit=limit,
                    )
                )
            at = _after_text(buffer, at)
        opens = buffer[at] in b"[{"
        if not depth and (not opens or buffer[:at].strip(_BETWEEN)):
            if buffer[at] == ord("]") and is_list and not buffer[:at].strip(_BETWEEN):
                return
            raise ImportRefused(Sentence("{name} is not JSON, or not a list of conversations.", name=name))
        depth += 1 if opens else -1
        at += 1
        if depth == 0:
            yield _parsed(bytes(buffer[:at].lstrip(_BETWEEN)))
            del buffer[:at]
            at = 0
            if not is_list:
                return


def _after_text(buffer: bytearray, at: int) -> int:
    match = _TO_BRACKET.match(buffer, at)
    return match.end() if match else at


def _parsed(data: bytes) -> Json:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    try:
        value: Json = load_json(text)
    except ValueError:
        return None
    return value


def _pieces(file: IO[bytes], name: str, most: int) -> Iterator[bytes]:
    read = 0
    first = file.read(_PIECE)
    encoding = next((encoding for bom, encoding in _OF_BOM.items() if first.startswith(bom)), "")
    decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
    piece = first.removeprefix(codecs.BOM_UTF8)
    while piece:
        read += len(piece)
        if read > most:
            limit = f"{most // 1_000_000:,}"
            raise ImportRefused(
                Sentence("{name} is larger than {limit} MB, so it was not read.", name=name, limit=limit)
            )
        yield decoder.decode(piece).encode() if decoder else piece
        piece = file.read(_PIECE)
