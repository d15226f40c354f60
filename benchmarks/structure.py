"""How much of Daybook a reader has to hold in mind: files on a message's way, names, docstrings, layers.

    python -m benchmarks.structure [--json FILE] [--static] [--root DIR]

`--static` leaves out the way of a message, which is measured in a running process; `--root` reads the source of another
checkout, and is static. `Figures` says what each figure is, `_GOALS` what it is to reach.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import importlib.util
import json
import os
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.figures import Cell, table
from benchmarks.traced_gateway import OUTPUT
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, ROOT, GatewayProcess

PACKAGES = ("gateway", "channels", "agent")
FLAT = ("gateway", "agent")
OTHERS = ("starlette", "uvicorn", "httpx")
_HELLOS_BEFORE, _HELLOS = 2, 6
"""Messages: those before are not counted, for the first one imports the model's library."""
_SETTLED_S = 0.5
"""From the answer in the chat to the end of the trace: its receipt is written within."""
_GOALS: Mapping[str, float] = {
    "way": 65, "shared_names": 0, "docstring_words": 600, "used_once": 0.15, "flat gateway": 14, "flat agent": 13,
    "cycles": 0, "replacing": 1, "files": 335, "lines": 42_000, "of_docstrings": 0,
}  # fmt: skip

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """One file. `lines` counts the empty ones too; `is_package` for an `__init__`."""

    module: str
    tree: ast.Module
    lines: int
    is_package: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """How some packages are written.

    shared_names      public names of more than one class, with the modules of each
    docstring_words   words of docstrings in 1,000 lines
    used_once         share of the functions that are private and named once beside their definition, in their module
    flat              modules directly in a package, without `__init__` and `__main__`
    cycles            pairs of layers of one package that import each other; folders and flat modules are layers
    replacing         functions that write something and put a file in the place of another
    of_docstrings     docstrings that begin with "Of "
    """

    files: int
    lines: int
    shared_names: Mapping[str, Sequence[str]]
    docstring_words: int
    used_once: float
    flat: Mapping[str, int]
    cycles: Sequence[str]
    replacing: Sequence[str]
    of_docstrings: Sequence[str]


@dataclass(frozen=True, slots=True)
class Way:
    """Files and functions whose code runs for each "Hello" by Telegram with a plain answer, from the update to the
    receipt of the answer, in all threads."""

    files: Sequence[str]
    functions: Sequence[str]


def read(root: Path, packages: Sequence[str] = PACKAGES) -> Sequence[Source]:
    """All modules of packages that are folders in `root`."""
    return [_source(root, file) for package in packages for file in sorted((root / package).rglob("*.py"))]


def _source(root: Path, file: Path) -> Source:
    text = file.read_text(encoding="utf-8")
    parts = file.relative_to(root).with_suffix("").parts
    is_package = parts[-1] == "__init__"
    return Source(".".join(parts[:-1] if is_package else parts), ast.parse(text), len(text.splitlines()), is_package)


def measured(sources: Sequence[Source]) -> Figures:
    lines = sum(one.lines for one in sources)
    words = sum(len(text.split()) for one in sources for _, text in docstrings(one))
    functions = sum(isinstance(node, Function) for one in sources for node in ast.walk(one.tree))
    return Figures(
        files=len(sources),
        lines=lines,
        shared_names=shared_names(sources),
        docstring_words=round(1000 * words / lines),
        used_once=round(sum(_used_once(one) for one in sources) / functions, 3),
        flat={package: _flat(sources, package) for package in FLAT},
        cycles=sorted(_cycles(sources)),
        replacing=[name for one in sources for name in _replacing(one)],
        of_docstrings=of_docstrings(sources),
    )


