"""What Telegram shows for whole texts, kept in files that somebody has looked at.

python -m tests.channels.telegram.golden      write the .txt files anew; then read the difference
"""

from __future__ import annotations

from pathlib import Path

from channels.split import split
from channels.telegram.format import MAX_TEXT, Entity, formatted, length

FOLDER = Path(__file__).parent / "golden"


def shown(markdown: str) -> str:
    """The messages of a text as people see them, and under each what stands out in it."""
    return "\n".join(_message(piece) for piece in split(markdown, length, MAX_TEXT))


def _message(piece: str) -> str:
    result = formatted(piece)
    units = result.text.encode("utf-16-le")
    lines = [_entity(one, units[2 * one.offset : 2 * (one.offset + one.length)]) for one in result.entities]
    return "\n".join([result.text, "", "-" * 40, *lines, ""])


def _entity(entity: Entity, covered: bytes) -> str:
    more = entity.url or entity.language
    return f"{entity.type:14}{covered.decode('utf-16-le')!r}" + (f"  [{more}]" if more else "")


if __name__ == "__main__":
    for source in sorted(FOLDER.glob("*.md")):
        source.with_suffix(".txt").write_text(shown(source.read_text(encoding="utf-8")), encoding="utf-8")
