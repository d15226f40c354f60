"""The leading words that a lasting yes may hold for, and the files that a yes is bound to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.features.programs.leading import is_shell_line, leading_words, state_of


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("git log -5", "git log"),
        ("git --git-dir=x log", "git"),
        ("git", "git"),
        ("ls -la notes", "ls"),
        ("pandoc note.md -o note.html", "pandoc note.md"),
        ("python3 tool.py --all", "python3 tool.py"),
        ("/usr/bin/python3.11 tool.py", "/usr/bin/python3.11 tool.py"),
        ("./tool.py x", "./tool.py x"),
        ("python3 none.py", ""),
        ("python3 -c print(1)", ""),
        ("python3 -m http.server", ""),
        ("node -e 1", ""),
        ("sh tool.sh", ""),
        ("/bin/bash -c ls", ""),
        ("env ls", ""),
        ("xargs rm", ""),
        ("sudo ls", ""),
        ("find . -delete", ""),
        ("timeout 5 ls", ""),
    ],
)
def test_leading_words(tmp_path: Path, argv: str, words: str) -> None:
    (tmp_path / "tool.py").write_text("1")
    assert " ".join(leading_words(argv.split(), tmp_path)) == words


@pytest.mark.parametrize(
    ("argv", "is_one"),
    [("sh -c ls", True), ("/bin/bash -lc ls", True), ("sh tool.sh", False), ("git -c a=b log", False)],
)
def test_a_script_in_an_argument(argv: str, is_one: bool) -> None:
    assert is_shell_line(argv.split()) is is_one


@pytest.mark.parametrize(
    "argv",
    [
        ("cat", "one.txt"),
        ("tool", "--in=one.txt"),
        ("sh", "-c", "cat one.txt | wc"),
        ("sh", "-c", "cat 'one.txt"),
        ("sh", "-c", "wc<one.txt;ls"),
        ("./one.txt",),
        ("cat", "link.txt"),
    ],
)
def test_a_named_file_is_part_of_the_state(tmp_path: Path, argv: tuple[str, ...]) -> None:
    (tmp_path / "one.txt").write_text("one")
    (tmp_path / "link.txt").symlink_to("one.txt")
    before = state_of(argv, tmp_path, tmp_path, "/bin/cat")
    assert state_of(argv, tmp_path, tmp_path, "/bin/cat") == before
    assert state_of(argv, tmp_path, tmp_path, "/usr/local/bin/cat") != before
    (tmp_path / "one.txt").write_text("two")
    assert state_of(argv, tmp_path, tmp_path, "/bin/cat") != before


@pytest.mark.parametrize(
    "argv",
    [
        ("sh", "-c", "cd notes && python3 tool.py"),
        ("sh", "-c", "cd ./notes; ./tool.py"),
        ("env", "--chdir=notes", "python3", "tool.py"),
        ("python3", "-m", "notes.tool"),
        ("python3", "other"),
        ("make", "-C", "built"),
    ],
)
def test_a_file_named_from_another_folder_is_too(tmp_path: Path, argv: tuple[str, ...]) -> None:
    for name in ("notes/tool.py", "other/__main__.py", "built/Makefile"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("one")
    before = state_of(argv, tmp_path, tmp_path, None)
    for name in ("notes/tool.py", "other/__main__.py", "built/Makefile"):
        (tmp_path / name).write_text("two")
    assert state_of(argv, tmp_path, tmp_path, None) != before


@pytest.mark.parametrize("word", ["\0", "x" * 5_000, "\udc80", "", ".", "..", "/", "/dev/zero", "pipe", "loop"])
def test_no_word_breaks_it(tmp_path: Path, word: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    assert state_of(("cat", word), tmp_path, tmp_path, None) == state_of(("cat",), tmp_path, tmp_path, None)


def test_a_sparse_giant_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "giant").open("wb") as file:
        file.truncate(10**12)
    assert state_of(("cat", "giant"), tmp_path, tmp_path, None) != state_of(("cat",), tmp_path, tmp_path, None)
