"""Imports through a running gateway."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.model.base import Json
from gateway.rpc.protocol import OperationError
from tests.gateway.conftest import Daybook, Running


@pytest.fixture
async def gateway(daybook: Daybook) -> AsyncIterator[Running]:
    async with daybook.running() as running:
        yield running


def tree(daybook: Daybook) -> dict[str, bytes]:
    files = (one for one in daybook.workspace.rglob("*") if one.is_file())
    return {one.relative_to(daybook.workspace).as_posix(): one.read_bytes() for one in files}


async def bring(gateway: Running, kind: str, path: Path, **more: Json) -> dict[str, Any]:
    value = await gateway.ask("import.run", kind=kind, path=str(path), **more)
    assert isinstance(value, dict)
    return value


async def refused(gateway: Running, kind: str, path: Path) -> str:
    with pytest.raises(OperationError) as failure:
        await bring(gateway, kind, path)
    text = str(failure.value)
    assert text.endswith((".", "`.")) and "Traceback" not in text
    return text


def until_there(file: Path) -> None:
    while not file.exists():
        time.sleep(0.001)
