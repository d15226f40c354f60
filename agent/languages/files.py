"""A language's file, read as it is. What its tables hold is checked where they are used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import tomli

from agent.languages.codes import FOLDER

TomlValue = str | int | float | bool | list["TomlValue"] | dict[str, "TomlValue"]


@cache
def read_file(name: str) -> Mapping[str, TomlValue]:
    """The tables of `<name>.toml`. Blocks for some milliseconds, the first time."""
    return tomli.loads(FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
