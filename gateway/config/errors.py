"""Problems of a configuration, in words for the person who wrote it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.languages.sentences import Sentence, joined

ConfigPath = tuple[str | int, ...]
"""Where a value stands: ("channels", "telegram", "allow", 0). Empty: the whole file."""


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """`line` counts from 1; 0 for a value that was never written."""

    file: str
    line: int
    key: str
    text: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return joined((where, self.key, self.text), ": ")


class ConfigError(Exception):
    """One line of text for each problem. All texts are `Sentence`s."""

    def __init__(self, problems: Sequence[ConfigProblem], warnings: Sequence[ConfigProblem] = ()) -> None:
        super().__init__(joined(map(str, problems), "\n"))
        self.problems = tuple(problems)
        self.warnings = tuple(warnings)


def dotted(path: ConfigPath) -> str:
    """A key as people write it: `channels.telegram.allow[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant. Case does not count."""
    folded = {name.casefold(): name for name in known}
    matches = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    match = nearest(word, known)
    return Sentence("; did you mean {name}?", name=repr(match)) if match else ""
