"""All languages with sentences of Daybook's. A further one is a file beside this, and a line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.languages.arabic import ARABIC
from agent.languages.chinese import CHINESE
from agent.languages.codes import Language
from agent.languages.english import ENGLISH
from agent.languages.french import FRENCH
from agent.languages.german import GERMAN
from agent.languages.japanese import JAPANESE
from agent.languages.korean import KOREAN
from agent.languages.russian import RUSSIAN
from agent.languages.spanish import SPANISH
from agent.languages.table import DateWords, LanguageTable

LANGUAGES: Mapping[Language, LanguageTable] = {
    table.language: table for table in (ENGLISH, GERMAN, SPANISH, FRENCH, CHINESE, JAPANESE)
}
DATES: Sequence[DateWords] = (*(table.dates for table in LANGUAGES.values()), RUSSIAN, ARABIC, KOREAN)
"""Those in which days are understood."""
