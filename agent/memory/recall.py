"""Whether a message calls memories up, by an absolute bar, and which: those that the search found, in its order.

The bar is a gate only. What must be met depends on the message. A question that names somebody whom memory knows calls
memories up whatever else it says, and so does one about the person's own life if any of its words is known. What
anybody could be asked, and what is only said, must stand in one passage to a good part: in words, of which one that
stands in many passages counts less, and as a share of all that the message says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agent.memory import notes
from agent.memory.cue import Cue
from agent.memory.index.cutting import speech
from agent.memory.index.kinds import ASSISTANTS, USERS
from agent.memory.index.near import SYNONYM
from agent.memory.search import Hit
from agent.memory.words import fold, runs, terms

FIRST = 10
"""Passages among which one must pass the bar; no other is shown."""
_UNKNOWN = 0.5
"""What a word counts that memory does not know: it speaks against no passage in particular."""
_EVERYWHERE = 0.2
"""What one counts that the search did not look for, because it stands in nearly all of memory."""
_RARE = 3
"""A word in no more passages than this tells as much as a word can."""
_INSIDE = re.compile(r"(?<=[^\W\d_] )[^\W\d_]\w+")
"""A word that begins no sentence, so that a capital says something."""
_NAMED_AT_LEAST = 2
_MOSTLY = 0.8
_READ_FOR_NAMES = 40


class Bar(NamedTuple):
    """What one passage must hold of a message: so many words, as much as they tell, and such a share of all."""

    words: float
    share: float


_LIFE = Bar(0.0, 0.05)
"""A question about the person's own life."""
_GENERAL = Bar(1.2, 0.25)
"""Any other question."""
_SAID = Bar(1.2, 0.25)
_TASK = Bar(2.0, 0.5)
_ONE_WORD = Bar(0.5, 0.95)
"""A question with a single informative word, which memory holds but seldom ("Where is the dentist?")."""
_TITLE = Bar(0.0, 0.5)
"""What a note bears in its title."""


@dataclass(frozen=True, slots=True)
class Relevant:
    """`share`: how much of the message's informative words it holds, between 0 and 1."""

    hit: Hit
    share: float


def relevant(cue: Cue, hits: Sequence[Hit]) -> Iterator[Relevant]:
    """Of what a search for a message found, what may be shown with it, best first; never the same text twice."""
    telling = [hit for hit in hits if not _is_head(hit)]
    first = telling[:FIRST]
    held = [_held(cue, hit) for hit in first]
    weights = _weights(cue, telling, held)
    if not first or not _calls(cue, weights, held, telling):
        return
    whole = sum(weights.values()) or 1.0
    texts: set[str] = set()
    for hit, of_message in zip(first, held, strict=True):
        text = " ".join(fold(hit.text).split())
        if text not in texts:
            texts.add(text)
            yield Relevant(hit, _met(of_message, weights) / whole)


def _calls(cue: Cue, weights: Mapping[str, float], held: Sequence[Mapping[str, float]], hits: Sequence[Hit]) -> bool:
    first = hits[:FIRST]
    names_somebody = _names_somebody(cue, hits)
    is_task = cue.is_task and not cue.is_life and not names_somebody
    if cue.asks and not is_task and (names_somebody or _is_found_without_words(cue, first)):
        return True
    bars = [_TASK if is_task else _SAID if not cue.asks else _LIFE if cue.is_life else _GENERAL]
    if cue.asks and not is_task and cue.size <= 1:
        bars.append(_ONE_WORD)
    if not is_task and any(_is_titled(cue, hit) for hit in first):
        bars.append(_TITLE)
    met = max(_met(of_message, weights) for of_message in held)
    share = met / (sum(weights.values()) or 1.0)
    return met > 0 and any(met >= bar.words and share >= bar.share for bar in bars)


def _held(cue: Cue, hit: Hit) -> Mapping[str, float]:
    """What a passage holds of the message's informative words: what the search says, and what it did not look for."""
    found = {word: min(1.0, hit.matched[word]) for word in cue.words if _says(hit, word)}
    if len(found) < len(cue.words):
        found |= {word: 1.0 for word in terms(fold(hit.text)) if word in cue.words}
    return found


def _is_found_without_words(cue: Cue, first: Sequence[Hit]) -> bool:
    """It is of a day that the question is about, or like what is asked of the person's own life."""
    if cue.is_of_days and (cue.is_life or not cue.words) and any("date" in hit.parts for hit in first):
        return True
    return cue.is_life and any("meaning" in hit.parts for hit in first)


def _names_somebody(cue: Cue, hits: Sequence[Hit]) -> bool:
    """Somebody speaks in what was found whom the message names, or it writes mostly with a capital what the message
    does."""
    speakers = {name for hit in hits for name in runs(speech(hit.text).speaker)[:1]} - USERS - ASSISTANTS
    return not speakers.isdisjoint(cue.words) or any(_is_known_name(name, hits) for name in cue.names)


def _is_known_name(name: str, hits: Sequence[Hit]) -> bool:
    holding = [hit for hit in hits if _says(hit, name)][:_READ_FOR_NAMES]
    written = [word for hit in holding for word in _INSIDE.findall(hit.text) if fold(word) == name]
    capitals = sum(1 for word in written if word[0].isupper())
    return len(written) >= _NAMED_AT_LEAST and capitals >= _MOSTLY * len(written)


def _is_titled(cue: Cue, hit: Hit) -> bool:
    """A word of the message stands in the note's title, and not only in its text."""
    if not hit.path.startswith(f"{notes.FOLDER}/"):
        return False
    text = fold(hit.text)
    return any(hit.matched.get(word, 0.0) >= 1 and word not in text for word in cue.words)


def _weights(cue: Cue, hits: Sequence[Hit], held: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """How much each informative word tells. A pair of characters that memory does not know may be cut from two words,
    and tells nothing where it overlaps another."""
    weights: dict[str, float] = {}
    most = math.log1p(max(len(hits), _RARE) / _RARE)
    for word, count in cue.words.items():
        holding = sum(1 for hit in hits if _says(hit, word))
        if holding:
            weights[word] = count * min(1.0, math.log1p(len(hits) / holding) / most)
        elif any(word in of_message for of_message in held):
            weights[word] = count * _EVERYWHERE
        else:
            weights[word] = _UNKNOWN if count == 1 else 0.0
    return weights


def _met(held: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weight * held.get(word, 0.0) for word, weight in weights.items())


def _says(hit: Hit, word: str) -> bool:
    """The word itself: a synonym says too little of what a message calls for."""
    return hit.matched.get(word, 0.0) > SYNONYM


def _is_head(hit: Hit) -> bool:
    """A note's front matter: what it says stands in the index, and counts for the passages below it."""
    return hit.start_line == 1 and hit.text.startswith("---")
