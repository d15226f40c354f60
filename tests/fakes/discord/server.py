"""The loopback server: HTTP and WebSockets in front of the world, faults and holds in between, a log of every call."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from tests.fakes.discord.commands import command_routes
from tests.fakes.discord.errors import ApiError, not_found, throttled, unauthorized
from tests.fakes.discord.faults import Fault, Hold, Limits
from tests.fakes.discord.interactions import Interactions, interaction_routes
from tests.fakes.discord.model import File
from tests.fakes.discord.rest import is_public, routes
from tests.fakes.discord.wire import NO_CONTENT, Handler, Request, read_request

PLAUSIBLE_TOKEN = "MTE0MTIyMTI5NDM0ODg2NzM5OQ.GfakeT.0123456789abcdefghijklmnopqrstuvwxyzAB"
MAX_BODY = 120 * 1024 * 1024
PREFIX = re.compile(r"/api/v(9|10)(?=/)")


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was answered. `path` is without `/api/v10`; `at` and `done` are monotonic seconds of arrival and
    answer; `status` is 0 where the connection was cut instead. `result` is what was done, even if nobody was told."""

    method: str
    path: str
    json: Any
    at: float
    done: float
    status: int
    result: Any = None
    code: int | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[int, File] = field(default_factory=dict)


@dataclass(slots=True)
class _Answer:
    status: int
    json: Any = None
    text: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    result: Any = None
    code: int | None = None


