"""Words of each language by which the offline assistant recognises intents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from agent.languages.table import IntentWords
from agent.languages.terms import fold


@dataclass(frozen=True)
class Vocabulary:
    words: IntentWords
    spaced: bool

    def anywhere(self, phrases: str) -> re.Pattern[str]:
        """Any phrase, as whole words where the language has words; the longest first. With `$` it ends the text."""
        listed = sorted(
            (fold(phrase.strip()) for phrase in phrases.split("|") if phrase.strip()), key=len, reverse=True
        )
        either = "|".join(map(_searched, listed)) or r"(?!)"
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
    def asks_last(self) -> re.Pattern[str]:
        """Phrases that make a question by standing at its end."""
        return self.anywhere(
            "|".join(phrase for phrase in self.words.asking.split("|") if phrase.strip().endswith("$"))
        )

    @cached_property
    def asks_within(self) -> re.Pattern[str]:
        """A question whose thing is named first."""
        either, tails, tellers = (
            "|".join(re.escape(fold(phrase.strip())) for phrase in sorted(words.split("|"), key=len, reverse=True))
            or r"(?!)"
            for words in (self.words.within, self.words.tails, self.words.tellers)
        )
        asks = rf"(?:\S+ ){{1,5}}?(?:\S+['’])?(?:{either})(?!\w)(?: (?:{tails})(?!\w))*\Z"
        return re.compile(rf"\A(?!.*(?<!\w)(?:{tellers})(?!\w)){asks}")

    @cached_property
    def clearly_asks(self) -> re.Pattern[str]:
        return self.anywhere(self.words.questions)

    @cached_property
    def uninformative(self) -> re.Pattern[str]:
        return self.anywhere(f"{self.words.asking}|{self.words.questions}|{self.words.filler}")

    @cached_property
    def about_today(self) -> re.Pattern[str]:
        words = self.words
        return self.anywhere(f"{words.asking}|{words.filler}|{words.today}|{words.log}")

    @cached_property
    def signs(self) -> frozenset[str]:
        """Single words that tell this language. Of a word with an apostrophe, what is cut off with it: `d'`, `'s`."""
        words = self.words
        every = "|".join((words.greeting, words.thanks, words.remember, words.today, words.asking, words.telltale))
        return frozenset(sign for word in told_words(every) for sign in word)


def _searched(phrase: str) -> str:
    return re.escape(phrase.removesuffix("$")) + (r"\Z" if phrase.endswith("$") else "")


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_ENDS = frozenset('.!?:¡¿;\n|–—("“„«')
_UNWORDED_END = re.compile(r"(?<!\W)\W*+\Z")
_PARTICLE = re.compile(r"al|bin|d[aiou]s?|de|del|della|de[nr]|e|el|ibn|l[aeo]s?|van|von|y|zu")
"""Small words that stand within names."""


def _unworded_end(text: str) -> str:
    end = _UNWORDED_END.search(text)
    assert end is not None  # it matches the empty ending
    return end[0]


def told_words(text: str) -> list[tuple[str, ...]]:
    """The words that can tell a language, each with what an apostrophe cuts off. Names do not: what is written large
    within a sentence, and the particles between (`Anna D`, `María de la Cruz`)."""
    found = list(_WORD.finditer(text))
    shouts = not any(map(str.islower, text))
    large = [
        not shouts and any(map(str.isupper, match[0])) and match[0] != "I" and not match[0].startswith(("I'", "I’"))
        for match in found
    ]
    starts = [
        at == 0 or not _SENTENCE_ENDS.isdisjoint(_unworded_end(text[found[at - 1].end() : match.start()]))
        for at, match in enumerate(found)
    ]
    told: list[tuple[str, ...]] = []
    for at, match in enumerate(found):
        in_name = large[at] and not starts[at]
        if _PARTICLE.fullmatch(match[0]):
            first, last = at, at
            while first > 0 and at - first < 3 and _PARTICLE.fullmatch(found[first][0]) and not starts[first]:
                first -= 1
            while (
                last < len(found) - 1 and last - at < 3 and _PARTICLE.fullmatch(found[last][0]) and not starts[last + 1]
            ):
                last += 1
            in_name = large[first] and large[last]
        if not in_name:
            head, mark, tail = fold(match[0]).replace("’", "'").partition("'")
            told.append((f"{head}'", f"'{tail}") if mark else (head,))
    return told


VOCABULARIES: Mapping[Language, Vocabulary] = {
    language: Vocabulary(table.intents, table.spaced) for language, table in LANGUAGES.items()
}
