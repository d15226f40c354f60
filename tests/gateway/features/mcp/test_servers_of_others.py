"""Servers that others wrote, as `make test-all` installs them: those in Python beside Daybook, those in JavaScript in
`.venv/node`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.features.mcp.config import LocalMcpServer
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.servers import ManagedServer, McpServers

BIN = Path(sys.executable).parent
NODE = BIN.parent / "node" / "node_modules" / ".bin"

pytestmark = pytest.mark.full


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[McpServers]:
    async with McpServers(KeptMcp(tmp_path / "mcp")) as servers:
        yield servers


def in_python(servers: McpServers, program: str, *arguments: str) -> ManagedServer:
    if not (BIN / program).exists():
        pytest.skip("needs servers of others: make .venv/test-all")
    return servers.server("other", LocalMcpServer(command=(str(BIN / program), *arguments)))


def in_javascript(servers: McpServers, program: str, *arguments: str) -> ManagedServer:
    if shutil.which("npm") is None:
        pytest.skip("needs Node.js's npm: apt-get install npm")
    if not (NODE / program).exists():
        pytest.skip("needs servers of others: make .venv/test-all")
    return servers.server("other", LocalMcpServer(command=(str(NODE / program), *arguments)))


async def test_time(servers: McpServers) -> None:
    time = in_python(servers, "mcp-server-time")
    assert "Europe/Berlin" in (await time.call("get_current_time", {"timezone": "Europe/Berlin"})).text
    assert (await time.call("get_current_time", {"zone": "x"})).failed
    assert {one.name: one.reads_only for one in time.tools or ()} == {"get_current_time": True, "convert_time": True}


async def test_fetch(servers: McpServers) -> None:
    fetch = in_python(servers, "mcp-server-fetch")
    await fetch.start()
    assert [one.name for one in fetch.tools or ()] == ["fetch"]


async def test_git(servers: McpServers, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "repository")], check=True)  # noqa: ASYNC221
    git = in_python(servers, "mcp-server-git", "--repository", str(tmp_path / "repository"))
    (tmp_path / "repository" / "new.txt").write_text("new")
    assert "new.txt" in (await git.call("git_status", {"repo_path": str(tmp_path / "repository")})).text
    reads = {one.name: one.reads_only for one in git.tools or ()}
    assert reads["git_status"] and not reads["git_commit"]


async def test_filesystem(servers: McpServers, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("hello there")
    files = in_javascript(servers, "mcp-server-filesystem", str(folder))
    assert (await files.call("read_text_file", {"path": str(folder / "a.txt")})).text == "hello there"
    assert (await files.call("read_text_file", {"path": "/etc/passwd"})).failed


async def test_everything(servers: McpServers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    everything = in_javascript(servers, "mcp-server-everything")
    assert (await everything.call("echo", {"message": "hi"})).text == "Echo: hi"
    assert "canary" not in json.dumps((await everything.call("get-env", {})).text)
    [picture] = (await everything.call("get-tiny-image", {})).files
    assert picture.ending == "png"
    slow = await everything.call("trigger-long-running-operation", {"duration": 2, "steps": 4})
    assert "completed" in slow.text
