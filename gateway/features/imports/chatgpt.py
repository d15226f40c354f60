"""Conversations of a ChatGPT export: the branch of each that was last in view, with its documents of Canvas. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from agent.formats.parsing import load_json
from agent.languages.sentences import Sentence, joined
from agent.model.base import Json
from gateway.features.imports.documents import Documents, Replacement, text_of
from gateway.features.imports.values import Findings, ImportedChat, ImportedMessage

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
_CANVAS = "canmore."
_WHOLE = re.compile(
    r"""
      (?:\(\?[imsux]{1,5}\))? (?:\^|\\A)?
      (?:\. | \[(?:\\s\\S|\\S\\s|\\w\\W|\\W\\w|\\d\\D|\\D\\d)\] | \((?:\?:)?(?:\.\|\\n|\\n\|\.)\))
      [*+]\?? (?:\$|\\Z)?
    """,
    re.VERBOSE,
)
"""The patterns by which ChatGPT writes a whole document anew."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
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
    documents = Documents()
    in_view = [raw for node in branch(nodes, value.get("current_node")) if isinstance(raw := node.get("message"), dict)]
    for number, raw in enumerate(in_view):
        at = moment(raw.get("create_time")) or (messages[-1].at if messages else begun)
        if is_of_canvas := _is_of_canvas(raw):
            speaker, text = "ChatGPT", _follow(raw, _answer(in_view, number), documents, len(messages))
        else:
            speaker, text = _said(raw, unknown)
        if not text.strip() and not is_of_canvas:
            continue
        if at is None:
            findings.skip(Sentence("“{title}”", title=title), Sentence("has no date"))
            return None
        messages.append(ImportedMessage(at, speaker, text))
    if unknown:
        report_unknown(title, unknown, findings)
    documents.report(title, "Canvas", findings)
    id = value.get("conversation_id") or value.get("id") or (f"{begun.timestamp():.0f}" if begun else title)
    said = documents.placed(messages)
    return ImportedChat(str(id), title, said) if said else None


def report_unknown(title: str, kinds: Iterable[str], findings: Findings) -> None:
    why = Sentence("holds what cannot be shown as text ({kinds})", kinds=joined(sorted(kinds), ", "))
    findings.skip(Sentence("“{title}”", title=title), why)


def branch(nodes: Mapping[str, Mapping[str, Json]], current: Json) -> list[Mapping[str, Json]]:
    """The messages from the root to the current node, or else to the newest. Ends at a missing node or a cycle."""
    at: Json = current if isinstance(current, str) and current in nodes else _newest(nodes)
    seen: dict[str, None] = {}
    while isinstance(at, str) and at in nodes and at not in seen:
        seen[at] = None
        at = nodes[at].get("parent")
    return [nodes[id] for id in reversed(seen)]


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


def _is_of_canvas(raw: Mapping[str, Json]) -> bool:
    author = raw.get("author")
    return (
        isinstance(author, dict) and author.get("role") == "assistant" and text_of(raw, "recipient").startswith(_CANVAS)
    )


def _answer(messages: Sequence[Mapping[str, Json]], number: int) -> Mapping[str, Json]:
    """What Canvas says of the document after the call of that number."""
    for raw in messages[number + 1 : number + 4]:
        author, metadata = raw.get("author"), raw.get("metadata")
        if not isinstance(author, dict) or author.get("role") != "tool":
            break
        if isinstance(metadata, dict) and isinstance(canvas := metadata.get("canvas"), dict):
            return canvas
    return {}


def _follow(raw: Mapping[str, Json], answer: Mapping[str, Json], documents: Documents, message: int) -> str:
    """Writes or changes a document; returns the remarks beside it."""
    call, id, title = (
        text_of(raw, "recipient").removeprefix(_CANVAS),
        text_of(answer, "textdoc_id"),
        text_of(answer, "title"),
    )
    given = _arguments(raw.get("content"))
    match call:
        case "create_textdoc" if isinstance(text := given.get("content"), str):
            documents.write(id, title or text_of(given, "name"), text, message)
        case "update_textdoc" if (changes := _changes(given.get("updates"))) is not None:
            documents.change(id, title, changes, message)
        case "update_textdoc":
            documents.miss_change(id)
        case "comment_textdoc" if isinstance(comments := given.get("comments"), list):
            return "\n\n".join(
                filter(None, (text_of(comment, "comment").strip() for comment in comments if isinstance(comment, dict)))
            )
        case _:
            documents.miss_document(id)
    return ""


def _arguments(content: Json) -> Mapping[str, Json]:
    """What Canvas was called with; empty if it cannot be read."""
    if not isinstance(content, dict):
        return {}
    parts = content.get("parts")
    words = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    text = text_of(content, "text") or "".join(words)
    for end in ("", "]}"):  # which some exports leave out
        try:
            found = load_json(text + end)
        except ValueError:
            continue
        return found if isinstance(found, dict) else {}
    return {}


def _changes(updates: Json) -> list[Replacement] | None:
    found: list[Replacement] = []
    for update in updates if isinstance(updates, list) else []:
        if not isinstance(update, dict) or not isinstance(new := update.get("replacement"), str):
            return None
        pattern = text_of(update, "pattern")
        old = None if _WHOLE.fullmatch(pattern) else (pattern, _meant(pattern))
        found.append(Replacement(old, new, update.get("multiple") is True))
    return found or None


def _meant(pattern: str) -> str:
    r"""The text that a pattern of escaped signs means: `\(few\)` is `(few)`. Empty if it means more than one text."""
    if any(sign.isalnum() and sign not in _CONTROLS for sign in _ESCAPED.findall(pattern)):
        return ""
    return _ESCAPED.sub(lambda found: _CONTROLS.get(found[1], found[1]), pattern)


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
            findings.skip(Sentence("conversation {number}", number=number), Sentence("is not one of ChatGPT's"))
        elif (found_chat := chat(value, findings)) is not None:
            yield found_chat
