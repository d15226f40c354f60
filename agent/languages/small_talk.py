"""Words that say nothing about which memory is relevant: greetings, thanks, praise."""

from __future__ import annotations

import re

from agent.languages.registry import LANGUAGES
from agent.languages.terms import fold, is_unspaced

_HIRAGANA = re.compile("[\u3041-\u309f]")
_PARTICLES = frozenset("".join(table.common.particles for table in LANGUAGES.values()))


def is_small_talk(term: str) -> bool:
    """`term` as from `terms.terms`, also a pair with a particle."""
    if term in _SMALL_TALK:
        return True
    is_grammar = _HIRAGANA.search(term) is not None or not _PARTICLES.isdisjoint(term)
    return is_grammar and is_unspaced(term)


def is_small_word(term: str) -> bool:
    """A listed word, not a pair with a particle."""
    return term in _SMALL_TALK


_SMALL_TALK = frozenset(fold(" ".join(table.common.small_talk for table in LANGUAGES.values())).split())
