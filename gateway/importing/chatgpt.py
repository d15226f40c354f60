"""Conversations of a ChatGPT export: the branch of each that was last in view. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from agent.model.base import Json
from gateway.importing.values import Findings, ImportedChat, ImportedMessage

_SPEAKERS = {"user": "User", "assistant": "ChatGPT"}
_PASSED_OVER = frozenset(
    {
        "user_editable_context",
        "model_editable_context",
        "thoughts",
        "reasoning_recap",
        "execution_output",
        "code",
        "tether_quote",
        "tether_browsing_display",
        "system_error",
    }
)
"""Kinds of content that ChatGPT does not show as messages."""
_YEARS = range(1980, 2200)


def is_chat(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def chat(value: Mapping[str, Json], findings: Findings) -> ImportedChat | None:
    """None if nothing was said in it."""
    title = str(value.get("title") or "").strip() or "Untitled"
    mapping = value.get("mapping")
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)} if isinstance(mapping, dict) else {}
    begun = moment(value.get("create_time")) or moment(value.get("update_time"))
    messages: list[ImportedMessage] = []
    unknown: set[str] = set()
    for node in branch(nodes, value.get("current_node")):
        raw = node.get("message")
        if not isinstance(raw, dict):
            continue
        at = moment(raw.get("create_time")) or (messages[-1].at if messages else begun)
        speaker, text = _said(raw, unknown)
        if not text.strip():
            continue
        if at is None:
            findings.skip(f"“{title}”", "has no date")
            return None
        messages.append(ImportedMessage(at, speaker, text))
    if unknown:
        findings.skip(f"“{title}”", f"holds what cannot be shown as text ({', '.join(sorted(unknown))})")
    id = value.get("conversation_id") or value.get("id") or (f"{begun.timestamp():.0f}" if begun else title)
    return ImportedChat(str(id), title, tuple(messages)) if messages else None


def branch(nodes: Mapping[str, Mapping[str, Json]], current: Json) -> list[Mapping[str, Json]]:
    """The messages from the root to the current node, or else to the newest. Ends at a missing node or a cycle."""
    at: Json = current if isinstance(current, str) and current in nodes else _newest(nodes)
    seen: dict[str, None] = {}
    while isinstance(at, str) and at in nodes and at not in seen:
        seen[at] = None
        at = nodes[at].get("parent")
    return [nodes[one] for one in reversed(seen)]


def _newest(nodes: Mapping[str, Mapping[str, Json]]) -> str | None:
    def time(key: str) -> float:
        message = nodes[key].get("message")
        found = moment(message.get("create_time")) if isinstance(message, dict) else None
        return found.timestamp() if found is not None else -math.inf

    return max(nodes, key=time, default=None)


def _said(raw: Mapping[str, Json], unknown: set[str]) -> tuple[str, str]:
    """The speaker and the words, empty for what was not in view."""
    author, content, metadata = raw.get("author"), raw.get("content"), raw.get("metadata")
    role = author.get("role") if isinstance(author, dict) else None
    speaker = _SPEAKERS.get(str(role))
    is_hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True
    if speaker is None or is_hidden or not isinstance(content, dict):
        return "", ""
    if raw.get("recipient") not in (None, "all"):  # a call of a tool
        return "", ""
    kind = str(content.get("content_type"))
    if kind in _PASSED_OVER:
        return "", ""
    parts = content.get("parts")
    if not isinstance(parts, list):
        parts = [content.get("text") or content.get("result")]
    words = "\n\n".join(filter(None, (_part(part, unknown) for part in parts)))
    if not words and kind not in ("text", "multimodal_text"):
        unknown.add(kind[:40])
    return speaker, words


def _part(part: Json, unknown: set[str]) -> str:
    if isinstance(part, str):
        return part.strip()
    if not isinstance(part, dict):
        return ""
    kind = str(part.get("content_type"))
    text = part.get("text")
    if isinstance(text, str):  # a spoken message, by its words
        return text.strip()
    if "image" in kind:
        return "[a picture]"
    if "audio" in kind or "video" in kind:
        return ""
    unknown.add(kind[:40])
    return ""


def moment(seconds: Json) -> datetime | None:
    """A plausible moment of seconds since 1970, or of ISO 8601."""
    try:
        if isinstance(seconds, str):
            found = datetime.fromisoformat(seconds)
            found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        elif isinstance(seconds, int | float) and not isinstance(seconds, bool):
            found = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.year in _YEARS else None


def chats(found: Iterator[Json], findings: Findings) -> Iterator[ImportedChat]:
    """All conversations; what is none is reported."""
    for number, value in enumerate(found, 1):
        if not isinstance(value, dict) or not is_chat(value):
            findings.skip(f"conversation {number}", "is not one of ChatGPT's")
        elif (one := chat(value, findings)) is not None:
            yield one
