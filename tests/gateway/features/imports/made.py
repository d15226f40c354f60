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


def chatgpt_message(role: str, text: str, at: float | None, /, **content: Any) -> dict[str, Any]:
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


def canvas(call: str, value: Any, at: float) -> dict[str, Any]:
    """A call of Canvas, with its arguments or a text in their place."""
    text = value if isinstance(value, str) else json.dumps(value)
    called = chatgpt_message("assistant", "", at, content_type="code", language="json", text=text, parts=None)
    return called | {"recipient": f"canmore.{call}"}


def canvas_answer(id: str, title: str = "") -> dict[str, Any]:
    told = chatgpt_message("tool", "Successfully updated text document", None)
    about = {"textdoc_id": id, "textdoc_type": "document", "version": 1, **({"title": title} if title else {})}
    return told | {"author": {"role": "tool", "name": "canmore"}, "metadata": {"canvas": about}}


def claude_use(name: str, given: Any, id: str | None = None) -> dict[str, Any]:
    """A call of a tool in the content of one of Claude's messages."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


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


def zipped(folder: Path, path: Path, top: str = "") -> Path:
    """A folder as programs zip it: with its own name on top, or without."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, f"{top}{file.relative_to(folder).as_posix()}")
    return path


def jsonl(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def oc_header(id: str, at: str) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": id, "timestamp": at, "cwd": "/home/anna/.openclaw/workspace"}


def oc_message(role: str, content: Any, at: str, id: str = "", **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    entry = {"type": "message", "parentId": None, "timestamp": at, "message": {"role": role, "content": blocks, **more}}
    return {"id": id or f"{role[0]}{at[-9:-1]}", **entry}


def from_telegram(text: str, **about: Any) -> str:
    """A message as OpenClaw hands it to the model and keeps it."""
    sender = {"message_id": "4542", "sender_id": "5003", "sender": "Ann", "timestamp": "Wed 2026-02-04 16:12 PDT"}
    blocks = {"Conversation info": {**sender, **about}, "Sender": {"label": "Ann (5003)", "id": "5003", "name": "Ann"}}
    told = (
        f"{name} (untrusted metadata):\n```json\n{json.dumps(one, indent=2)}\n```\n" for name, one in blocks.items()
    )
    return "\n".join(told) + f"\n{text}"


def openclaw_home(folder: Path) -> Path:
    """A home of OpenClaw: its workspace and the conversations of an agent."""
    openclaw(folder / "workspace")
    jsonl(
        folder / "agents/main/sessions/7d1a.jsonl",
        oc_header("7d1a", "2026-02-04T15:00:00.000Z"),
        {"type": "model_change", "id": "c1", "timestamp": "2026-02-04T15:00:00.001Z", "modelId": "kimi-k2"},
        oc_message("user", from_telegram("When does the ferry leave?"), "2026-02-04T15:12:00.000Z"),
        oc_message(
            "assistant",
            [{"type": "thinking", "thinking": "hm"}, {"type": "toolCall", "id": "1", "name": "exec", "arguments": {}}],
            "2026-02-04T15:12:03.000Z",
        ),
        oc_message("toolResult", "ferry.txt: 19:40", "2026-02-04T15:12:04.000Z", toolCallId="1"),
        oc_message("assistant", "[[reply_to_current]] At **19:40**.", "2026-02-04T15:12:09.000Z"),
    )
    return folder
