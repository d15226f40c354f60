"""Servers at an address: keys, sessions, and answers without end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.formats.network import BadEnvironment
from gateway.features.mcp.config import RemoteMcpServer
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.remote import LimitingTransport, http_client
from gateway.features.mcp.servers import ManagedServer, McpServers
from gateway.features.mcp.values import McpFailure, RemoteLaunch
from tests.fakes.mcp_http import KEY, FakeMcpHttp


@pytest.fixture
async def http() -> AsyncIterator[FakeMcpHttp]:
    async with FakeMcpHttp() as fake:
        yield fake


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[McpServers]:
    async with McpServers(KeptMcp(tmp_path / "mcp")) as servers:
        yield servers


def remote(servers: McpServers, url: str, key: str = KEY, timeout: float = 30) -> ManagedServer:
    config = {"url": url, "headers": {"Authorization": key}, "timeout_s": timeout}
    return servers.server("far", RemoteMcpServer.model_validate(config))


async def test_its_tools_are_called_with_its_key(http: FakeMcpHttp, servers: McpServers) -> None:
    server = remote(servers, http.url)
    assert (await server.call("look", {"text": "it"})).text == "Found it far away"
    assert [one.name for one in server.tools or ()] == ["look", "flood", "bomb", "drop"]
    assert len(http.sessions) == 1


async def test_odd_tools_are_offered_beside_the_others_or_left_out(http: FakeMcpHttp, servers: McpServers) -> None:
    http.listed = [{"name": "bare", "outputSchema": []}, {"title": "no name"}]
    server = remote(servers, http.url)
    assert (await server.call("look", {"text": "it"})).text == "Found it far away"
    assert [one.name for one in server.tools or ()] == ["bare", "look", "flood", "bomb", "drop"]


async def test_its_session_ends_with_us(http: FakeMcpHttp, tmp_path: Path) -> None:
    async with McpServers(KeptMcp(tmp_path / "mcp")) as servers:
        await remote(servers, http.url).start()
        assert len(http.sessions) == 1
    assert http.sessions == set()


async def test_a_wrong_key_is_said_and_not_shown(http: FakeMcpHttp, servers: McpServers) -> None:
    with pytest.raises(McpFailure, match=r"wants to know who is there \(401\)") as caught:
        await remote(servers, http.url, "Bearer wrong-key").start()
    assert "wrong-key" not in str(caught.value)
    assert "key-0123456789" not in repr(remote(servers, http.url).launch)


@pytest.mark.parametrize(
    ("path", "says"), [("/nothing", r"is not at that address \(404\)"), ("", r"is not at that address \(404\)")]
)
async def test_a_wrong_address_is_said(http: FakeMcpHttp, servers: McpServers, path: str, says: str) -> None:
    with pytest.raises(McpFailure, match=says):
        await remote(servers, f"{http.base_url}{path}").start()


async def test_nobody_at_the_address(servers: McpServers) -> None:
    with pytest.raises(McpFailure, match=r"can't be reached|it ended"):
        await remote(servers, "http://127.0.0.1:9/mcp").start()


async def test_a_key_does_not_follow_a_redirect_elsewhere(http: FakeMcpHttp, servers: McpServers) -> None:
    async with FakeMcpHttp() as other:
        http.elsewhere = other.url
        with pytest.raises(McpFailure):
            await remote(servers, http.url).start()
        assert other.sessions == set()


@pytest.mark.parametrize("tool", ["flood", "bomb", "drop"])
async def test_an_answer_that_is_none_ends_the_connection_and_the_next_call_has_another(
    http: FakeMcpHttp, servers: McpServers, tool: str
) -> None:
    server = remote(servers, http.url)
    with pytest.raises(McpFailure, match="may or may not have taken effect"):
        await server.call(tool, {})
    assert (await server.call("look", {"text": "it"})).text == "Found it far away"
    assert http.calls == [tool, "look"]


async def test_a_forgotten_session_is_begun_again_without_a_word(http: FakeMcpHttp, servers: McpServers) -> None:
    server = remote(servers, http.url)
    await server.start()
    http.sessions.clear()
    assert (await server.call("look", {"text": "it"})).text == "Found it far away"
    assert http.calls == ["look"]


async def test_its_own_words_for_an_error_are_told(http: FakeMcpHttp, servers: McpServers) -> None:
    with pytest.raises(McpFailure, match="far refused the call") as caught:
        await remote(servers, http.url).call("nothing", {})
    assert caught.value.said == "Unknown tool: nothing"


def test_certificates_that_are_gone_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone"))
    with pytest.raises(BadEnvironment, match="SSL_CERT_FILE"):
        http_client(RemoteLaunch("https://elsewhere.invalid", {}), LimitingTransport())
