r"""Formulas in readable signs: `\frac{1}{2} \alpha^2` as `(1/2) α²`. Pure."""

from __future__ import annotations

import enum
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_DEEPEST = 12
_SUPER = dict(
    zip("0123456789+-=()abcdefghijklmnoprstuvwxyzT′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀ′", strict=True)
)
_SUB = dict(zip("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
_FRACTIONS = frozenset({"\\frac", "\\dfrac", "\\tfrac"})
_WORDS = frozenset({"\\text", "\\mathrm", "\\operatorname", "\\textrm", "\\mbox"})
_SIZES = frozenset({"\\left", "\\right", "\\big", "\\Big", "\\bigl", "\\bigr", "\\Bigl", "\\Bigr"})
_SPACES = {"\\,": " ", "\\;": " ", "\\:": " ", "\\ ": " ", "\\quad": " ", "\\qquad": " ", "~": " ", "\\!": ""}
_NAMES = frozenset(
    {
        *("arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "deg", "det", "dim", "exp", "gcd", "inf", "ker"),
        *("lim", "ln", "log", "max", "min", "mod", "sec", "sin", "sinh", "sup", "tan", "tanh"),
    }
)
_NO_OPERATORS = frozenset("∞∂∇√∀∃∄∅¬∑∏∐∫∬∭∮⋀⋁⋂⋃…′°")
_SIMPLE_CATEGORIES = frozenset({"Lu", "Ll", "Lo", "Sm", "So", "Po", "Ps", "Pe", "Pd", "Sc"})


class _Unreadable(Exception):
    pass


class _Kind(enum.Enum):
    PLAIN = enum.auto()
    FRACTION = enum.auto()
    ROOT = enum.auto()
    NAME = enum.auto()


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    kind: _Kind = _Kind.PLAIN


_NOTHING = _Part("")
_RAISED = frozenset("".join((*_SUPER.values(), *_SUB.values())))


@lru_cache(maxsize=256)
def readable(formula: str) -> str:
    """The formula as a line of plain signs that means the same; empty if there is no such line."""
    try:
        text = _Reader(_TOKEN.findall(formula.strip())).row("", 0)
    except _Unreadable:
        return ""
    return re.sub(r"\s+", " ", text).strip()


def script(text: str, *, raised: bool) -> str:
    """Raised or lowered letters; where there are none, `^x` or `_(x y)`."""
    signs = _SUPER if raised else _SUB
    bare = text.strip()
    if raised and bare in ("∘", "°"):
        return "°"
    close = "".join(bare.split()) if any(character in "=+-" for character in bare) else bare
    if close and all(character in signs for character in close):
        return "".join(signs[character] for character in close)
    return ("^" if raised else "_") + (bare if len(bare) == 1 and not bare.isalnum() else f"({bare})")


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def _next(self) -> str:
        if self._at == len(self._tokens):
            raise _Unreadable
        self._at += 1
        return self._tokens[self._at - 1]

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _skip_space(self) -> None:
        while self._peek().isspace():
            self._at += 1

    def row(self, until: str, depth: int) -> str:
        """Everything up to `until`."""
        if depth > _DEEPEST:
            raise _Unreadable
        parts: list[_Part] = []
        is_first = True
        while self._at < len(self._tokens) and self._peek() != until:
            parts.append(self._part(self._next(), depth, is_first=is_first))
            is_first = is_first and not parts[-1].text.strip()
        if until:
            self._next()
        seen = [part for part in parts if part.text.strip()]
        beside = {
            id(part): (before, after)
            for before, part, after in zip([_NOTHING, *seen], seen, [*seen[1:], _NOTHING], strict=False)
        }
        return "".join(_apart(part, *beside.get(id(part), (_NOTHING, _NOTHING))) for part in parts)

    def _part(self, token: str, depth: int, *, is_first: bool) -> _Part:
        if token in _FRACTIONS:
            return _Part(self._fraction(depth), _Kind.FRACTION)
        if token == "\\sqrt":
            return _Part(self._root(depth), _Kind.ROOT)
        if token in ("^", "_"):
            if is_first:
                raise _Unreadable
            return _Part(script(self._argument(depth), raised=token == "^"))
        if token in _SIZES:
            self._skip_space()
            if self._peek() == ".":
                raise _Unreadable
            return self._part(self._next(), depth, is_first=is_first)
        if token[:1] == "\\" and token[1:] in _NAMES:
            return _Part(token[1:], _Kind.NAME)
        return _Part(self._text(token, depth))

    def _text(self, token: str, depth: int) -> str:
        if token.isspace():
            return " "
        if token == "{":
            return self.row("}", depth + 1)
        if token in _SPACES:
            return _SPACES[token]
        if token in _WORDS:
            return self._words()
        if token == "\\mathbb":
            return _symbol("\\mathbb{" + self._argument(depth) + "}")
        if token[0] != "\\" and token not in "}&":
            return token
        if token[1:] and token[1:] in "{}%$#_&":
            return token[1:]
        symbol = _symbol(token)
        if self._peek() == "{":  # it says something about what follows
            raise _Unreadable
        is_operator = symbol == "·" or (unicodedata.category(symbol) == "Sm" and symbol not in _NO_OPERATORS)
        return f" {symbol} " if is_operator else symbol

    def _argument(self, depth: int) -> str:
        self._skip_space()
        return self._part(self._next(), depth + 1, is_first=True).text.strip()

    def _words(self) -> str:
        self._skip_space()
        if self._next() != "{":
            raise _Unreadable
        words = ""
        while (token := self._next()) != "}":
            if token[0] in "\\{$":
                raise _Unreadable
            words += token
        return words

    def _fraction(self, depth: int) -> str:
        above, below = self._argument(depth), self._argument(depth)
        return f"{_grouped(above)}/{_grouped(below) if len(below) == 1 or below.isdigit() else f'({below})'}"

    def _root(self, depth: int) -> str:
        self._skip_space()
        sign = "√"
        if self._peek() == "[":
            self._next()
            sign = {"2": "√", "3": "∛", "4": "∜"}.get(self.row("]", depth + 1).strip(), "")
            if not sign:
                raise _Unreadable
        inner = self._argument(depth)
        return sign + (inner if len(inner) == 1 or inner.isdigit() else f"({inner})")


def _grouped(text: str) -> str:
    return text if text and all(character.isalnum() or character in ".′" for character in text) else f"({text})"


def _apart(part: _Part, before: _Part, after: _Part) -> str:
    """The text of a part, set apart from its neighbours where it must be: `1/2` before a letter is `(1/2)`."""
    last, first = before.text.strip()[-1:], after.text.strip()[:1]
    match part.kind:
        case _Kind.FRACTION:
            if last.isdigit() and before.kind is _Kind.PLAIN and before.text.isdecimal():
                raise _Unreadable  # a mixed number, or a product
            follows = last.isalnum() or (last and last in ")]}!′'|")
            if follows or first.isalnum() or (first and first in "([{√∛∜^_!′'|°"):
                return f" ({part.text})" if follows else f"({part.text})"
        case _Kind.ROOT:
            if (first.isalnum() or (first and first in "^_!′")) and part.text[1:2] != "(":
                return f"{part.text[0]}({part.text[1:]})"
        case _Kind.NAME:
            return (
                (" " if last.isalnum() else "")
                + part.text
                + (" " if first.isalpha() and after.text[:1] not in _RAISED else "")
            )
        case _Kind.PLAIN:
            pass
    return part.text


def _symbol(command: str) -> str:
    from latex2mathml.symbols_parser import convert_symbol  # noqa: PLC0415 (reads its table, which takes a while)

    code = convert_symbol(command)
    symbol = chr(int(code, 16)) if code and re.fullmatch("[0-9A-Fa-f]{1,6}", code) else ""
    if len(symbol) != 1 or unicodedata.category(symbol) not in _SIMPLE_CATEGORIES:
        raise _Unreadable
    return symbol
