"""How the source is written: one class a name, docstrings complete by themselves, and no private names of libraries."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from benchmarks.structure import Source, of_docstrings, read, shared_names
from tests.flows.process import ROOT

_SHARED: frozenset[str] = frozenset()
"""Names that more than one class still has. May only shrink: a name that is no longer shared must leave it."""


@pytest.fixture(scope="module")
def sources() -> Sequence[Source]:
    return read(ROOT)


def test_no_two_public_classes_have_one_name(sources: Sequence[Source]) -> None:
    assert len(sources) > 100
    found = shared_names(sources)
    assert {name: modules for name, modules in found.items() if name not in _SHARED} == {}, "give one another name"
    assert _SHARED - found.keys() == set(), "no longer shared: take it out of the set above"


def test_no_docstring_begins_with_of(sources: Sequence[Source]) -> None:
    assert of_docstrings(sources) == [], "say what it does or returns, in words that are complete without its name"


def test_no_private_name_of_a_library_is_used(sources: Sequence[Source]) -> None:
    """Beside ruff's SLF001, which sees attributes alone: in imports, and in the words of `getattr`."""
    found = [f"{one.module}: {name}" for one in sources for node in ast.walk(one.tree) for name in _private(node)]
    assert found == []


def _private(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            paths = [one.name for one in names]
        case ast.ImportFrom(module=str(module), names=names):
            paths = [f"{module}.{one.name}" for one in names]
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            paths = [name]
        case _:
            return
    for path in paths:
        if any(part.startswith("_") and not part.startswith("__") for part in path.split(".")):
            yield path


def test_no_constant_is_set_twice_in_a_module(sources: Sequence[Source]) -> None:
    def names(tree: ast.Module) -> Iterator[str]:
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    yield name

    found = {one.module: [name for name, times in Counter(names(one.tree)).items() if times > 1] for one in sources}
    assert {module: twice for module, twice in found.items() if twice} == {}


def test_no_file_has_more_than_400_lines() -> None:
    files = [path for folder in ("agent", "channels", "gateway") for path in (ROOT / folder).rglob("*.py")]
    long = {str(path.relative_to(ROOT)): lines for path in files if (lines := len(path.read_text().splitlines())) > 400}
    assert len(files) > 300 and long == {}
