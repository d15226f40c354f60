"""`make` says in words what it does; on a machine that lacks something it says what, and what to do."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.install import explain

ROOT = Path(__file__).parents[2]
WITHOUT_VENV = """#!/bin/sh
case "$*" in "-m venv "*|*ensurepip*) echo "No module named venv" >&2; exit 1;; esac
exec {python} "$@"
"""
WITHOUT_PIP = """#!/bin/sh
[ "$1 $2" = "-m venv" ] && exec {python} "$@" --without-pip
exec {python} "$@"
"""
OLD = """#!/bin/sh
[ "$1" = "-c" ] && exec {python} -c 'import sys; sys.version_info = (3, 9, 2); exec(sys.argv.pop(1))' "$2"
exec {python} "$@"
"""
NO_NETWORK = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "gateway").mkdir()
    shutil.copy(ROOT / "gateway" / "install.py", tmp_path / "gateway")
    return tmp_path


def make(clone: Path, python: str = sys.executable, **environ: str) -> subprocess.CompletedProcess[str]:
    # Without what an outer make passes on: the suite itself runs under `make test`.
    without = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE", "MFLAGS"))}
    command = ["make", "run", f"PYTHON={python}"]
    return subprocess.run(
        command, cwd=clone, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**without, **environ}
    )


def python_of(clone: Path, script: str) -> str:
    python = clone / "a-python"
    python.write_text(script.format(python=sys.executable))
    python.chmod(0o755)
    return str(python)


def sentences(made: subprocess.CompletedProcess[str]) -> list[str]:
    """What make says on stderr, without its own last line."""
    return [line for line in made.stderr.splitlines() if line and not line.startswith("make: ***")]


@pytest.mark.parametrize("lacking", [WITHOUT_VENV, WITHOUT_PIP])
def test_a_python_without_venv_or_pip_is_told_with_what_to_do(clone: Path, lacking: str) -> None:
    python = python_of(clone, lacking)
    for _ in range(2):  # what a first try has left behind does not hide it from the second
        made = make(clone, python)
        assert made.returncode != 0
        (said,) = sentences(made)
        assert "apt install python3-venv" in said and "make PYTHON=python3.12 run" in said
        assert not (clone / ".venv").exists()


def test_no_python_at_all_is_told_with_what_to_do(clone: Path) -> None:
    made = make(clone, "python3.99")
    (said,) = sentences(made)
    assert made.returncode != 0 and "there is no python3.99 here" in said and "apt install python3" in said


def test_an_old_python_is_told_with_its_version(clone: Path) -> None:
    made = make(clone, python_of(clone, OLD))
    (said,) = sentences(made)
    assert (
        made.returncode != 0 and "3.11 or newer" in said and "is 3.9." in said and "make PYTHON=python3.12 run" in said
    )


def test_without_a_network_one_sentence_says_so_and_no_raw_command_is_shown(clone: Path) -> None:
    made = make(clone, **NO_NETWORK)
    (said,) = sentences(made)
    assert made.returncode != 0 and "Check your network" in said and said.endswith("try again: make run")
    assert made.stdout.splitlines()[0] == "Setting up Daybook, about a minute…"
    assert not [word for word in ("pip install", "-m venv", "Traceback") if word in made.stdout + made.stderr]


def test_a_terminal_has_a_moving_sign(clone: Path) -> None:
    master, slave = pty.openpty()
    command = ["make", "run", f"PYTHON={sys.executable}"]
    process = subprocess.Popen(
        command, cwd=clone, stdin=slave, stdout=slave, stderr=slave, env={**os.environ, **NO_NETWORK}
    )
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 65536):
            shown += chunk
    except OSError:  # how the end of a pseudo-terminal is told
        pass
    os.close(master)
    assert process.wait(timeout=60) != 0
    text = shown.decode()
    assert re.search(r"\r  [⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Making a Python of its own… \d+ s", text)
    assert "\r  ✓ Making a Python of its own" in text


def test_what_pip_says_is_shown_where_it_is_no_known_trouble() -> None:
    assert "The disk is full" in explain("OSError: [Errno 28] No space left on device", "make test")
    assert "can't write to" in explain("error: [Errno 13] Permission denied: 'x'", "make test")
    other = explain("\n".join(["noise"] * 100 + ["error: metadata-generation-failed"]), "make test")
    assert "  error: metadata-generation-failed\n" in other and other.endswith("try again: make test")
    assert other.count("noise") < 20
