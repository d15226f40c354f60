"""Sessions of OpenClaw, line by line: what the person and the assistant said. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from agent.clock import Clock
from agent.formats.parsing import load_json
from agent.languages.sentences import Sentence
from agent.model.base import Json
from agent.silence import deliverable_text
from gateway.features.imports.chatgpt import moment
from gateway.features.imports.values import NOTHING, SessionLine

_PASSED_OVER = frozenset(
    {
        *("model_change", "thinking_level_change", "custom", "custom_message", "compaction", "branch_summary"),
        *("label", "leaf", "session_info"),
    }
)
"""Entries that nobody said."""
_SILENT_ROLES = frozenset({"toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary", "system"})
_SILENT_BLOCKS = frozenset({"thinking", "toolCall", "tool_use", "toolResult", "tool_result", "redacted_thinking"})
_AUTOMATIC = (
    *("A new session was started via", "Read HEARTBEAT.md if", "Pre-compaction memory flush", "[cron:"),
    *("[Subagent Context]", "[Subagent Task]", "An async command", "✅ New session started"),
)
"""Beginnings of messages that OpenClaw writes to itself, or that begin a session."""
_SILENCE = frozenset({"HEARTBEAT_OK", "/new", "/reset"})
_KEYS_OF_NOBODY = re.compile(r"(?:^|:)(?:cron|hook|subagent|acp|heartbeat|explicit:model-run[^:]*)(?::|$)")
_KEYS_OF_GROUPS = re.compile(r":(?:group|channel|room):")
_HEADER = re.compile(r"[^\n]{1,80} (?:\(untrusted[^)\n]{0,60}\):|⟦openclaw:ctx⟧)[ \t]*\n")
"""Stands before what a message carries about itself, in a block of JSON: who wrote it, in which chat."""
_STAMP = re.compile(r"\[[^\]\n]{0,200}\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,60}\][ \t]*")
_EVENT = re.compile(r"System: \[[^\n]{0,2000}\n*")
_ID = re.compile(r"\n?\[message_id: [^\]\n]{0,100}\][ \t]*\n?")
_TAG = re.compile(r"\[\[[a-z_]{1,40}(?:: ?[^\[\]\n]{0,80})?\]\][ \t]*")
_MOST_HEADERS = 50
_FENCE, _FENCE_END = "```json\n", "\n```"
_ZSTD = ".zst"


@dataclass(frozen=True, slots=True)
class ListedSession:
    """What the index of an agent says of a session."""

    title: str = ""
    is_group: bool = False
    is_automatic: bool = False


UNLISTED = ListedSession()
"""One that ended: the index knows the last of each chat only."""


def index(value: Json) -> Mapping[str, ListedSession]:
    """The sessions of sessions.json by their ids."""
    found: dict[str, ListedSession] = {}
    for key, entry in value.items() if isinstance(value, dict) else ():
        if isinstance(entry, dict) and isinstance(id := entry.get("sessionId"), str):
            titles = (entry.get(name) for name in ("label", "displayName", "subject"))
            is_group = bool(_KEYS_OF_GROUPS.search(key)) or str(entry.get("chatType")) in ("group", "channel", "room")
            title = next((given for given in titles if isinstance(given, str) and given.strip()), "")
            found[id] = ListedSession(title.strip(), is_group, bool(_KEYS_OF_NOBODY.search(key)))
    return found


def why_not(file: str) -> str:
    """Why the name of a file says that it holds no conversation to bring, empty if it may."""
    if file.endswith(_ZSTD):
        return Sentence("are packed with zstd: unpack them with `zstd -d`, then import again")
    if ".jsonl.deleted." in file:
        return Sentence("were deleted there")
    if ".checkpoint." in file or ".jsonl.bak" in file:
        return Sentence("are copies of others")
    if file.endswith(".jsonl") and not file.endswith(".trajectory.jsonl"):
        return ""
    return "" if ".jsonl.reset." in file else Sentence("hold no conversation")


def session_of(file: str) -> str:
    """The session's id in the name of its file, which topics of a group share."""
    return file.split(".jsonl", 1)[0].split("-topic-", 1)[0]


