"""A hand edits a file in the middle of a write of ours: whatever the moment, its words are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.memory import files
from agent.memory.history import History
from agent.memory.patch import FilePatch
from agent.memory.scope import Scope
from agent.settings import MemorySettings
from agent.tools import build
from agent.tools.base import ToolError
from tests.agent.places import Watch, morning, owner, search

NOTE = "memory/notes/luna.md"
TODAY = "memory/2026-11-21.md"
BEFORE = "- tea at four\n- lives in Kiel\n"


def nobody() -> None:
    """No hand."""


class Late(History):
    """A history in whose writing, which stands between our reading of a file and our writing, a hand is quicker."""

    def __init__(self, file: Path, watch: Watch) -> None:
        super().__init__(file, watch.clock)
        self.hand: Callable[[], None] = nobody

    def begin(self, scope: str, session: str, by: str, edit: FilePatch) -> str:
        id = super().begin(scope, session, by, edit)
        hand, self.hand = self.hand, nobody
        hand()
        return id


@dataclass
class Desk:
    scope: Scope
    history: Late
    watch: Watch

    def __post_init__(self) -> None:
        author = self.history.author(self.scope, "main/owner")
        self._tools = {
            tool.name: tool for tool in build(self.scope, self.watch.clock, MemorySettings(), search, author=author)
        }

    async def call(self, name: str, /, **arguments: str) -> str:
        return (await self._tools[name].run(dict(arguments), "1")).text

    def write(self, path: str, text: str) -> None:
        """As most editors save: a new file in the place of the old one."""
        file = self.scope.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        (file.parent / "editor~").write_text(text)
        (file.parent / "editor~").replace(file)

    def read(self, path: str) -> str:
        return (self.scope.folder / path).read_text()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    watch = morning()
    scope = owner(tmp_path / "workspace")
    scope.folder.mkdir()
    return Desk(scope, Late(tmp_path / "history.db", watch), watch)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_update", {"old_text": "- tea at four", "new_text": "- no tea"}),
        ("edit_file", {"path": "MEMORY.md", "old_text": "- tea at four", "new_text": "- no tea"}),
        ("write_file", {"path": "MEMORY.md", "content": "- no tea\n"}),
    ],
)
async def test_a_conflicting_edit_is_refused_with_the_current_text(
    desk: Desk, tool: str, arguments: dict[str, str]
) -> None:
    desk.write("MEMORY.md", BEFORE)
    await desk.call("memory_get", path="MEMORY.md")
    by_hand = BEFORE.replace("four", "five")
    desk.history.hand = lambda: desk.write("MEMORY.md", by_hand)
    with pytest.raises(ToolError, match="tea at five"):
        await desk.call(tool, **arguments)
    assert desk.read("MEMORY.md") == by_hand
    assert desk.history.changes() == []


async def test_an_edit_beside_the_hands_is_made_in_the_hands_text(desk: Desk) -> None:
    desk.write("MEMORY.md", BEFORE)
    desk.history.hand = lambda: desk.write("MEMORY.md", BEFORE + "- by hand\n")
    await desk.call("memory_update", old_text="- tea at four", new_text="- no tea")
    assert desk.read("MEMORY.md") == "- no tea\n- lives in Kiel\n- by hand\n"
    (change,) = desk.history.changes()
    edits = desk.history.edits(change)
    assert edits is not None and [edit.removed for edit in edits] == [b"- tea at four\n"]


async def test_what_is_added_comes_behind_the_hands_words_on_a_line_of_its_own(desk: Desk) -> None:
    desk.write("MEMORY.md", BEFORE)
    desk.history.hand = lambda: desk.write("MEMORY.md", "- by hand")
    await desk.call("memory_update", old_text="", new_text="- a boat")
    assert desk.read("MEMORY.md") == "- by hand\n- a boat\n"
    desk.write(TODAY, "# 2026-11-21\n\n- 08:00 rain\n")
    desk.history.hand = lambda: desk.write(TODAY, "# 2026-11-21\n\n- 08:00 rain, says the hand")
    await desk.call("memory_append", text="sun")
    assert desk.read(TODAY) == "# 2026-11-21\n\n- 08:00 rain, says the hand\n- 08:30 sun\n"


async def test_a_note_that_a_hand_changes_is_not_deleted(desk: Desk) -> None:
    await desk.call("memory_save", name="Luna", description="the cat", type="user", content="Grey.")
    by_hand = desk.read(NOTE) + "\nLikes fish.\n"
    desk.history.hand = lambda: desk.write(NOTE, by_hand)
    with pytest.raises(ToolError, match=r"(?s)kept.*Likes fish"):
        await desk.call("memory_delete", path=NOTE)
    assert desk.read(NOTE) == by_hand and NOTE in desk.read("MEMORY.md")


async def test_a_note_that_a_hand_changed_since_it_was_seen_is_deleted_only_when_seen_again(desk: Desk) -> None:
    await desk.call("memory_save", name="Luna", description="the cat", type="user", content="Grey.")
    desk.write(NOTE, desk.read(NOTE) + "\nLikes fish.\n")
    with pytest.raises(ToolError, match=r"(?s)not deleted.*Likes fish"):
        await desk.call("memory_delete", path=NOTE)
    assert "Likes fish" in await desk.call("memory_delete", path=NOTE)
    assert not (desk.scope.folder / NOTE).exists()


async def test_a_file_made_by_a_hand_meanwhile_is_not_overwritten(desk: Desk) -> None:
    desk.history.hand = lambda: desk.write("list.md", "by hand\n")
    with pytest.raises(ToolError, match="by hand"):
        await desk.call("write_file", path="list.md", content="mine\n")
    assert desk.read("list.md") == "by hand\n"


def test_between_the_reading_and_the_writing(desk: Desk) -> None:
    desk.write("MEMORY.md", BEFORE)
    seen: list[bytes | None] = []

    def change(before: bytes | None) -> bytes:
        seen.append(before)
        if len(seen) == 1:
            desk.write("MEMORY.md", "- by hand\n")
        return (before or b"") + b"- mine\n"

    files.rewrite(desk.scope.folder / "MEMORY.md", desk.scope.folder, desk.watch.clock.today(), change)
    assert seen == [BEFORE.encode(), b"- by hand\n"] and desk.read("MEMORY.md") == "- by hand\n- mine\n"


def test_a_hand_that_never_stops_is_not_fought(desk: Desk) -> None:
    desk.write("MEMORY.md", BEFORE)
    number = iter(range(1_000))

    def change(before: bytes | None) -> bytes:
        desk.write("MEMORY.md", f"- by hand {'x' * next(number)}\n")
        return b"mine\n"

    with pytest.raises(files.NotWritten, match="another program"):
        files.rewrite(desk.scope.folder / "MEMORY.md", desk.scope.folder, desk.watch.clock.today(), change)
    assert "by hand" in desk.read("MEMORY.md")
