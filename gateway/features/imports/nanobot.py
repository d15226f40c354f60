"""Sessions of nanobot, line by line: what the person and the assistant said. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from agent.clock import Clock
from agent.languages.sentences import Sentence
from agent.model.base import Json
from gateway.features.imports.chatgpt import moment
from gateway.features.imports.values import NOTHING, SessionLine

_SPEAKERS = {"user": "User", "assistant": "nanobot"}
_SILENT_ROLES = frozenset({"tool", "system", "developer"})
_SILENT_BLOCKS = frozenset({"thinking", "tool_use", "tool_result"})
_AUTOMATIC = ("_hidden_history", "_automation_turn", "_command", "_recovery_interrupted", "injected_event")
"""Fields of messages that nobody wrote, or that were commands."""
_CONTEXT = "[Runtime Context"
_PICTURE = re.compile(r"\[image: [^\[\]\n]{0,1000}\]")


class NanobotReader:
    """Reads the records of one file, in their order."""

    def __init__(self, file: str) -> None:
        self.id = file.removesuffix(".jsonl")
        self.title = self.id
        self.begun: datetime | None = None

    def said(self, record: Mapping[str, Json], clock: Clock) -> SessionLine:
        kind = record.get("_type")
        if kind == "metadata":
            self._begin(record, clock)
            return NOTHING
        if kind not in (None, "message"):
            return NOTHING if kind == "provider_state" else SessionLine(unknown=str(kind)[:40])
        role = record.get("role")
        if str(role) in _SILENT_ROLES:
            return NOTHING
        if role not in ("user", "assistant"):
            return SessionLine(unknown=Sentence("messages of {role}", role=str(role)[:28]))
        text, unknown = _text(record.get("content"))
        is_automatic = any(record.get(name) for name in _AUTOMATIC) or record.get("sender_id") == "subagent"
        at = _local(record.get("timestamp"), clock)
        return SessionLine(at, _SPEAKERS[role], "" if is_automatic else text, unknown, is_automatic)

    def _begin(self, record: Mapping[str, Json], clock: Clock) -> None:
        self.begun = _local(record.get("created_at"), clock)
        key, more = record.get("key"), record.get("metadata")
        title = more.get("title") if isinstance(more, dict) else None
        if isinstance(key, str) and key:
            self.id = self.title = key
        if isinstance(title, str) and title.strip():
            self.title = title


def _local(text: Json, clock: Clock) -> datetime | None:
    """A moment as nanobot writes it: by the wall clock of its machine, which is taken for the person's."""
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        found = None
    if found is None:
        return moment(text)
    return moment((found if found.tzinfo is not None else found.replace(tzinfo=clock.zone)).isoformat())


def _text(content: Json) -> tuple[str, str]:
    """The words, and the kind of a block that is not known."""
    if isinstance(content, str):
        return _clean(content), ""
    words: list[str] = []
    unknown = ""
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        text = block.get("text") if isinstance(block, dict) else None
        if kind == "text" and isinstance(text, str):
            words.append(_clean(text))
        elif kind in ("image", "image_url"):
            words.append("[a picture]")
        elif str(kind) not in _SILENT_BLOCKS:
            unknown = str(kind)[:40]
    return "\n\n".join(filter(None, words)), unknown


def _clean(text: str) -> str:
    """Without what nanobot writes around a message: the time and the chat before it, its aims after it."""
    if text.startswith(_CONTEXT):
        text = text.partition("\n\n")[2]
    return _PICTURE.sub("[a picture]", text.partition(f"\n\n{_CONTEXT}")[0]).strip()
