"""The files of memory for people: what the page's Memory view may read and write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.model.base import Json
from gateway.rpc.protocol import OperationError
from tests.gateway.conftest import Daybook, Running


@pytest.fixture
async def gateway(daybook: Daybook) -> AsyncIterator[Running]:
    folder = daybook.workspace / "memory"
    folder.mkdir(parents=True)
    (daybook.workspace / "MEMORY.md").write_text("# Memory\n\n- The boat is called Luna\n")
    (folder / "2026-11-20.md").write_text("# 2026-11-20\n\n- 09:00 Tea\n")
    async with daybook.running() as running:
        yield running


async def call(gateway: Running, operation: str, **parameters: Json) -> Json:
    return await gateway.gateway.operations[operation](parameters)


async def test_a_folder_lists_folders_first_and_nothing_of_the_machinery(gateway: Running) -> None:
    listed = await call(gateway, "memory.folder")
    assert isinstance(listed, dict)
    names = [entry["name"] for entry in listed["entries"]]
    assert names[0] == "memory" and "MEMORY.md" in names and "state" not in names
    below = await call(gateway, "memory.folder", path="memory")
    assert isinstance(below, dict)
    assert [entry["path"] for entry in below["entries"]] == ["memory/2026-11-20.md"]


async def test_what_is_written_is_in_the_file_and_in_the_history(gateway: Running, daybook: Daybook) -> None:
    read = await call(gateway, "memory.read", path="MEMORY.md")
    assert isinstance(read, dict)
    written = await call(
        gateway, "memory.write", path="MEMORY.md", text=f"{read['text']}- Tea at four\r\n", hash=read["hash"]
    )
    assert isinstance(written, dict) and written["saved"]
    assert (daybook.workspace / "MEMORY.md").read_text() == "# Memory\n\n- The boat is called Luna\n- Tea at four\n"
    (change, *_) = await call(gateway, "memory.log", n=1)
    assert (change["path"], change["by"]) == ("MEMORY.md", "page")
    await call(gateway, "memory.restore", id=change["id"])
    assert "Tea at four" not in (daybook.workspace / "MEMORY.md").read_text()


async def test_of_two_editors_the_second_sees_what_the_first_wrote(gateway: Running, daybook: Daybook) -> None:
    read = await call(gateway, "memory.read", path="MEMORY.md")
    assert isinstance(read, dict)
    await call(gateway, "memory.write", path="MEMORY.md", text="first\n", hash=read["hash"])
    refused = await call(gateway, "memory.write", path="MEMORY.md", text="second\n", hash=read["hash"])
    assert isinstance(refused, dict) and not refused["saved"] and refused["text"] == "first\n"
    assert (daybook.workspace / "MEMORY.md").read_text() == "first\n"
    again = await call(gateway, "memory.write", path="MEMORY.md", text="first\nsecond\n", hash=refused["hash"])
    assert isinstance(again, dict) and again["saved"]
    same = await call(gateway, "memory.write", path="MEMORY.md", text="first\nsecond\n", hash="old")
    assert isinstance(same, dict) and same["saved"], "a form that is posted twice"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../config.yaml", "'..'"),
        ("/etc/passwd", "not relative"),
        ("memory/2026-11-20.md", "never changed"),
        ("memory\\x.md", "not relative"),
        ("", "missing"),
    ],
)
async def test_what_may_not_be_written_is_refused_in_a_sentence(gateway: Running, path: str, why: str) -> None:
    with pytest.raises(OperationError, match=why):
        await call(gateway, "memory.write", path=path, text="x", hash="")


async def test_a_file_that_is_not_there_and_one_that_leads_out(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    (daybook.workspace / "link.md").symlink_to(tmp_path / "secret")
    for path in ("nothing.md", "link.md"):
        with pytest.raises(OperationError):
            await call(gateway, "memory.read", path=path)


async def test_what_the_model_sees_adds_up(gateway: Running) -> None:
    seen = await call(gateway, "memory.context")
    assert isinstance(seen, dict)
    assert sum(part["tokens"] for part in seen["parts"]) >= seen["used"] - 5
    assert {"tools", "conversation"} <= {part["name"] for part in seen["parts"]}
