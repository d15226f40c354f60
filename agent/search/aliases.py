"""Synonyms by topic in six languages (`synonyms.txt`), and other forms of people's names.

Names come from lines `- Katharina (Kate, Kat, 卡佳)` below headings about people, in the scope's own files without
provenance marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import dropwhile, islice, takewhile
from typing import TypeAlias

from agent.languages import date_words
from agent.languages.terms import fold, fold_for_index, is_common, is_small_word, is_unspaced, pairs, runs
from agent.memory import notes
from agent.memory.provenance import sources_in, without_mark
from agent.search.chunking import Passage
from agent.search.text_kinds import ASSISTANTS, USERS
from agent.search.tokenizer import MOST_CHARS, Term, query_terms, term_of, tokens


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


Name: TypeAlias = tuple[str, ...]
"""All forms of one person's name, folded by `terms.fold`."""

MOST_FORMS = 12
"""Per name."""
MOST_NAMES = 500
"""Per index."""
_MOST_OTHERS = 2 * MOST_FORMS
"""Extra terms searched for one word of the question."""
_PEOPLE = frozenset(
    fold(
        "people family friends names contacts personen leute familie freunde namen kontakte personas gente familia"
        " amigos nombres contactos personnes gens famille amis noms"
        " persone famiglia amici nomi contatti 人 人物 家人 朋友 联系人 聯絡人 名字"
        " 人々 家族 友人 名前"
    ).split()
)
_USER = "USER.md"
_BULLET = re.compile(r"\s*+[-*+]\s++(?=\S)")
_ITEM = re.compile(r"\n(?=[ \t]*+[-*+][ \t])")
_OPEN, _CLOSE = re.compile("[(（]"), re.compile("[)）]")
_BETWEEN_FORMS = re.compile(r"[,，、;；/]")
_AFTER = tuple(":：,，.。;—–-")
"""Signs that may follow the brackets, before further text."""
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
    return path == _USER or path.startswith(f"{notes.FOLDER}/")


def aliases_in(found: Iterable[Passage], about: Iterable[str] = ()) -> Iterator[Name]:
    """Names below headings about people; in all passages if one of `about` says so."""
    of_people = any(map(_says_people, about))
    written = (passage for passage in found if "```" not in passage.text)
    relevant = (passage for passage in written if of_people or any(map(_says_people, passage.heading.split(" / "))))
    items = (item for passage in relevant for item in _ITEM.split(passage.text) if not sources_in(item))
    return islice(filter(None, (_parse_alias(item.split("\n", 1)[0]) for item in items)), MOST_NAMES)


def other_names(query: str, names: Sequence[Name]) -> dict[str, list[Term]]:
    """Terms of a name's other forms, by the question's token for which they count."""
    found: dict[str, list[Term]] = {}
    for _, form, name in _forms_in(query, names):
        for token in (term.token for term in query_terms(form)):
            others = (replace(_search_term(other), of=token) for other in name if other != form)
            known = found.setdefault(token, [])
            new = dict.fromkeys(term for term in others if term.token != token and term not in known)
            known += islice(new, max(0, _MOST_OTHERS - len(known)))
    return found


def forms_named(query: str, names: Sequence[Name]) -> dict[str, int]:
    """Forms of the names in a question, with their words' positions in `terms.runs`."""
    found: dict[str, int] = {}
    for at, _, name in sorted(_forms_in(query, names)):
        for form in name:
            found.setdefault(form, at)
    return found


def _says_people(heading: str) -> bool:
    """True if the heading's first words, up to a common one, name people: "My family", "Close friends"."""
    words = runs(fold(without_mark(heading)))
    informative = dropwhile(is_common, words)
    return any(map(_is_people_word, takewhile(lambda word: not is_common(word), informative)))


def _is_people_word(word: str) -> bool:
    return word in _PEOPLE or (
        is_unspaced(word) and any(word.endswith(ending) for ending in _PEOPLE if len(ending) > 1)
    )


def _parse_alias(line: str) -> Name | None:
    if (bullet := _BULLET.match(line)) is None:
        return None
    if (opened := _OPEN.search(line, bullet.end())) is None or (closed := _CLOSE.search(line, opened.end())) is None:
        return None
    rest = line[closed.end() :].strip().removeprefix("**").lstrip()
    if rest and not rest.startswith(_AFTER):
        return None
    first = line[bullet.end() : opened.start()].replace("**", "").strip()
    others = [form.strip() for form in _BETWEEN_FORMS.split(line[opened.end() : closed.start()])]
    if not _is_name(first):
        return None
    forms = tuple(dict.fromkeys(fold(form) for form in (first, *others) if _is_name(form)))
    return forms[:MOST_FORMS] if len(forms) > 1 else None


def _is_name(text: str) -> bool:
    begins = text[:1].isalpha() and not text[:1].islower() and 1 < len(text) <= _LONGEST
    return (
        begins
        and len(text.split()) <= _MOST_WORDS
        and all(char.isalpha() or char in _IN_NAMES or unicodedata.category(char)[0] == "M" for char in text)
        and fold_for_index(text) not in date_words.WEEKDAYS | date_words.MONTHS
        and not all(map(_is_ordinary_word, runs(fold(text))))
    )


def _is_ordinary_word(word: str) -> bool:
    return is_common(word) or is_small_word(word) or word in _TITLES or word in USERS or word in ASSISTANTS


def _forms_in(query: str, names: Sequence[Name]) -> Iterator[tuple[int, str, Name]]:
    if not names:
        return
    words = runs(fold(query[:MOST_CHARS]))
    roots = ["".join(_roots(word)[:1]) for word in words]
    unspaced = [(at, word) for at, word in enumerate(words) if is_unspaced(word)]
    together = " ".join(word for _, word in unspaced)
    positions: dict[int, dict[tuple[str, ...], int]] = {}  # by number of words: the first position of each phrase
    for name in names:
        for form in name:
            if is_unspaced(form):
                if form in together and (at := next((at for at, word in unspaced if form in word), None)) is not None:
                    yield at, form, name
                continue
            wanted = _roots(form)
            size = len(wanted)
            if size not in positions:
                rows = ((tuple(roots[at : at + size]), at) for at in range(len(roots) - size, -1, -1))
                positions[size] = dict(rows)
            if size and (at := positions[size].get(wanted)) is not None:
                yield at, form, name


@lru_cache(maxsize=2 * MOST_FORMS * MOST_NAMES)
def _roots(text: str) -> tuple[str, ...]:
    return tuple(tokens(text))


def _search_term(form: str) -> Term:
    """The first word that is not a title stands for a form."""
    if is_unspaced(form):
        return term_of(pairs(form)[0])
    words = runs(form)
    return term_of(fold_for_index(next((word for word in words if word not in _TITLES), words[0])))
