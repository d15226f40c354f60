"""Lists: notes whose body is bullets and nothing else. Blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.clock import Clock
from agent.languages.terms import fold, fold_for_index
from agent.memory import files, notes
from agent.memory.scope import Scope

_BULLET = re.compile(r"[-*+](?: +(?:\[[ xX]\] +)?(?P<item>\S.*))?")
_EMPTY = "-"
"""The body of a list without items."""


@dataclass(frozen=True, slots=True)
class KeptList:
    name: str
    description: str
    type: str
    items: tuple[str, ...]


def all_lists(scope: Scope, clock: Clock) -> list[KeptList]:
    """Raises `FileError`."""
    found: list[KeptList] = []
    for note in notes.listing(scope, clock):
        file = files.read_text(scope.folder / note.path, scope.folder)
        lines = [line.strip() for line in notes.parse(file.text).body.splitlines() if line.strip()] if file else []
        bullets = [_BULLET.fullmatch(line) for line in lines]
        if lines and all(bullets):
            items = tuple(bullet["item"] for bullet in bullets if bullet and bullet["item"])
            found.append(KeptList(note.name, note.description, note.type, items))
    return found


def named(name: str, lists: Sequence[KeptList]) -> list[KeptList]:
    """The lists of that name, else those whose name has it or is in it; all for an empty name."""
    wanted = fold(name).strip()
    exact = [kept for kept in lists if fold(kept.name) == wanted]
    return exact or [kept for kept in lists if fold(kept.name) in wanted or wanted in fold(kept.name)]


def with_items(scope: Scope, clock: Clock, old: KeptList, items: Sequence[str]) -> KeptList:
    """Saves a list with other items, and returns it. Raises `FileError`."""
    body = "\n".join(f"- {' '.join(files.clean(item).split())}" for item in items) or _EMPTY
    notes.save(scope, clock, old.name, old.description, old.type or "reference", body)
    return KeptList(old.name, old.description, old.type, tuple(items))


def having(wanted: str, items: Sequence[str]) -> list[str]:
    """The items that equal `wanted`, else those that have it or are in it."""
    want = fold_for_index(wanted).strip()
    same = [item for item in items if fold_for_index(item) == want]
    return same or [item for item in items if want and (want in fold_for_index(item) or fold_for_index(item) in want)]
