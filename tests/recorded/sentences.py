"""All sentences of the languages on one page, with where they are shown and with parameters as they are in a chat."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from string import Formatter
from typing import NamedTuple

from agent.languages.codes import Language
from agent.languages.moments import day_in, moment_in
from agent.languages.registry import LANGUAGES
from agent.languages.table import SHOWN, LanguageTable

NOW = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
_YESTERDAY = datetime(2026, 11, 21, 15, 0, tzinfo=UTC)
_FRIDAY = datetime(2027, 1, 1, 9, 0, tzinfo=UTC)
_TARGETS = {
    "approvals.effects.write": "groups/family/GROUP.md",
    "approvals.effects.write_common": "AGENTS.md",
    "approvals.effects.write_skill": "skills/cooking/SKILL.md",
    "approvals.effects.run": "git log -3",
}
_GROUPS = ("reminders", "chat", "approvals", "programs", "journal", "offline", "moments")


class Sentence(NamedTuple):
    """`name` as in `LanguageTable`, `shown`: where; `text` with its parameters in braces."""

    name: str
    shown: str
    text: str


def sentences(table: LanguageTable) -> Iterator[Sentence]:
    for group in _GROUPS:
        yield from _below(group, getattr(table, group))


def _below(name: str, strings: object) -> Iterator[Sentence]:
    assert dataclasses.is_dataclass(strings)
    for field in dataclasses.fields(strings):
        value = getattr(strings, field.name)
        if isinstance(value, str):
            if SHOWN in field.metadata:
                yield Sentence(f"{name}.{field.name}", field.metadata[SHOWN], value)
        else:
            yield from _below(f"{name}.{field.name}", value)


def parameters(text: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name)


def fillings(language: Language, name: str) -> Iterator[Mapping[str, str]]:
    """What a sentence's parameters are in a chat; several where its grammar depends on them."""
    table = LANGUAGES[language]
    effects = table.approvals.effects
    every = {
        "number": {"journal.gap": "1", "journal.from_here": "100,000"}.get(name, "3"),
        "why": "no route to host",
        "target": _TARGETS.get(name, "Anna (telegram:22222)"),
        "source": "plan.txt",
        "line": "Dinner is at eight",
        "chat": "Family (telegram:-100123)",
        "path": "memory/2026-11-22.md",
        "task": "compare the three flats in the list",
        "query": "tea",
        "command": "git log -3" if name.startswith("programs.") else "/undo",
        "words": "git log",
        "code": "1",
        "env": "~/.daybook/.env",
        "weekday": table.moments.weekdays.split()[0],
        "month": table.moments.months.split()[10],
        "year": "2027",
        "time": "15:00",
        "name": "tasks",
        "host": "login.example.com",
        "link": "https://login.example.com/authorize?state=1",
        "count": "12",
    }
    days = [date(2026, 11, 22), date(2026, 11, 21)]
    several = {
        "due": [moment_in(language, one, NOW) for one in (_YESTERDAY, _YESTERDAY.replace(day=1))],
        "when": [moment_in(language, one, NOW) for one in (NOW.replace(hour=15), _FRIDAY)],
        "day": [day_in(language, one, NOW.date()) for one in days],
        "what": [effects.send.format_map(every), effects.write_common.format_map(every | {"target": "AGENTS.md"})],
    }
    if name in ("moments.dated", "moments.with_year"):
        several["day"] = ["23"]
    needed = [which for which in several if which in parameters(_text(table, name))]
    if not needed:
        yield every
    for which in needed:
        for one in several[which]:
            yield every | {which: one}


def _text(table: LanguageTable, name: str) -> str:
    return next(one.text for one in sentences(table) if one.name == name)


def page() -> str:
    lines = ["All sentences of agent/languages, filled in. Written by `python -m tests.recorded.write`.", ""]
    for name, shown, _ in sentences(LANGUAGES[Language.ENGLISH]):
        lines.append(f"{name} ({shown})")
        for language, table in LANGUAGES.items():
            text = _text(table, name)
            said = dict.fromkeys(text.format_map(one) for one in fillings(language, name))
            lines += [f"  {language}  {one}" for one in said]
        lines.append("")
    return "\n".join(lines)
