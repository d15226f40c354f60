"""What every request has is small, also with every tool on."""

from __future__ import annotations

from agent.model.tokens import estimate, estimate_tools
from gateway.features.mcp.catalog import FEW_TOKENS
from tests.gateway.conftest import Daybook
from tests.gateway.tools.approving import Owner


async def test_the_fixed_part_with_all_tools_has_at_most_4000_tokens(daybook: Daybook) -> None:
    server = "http://127.0.0.1:9/v1"
    daybook.settings["tools"] = {"exec": True, "web_search": {"kind": "searxng", "base_url": server}}
    daybook.settings["media"] = {"images": {"base_url": server, "model": "paint"}}
    async with daybook.running():
        await Owner(daybook).asks()
    request = daybook.model.requests[-1]
    names = {tool.name for tool in request.tools}
    assert names >= {"web_fetch", "web_search", "exec", "exec_background", "delegate", "make_image", "send_message"}
    assert sum(map(estimate, request.system)) + estimate_tools(request.tools) + FEW_TOKENS <= 4_000
