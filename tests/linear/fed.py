"""What was found to be linear, so that `make test` feeds only what has changed: `fed.txt` has a mark for each pattern
and function. `python -m tests.linear.fed` feeds the others and, if all of them are linear, records them too.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from agent.languages.codes import ALL_LANGUAGES
from agent.languages.files import read_file
from agent.languages.table import LanguageTable
from tests.linear import functions, patterns

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_FILE = _HERE / "fed.txt"
_JUDGES = ("judge.py", "shapes.py")
"""A change in them asks for everything again."""
_CPU_SECONDS = "1200"


def known() -> set[str]:
    return set(_FILE.read_text().split())


def mark_of_sources() -> str:
    """The same as long as no file of the product or of these tests changes: then nothing has to be looked for."""
    files = [file for package in (*patterns.PACKAGES, "tests/linear") for file in (_ROOT / package).rglob("*")]
    texts = (
        file.relative_to(_ROOT).as_posix().encode() + b"\0" + file.read_bytes()
        for file in sorted(files)
        if file.is_file() and file != _FILE and file.suffix != ".pyc"
    )
    return _mark(b"\0".join(texts))


def mark_of(found: patterns.Found) -> str:
    """The same as long as a pattern, the way it is used and the judge stay as they are."""
    return _mark(repr((found.pattern.pattern, found.pattern.flags, sorted(found.methods))).encode())


def mark_of_function(name: str) -> str:
    """The same as long as nothing changes in its module, in what that imports of ours, and in how it is called."""
    modules = sorted(_reached(name.rpartition(".")[0]))
    calls = (_HERE / "functions.py").read_bytes()
    words = _words_of_languages() if "agent.languages.files" in modules else b""
    return _mark(b"\0".join((name.encode(), calls, words, *(_file_of(one).read_bytes() for one in modules))))


@cache
def _words_of_languages() -> bytes:
    """What the languages' files hold beside our own sentences."""
    said = {field.name for field in dataclasses.fields(LanguageTable) if "Strings" in str(field.type)}
    files = [read_file(language) for language in ALL_LANGUAGES]
    return repr(
        [{key: file[key] for key in sorted(file.keys() - said - {"sentences", "name"})} for file in files]
    ).encode()


def _mark(what: bytes) -> str:
    judges = b"".join((_HERE / name).read_bytes() for name in _JUDGES)
    return hashlib.sha256(what + judges).hexdigest()[:16]


def _reached(module: str) -> set[str]:
    """A module of ours and all that it imports, and so on."""
    reached: set[str] = set()
    ahead = [module]
    while ahead:
        one = ahead.pop()
        if one not in reached and _file_of(one).exists():
            reached.add(one)
            ahead += _imported(one)
    return reached


@cache
def _imported(module: str) -> tuple[str, ...]:
    def names() -> Iterator[str]:
        for node in ast.walk(ast.parse(_file_of(module).read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)

    return tuple(name for name in names() if name.partition(".")[0] in patterns.PACKAGES)


def _file_of(module: str) -> Path:
    path = _ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def main() -> None:
    command = [sys.executable, "-m", "tests.linear.feeding", "changed", _CPU_SECONDS]
    done = subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True)
    found = [one for one in done.stdout.splitlines() if one.startswith('{"found"')]
    if done.returncode or found:
        sys.exit("\n".join(found) or f"it was ended by {done.returncode}")
    marks = {mark_of(one) for one in patterns.everything()} | {*map(mark_of_function, functions.FUNCTIONS)}
    marks.add(mark_of_sources())
    _FILE.write_text("".join(f"{one}\n" for one in sorted(marks)))


if __name__ == "__main__":
    main()
