"""Files for tests, as small as they can be."""

from __future__ import annotations

import struct
import zlib


def png(width: int = 2, height: int = 2, *, padding: int = 0) -> bytes:
    """A picture's header with no more behind it than `padding` bytes."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + b"\0" * padding
    )


EVERY_BYTE = bytes(range(256)) * 300 + b"\r\n\r\n--\r\n"