class OpenClawReader:
    """Reads the entries of one file, in their order. `seen` holds those of other files."""

    def __init__(self, file: str, session: ListedSession, seen: set[tuple[str, str]]) -> None:
        self.id = file.split(".jsonl", 1)[0]
        self.title = session.title
        self.begun: datetime | None = None
        self._is_group = session.is_group
        self._seen = seen
        self._last = ""

    def said(self, entry: Mapping[str, Json], clock: Clock) -> SessionLine:
        kind = entry.get("type")
        if kind == "session":
            self.begun = moment(entry.get("timestamp"))
            return NOTHING
        message = entry.get("message")
        if kind != "message" or not isinstance(message, dict):
            return NOTHING if str(kind) in _PASSED_OVER else SessionLine(unknown=str(kind)[:40])
        at = _at(entry, message)
        identity = (str(entry.get("id")), at.isoformat() if at is not None else "")
        if entry.get("id") is not None and at is not None:
            if identity in self._seen:
                return NOTHING
            self._seen.add(identity)
        role = message.get("role")
        if role not in ("user", "assistant"):
            others = Sentence("messages of {role}", role=str(role)[:28])
            return NOTHING if str(role) in _SILENT_ROLES else SessionLine(unknown=others)
        text, unknown = _text(message.get("content"))
        if role == "user":
            text, sender = _without_metadata(text)
            is_group = self._is_group or sender is not None
            speaker = (sender or _sender(message.get("__openclaw")) or "Somebody") if is_group else "User"
        else:
            text, speaker = _TAG.sub("", text).strip(), "OpenClaw"
            if text == self._last and message.get("provider") == "openclaw":  # what was sent, once more
                text = ""
        is_silence = text in _SILENCE or (bool(text) and not deliverable_text(text))
        is_automatic = is_silence or text.startswith(_AUTOMATIC)
        if text and not is_automatic:
            self._last = text
        return SessionLine(at, speaker, "" if is_automatic else text, unknown, is_automatic)


def _at(entry: Mapping[str, Json], message: Mapping[str, Json]) -> datetime | None:
    milliseconds = message.get("timestamp")
    is_number = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return moment(entry.get("timestamp")) or (moment(milliseconds / 1000) if is_number else None)  # type: ignore[operator]


def _text(content: Json) -> tuple[str, str]:
    """The words, and the kind of a block that is not known."""
    if isinstance(content, str):
        return content.strip(), ""
    words: list[str] = []
    unknown = ""
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        text = block.get("text") if isinstance(block, dict) else None
        if kind == "text" and isinstance(text, str):
            words.append(text.strip())
        elif kind == "image":
            words.append("[a picture]")
        elif str(kind) not in _SILENT_BLOCKS:
            unknown = str(kind)[:40]
    return "\n\n".join(filter(None, words)), unknown


def _without_metadata(text: str) -> tuple[str, str | None]:
    """What was written, and who wrote it if that was in a group."""
    sender: str | None = None
    text = text.strip()
    for _ in range(_MOST_HEADERS):
        if header := _HEADER.match(text):
            rest = text[header.end() :].lstrip()
            end = rest.find(_FENCE_END, len(_FENCE)) if rest.startswith(_FENCE) else -1
            if end < 0:
                break
            sender = _sender_in_group(rest[len(_FENCE) : end]) or sender
            text = rest[end + len(_FENCE_END) :].strip()
        elif match := _STAMP.match(text) or _EVENT.match(text) or _ID.match(text):
            text = text[match.end() :].strip()
        else:
            break
    last = text.rfind("\n[message_id: ")
    return (text[:last].rstrip() if last >= 0 and _ID.fullmatch(text, last) else text), sender


def _sender_in_group(data: str) -> str | None:
    try:
        about = load_json(data)
    except ValueError:
        return None
    if not isinstance(about, dict) or not (about.get("is_group_chat") or about.get("group_subject")):
        return None
    return _sender(about) or "Somebody"


def _sender(about: Json) -> str | None:
    if not isinstance(about, dict):
        return None
    given = about.get("sender") or about.get("senderName") or about.get("from")
    if isinstance(given, dict):
        given = given.get("name") or given.get("first_name") or given.get("username") or given.get("id")
    name = " ".join(str(given).split())[:80] if isinstance(given, str | int) else ""
    return name or None
