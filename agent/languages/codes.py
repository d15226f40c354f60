"""Languages of our fixed sentences, by ISO 639 code. A model answers in any language."""

from __future__ import annotations

import enum


class Language(enum.StrEnum):
    ENGLISH = "en"
    GERMAN = "de"
    SPANISH = "es"
    FRENCH = "fr"
    CHINESE = "zh"
    JAPANESE = "ja"
