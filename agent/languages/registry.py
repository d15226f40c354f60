"""All languages with sentences of Daybook's, and those in which days are understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.languages.codes import ALL_LANGUAGES, FOLDER, Language
from agent.languages.files import read_file
from agent.languages.table import DateWords, LanguageTable
from agent.languages.table_reader import read_table

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
