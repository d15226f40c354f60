"""Whether everything works: channels, servers of tools and the owner's logins there, what waits, what the doctor finds
and the newest lines of the log."""

from __future__ import annotations

from collections.abc import Mapping

from channels.web.views.view import Call, NotOffered, Values, View


async def _read(call: Call, query: Mapping[str, str]) -> Values:
    try:
        servers = await call("mcp.servers", {})
    except NotOffered:
        servers = []
    return {"status": await call("status", {}), "servers": servers}


VIEW = View("status", "Status", _read, has_script=True)
