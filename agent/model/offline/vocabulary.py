"""Words of each language by which the offline assistant recognises intents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from agent.languages.table import IntentWords
from agent.languages.terms import fold, terms


@dataclass(frozen=True)
class Vocabulary:
    words: IntentWords
    spaced: bool

    def anywhere(self, phrases: str) -> re.Pattern[str]:
        """Any phrase, as whole words where the language has words; the longest first."""
        listed = sorted(
            (fold(phrase.strip()) for phrase in phrases.split("|") if phrase.strip()), key=len, reverse=True
        )
        either = "|".join(map(re.escape, listed)) or r"(?!)"
        return re.compile(rf"(?<!\w)(?:{either})(?!\w)" if self.spaced else f"(?:{either})")

    @cached_property
    def remembers(self) -> re.Pattern[str]:
        return self.anywhere(self.words.remember)

    @cached_property
    def names_today(self) -> re.Pattern[str]:
        return self.anywhere(self.words.today)

    @cached_property
    def names_log(self) -> re.Pattern[str]:
        return self.anywhere(self.words.log)

    @cached_property
    def asks(self) -> re.Pattern[str]:
        return self.anywhere(self.words.asking)

    @cached_property
    def uninformative(self) -> re.Pattern[str]:
        return self.anywhere(f"{self.words.asking}|{self.words.filler}")

    @cached_property
    def about_today(self) -> re.Pattern[str]:
        words = self.words
        return self.anywhere(f"{words.asking}|{words.filler}|{words.today}|{words.log}")

    @cached_property
    def signs(self) -> frozenset[str]:
        """Single words of this language only."""
        words = self.words
        every = "|".join((words.greeting, words.thanks, words.remember, words.today, words.asking, words.telltale))
        return frozenset(terms(fold(every)))


VOCABULARIES: Mapping[Language, Vocabulary] = {
    language: Vocabulary(table.intents, table.spaced) for language, table in LANGUAGES.items()
}
