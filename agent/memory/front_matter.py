"""The YAML block at the head of a note. People edit it, so whatever it has become, reading it gives something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

_BLOCK = re.compile(r"---[ \t]*\r?\n(.{0,8000}?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Document:
    """`fields`: what the block says; None where there is none or it cannot be read. `body`: the text after it (all of
    the text where there is none)."""

    fields: Mapping[str, object] | None
    body: str

    def line(self, key: str) -> str:
        """A field as one line of text, "" where it is missing or no plain value."""
        value = (self.fields or {}).get(key)
        if value is None or isinstance(value, (list, dict, set, tuple, bytes)):
            return ""
        return " ".join(str(value).split())


def parse(text: str) -> Document:
    match = _BLOCK.match(text)
    if match is None:
        return Document(None, text)
    try:
        fields = yaml.load(match[1], _LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):
        return Document(None, text)
    if not isinstance(fields, dict):
        return Document(None, text)
    return Document({str(key): value for key, value in fields.items()}, text[match.end() :].lstrip("\r\n"))


def render(fields: Mapping[str, object], body: str) -> str:
    head = yaml.safe_dump(dict(fields), allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{body.strip()}\n"
