"""Pictures made from words, and who makes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


class NotDrawn(Exception):
    """The end of a sentence about the picture: "the server refused it (500)"."""


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """`cost` in USD, None if the server does not tell it."""

    content: bytes = field(repr=False)
    cost: float | None
    input: int
    output: int


class Painter(Protocol):
    @property
    def model(self) -> str: ...

    @property
    def host(self) -> str:
        """Where the words go."""

    async def draw(self, prompt: str) -> DrawnPicture:
        """Raises `NotDrawn`."""
