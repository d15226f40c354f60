"""A question's terms with their weights, and its subject."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from agent.languages.dates import without_days
from agent.languages.terms import fold, fold_for_index, runs
from agent.search.aliases import Name, forms_named, other_names, synonyms_of
from agent.search.rows import PassageRow, SectionRow
from agent.search.store import IndexStore
from agent.search.text_kinds import ASSISTANTS, TextKind
from agent.search.tokenizer import Term, beginnings, query_terms, words_of_questions

_UNKNOWN = 0.5
"""Share of its weight with which an unknown word lowers scores."""
_MOST_TERMS = 100
"""The rarest terms of a long question; each costs time in every passage."""
_COMMON_AT_LEAST = 2_000
_COMMON_SHARE = 20
"""A word in more than that many windows, and that fraction of all, is skipped beside rarer ones."""
_OF_DAYS = 0.25
"""Weight of a word that names a day: an entry of that day need not say it. Unknown, it lowers no score."""
_MOST_SYNONYM_WINDOWS = 300
"""Total windows of the searched synonyms, rarest first."""
_OF_QUESTIONS = 0.3
"""Part of its weight for a word that questions are made of. Nothing is found by it, but of two equal passages the one
with the question's own words is meant. Not in a list of facts, which is worded differently from questions."""
_OFTEN = 0.5
"""Part of all windows from which on such a word does not count: it says little, and costs time at each place."""
_EVERYWHERE = 0.9
"""A word in this share of all windows is ignored."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question's terms. `weights` by token, `whole` their sum."""

    terms: Sequence[Term]
    weights: Mapping[str, float]
    whole: float
    known: float = 1.0
    """Its share of the sum with unknown words."""
    share: float = 1.0
    """Lower if the words only name days."""
    synonyms: Sequence[Term] = ()
    """Terms in place of missing ones."""
    beside: Sequence[Term] = ()


