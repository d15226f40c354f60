"""Sentences that show what Daybook can do: said as they are, they do it. Pure."""

from __future__ import annotations

from agent.languages.codes import Language
from agent.languages.sentences import Sentence
from agent.languages.terms import is_same_word, query_terms

ABILITIES = Sentence("I remember what you tell me, remind you of what's coming, and sum up your day in the evening.")
FIRST = (
    Sentence("Remember that my sister's birthday is on 4 May."),
    Sentence("When is my sister's birthday?"),
    Sentence("Remind me tomorrow at 9 to call the dentist."),
)
"""To tell, to ask, and to be reminded. A button holds at most 64 bytes, in every language."""
ALL = (
    FIRST[2],
    Sentence("Add milk to the shopping list"),
    FIRST[0],
    Sentence("What's due tomorrow?"),
    Sentence("Set a timer for 10 minutes"),
    Sentence("Wake me tomorrow at 7"),
    Sentence("Show the shopping list"),
    Sentence("Take milk off the shopping list"),
    Sentence("Move the reminder to 4 p.m."),
    Sentence("Cancel the reminder"),
    Sentence("What happened yesterday?"),
    Sentence("Sum up the day"),
    Sentence("What did I promise?"),
    Sentence("Forget my sister's birthday"),
    FIRST[1],
)
"""A sentence for each kind of order; the likeliest come first."""


def nearest(language: Language, text: str, most: int = 3) -> list[Sentence]:
    """The examples that share most words with a text."""
    wanted = query_terms(text)

    def shared(example: Sentence) -> int:
        own = query_terms(example.in_language(language))
        return sum(any(is_same_word(word, other) for other in own) for word in wanted)

    return sorted(ALL, key=shared, reverse=True)[:most]
