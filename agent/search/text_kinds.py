"""What kind of text a section is: the ranking weighs talk between people, talk with the assistant, lists of facts and
prose each in its own way."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.languages.terms import fold
from agent.search.chunking import Passage, has_time, is_bullet, speech

USERS = frozenset(
    fold(
        "user me human owner ich nutzer benutzer usuario usuaria utilisateur utilisatrice utente"
        " пользователь я المستخدم 用户 用戶 我 ユーザー 사용자"
    ).split()
)
"""What a talk with the assistant calls the person, where not by name."""
ASSISTANTS = frozenset(
    fold(
        "assistant ai bot chatbot daybook assistent assistentin asistente asistenta assistante assistente"
        " ассистент помощник المساعد 助手 助理 アシスタント 비서 어시스턴트"
    ).split()
)
_LEAST_SPOKEN = 0.5
"""Share of a section's passages that are somebody's words, from which on it is talk."""


class TextKind(enum.IntEnum):
    """Stored in the index as its number."""

    PROSE = 0
    FACTS = 1
    """Bullets that each say something of their own."""
    PEOPLE = 2
    """Talk between people with names."""
    ASSISTANT = 3
    """Talk of a person with the assistant."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How a kind of text is ranked.

    flow        how much of what stands around a passage counts for it too, 1 at most
    window      how much the window around a passage counts, 1 at most
    length      how much a passage's length keeps it down, as BM25's b
    """

    flow: float
    window: float
    length: float


OF_KIND: Mapping[int, Weights] = {
    TextKind.PROSE: Weights(flow=0.5, window=1.0, length=0.4),
    TextKind.FACTS: Weights(flow=0.0, window=0.2, length=0.4),
    TextKind.PEOPLE: Weights(flow=0.8, window=1.0, length=0.4),
    TextKind.ASSISTANT: Weights(flow=0.3, window=1.0, length=0.7),
}
"""People answer one another in a few words, which say what they are about only together. The assistant's answers say it
themselves, and at length. The facts of a list stand beside each other by chance, and hold few words each."""


def kind_of(section: Sequence[Passage]) -> TextKind:
    """The kind of a section's passages, of which there is at least one. Names with a single turn each are labels
    (`Phone: …`, `Birthday: …`, `User: …`), unless times stand before them or a person and the assistant take turns."""
    spoken = [(speaker, one.text) for one in section if (speaker := speech(one.text).speaker)]
    if spoken and len(spoken) >= _LEAST_SPOKEN * len(section):
        names = Counter(speaker for speaker, _ in spoken)
        is_timed = all(has_time(text) for _, text in spoken)
        assistants, users = ASSISTANTS.intersection(names), USERS.intersection(names)
        if (assistants and (users or is_timed)) or any(names[one] > 1 for one in assistants | users):
            return TextKind.ASSISTANT
        if is_timed or len(spoken) > len(names):
            return TextKind.PEOPLE
    bullets = sum(1 for one in section if is_bullet(one.text))
    return TextKind.FACTS if bullets >= len(section) / 2 else TextKind.PROSE
