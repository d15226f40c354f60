"""Conversations with their Artifacts, memories and projects of a Claude export. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from agent.languages.sentences import Sentence
from agent.model.base import Json
from gateway.features.imports.chatgpt import moment, report_unknown
from gateway.features.imports.documents import Documents, Replacement, text_of
from gateway.features.imports.values import Findings, ImportedChat, ImportedDocument, ImportedMessage

_SPEAKERS = {"human": "User", "assistant": "Claude"}
_PASSED_OVER = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "token_budget", "flag", "image"})
_WRITERS = frozenset({"artifacts", "create_file", "str_replace"})
"""Tools that write documents."""


def is_chat(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def chat(value: Mapping[str, Json], findings: Findings) -> ImportedChat | None:
    """None if nothing was said in it."""
    title = str(value.get("name") or "").strip() or "Untitled"
    begun = moment(value.get("created_at")) or moment(value.get("updated_at"))
    messages: list[ImportedMessage] = []
    unknown: set[str] = set()
    written = Documents()
    raw = value.get("chat_messages")
    for message in raw if isinstance(raw, list) else []:
        if not isinstance(message, dict):
            continue
        speaker = _SPEAKERS.get(str(message.get("sender")))
        calls = _calls(message) if speaker == "Claude" else []
        text, documents = _text(message, unknown), _documents(message)
        if not text and not documents and not calls:
            continue
        at = moment(message.get("created_at")) or (messages[-1].at if messages else begun)
        if speaker is None:
            unknown.add(Sentence("messages of “{role}”", role=str(message.get("sender"))[:40]))
            continue
        if at is None:
            findings.skip(Sentence("“{title}”", title=title), Sentence("has no date"))
            return None
        for name, given in calls:
            _follow(name, given, written, len(messages))
        messages.append(ImportedMessage(at, speaker, text, documents))
    if unknown:
        report_unknown(title, unknown, findings)
    written.report(title, Sentence("Claude's"), findings)
    id = value.get("uuid") or (f"{begun.timestamp():.0f}" if begun else title)
    said = written.placed(messages)
    return ImportedChat(str(id), title, said) if said else None


def _blocks(message: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text(message: Mapping[str, Json], unknown: set[str]) -> str:
    words: list[str] = []
    kinds = set[str]()
    for block in _blocks(message):
        kind, text = str(block.get("type")), block.get("text")
        kinds.add(kind)
        if kind == "text" and isinstance(text, str):
            words.append(text.strip())
        elif kind not in _PASSED_OVER:
            unknown.add(kind[:40])
    plain = (
        "" if "tool_use" in kinds else text_of(message, "text").strip()
    )  # which says of calls that they are not shown
    return "\n\n".join(filter(None, words)) or plain


def _calls(message: Mapping[str, Json]) -> list[tuple[str, Mapping[str, Json]]]:
    """The calls that write documents, but those that failed: names and arguments."""
    blocks = _blocks(message)
    failed = {text_of(block, "tool_use_id") for block in blocks if block.get("is_error") is True}
    found: list[tuple[str, Mapping[str, Json]]] = []
    for number, block in enumerate(blocks):
        if block.get("type") != "tool_use" or (name := text_of(block, "name")) not in _WRITERS:
            continue
        id, given, after = text_of(block, "id"), block.get("input"), blocks[number + 1 : number + 2]
        if id in failed if id else any(result.get("is_error") is True for result in after):
            continue
        found.append((name, given if isinstance(given, dict) else {}))
    return found


def _follow(name: str, given: Mapping[str, Json], documents: Documents, message: int) -> None:
    """Writes or changes a document."""
    path = text_of(given, "path")
    id, title = (
        (text_of(given, "id"), text_of(given, "title")) if name == "artifacts" else (path, PurePosixPath(path).name)
    )
    text = given.get("file_text" if name == "create_file" else "content")
    command = "update" if name == "str_replace" else text_of(given, "command")
    old, new = given.get("old_str"), given.get("new_str", "")
    if command == "update" and isinstance(old, str) and isinstance(new, str):
        documents.change(id, title, [Replacement((old,), new)], message)
    elif command == "update":
        documents.miss_change(id)
    elif not isinstance(text, str):
        documents.miss_document(id)
    elif command == "rewrite":
        documents.change(id, title, [Replacement(None, text)], message)
    else:
        documents.write(id, title, text, message)


def _documents(message: Mapping[str, Json]) -> tuple[ImportedDocument, ...]:
    given = message.get("attachments")
    found: list[ImportedDocument] = []
    for attachment in given if isinstance(given, list) else []:
        if (
            isinstance(attachment, dict)
            and isinstance(text := attachment.get("extracted_content"), str)
            and text.strip()
        ):
            found.append(ImportedDocument(str(attachment.get("file_name") or "a document"), text.strip()))
    return tuple(found)


def chats(found: Iterator[Json], findings: Findings) -> Iterator[ImportedChat]:
    """All conversations; what is none is reported."""
    for number, value in enumerate(found, 1):
        if not isinstance(value, dict) or not is_chat(value):
            findings.skip(Sentence("conversation {number}", number=number), Sentence("is not one of Claude's"))
        elif (found_chat := chat(value, findings)) is not None:
            yield found_chat


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
            findings.skip(Sentence("memory {number}", number=number), Sentence("is not one of Claude's"))
            continue
        text = value.get("conversations_memory") or value.get("memory")
        parts = [text.strip()] if isinstance(text, str) else []
        projects = value.get("project_memories")
        for project in projects.values() if isinstance(projects, dict) else ():
            parts += [project.strip()] if isinstance(project, str) else []
        if any(parts):
            yield ImportedNote(
                "Claude memory", "What Claude remembered", moment(value.get("updated_at")), "\n\n".join(parts)
            )
        else:
            findings.skip(Sentence("memory {number}", number=number), Sentence("holds no text"))


def projects(found: Iterator[Json], findings: Findings) -> Iterator[ImportedNote]:
    """Projects with their instructions and documents."""
    for number, value in enumerate(found, 1):
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            findings.skip(Sentence("project {number}", number=number), Sentence("is not one of Claude's"))
            continue
        parts = [str(value[key]).strip() for key in ("description", "prompt_template") if value.get(key)]
        given = value.get("docs")
        documents = tuple(
            ImportedDocument(str(document.get("filename") or "document"), document["content"].strip())
            for document in (given if isinstance(given, list) else [])
            if isinstance(document, dict) and isinstance(document.get("content"), str) and document["content"].strip()
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
