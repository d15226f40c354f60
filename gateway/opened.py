"""What an attachment turned out to be, and the note of it that outlasts a crash."""

from __future__ import annotations

import enum
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from agent.io.parsing import load_json
from agent.media.store import Store


class Found(enum.StrEnum):
    """What an attachment turned out to be."""

    PICTURE = "picture"
    DOCUMENT = "document"
    SPEECH = "speech"
    UNHEARD = "unheard"  # speech, and nobody to transcribe it
    FETCHED = "fetched"  # and not read yet
    CLOSED = "closed"  # it could not be had or read


@dataclass(frozen=True, slots=True)
class Opened:
    """`file`: where it is kept, empty where it could not be had; `shown`: a picture as a model takes it; `text` of a
    document or of speech; `remark`: why there is nothing more, as the end of a sentence that begins with its name."""

    found: Found
    file: str = ""
    shown: str = ""
    text: str = ""
    remark: str = ""


def read_note(note: Path, store: Store) -> Opened | None:
    """What was noted, as long as its files are there. Blocks."""
    try:
        known = Opened(**load_json(note.read_bytes()))
        known = replace(known, found=Found(known.found))
        there = all(store.place(path).is_file() for path in (known.file, known.shown) if path)
    except (OSError, ValueError, TypeError):
        return None
    return known if there else None


def write_note(note: Path, opened: Opened) -> None:
    """Blocks. Raises `OSError`."""
    note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = note.with_suffix(".new")
    fresh.touch(0o600)
    fresh.write_text(json.dumps(asdict(opened)), encoding="utf-8")
    fresh.replace(note)
