"""The languages that have fixed sentences here, by their ISO 639 codes. What a model says is in any language."""

from __future__ import annotations

import enum


class Language(enum.StrEnum):
    ENGLISH = "en"
    GERMAN = "de"
    SPANISH = "es"
    FRENCH = "fr"
    CHINESE = "zh"
    JAPANESE = "ja"
