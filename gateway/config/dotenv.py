"""`.env`: one `KEY=value` a line, as shells write it, without expansion; and `${NAME}`, `${NAME:-default}` in
values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.languages.sentences import Sentence
from gateway.config.errors import ConfigPath, ConfigProblem
from gateway.config.yaml_tree import Value

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)", re.DOTALL)
_SINGLE = re.compile(r"'([^']*)'\s*+(?:#.*)?")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*+)"\s*+(?:#.*)?')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


class _Unreadable(ValueError):
    """Why a line cannot be read, without its value."""


def parse(text: str, file: str = ".env") -> tuple[dict[str, str], list[ConfigProblem]]:
    """The variables (the last of a name wins), and a warning for each unreadable line, without its value."""
    values: dict[str, str] = {}
    warnings: list[ConfigProblem] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        match = _LINE.fullmatch(bare)
        if match is None:
            warnings.append(ConfigProblem(file, number, "", Sentence("not understood, so skipped; write NAME=value")))
            continue
        try:
            values[match["name"]] = _value(match["value"])
        except _Unreadable as error:
            warnings.append(ConfigProblem(file, number, match["name"], Sentence("skipped: {why}", why=error)))
    return values, warnings


def _value(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
    quote = text[0]
    match = (_SINGLE if quote == "'" else _DOUBLE).fullmatch(text)
    if match is None:
        raise _Unreadable(Sentence("the closing {quote} is missing, or something follows it", quote=quote))
    if quote == "'":
        return match[1]
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), match[1])


def quoted(value: str) -> str:
    """A value as `parse` reads it, in double quotes where needed."""
    if value[:1] not in ("'", '"', "#") and " " not in value:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}$]*+(?:\$(?!\{)[^}$]*+)*+))?\}")


@dataclass(slots=True)
class Substituted:
    """`touched`: paths whose value came from outside (never shown in errors); `missing`: variables without value and
    default, by path."""

    value: Value
    touched: set[ConfigPath] = field(default_factory=set)
    missing: dict[ConfigPath, str] = field(default_factory=dict)


def substitute(value: Value, variables: Mapping[str, str]) -> Substituted:
    """Replaces the variables. An empty one counts as not set, as in a shell's `:-`; a value that becomes empty is null.
    `$` without braces is a dollar."""
    result = Substituted(None)
    result.value = _replace(value, (), variables, result)
    return result


def _replace(value: Value, path: ConfigPath, variables: Mapping[str, str], result: Substituted) -> Value:
    if isinstance(value, dict):
        return {key: _replace(inner, (*path, key), variables, result) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replace(inner, (*path, index), variables, result) for index, inner in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value

    def fill(match: re.Match[str]) -> str:
        result.touched.add(path)
        found = variables.get(match["name"]) or match["default"]
        if found is None:
            result.missing.setdefault(path, match["name"])
        return found or ""

    return _VARIABLE.sub(fill, value) or None
