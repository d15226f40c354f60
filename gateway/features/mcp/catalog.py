"""The tools of servers that a conversation is offered: all while they are few, else those that it has looked up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.memory.scope import Audience
from agent.model.base import ToolSpec
from agent.model.tokens import estimate_tool
from gateway.features.mcp.config import LocalMcpServer, RemoteMcpServer
from gateway.features.mcp.schemas import RemoteTool
from gateway.features.mcp.servers import ManagedServer, McpServers

FEW_TOKENS = 600
"""Tokens of schemas that every request may have: with all other tools on, the fixed part then has less than 4,000."""
MOST_TOKENS = 8_000
MOST_TOOLS = 64
_MOST_FOUND = 8
_WORD = re.compile(r"\w+")
_AUDIENCES = {Audience.OWNER: "owner", Audience.PERSON: "people", Audience.GROUP: "groups"}

ServerConfig = LocalMcpServer | RemoteMcpServer


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    server: ManagedServer
    config: ServerConfig
    tool: RemoteTool
    spec: ToolSpec

    @property
    def name(self) -> str:
        return self.spec.name


class McpCatalog:
    """The tools of each agent's servers. Making one blocks."""

    def __init__(self, servers: McpServers, agents: Mapping[str, Mapping[str, ServerConfig]]) -> None:
        self._agents = {
            agent: [(servers.server(name, config), config) for name, config in configured.items()]
            for agent, configured in agents.items()
        }

    def servers(self) -> tuple[tuple[str, ManagedServer], ...]:
        """All servers, each with its agent."""
        return tuple((agent, server) for agent, known in self._agents.items() for server, _ in known)

    def locked(self, agent: str, audience: Audience) -> tuple[ManagedServer, ...]:
        """The servers for this audience whose tools are not known before the owner logs in."""
        return tuple(
            server
            for server, config in self._agents.get(agent, ())
            if _AUDIENCES[audience] in config.scopes
            if server.tools is None and server.login is not None and server.login.is_needed
        )

    def entries(self, agent: str, audience: Audience) -> tuple[CatalogEntry, ...]:
        """The tools that this audience may use, each with a name of its own."""
        found: dict[str, CatalogEntry] = {}
        for server, config in self._agents.get(agent, ()):
            if _AUDIENCES[audience] not in config.scopes:
                continue
            for tool in server.tools or ():
                if not config.tools or tool.name in config.tools:
                    entry = CatalogEntry(server, config, tool, tool.spec(server.name))
                    found.setdefault(entry.name, entry)
        return tuple(found.values())


def are_few(entries: Sequence[CatalogEntry]) -> bool:
    return len(entries) <= MOST_TOOLS and sum(estimate_tool(entry.spec) for entry in entries) <= FEW_TOKENS


def fitting(entries: Iterable[CatalogEntry], wanted: Sequence[str], taken: int) -> frozenset[str]:
    """The names of `wanted`, in order, that fit into a request where `taken` tokens are taken."""
    by_name = {entry.name: entry for entry in entries}
    chosen: list[str] = []
    for name in wanted:
        if (entry := by_name.get(name)) is None or len(chosen) >= MOST_TOOLS - 1:
            continue
        size = estimate_tool(entry.spec)
        if taken + size <= MOST_TOKENS:
            chosen.append(name)
            taken += size
    return frozenset(chosen)


def search(entries: Sequence[CatalogEntry], query: str) -> list[CatalogEntry]:
    """The tools that share most words with the query, best first."""
    words = {word.casefold() for word in _WORD.findall(query)}
    counted = [(_score(entry, words), -at, entry) for at, entry in enumerate(entries)]
    best = sorted((found for found in counted if found[0]), key=lambda found: found[:2], reverse=True)
    return [entry for _, _, entry in best[:_MOST_FOUND]]


def _score(entry: CatalogEntry, words: set[str]) -> int:
    if entry.name.casefold() in words:
        return 100
    name = {part for word in _WORD.findall(entry.name.casefold()) for part in (word, *word.split("_"))}
    about = {word.casefold() for word in _WORD.findall(entry.spec.description)}
    loose = sum(len(word) > 3 and any(word in own for own in (*name, *about)) for word in words - name - about)
    return 3 * len(words & name) + 2 * len(words & about) + loose
