"""Kinds of text, which the rankings weigh differently."""

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
"""Names of the person in a conversation with the assistant."""
ASSISTANTS = frozenset(
    fold(
        "assistant ai bot chatbot daybook assistent assistentin asistente asistenta assistante assistente"
        " ассистент помощник المساعد 助手 助理 アシスタント 비서 어시스턴트"
    ).split()
)
_LEAST_SPOKEN = 0.5
"""Minimum share of passages with a speaker for a conversation."""


class TextKind(enum.IntEnum):
    """Stored in the index by number."""

    PROSE = 0
    FACTS = 1
    """Independent bullets."""
    PEOPLE = 2
    """Conversation between people."""
    ASSISTANT = 3
    """Conversation with the assistant."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a kind of text, each at most 1."""

    flow: float
    """Share of the neighbours' words."""
    window: float
    """Share of the surrounding window."""
    length: float
    """Penalty for length, BM25's b."""


OF_KIND: Mapping[int, Weights] = {
    TextKind.PROSE: Weights(flow=0.5, window=1.0, length=0.4),
    TextKind.FACTS: Weights(flow=0.0, window=0.2, length=0.4),
    TextKind.PEOPLE: Weights(flow=0.8, window=1.0, length=0.4),
    TextKind.ASSISTANT: Weights(flow=0.3, window=1.0, length=0.7),
}
"""People answer each other in few words that need context. The assistant's answers are long and self-contained. Facts
of a list are unrelated and short."""


def kind_of(section: Sequence[Passage]) -> TextKind:
    """The kind of a non-empty section. Names with one turn each are labels (`Phone: …`), unless times precede them or a
    person and the assistant alternate."""
    spoken = [(speaker, passage.text) for passage in section if (speaker := speech(passage.text).speaker)]
    if spoken and len(spoken) >= _LEAST_SPOKEN * len(section):
        names = Counter(speaker for speaker, _ in spoken)
        is_timed = all(has_time(text) for _, text in spoken)
        assistants, users = ASSISTANTS.intersection(names), USERS.intersection(names)
        if (assistants and (users or is_timed)) or any(names[name] > 1 for name in assistants | users):
            return TextKind.ASSISTANT
        if is_timed or len(spoken) > len(names):
            return TextKind.PEOPLE
    bullets = sum(1 for passage in section if is_bullet(passage.text))
    return TextKind.FACTS if bullets >= len(section) / 2 else TextKind.PROSE
