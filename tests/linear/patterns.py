"""All patterns of the product: those that its modules hold, and those that its functions write where they use them.

A pattern that is made of what a function is given cannot be read from the source: it is made here, in `MADE`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType, ModuleType

from agent.languages import clauses, order_words, orders
from agent.memory import forget
from gateway.commands.registry import all_commands

PACKAGES = ("agent", "channels", "gateway")
Pattern = re.Pattern[str] | re.Pattern[bytes]
_FINDING = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
_ANCHORED = frozenset({"match", "fullmatch"})
_ALL = _ANCHORED | {"finditer"}
_OF_RE = _FINDING | _ANCHORED | {"compile"}


@dataclass(frozen=True, slots=True)
class Found:
    """A pattern, where it is, and the methods by which it is used: all, where that is not seen."""

    where: str
    pattern: Pattern
    methods: frozenset[str]


def _forget_phrase() -> Pattern:
    (held,) = (cell.cell_contents for cell in forget._phrase("two words").__closure__ or ())
    assert isinstance(held, re.Pattern)
    return held


MADE: Mapping[str, Callable[[], tuple[Pattern, str]]] = {
    "agent.memory.forget._phrase": lambda: (_forget_phrase(), "search"),
    "gateway.commands.runner.CommandTable.__init__": lambda: (all_commands()._unspaced, "match"),
}
HELD = frozenset(
    {
        "agent.languages.date_words._like",
        "agent.model.offline.model._corrects",
        "agent.model.offline.vocabulary.Vocabulary.anywhere",
        "agent.model.offline.vocabulary.Vocabulary.asks_within",
        "agent.languages.orders._articles",
        "agent.languages.order_words._breaks",
        "agent.languages.order_words._forms",
        "agent.languages.orders._order_of",
        "agent.languages.order_words._lacks",
        "agent.languages.order_words._read",
        "agent.languages.orders.is_pronoun",
        "agent.languages.orders.may_change_reminder",
        "agent.languages.orders.past_day",
        "gateway.commands.orders._help",
        "gateway.commands.reminder_changes._clause",
        "gateway.commands.reminder_moves.change_in",
        "gateway.commands.reminder_moves._new_time",
        "gateway.commands.reminder_moves._said_by_name",
        "gateway.commands.reminder_names._names_subject",
        "gateway.commands.reminder_orders.due",
        "gateway.commands.reminder_orders.is_that",
        "gateway.commands.reminder_orders.undo",
        "agent.languages.remember._compiled",
    }
)
"""These make patterns that a module holds."""
BOUNDED = {"agent.languages.order_words._WORDS": order_words.MOST_CHARS}
"""The patterns inside these see no longer text than so many characters."""
_USED_BY = {
    "agent.languages.order_words._WORDS": frozenset({"search"}),
    "gateway.config.yaml_tree._Loader": frozenset({"match"}),
}
"""How the patterns inside these are used."""

Source = tuple[ModuleType, str]


@cache
def modules() -> tuple[Source, ...]:
    """The product's modules with their texts."""
    names = [
        one.name
        for package in PACKAGES
        for one in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        if not one.name.endswith("__main__")
    ]
    found = [importlib.import_module(name) for name in (*PACKAGES, *names)]
    return tuple((module, Path(str(module.__file__)).read_text(encoding="utf-8")) for module in found)


@cache
def everything(sources: tuple[Source, ...] | None = None) -> list[Found]:
    """Each pattern once."""
    given = modules() if sources is None else sources
    made = [Found(where, *_only(make())) for where, make in MADE.items()] if sources is None else []
    found: dict[tuple[object, int], Found] = {}
    for one in (*_held(given), *(one for source in given for one in _written(source)[0]), *made):
        key = (one.pattern.pattern, one.pattern.flags)
        known = found.get(key, one)
        found[key] = Found(known.where, one.pattern, known.methods | one.methods)
    return list(found.values())


def unknown(sources: tuple[Source, ...] | None = None) -> list[str]:
    """Functions with a pattern that depends on what they are given."""
    given = modules() if sources is None else sources
    return sorted({place for source in given for place in _written(source)[1]})


def _only(made: tuple[Pattern, str]) -> tuple[Pattern, frozenset[str]]:
    return made[0], frozenset({made[1]})


