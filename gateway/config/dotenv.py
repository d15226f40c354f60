"""`.env`: one `KEY=value` a line, as shells write it. Nothing is expanded: what stands there is the value."""

from __future__ import annotations

import re

from gateway.config.problem import Problem

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)", re.DOTALL)
_SINGLE = re.compile(r"'([^']*)'\s*+(?:#.*)?")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*+)"\s*+(?:#.*)?')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


class _Unreadable(ValueError):
    """Why a line cannot be read, without its value."""


def parse(text: str, file: str = ".env") -> tuple[dict[str, str], list[Problem]]:
    """The variables, the last of a name winning, and a warning for each line that is not one.

    Comments (`#` at the start, or after white space behind a bare value), `export`, single quotes (taken literally) and
    double quotes (`\\n`, `\\t`, `\\"`, `\\\\`) are understood. No value ever stands in a warning.
    """
    values: dict[str, str] = {}
    warnings: list[Problem] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        match = _LINE.fullmatch(bare)
        if match is None:
            warnings.append(Problem(file, number, "", "not understood and left out; write NAME=value"))
            continue
        try:
            values[match["name"]] = _value(match["value"])
        except _Unreadable as error:
            warnings.append(Problem(file, number, match["name"], f"left out: {error}"))
    return values, warnings


def _value(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
    quote = text[0]
    match = (_SINGLE if quote == "'" else _DOUBLE).fullmatch(text)
    if match is None:
        raise _Unreadable(f"the closing {quote} is missing, or something follows it")
    if quote == "'":
        return match[1]
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), match[1])
