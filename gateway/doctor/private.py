"""Private things in a line of text, as far as their shape tells: numbers, addresses, keys.

No pattern does it for every language; this is for a hint to the owner, who knows better.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

_MARKS = ".,;:!?()[]{}<>|\"'`*_=„“”‚‘’«»"
_NUMBER_MARKS = frozenset("-+/.()")
_SECRETS = frozenset({"password", "passwort", "contraseña", "passe", "pin", "token", "key", "secret"})
_SECRETS_WITHOUT_SPACES = ("密码", "パスワード")
_KEY_BEGINNINGS = ("sk-", "ghp_", "github_pat_", "xox", "akia", "eyj", "glpat-", "-----begin")
_KEY_CHARS = 20
"""A word with digits in it that is as long is a key."""
_STREET_ENDS = ("straße", "strasse", "gasse", "allee", "platz")
_STREETS = frozenset({"street", "st", "road", "rd", "avenue", "ave", "lane", "rue", "calle", "via", "str"})


def private_thing(line: str) -> str:
    """What the line seems to hold, in words, or "". A date such as 2026-11-21 is none."""
    words = [stripped for word in line.split() if (stripped := word.strip(_MARKS)) and not _is_date(stripped)]
    if _names_a_secret(line) or any(map(_is_key, words)):
        return "what looks like a key"
    if any(map(_is_address, words)) or _has_street(words):
        return "an address"
    if any(map(_is_number, words)) or _has_spaced_number(words):
        return "a number of four or more digits"
    return ""


def _is_date(word: str) -> bool:
    try:
        return len(word) == len("2026-11-21") and bool(date.fromisoformat(word))
    except ValueError:
        return False


def _names_a_secret(line: str) -> bool:
    """`Password: …`, `the PIN = …`."""
    before, mark, value = line.replace("：", ":").replace("=", ":").partition(":")
    names = before.strip(" -*_`").casefold().split()[-1:]
    named = any(name in _SECRETS or name.endswith(_SECRETS_WITHOUT_SPACES) for name in names)
    return named and bool(mark and value.strip())


def _is_key(word: str) -> bool:
    if word.casefold().startswith(_KEY_BEGINNINGS):
        return len(word) >= 8
    is_mixed = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return len(word) >= _KEY_CHARS and is_mixed and all(one.isalnum() or one in "-_+=" for one in word)


def _is_address(word: str) -> bool:
    name, _, host = word.partition("@")
    return bool(name and "." in host) or "://" in word or word.casefold().startswith("www.")


def _has_street(words: Sequence[str]) -> bool:
    """`Hauptstraße 5`, `5 Baker Street`, `12 rue de Rivoli`: a house number beside it."""
    for at, word in enumerate(words):
        folded = word.casefold()
        if folded in _STREETS or (folded.endswith(_STREET_ENDS) and word[:1].isupper()):
            near = (*words[max(0, at - 2) : at], *words[at + 1 : at + 3])
            if any(one[:1].isdecimal() and len(one) <= 5 for one in near):
                return True
    return False


def _is_number(word: str) -> bool:
    """`4711`, `K4711`, `0171/12345`; not `10-12`."""
    runs = "".join(one if one.isdecimal() else " " for one in word).split()
    is_plain = all(one.isdecimal() or one in _NUMBER_MARKS for one in word)
    return any(len(run) >= 4 for run in runs) or (is_plain and sum(map(len, runs)) >= 5)


def _has_spaced_number(words: Sequence[str]) -> bool:
    """`4 7 1 1`, `171 123 45 67`: three numbers in a row or more."""
    row = digits = 0
    for word in words:
        row, digits = (row + 1, digits + len(word)) if word.isdecimal() else (0, 0)
        if row >= 3 and digits >= 4:
            return True
    return False
