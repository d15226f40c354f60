"""Opens the configured servers with a gateway."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from gateway.features.mcp.catalog import McpCatalog
from gateway.features.mcp.config import WithMcp
from gateway.features.mcp.kept import KeptMcp
from gateway.features.mcp.login_flow import McpLogins
from gateway.features.mcp.operations import McpOperations
from gateway.features.mcp.servers import McpServers
from gateway.kernel import FeatureParts, Kernel


async def opened(kernel: Kernel, stack: AsyncExitStack) -> FeatureParts:
    home, config, clock = kernel.home, kernel.config, kernel.clock
    agents = {name: WithMcp.of(agent.tools).mcp for name, agent in config.agents.items()}
    kept = await asyncio.to_thread(KeptMcp, home.mcp)
    servers = McpServers(kept, secrets=kernel.secrets)
    catalog = await asyncio.to_thread(McpCatalog, servers, agents)
    logins = McpLogins(servers, kernel.page)
    operations = McpOperations(catalog, logins, config.default_agent).table()
    if not any(agents.values()):
        return FeatureParts(operations)
    from gateway.features.mcp.login_requests import LoginRequests  # noqa: PLC0415 (only where there is a server)
    from gateway.features.mcp.tools import McpTools  # noqa: PLC0415 (the same)

    requests = LoginRequests(logins, kernel.database, clock, kernel.outbox, kernel.reports, servers.run)
    await stack.enter_async_context(servers)
    await asyncio.to_thread(kept.forget_old_calls, clock.now().timestamp())
    servers.learn()
    return FeatureParts(operations, tools=[McpTools(kernel, catalog, kept, requests)])
