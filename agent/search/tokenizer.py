"""Text to index tokens: stems, and pairs of letters in scripts without spaces.

The last letter of an unspaced run is a token too, so that a single letter can be found anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from agent.languages.stemming import stem, without_endings
from agent.languages.terms import fold, fold_for_index, is_common, is_unspaced, pairs, runs, terms

MOST_CHARS = 4_000
"""A longer query is a text, not a question."""
_LONGEST_WORD = 64
"""Letters; longer runs are not stemmed."""
_PREFIX = 4
"""Letters from which a word also matches longer ones (Zahnarzt: Zahnarzttermin)."""
_LEAST_BEGINNING = 5
_MOST_LEFT_OFF = 4
_UMLAUT = re.compile("([aou])e")
_DIGIT = re.compile(r"\d")
_CONTRACTED = re.compile(r"\b\w{2,6}n['’`´]t\b|(?<=\w)['’`´](?:s|m|d|re|ve|ll)\b", re.IGNORECASE)
"""Short forms of English: don't, Anna's, I'm. Their letters alone say nothing, and stand in many places."""
_IS_HAN = re.compile("[\u3400-\u9fff]")
_QUESTION_WORDS = """
    actually after again all also anything as because before both come could different does doing each else even ever
    every exactly few find get give go got had happen has have having her here him hmm into is it just kind kinds know
    let lets like long many may maybe might more most much name no not now often oh ok okay one only or other please
    possible quite really shall should since some someone something sort still sure than then there these they thing
    things think those time times too totally type types use used very want way well were what whats when where which
    while whom whose would yeah yes
    alle alles bitte damals denn eigentlich etwas gab gerade gibt hast hatte hatten jemand jemals kannst machen mal
    manche sagte schon seit sollte viel viele waren warum
    welche welchen welcher welches wem wen wie wieso wollte wurde
    doch eben halt hier ja jetzt nein nur sehr vielleicht wirklich wohl
    hay tengo tiene cuánto cuántos cuáles dónde cuándo qué cómo quién he ha fue era
    ahora aquí entonces muy quizás realmente solo también ya
    ai as avait combien comment est-ce où pourquoi quels quelles quelle était
    alors aussi donc ici maintenant oui non très trop vraiment
    а без был была были было быть в во вы где да для до его ее если есть же за и из или как какая какие какое какой
    каком ко когда кого кому который кто куда ли мне меня моего моей моем мой моя мои мою мы на не него нее нет ни
    но о об он она они от откуда по почему при про с сколько со так там то ты у уже чего чем что чтобы эта эти
    это этот я
    ведь вот ещё даже здесь очень просто сейчас тоже только
    اي اين الى ان انا التي الذي على عن في قد كان كانت كم كيف لا لم لماذا ما ماذا متى مع من هذا هذه هل هو هي و
"""
_UNSPACED_QUESTION_WORDS = """
    什么 怎么 为什 么样 哪个 哪些 哪里 哪儿 多少 几个 是否 有没 没有 还记
    记得 得我 你还 知道 我们 你们 他们 我的 你的 他的 的时 时候 有一 一次
    一个 我在 我曾 曾经 你和 和你 我和 了什 告诉 诉过 过我 我说 说过 给我 你给 是什 是哪 请问 吗 呢 的 了 我 你 是
    뭐 뭐야 무엇 누구 어디 언제 왜 어떻 떻게 했어 했지 있어 있지 인가 는 은 이 가 을 를 에 의
    です ます した した か から まで ですか でした だっ った って は が を に の と で
"""


@dataclass(frozen=True, slots=True)
class Term:
    """A search term: a token, or with `prefix` all that begin with it."""

    token: str
    prefix: bool = False
    instead: str = ""
    """The unknown token it replaces."""
    of: str = ""
    """The token of a name's other form, as which it counts."""

    @property
    def asked(self) -> str:
        return self.instead or self.of or self.token


def tokens(text: str) -> list[str]:
    found: list[str] = []
    for word in runs(fold_for_index(text)):
        if is_unspaced(word):
            found += pairs(word)
        else:
            found.append(_stem_of(word))
    return found


def query_terms(query: str) -> list[Term]:
    """Distinct terms without question words, unless there are no others."""
    words = _words(query)
    informative = [word for word in words if not _is_of_questions(word)] or words
    return list(dict.fromkeys(term_of(word) for word in informative))


def words_of_questions(query: str) -> list[Term]:
    """The words that `query_terms` leaves out, each once, of two letters at least and as they are; none of what is
    written without spaces."""
    words = (word for word in _words(query) if len(word) > 1 and _is_of_questions(word) and not is_unspaced(word))
    return list(dict.fromkeys(Term(term_of(word).token) for word in words))


def _words(query: str) -> list[str]:
    return list(dict.fromkeys(terms(fold_for_index(_CONTRACTED.sub("", query[:MOST_CHARS])))))


def _is_of_questions(word: str) -> bool:
    return word in _STOP or is_common(word)


@lru_cache(maxsize=4_096)
def term_of(word: str) -> Term:
    if is_unspaced(word):
        return Term(word, prefix=len(pairs(word)) == 1)
    root = _stem_of(word)
    return Term(root, prefix=len(root) >= _PREFIX and not root.isdecimal())


def _stem_of(word: str) -> str:
    if len(word) > _LONGEST_WORD:
        return word
    return stem(word) if word.isascii() else without_endings(word)


def beginnings(term: Term) -> Iterator[Term]:
    """Substitutes for an unknown term, likeliest first: without umlauts, then shorter beginnings; for a Japanese verb
    its first character."""
    token = term.token
    if is_unspaced(token):
        if len(token) == 2 and _IS_HAN.match(token) and not _IS_HAN.match(token[1]):
            yield Term(token[0], prefix=True, instead=token)
        return
    if _DIGIT.search(token):
        return
    if (plain := _UMLAUT.sub(r"\1", token)) != token:
        yield Term(plain, prefix=len(plain) >= _PREFIX, instead=token)
    least = max(_LEAST_BEGINNING if token.isascii() else _PREFIX, len(token) - _MOST_LEFT_OFF)
    for size in range(len(token) - 1, least - 1, -1):
        yield Term(token[:size], prefix=True, instead=token)


_STOP = frozenset(fold_for_index(_QUESTION_WORDS).split()) | frozenset(fold_for_index(_UNSPACED_QUESTION_WORDS).split())


def words_asked(query: str) -> dict[str, str]:
    """Tokens by word of a question, as `terms.terms` splits it."""
    return {word: term_of(fold_for_index(word)).token for word in dict.fromkeys(terms(fold(query[:MOST_CHARS])))}
