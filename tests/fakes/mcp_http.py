"""An MCP server over HTTP (streamable, protocol 2025-06-18), which wants its key and its session as the real ones do.

With `logins` it takes their tokens instead of the key. Refuses a wrong key (401), a body without `Accept` of both kinds
(406), and an unknown session (404). Tools: `look`; `flood`, an answer of 100 MB; `bomb`, small only while it is
compressed; `drop`, which closes the connection.
"""

from __future__ import annotations

import gzip
import json
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from tests.fakes.oauth import FakeLoginServer

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
    """`calls`: the tools that were called; `sessions`: the ids that it knows; `elsewhere`: redirects all; `shown`: the
    `Authorization` of each request; `login_server`: named instead of the true one; `wants_scope`:
    what a token needs; `listed`: stands in its list before its tools, whatever it is."""

    def __init__(self, logins: FakeLoginServer | None = None) -> None:
        self.logins = logins
        self.login_server = ""
        self.wants_scope = ""
        self.listed: list[object] = []
        self.shown: list[str] = []
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
        app.router.add_get("/.well-known/oauth-protected-resource/mcp", self._metadata)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        if self.logins is not None:
            self.logins.resource = self.url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _metadata(self, _: web.Request) -> web.Response:
        if self.logins is None:
            return web.Response(status=404)
        servers = [self.login_server or self.logins.base_url]
        return web.json_response({"resource": self.url, "authorization_servers": servers})

    def _refused(self, request: web.Request) -> web.Response | None:
        shown = request.headers.get("authorization", "")
        self.shown.append(shown)
        if self.logins is None:
            return None if shown == KEY else web.Response(status=401)
        kind, _, token = shown.partition(" ")
        where = f'resource_metadata="{self.base_url}/.well-known/oauth-protected-resource/mcp"'
        if kind != "Bearer" or not self.logins.accepts(token, self.url):
            error = {"error": "invalid_token"}
            return web.json_response(error, status=401, headers={"www-authenticate": f"Bearer {where}"})
        if self.wants_scope and not self.logins.has_scope(token, self.wants_scope):
            header = f'Bearer error="insufficient_scope", scope="{self.wants_scope}", {where}'
            return web.Response(status=403, headers={"www-authenticate": header})
        return None

    async def _delete(self, request: web.Request) -> web.Response:
        self.sessions.discard(request.headers.get("mcp-session-id", ""))
        return web.Response(status=204)

    async def _post(self, request: web.Request) -> web.StreamResponse:
        if self.elsewhere:
            raise web.HTTPTemporaryRedirect(self.elsewhere)
        if (refused := self._refused(request)) is not None:
            return refused
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
            return self._answer(id, {"tools": [*self.listed, *_TOOLS]})
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
