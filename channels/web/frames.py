"""Frames of the page's WebSocket: JSON objects with a `type`. `static/chat.js` is the other end.

From the page: `open {chat, key}` first; then `say {id, text, files}`, `resend {id, message, text}` (a new version of a
message), `press {id, message, data}`, `older {before}`, `earlier {message}` (the version before that one). To the page:
`opened`, `message`, `replaced {ids, turns}`, `draft`, `busy`, `kept {id}`, `refused {id, why}`, `older`, `earlier`,
`failed {why}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from agent.languages.codes import Language
from agent.languages.sentences import Sentence
from channels.json_fields import load_json
from channels.media_types import PICTURE_TYPES, SOUND_TYPES
from channels.message import CommandInfo
from channels.text import clean
from channels.web.format import file_name, rendered
from channels.web.record import NAME, ChatEntry, MessageAuthor, inbound_id

MAX_FRAME = 4_000_000
"""Bytes; a larger frame closes the connection, a smaller one that is too long is refused with a sentence."""
MAX_TEXT = 100_000
"""Characters of a person's message."""
MOST_FILES = 10
"""Per message."""


class BadFrame(Exception):
    """Invalid frame, with one sentence. `hopeless`: the following frames are of no use either."""

    def __init__(self, why: str, *, hopeless: bool = False) -> None:
        super().__init__(why)
        self.hopeless = hopeless


_Id = Annotated[str, Field(pattern="^[A-Za-z0-9_-]{8,64}$")]
_Clean = Annotated[str, AfterValidator(clean)]


@dataclass(frozen=True, slots=True)
class Open:
    chat: Annotated[str, Field(pattern="^[A-Za-z0-9_-]{1,64}$")]
    key: str = field(default="", repr=False)
    """The page's half of the session; empty for a bearer token."""
    type: Literal["open"] = "open"


@dataclass(frozen=True, slots=True)
class UploadedFile:
    handle: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    name: Annotated[_Clean, AfterValidator(lambda name: name[:200])]
    media_type: Annotated[_Clean, AfterValidator(lambda media_type: media_type[:100])]


@dataclass(frozen=True, slots=True)
class SayFrame:
    id: _Id
    text: _Clean
    files: tuple[UploadedFile, ...] = ()
    type: Literal["say"] = "say"


@dataclass(frozen=True, slots=True)
class ResendFrame:
    id: _Id
    message: _Id
    text: _Clean
    type: Literal["resend"] = "resend"


@dataclass(frozen=True, slots=True)
class PressFrame:
    id: _Id
    message: _Id
    data: str
    type: Literal["press"] = "press"


@dataclass(frozen=True, slots=True)
class StopFrame:
    id: _Id
    type: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Older:
    before: Annotated[int, Field(strict=True, ge=0, lt=2**62)]
    type: Literal["older"] = "older"


@dataclass(frozen=True, slots=True)
class Earlier:
    message: _Id
    type: Literal["earlier"] = "earlier"


PageFrame = Open | SayFrame | ResendFrame | PressFrame | StopFrame | Older | Earlier
_FRAME: TypeAdapter[PageFrame] = TypeAdapter(
    Annotated[PageFrame, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)


def read(frame: str) -> PageFrame:
    """Raises `BadFrame`."""
    try:
        fields = load_json(frame)
    except ValueError as error:
        raise BadFrame("that is not JSON", hopeless=True) from error
    if not isinstance(fields, dict):
        raise BadFrame("that is no JSON object", hopeless=True)
    try:
        return _FRAME.validate_python(fields)
    except ValidationError as error:
        raise BadFrame(_sentence(error.errors(include_url=False)[0], fields)) from error


def _sentence(problem: ErrorDetails, fields: Mapping[str, object]) -> str:
    name = next((part for part in reversed(problem["loc"]) if isinstance(part, str)), "")
    match problem["type"]:
        case "union_tag_invalid" | "union_tag_not_found":
            type = repr(str(fields.get("type"))[:40])
            return Sentence("there is no frame of the type {type}; reload the page", type=type)
        case "missing":
            return f"{name} is missing"
        case "string_pattern_mismatch":
            return f"{name} is not of the form {problem['ctx']['pattern'].strip('^$')}"
        case "string_type" | "string_unicode":
            return f"{name} is no text"
        case "tuple_type" | "dataclass_type":
            return f"{name} is no list of objects"
    return f"{name} is no number"


def message(entry: ChatEntry) -> str:
    return _frame({"type": "message", **_entry(entry)})


def opened(
    chat: str,
    entries: Sequence[ChatEntry],
    drafts: Iterable[tuple[str, str]],
    commands: Sequence[CommandInfo],
    language: Language,
    *,
    more: bool,
    busy: bool,
    largest_file: int,
) -> str:
    return _frame(
        {
            "type": "opened",
            "chat": chat,
            "messages": [_entry(entry) for entry in entries],
            "more": more,
            "drafts": [{"turn": turn, "html": rendered(text)} for turn, text in drafts],
            "busy": busy,
            "commands": [
                {"name": command.name, "usage": command.used(language), "description": command.described(language)}
                for command in commands
            ],
            "largest_file": largest_file,
            "longest_text": MAX_TEXT,
            "most_files": MOST_FILES,
        }
    )


def older(entries: Sequence[ChatEntry], *, more: bool) -> str:
    return _frame({"type": "older", "messages": [_entry(entry) for entry in entries], "more": more})


def earlier(message: str, entries: Sequence[ChatEntry]) -> str:
    return _frame({"type": "earlier", "message": message, "messages": [_entry(entry) for entry in entries]})


def replaced(entries: Sequence[ChatEntry]) -> str:
    """Says that messages, and previews of their turns, now belong to an earlier version."""
    turns = {
        f"{NAME}:{inbound_id(entry.id, entry.replaces)}" if entry.by is MessageAuthor.PERSON else entry.turn
        for entry in entries
    }
    return _frame({"type": "replaced", "ids": [entry.id for entry in entries], "turns": sorted(turns - {""})})


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
        "replaces": entry.replaces,
        "buttons": [[{"label": button.label, "data": button.data} for button in row] for row in entry.buttons],
        "files": [
            {
                "name": file_name(file.name),
                "url": f"/files/{entry.id}/{place}",
                "image": file.media_type in PICTURE_TYPES,
                "audio": file.media_type in SOUND_TYPES,
            }
            for place, file in enumerate(entry.files)
        ],
    }


def _frame(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
