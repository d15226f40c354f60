"""Who is meant by a question: a speaker whom it names, the person who asks, or the assistant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agent.memory.index.folding import folded
from agent.memory.index.kinds import ASSISTANTS, Kind
from agent.memory.index.rows import PassageRow, SectionRow
from agent.memory.words import fold, runs

_READ_CHARS = 1_000
_READ_WORDS = 64
_NAMED = 0.7
"""What counts for a passage whose speaker the question names."""
_FIRST_NAMED = 0.5
"""Part of that for the first one, where the question names others too."""
_OWN = 2.0
"""What counts for a turn of the side that is meant, in a talk with the assistant: its answers are long, hold the
question's words again, and would take all the room."""
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
    r"|\bhas (?:recomendado|sugerido|aconsejado|propuesto|dicho|explicado|mencionado)"
    r"|\btus? (?:recomendacion|sugerencia|consejo|respuesta|explicacion|lista)"
    r"|\bm ?'? ?(?:as|avais) (?:\w+ )?(?:recommande|suggere|conseille|propose|dit|explique|mentionne|donne)"
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


def meant(query: str, speakers: Collection[str]) -> Meant:
    """`speakers`: whoever said something, folded as `words.fold` does."""
    text = " ".join(folded(query[:_READ_CHARS]).split())
    assistant = _OF_ASSISTANT.search(text) is not None
    return Meant(_named(query, speakers), not assistant and _OF_PERSON.search(text) is not None, assistant)


def shares(who: Meant, rows: Sequence[PassageRow], sections: Mapping[int, SectionRow]) -> dict[int, float]:
    """What counts for each passage that somebody who is meant said, by its number."""
    found: dict[int, float] = {}
    named = _NAMED if len(who.named) == 1 else _NAMED * _FIRST_NAMED
    for row in rows:
        kind = sections[row.section].kind
        if kind == Kind.PEOPLE and who.named and row.speaker == who.named[0]:
            found[row.id] = named
        elif kind == Kind.ASSISTANT and row.speaker and (who.assistant if row.speaker in ASSISTANTS else who.person):
            found[row.id] = _OWN
    return found


def _named(query: str, speakers: Collection[str]) -> tuple[str, ...]:
    """The speakers whom a question names, by their whole name or the first part of it, in its order."""
    words = runs(fold(query[:_READ_CHARS]))[:_READ_WORDS]
    places: dict[str, int] = {}
    for size in (1, 2, 3):
        for at in range(len(words) - size + 1):
            places.setdefault(" ".join(words[at : at + size]), at)
    heard = ((min(places.get(name, _FAR), places.get(name.split(" ", 1)[0], _FAR)), name) for name in speakers)
    return tuple(name for at, name in sorted(heard) if at < _FAR)
