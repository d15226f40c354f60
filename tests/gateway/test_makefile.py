"""`make` says in words what it does; on a machine that lacks something it says what, and what to do."""

from __future__ import annotations

import hashlib
import os
import pty
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pip
import pytest

from gateway.install import EXTRAS, explain, needs

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
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "daybook-assistant"
version = "0"
dependencies = ["small-thing"]
[tool.hatch.build]
dev-mode-dirs = ["."]
[tool.hatch.build.targets.wheel]
packages = ["gateway"]
"""
CONSTRAINTS = (ROOT / "constraints.txt").read_text("utf-8")
NO_NETWORK = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "gateway").mkdir()
    shutil.copy(ROOT / "gateway" / "install.py", tmp_path / "gateway")
    return tmp_path


def make(
    clone: Path, python: str = sys.executable, what: str = "run", **environ: str
) -> subprocess.CompletedProcess[str]:
    # Without what an outer make passes on: the suite itself runs under `make test`.
    without = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "MAKE", "MFLAGS"))}
    command = ["make", what, f"PYTHON={python}"]
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


@pytest.mark.full
def test_without_a_network_one_sentence_says_so_and_no_raw_command_is_shown(clone: Path) -> None:
    made = make(clone, **NO_NETWORK)
    (said,) = sentences(made)
    assert made.returncode != 0 and "Check your network" in said and said.endswith("try again: make run")
    assert made.stdout.splitlines()[0] == "Setting up Daybook, about a minute…"
    assert not [word for word in ("pip install", "-m venv", "Traceback") if word in made.stdout + made.stderr]


@pytest.fixture
def small(clone: Path) -> Path:
    """A clone that needs one package, which lies in a folder. All that installing takes is there."""
    (clone / "pyproject.toml").write_text(PROJECT)
    wheel_in(clone, "small_thing", "1.0")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", clone / ".venv"], check=True)
    (site,) = (clone / ".venv" / "lib").glob("python*/site-packages")
    (site / "pip.pth").write_text(str(Path(pip.__file__).parents[1]))
    (clone / ".venv" / "python").touch()
    return clone


def wheel_in(clone: Path, name: str, version: str) -> Path:
    file = clone / "index" / f"{name}-{version}-py3-none-any.whl"
    file.parent.mkdir(exist_ok=True)
    folder = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(file, "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        wheel.writestr(f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{folder}/RECORD", "")
    return file


def pin(clone: Path, *wheels: Path) -> None:
    """Write constraints.txt, older than what is set up."""
    lines = []
    for wheel in wheels:
        name, version = wheel.name.split("-")[:2]
        lines.append(f"{name}=={version} \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    (clone / "constraints.txt").write_text("".join(lines))
    for file in ("constraints.txt", "pyproject.toml"):
        os.utime(clone / file, (0, 0))


def from_folder(clone: Path) -> dict[str, str]:
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(clone / "index"), "PIP_CONFIG_FILE": os.devnull}


def imports(clone: Path, *modules: str) -> bool:
    command = [clone / ".venv" / "bin" / "python", "-P", "-c", f"import {','.join(modules)}"]
    return subprocess.run(command, cwd=clone / "index", capture_output=True).returncode == 0


def test_what_is_needed_is_installed_by_the_hash_of_its_file(small: Path) -> None:
    pin(small, small / "index" / "small_thing-1.0-py3-none-any.whl")
    made = make(small, what=".venv/run", **from_folder(small))
    assert made.returncode == 0, made.stderr
    assert imports(small, "small_thing", "gateway.install")


def test_a_package_that_was_changed_is_not_installed(small: Path) -> None:
    wheel = small / "index" / "small_thing-1.0-py3-none-any.whl"
    pin(small, wheel)
    with zipfile.ZipFile(wheel, "a") as file:
        file.writestr("evil.py", "")
    made = make(small, what=".venv/run", **from_folder(small))
    (said,) = sentences(made)
    assert made.returncode != 0 and "small_thing-1.0-py3-none-any.whl is not the file" in said
    assert "its hash differs" in said and said.endswith("then try again: make run")
    assert not imports(small, "small_thing")


def test_a_package_without_a_hash_is_not_installed(small: Path) -> None:
    pin(small)
    made = make(small, what=".venv/run", **from_folder(small))
    (said,) = sentences(made)
    assert made.returncode != 0 and "constraints.txt has no version of small-thing" in said and ".ci/pin" in said
    assert not imports(small, "small_thing")


@pytest.mark.full
def test_an_installer_that_was_changed_is_not_run(clone: Path) -> None:
    wheels = [wheel_in(clone, "pip", "99.0"), wheel_in(clone, "setuptools", "99.0")]
    pin(clone, *wheels)
    wheels[0].write_bytes(b"changed")
    made = make(clone, what=".venv/run", **from_folder(clone))
    (said,) = sentences(made)
    assert made.returncode != 0 and "pip-99.0-py3-none-any.whl is not the file" in said


def test_every_package_that_is_asked_for_has_a_version_and_hashes() -> None:
    pinned = re.findall(
        r"^([\w.-]+)==\S+(?: ;.*)? \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", CONSTRAINTS, re.M
    )
    assert len(pinned) == len(re.findall(r"^\S.*==", CONSTRAINTS, re.M)) > 100
    for purpose in EXTRAS:
        names = {re.split(r"[^\w.-]", need)[0] for need in needs(purpose)}
        assert {re.sub(r"[._]", "-", name).lower() for name in names} <= set(pinned)


@pytest.mark.full
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
