"""Sounds that browsers and chats play, by their bytes."""

from __future__ import annotations

HEAD = 64
"""Bytes that tell the type."""
OGG = "audio/ogg"
_STARTS = (
    (b"OggS", OGG),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
)
SOUND_TYPES = frozenset({"audio/wav", *(kind for _, kind in _STARTS)})


def sound_type(content: bytes) -> str:
    """One of `SOUND_TYPES`, else empty."""
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return "audio/wav"
    return next((kind for start, kind in _STARTS if content.startswith(start)), "")


def is_voice_note(content: bytes) -> bool:
    """True for Ogg/Opus, which Telegram shows as a voice note."""
    return content.startswith(b"OggS") and b"OpusHead" in content[:HEAD]
