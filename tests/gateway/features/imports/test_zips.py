"""Workspaces in zips: they come as their folders do, and a zip that lies is refused in a sentence."""

from __future__ import annotations

import os
import shutil
import warnings
import zipfile
from pathlib import Path

import pytest

from gateway.features.imports import values
from tests.gateway.conftest import Daybook, Running
from tests.gateway.features.imports.conftest import bring, refused, tree
from tests.gateway.features.imports.made import jsonl, oc_header, oc_message, openclaw, openclaw_home, zipped


def appended(path: Path, name: str, data: bytes | str = "x", mode: int = 0) -> Path:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")  # two files of one name
        archive.writestr(info, data)
    return path


@pytest.mark.parametrize("top", ["", "openclaw/", ".openclaw/", "backup/of/.openclaw/"])
async def test_a_zipped_home_comes_as_its_folder(gateway: Running, daybook: Daybook, tmp_path: Path, top: str) -> None:
    home = openclaw_home(tmp_path / "theirs")
    planned = await bring(gateway, "openclaw", home, dry_run=True)
    path = zipped(home, tmp_path / "theirs.zip", top)
    if top == "openclaw/":
        appended(path, "__MACOSX/openclaw/._workspace")
    report = await bring(gateway, "openclaw", path)
    assert report["files"] == planned["files"] and report["skipped"] == [] and report["source"] == "theirs.zip"
    assert (report["conversations"], report["messages"]) == (1, 2)
    assert "Mia is my daughter" in (daybook.workspace / "MEMORY.md").read_text()
    assert (daybook.workspace / "skills/pdf/run.py").read_text() == "print(1)\n"
    assert (await bring(gateway, "openclaw", home))["files"] == [], "the folder brings nothing more"


