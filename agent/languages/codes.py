"""The languages of Daybook's sentences, by ISO 639 code: each has a file beside this. A model answers in any."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

FOLDER = Path(__file__).parent


class Language(str):
    """The code of a language with a file, one object for each. Raises `ValueError` for another code."""

    __slots__ = ()
    ENGLISH: ClassVar[Language]
    CHINESE: ClassVar[Language]
    JAPANESE: ClassVar[Language]

    def __new__(cls, code: str) -> Language:
        if (known := _KNOWN.get(code)) is None:
            raise ValueError(f"There is no language {code!r}.")
        return known


def of_locale(locale: str) -> Language | None:
    """The language of `de-AT`, `pt_BR.UTF-8` or `fr`, if it has a file."""
    return _KNOWN.get(re.split(r"[-_.@]", locale.strip().lower(), maxsplit=1)[0])


def of_environment(environ: Mapping[str, str]) -> Language | None:
    """The language that a terminal's environment names, if it has a file."""
    return of_locale(next((environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), ""))


_KNOWN: dict[str, Language] = {}
_KNOWN |= {file.stem: str.__new__(Language, file.stem) for file in sorted(FOLDER.glob("*.toml"))}
Language.ENGLISH, Language.CHINESE, Language.JAPANESE = Language("en"), Language("zh"), Language("ja")
ALL_LANGUAGES = (Language.ENGLISH, *(known for known in _KNOWN.values() if known != Language.ENGLISH))
"""English first: it is assumed where nothing tells."""
