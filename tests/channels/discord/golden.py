"""What is sent to Discord for whole texts, kept in files that somebody has looked at: its clients make of it what a
person sees (`reader.py`), so that both stand there.

python -m tests.channels.discord.golden      write the .txt files anew; then read the difference
"""

from __future__ import annotations

from pathlib import Path

from channels.discord.format import MAX_TEXT, length, rendered
from channels.split import split
from tests.channels.discord.reader import read
from tests.channels.telegram.golden import FOLDER as SOURCES

FOLDER = Path(__file__).parent / "golden"


def shown(markdown: str) -> str:
    """Each message of a text as it is sent, and under it what is read."""
    pieces = [rendered(piece) for piece in split(markdown, length, MAX_TEXT)]
    return "\n".join(f"{visible(sent)}\n\n{'-' * 40}\n{read(sent)}\n" for sent in pieces)


def visible(sent: str) -> str:
    """With a sign for what keeps marks apart and is not seen."""
    return sent.replace("\u200b", "␣")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for source in sorted(SOURCES.glob("*.md")):
        text = shown(source.read_text(encoding="utf-8"))
        (FOLDER / f"{source.stem}.txt").write_text(text, encoding="utf-8")
