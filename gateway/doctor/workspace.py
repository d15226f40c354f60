"""Checks of a workspace: unusable skills, a long index, private things in files that every chat reads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from pathlib import Path

from agent.context.prompt_files import common_places, read
from agent.languages.sentences import Sentence, joined
from agent.memory.consents import Consents
from agent.memory.files import read_text
from agent.memory.notes import INDEX_NAMES, fullness
from agent.memory.paths import UnreadableFile
from agent.memory.scope import Audience, Scope
from agent.skills import Skills
from channels.checks import Finding

_MARKS = ".,;:!?()[]{}<>|\"'`*_=„“”‚‘’«»"
_NUMBER_MARKS = frozenset("-+/.()")
_SECRETS = frozenset({"password", "passwort", "contraseña", "passe", "pin", "token", "key", "secret"})
_SECRETS_WITHOUT_SPACES = ("密码", "パスワード")
_KEY_BEGINNINGS = ("sk-", "ghp_", "github_pat_", "xox", "akia", "eyj", "glpat-", "-----begin")
_KEY_CHARS = 20
"""A word of letters and digits is a key from this length on."""
_STREET_ENDS = ("straße", "strasse", "gasse", "allee", "platz")
_STREETS = frozenset({"street", "st", "road", "rd", "avenue", "ave", "lane", "rue", "calle", "via", "str"})


def private_thing(line: str) -> str:
    """A number, address or key that a line seems to contain, or "". Only a hint. Dates do not count."""
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
    return (
        len(word) >= _KEY_CHARS and is_mixed and all(character.isalnum() or character in "-_+=" for character in word)
    )


def _is_address(word: str) -> bool:
    name, _, host = word.partition("@")
    return bool(name and "." in host) or "://" in word or word.casefold().startswith("www.")


def _has_street(words: Sequence[str]) -> bool:
    """`Hauptstraße 5`, `5 Baker Street`, `12 rue de Rivoli`."""
    for at, word in enumerate(words):
        folded = word.casefold()
        if folded in _STREETS or (folded.endswith(_STREET_ENDS) and word[:1].isupper()):
            near = (*words[max(0, at - 2) : at], *words[at + 1 : at + 3])
            if any(neighbour[:1].isdecimal() and len(neighbour) <= 5 for neighbour in near):
                return True
    return False


def _is_number(word: str) -> bool:
    """`4711`, `K4711`, `0171/12345`; not `10-12`."""
    runs = "".join(character if character.isdecimal() else " " for character in word).split()
    is_plain = all(character.isdecimal() or character in _NUMBER_MARKS for character in word)
    return any(len(run) >= 4 for run in runs) or (is_plain and sum(map(len, runs)) >= 5)


def _has_spaced_number(words: Sequence[str]) -> bool:
    """`4 7 1 1`, `171 123 45 67`: three numbers in a row or more."""
    row = digits = 0
    for word in words:
        row, digits = (row + 1, digits + len(word)) if word.isdecimal() else (0, 0)
        if row >= 3 and digits >= 4:
            return True
    return False


def skills(folder: Path, consents: Consents, configured: Collection[str] = ()) -> Iterator[Finding]:
    every = Skills(folder, configured=configured, approved=consents.approved_skills).every()
    for skill in every:
        if skill.problem:
            fix = "correct it, or move it out of skills/; `daybook skills check` checks again"
            yield Finding(
                "skills", False, Sentence("{file} {problem}", file=folder / skill.path, problem=skill.problem), fix
            )
        elif skill.waits:
            wish = "{name} says `always` or `shared`, which waits for your yes: daybook skills approve {name}"
            yield Finding("skills", True, Sentence(wish, name=skill.name))
        elif skill.missing:
            yield Finding(
                "skills",
                True,
                Sentence(
                    "{name} can't be used yet; missing: {names}", name=skill.name, names=joined(skill.missing, ", ")
                ),
            )
    if not any(skill.problem for skill in every):
        yield Finding(
            "skills",
            True,
            Sentence("1 skill can be read" if len(every) == 1 else "{count} skills can be read", count=len(every)),
        )


def common(folder: Path) -> Iterator[Finding]:
    """Warns of private things in files that every chat reads."""
    for file in common_places(Scope(Audience.OWNER, folder)):
        try:
            page = read(file)
        except UnreadableFile:
            continue  # reported with the other pages
        for number, line in enumerate(page.text.splitlines() if page is not None else (), start=1):
            if found := private_thing(line):
                fix = "move it to TOOLS.md, USER.md or MEMORY.md, which only your private chats read"
                what = Sentence(
                    "{file} line {number} contains {found}, and every chat reads that file, also groups",
                    file=folder / file.name,
                    number=number,
                    found=Sentence(found),
                )
                yield Finding("workspace", True, Sentence("warning: {what}; {fix}", what=what, fix=Sentence(fix)), fix)


def index(folder: Path, most_lines: int, most_bytes: int) -> Iterator[Finding]:
    """Checks the indexes of all people in the workspace."""
    for home in (folder, *sorted((folder / "people").glob("*"))):
        try:
            read = next(filter(None, (read_text(home / name, folder) for name in INDEX_NAMES)), None)
        except UnreadableFile:
            continue  # reported with the other pages
        if read is not None and (full := fullness(read, most_lines, most_bytes)):
            fix = "move details to notes, or ask the assistant to; the rest is found only by search"
            yield Finding(
                "memory",
                True,
                Sentence("{file} has {full}; {fix}", file=home / INDEX_NAMES[0], full=full, fix=Sentence(fix)),
                fix,
            )
