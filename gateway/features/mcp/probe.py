"""Starts or reaches one server, for the doctor and the command line."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.config.capabilities import LocalMcpServer, RemoteMcpServer
from gateway.features.mcp.errors import McpFailure
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.schemas import RemoteTool
from gateway.features.mcp.servers import McpServers


@dataclass(frozen=True, slots=True)
class ServerProbe:
    server: str
    """Its own name and version."""
    protocol: str
    tools: tuple[RemoteTool, ...]
    failure: str = ""
    needs_login: bool = False
    said: tuple[str, ...] = ()
    """Its last lines on stderr."""


async def probe(name: str, config: LocalMcpServer | RemoteMcpServer, kept: KeptMcp) -> ServerProbe:
    """Keeps the list of its tools, too."""
    async with McpServers(kept) as servers:
        server = servers.server(name, config)
        try:
            connection = await server.start()
        except McpFailure as failure:
            return ServerProbe("", "", (), str(failure), failure.needs_login, tuple(server.said))
        return ServerProbe(connection.server, connection.protocol, server.tools or ())
