"""`daybook import`, as a shell calls it, beside a running gateway and without one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agent.languages.codes import Language
from tests.gateway.cli.test_cli import gateway, shell
from tests.gateway.cli.test_languages import LANGUAGES, english, in_terminal
from tests.gateway.features.imports.made import claude_chat, claude_message, claude_zip, lisbon, openclaw

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and sockets of POSIX")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def _story(home: Path, export: Path) -> None:
    plan = shell(home, "import", "claude", str(export), "--dry-run")
    assert plan.stdout.startswith(
        "Files that would be written: 1\nConversations: 1, messages: 2\n  memory/imported/claude/"
    )
    assert not (home / "workspace" / "memory" / "imported").exists()

    done = shell(home, "import", "claude", str(export))
    assert done.stdout.startswith("Files written: 1\n") and done.stderr == "" and done.returncode == 0
    id = done.stdout.rstrip("`\n").rpartition("daybook import undo ")[2]
    assert shell(home, "import", "claude", str(export)).stdout.startswith("Nothing new")
    found = json.loads(shell(home, "memory", "search", "restaurant Ramiro Lisbon", "--json").stdout)
    assert any("Ramiro" in hit["text"] and hit["date"] == "2025-03-04" for hit in found)

    (listed,) = json.loads(shell(home, "import", "list", "--json").stdout)
    assert listed["id"] == id and listed["finished"]
    assert shell(home, "import", "undo", id).stdout == "Undone: 1 file.\n"
    table = shell(home, "import", "list").stdout
    assert id in table and "undone" in table and "export.zip" in table
    again = shell(home, "import", "undo", id)
    assert again.returncode == 1 and again.stderr == f"Error: The import {id} is undone already.\n"


def test_an_import_without_a_gateway(home: Path, tmp_path: Path) -> None:
    _story(home, claude_zip(tmp_path / "export.zip", [lisbon()]))


def test_an_import_beside_a_running_gateway(home: Path, tmp_path: Path) -> None:
    with gateway(home):
        _story(home, claude_zip(tmp_path / "export.zip", [lisbon()]))


def test_what_is_left_is_told(home: Path, tmp_path: Path) -> None:
    source = openclaw(tmp_path / "workspace")
    (source / "photo.png").write_bytes(b"\x89PNG")
    (source / "memory" / "keys.md").write_text(f"the key is sk-{'Ab1' * 10}\n")
    done = shell(home, "import", "openclaw", str(source))
    assert "  MEMORY.md (added at its end)\n" in done.stdout
    assert "  SOUL-openclaw.md\n" in done.stdout
    assert "Left out:\n  an API key in memory/keys.md\n" in done.stdout
    assert "Not understood, or not taken (1):\n  .png (1) is no Markdown\n" in done.stdout
    wrong = shell(home, "import", "chatgpt", str(source))
    assert wrong.returncode == 1 and "`daybook import openclaw" in wrong.stderr and "Traceback" not in wrong.stderr


GERMAN = Language("de")


def _odd(folder: Path) -> Path:
    """A workspace with much that is not taken."""
    source = openclaw(folder / "workspace")
    (source / "photo.png").write_bytes(b"\x89PNG")
    (source / "BOOTSTRAP.md").write_text("Say hello.\n")
    (source / "memory" / "keys.md").write_text(f"the key is sk-{'Ab1' * 10}\n")
    (source / "memory" / "cafe.md").write_bytes("Café Anna\n".encode("cp1252"))
    (source / "memory" / "link.md").symlink_to(source / "USER.md")
    (source / "skills" / "bare").mkdir()
    (source / "skills" / "bare" / "a.txt").write_text("1")
    return source


def test_an_import_is_refused_in_german_in_a_german_terminal(home: Path, tmp_path: Path) -> None:
    source, missing = openclaw(tmp_path / "workspace"), tmp_path / "export.zip"
    hint = f"Es sieht aus wie ein Arbeitsordner von OpenClaw: `daybook import openclaw {source}`."
    why = f"workspace enthält keine `conversations.json`, ist also kein Export aus ChatGPT. {hint}\n"
    assert in_terminal(GERMAN, home, "import", "chatgpt", str(source)) == f"Fehler: {why}"
    why = f"{missing} ist nicht lesbar: diese Datei gibt es nicht.\n"
    assert in_terminal(GERMAN, home, "import", "claude", str(missing)) == f"Fehler: {why}"
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.png").write_bytes(b"\x89PNG")
    why = f"{tmp_path / 'photos'} enthält kein Markdown.\n"
    assert in_terminal(GERMAN, home, "import", "text", str(tmp_path / "photos")) == f"Fehler: {why}"


def test_what_is_left_is_told_in_german_in_a_german_terminal(home: Path, tmp_path: Path) -> None:
    shown = in_terminal(GERMAN, home, "import", "openclaw", str(_odd(tmp_path)), "--dry-run")
    assert "Ausgelassen:\n  einen API-Schlüssel in memory/keys.md\n" in shown
    _, _, skipped = shown.partition("Nicht verstanden oder nicht übernommen (4):\n")
    assert sorted(skipped.splitlines()[:4]) == [
        "  .png (1): kein Markdown",
        "  BOOTSTRAP.md: handelt vom ersten Start des anderen Programms",
        "  memory/link.md: ein Link, dem nicht gefolgt wird",
        "  skills/bare: hat keine SKILL.md",
    ]
    assert "memory/cafe.md ist kein UTF-8; gelesen wurde es als westeuropäischer Text." in shown


@pytest.mark.parametrize("language", LANGUAGES)
def test_imports_are_told_in_the_terminals_language(home: Path, tmp_path: Path, language: Language) -> None:
    odd = claude_chat(claude_message("robot", "x"), claude_message("human", "1", content=[{"type": "hologram"}]))
    export = claude_zip(tmp_path / "export.zip", [lisbon(), odd, {}], memories=[{}], projects=[{}])
    source = _odd(tmp_path)
    names = ("hologram", "robot", "Trip to Lisbon", "Markdown", "workspace", "nowhere", "photo")
    paths = ("memory/imported", "skills/pdf/run", "skills/bare", "skills/pdf", "/skills", "openclaw", "export")
    for words in (
        ("claude", str(export)),
        ("claude", str(export)),
        ("claude", str(source)),
        ("chatgpt", str(export)),
        ("text", str(export)),
        ("openclaw", str(source), "--dry-run"),
        ("openclaw", str(tmp_path / "nowhere")),
        ("nanobot", str(source)),
        ("nanobot", str(source / "skills")),
        ("list",),
        ("undo", "x"),
    ):
        shown = in_terminal(language, home, "import", *words).replace(str(tmp_path), "")
        assert english(shown, language, *names, *paths) == [], shown


def test_a_running_gateway_refuses_in_german_too(home: Path, tmp_path: Path) -> None:
    with gateway(home):
        assert "Es gibt keinen Ordner und keine Datei" in in_terminal(
            GERMAN, home, "import", "text", str(tmp_path / "nowhere")
        )
