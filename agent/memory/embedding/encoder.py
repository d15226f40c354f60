"""What makes vectors, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = Sequence[float]


class NoEmbedding(Exception):
    """It could not be done now, or not with this model. The text is a sentence without its stop, for the person, and
    holds neither keys nor what was to be embedded."""


class Encoder(Protocol):
    """Blocks; one thread or several. `id` names the model: vectors of different ids cannot be compared. `batch`: as
    many texts as are well given at once."""

    id: str
    batch: int

    def encode(self, texts: Sequence[str], seconds: float, *, is_question: bool = False) -> Sequence[Vector]:
        """A vector of length 1 for each text, all of one size. `seconds`: how long a server may take; `is_question`:
        the texts are searched with, and not for. Raises `NoEmbedding`."""
        ...

    def knows(self, text: str) -> bool:
        """Whether the model was made for the language of a text."""
        ...

    def close(self) -> None: ...
