"""`daybook memory search`, `index` and `status`, as somebody sees them who has a shell."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.model.base import Json
from gateway.terminal.rpc import show_progress
from tests.fakes.embeddings import Embeddings
from tests.gateway.cli.test_cli import Terminal, gateway, shell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="shells and sockets of POSIX")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    log = tmp_path / "home" / "workspace" / "memory" / "2026-03-14.md"
    log.parent.mkdir(parents=True)
    log.write_text("# 2026-03-14\n\n- 10:00 about the zeppelin,\n  over the lake\n- 10:01 yes indeed\n")
    return tmp_path / "home"


@pytest.mark.parametrize("is_running", [False, True])
def test_a_search_says_where_and_how_well(home: Path, is_running: bool) -> None:
    if is_running:
        with gateway(home):
            ran = shell(home, "memory", "search", "zeppelin")
    else:
        ran = shell(home, "memory", "search", "zeppelin")
    first, *rest = ran.stdout.split("\n")
    assert first.removesuffix("  strong").removesuffix(" 2026") == "memory/2026-03-14.md:3-4  Sat 14 Mar"
    assert rest[:2] == ["- 10:00 about the zeppelin,", "  over the lake"]
    assert not any("memory/" in line for line in rest), "nothing of the question is in the line beside it"


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


def test_a_program_gets_numbers_and_all_that_is_found(home: Path) -> None:
    found = json.loads(shell(home, "memory", "search", "zeppelin", "--json").stdout)
    assert [(hit["start_line"], hit["score"] > 0) for hit in found] == [(3, True), (5, True)]


def test_a_new_home_has_nothing_to_find(tmp_path: Path) -> None:
    """What is shipped in its files says nothing of anybody."""
    assert shell(tmp_path / "home", "memory", "search", "facts, languages and tools").stdout == "Nothing found.\n"


def test_the_index_can_be_looked_at_and_made_anew(home: Path) -> None:
    before = json.loads(shell(home, "memory", "status", "--json").stdout)
    assert before["stale"] >= 1
    made = json.loads(shell(home, "memory", "index", "--json").stdout)
    assert (made["stale"], made["problems"], made["in_memory"]) == (0, [], False)
    ran = shell(home, "memory", "index", "--force")
    assert ran.stdout.startswith(f"owner: {made['files']} files, {made['passages']} passages") and ran.stderr == ""
    assert shell(home, "memory", "index", "--scope", "nobody").returncode == 2


class Screen(io.StringIO):
    """A terminal, as far as a bar looks at it."""

    def isatty(self) -> bool:
        return True


async def test_a_build_shows_a_bar_after_a_while_and_another_for_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, slept = Screen(), list[tuple[float, str]]()
    monkeypatch.setattr(sys, "stderr", screen)
    told = iter([("files", 5, 2_000), ("files", 1_999, 2_000), ("texts", 0, 30), ("texts", 10, 30)])
    over = asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.append((seconds, screen.getvalue()))

    async def call(operation: str, parameters: Mapping[str, Json]) -> Json:
        assert operation == "memory.progress"
        if (now := next(told, None)) is None:
            over.set()
            return await asyncio.Event().wait()
        return dict(zip(("what", "done", "of"), now, strict=True))

    showing = asyncio.ensure_future(show_progress({}, call, sleep))
    await over.wait()
    showing.cancel()
    assert slept[0] == (0.5, ""), "nothing is shown before that"
    assert "Indexing files" in slept[1][1] and "5/2000" in slept[1][1] and "by meaning" not in slept[1][1]
    assert "Indexing by meaning" in screen.getvalue() and "10/30" in screen.getvalue()


async def test_a_long_embedding_shows_a_bar_of_its_own(home: Path) -> None:
    """The server answers when the bar is there, and no sooner."""
    async with Embeddings(hold=asyncio.Event()).serving() as server:
        assert server.hold is not None
        embedding = f"{{base_url: '{server.base_url}', model: {server.model}, api_key: {server.key}}}"
        (home / "config.yaml").write_text(f"memory: {{search: {{embedding: {embedding}}}}}\n")
        terminal = Terminal(home, "memory", "index")
        try:
            await asyncio.to_thread(terminal.until, "Indexing by meaning")
            server.hold.set()
            await asyncio.to_thread(terminal.until, "passages can also be found by meaning")
        finally:
            terminal.close()
