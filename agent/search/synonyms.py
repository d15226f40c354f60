"""Everyday words that may stand for one another: who asks when somebody was anxious may have said "worried".

`synonyms.txt` beside this file lists them, a topic a line, in six languages: its first lines say how.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from agent.languages.terms import folded
from agent.search.tokenizer import term_of


def synonyms_of(token: str) -> frozenset[str]:
    """The tokens of the words that may stand for the word of `token`, and not `token` itself."""
    return synonyms().get(token, frozenset()) - {token}


@cache
def synonyms() -> Mapping[str, frozenset[str]]:
    """All tokens of each topic that a token belongs to, by that token."""
    found: dict[str, frozenset[str]] = {}
    for line in files("agent.search").joinpath("synonyms.txt").read_text("utf-8").splitlines():
        topic = frozenset(term_of(word).token for word in folded(line).split() if not line.startswith("#"))
        for token in topic:
            found[token] = found.get(token, frozenset()) | topic
    return found
