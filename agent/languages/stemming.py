"""Stems of English words (M. F. Porter, "An algorithm for suffix stripping", 1980, after irregular forms), and light
stemming of Russian and Arabic (Dolamic and Savoy, 2009; Larkey, Ballesteros and Connell, 2007)."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from agent.languages.terms import folded

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
_V = "(?:[aeiou]|(?<=[^aeiou])y)"
_MEASURE = re.compile(rf"{_V}(?!{_V}).")
"""Vowel-consonant sequences, Porter's measure."""
_HAS_VOWEL = re.compile(_V)
_DOUBLE = re.compile(r"([^aeioulsz])\1$")
_SHORT = re.compile(r"(?:[^aeiou]|^y)[aeiouy][^aeiouwxy]$")
_STEP_2 = (
    ("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("tional", "tion"), ("biliti", "ble"), ("entli", "ent"), ("ousli", "ous"), ("ation", "ate"), ("alism", "al"),
    ("aliti", "al"), ("iviti", "ive"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("ator", "ate"), ("eli", "e"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "al", "er",
    "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a folded word in Latin letters."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 2 or not word.isascii():
        return word
    word = _strip_plural(word)
    word = _strip_past(word)
    if word.endswith("y") and _HAS_VOWEL.search(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replace_suffix(word, _STEP_2)
    word = _replace_suffix(word, _STEP_3)
    word = _strip_suffix(word)
    return _strip_e(word)


def _measure(stem: str) -> int:
    return len(_MEASURE.findall(stem))


def _strip_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _strip_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and _HAS_VOWEL.search(rest):
            if rest.endswith(("at", "bl", "iz")) or (_measure(rest) == 1 and _SHORT.search(rest)):
                return f"{rest}e"
            return rest[:-1] if _DOUBLE.search(rest) else rest
    return word


def _replace_suffix(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, other in endings:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + other if _measure(rest) else word
    return word


def _strip_suffix(word: str) -> str:
    if word.endswith(("sion", "tion")) and _measure(word[:-3]) > 1:
        return word[:-3]
    for ending in _STEP_4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest if _measure(rest) > 1 else word
    return word


def _strip_e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _SHORT.search(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


_LEAST_LEFT = 3
_RUSSIAN = (
    "иями ями ами ией иям ием иях ого ому его ему ыми ими ах ях ов ев ей ой ий ый ая яя ое ее ые ие ых их ую юю"
    " ом ем ам ям ым им ью ия ию ьи ья а я о е и ы у ю ь"
)
_ARABIC_PREFIXES = "وال بال كال فال ال لل"
_ARABIC_SUFFIXES = "ها ان ات ون ين يه ه ي"


def _longest_first(endings: str) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(folded(endings).split()), key=len, reverse=True))


_SUFFIXES = {"CYRILLIC": _longest_first(_RUSSIAN), "ARABIC": _longest_first(_ARABIC_SUFFIXES)}
_PREFIXES = {"ARABIC": _longest_first(_ARABIC_PREFIXES)}


def without_endings(word: str) -> str:
    """The stem of a folded Russian or Arabic word; others are unchanged."""
    script = unicodedata.name(word[0], "").split(" ", 1)[0]
    if script not in _SUFFIXES:
        return word
    for part in _PREFIXES.get(script, ()):
        if word.startswith(part) and len(word) - len(part) >= _LEAST_LEFT - 1:
            word = word[len(part) :]
            break
    for part in _SUFFIXES[script]:
        if word.endswith(part) and len(word) - len(part) >= _LEAST_LEFT:
            return word[: -len(part)]
    return word
