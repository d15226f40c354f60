"""The YAML block at the head of a note. People edit it, so whatever it has become, reading it gives something."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from agent.parsing import load_yaml

_BLOCK = re.compile(r"---[ \t]*\r?\n(.{0,8000}?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_BEGINNING = re.compile(r"---[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class Document:
    """`fields`: what the block says; None where there is none or it cannot be read. `body`: the text after it (all of
    the text where there is none). `problem`: why a block that is there cannot be read."""

    fields: Mapping[str, object] | None
    body: str
    problem: str = ""

    def line(self, key: str) -> str:
        """A field as one line of text, "" where it is missing or no plain value."""
        value = (self.fields or {}).get(key)
        if value is None or isinstance(value, (list, dict, set, tuple, bytes)):
            return ""
        return " ".join(str(value).split())


def parse(text: str) -> Document:
    match = _BLOCK.match(text)
    if match is None:
        begun = _BEGINNING.match(text) is not None
        return Document(None, text, "its front matter has no closing --- line" if begun else "")
    try:
        fields = load_yaml(match[1])
    except (yaml.YAMLError, ValueError) as error:
        return Document(None, text, f"its front matter is not valid YAML{_where(error)}")
    if not isinstance(fields, dict):
        return Document(None, text, "its front matter is not a list of `key: value` lines")
    return Document({str(key): value for key, value in fields.items()}, text[match.end() :].lstrip("\r\n"))


def render(fields: Mapping[str, object], body: str) -> str:
    head = yaml.safe_dump(dict(fields), allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n\n{body.strip()}\n"


def _where(error: Exception) -> str:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    return f" (line {mark.line + 2})" if mark is not None else ""  # counted from 0, below the first ---
