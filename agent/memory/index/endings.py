"""Words of Russian and Arabic without what their grammar puts on them, lightly: the stem is only to be the same for the
forms of a noun or an adjective (after Dolamic and Savoy, "Indexing and searching strategies for the Russian language",
2009, and Larkey, Ballesteros and Connell, "Light stemming for Arabic information retrieval", 2007)."""

from __future__ import annotations

import unicodedata

from agent.memory.index.folding import folded

_LEAST_LEFT = 3
_RUSSIAN = (
    "иями ями ами ией иям ием иях ого ому его ему ыми ими ах ях ов ев ей ой ий ый ая яя ое ее ые ие ых их ую юю"
    " ом ем ам ям ым им ью ия ию ьи ья а я о е и ы у ю ь"
)
_ARABIC_BEFORE = "وال بال كال فال ال لل"
_ARABIC_BEHIND = "ها ان ات ون ين يه ه ي"


def _longest_first(endings: str) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(folded(endings).split()), key=len, reverse=True))


_BEHIND = {"CYRILLIC": _longest_first(_RUSSIAN), "ARABIC": _longest_first(_ARABIC_BEHIND)}
_BEFORE = {"ARABIC": _longest_first(_ARABIC_BEFORE)}


def without_endings(word: str) -> str:
    """`word` folded; of another script as it is."""
    script = unicodedata.name(word[0], "").split(" ", 1)[0]
    if script not in _BEHIND:
        return word
    for part in _BEFORE.get(script, ()):
        if word.startswith(part) and len(word) - len(part) >= _LEAST_LEFT - 1:
            word = word[len(part) :]
            break
    for part in _BEHIND[script]:
        if word.endswith(part) and len(word) - len(part) >= _LEAST_LEFT:
            return word[: -len(part)]
    return word
