"""Exports and workspaces as the other programs write them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LISBON = "2025-03-04T10:22:11.123456Z"
KEY = "sk-ant-" + "api03-" + "A1b2C3d4" * 4
"""Looks like a key, and is none."""


def claude_message(sender: str, text: str, at: str = LISBON, **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"m-{at}-{sender}",
        "text": text,
        "content": [{"type": "text", "text": text, "citations": []}],
        "sender": sender,
        "created_at": at,
        "updated_at": at,
        "attachments": [],
        "files": [],
        **more,
    }


def claude_chat(
    *messages: Mapping[str, Any], id: str = "0195-lisbon", name: str = "Trip to Lisbon", at: str = LISBON
) -> dict[str, Any]:
    return {
        "uuid": id,
        "name": name,
        "summary": "",
        "created_at": at,
        "updated_at": at,
        "account": {"uuid": "a-1"},
        "chat_messages": list(messages),
    }


def lisbon(**more: Any) -> dict[str, Any]:
    return claude_chat(
        claude_message("human", "Where do we eat in Lisbon? Mia is allergic to clams."),
        claude_message("assistant", "Try **Ramiro**.\n\n- fish\n- no clams", "2025-03-04T10:23:41.5Z"),
        **more,
    )


def claude_zip(path: Path, chats: Sequence[Any], **more: Any) -> Path:
    """`more`: other files of the export by their stems."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for stem, value in {"conversations": chats, "users": [], **more}.items():
            archive.writestr(f"{stem}.json", json.dumps(value))
    return path


def chatgpt_message(role: str, text: str, at: float | None, **content: Any) -> dict[str, Any]:
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text], **content},
        "metadata": {},
        "recipient": "all",
    }


def chatgpt_chat(*messages: Mapping[str, Any], id: str = "6f-lisbon", title: str = "Trip") -> dict[str, Any]:
    """A tree without branches, below the empty root that ChatGPT writes."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    last = "root"
    for number, message in enumerate(messages):
        name = f"n{number}"
        mapping[name] = {"id": name, "message": message, "parent": last, "children": []}
        last = name
    return {
        "title": title,
        "create_time": 1741083731.1,
        "mapping": mapping,
        "current_node": last,
        "conversation_id": id,
    }


def openclaw(folder: Path) -> Path:
    """A workspace as OpenClaw leaves it."""
    texts = {
        "MEMORY.md": "# Memory\n\n## People\n\n- Mia is my daughter\n- Bo is the dog\n"
        "\n## Work\n\n- I work at the mill\n",
        "memory/2026-01-30.md": "# 2026-01-30\n\n- met Ann at the harbour\n",
        "memory/2026-02-01-bike-talk.md": "user: which bike?\nassistant: the red one\n",
        "USER.md": "- Name: Anna\n",
        "SOUL.md": "Be kind.\n",
        "AGENTS.md": "Use the browser tool.\n",
        "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: reads pdf\n---\n\nUse pdftotext.\n",
        "skills/pdf/run.py": "print(1)\n",
    }
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
