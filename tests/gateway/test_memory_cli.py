"""`daybook memory search`, `index` and `status`, as somebody sees them who has a shell."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gateway.embedding import fetched
from gateway.home import Home
from tests.agent.memory.embedding import tiny_bert
from tests.gateway.test_cli import Terminal, gateway, shell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and sockets of POSIX")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    log = tmp_path / "home" / "workspace" / "memory" / "2026-03-14.md"
    log.parent.mkdir(parents=True)
    log.write_text("# 2026-03-14\n\n- 10:00 about the zeppelin,\n  over the lake\n- 10:01 yes indeed\n")
    return tmp_path / "home"


@pytest.mark.parametrize("is_running", [False, True])
def test_a_search_says_where_how_well_and_why(home: Path, is_running: bool) -> None:
    if is_running:
        with gateway(home):
            ran = shell(home, "memory", "search", "zeppelin")
    else:
        ran = shell(home, "memory", "search", "zeppelin")
    first, *rest = ran.stdout.split("\n")
    assert first.startswith("memory/2026-03-14.md:3-4  2026-03-14  0.") and "(near 0." in first and "window 0." in first
    assert rest[:2] == ["- 10:00 about the zeppelin,", "  over the lake"]
    assert any(line.startswith("memory/2026-03-14.md:5 ") and "for what stands around it" in line for line in rest)


def test_as_of_a_day_only_what_is_surely_later_is_hidden(home: Path) -> None:
    """Everything here was written to disk today; what says no day of its own may be as old as it likes."""
    workspace = home / "workspace"
    (workspace / "MEMORY.md").write_text("- The zeppelin is ours.\n")
    (workspace / "memory" / "notes").mkdir(parents=True, exist_ok=True)
    note = "---\nname: Zeppelin\ndescription: d\ntype: user\ncreated: 2026-04-01\n---\n\nThe zeppelin was sold.\n"
    (workspace / "memory" / "notes" / "zeppelin.md").write_text(note)

    def found(day: str) -> set[str]:
        hits = json.loads(shell(home, "memory", "search", "zeppelin", "--now", day, "--json").stdout)
        return {hit["path"] for hit in hits if "zeppelin" in hit["text"]}

    assert found("2026-02-01") == {"MEMORY.md"}
    assert found("2026-03-20") == {"MEMORY.md", "memory/2026-03-14.md"}
    assert found("2026-05-01") == {"MEMORY.md", "memory/2026-03-14.md", "memory/notes/zeppelin.md"}


def test_what_stands_around_an_answer_comes_behind_what_answers(home: Path) -> None:
    log = home / "workspace" / "memory" / "2026-03-15.md"
    log.write_text("# 2026-03-15\n\n- the zeppelin flew?\n- at 12:30 on Monday\n" * 3)
    told = shell(home, "memory", "search", "when was the zeppelin").stdout.split("\n")
    context = ["for what stands around it" in line for line in told if line.startswith("memory/")]
    assert context == sorted(context) and set(context) == {False, True}


def test_the_index_can_be_looked_at_and_made_anew(home: Path) -> None:
    before = json.loads(shell(home, "memory", "status", "--json").stdout)
    assert before["stale"] >= 1
    made = json.loads(shell(home, "memory", "index", "--json").stdout)
    assert (made["stale"], made["problems"], made["in_memory"]) == (0, [], False)
    ran = shell(home, "memory", "index", "--force")
    assert ran.stdout.startswith(f"owner: {made['files']} files, {made['passages']} passages") and ran.stderr == ""
    assert shell(home, "memory", "index", "--scope", "nobody").returncode == 2


def test_a_long_build_shows_a_bar_to_a_person(home: Path) -> None:
    for number in range(2_000):
        (home / "workspace" / "memory" / f"n{number}.md").write_text("".join(f"- {at} words\n" for at in range(30)))
    terminal = Terminal(home, "memory", "index")
    try:
        terminal.until("Indexing")
        terminal.until("/2")
        terminal.until("owner: 2")
    finally:
        terminal.close()


def test_a_long_embedding_shows_a_bar_of_its_own(home: Path) -> None:
    tiny_bert.write(fetched(Home(home)))
    for number in range(160):
        lines = "".join(f"- the cat {number} plays {at}\n" for at in range(30))
        (home / "workspace" / "memory" / f"n{number}.md").write_text(lines)
    terminal = Terminal(home, "memory", "index")
    try:
        terminal.until("Embedding texts")
        terminal.until("passages are embedded")
    finally:
        terminal.close()
