"""Whatever a file of the workspace is, a message is answered, and the model reads what is wrong with it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.memory.files import MAX_BYTES
from tests.gateway.conftest import Daybook

FILES = (
    *("AGENTS.md", "CLAUDE.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "USER.md", "MEMORY.md", "HEARTBEAT.md"),
    *("HISTORY.md", "schedule.yaml", "memory/2026-11-20.md", "memory/2026-11-21.md", "skills/one/SKILL.md"),
)


def _to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def _to_each_other(path: Path) -> None:
    path.symlink_to(f"{path.name}.other")
    path.with_name(f"{path.name}.other").symlink_to(path.name)


def _through_itself(path: Path) -> None:
    path.symlink_to(f"{path.name}/below")


def _to_nothing(path: Path) -> None:
    path.symlink_to("nothing")


def _enormous(path: Path) -> None:
    path.touch()
    os.truncate(path, MAX_BYTES * 1_000)


def _unreadable(path: Path) -> None:
    path.write_text("Be kind.")
    path.chmod(0)


KINDS: dict[str, Callable[[Path], object]] = {
    "linked to itself": _to_itself,
    "linked in a ring": _to_each_other,
    "linked through itself": _through_itself,
    "linked to nothing": _to_nothing,
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "enormous": _enormous,
    "unreadable": _unreadable,
    "not UTF-8": lambda path: path.write_bytes(b"\xff\xfe\x00B\xc3("),
    "binary": lambda path: path.write_bytes(bytes(range(256))),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_every_file_may_be_odd(daybook: Daybook, kind: str) -> None:
    daybook.model.then("Hello.", "Hello again.")
    async with daybook.running():
        daybook.chat.say("Hi")
        async with asyncio.timeout(60):
            await daybook.chat.wait_heard()
    for name in FILES:
        path = daybook.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        KINDS[kind](path)
    async with daybook.running():
        daybook.chat.say("Hi again")
        async with asyncio.timeout(60):
            await daybook.chat.wait_until(lambda: "Hello again." in daybook.chat.heard())
    if kind not in ("unreadable", "linked to nothing"):  # who runs this may read all
        assert "SOUL.md" in str(daybook.model.requests[-1].system)
