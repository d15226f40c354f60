"""The way in judges by when something was sent. Where it reads a clock, the reason is here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import gateway

_ROOT = Path(gateway.__file__).parent
_NOW = frozenset({"now", "instant", "today", "utcnow", "time", "monotonic"})
ALLOWED = {
    "router.py:_offer_pairing": "the code is valid from when it is shown; the row says when it was written",
    "policy/access.py:_may_ask": "a platform's clock that is ahead does not end an hour",
    "policy/access.py:new_request": "the code is valid from when it is shown",
    "policy/access.py:load": "what is over is not read",
    "policy/access.py:asked": "what is over is forgotten",
    "policy/access.py:requests": "which codes are valid is asked by who approves, now",
    "router.py:_for_sender": "the day that decides the language of an answer which is given now",
    "policy/access.py:asker": "a code is used now, by the owner",
    "policy/access.py:let_in": "the row says when it was written",
    "policy/pairing.py:_write": "the row says when it was written",
}


def _clocks() -> Iterator[str]:
    for file in (_ROOT / "router.py", *sorted((_ROOT / "policy").rglob("*.py"))):
        for function in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _NOW:
                        yield f"{file.relative_to(_ROOT).as_posix()}:{function.name}"


def test_the_intake_reads_no_clock_without_a_reason() -> None:
    assert set(_clocks()) == set(ALLOWED)
