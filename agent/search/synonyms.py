"""Everyday synonyms, by topic in six languages in `synonyms.txt`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from agent.languages.terms import fold_for_index
from agent.search.tokenizer import term_of


def synonyms_of(token: str) -> frozenset[str]:
    return synonyms().get(token, frozenset()) - {token}


@cache
def synonyms() -> Mapping[str, frozenset[str]]:
    """All tokens of each token's topics."""
    found: dict[str, frozenset[str]] = {}
    for line in files("agent.search").joinpath("synonyms.txt").read_text("utf-8").splitlines():
        topic = frozenset(term_of(word).token for word in fold_for_index(line).split() if not line.startswith("#"))
        for token in topic:
            found[token] = found.get(token, frozenset()) | topic
    return found
