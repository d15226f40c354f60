"""A strict Messages API on the loopback: refuses what the original refuses, and streams, stalls and breaks on demand.

    async with FakeAnthropic() as fake:
        fake.answer("Noted.", tool=("memory_append", {"text": "likes tea"}))
        ...
        request = await fake.wait_for(lambda seen: "tea" in seen.text)

Without anything scripted it echoes the last user text. `with FakeAnthropic.in_thread() as fake` runs it beside
synchronous code; every method but `wait_for` may be called from any thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import hashlib
import itertools
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from aiohttp import web

from tests.fakes.anthropic_answers import (
    Answer,
    Break,
    Held,
    Refuse,
    Say,
    Thinking,
    Tool,
    Use,
    block_events,
    compose,
    finished_block,
)
from tests.fakes.anthropic_rules import (
    MAX_BODY,
    FakeModelInfo,
    JsonObject,
    Rejected,
    blocks_of,
    check,
    estimate,
    signature,
    system_blocks,
    without_marks,
)

_LOOK_BACK = 20
_PATIENCE_S = 120.0
_STATUS_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    529: "overloaded_error",
}


@dataclass(slots=True)
class Received:
    """A request as it came. `body` is its JSON, `headers` in lower case; `status` what it was answered with;
    `peer` names the connection.

    outcome     "finished", or "dropped" where the client went away before the end
    at, done    monotonic seconds when the whole request was here, and when the last byte of the answer was written
    """

    body: JsonObject
    headers: Mapping[str, str]
    peer: str = ""
    status: int = 0
    outcome: Future[str] = field(default_factory=Future)
    at: float = field(default_factory=time.monotonic)
    done: float = 0.0

    @property
    def text(self) -> str:
        """Every byte of the request's body, for searching in it."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def last_user_text(self) -> str:
        return last_user_text(self.body)


def last_user_text(body: JsonObject) -> str:
    """Text of the last user message that has any."""
    for message in reversed(body["messages"]):
        texts = [block["text"] for block in blocks_of(message) if block.get("type") == "text"]
        if message["role"] == "user" and texts:
            return "\n".join(texts)
    return ""


