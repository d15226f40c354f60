"""Which memories a message calls for, by an absolute bar: nothing is shown because it is the best of what is there.

A passage's share is how much of the message's informative words it holds. A word that memory does not know at all
counts half (it speaks against no passage in particular), one that stands in many passages tells little. The more a
message says, the more has to be met, though less than in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.memory import notes
from agent.memory.search import Hit
from agent.memory.small_talk import is_small_talk
from agent.memory.words import fold, is_common, terms

BAR = 0.3
MOST_NOTES = 5
MOST_WORDS = 12
"""Words of a message that are looked for, the longest ones: each costs time in every passage."""
_READ_CHARS = 4_000
_UNKNOWN = 0.5
_RARE = 3
"""A word in no more passages than this tells as much as a word can."""
_FADES = 0.75
"""How fast a word tells less the more passages it stands in."""
_FREE = 4.0
"""Weight of words up to which a message is measured by all that it says."""


@dataclass(frozen=True, slots=True)
class Relevant:
    """`share`: how much of the message it answers, between 0 and 1."""

    hit: Hit
    share: float


def informative(message: str) -> tuple[str, ...]:
    """The words of a message that can call a memory up, each once, in their order."""
    found = dict.fromkeys(terms(fold(message[:_READ_CHARS])))
    telling = [word for word in found if not is_common(word) and not is_small_talk(word) and _tells(word)]
    longest = sorted(telling, key=len, reverse=True)[:MOST_WORDS]
    return tuple(word for word in telling if word in longest)


def relevant(words: Sequence[str], hits: Sequence[Hit]) -> Iterator[Relevant]:
    """Of what a search for `words` found, what passes the bar, the most relevant first; never the same text twice, nor
    more than `MOST_NOTES` passages of notes."""
    weights = _weights(words, hits)
    total = sum(weights.values())
    measure = max(1.0, min(total, math.sqrt(_FREE * total)))
    rated = [Relevant(hit, min(1.0, _met(hit, weights) / measure)) for hit in hits if not _is_head(hit)]
    texts: set[str] = set()
    of_notes = 0
    for one in sorted(rated, key=lambda one: (-one.share, -one.hit.score, -one.hit.date.toordinal())):
        text = " ".join(fold(one.hit.text).split())
        is_note = one.hit.path.startswith(notes.FOLDER)
        if one.share < BAR or text in texts or (is_note and of_notes == MOST_NOTES):
            continue
        texts.add(text)
        of_notes += is_note
        yield one


def _weights(words: Sequence[str], hits: Sequence[Hit]) -> Mapping[str, float]:
    weights: dict[str, float] = {}
    for word in words:
        holding = sum(1 for hit in hits if word in hit.matched)
        weights[word] = min(1.0, (_RARE / holding) ** _FADES) if holding else _UNKNOWN
    return weights


def _met(hit: Hit, weights: Mapping[str, float]) -> float:
    return sum(weight * hit.matched.get(word, 0.0) for word, weight in weights.items())


def _is_head(hit: Hit) -> bool:
    """A note's front matter: what it says stands in the index, and counts for the passages below it."""
    return hit.start_line == 1 and hit.text.startswith("---")


def _tells(word: str) -> bool:
    """Single letters and short numbers stand in too many places."""
    return len(word) > 2 if word.isdecimal() else len(word) > 1
