"""Frames of the page's WebSocket: JSON objects with a `type`. `page.html` is the other end.

From the page: `open {chat, key}` first; then `say {id, text, files}`, `press {id, message, data}`, `older {before}`. To
the page: `opened`, `message`, `draft`, `busy`, `kept {id}`, `refused {id, why}`, `older`, `failed {why}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from channels.json_fields import load_json
from channels.message import CommandInfo
from channels.text import clean
from channels.web.format import file_name, rendered
from channels.web.record import ChatEntry, MessageAuthor
from channels.web.uploads import PICTURE_TYPES

MAX_FRAME = 4_000_000
"""Bytes; a larger frame closes the connection, a smaller one that is too long is refused with a sentence."""
MAX_TEXT = 100_000
"""Characters of a person's message."""
MOST_FILES = 10
"""Per message."""

_CHAT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_HANDLE = re.compile(r"[0-9a-f]{32}")


class BadFrame(Exception):
    """Invalid frame, with one sentence. `hopeless`: the following frames are of no use either."""

    def __init__(self, why: str, *, hopeless: bool = False) -> None:
        super().__init__(why)
        self.hopeless = hopeless


@dataclass(frozen=True, slots=True)
class Open:
    """`key`: the page's half of the session; empty for a bearer token."""

    chat: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class UploadedFile:
    handle: str
    name: str
    media_type: str


@dataclass(frozen=True, slots=True)
class SayFrame:
    id: str
    text: str
    files: tuple[UploadedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class PressFrame:
    id: str
    message: str
    data: str


@dataclass(frozen=True, slots=True)
class Older:
    before: int


PageFrame = Open | SayFrame | PressFrame | Older


def read(frame: str) -> PageFrame:
    """Raises `BadFrame`."""
    try:
        fields = load_json(frame)
    except ValueError as error:
        raise BadFrame("that is not JSON", hopeless=True) from error
    if not isinstance(fields, dict):
        raise BadFrame("that is no JSON object", hopeless=True)
    match fields.get("type"):
        case "open":
            return Open(_field(fields, "chat", _CHAT), _string(fields, "key") if "key" in fields else "")
        case "say":
            return SayFrame(_field(fields, "id", _ID), clean(_string(fields, "text")), _files(fields))
        case "press":
            return PressFrame(_field(fields, "id", _ID), _field(fields, "message", _ID), _string(fields, "data"))
        case "older":
            before = fields.get("before")
            if not isinstance(before, int) or isinstance(before, bool) or not 0 <= before < 2**62:
                raise BadFrame("before is missing or no number")
            return Older(before)
        case other:
            raise BadFrame(f"there is no frame of the type {str(other)[:40]!r}; reload the page")


def _string(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise BadFrame(f"{name} is missing or no text")
    return value


def _field(fields: Mapping[str, object], name: str, shape: re.Pattern[str]) -> str:
    value = _string(fields, name)
    if not shape.fullmatch(value):
        raise BadFrame(f"{name} is not of the form {shape.pattern}")
    return value


def _files(fields: Mapping[str, object]) -> tuple[UploadedFile, ...]:
    files = fields.get("files", [])
    if not isinstance(files, list) or not all(isinstance(one, dict) for one in files):
        raise BadFrame("files is no list of objects")
    return tuple(
        UploadedFile(
            _field(one, "handle", _HANDLE), clean(_string(one, "name"))[:200], clean(_string(one, "media_type"))[:100]
        )
        for one in files
    )


def message(entry: ChatEntry) -> str:
    return _frame({"type": "message", **_entry(entry)})


def opened(
    chat: str,
    entries: Sequence[ChatEntry],
    drafts: Iterable[tuple[str, str]],
    commands: Sequence[CommandInfo],
    *,
    more: bool,
    busy: bool,
    largest_file: int,
) -> str:
    return _frame(
        {
            "type": "opened",
            "chat": chat,
            "messages": [_entry(one) for one in entries],
            "more": more,
            "drafts": [{"turn": turn, "html": rendered(text)} for turn, text in drafts],
            "busy": busy,
            "commands": [{"name": one.name, "usage": one.usage, "description": one.description} for one in commands],
            "largest_file": largest_file,
            "longest_text": MAX_TEXT,
            "most_files": MOST_FILES,
        }
    )


def older(entries: Sequence[ChatEntry], *, more: bool) -> str:
    return _frame({"type": "older", "messages": [_entry(one) for one in entries], "more": more})


def draft(turn: str, text: str) -> str:
    return _frame({"type": "draft", "turn": turn, "html": rendered(text)})


def busy(on: bool) -> str:
    return _frame({"type": "busy", "on": on})


def kept(id: str) -> str:
    return _frame({"type": "kept", "id": id})


def refused(id: str, why: str, *, again: bool) -> str:
    """`again`: the same message may succeed later."""
    return _frame({"type": "refused", "id": id, "why": why, "again": again})


def failed(why: str) -> str:
    return _frame({"type": "failed", "why": why})


def _entry(entry: ChatEntry) -> dict[str, object]:
    is_ours = entry.by is MessageAuthor.DAYBOOK
    return {
        "number": entry.number,
        "id": entry.id,
        "by": str(entry.by),
        "at": entry.at,
        "html" if is_ours else "text": rendered(entry.text) if is_ours and entry.text else entry.text,
        "reply_to": entry.reply_to,
        "turn": entry.turn,
        "error": entry.is_error,
        "buttons": [[{"label": one.label, "data": one.data} for one in row] for row in entry.buttons],
        "files": [
            {
                "name": file_name(file.name),
                "url": f"/files/{entry.id}/{place}",
                "image": file.media_type in PICTURE_TYPES,
            }
            for place, file in enumerate(entry.files)
        ],
    }


def _frame(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
