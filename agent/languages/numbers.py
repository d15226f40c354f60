"""Numbers as a language writes them: `12,345.6`, `12.345,6`. Pure."""

from __future__ import annotations

from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES


def number_in(language: Language, value: float, decimals: int = 0) -> str:
    strings = LANGUAGES[language]
    return f"{value:,.{decimals}f}".translate({ord(","): strings.thousands, ord("."): strings.decimal})
