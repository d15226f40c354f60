"""An MCP server over HTTP (streamable, protocol 2025-06-18), which wants its key and its session as the real ones do.

Refuses a wrong key (401), a body without `Accept` of both kinds (406), and an unknown session (404). Tools: `look`;
`flood`, an answer of 100 MB; `bomb`, small only while it is compressed; `drop`, which closes the connection.
"""

from __future__ import annotations

import gzip
import json
from types import TracebackType
from typing import Any, Self

from aiohttp import web

KEY = "Bearer key-0123456789"
_TOOLS = [
    {
        "name": name,
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        "annotations": {"readOnlyHint": True},
    }
    for name in ("look", "flood", "bomb", "drop")
]


class FakeMcpHttp:
    """`calls`: the tools that were called; `sessions`: the ids that it knows; `elsewhere`: redirects all."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.sessions: set[str] = set()
        self.elsewhere = ""
        self.base_url = ""
        self._started = 0
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"{self.base_url}/mcp"

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/mcp", self._post)
        app.router.add_delete("/mcp", self._delete)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _delete(self, request: web.Request) -> web.Response:
        self.sessions.discard(request.headers.get("mcp-session-id", ""))
        return web.Response(status=204)

    async def _post(self, request: web.Request) -> web.StreamResponse:
        if self.elsewhere:
            raise web.HTTPTemporaryRedirect(self.elsewhere)
        if request.headers.get("authorization") != KEY:
            return web.Response(status=401)
        accepts = request.headers.get("accept", "")
        if "application/json" not in accepts or "text/event-stream" not in accepts:
            return web.Response(status=406)
        message = await request.json()
        method, id = message["method"], message.get("id")
        if method == "initialize":
            self._started += 1
            session = f"session-{self._started}"
            self.sessions.add(session)
            info = {"name": "fake", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            return self._answer(id, result, {"mcp-session-id": session})
        if method == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            return web.json_response({"jsonrpc": "2.0", "id": id, "error": error}, status=404)
        if request.headers.get("mcp-session-id") not in self.sessions:
            return web.Response(status=404)
        if id is None:
            return web.Response(status=202)
        if method == "tools/list":
            return self._answer(id, {"tools": _TOOLS})
        if method == "tools/call":
            return await self._call(request, id, message["params"])
        error = {"code": -32601, "message": "Method not found"}
        return web.json_response({"jsonrpc": "2.0", "id": id, "error": error})

    async def _call(self, request: web.Request, id: object, params: dict[str, Any]) -> web.StreamResponse:
        name = params["name"]
        self.calls.append(name)
        match name:
            case "flood":
                response = web.StreamResponse(headers={"content-type": "application/json"})
                await response.prepare(request)
                for _ in range(1_000):
                    await response.write(b" " * 100_000)
                return response
            case "bomb":
                body = gzip.compress(b" " * 50_000_000)
                return web.Response(body=body, headers={"content-type": "application/json", "content-encoding": "gzip"})
            case "drop":
                assert request.transport is not None
                request.transport.abort()
                return web.Response()
        if name not in (tool["name"] for tool in _TOOLS):
            error = {"code": -32602, "message": f"Unknown tool: {name}"}
            return web.json_response({"jsonrpc": "2.0", "id": id, "error": error}, status=400)
        text = f"Found {params['arguments'].get('text')} far away"
        return self._answer(id, {"content": [{"type": "text", "text": text}]})

    @staticmethod
    def _answer(id: object, result: dict[str, Any], headers: dict[str, str] | None = None) -> web.Response:
        return web.Response(
            text=json.dumps({"jsonrpc": "2.0", "id": id, "result": result}),
            content_type="application/json",
            headers=headers,
        )
