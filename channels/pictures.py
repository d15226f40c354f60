"""Pictures that browsers and chats show, by their bytes."""

from __future__ import annotations

HEAD = 16
"""Bytes that tell the type."""
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_WEBP = "image/webp"
PICTURE_TYPES = frozenset({_WEBP, *(kind for _, kind in _STARTS)})
"""Types that a browser shows and that cannot run scripts."""


def picture_type(content: bytes) -> str:
    """One of `PICTURE_TYPES`, else empty."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return _WEBP
    return next((kind for start, kind in _STARTS if content.startswith(start)), "")
