"""What a person calls a conversation, and whether it is put away: a small file beside its transcript. Blocks."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path

from agent.formats.parsing import load_json
from agent.fs import atomic_write

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
        data = load_json(path.read_bytes())
    except FileNotFoundError:
        return SessionLabel()
    except (OSError, ValueError) as problem:
        _log.warning("%s cannot be read: %s", path.name, problem)
        return SessionLabel()
    fields = data if isinstance(data, dict) else {}
    title, archived = fields.get("title"), fields.get("archived")
    return SessionLabel(title if isinstance(title, str) else "", archived is True)


def write_label(transcript: Path, label: SessionLabel) -> None:
    """Raises `OSError`."""
    atomic_write(label_path(transcript), json.dumps({"title": label.title, "archived": label.archived}) + "\n")
