"""Text to the tokens of the index: folded words by their stems; pairs of characters where no spaces are written.

The last character of an unspaced run is a token too, so that a single character asked for is found as the beginning of
some token wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from agent.memory.index.stem import stem
from agent.memory.words import fold, is_common, is_unspaced, runs, terms

MOST_CHARS = 4_000
"""What of a query is read: a longer one is a text, not a question."""
MOST_TERMS = 32
_PREFIX = 4
"""Letters from which on a word also finds longer ones that begin with it (Zahnarzt: Zahnarzttermin)."""
_QUESTION_WORDS = """
    after again all also anything as because before both come could different does doing each ever every exactly
    few find get give go got had happen has have having her him into is it just kind kinds know like long
    many may maybe might more most much name no not often one or other possible since some someone something sort than
    then there these they thing things those time times too type types use used very want way well were
    what whats when where which while whom whose would
    alle alles bitte damals denn eigentlich etwas gab gerade gibt hast hatte hatten jemand jemals kannst machen mal
    manche sagte schon seit sollte viel viele waren warum
    welche welchen welcher welches wem wen wie wieso wollte wurde
    hay tengo tiene cuánto cuántos cuáles dónde cuándo qué cómo quién he ha fue era
    ai as avait combien comment est-ce où pourquoi quels quelles quelle était
"""
_UNSPACED_QUESTION_WORDS = """
    什么 怎么 为什 么样 哪个 哪些 哪里 哪儿 多少 几个 是否 有没 没有 还记
    记得 得我 你还 知道 我们 你们 他们 我的 你的 他的 的时 时候 有一 一次
    一个 我在 我曾 曾经 你和 和你 我和 了什 告诉 诉过 过我 我说 说过 给我 你给 是什 是哪 请问 吗 呢 的 了 我 你 是
    です ます した した か から まで ですか でした だっ った って は が を に の と で
"""


@dataclass(frozen=True, slots=True)
class Term:
    """What is looked for: a token, or (`prefix`) every token that begins so."""

    token: str
    prefix: bool = False


def tokens(text: str) -> list[str]:
    """The tokens of a text that is indexed, in order."""
    found: list[str] = []
    for word in runs(fold(text)):
        if is_unspaced(word):
            found += [word[at : at + 2] for at in range(len(word))]
        else:
            found.append(stem(word))
    return found


def query_terms(query: str) -> list[Term]:
    """What a question looks for, each once, without the words that questions are made of; with them where there are no
    others."""
    words = list(dict.fromkeys(terms(fold(query[:MOST_CHARS]))))
    telling = [word for word in words if word not in _STOP and not is_common(word)] or words
    return list(dict.fromkeys(_term(word) for word in telling))[:MOST_TERMS]


@lru_cache(maxsize=4_096)
def _term(word: str) -> Term:
    if is_unspaced(word):
        return Term(word, prefix=len(word) == 1)
    root = stem(word)
    return Term(root, prefix=len(root) >= _PREFIX and not root.isdecimal())


_STOP = frozenset(fold(_QUESTION_WORDS).split()) | frozenset(fold(_UNSPACED_QUESTION_WORDS).split())


def words_asked(query: str) -> dict[str, str]:
    """The token that stands for each word of a question, the word as `words.terms` gives it."""
    return {word: _term(word).token for word in dict.fromkeys(terms(fold(query[:MOST_CHARS])))}