class DiscordServer(Interactions):
    """A Discord at `api_url` and `gateway_url`. `json_type` is what its answers say that they are."""

    def __init__(self, token: str = PLAUSIBLE_TOKEN, *, rate_limits: bool = True) -> None:
        super().__init__(token)
        self.calls: list[Call] = []
        self.port = 0
        self.limits: Limits | None = Limits() if rate_limits else None
        self.json_type = "application/json"
        self._faults: list[Fault] = []
        self._holds: list[Hold] = []
        self._runner: web.AppRunner | None = None
        self._gateway_runner: web.AppRunner | None = None
        self._gateway_port = 0

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v10"

    def called(self, method: str, path: str = "") -> list[Call]:
        """The answered calls of a method whose path holds the pattern, in order of their answers."""
        return [one for one in self.calls if one.method == method and re.search(path, one.path)]

    def story(self, timeout: float) -> str:
        """What was going on, for the text of a failed wait."""
        last = [f"{one.method} {one.path} -> {one.status} {one.code or ''}".rstrip() for one in self.calls[-10:]]
        return f"nothing of the kind within {timeout} s; {len(self.connections)} gateways; last calls: {last}"

    # What goes wrong

    def fail_next(
        self,
        method: str = "*",
        path: str = "",
        *,
        status: int = 500,
        json: Any = None,
        text: str = "",
        headers: Mapping[str, str] | None = None,
        drop: Literal["before", "after"] | None = None,
        after_effect: bool = False,
        times: int | None = 1,
    ) -> Fault:
        """Answer the next calls with this, instead of carrying them out; `path` is a pattern that is searched for.
        `drop`: cut the connection, before the call has any effect or after it. `after_effect`: carry the call out and
        answer this all the same. Neither `json` nor `text`: an error as Discord words it, or a page of Cloudflare's."""
        if drop:
            status, after_effect = 0, drop == "after"
        found = Fault(method, re.compile(path), status, json, text, headers or {}, after_effect, times=times)
        self._faults.append(found)
        return found

    def throttle_next(
        self,
        method: str = "*",
        path: str = "",
        *,
        retry_after: float = 1.0,
        scope: Literal["user", "global", "shared"] = "user",
        via: bool = True,
        times: int | None = 1,
    ) -> Fault:
        """Answer 429. Without `via` it looks like Cloudflare's, and discord.py raises instead of waiting."""
        error = throttled(retry_after, scope=scope, via=via)
        return self.fail_next(method, path, status=429, json=error.body(), headers=error.headers, times=times)

    def delay_next(self, method: str, path: str, seconds: float, *, times: int | None = 1) -> Fault:
        """Carry the next calls out late."""
        found = Fault(method, re.compile(path), -1, seconds=seconds, times=times)
        self._faults.append(found)
        return found

    def hold(self, method: str = "*", path: str = "", *, after_effect: bool = False) -> Hold:
        """Park calls until the returned `Hold` is released. A parked call is carried out at its release even when its
        caller has died, as on the original, which had the request already."""
        made = Hold(self.bell, method=method, path=re.compile(path), after_effect=after_effect)
        self._holds.append(made)
        return made

    # HTTP

    async def start(self) -> None:
        """Listen on free ports, or after a `stop` on the same ones again."""
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_get("/attachments/{channel}/{id}/{name}", self._download)
        app.router.add_get("/proxied/attachments/{channel}/{id}/{name}", self._download)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner, self.port = await _listening(app, self.port)
        self.cdn_url = f"http://127.0.0.1:{self.port}"
        await self.open_gateway()

    async def stop(self) -> None:
        """Close the ports and cut every connection. What the world knows stays."""
        await self.close_gateway()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def open_gateway(self) -> None:
        """The gateway has a port of its own, as it has a host of its own on the original."""
        app = web.Application()
        app.router.add_get("/", self.serve_socket)
        self._gateway_runner, self._gateway_port = await _listening(app, self._gateway_port)
        self.gateway_url = f"ws://127.0.0.1:{self._gateway_port}/"

    async def close_gateway(self) -> None:
        """Cut every WebSocket and refuse new ones at the port (ECONNREFUSED) until `open_gateway`; REST goes on."""
        self.disconnect(1006)
        if self._gateway_runner is not None:
            await self._gateway_runner.cleanup()
            self._gateway_runner = None

    async def _download(self, request: web.Request) -> web.StreamResponse:
        found = self.files.get(int(request.match_info["id"]))
        if found is None or found.expired or "hm" not in request.query:
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=found.content, headers={"Content-Type": found.content_type})

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        arrived = time.monotonic()
        path = PREFIX.sub("", request.rel_url.raw_path, count=1)
        call = Request(request.method, path, dict(request.query))
        try:
            call = await read_request(request, path)
            answer = await self._carry_out(request, call)
        except ApiError as error:
            answer = _refusal(error)
        except Exception as error:  # what the fake does not expect must be told at once: discord.py retries a 500
            answer = _Answer(501, {"message": f"the fake failed: {error!r}", "code": 0})
        self._log(call, arrived, answer)
        if answer.status == 0 and request.transport is not None:
            request.transport.abort()
        return _response(answer, self.json_type)

    def _log(self, call: Request, arrived: float, answer: _Answer) -> None:
        done = time.monotonic()
        self.calls.append(
            Call(
                call.method,
                call.path,
                call.json,
                arrived,
                done,
                answer.status,
                answer.result,
                answer.code,
                call.query,
                call.files,
            )
        )
        self.bell.ring()

    async def _carry_out(self, request: web.Request, call: Request) -> _Answer:
        if not PREFIX.match(request.rel_url.raw_path):
            raise not_found()
        if fault := await self._meet(call, after_effect=False):
            return fault
        if not is_public(call.path) and request.headers.get("Authorization") != f"Bot {self.token}":
            raise unauthorized()
        headers = self.limits.spend(call.method, call.path, self.now(), time.time()) if self.limits else {}
        try:
            result = _handler(call)(self, call)
        except ApiError as error:
            error.headers = headers | error.headers
            raise
        fault = await self._meet(call, after_effect=True)
        answer = fault or _Answer(204 if result is NO_CONTENT else 200, result)
        answer.headers = headers | answer.headers
        answer.result = None if result is NO_CONTENT else result
        return answer

    async def _meet(self, call: Request, *, after_effect: bool) -> _Answer | None:
        """Let the holds and faults meant for this moment of this call take place."""
        faults = [
            one for one in self._faults if one.after_effect == after_effect and one.matches(call.method, call.path)
        ]
        fault = faults[0] if faults else None
        if fault:
            fault.hits += 1
        for hold in [one for one in self._holds if one.after_effect == after_effect]:
            if hold.matches(call.method, call.path):
                await hold.park()
        if fault is None:
            return None
        if fault.status == -1:
            await asyncio.sleep(fault.seconds)
            return None
        return _Answer(fault.status, _fault_json(fault), fault.text, dict(fault.headers))


async def _listening(app: web.Application, port: int) -> tuple[web.AppRunner, int]:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    return runner, runner.addresses[0][1]


def _handler(call: Request) -> Handler[Any]:
    for table in (routes, command_routes, interaction_routes):
        if handler := table.find(call):
            return handler
    raise not_found()


def _fault_json(fault: Fault) -> Any:
    if fault.json is not None or fault.text:
        return fault.json
    return {"message": f"{fault.status}: Injected", "code": 0} if fault.status < 500 else None


def _refusal(error: ApiError) -> _Answer:
    return _Answer(error.status, error.body(), headers=dict(error.headers), code=error.code)


def _response(answer: _Answer, json_type: str) -> web.Response:
    if answer.status == 204:
        return web.Response(status=204, headers=answer.headers)
    if answer.json is None or answer.json is NO_CONTENT:
        text = answer.text or "<html><head><title>502 Bad Gateway</title></head></html>"
        return web.Response(status=answer.status or 500, text=text, content_type="text/html", headers=answer.headers)
    headers = {"Content-Type": json_type} | answer.headers
    return web.Response(status=answer.status, body=json.dumps(answer.json).encode(), headers=headers)
