"""`make` on a machine whose Python lacks something: it says what, and what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_VENV = """#!/bin/sh
case "$*" in *venv*) echo "No module named venv" >&2; exit 1;; esac
exec {python} "$@"
"""
WITHOUT_PIP = """#!/bin/sh
[ "$1 $2" = "-m venv" ] && exec {python} "$@" --without-pip
exec {python} "$@"
"""


@pytest.mark.parametrize("lacking", [WITHOUT_VENV, WITHOUT_PIP])
def test_a_python_without_venv_or_pip_is_told_with_what_to_do(tmp_path: Path, lacking: str) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "a-python"
    python.write_text(lacking.format(python=sys.executable))
    python.chmod(0o755)
    for _ in range(2):  # what a first try has left behind does not hide it from the second
        made = subprocess.run(
            ["make", "run", f"PYTHON={python}"], cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        assert made.returncode != 0
        assert "apt install python3-venv" in made.stderr and "make PYTHON=" in made.stderr, made.stderr
        assert not (tmp_path / ".venv").exists()
