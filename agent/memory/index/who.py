"""Who is meant by a question: a speaker whom it names, the person who asks, or the assistant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agent.memory.index.aliases import Name, forms_named
from agent.memory.index.folding import folded
from agent.memory.index.kinds import ASSISTANTS, Kind
from agent.memory.index.rows import PassageRow, SectionRow
from agent.memory.words import fold, runs

_READ_CHARS = 1_000
_READ_WORDS = 64
_FIRST_NAMED = 0.5
"""Part of what counts for the first one named, where the question names others too."""
_OTHER_SIDE = 0.3
"""The assistant's answers are long, hold the words of a question again, and would take all the room."""
_FAR = 1_000

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
"""What the assistant said before, over folded text."""
_OF_PERSON = re.compile(
    r"\b(?:i|me|my|mine|myself|we|our|us|ich|mich|mir|meine?[nmrs]?|wir|uns|unsere?[nmrs]?|yo|mi|mis|mio|mia|nuestr[oa]s?"
    r"|j|je|moi|mon|ma|mes|nous|notre|nos)\b|我|咱|私|僕|俺|わたし|ぼく"
)


@dataclass(frozen=True, slots=True)
class Meant:
    """`named`: speakers in the order in which the question names them. `person`, `assistant`: whose turns it asks for
    in a talk with the assistant; neither where it does not say."""

    named: Sequence[str] = ()
    person: bool = False
    assistant: bool = False


def meant(query: str, speakers: Collection[str] = (), names: Sequence[Name] = ()) -> Meant:
    """`speakers`: whoever said something, folded as `words.fold` does; `names`: those of people with other forms."""
    text = " ".join(folded(query[:_READ_CHARS]).split())
    assistant = _OF_ASSISTANT.search(text) is not None
    return Meant(_named(query, speakers, names), not assistant and _OF_PERSON.search(text) is not None, assistant)


def named(who: Meant, rows: Sequence[PassageRow], sections: Mapping[int, SectionRow]) -> dict[int, float]:
    """What counts for each passage of the first speaker whom a question names, by its number; where it names others
    too, a part of it."""
    if not who.named:
        return {}
    share = 1.0 if len(who.named) == 1 else _FIRST_NAMED
    return {
        row.id: share
        for row in rows
        if row.speaker == who.named[0] and sections[row.section].kind in (Kind.PEOPLE, Kind.ASSISTANT)
    }


def unmeant(who: Meant, rows: Sequence[PassageRow], sections: Mapping[int, SectionRow]) -> dict[int, float]:
    """The part that is left of what speaks for a passage, for those of the other side in a talk with the assistant, by
    number."""
    if not (who.person or who.assistant):
        return {}
    return {
        row.id: _OTHER_SIDE
        for row in rows
        if row.speaker
        and sections[row.section].kind == Kind.ASSISTANT
        and (row.speaker in ASSISTANTS) is not who.assistant
    }


def _named(query: str, speakers: Collection[str], names: Sequence[Name]) -> tuple[str, ...]:
    """The speakers whom a question names, by their whole name or the first part of it, in its order."""
    words = runs(fold(query[:_READ_CHARS]))[:_READ_WORDS]
    places: dict[str, int] = {}
    for size in (1, 2, 3):
        for at in range(len(words) - size + 1):
            places.setdefault(" ".join(words[at : at + size]), at)
    for form, at in forms_named(query, names).items():
        places.setdefault(form, at)
    heard = ((min(places.get(name, _FAR), places.get(name.split(" ", 1)[0], _FAR)), name) for name in speakers)
    return tuple(name for at, name in sorted(heard) if at < _FAR)
