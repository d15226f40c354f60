"""Opens the configured servers with a gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from gateway.features.mcp.catalog import McpCatalog
from gateway.features.mcp.config import WithMcp
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.login_flow import McpLogins
from gateway.features.mcp.login_requests import LoginRequests
from gateway.features.mcp.operations import McpOperations
from gateway.features.mcp.servers import McpServers
from gateway.features.mcp.tools import McpTools
from gateway.kernel import FeatureParts, Kernel


@asynccontextmanager
async def opened(kernel: Kernel) -> AsyncIterator[FeatureParts]:
    home, config, clock = kernel.home, kernel.config, kernel.clock
    agents = {name: WithMcp.of(agent.tools).mcp for name, agent in config.agents.items()}
    kept = await asyncio.to_thread(KeptMcp, home.mcp)
    servers = McpServers(kept, secrets=kernel.secrets)
    catalog = await asyncio.to_thread(McpCatalog, servers, agents)
    logins = McpLogins(servers, kernel.page)
    requests = LoginRequests(logins, kernel.database, clock, kernel.outbox, kernel.reports, servers.run)
    tools = McpTools(kernel, catalog, kept, requests)
    async with AsyncExitStack() as stack:
        if any(agents.values()):
            await stack.enter_async_context(servers)
            await asyncio.to_thread(kept.forget_old_calls, clock.now().timestamp())
            servers.learn()
        yield FeatureParts(McpOperations(catalog, logins, config.default_agent).table(), tools=[tools])
