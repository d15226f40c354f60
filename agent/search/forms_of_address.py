"""Names by which people greet each other in a conversation of two: whom Anna greets as Kate is called Kate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from agent.languages.terms import fold, is_common, runs
from agent.memory.provenance import sources_in
from agent.search.aliases import MOST_FORMS, synonyms_of
from agent.search.chunking import Passage, speech
from agent.search.tokenizer import tokens

# As people begin a message; the name stands alone behind it, or before it in Chinese.
_GREETING = (
    r"(?:hi|hiya|hey|hello|dear|good (?:morning|afternoon|evening|night)|thanks|thank you|bye|goodbye|happy birthday"
    r"|hallo|liebe[r]?|guten (?:morgen|tag|abend)|gute nacht|danke|tschüss|hola|buenos días|buenas (?:tardes|noches)"
    r"|querid[ao]|gracias|adiós|salut|bonjour|bonsoir|coucou|chère?|merci|bonne nuit"
    r"|ciao|buongiorno|buonasera|buonanotte|car[oa]|grazie|arrivederci)"
)
_SPACED = re.compile(
    rf"\A\W{{0,3}}(?i:{_GREETING})(?i: there| so much| again)?,?"
    r" ([A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{1,24})(?![-'’\w]| [A-ZÀ-ÖØ-Þ])"
)
_CHINESE = re.compile(
    r"\A([\u4e00-\u9fff]{2,3})[,，](?:你好|早上好|早安|晚上好|晚安|下午好|谢谢|謝謝)"
    r"|\A(?:你好|早上好|早安|晚上好|晚安|下午好|谢谢你?|謝謝你?)[,，]([\u4e00-\u9fff]{2,3})[!！,，。~～]"
)
_JAPANESE = re.compile(r"\A([\u30a0-\u30ff\u4e00-\u9fff\u3041-\u3096]{1,8}?)(?:さん|ちゃん|くん|君)[、,！!。]")
_NO_NAMES = frozenset(
    fold(
        "all everybody everyone folks friends guys ladies gents team world honey dude bro babe darling buddy god gosh"
        " christmas easter"
        " zusammen alle leute freunde gott schatz welt todos todas amigos gente dios mundo tous toutes monde dieu"
        " tutti tutte amici ragazzi mondo dio amore tesoro"
        " 大家 各位 朋友 亲爱的 同学们 皆"
    ).split()
)


def greeted_in(section: Sequence[Passage]) -> Iterator[tuple[str, str]]:
    """The speakers of a talk between people, each with the other names by which the only other speaker greets them."""
    turns = [(speech(passage.text), passage.text) for passage in section]
    speakers = list(dict.fromkeys(turn.speaker for turn, _ in turns if turn.speaker))
    if len(speakers) != 2:
        return
    own = frozenset(word for name in speakers for word in (name, *runs(name)))
    other = dict(zip(speakers, reversed(speakers), strict=True))
    names = (
        (other[turn.speaker], _greeted(turn.words)) for turn, text in turns if turn.speaker and not sources_in(text)
    )
    yield from islice(dict.fromkeys((whom, name) for whom, name in names if name and name not in own), MOST_FORMS)


def _greeted(words: str) -> str:
    """The name in a greeting at the beginning, folded; "" for none, and for a word that is no name."""
    match = _SPACED.match(words) or _CHINESE.match(words) or _JAPANESE.match(words)
    name = fold(next(filter(None, match.groups()))) if match else ""
    is_word = is_common(name) or name in _NO_NAMES or any(map(synonyms_of, tokens(name)))
    return "" if is_word else name