async def test_zips_of_nanobot_and_of_notes_come_too(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    bot = tmp_path / "nanobot"
    (bot / "memory").mkdir(parents=True)
    (bot / "memory/MEMORY.md").write_text("- Tea at four\n")
    said = {"role": "user", "content": "Hello there", "timestamp": "2026-01-02T10:00:00"}
    jsonl(bot / "sessions/cli_direct.jsonl", {"_type": "metadata", "key": "cli:direct"}, said)
    report = await bring(gateway, "nanobot", zipped(bot, tmp_path / "bot.zip", "workspace/"))
    assert report["messages"] == 1 and "Tea at four" in (daybook.workspace / "MEMORY.md").read_text()
    vault = tmp_path / "v"
    vault.mkdir()
    (vault / "Beds.md").write_text("Beans\n")
    report = await bring(gateway, "text", zipped(vault, tmp_path / "My Vault.zip", "v/"))
    assert [one["path"] for one in report["files"]] == ["memory/notes/my-vault/Beds.md"]


async def test_links_in_a_zip_are_named_and_nothing_is_followed(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    path = zipped(openclaw(tmp_path / "oc"), tmp_path / "oc.zip")
    appended(path, "memory/out.md", "/etc/passwd", 0o120777)
    appended(path, "memory/pipe.md", "", 0o010644)
    appended(path, ".git/config.md", "hidden")
    appended(path, f"{'deep/' * 60}x.md", "deep")
    report = await bring(gateway, "openclaw", path)
    assert [f"{one['what']} {one['why']}" for one in report["skipped"]] == [
        "memory/out.md is a link, which is not followed",
        "memory/pipe.md is not a regular file",
        f"{'deep/' * 60}x.md lies too deep",
    ]
    assert not any(b"root:" in data or data == b"hidden" for data in tree(daybook).values())


@pytest.mark.parametrize("name", ["../MEMORY.md", "/MEMORY.md", "memory/../../x.md", "..\\x.md", "C:\\x.md", "c:x.md"])
async def test_names_that_lead_out_are_refused(gateway: Running, daybook: Daybook, tmp_path: Path, name: str) -> None:
    before = tree(daybook)
    path = appended(zipped(openclaw(tmp_path / "oc"), tmp_path / "oc.zip"), name)
    assert "leads out of it" in await refused(gateway, "openclaw", path)
    assert tree(daybook) == before


async def test_a_name_with_a_colon_leads_nowhere(gateway: Running, tmp_path: Path) -> None:
    path = appended(zipped(openclaw(tmp_path / "oc"), tmp_path / "oc.zip"), "memory/10:30 tea.md")
    assert "memory/10:30 tea.md" in [one["path"] for one in (await bring(gateway, "openclaw", path))["files"]]


async def test_zips_that_lie_are_refused_and_leave_nothing(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    before = tree(daybook)
    whole = zipped(openclaw(tmp_path / "oc"), tmp_path / "oc.zip").read_bytes()
    path = tmp_path / "lies.zip"

    path.write_bytes(whole)
    assert "two files named SOUL.md" in await refused(gateway, "openclaw", appended(path, "SOUL.md", "Be cruel."))
    path.write_bytes(whole)
    assert "two files named memory/x.md" in await refused(
        gateway, "openclaw", appended(appended(path, "memory/x.md"), "memory\\./x.md")
    )

    path.write_bytes(whole)
    bomb = appended(path, "agents/main/sessions/b.jsonl", b" " * 60_000_000)
    assert "unpacks to far more" in await refused(gateway, "openclaw", bomb)

    for end in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:end])
        text = await refused(gateway, "openclaw", path)
        assert "damaged" in text or "is empty" in text
    broken = bytearray(whole)
    broken[60:90] = bytes(30)
    path.write_bytes(broken)
    assert "damaged" in await refused(gateway, "openclaw", path)

    at = whole.index(b"PK\x01\x02")
    locked = bytearray(whole)
    locked[at + 8] |= 1
    path.write_bytes(locked)
    assert "password" in await refused(gateway, "openclaw", path)
    packed = bytearray(whole)
    packed[at + 10] = 99
    path.write_bytes(packed)
    assert "packed in a way" in await refused(gateway, "openclaw", path)
    smaller = bytearray(whole)
    size = int.from_bytes(smaller[at + 24 : at + 28], "little")
    smaller[at + 24 : at + 28] = (size - 5).to_bytes(4, "little")
    path.write_bytes(smaller)
    assert "damaged" in await refused(gateway, "openclaw", path)
    assert tree(daybook) == before


@pytest.mark.full
async def test_many_small_bombs_are_one(
    gateway: Running, daybook: Daybook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is below what is suspicious alone, and all have the same bytes, of which nothing would be written."""
    path = zipped(openclaw(tmp_path / "oc"), tmp_path / "oc.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(120):
            archive.writestr(f"memory/{number}.md", b"\n" * 9_000_000)
    assert path.stat().st_size < 6_000_000
    before = tree(daybook)
    assert "unpacks to more than 1,000 MB" in await refused(gateway, "openclaw", path)
    assert tree(daybook) == before and values.MOST_BYTES == 1_000_000_000


async def test_names_that_differ_only_by_capitals_lose_nothing(
    gateway: Running, daybook: Daybook, tmp_path: Path
) -> None:
    path = zipped(openclaw(tmp_path / "oc"), tmp_path / "oc.zip")
    for name in ("memory/Tea.md", "memory/tea.md", "memory.md", "skills/pdf/RUN.py"):
        appended(path, name, f"- of {name}\n")
    report = await bring(gateway, "openclaw", path)
    text = "".join(data.decode() for name, data in tree(daybook).items() if name.startswith("memory/"))
    assert "of memory/Tea.md" in text and "of memory/tea.md" in text
    memory = (daybook.workspace / "MEMORY.md").read_text()
    assert "Mia is my daughter" in memory and "- of memory.md" in memory and memory.count("## From OpenClaw") == 1
    assert [one["what"] for one in report["skipped"]] == ["skills/pdf"]
    assert (await bring(gateway, "openclaw", path))["files"] == []


async def test_what_is_no_workspace_is_told_in_a_sentence(gateway: Running, tmp_path: Path) -> None:
    empty = zipped(tmp_path / "none", tmp_path / "empty.zip")
    assert "is no workspace" in await refused(gateway, "openclaw", empty)
    (tmp_path / "fake.zip").write_text("hello")
    assert "damaged" in await refused(gateway, "openclaw", tmp_path / "fake.zip")
    path = zipped(openclaw(tmp_path / "oc"), tmp_path / "oc.zip")
    assert f"`daybook import openclaw {path}" in await refused(gateway, "nanobot", path)
    shutil.copy(path, tmp_path / "oc.tar")
    assert (await bring(gateway, "openclaw", tmp_path / "oc.tar", dry_run=True))["files"], "by its bytes, not its name"


@pytest.mark.skipif(os.name != "posix", reason="pipes")
async def test_a_pipe_is_not_waited_for(gateway: Running, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    for kind in ("openclaw", "text", "claude"):
        assert "not a" in await refused(gateway, kind, tmp_path / "pipe.zip")


async def test_a_session_in_a_zip_is_read_line_by_line(gateway: Running, daybook: Daybook, tmp_path: Path) -> None:
    home = openclaw_home(tmp_path / "theirs")
    lines = [oc_message("toolResult", "x" * 50_000, f"2026-02-09T08:{n // 60:02}:{n % 60:02}.000Z") for n in range(200)]
    said = oc_message("user", "At the end of ten megabytes", "2026-02-09T10:00:00.000Z")
    jsonl(home / "agents/main/sessions/big.jsonl", oc_header("big", "2026-02-09T08:00:00.000Z"), *lines, said)
    path = tmp_path / "theirs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in home.rglob("*.*"):
            archive.write(file, file.relative_to(home))
    report = await bring(gateway, "openclaw", path)
    assert report["conversations"] == 2
    assert "ten megabytes" in (daybook.workspace / "memory/imported/openclaw/2026-02-09.md").read_text()
