"""Other forms of people's names. A line `- Katharina (Kate, Kat, 卡佳)` in USER.md or in a note makes the four one
name: a question that holds one of them finds what holds another.

An index knows such lines of its own scope's files alone. Of a form of several words, the first that is no title stands
for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from agent.memory import notes
from agent.memory.index import date_words
from agent.memory.index.folding import folded
from agent.memory.index.tokens import MOST_CHARS, Term, query_terms, term_of, tokens
from agent.memory.words import fold, is_unspaced, pairs, runs

Name: TypeAlias = tuple[str, ...]
"""All forms of one person's name, folded by `words.fold`."""

_USER = "USER.md"
_BULLET = re.compile(r"\s*+[-*+]\s++(?=\S)")
_OPEN, _CLOSE = re.compile("[(（]"), re.compile("[)）]")
_BETWEEN_FORMS = re.compile(r"[,，、;；/]")
_AFTER = tuple(":：,，.。;—–-")
"""What may follow the brackets, with anything behind it."""
_LONGEST = 40
"""Characters of one form."""
_MOST_WORDS = 4
_IN_NAMES = frozenset(" '’.-·・")
_TITLES = frozenset(
    fold(
        "dr mr mrs ms miss prof sir aunt uncle grandma grandpa frau herr tante onkel oma opa señor señora don doña tía"
        " tío monsieur madame mme"
    ).split()
)


def has_aliases(path: str) -> bool:
    """Whether names are read from a file of a scope, by its path below the scope's folder."""
    return path == _USER or path.startswith(f"{notes.FOLDER}/")


def aliases_in(text: str) -> Iterator[Name]:
    """The names that a text gives other forms for."""
    for line in text.split("\n"):
        if (name := _alias(line)) is not None:
            yield name


def other_names(query: str, names: Sequence[Name]) -> dict[str, list[Term]]:
    """For each token of a name in a question, the terms of the name's other forms: each counts as that token would."""
    found: dict[str, list[Term]] = {}
    for _, form, name in _named(query, names):
        for token in (term.token for term in query_terms(form)):
            others = (replace(_standing_for(other), of=token) for other in name if other != form)
            known = found.setdefault(token, [])
            known += dict.fromkeys(one for one in others if one.token != token and one not in known)
    return found


def forms_named(query: str, names: Sequence[Name]) -> dict[str, int]:
    """All forms of the names in a question, each with the place of the word (of `words.runs`) where its name stands."""
    found: dict[str, int] = {}
    for at, _, name in sorted(_named(query, names)):
        for form in name:
            found.setdefault(form, at)
    return found


def _alias(line: str) -> Name | None:
    if (bullet := _BULLET.match(line)) is None:
        return None
    if (opened := _OPEN.search(line, bullet.end())) is None or (closed := _CLOSE.search(line, opened.end())) is None:
        return None
    rest = line[closed.end() :].strip().removeprefix("**").lstrip()
    if rest and not rest.startswith(_AFTER):
        return None
    first = line[bullet.end() : opened.start()].replace("**", "").strip()
    others = [one.strip() for one in _BETWEEN_FORMS.split(line[opened.end() : closed.start()])]
    if not _is_name(first):
        return None
    forms = tuple(dict.fromkeys(fold(one) for one in (first, *others) if _is_name(one)))
    return forms if len(forms) > 1 else None


def _is_name(text: str) -> bool:
    """It begins as names do, is not long, and is no day of the week and no month."""
    begins = text[:1].isalpha() and not text[:1].islower() and len(text) <= _LONGEST
    return (
        begins
        and len(text.split()) <= _MOST_WORDS
        and all(one.isalpha() or one in _IN_NAMES or unicodedata.category(one)[0] == "M" for one in text)
        and folded(text) not in date_words.WEEKDAYS | date_words.MONTHS
    )


def _named(query: str, names: Sequence[Name]) -> Iterator[tuple[int, str, Name]]:
    """Each form that stands in a question, with the place of its first word."""
    if not names:
        return
    words = runs(fold(query[:MOST_CHARS]))
    roots = [_roots(word)[:1] for word in words]
    places = {root: at for at, root in reversed(list(enumerate(roots)))}
    unspaced = [(at, word) for at, word in enumerate(words) if is_unspaced(word)]
    for name in names:
        for form in name:
            if is_unspaced(form):
                if (at := next((at for at, word in unspaced if form in word), None)) is not None:
                    yield at, form, name
                continue
            wanted = [(root,) for root in _roots(form)]
            first = places.get(wanted[0]) if wanted else None
            for at in range(first, len(roots)) if first is not None else ():
                if roots[at : at + len(wanted)] == wanted:
                    yield at, form, name
                    break


@lru_cache(maxsize=4_096)
def _roots(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))


def _standing_for(form: str) -> Term:
    """What is looked for where a form of a name is."""
    if is_unspaced(form):
        return term_of(pairs(form)[0])
    words = runs(form)
    return term_of(folded(next((word for word in words if word not in _TITLES), words[0])))
