"""Stems of words: English by Porter's algorithm (Snowball's), after common irregular forms: memories are in the past
tense, questions in the present.

Russian and Arabic words lightly: the stem is only to be the same for the forms of a noun or an adjective (after Dolamic
and Savoy, "Indexing and searching strategies for the Russian language", 2009, and Larkey, Ballesteros and Connell,
"Light stemming for Arabic information retrieval", 2007).
"""

from __future__ import annotations

import threading
import unicodedata
from functools import lru_cache

import Stemmer

from agent.languages.terms import fold_for_index

_FORMS = """
    be am is are was were been being; become became; begin began begun; bite bit bitten; blow blew blown; break
    broke broken; bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen; come
    came; cost costs; deal dealt; dig dug; do did does done; draw drew drawn; dream dreamt; drink drank drunk;
    drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; fly flew
    flown; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave
    given; go went gone; grow grew grown; hang hung; have had has; hear heard; hide hid hidden; hold held; keep
    kept; know knew known; lay laid; lead led; learn learnt; leave left; lend lent; lie lain; light lit; lose
    lost; make made; mean meant; meet met; pay paid; ride rode ridden; ring rang rung; rise rose risen; run ran;
    say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot shot; show
    shown; sing sang sung; sit sat; sleep slept; speak spoke spoken; spend spent; stand stood; steal stole
    stolen; stick stuck; swear swore sworn; swim swam swum; take took taken; teach taught; tear tore torn; tell
    told; think thought; throw threw thrown; understand understood; wake woke woken; wear wore worn; win won;
    write wrote written; child children; foot feet; man men; mouse mice; person people; tooth teeth; woman
    women; wife wives; life lives; knife knives; leaf leaves; shelf shelves; wolf wolves; half halves
"""
_IRREGULAR = {form: base for base, *forms in map(str.split, _FORMS.split(";")) for form in forms}
_local = threading.local()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a folded Latin word; a short or foreign word hardly changes."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 2 or not word.isascii():
        return word
    if not hasattr(_local, "porter"):
        _local.porter = Stemmer.Stemmer("porter", 0)  # one a thread: it may not be shared
    stemmed: str = _local.porter.stemWord(word)
    return stemmed


_LEAST_LEFT = 3
_RUSSIAN = (
    "иями ями ами ией иям ием иях ого ому его ему ыми ими ах ях ов ев ей ой ий ый ая яя ое ее ые ие ых их ую юю"
    " ом ем ам ям ым им ью ия ию ьи ья а я о е и ы у ю ь"
)
_ARABIC_BEFORE = "وال بال كال فال ال لل"
_ARABIC_BEHIND = "ها ان ات ون ين يه ه ي"


def _longest_first(endings: str) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(fold_for_index(endings).split()), key=len, reverse=True))


_BEHIND = {"CYRILLIC": _longest_first(_RUSSIAN), "ARABIC": _longest_first(_ARABIC_BEHIND)}
_BEFORE = {"ARABIC": _longest_first(_ARABIC_BEFORE)}


def without_endings(word: str) -> str:
    """A folded Russian or Arabic word without its endings; a word of another script as it is."""
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