def build_query(store: IndexStore, query: str, *, of_days: bool = False) -> Query:
    """The terms of a question; `of_days`: it names days."""
    windows = store.windows
    limit = min(max(_COMMON_AT_LEAST, windows // _COMMON_SHARE), _EVERYWHERE * windows)
    wanted = query_terms(query)
    beside = frozenset(query_terms(without_days(query)) if of_days else wanted)
    shares = {term.token: 1.0 if term in beside else _OF_DAYS for term in wanted}
    others = other_names(query, store.names)
    held = dict(_held(store, term, others.get(term.token, ())) for term in wanted)
    known = {term: count for term, count in held.items() if count}
    rarest = sorted(known, key=lambda term: known[term])
    terms = [term for term in rarest if known[term] <= limit][:_MOST_TERMS] or rarest[:2]
    weights = {term.asked: shares[term.asked] * _telling(known[term], windows) for term in terms}
    share = 1.0 if any(term in beside for term in wanted) else _OF_DAYS
    terms = [*terms, *(other for term in terms for other in others.get(term.asked, ()))]
    whole = sum(weights.values())
    synonyms = _synonyms(store, wanted, {term.token for term in terms})
    for token in {term.of for term in synonyms} - weights.keys():
        count = sum(count for term, count in synonyms.items() if term.of == token)
        weights[token] = _UNKNOWN * _telling(count, windows)
    whole = (whole or sum(weights.values())) / share or 1.0
    missing = sum(1 for term in held if term in beside and term not in known and term.asked not in weights)
    unknown = _UNKNOWN * missing * _telling(0, windows)
    known_share = whole / (whole + unknown)
    others_beside = {term: store.frequency(term) for term in words_of_questions(query) if term.token not in weights}
    counted = {term: count for term, count in others_beside.items() if 0 < count < _OFTEN * windows}
    weights |= {term.token: _OF_QUESTIONS * _telling(count, windows) for term, count in counted.items()}
    return Query(terms, weights, whole, known_share, share, list(synonyms), list(counted))


def _synonyms(store: IndexStore, wanted: Iterable[Term], taken: Collection[str]) -> dict[Term, int]:
    others = {token: term.token for term in wanted for token in synonyms_of(term.token) if token not in taken}
    terms = [Term(token, of=asked) for token, asked in others.items()]
    counts = {term: store.frequency(term) for term in terms}
    kept: dict[Term, int] = {}
    room = _MOST_SYNONYM_WINDOWS
    for term, count in sorted(counts.items(), key=lambda item: (item[1], item[0].token)):
        room -= count
        if room < 0:
            break
        if count:
            kept[term] = count
    return kept


def _held(store: IndexStore, term: Term, names: Sequence[Term]) -> tuple[Term, int]:
    """A term, or its substitute, with its number of windows; for names the commonest form's."""
    if count := max(map(store.frequency, (term, *names))):
        return term, count
    others = ((other, store.frequency(other)) for other in beginnings(term))
    return next(((other, count) for other, count in others if count), (term, 0))


def _telling(count: int, windows: int) -> float:
    return math.log(1 + (max(windows - count, 0) + 0.5) / (count + 0.5))


_READ_CHARS = 1_000
_READ_WORDS = 64
_FIRST_NAMED = 0.8
"""Weight of the first speaker, or those named in one breath, if several are named."""
_OTHER_SIDE = 0.3
"""The assistant's answers are long, repeat the question, and would crowd out the rest."""
_FAR = 1_000
_IN_ONE_BREATH = 2
"""Words from a name to the next, with one such as "and" between them at most."""

_OF_ASSISTANT = re.compile(
    r"\b(?:did|have|had) you (?:\w+ )?"
    r"(?:recommend|suggest|advise|propose|mention|tell|told|say|said|give|gave|list|explain|describe|find|found|show)"
    r"|\byou (?:\w+ )?(?:recommended|suggested|advised|proposed|mentioned|told|said|gave|listed"
    r"|explained|described|found)"
    r"|\byour (?:\w+ )?(?:recommendation|suggestion|advice|proposal|answer|reply|explanation|list|tips?)"
    r"|\b(?:hast|hattest) du\b.{0,80}\b(?:empfohlen|vorgeschlagen|geraten|gesagt|erklart|erwahnt|genannt|gegeben)"
    r"|\bdeine?[nr]? (?:\w+ )?(?:empfehlung|vorschlag|rat\b|antwort|erklarung|liste|tipp)"
    r"|\b(?:me|nos) (?:recomendaste|sugeriste|aconsejaste|propusiste|dijiste|explicaste|mencionaste|diste)"
    r"|\b(?:recomend|aconsej|mencion|explic)aste\b|\b(?:sugeriste|dijiste)\b"
    r"|\bhas (?:recomendado|sugerido|aconsejado|propuesto|dicho|explicado|mencionado)"
    r"|\btus? (?:recomendacion|sugerencia|consejo|respuesta|explicacion|lista)"
    r"|\b(?:m ?'? ?(?:as|avais)|(?:as|avais)[ -]tu) (?:\w+ )?"
    r"(?:recommande|suggere|conseille|propose|dit|explique|mentionne|donne)"
    r"|\b(?:ta|tes|ton) (?:recommandation|suggestion|conseil|reponse|explication|liste)"
    r"|你.{0,12}(?:推荐|推薦|建议|建議|提到|告诉|告訴|说过|說過|提议|解释|介绍|给过)"
    r"|あなた.{0,16}(?:薦め|勧め|提案|助言|言って|言った|教えて|説明)|(?:お勧め|おすすめ)して(?:くれた|もらった)"
)
"""References to what the assistant said, in folded text."""
_OF_PERSON = re.compile(
    r"\b(?:i|me|my|mine|myself|we|our|us|ich|mich|mir|meine?[nmrs]?|wir|uns|unsere?[nmrs]?|yo|mi|mis|mio|mia|nuestr[oa]s?"
    r"|j|je|moi|mon|ma|mes|nous|notre|nos)\b|我|咱|私|僕|俺|わたし|ぼく"
)


@dataclass(frozen=True, slots=True)
class QuestionSubject:
    """Whom a question is about. `person`, `assistant`: whose turns it asks for, if it says."""

    named: Sequence[str] = ()
    """Speakers in order."""
    together: int = 1
    """The number of the first ones that are named in one breath (Anna and Ben)."""
    person: bool = False
    assistant: bool = False


def subject_of(query: str, speakers: Collection[str] = (), names: Sequence[Name] = ()) -> QuestionSubject:
    """The subject of a question; `speakers` as folded by `terms.fold`."""
    text = " ".join(fold_for_index(query[:_READ_CHARS]).split())
    assistant = _OF_ASSISTANT.search(text) is not None
    named = _named(query, speakers, names)
    together = sum(1 for _ in takewhile(lambda pair: pair[1] - pair[0] <= _IN_ONE_BREATH, pairwise(named.values()))) + 1
    return QuestionSubject(tuple(named), together, not assistant and _OF_PERSON.search(text) is not None, assistant)


def named(who: QuestionSubject, rows: Sequence[PassageRow], sections: Mapping[int, SectionRow]) -> dict[int, float]:
    """Scores by passage id for the first speaker named, or those named in one breath; lower if several are named."""
    share = 1.0 if len(who.named) == 1 else _FIRST_NAMED
    subjects = frozenset(who.named[: who.together])
    return {
        row.id: share
        for row in rows
        if row.speaker in subjects and sections[row.section].kind in (TextKind.PEOPLE, TextKind.ASSISTANT)
    }


def without_subject(
    who: QuestionSubject, rows: Sequence[PassageRow], sections: Mapping[int, SectionRow]
) -> dict[int, float]:
    """Factors by passage id for turns of the other side of a conversation with the assistant."""
    if not (who.person or who.assistant):
        return {}
    return {
        row.id: _OTHER_SIDE
        for row in rows
        if row.speaker
        and sections[row.section].kind == TextKind.ASSISTANT
        and (row.speaker in ASSISTANTS) is not who.assistant
    }


def _named(query: str, speakers: Collection[str], names: Sequence[Name]) -> dict[str, int]:
    words = runs(fold(query[:_READ_CHARS]))[:_READ_WORDS]
    places: dict[str, int] = {}
    for size in (1, 2, 3):
        for at in range(len(words) - size + 1):
            places.setdefault(" ".join(words[at : at + size]), at)
    for form, at in forms_named(query, names).items():
        places.setdefault(form, at)
    heard = ((min(places.get(name, _FAR), places.get(name.split(" ", 1)[0], _FAR)), name) for name in speakers)
    return {name: at for at, name in sorted(heard) if at < _FAR}
