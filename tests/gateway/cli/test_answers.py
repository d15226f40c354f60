"""What commands answer in the terminal's language, in an empty home and in one with data."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from agent.languages.codes import Language
from tests.fakes import mcp_server
from tests.gateway.cli.test_languages import LANGUAGES, english, in_terminal

NAMES = (
    "owner",
    "person:",
    "group:",
    "config.yaml",
    "memory.db",
    "daybook.db",
    "tests.md",
    "main",
    "UTC",
    "ok  ",
    "cyan",
)
"""Names that are the same in every language."""
MACHINES = re.compile(r"\[Unit\].*WantedBy=\S+|systemctl [^\n]*|\d{4}-\d\d-\d\d [^\n]* WARNING [^\n]*|/\S*", re.DOTALL)
"""Units, commands, lines of the log, paths."""
FOREIGN = ("Look something up.", "look", "no licence was found", "refuses", "fake", "All connection attempts failed")
"""What servers say and are called; why the library reaches none."""

EMPTY = [
    ("mcp", "list"),
    ("mcp", "test", "far"),
    ("mcp", "login", "far"),
    ("mcp", "logout", "far"),
    ("mcp", "list", "--agent", "x"),
    ("memory", "search", "cyan"),
    ("memory", "search", "cyan", "--now", "x"),
    ("memory", "search", "cyan", "--scope", "x"),
    ("memory", "status"),
    ("memory", "status", "--agent", "x"),
    ("memory", "index", "--force"),
    ("memory", "test"),
    ("memory", "log"),
    ("memory", "log", "--scope", "x"),
    ("memory", "diff", "x"),
    ("memory", "restore", "x"),
    ("memory", "embedder"),
    ("config", "validate"),
    ("config", "set", "log.level", "debug"),
    ("service", "install", "--dry-run"),
    ("service", "install", "--system", "--dry-run"),
    ("service", "status"),
    ("service", "remove"),
    ("service", "remove", "--dry-run"),
]
DATA = [
    ("mcp", "list"),
    ("mcp", "test", "good"),
    ("mcp", "list"),
    ("mcp", "test", "bad"),
    ("mcp", "test", "none"),
    ("mcp", "test", "far"),
    ("mcp", "login", "good"),
    ("memory", "status"),
    ("memory", "index"),
    ("memory", "search", "cyan"),
    ("memory", "test"),
    ("config", "validate"),
]


def assert_no_english(shown: str, language: Language, folder: Path, *typed: str) -> None:
    ours = MACHINES.sub(" ", shown.replace(str(folder), ""))
    assert english(ours, language, *typed, *NAMES) == [], shown


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("words", EMPTY, ids=" ".join)
def test_an_empty_home_answers_in_the_terminals_language(
    tmp_path: Path, language: Language, words: tuple[str, ...]
) -> None:
    shown = in_terminal(language, tmp_path / "home", *words)
    assert shown
    assert_no_english(shown, language, tmp_path, *words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_home_with_data_answers_in_the_terminals_language(tmp_path: Path, language: Language) -> None:
    home = tmp_path / "home"
    here = [sys.executable, mcp_server.__file__, str(tmp_path / "log")]
    servers = {
        "good": {"command": here, "tools": ["look"]},
        "bad": {"command": [*here, "refuses"]},
        "none": {"command": ["no-such-program"]},
        "far": {"url": "http://127.0.0.1:9/mcp"},
    }
    memory = home / "workspace" / "memory"
    memory.mkdir(parents=True)
    (home / "config.yaml").write_text(yaml.safe_dump({"tools": {"mcp": servers}}))
    (memory / "2026-11-20.md").write_text("- 09:00 cyan\n")
    (memory / "tests.md").write_text("- cyan -> cyan\n- cyan -> indigo\n- cyan\n")
    for words in DATA:
        shown = in_terminal(language, home, *words)
        assert shown
        assert_no_english(shown, language, tmp_path, *FOREIGN, *servers, *words, "indigo", "writes", "no-such-program")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_backup_is_written_and_restored_in_the_terminals_language(tmp_path: Path, language: Language) -> None:
    home, file, other = tmp_path / "home", tmp_path / "a.tar.gz", tmp_path / "other"
    in_terminal(language, home, "memory", "status")
    (home / "workspace" / "memory").mkdir(exist_ok=True)
    (home / "workspace" / "memory" / "2026-11-20.md").write_text("- 09:00 cyan\n")
    (home / "link").symlink_to("nowhere")
    broken = tmp_path / "broken"
    broken.write_text("x")
    secret = tmp_path / "secret"
    for stdin, words in [
        ("", ("backup", str(file))),
        ("", ("backup", str(file))),
        ("", ("backup", str(home / "a"))),
        ("", ("backup", str(tmp_path / "nowhere" / "a"))),
        ("", ("backup", str(secret), "--encrypt")),
        ("a\n", ("backup", str(secret), "--encrypt")),
        ("b\n", ("restore", str(secret), "--home", str(other))),
        ("", ("restore", str(file))),
        ("", ("restore", str(broken), "--home", str(other))),
        ("", ("restore", str(file), "--home", str(other))),
        ("", ("restore", str(file), "--home", str(other), "--force")),
    ]:
        shown = in_terminal(language, home, *words, stdin=stdin)
        assert shown
        assert_no_english(shown, language, tmp_path, "before-restore", "link")
