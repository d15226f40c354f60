"""Whether a person asks to have something remembered (SPEC 6), in English, German, French, Spanish, Chinese, Japanese.

Pure. An imperative at the beginning of a clause counts ("… , please remember that"), and a request in the form of a
question ("can you remember that …?"); a question about the past ("do you remember …?"), a report ("she told me to
remember"), a negation ("don't write that down") and whatever stands in quotation marks or code do not. In doubt it
counts: one entry too many costs less than one that is missing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from agent.remember_words import LANGUAGES, Language

_FLAGS = re.IGNORECASE
_LONGEST = 2_000
"""Characters looked at, from each end: a paste of any length must not hold up a turn."""

_OF_OTHERS = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*>.*?$"
    r"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|»[^«»\n]*«|「[^「」\n]*」|『[^『』\n]*』|《[^《》\n]*》"
    r'|"[^"\n]*"|(?<!\w)‘[^‘’\n]*’(?!\w)|(?<!\w)\'[^\'\n]*\'(?!\w)',
    re.DOTALL | re.MULTILINE,
)
_SENTENCE = re.compile(r"[^.!?。！？…\n]+[.!?。！？…\"”»」)]*|[.!?。！？]+")
_REPORTED = re.compile(
    r"(?:\b(?:said|says|tell|told|asked|wrote|writes|replied|sagte|sagt|schrieb|meinte|dijo|dice|escribió"
    r"|a dit|dit|disait|écrit)|[说說写寫道喊])\W*\Z",
    _FLAGS,
)
_CONFIRMS = re.compile(
    r"[,，、]\s*(?:please|pls|ok|okay|will you|would you|could you|can you|right|yes|ja|bitte|gut|klar|oui|vale"
    r"|por favor|sí|d['’]accord|s['’]il (?:te|vous) plaît|hein|stp|svp|好吗|好嗎|好不好|可以吗|可以嗎|行吗|ね)"
    r"\s*[?？]+",
    _FLAGS,
)
_INSTEAD = re.compile(
    r"\b(?:but|instead|rather|aber|sondern|mais|plutôt|sino|pero)\b|而是|但是?|不过|でも|けど|だけど", _FLAGS
)
_TAKES_BACK_WITHIN = 60
"""A sentence of so many characters or fewer that refuses takes back what was asked for before it ("Actually, don't
remember that"); a longer one is about something else."""


@lru_cache(maxsize=64)
def asks_to_remember(text: str) -> bool:
    """Whether the words of a person (without what they quote or forward) ask to have something remembered."""
    if len(text) > 2 * _LONGEST:
        text = f"{text[:_LONGEST]}\n{text[-_LONGEST:]}"
    asked = False
    for sentence in _SENTENCE.findall(_OF_OTHERS.sub(" … ", text)):
        if _asks(sentence.strip()):
            asked = True
        elif len(sentence) <= _TAKES_BACK_WITHIN and _refuses(sentence):
            asked = False
    return asked


def _asks(sentence: str) -> bool:
    is_question = sentence.rstrip('"”»」)').endswith(("?", "？")) or sentence.startswith("¿")
    past = is_question and not _CONFIRMS.search(sentence)
    for language in LANGUAGES:
        patterns = (language.requests,) if past else (language.asks, language.requests)
        for pattern in patterns:
            for match in pattern.finditer(sentence):
                if not _refused(sentence, match, language):
                    return True
    return False


def _refused(sentence: str, match: re.Match[str], language: Language) -> bool:
    """Refused in the same clause, or the words of somebody else."""
    at = next((match.start(name) for name, found in match.groupdict().items() if found is not None), match.start())
    before = _INSTEAD.split(sentence[:at])[-1]
    if _REPORTED.search(before) or language.refuses.search(before) or language.refuses.search(match.group()):
        return True
    clause = re.split(r"[,，、:：;；–—]", sentence[at:], maxsplit=1)[0]
    refusal = language.refuses.search(before[-12:] + clause)
    return refusal is not None and refusal.start() <= len(before[-12:]) + 2


def _refuses(sentence: str) -> bool:
    return any(language.refuses.search(sentence) for language in LANGUAGES)
