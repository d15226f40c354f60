"""What a person calls a conversation, and whether it is put away: a small file beside its transcript. Blocks."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path

from agent.formats.parsing import load_json
from agent.fs import rewrite

_log = logging.getLogger(__name__)
LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class SessionLabel:
    title: str = ""
    """Empty: made from the first message."""
    archived: bool = False


def label_path(transcript: Path) -> Path:
    return transcript.with_suffix(".label.json")


def read_label(transcript: Path) -> SessionLabel:
    """A damaged file counts as none."""
    path = label_path(transcript)
    try:
        return _read(path.read_bytes())
    except FileNotFoundError:
        return SessionLabel()
    except (OSError, ValueError) as problem:
        _log.warning("%s cannot be read: %s", path.name, problem)
        return SessionLabel()


def change_label(transcript: Path, *, title: str | None = None, archived: bool | None = None) -> None:
    """Sets what is given. Raises `OSError`."""

    def changed(before: bytes | None) -> str:
        try:
            label = _read(before or b"{}")
        except ValueError:
            label = SessionLabel()
        new_title = label.title if title is None else title
        return json.dumps({"title": new_title, "archived": label.archived if archived is None else archived}) + "\n"

    rewrite(label_path(transcript), changed)


def _read(content: bytes) -> SessionLabel:
    data = load_json(content)
    fields = data if isinstance(data, dict) else {}
    title, archived = fields.get("title"), fields.get("archived")
    return SessionLabel(title if isinstance(title, str) else "", archived is True)