class FakeAnthropic:
    """See the module. `streams` False: a whole message answers every call; `says_stop` False: no message_stop ends a
    stream. Answers, faults and holds are used up in the order given; a fault or hold applies to the next
    call, and a call that fails does not use up an answer."""

    def __init__(self, api_key: str = "sk-ant-fake-0123456789abcdef") -> None:
        self.api_key = api_key
        self.bearer_only = False
        """As some other servers: the key counts in `Authorization` alone."""
        self.base_url = ""
        self.requests: list[Received] = []
        self.reply: Callable[[JsonObject], Answer | str] = last_user_text
        self.beside: Callable[[JsonObject], str | None] = lambda _: None
        """Answers, in place of the queue, what comes at a moment that no test chooses; None: the queue is meant."""
        self.models: dict[str, FakeModelInfo] = {
            info.id: info
            for info in (
                FakeModelInfo("claude-sonnet-5-5"),
                FakeModelInfo("claude-opus-5-5"),
                FakeModelInfo("claude-haiku-5-5"),
                FakeModelInfo("claude-haiku-4-5", 200_000, 64_000, adaptive=False, max_images=100),
            )
        }
        self.models_endpoint = True
        self.one_byte_chunks = False
        self.unknown_events = False
        self.without_usage = False
        self.streams = True
        self.says_stop = True
        self.delta_delay = 0.0
        self._answers: deque[Answer] = deque()
        self._faults: deque[Refuse | Break | Held] = deque()
        self._watchers: list[tuple[Callable[[Received], bool], Future[Received]]] = []
        self._lock = threading.Lock()
        self._cached: set[str] = set()
        self._numbers = itertools.count(1)
        self._runner: web.AppRunner | None = None
        self._open_holds: list[Held] = []

    # -- what it says

    def answer(
        self,
        text: str | Sequence[str] = "",
        *,
        tool: Tool | None = None,
        tools: Sequence[Tool] = (),
        thinking: str = "",
        blocks: Sequence[JsonObject] = (),
        stop_reason: str = "",
        usage: Mapping[str, int] | None = None,
    ) -> None:
        """Queue an answer; see `compose`. An answer of nothing at all is possible too."""
        self._answers.append(
            compose(
                text, tool=tool, tools=tools, thinking=thinking, blocks=blocks, stop_reason=stop_reason, usage=usage
            )
        )

    def fail(
        self, status: int, type: str = "", *, message: str = "", retry_after: float | str | None = None, times: int = 1
    ) -> None:
        """Answer the next `times` calls with an error status."""
        kind = type or _STATUS_KINDS.get(status, "api_error")
        delay = None if retry_after is None else str(retry_after)
        self._faults.extend([Refuse(status, kind, message or kind.replace("_", " "), delay)] * times)

    def cut(self, after: int = 1) -> None:
        """Reset the connection after that many text deltas of the next call."""
        self._faults.append(Break("cut", after))

    def end_early(self, after: int = 1) -> None:
        """End the next stream cleanly, but without message_delta and message_stop."""
        self._faults.append(Break("eof", after))

    def stall(self, after: int = 1) -> None:
        """Send nothing more after that many text deltas, with the connection open until the client gives up."""
        self._faults.append(Break("stall", after))

    def error_event(self, type: str = "overloaded_error", *, message: str = "Overloaded", after: int = 1) -> None:
        """An SSE `error` event in the middle of the next stream."""
        self._faults.append(Break("error", after, type, message))

    def never_stop_reason(self) -> None:
        """Finish the next stream with message_stop, but without having said why it stopped."""
        self._faults.append(Break("unstopped"))

    def hold(self, after: int = 1, when: Callable[[JsonObject], bool] = lambda _: True) -> Held:
        """Park the next stream, of a body that fits, after that many text deltas (or at its end, with fewer) until
        `release()`; `await fake.held(hold)` returns once it stands there."""
        hold = Held(after, when)
        self._faults.append(hold)
        self._open_holds.append(hold)
        return hold

    async def held(self, hold: Held) -> None:
        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(hold.reached_at)), _PATIENCE_S)

    def calm(self) -> None:
        """Forget faults and holds that no call has met."""
        with self._lock:
            self._faults.clear()

    # -- what it heard

    @property
    def bodies(self) -> list[JsonObject]:
        """Bodies of the calls so far, refused ones too."""
        return [request.body for request in self.requests]

    async def wait_for(self, predicate: Callable[[Received], bool] = lambda _: True) -> Received:
        """The first request, past or to come, that fits. Raises `TimeoutError` after two minutes."""
        return await asyncio.wait_for(asyncio.wrap_future(self._watch(predicate)), _PATIENCE_S)

    def wait(self, predicate: Callable[[Received], bool] = lambda _: True) -> Received:
        """`wait_for` for synchronous code beside `in_thread`."""
        return self._watch(predicate).result(_PATIENCE_S)

    def _watch(self, predicate: Callable[[Received], bool]) -> Future[Received]:
        found: Future[Received] = Future()
        with self._lock:
            for request in self.requests:
                if predicate(request):
                    found.set_result(request)
                    return found
            self._watchers.append((predicate, found))
        return found

    def _note(self, request: Received) -> None:
        with self._lock:
            self.requests.append(request)
            waiting, self._watchers = self._watchers, []
            for predicate, found in waiting:
                if found.done():
                    continue
                if predicate(request):
                    found.set_result(request)
                else:
                    self._watchers.append((predicate, found))

    # -- running it

    async def __aenter__(self) -> FakeAnthropic:
        app = web.Application(client_max_size=2 * MAX_BODY)
        self._add_routes(app.router)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.05, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for hold in self._open_holds:
            hold.release()
        if self._runner is not None:
            await self._runner.cleanup()

    def _add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/messages", self._messages)
        router.add_get("/v1/models/{id}", self._model)
        router.add_get("/v1/models", self._list)

    @classmethod
    @contextlib.contextmanager
    def in_thread(cls, api_key: str = "sk-ant-fake-0123456789abcdef") -> Iterator[FakeAnthropic]:
        """The server on a thread and loop of its own."""
        fake = cls(api_key)
        ready: Future[asyncio.AbstractEventLoop] = Future()
        stop = asyncio.Event()

        async def serve() -> None:
            async with fake:
                ready.set_result(asyncio.get_running_loop())
                await stop.wait()

        def run() -> None:
            try:
                asyncio.run(serve())
            except BaseException as error:
                if ready.done():
                    raise
                ready.set_exception(error)

        thread = threading.Thread(target=run, name="fake-anthropic", daemon=True)
        thread.start()
        loop = ready.result(_PATIENCE_S)
        try:
            yield fake
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join(_PATIENCE_S)

    # -- the protocol

    async def _model(self, http: web.Request) -> web.StreamResponse:
        try:
            self._check_headers(http)
            info = self.models.get(http.match_info["id"])
            if info is None or not self.models_endpoint:
                raise Rejected(f"model: {http.match_info['id']}", status=404, kind="not_found_error")
        except Rejected as error:
            return self._error(error.status, error.kind, str(error))
        return web.json_response(_entry(info))

    async def _list(self, http: web.Request) -> web.StreamResponse:
        try:
            self._check_headers(http)
            if not self.models_endpoint:
                raise Rejected("Not found", status=404, kind="not_found_error")
            if not 1 <= int(http.query.get("limit", "20")) <= 1000:
                raise Rejected("limit: must be between 1 and 1000")
        except Rejected as error:
            return self._error(error.status, error.kind, str(error))
        entries = [_entry(info) for info in self.models.values()][: int(http.query.get("limit", "20"))]
        ends = {"first_id": entries[0]["id"], "last_id": entries[-1]["id"]} if entries else {}
        return web.json_response({"data": entries, "has_more": len(entries) < len(self.models), **ends})

    async def _messages(self, http: web.Request) -> web.StreamResponse:
        raw = await http.read()
        try:
            body = json.loads(raw)
        except ValueError:
            return self._error(400, "invalid_request_error", "The request body is not valid JSON")
        peer = http.transport.get_extra_info("peername") if http.transport else None
        received = Received(body, {name.lower(): value for name, value in http.headers.items()}, str(peer))
        try:
            response = await self._respond(http, received, len(raw))
        except asyncio.CancelledError:
            self._end(received, "dropped")
            raise
        except ConnectionError:
            self._end(received, "dropped")
            raise
        self._end(received, "finished")
        return response

    @staticmethod
    def _end(received: Received, outcome: str) -> None:
        if not received.outcome.done():
            received.done = time.monotonic()
            received.outcome.set_result(outcome)

    async def _respond(self, http: web.Request, received: Received, size: int) -> web.StreamResponse:
        body = received.body
        try:
            self._check_headers(http)
            if size > MAX_BODY:
                raise Rejected("Request exceeds the maximum size", status=413, kind="request_too_large")
            fault = self._next_fault(body)
            if isinstance(fault, Refuse):
                received.status = fault.status
                self._note(received)
                return self._error(fault.status, fault.kind, fault.message, fault.retry_after)
            info = self.models.get(str(body.get("model")))
            if info is None and "model" in body:
                raise self._unknown(str(body["model"]))
            self._check(body, info or FakeModelInfo(""))
        except Rejected as error:
            received.status = error.status
            self._note(received)
            return self._error(error.status, error.kind, str(error))
        received.status = 200
        self._note(received)
        answer = self._next_answer(body, keep=isinstance(fault, Break))
        if body.get("stream") and self.streams:
            return await self._stream(http, body, answer, fault)
        return web.json_response(self._whole(body, answer))

    def _unknown(self, model: str) -> Rejected:
        return Rejected(f"model: {model}", status=404, kind="not_found_error")

    def _check(self, body: JsonObject, info: FakeModelInfo) -> None:
        check(body, info)

    def _check_headers(self, http: web.Request) -> None:
        bearer = http.headers.get("authorization", "").removeprefix("Bearer ")
        shown = (bearer,) if self.bearer_only else (http.headers.get("x-api-key"), bearer)
        if self.api_key not in shown:
            raise Rejected("invalid x-api-key", status=401, kind="authentication_error")
        if "anthropic-version" not in http.headers:
            raise Rejected("anthropic-version: header is required")

    def _next_fault(self, body: JsonObject) -> Refuse | Break | Held | None:
        with self._lock:
            fitting = (one for one in self._faults if not isinstance(one, Held) or one.when(body))
            if (fault := next(fitting, None)) is not None:
                self._faults.remove(fault)
            return fault

    def _next_answer(self, body: JsonObject, *, keep: bool) -> Answer:
        beside = self.beside(body)
        with self._lock:
            if self._answers and beside is not None:
                return compose(beside)
            if self._answers:
                return self._answers[0] if keep else self._answers.popleft()
        said = self.reply(copy.deepcopy(body))
        return compose(said) if isinstance(said, str) else said

    def _error(self, status: int, kind: str, message: str, retry_after: str | None = None) -> web.Response:
        headers = {"request-id": self._id("req")} | ({} if retry_after is None else {"retry-after": retry_after})
        error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": headers["request-id"]}
        return web.json_response(error, status=status, headers=headers)

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):08d}"

    # -- answering

    def _prepared(self, body: JsonObject, answer: Answer) -> list[tuple[Any, str, str]]:
        """Parts with their signature and their id, where they have one."""
        return [
            (
                part,
                signature(body, body["messages"], part.text) if isinstance(part, Thinking) else "",
                (part.id or self._id("toolu")) if isinstance(part, Use) else "",
            )
            for part in answer.parts
        ]

    def _whole(self, body: JsonObject, answer: Answer) -> JsonObject:
        content = [finished_block(*prepared) for prepared in self._prepared(body, answer)]
        usage = self._usage_before(body) | {"output_tokens": estimate(content)} | dict(answer.usage or {})
        usage |= _searched(answer)
        return self._message(body, content, answer.ends_with, usage)

    def _message(self, body: JsonObject, content: list[JsonObject], stop: str | None, usage: JsonObject) -> JsonObject:
        message = {
            "id": self._id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
        }
        return message if self.without_usage else message | {"usage": usage}

    async def _stream(
        self, http: web.Request, body: JsonObject, answer: Answer, fault: Break | Held | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream", "request-id": self._id("req")})
        await response.prepare(http)
        usage = self._usage_before(body) | dict(answer.usage or {})
        await self._send(
            response,
            {"type": "message_start", "message": self._message(body, [], None, usage | {"output_tokens": 1})},
        )
        await self._send(response, {"type": "ping"})
        if self.unknown_events:
            await self._send(response, {"type": "weather_report", "sky": "clear"})
        deltas = 0
        prepared = self._prepared(body, answer)
        for index, (part, signed, call_id) in enumerate(prepared):
            for event in block_events(index, part, signed, call_id):
                if event.get("delta", {}).get("type") == "text_delta":
                    if await self._disturbed(http, response, fault, deltas):
                        return response
                    deltas += 1
                    if self.delta_delay:
                        await asyncio.sleep(self.delta_delay)
                await self._send(response, event)
        if await self._disturbed(http, response, fault, None):
            return response
        output = estimate([finished_block(*one) for one in prepared])
        await self._finish(response, answer, usage.get("output_tokens", output), fault)
        return response

    async def _finish(
        self, response: web.StreamResponse, answer: Answer, output: int, fault: Break | Held | None
    ) -> None:
        if not isinstance(fault, Break):
            delta = {"stop_reason": answer.ends_with, "stop_sequence": None}
            usage = {} if self.without_usage else {"usage": {"output_tokens": output} | _searched(answer)}
            await self._send(response, {"type": "message_delta", "delta": delta} | usage)
        if self.says_stop:
            await self._send(response, {"type": "message_stop"})
        await response.write_eof()

    async def _disturbed(
        self, http: web.Request, response: web.StreamResponse, fault: Break | Held | None, deltas: int | None
    ) -> bool:
        """Apply the fault if its place is here (`deltas` None: the end); true where the stream is over by it."""
        if isinstance(fault, Held):
            due = not fault.reached_at.done() and (deltas is None or deltas >= fault.after)
            if due:
                fault.reached_at.set_result(None)
                await asyncio.shield(asyncio.wrap_future(fault.released_at))
            return False
        if fault is None or fault.after is None or (deltas is not None and deltas < fault.after):
            return False
        match fault.how:
            case "cut":
                if http.transport is not None:
                    http.transport.abort()
            case "stall":
                await asyncio.Event().wait()
            case "error":
                error = {"type": fault.kind, "message": fault.message}
                await self._send(response, {"type": "error", "error": error})
                await response.write_eof()
            case _:
                await response.write_eof()
        return True

    async def _send(self, response: web.StreamResponse, event: JsonObject) -> None:
        data = f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode("utf-8", "replace")
        if not self.one_byte_chunks:
            await response.write(data)
            return
        for byte in data:
            await response.write(bytes([byte]))
            await asyncio.sleep(0)

    # -- prompt cache

    def _usage_before(self, body: JsonObject) -> JsonObject:
        """Tokens in, as the prompt cache would count them: the longest prefix kept at or up to 20 blocks before a
        mark is read, the rest up to the last mark is written, what follows is plain input. No minimum size."""
        prefixes: list[tuple[str, int, bool]] = []
        digest = hashlib.sha256(body["model"].encode())
        total = 0
        for block, marked in self._cacheable(body):
            text = json.dumps(without_marks(block), sort_keys=True, ensure_ascii=False)
            digest.update(text.encode("utf-8", "surrogatepass"))
            total += -(-len(text) // 4)
            prefixes.append((digest.hexdigest(), total, marked))
        if body.get("cache_control") and prefixes:
            prefixes[-1] = (*prefixes[-1][:2], True)
        marks = [index for index, (_, _, marked) in enumerate(prefixes) if marked]
        read = 0
        for mark in marks:
            for key, size, _ in prefixes[max(0, mark - _LOOK_BACK) : mark + 1]:
                read = max(read, size) if key in self._cached else read
        last = prefixes[marks[-1]][1] if marks else 0
        self._cached.update(prefixes[mark][0] for mark in marks)
        return {
            "input_tokens": total - last,
            "cache_creation_input_tokens": last - read,
            "cache_read_input_tokens": read,
        }

    @staticmethod
    def _cacheable(body: JsonObject) -> Iterator[tuple[JsonObject, bool]]:
        for block in [*(body.get("tools") or []), *system_blocks(body)]:
            yield block, bool(block.get("cache_control"))
        for message in body["messages"]:
            for block in blocks_of(message):
                yield {"role": message["role"], "block": block}, bool(block.get("cache_control"))


__all__ = ["Answer", "FakeAnthropic", "FakeModelInfo", "Held", "Received", "Say", "Thinking", "Use", "compose"]


def _entry(info: FakeModelInfo) -> JsonObject:
    return {
        "type": "model",
        "id": info.id,
        "display_name": info.id,
        "created_at": "2026-08-01T00:00:00Z",
        "max_input_tokens": info.max_input_tokens,
        "max_tokens": info.max_tokens,
        "lifecycle": "active",
        "retires_at": None,
        "capabilities": {},
    }


def _searched(answer: Answer) -> JsonObject:
    return {"server_tool_use": {"web_search_requests": answer.searches}} if answer.searches else {}
