"""Paths and words that are not UTF-8, or come in a locale that knows no more than ASCII."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.gateway.cli.test_cli import environment
from tests.strength import first

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
UTF_8 = {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "utf-8:strict"}
"""As in every other UTF-8 locale: only `C` lets halves of characters out."""
FIRST_SUSHI = "h\N{LATIN SMALL LETTER E WITH ACUTE}llo 寿司"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(os.fsdecode(os.fsencode(tmp_path) + b"/h\xe9me"))


def without_page(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text("channels: {web: {enabled: false}}\n")


def run(home: Path, *words: str | bytes, **locale: str) -> subprocess.CompletedProcess[bytes]:
    command = [os.fsencode(word) for word in (sys.executable, "-m", "gateway", *words)]
    kept = {name: value for name, value in environment(home).items() if name != "LANG"}
    return subprocess.run(command, env=kept | (locale or UTF_8), capture_output=True)


@contextmanager
def gateway(home: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "gateway", "gateway"]
    with subprocess.Popen(command, env=environment(home) | UTF_8, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            while b"is running (process" not in (line := process.stderr.readline()):
                assert line, "the gateway ended before it ran"
            yield
        finally:
            process.terminate()
            process.communicate()


@pytest.mark.full
def test_a_home_whose_path_is_not_utf_8_serves_as_any_other(home: Path) -> None:
    without_page(home)
    with gateway(home):
        done = run(home, "status", "--json")
        assert done.returncode == 0, done.stderr
        said = run(home, "chat", "-m", "The boat is called Ada.")
        assert b"Ada" in said.stdout, said.stderr
    alone = run(home, "chat", "-m", "what is the boat called?")
    assert b"Ada" in alone.stdout, alone.stderr


@pytest.mark.full
def test_every_command_prints_such_a_path(home: Path) -> None:
    assert run(home, "init", "--yes").returncode == 0
    without_page(home)
    for words in (("config", "validate"), ("config", "show"), ("doctor",), ("doctor", "--json")):
        done = run(home, *words)
        assert done.stdout and b"Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("word", "locale", "kept"),
    first(
        (FIRST_SUSHI.encode(), ASCII, FIRST_SUSHI),
        (b"h\xe9llo", UTF_8, "h\N{LATIN SMALL LETTER E WITH ACUTE}llo"),
    ),
)
def test_words_on_the_command_line_are_kept_in_any_locale(
    tmp_path: Path, word: bytes, locale: dict[str, str], kept: str
) -> None:
    home = tmp_path / "home"
    added = run(home, "schedule", "add", word, "--at", "2099-01-01T10:00", **locale)
    assert added.returncode == 0, added.stderr
    listed = json.loads(run(home, "schedule", "list", "--json").stdout)
    assert kept in [job["text"] for job in listed]
    plain = run(home, "schedule", "list", **locale)
    assert plain.returncode == 0 and b"Traceback" not in plain.stderr, plain.stderr