def _held(sources: Sequence[Source]) -> Iterator[Found]:
    uses = _uses(sources)
    clauses.order_in("")  # both read their patterns now
    orders.without_articles("")
    seen: set[int] = set()
    for module, _ in sources:
        for name, value in list(vars(module).items()):
            where = f"{module.__name__}.{name}"
            if isinstance(value, re.Pattern):
                if id(value) not in seen:
                    seen.add(id(value))
                    yield Found(where, value, frozenset(uses.get(where if name.startswith("_") else name) or _ALL))
            elif getattr(value, "__module__", module.__name__) in (module.__name__, "builtins", "re"):
                for inner in _inside(value, seen, 0):
                    yield Found(f"{where} ({inner.pattern!r:.60})", inner, _USED_BY.get(where, _ALL))


def _inside(value: object, seen: set[int], depth: int) -> Iterator[Pattern]:
    """Patterns in containers, classes, values, and what functions hold on to."""
    if id(value) in seen or depth > 6 or isinstance(value, str | bytes | int | float | ModuleType | None):
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for inner in (*value.keys(), *value.values()):
            yield from _inside(inner, seen, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _inside(inner, seen, depth + 1)
    elif isinstance(value, FunctionType):
        held = [cell.cell_contents for cell in value.__closure__ or () if cell.cell_contents is not value]
        for inner in (*held, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
            yield from _inside(inner, seen, depth + 1)
    elif inspect.isclass(value):
        if value.__module__.partition(".")[0] in PACKAGES:
            for inner in list(vars(value).values()):
                yield from _inside(inner, seen, depth + 1)
    elif type(value).__module__.partition(".")[0] in PACKAGES:
        for name, inner in vars(type(value)).items():
            if isinstance(inner, cached_property):
                yield from _inside(getattr(value, name), seen, depth + 1)
        if is_dataclass(value):
            for field in fields(value):
                yield from _inside(getattr(value, field.name, None), seen, depth + 1)


def _uses(sources: Sequence[Source]) -> dict[str, set[str] | None]:
    """By which methods each global of capitals is used; None where it is handed on. A private one is its module's."""
    used: dict[str, set[str] | None] = {}
    for module, text in sources:
        tree = _tree(text)
        called: set[int] = set()

        def named(name: str, module: str = module.__name__) -> str:
            return f"{module}.{name}" if name.startswith("_") else name

        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
                name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                if node.attr in _FINDING | _ANCHORED and name.isupper():
                    called.add(id(node.value))
                    if (known := used.setdefault(named(name), set())) is not None:
                        known.add(node.attr if node.attr in _ANCHORED | {"search"} else "finditer")
        for node in ast.walk(tree):
            is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id.isupper()
            if is_read and id(node) not in called:
                used[named(node.id)] = None
    return used


def _written(source: Source) -> tuple[list[Found], list[str]]:
    """Patterns of the `re.…` calls in a module's source; and the places where they cannot be known."""
    module, text = source
    found: list[Found] = []
    places: list[str] = []
    for scope, call in _calls(_tree(text), ""):
        assert isinstance(call.func, ast.Attribute)
        where = f"{module.__name__}.{scope}" if scope else module.__name__
        method = call.func.attr
        try:
            written = _value(call.args[0], module)
            flags = next((_value(one.value, module) for one in call.keywords if one.arg == "flags"), 0)
            at = {"compile": 1, "split": 3, "sub": 4, "subn": 4}.get(method, 2)
            flags = _value(call.args[at], module) if len(call.args) > at else flags
        except NameError:
            if scope:
                places.append(where)
            continue
        methods = _ALL if method == "compile" else {method} if method in _ANCHORED | {"search"} else {"finditer"}
        if method == "compile" and not scope:
            continue  # a module's own: it is held by its name
        assert isinstance(written, str | bytes)
        assert isinstance(flags, int)
        found.append(Found(f"{where} ({written!r:.60})", re.compile(written, flags), frozenset(methods)))
    return found, places


@cache
def _tree(text: str) -> ast.Module:
    return ast.parse(text)


def _value(node: ast.expr, module: ModuleType) -> object:
    return eval(compile(ast.Expression(node), module.__name__, "eval"), dict(vars(module)))


def _calls(node: ast.AST, scope: str) -> Iterator[tuple[str, ast.Call]]:
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, ast.Call)
            and isinstance(func := child.func, ast.Attribute)
            and func.attr in _OF_RE
            and (isinstance(func.value, ast.Name) and func.value.id == "re")
        ):
            yield scope, child
        inner = scope
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{scope}.{child.name}".strip(".")
        yield from _calls(child, inner)
