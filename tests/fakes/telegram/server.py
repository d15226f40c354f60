"""The loopback server: HTTP in front of the world, faults and holds in between, a log of every call."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from http import HTTPStatus

from aiohttp import web

from tests.fakes.telegram.faults import Fault, FaultKind, Flood, Hold
from tests.fakes.telegram.methods import MAX_UPLOAD, METHODS
from tests.fakes.telegram.wire import ApiError, JsonObject, Params, Upload, read_params
from tests.fakes.telegram.world import FIRST_UPDATE_ID, Message, World

DOWNLOAD = "download"
"""What faults and holds call the fetching of a file."""
PLAUSIBLE_TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"
MAX_BODY = 60 * 1024 * 1024
MAX_POLL_SECONDS = 50
CONFLICT = "terminated by other getUpdates request; make sure that only one bot instance is running"
SPELLING = {name.casefold(): name for name in [*METHODS, "getUpdates"]}


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was answered. `at` and `done` are monotonic seconds of arrival and answer; `status` is 0 where the
    connection was cut instead. `result` is what the method gave, even when the caller never saw it; `error` the
    description of a refusal."""

    method: str
    params: Params
    at: float
    done: float
    status: int
    result: object = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What goes back over HTTP; the status 0 stands for a reset of the connection."""

    status: int
    body: str = ""
    content_type: str = "application/json"
    result: object = None
    error: str = ""


class _Instead(Exception):
    """A fault takes the place of the answer."""

    def __init__(self, answer: _Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class BotApiServer(World):
    """A world with a Bot API at `base_url`. Started and stopped by its subclasses."""

    def __init__(
        self,
        token: str = PLAUSIBLE_TOKEN,
        *,
        username: str = "daybook_test_bot",
        first_update_id: int = FIRST_UPDATE_ID,
    ) -> None:
        super().__init__(int(token.partition(":")[0]), username, first_update_id=first_update_id)
        self.token = token
        self.calls: list[Call] = []
        self.port = 0
        self._faults: list[Fault] = []
        self._holds: list[Hold] = []
        self._flood: Flood | None = None
        self._poller: object = None
        self._runner: web.AppRunner | None = None
        self._running: set[asyncio.Task[_Answer]] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/bot"

    @property
    def base_file_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/file/bot"

    def called(self, method: str, chat: int | None = None) -> list[Call]:
        """The answered calls of one method, in order of their answers."""
        with self.bell.lock:
            return [call for call in self.calls if call.method == method and chat in (None, call.params.get("chat_id"))]

    def messages_after(self, chat: int, message_id: int) -> list[Message]:
        return [message for message in self.messages(chat) if message.id > message_id]

    def story(self, timeout: float) -> str:
        """What was going on, for the text of a failed wait."""
        with self.bell.lock:
            last = [f"{call.method} -> {call.status} {call.error}".rstrip() for call in self.calls[-10:]]
            return f"nothing of the kind within {timeout} s; {len(self._queue)} updates unconfirmed; last calls: {last}"

    @property
    def polling(self) -> bool:
        """A getUpdates is waiting now."""
        return self._poller is not None

    # What goes wrong

    def fail(
        self,
        method: str,
        *,
        status: int = 500,
        description: str = "",
        retry_after: int | None = None,
        times: int | None = 1,
        chat: int | None = None,
        after_effect: bool = False,
    ) -> Fault:
        """Answer the next `times` calls (None: all) with an error; `*` is any method."""
        return self._fault(Fault(FaultKind.ERROR, method, times, chat, after_effect, status, description, retry_after))

    def junk(
        self,
        method: str,
        *,
        status: int = 502,
        body: str = "<html><h1>502 Bad Gateway</h1></html>",
        times: int | None = 1,
        chat: int | None = None,
        after_effect: bool = False,
    ) -> Fault:
        """Answer with something that is no JSON, as a proxy does."""
        return self._fault(Fault(FaultKind.JUNK, method, times, chat, after_effect, status, body=body))

    def abort(self, method: str, *, times: int | None = 1, chat: int | None = None) -> Fault:
        """Reset the connection before the call has any effect."""
        return self._fault(Fault(FaultKind.ABORT, method, times, chat))

    def abort_after(self, method: str, *, times: int | None = 1, chat: int | None = None) -> Fault:
        """Carry the call out, then reset the connection without an answer."""
        return self._fault(Fault(FaultKind.ABORT, method, times, chat, after_effect=True))

    def delay(
        self,
        method: str,
        seconds: float,
        *,
        times: int | None = 1,
        chat: int | None = None,
        after_effect: bool = False,
    ) -> Fault:
        """Answer late."""
        return self._fault(Fault(FaultKind.DELAY, method, times, chat, after_effect, seconds=seconds))

    def hold(self, method: str, *, chat: int | None = None, after_effect: bool = False) -> Hold:
        """Park calls until the returned `Hold` is released. A parked call is carried out at its release even when its
        caller has died, as on the original, which had the request already."""
        hold = Hold(self.bell, method=method, chat=chat, after_effect=after_effect)
        with self.bell.lock:
            self._holds.append(hold)
        return hold

    def flood(
        self,
        *,
        per_chat_per_second: float = 1.0,
        burst: int = 3,
        group_per_minute: int = 20,
        signs: tuple[int, float] = (20, 5.0),
    ) -> None:
        """Answer 429 from now on to whoever writes more than this. `burst` messages may come at once."""
        self._flood = Flood((burst, burst / per_chat_per_second), (group_per_minute, 60.0), signs)

    def _fault(self, fault: Fault) -> Fault:
        with self.bell.lock:
            self._faults.append(fault)
        return fault

    # HTTP

    async def start(self) -> None:
        """Listen on a free port, or after a `stop` on the same one again."""
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_route("*", "/bot{token}/{method}", self._serve)
        app.router.add_get("/file/bot{token}/{path:.+}", self._download)
        # A getUpdates whose caller hangs up must end at once, or the next one would meet a conflict with the dead.
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.05)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Close the port and cut every connection. What the world knows stays."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        arrived = time.monotonic()
        spelled = request.match_info["method"]
        method = SPELLING.get(spelled.casefold(), spelled)
        try:
            self._check_token(request.match_info["token"])
            params = read_params(request.query_string, request.headers.get("Content-Type", ""), await request.read())
            self._check_size(params)
        except ApiError as error:
            answer = self._logged(method, Params({}), arrived, _refusal(error))
        else:
            work = self._carry_out(method, params, arrived)
            answer = await (work if method == "getUpdates" else self._to_the_end(work))
        if answer.status == 0 and request.transport is not None:
            request.transport.abort()
        return _shown(answer)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        try:
            self._check_token(request.match_info["token"])
            await self._meet(DOWNLOAD, Params({}), after_effect=False)
            content = next(content for path, content in self.files.values() if path == request.match_info["path"])
        except ApiError as error:
            return web.json_response(error.body(), status=error.status)
        except StopIteration:
            return web.json_response(ApiError("Not Found", 404).body(), status=404)
        except _Instead as instead:
            return self._cut_off(request) if instead.answer.status == 0 else _shown(instead.answer)
        body = content if isinstance(content, bytes) else bytes(content)
        try:
            await self._meet(DOWNLOAD, Params({}), after_effect=True)
        except _Instead:
            return await self._half(request, body)
        return web.Response(body=body)

    @staticmethod
    def _cut_off(request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)

    async def _half(self, request: web.Request, body: bytes) -> web.StreamResponse:
        """The beginning of a file; then the connection breaks."""
        response = web.StreamResponse(headers={"Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        return self._cut_off(request)

    @staticmethod
    def _check_size(params: Params) -> None:
        if any(isinstance(value, Upload) and len(value.content) > MAX_UPLOAD for value in params.values()):
            raise ApiError("Request Entity Too Large", 413)

    def _check_token(self, token: str) -> None:
        if not re.fullmatch(r"\d+:[A-Za-z0-9_-]{30,}", token):
            raise ApiError("Not Found", 404)
        if token != self.token:
            raise ApiError("Unauthorized", 401)

    async def _to_the_end(self, work: Coroutine[None, None, _Answer]) -> _Answer:
        """The original carries out what it has received, even when the caller hangs up meanwhile."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def _carry_out(self, method: str, params: Params, arrived: float) -> _Answer:
        result: object = None
        try:
            await self._meet(method, params, after_effect=False)
            result = await self._get_updates(params) if method == "getUpdates" else self._call(method, params)
            await self._meet(method, params, after_effect=True)
            answer = _Answer(200, json.dumps({"ok": True, "result": result}))
        except ApiError as error:
            answer = _refusal(error)
        except _Instead as instead:
            answer = instead.answer
        return self._logged(method, params, arrived, replace(answer, result=result))

    def _logged(self, method: str, params: Params, arrived: float, answer: _Answer) -> _Answer:
        with self.bell.lock:
            done = time.monotonic()
            self.calls.append(Call(method, params, arrived, done, answer.status, answer.result, answer.error))
            self.bell.ring()
        return answer

    def _call(self, method: str, params: Params) -> object:
        if method not in METHODS:
            raise ApiError("Not Found: method not found", 404)
        with self.bell.lock:
            wait = self._flood.retry_after(method, params) if self._flood else 0
            if wait:
                raise ApiError.too_many(wait)
            result = METHODS[method](self, params)
            self.bell.ring()
            return result

    async def _get_updates(self, params: Params) -> list[JsonObject]:
        """Long polling: a newer request ends an older one, whose caller learns of the conflict."""
        me = object()
        limit = min(max(params.integer("limit", 100), 1), 100)
        seconds = min(max(params.integer("timeout"), 0), MAX_POLL_SECONDS)
        with self.bell.lock:
            allowed = params.array("allowed_updates")
            if allowed is not None:
                self.allowed_updates = frozenset(map(str, allowed)) or None
            self.confirm(params.integer("offset"))
            self._poller = me
            self.bell.ring()
        try:
            if seconds:
                await self.bell.until(lambda: self._poller is not me or self.batch(limit), seconds)
        except TimeoutError:
            pass
        finally:
            superseded = self._poller is not me
            if not superseded:
                self._poller = None
                self.bell.ring()
        if superseded:
            raise ApiError(CONFLICT, 409)
        return self.batch(limit)

    async def _meet(self, method: str, params: Params, *, after_effect: bool) -> None:
        """Let the faults and holds meant for this moment of this call take place, in the order they were asked for."""
        with self.bell.lock:
            holds = [one for one in self._holds if one.after_effect == after_effect and one.matches(method, params)]
            faults = [one for one in self._faults if one.after_effect == after_effect and one.matches(method, params)]
            fault = faults[0] if faults else None
            if fault:
                fault.hits += 1
        for hold in holds:
            await hold.park()
        if fault is None:
            return
        if fault.kind is FaultKind.DELAY:
            await asyncio.sleep(fault.seconds)
        elif fault.kind is FaultKind.ERROR:
            raise _error(fault)
        else:
            raise _Instead(_Answer(0 if fault.kind is FaultKind.ABORT else fault.status, fault.body, "text/html"))


def _shown(answer: _Answer) -> web.Response:
    return web.Response(status=answer.status or 500, text=answer.body, content_type=answer.content_type)


def _error(fault: Fault) -> ApiError:
    if fault.status == 429 and fault.retry_after is not None and not fault.description:
        return ApiError.too_many(fault.retry_after)
    description = fault.description or (CONFLICT if fault.status == 409 else HTTPStatus(fault.status).phrase)
    parameters = {"retry_after": fault.retry_after} if fault.retry_after is not None else None
    return ApiError(description, fault.status, parameters)


def _refusal(error: ApiError) -> _Answer:
    return _Answer(error.status, json.dumps(error.body()), error=error.description)
