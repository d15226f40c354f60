"""`daybook import`, as a shell calls it, beside a running gateway and without one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.gateway.cli.test_cli import gateway, shell
from tests.gateway.features.imports.made import claude_zip, lisbon, openclaw

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
