"""A language is one file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import agent

_SAYS = """
from datetime import datetime
from zoneinfo import ZoneInfo
from agent.languages.codes import ALL_LANGUAGES, Language
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import said
from gateway.scheduling.words.phrases import read
code = Language("xx")
phrase = read("domani alle 15 dentista", datetime(2026, 11, 21, 8, 30, tzinfo=ZoneInfo("Europe/Rome")), (code,))
print(code in ALL_LANGUAGES, LANGUAGES[code].name, said(code, "{count} files", count=2), phrase.language, phrase.rest)
"""


def test_a_file_makes_a_language(tmp_path: Path) -> None:
    root = Path(agent.__file__).parent
    shutil.copytree(root, tmp_path / "agent", ignore=shutil.ignore_patterns("__pycache__"))
    languages = tmp_path / "agent" / "languages"
    (languages / "it.toml").rename(languages / "xx.toml")
    found = subprocess.run(
        [sys.executable, "-c", _SAYS],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{root.parent}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "True Italiano 2 file xx dentista"
