"""Servers that others wrote, where they are installed: `DAYBOOK_MCP_SERVERS` names folders with their programs.

Not dependencies of Daybook: `pip install mcp-server-time mcp-server-fetch mcp-server-git` into a venv of their own,
`npm install @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem` into a folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.config.capabilities import LocalMcpServer
from gateway.mcp.kept import KeptMcp
from gateway.mcp.servers import ManagedServer, McpServers

FOLDERS = os.environ.get("DAYBOOK_MCP_SERVERS", "")


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[McpServers]:
    async with McpServers(KeptMcp(tmp_path / "mcp")) as servers:
        yield servers


def server(servers: McpServers, program: str, *arguments: str) -> ManagedServer:
    found = shutil.which(program, path=FOLDERS) if FOLDERS else None
    if found is None:
        pytest.skip(f"{program} is not installed")
    return servers.server("other", LocalMcpServer(command=(found, *arguments)))


async def test_time(servers: McpServers) -> None:
    time = server(servers, "mcp-server-time")
    assert "Europe/Berlin" in (await time.call("get_current_time", {"timezone": "Europe/Berlin"})).text
    assert (await time.call("get_current_time", {"zone": "x"})).failed
    assert {one.name: one.reads_only for one in time.tools or ()} == {"get_current_time": True, "convert_time": True}


async def test_fetch(servers: McpServers) -> None:
    fetch = server(servers, "mcp-server-fetch")
    await fetch.start()
    assert [one.name for one in fetch.tools or ()] == ["fetch"]


async def test_git(servers: McpServers, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "repository")], check=True)  # noqa: ASYNC221
    git = server(servers, "mcp-server-git", "--repository", str(tmp_path / "repository"))
    (tmp_path / "repository" / "new.txt").write_text("new")
    assert "new.txt" in (await git.call("git_status", {"repo_path": str(tmp_path / "repository")})).text
    reads = {one.name: one.reads_only for one in git.tools or ()}
    assert reads["git_status"] and not reads["git_commit"]


async def test_filesystem(servers: McpServers, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("hello there")
    files = server(servers, "mcp-server-filesystem", str(folder))
    assert (await files.call("read_text_file", {"path": str(folder / "a.txt")})).text == "hello there"
    assert (await files.call("read_text_file", {"path": "/etc/passwd"})).failed


async def test_everything(servers: McpServers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    everything = server(servers, "mcp-server-everything")
    assert (await everything.call("echo", {"message": "hi"})).text == "Echo: hi"
    assert "canary" not in json.dumps((await everything.call("get-env", {})).text)
    [picture] = (await everything.call("get-tiny-image", {})).files
    assert picture.ending == "png"
    slow = await everything.call("trigger-long-running-operation", {"duration": 2, "steps": 4})
    assert "completed" in slow.text
