"""pydantic's findings in words: what was found, what is allowed, what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pydantic_core import ErrorDetails

from gateway.config.problem import did_you_mean
from gateway.config.tree import Value

_SECRET_KEYS = ("token", "api_key")
_LONGEST_SHOWN = 60
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+(?=@)")
"""`user:password` in an address."""

_ALLOWED: Mapping[str, Callable[[Mapping[str, object]], str]] = {
    "bool_parsing": lambda _: "true or false",
    "bool_type": lambda _: "true or false",
    "int_parsing": lambda _: "a whole number",
    "int_type": lambda _: "a whole number",
    "int_from_float": lambda _: "a whole number",
    "int_parsing_size": lambda _: "a smaller whole number",
    "float_parsing": lambda _: "a number",
    "float_type": lambda _: "a number",
    "finite_number": lambda _: "a finite number",
    "string_type": lambda _: "text (put a number or true/false into quotes)",
    "string_too_short": lambda _: "text that is not empty",
    "string_pattern_mismatch": lambda _: "a name of letters, digits, - and _",
    "model_type": lambda _: "`key: value` lines",
    "model_attributes_type": lambda _: "`key: value` lines",
    "dict_type": lambda _: "`key: value` lines",
    "tuple_type": lambda _: "a list",
    "list_type": lambda _: "a list",
    "greater_than": lambda context: f"a number greater than {context['gt']}",
    "greater_than_equal": lambda context: f"a number not below {context['ge']}",
    "less_than": lambda context: f"a number less than {context['lt']}",
    "less_than_equal": lambda context: f"a number not above {context['le']}",
}


def what_is_wrong(detail: ErrorDetails, found: Value, *, hidden: bool) -> str:
    """`found …; allowed: …; did you mean …?`. A value that came from a variable, or that is a secret, is not shown."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "is missing and has no default"
    hidden = hidden or any(part in _SECRET_KEYS for part in detail["loc"])
    shown = "***" if hidden and found is not None else _shown(found)
    if kind in ("literal_error", "enum"):
        words = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        hint = "" if hidden or not isinstance(found, str) else did_you_mean(found, words)
        return f"found {shown}; allowed: {', '.join(words)}{hint}"
    if kind in _ALLOWED:
        return f"found {shown}; allowed: {_ALLOWED[kind](context)}"
    sentence = str(context.get("error") or detail["msg"])
    return f"found {shown}; {sentence}"


def _shown(value: Value) -> str:
    if isinstance(value, dict):
        return "`key: value` lines"
    if isinstance(value, list):
        return "a list"
    text = (
        {True: "true", False: "false", None: "nothing"}.get(value) if value is None or isinstance(value, bool) else None
    )
    text = text or _CREDENTIALS.sub("***", repr(value))
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
