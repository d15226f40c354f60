"""Conversations, memories and projects of a Claude export. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from agent.model.base import Json
from gateway.importing.chatgpt import moment
from gateway.importing.values import Findings, ImportedChat, ImportedDocument, ImportedMessage

_SPEAKERS = {"human": "User", "assistant": "Claude"}
_PASSED_OVER = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "token_budget", "flag", "image"})


def is_chat(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def chat(value: Mapping[str, Json], findings: Findings) -> ImportedChat | None:
    """None if nothing was said in it."""
    title = str(value.get("name") or "").strip() or "Untitled"
    begun = moment(value.get("created_at")) or moment(value.get("updated_at"))
    messages: list[ImportedMessage] = []
    unknown: set[str] = set()
    raw = value.get("chat_messages")
    for one in raw if isinstance(raw, list) else []:
        if not isinstance(one, dict):
            continue
        speaker = _SPEAKERS.get(str(one.get("sender")))
        text, documents = _text(one, unknown), _documents(one)
        if not text and not documents:
            continue
        at = moment(one.get("created_at")) or (messages[-1].at if messages else begun)
        if speaker is None:
            unknown.add(f"messages of “{str(one.get('sender'))[:40]}”")
            continue
        if at is None:
            findings.skip(f"“{title}”", "has no date")
            return None
        messages.append(ImportedMessage(at, speaker, text, documents))
    if unknown:
        findings.skip(f"“{title}”", f"holds what cannot be shown as text ({', '.join(sorted(unknown))})")
    id = value.get("uuid") or (f"{begun.timestamp():.0f}" if begun else title)
    return ImportedChat(str(id), title, tuple(messages)) if messages else None


def _text(message: Mapping[str, Json], unknown: set[str]) -> str:
    blocks = message.get("content")
    words: list[str] = []
    for block in blocks if isinstance(blocks, list) else []:
        if not isinstance(block, dict):
            continue
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            words.append(text.strip())
        elif (kind := str(block.get("type"))) not in _PASSED_OVER:
            unknown.add(kind[:40])
    plain = message.get("text")
    return "\n\n".join(filter(None, words)) or (plain.strip() if isinstance(plain, str) else "")


def _documents(message: Mapping[str, Json]) -> tuple[ImportedDocument, ...]:
    given = message.get("attachments")
    found: list[ImportedDocument] = []
    for one in given if isinstance(given, list) else []:
        if isinstance(one, dict) and isinstance(text := one.get("extracted_content"), str) and text.strip():
            found.append(ImportedDocument(str(one.get("file_name") or "a document"), text.strip()))
    return tuple(found)


def chats(found: Iterator[Json], findings: Findings) -> Iterator[ImportedChat]:
    """All conversations; what is none is reported."""
    for number, value in enumerate(found, 1):
        if not isinstance(value, dict) or not is_chat(value):
            findings.skip(f"conversation {number}", "is not one of Claude's")
        elif (one := chat(value, findings)) is not None:
            yield one


@dataclass(frozen=True, slots=True)
class ImportedNote:
    """A note, in Markdown. `folder` holds its documents."""

    name: str
    description: str
    created: datetime | None
    text: str
    documents: tuple[ImportedDocument, ...] = ()


def memories(found: Iterator[Json], findings: Findings) -> Iterator[ImportedNote]:
    """What Claude remembered."""
    for number, value in enumerate(found, 1):
        if not isinstance(value, dict):
            findings.skip(f"memory {number}", "is not one of Claude's")
            continue
        text = value.get("conversations_memory") or value.get("memory")
        parts = [text.strip()] if isinstance(text, str) else []
        projects = value.get("project_memories")
        for one in projects.values() if isinstance(projects, dict) else ():
            parts += [one.strip()] if isinstance(one, str) else []
        if any(parts):
            yield ImportedNote(
                "Claude memory", "What Claude remembered", moment(value.get("updated_at")), "\n\n".join(parts)
            )
        else:
            findings.skip(f"memory {number}", "holds no text")


def projects(found: Iterator[Json], findings: Findings) -> Iterator[ImportedNote]:
    """Projects with their instructions and documents."""
    for number, value in enumerate(found, 1):
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            findings.skip(f"project {number}", "is not one of Claude's")
            continue
        parts = [str(value[key]).strip() for key in ("description", "prompt_template") if value.get(key)]
        given = value.get("docs")
        documents = tuple(
            ImportedDocument(str(one.get("filename") or "document"), one["content"].strip())
            for one in (given if isinstance(given, list) else [])
            if isinstance(one, dict) and isinstance(one.get("content"), str) and one["content"].strip()
        )
        if any(parts) or documents:
            name = f"Claude project {str(value['name']).strip()}"
            yield ImportedNote(
                name,
                "A project in Claude",
                moment(value.get("created_at")),
                "\n\n".join(filter(None, parts)),
                documents,
            )
