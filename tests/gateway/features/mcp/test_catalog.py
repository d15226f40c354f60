"""Which tools a request has: few, or those that were looked up, never more than it can bear."""

from __future__ import annotations

from pathlib import Path

from agent.memory.scope import Audience
from agent.model.tokens import estimate_tool
from gateway.features.mcp.catalog import MOST_TOKENS, MOST_TOOLS, CatalogEntry, McpCatalog, are_few, fitting, search
from gateway.features.mcp.config import LocalMcpServer
from gateway.features.mcp.kept import CallOutcome, KeptMcp
from gateway.features.mcp.schemas import RemoteTool, remote_tool
from gateway.features.mcp.servers import McpServers
from tests.fakes.mcp_server import TEXT

CONFIG = LocalMcpServer(command=("x",))


def tool(name: str, about: str = "Does something.") -> RemoteTool:
    return remote_tool(name, about, TEXT, reads_only=True)


def entries(folder: Path, tools: list[RemoteTool], config: LocalMcpServer = CONFIG) -> tuple[CatalogEntry, ...]:
    kept = KeptMcp(folder)
    servers = McpServers(kept)
    server = servers.server("s", config)
    kept.keep_tools(server.key, tuple(tools))
    again = McpServers(kept)
    return McpCatalog(again, {"main": {"s": config}}).entries("main", Audience.OWNER)


def test_few_are_those_that_fit_into_every_request(tmp_path: Path) -> None:
    assert are_few(entries(tmp_path, [tool(f"t{number}") for number in range(10)]))
    assert not are_few(entries(tmp_path, [tool(f"t{number}", "word " * 100) for number in range(20)]))
    assert not are_few(entries(tmp_path, [tool(f"t{number}") for number in range(MOST_TOOLS + 1)]))


def test_what_was_looked_up_stays_within_a_request(tmp_path: Path) -> None:
    found = entries(tmp_path, [tool(f"t{number}", "word " * 150) for number in range(100)])
    chosen = fitting(found, [one.name for one in found], 100)
    sizes = [estimate_tool(one.spec) for one in found if one.name in chosen]
    assert 0 < len(chosen) < MOST_TOOLS and 100 + sum(sizes) <= MOST_TOKENS
    small = entries(tmp_path, [tool(f"t{number}", "") for number in range(100)])
    assert len(fitting(small, [one.name for one in small], 0)) == MOST_TOOLS - 1


def test_the_newest_comes_first_and_what_is_gone_is_left_out(tmp_path: Path) -> None:
    found = entries(tmp_path, [tool("a"), tool("b")])
    assert fitting(found, ["s__gone", "s__b"], 0) == {"s__b"}


def test_a_search_finds_by_name_and_by_description(tmp_path: Path) -> None:
    found = entries(tmp_path, [tool("git_log", "Shows the commit history."), tool("weather", "Forecast for a place.")])
    assert [one.name for one in search(found, "history of commits")] == ["s__git_log"]
    assert search(found, "s__weather")[0].name == "s__weather"
    assert search(found, "zzz") == []


def test_only_the_wanted_tools_for_the_named_audiences(tmp_path: Path) -> None:
    config = LocalMcpServer(command=("x",), tools=("a",), scopes=("people",))
    kept = KeptMcp(tmp_path)
    kept.keep_tools(McpServers(kept).server("s", config).key, (tool("a"), tool("b")))
    catalog = McpCatalog(McpServers(kept), {"main": {"s": config}})
    assert [one.name for one in catalog.entries("main", Audience.PERSON)] == ["s__a"]
    assert catalog.entries("main", Audience.OWNER) == () == catalog.entries("main", Audience.GROUP)
    assert catalog.entries("other", Audience.PERSON) == ()


def test_names_that_become_one_are_offered_once(tmp_path: Path) -> None:
    assert [one.name for one in entries(tmp_path, [tool("a b"), tool("a/b")])] == ["s__a_b"]


def test_kept_files_that_cannot_be_read_count_as_missing(tmp_path: Path) -> None:
    kept = KeptMcp(tmp_path)
    server = McpServers(kept).server("s", CONFIG)
    kept.keep_tools(server.key, (tool("a"),))
    kept.begin("one")
    for file in tmp_path.rglob("*.json"):
        file.write_text("{ torn")
    assert McpServers(kept).server("s", CONFIG).tools is None
    outcome = kept.begin("one")
    assert outcome is not None and not outcome.is_done, "a call whose note is torn is never made again"


def test_calls_are_forgotten_after_a_month(tmp_path: Path) -> None:
    kept = KeptMcp(tmp_path)
    assert kept.begin("one") is None
    kept.finish("one", CallOutcome(True, "done"))
    [file] = (tmp_path / "calls").iterdir()
    kept.forget_old_calls(file.stat().st_mtime + 29 * 86_400)
    assert kept.outcome("one") is not None
    kept.forget_old_calls(file.stat().st_mtime + 31 * 86_400)
    assert kept.outcome("one") is None


def test_another_key_is_another_server(tmp_path: Path) -> None:
    servers = McpServers(KeptMcp(tmp_path))

    def server(key: str) -> object:
        return servers.server("s", LocalMcpServer.model_validate({"command": ["x"], "env": {"KEY": key}}))

    assert server("one") is server("one") and server("one") is not server("two")
