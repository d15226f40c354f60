"""Types of pictures and sounds that browsers and chats can show and play, recognized by their bytes."""

from __future__ import annotations

HEAD = 64
"""Bytes that tell the type."""
_PICTURE_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_SOUND_STARTS = (
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
)
_WEBP = "image/webp"
_WAVE = "audio/wav"
PICTURE_TYPES = frozenset({_WEBP, *(kind for _, kind in _PICTURE_STARTS)})
"""Types that a browser shows and that cannot run scripts."""
SOUND_TYPES = frozenset({_WAVE, *(kind for _, kind in _SOUND_STARTS)})


def picture_type(content: bytes) -> str:
    """One of `PICTURE_TYPES`, else empty."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return _WEBP
    return next((kind for start, kind in _PICTURE_STARTS if content.startswith(start)), "")


def sound_type(content: bytes) -> str:
    """One of `SOUND_TYPES`, else empty."""
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return _WAVE
    return next((kind for start, kind in _SOUND_STARTS if content.startswith(start)), "")


def is_voice_note(content: bytes) -> bool:
    """True for Ogg/Opus, which Telegram shows as a voice note."""
    return content.startswith(b"OggS") and b"OpusHead" in content[:HEAD]
