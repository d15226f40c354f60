"""The home's zone: whether a person chose it, and choosing it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.fs import atomic_write
from gateway.config.edit import HEADER, set_values
from gateway.config.loader import read_text
from gateway.config.schema import Config
from gateway.home import Home

_UNASKED = re.compile(
    r"^(?P<key>timezone:[ \t]*)(?:Etc/)?(?:UTC|UCT|GMT|Universal|Zulu)[ \t]+# decides when a day begins[ \t]*$",
    re.MULTILINE,
)
"""What the set-up of earlier versions wrote on a machine without a zone, asked or not."""


def is_zone_chosen(home: Home, config: Config) -> bool:
    """False where the machine's zone is used because nobody named one. Blocks. Raises `ConfigError`, `OSError`."""
    if "timezone" not in config.model_fields_set:
        return False
    return _UNASKED.search(read_text(home.config_file) or "") is None


def choose_zone(home: Home, zone: str, environ: Mapping[str, str]) -> Config:
    """Writes down a zone that a person named. Blocks. Raises `ConfigError`, `HomeError`, `OSError`."""
    home.create()
    config = set_values(home, {("timezone",): zone}, environ, HEADER).config
    written = read_text(home.config_file) or ""
    if _UNASKED.search(written):
        atomic_write(home.config_file, _UNASKED.sub(rf"\g<key>{zone}", written))
    return config