def shared_names(sources: Sequence[Source]) -> Mapping[str, Sequence[str]]:
    """Public names of more than one class, with the modules of each."""
    modules: dict[str, list[str]] = defaultdict(list)
    for one in sources:
        for node in ast.walk(one.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(one.module)
    return {name: found for name, found in sorted(modules.items()) if len(found) > 1}


def of_docstrings(sources: Sequence[Source]) -> Sequence[str]:
    """Docstrings that begin with "Of ", as `module:name`."""
    return [f"{one.module}:{name}" for one in sources for name, text in docstrings(one) if text.startswith("Of ")]


def docstrings(source: Source) -> Iterator[tuple[str, str]]:
    """The name of what is documented, empty for the module itself, and the text."""
    for node in ast.walk(source.tree):
        if isinstance(node, Documented) and (text := ast.get_docstring(node)):
            yield getattr(node, "name", ""), text


def _used_once(source: Source) -> int:
    """How many private functions are named exactly once beside their definition."""
    used = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    names = (node.name for node in ast.walk(source.tree) if isinstance(node, Function))
    return sum(name.startswith("_") and not name.startswith("__") and used[name] == 1 for name in names)


def _flat(sources: Sequence[Source], package: str) -> int:
    parts = (one.module.split(".") for one in sources if not one.is_package)
    return sum(len(part) == 2 and part[0] == package and part[1] != "__main__" for part in parts)


def _cycles(sources: Sequence[Source]) -> Iterator[str]:
    modules = {one.module for one in sources}
    pairs = {
        (_layer(one.module), _layer(used)) for one in sources for used in _imports(one, modules) if "." in one.module
    }
    for above, below in pairs:
        if above < below and (below, above) in pairs and above.split(".")[0] == below.split(".")[0]:
            yield f"{above} <-> {below}"


def _layer(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _imports(source: Source, modules: set[str]) -> Iterator[str]:
    """Modules of ours that it names in an import, anywhere in it."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield from {name if name in modules else node.module} & modules
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & modules


def _replacing(source: Source) -> Iterator[str]:
    """Functions that write something and put a file in the place of another."""
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
            if any(_called(call) in _WRITING for call in calls) and any(_is_rename(call) for call in calls):
                yield f"{source.module}:{node.name}"


_WRITING = frozenset(("write", "write_bytes", "write_private", "write_text", "open", "fdopen", "mkstemp"))


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_rename(call: ast.Call) -> bool:
    """True for `replace` and `rename` of a path (one argument) or of `os` (two); a text's `replace` has two."""
    if not isinstance(call.func, ast.Attribute) or call.keywords:
        return False
    is_os = isinstance(call.func.value, ast.Name) and call.func.value.id == "os"
    return call.func.attr in ("replace", "rename") and len(call.args) == (2 if is_os else 1)


async def way() -> Way:
    """Measured in a process of its own, between the fakes. What one message met by chance (the schedule looks around
    every few seconds, a slow moment shows a draft) is left out: only what ran for each of some messages counts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace"
        async with FakeTelegram() as telegram, FakeAnthropic() as model:
            model.reply = lambda body: "Hello to you."
            command = (sys.executable, "-m", "benchmarks.traced_gateway")
            gateway = GatewayProcess(telegram, model, start_now=False, command=command)
            gateway.environ[OUTPUT] = str(file)
            async with gateway:
                await gateway.start()
                ran = [await _ran_for_one(telegram, gateway, file) for _ in range(_HELLOS_BEFORE + _HELLOS)]
        functions = sorted(set.intersection(*ran[_HELLOS_BEFORE:]))
    return Way(sorted({line.partition(" ")[0] for line in functions}), functions)


async def _ran_for_one(telegram: FakeTelegram, gateway: GatewayProcess, file: Path) -> set[str]:
    """The functions that ran for one more message."""
    await telegram.wait_for(lambda: telegram.polling and not telegram.pending)
    await asyncio.sleep(_SETTLED_S)
    before = len(telegram.messages(OWNER))
    os.kill(gateway.pid, signal.SIGUSR1)
    telegram.say("Hello", chat=OWNER)
    await gateway.while_alive(telegram.wait_for(lambda: len(telegram.messages(OWNER)) > before))
    await asyncio.sleep(_SETTLED_S)
    os.kill(gateway.pid, signal.SIGUSR2)
    async with asyncio.timeout(60):
        while not (functions := await asyncio.to_thread(_taken, file)):  # noqa: ASYNC110  a file rings no bell
            await asyncio.sleep(0.02)
    return functions


def _taken(file: Path) -> set[str]:
    """The lines of a file that is then removed; none where there is no file yet."""
    if not file.exists():
        return set()
    lines = file.read_text(encoding="utf-8").splitlines()
    file.unlink()
    return set(lines)


def others() -> Mapping[str, Figures]:
    """The same of libraries that are installed here."""
    found = ((name, importlib.util.find_spec(name)) for name in OTHERS)
    return {name: measured(read(Path(spec.origin).parents[1], [name])) for name, spec in found if spec and spec.origin}


def rows(figures: Figures, passed: Way | None, beside: Mapping[str, Figures]) -> Sequence[Sequence[Cell]]:
    """A figure of Daybook, what it is to reach, whether it does, and the same of others."""

    def row(what: str, name: str, value: float, *others: Cell) -> Sequence[Cell]:
        goal = _GOALS.get(name)
        verdict = "" if goal is None else "reached" if value <= goal else "not yet"
        return [what, value, "" if goal is None else goal, verdict, *(others or [""] * len(beside))]

    def compared(what: str, name: str) -> Sequence[Cell]:
        return row(what, name, _number(figures, name), *(_number(one, name) for one in beside.values()))

    by_way = [] if passed is None else [
        row('files whose code runs for one "Hello"', "way", len(passed.files)),
        row("  functions in them", "", len(passed.functions)),
    ]  # fmt: skip
    return [
        *by_way,
        compared("public class names of more than one class", "shared_names"),
        compared("words of docstrings in 1,000 lines", "docstring_words"),
        compared("share of private functions used once", "used_once"),
        *(row(f"modules flat in {package}/", f"flat {package}", figures.flat[package]) for package in FLAT),
        compared("pairs of layers that import each other", "cycles"),
        compared("functions that write a file and rename it", "replacing"),
        compared('docstrings that begin with "Of "', "of_docstrings"),
        compared("files", "files"),
        compared("lines", "lines"),
    ]


def _number(figures: Figures, name: str) -> float:
    value = getattr(figures, name)
    return value if isinstance(value, int | float) else len(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where every figure is written, with the names")
    parser.add_argument("--static", action="store_true", help="start nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout, with --static")
    given = parser.parse_args()
    figures, beside = measured(read(given.root)), others()
    passed = None if given.static or given.root != ROOT else asyncio.run(way())
    print(table(["", "Daybook", "to reach", "", *beside], rows(figures, passed, beside)))
    if given.json:
        whole = {"daybook": asdict(figures), "way": asdict(passed) if passed else None}
        whole["others"] = {name: asdict(one) for name, one in beside.items()}
        given.json.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
