"""All languages with sentences of Daybook's, and those in which days are understood, read from their files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TypeVar, get_type_hints

from agent.languages.codes import ALL_LANGUAGES, FOLDER, Language
from agent.languages.files import TomlValue, read_file
from agent.languages.table import DateWords, LanguageTable

Table = TypeVar("Table")
READ_ELSEWHERE = frozenset({"time", "orders", "sentences"})


class InvalidLanguageFile(Exception):
    """Names the file and the key."""


def read_table(kind: type[Table], given: Mapping[str, TomlValue], where: str) -> Table:
    """A dataclass from the TOML table that has its fields' names. Tables in it become dataclasses, and lists of
    alternatives one pattern. Raises `InvalidLanguageFile` for a key that is missing or unknown, or a value of another
    type."""
    hints, fields = get_type_hints(kind), {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if unknown := given.keys() - fields.keys() - READ_ELSEWHERE:
        raise InvalidLanguageFile(f"{where}: {', '.join(sorted(unknown))} is not a key")
    values: dict[str, object] = {}
    for name, field in fields.items():
        key = f"{where} {name}" if where.endswith(".toml") else f"{where}.{name}"
        if name in given:
            values[name] = _read(hints[name], given[name], key)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise InvalidLanguageFile(f"{key} is missing")
    return kind(**values)


def _read(kind: object, value: TomlValue, key: str) -> object:
    match value:
        case dict() if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            return read_table(kind, value, key)
        case dict() if kind == Mapping[str, str] and all(isinstance(text, str) for text in value.values()):
            return value
        case list() if kind is str and all(isinstance(text, str) for text in value):
            return "|".join(map(str, value))
        case list() if kind is not str:
            return tuple(tuple(part) if isinstance(part, list) else part for part in value)
        case str() | bool() if kind is type(value):
            return value
    raise InvalidLanguageFile(f"{key} can't be {value!r}")


LANGUAGES: Mapping[Language, LanguageTable] = {
    language: read_table(LanguageTable, read_file(language), f"{language}.toml") for language in ALL_LANGUAGES
}
DATES: Sequence[DateWords] = (
    *(table.dates for table in LANGUAGES.values()),
    *(
        read_table(DateWords, read_file(f"days/{file.stem}"), f"days/{file.name}")
        for file in sorted(FOLDER.glob("days/*.toml"))
    ),
)
