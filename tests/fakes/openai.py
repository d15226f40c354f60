"""A strict chat completions server on the loopback, with a switch for each way in which real servers differ.

Scripted, disturbed and asked like `FakeAnthropic`, whose queue it has.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from aiohttp import web

from tests.fakes.anthropic import FakeAnthropic, FakeModelInfo
from tests.fakes.anthropic_answers import Answer, Break, Held, Say, Thinking, Use, in_pieces
from tests.fakes.anthropic_rules import JsonObject, Rejected, blocks_of
from tests.fakes.openai_rules import check_completion, tokens_of

Calls = Literal["openai", "whole", "indexless", "idless", "same_index", "repeating", "objects", "legacy"]
Reasoning = Literal["", "reasoning_content", "reasoning", "tags", "parts"]
_STOPS = {"tool_use": "tool_calls", "end_turn": "stop", "max_tokens": "length", "refusal": "content_filter"}
_KINDS = {401: "invalid_request_error", 429: "rate_limit_exceeded", 500: "server_error", 503: "server_error"}


class FakeOpenAI(FakeAnthropic):
    """See the module. Without a switch it is as OpenAI's own, but for `max_tokens`, which it takes.

    calls         how it streams tool calls
    reasoning     where thinking is: in a field, in `<think>` tags, in parts of the content (Mistral), or nowhere
    needs_reasoning     it refuses calls that come back without it: of the current turn (DeepSeek), or all (Kimi)
    user_after_tool     it takes a user's message after results (Mistral does not)
    no_tools      refuses tools with that status and text
    no_system     refuses the system role (Gemma's template)
    limit         the only field for the longest answer that it takes
    no_stream_options   refuses `stream_options`; `without_usage`: takes it, and counts nothing
    says_done     a stream ends with [DONE]
    window_field  where the list of models has the window; `props`, `ollama`: beside it
    """

    def __init__(self, api_key: str = "sk-fake-openai-0123456789") -> None:
        super().__init__(api_key)
        self.reply = _last_words
        self.models = {"llama3.3": FakeModelInfo("llama3.3", 131_072, 16_384)}
        self.calls: Calls = "openai"
        self.reasoning: Reasoning = ""
        self.needs_reasoning: Literal["", "turn", "all"] = ""
        self.user_after_tool = True
        self.no_tools: tuple[int, str] | None = None
        self.no_system = False
        self.limit: Literal["", "max_tokens", "max_completion_tokens"] = ""
        self.no_stream_options = False
        self.no_effort = False
        self.says_done = True
        self.window_field = ""
        self.props: JsonObject | None = None
        self.ollama: JsonObject | None = None
        self.keyless = False

    def _add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/chat/completions", self._messages)
        router.add_get("/v1/models/{id:.+}", self._model)
        router.add_get("/v1/models", self._list)
        router.add_get("/props", self._props)
        router.add_get("/api/ps", self._ps)

    async def _props(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(self.props) if self.props else web.Response(status=404)

    async def _ps(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(self.ollama) if self.ollama else web.Response(status=404)

    async def _model(self, http: web.Request) -> web.StreamResponse:
        try:
            self._check_headers(http)
            info = self.models.get(http.match_info["id"])
            if info is None or not self.models_endpoint:
                raise self._unknown(http.match_info["id"])
        except Rejected as error:
            return self._error(error.status, error.kind, str(error))
        return web.json_response(self._entry(info))

    async def _list(self, http: web.Request) -> web.StreamResponse:
        try:
            self._check_headers(http)
            if not self.models_endpoint:
                raise Rejected("Not found", status=404, kind="not_found")
        except Rejected as error:
            return self._error(error.status, error.kind, str(error))
        return web.json_response({"object": "list", "data": [self._entry(info) for info in self.models.values()]})

    def _entry(self, info: FakeModelInfo) -> JsonObject:
        entry = {"id": info.id, "object": "model", "created": 1_760_000_000, "owned_by": "library"}
        match self.window_field:
            case "":
                return entry
            case "n_ctx":
                return entry | {"meta": {"n_ctx": info.max_input_tokens, "n_ctx_train": 1_000_000}}
            case field:
                return entry | {field: info.max_input_tokens}

    def _check_headers(self, http: web.Request) -> None:
        if self.keyless or http.headers.get("authorization") == f"Bearer {self.api_key}":
            return
        raise Rejected("Incorrect API key provided.", status=401, kind="invalid_api_key")

    def _unknown(self, model: str) -> Rejected:
        return Rejected(f"The model `{model}` does not exist.", status=404, kind="model_not_found")

    def _check(self, body: JsonObject, info: FakeModelInfo) -> None:
        field = self.reasoning if self.reasoning in ("reasoning_content", "reasoning") else ""
        check_completion(body, info, field)
        if self.no_tools and "tools" in body:
            raise Rejected(self.no_tools[1], status=self.no_tools[0])
        if self.no_system and any(message["role"] == "system" for message in body["messages"]):
            raise Rejected("System role not supported", status=500, kind="server_error")
        if self.no_stream_options and "stream_options" in body:
            raise Rejected("Unrecognized request argument supplied: stream_options")
        if self.no_effort and "reasoning_effort" in body:
            raise Rejected("Unsupported parameter: 'reasoning_effort' is not supported with this model.")
        for name in ("max_tokens", "max_completion_tokens"):
            if self.limit and name != self.limit and name in body:
                raise Rejected(
                    f"Unsupported parameter: '{name}' is not supported with this model. Use '{self.limit}' instead."
                )
        if self.needs_reasoning:
            _check_reasoning(body["messages"], field, everywhere=self.needs_reasoning == "all")
        roles = [message["role"] for message in body["messages"]]
        if not self.user_after_tool and ("tool", "user") in itertools.pairwise(roles):
            raise Rejected("Unexpected role 'user' after role 'tool'")

    def _error(self, status: int, kind: str, message: str, retry_after: str | None = None) -> web.Response:
        headers = {} if retry_after is None else {"retry-after": retry_after}
        codes = {"context_length_exceeded", "model_not_found", "invalid_api_key", "insufficient_quota"}
        error = {
            "message": message,
            "type": _KINDS.get(status, "invalid_request_error") if kind in codes else kind,
            "param": None,
            "code": kind if kind in codes else None,
        }
        return web.json_response({"error": error}, status=status, headers=headers)

    # -- answering

    def _whole(self, body: JsonObject, answer: Answer) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": None}
        calls: list[JsonObject] = []
        for part in answer.parts:
            if isinstance(part, Use):
                calls.append({"id": self._id("call"), "type": "function", "function": _function(part)})
            for delta in self._texts(part):
                for name, value in delta.items():
                    message[name] = _joined(message.get(name), value)
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": _stop(answer)}
        usage = {} if self.without_usage else {"usage": _usage(body, answer)}
        return self._chunk(body, [choice]) | {"object": "chat.completion"} | usage

    async def _stream(
        self, http: web.Request, body: JsonObject, answer: Answer, fault: Break | Held | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(http)
        await self._send(response, self._chunk(body, [_choice({"role": "assistant", "content": ""})]))
        deltas = 0
        for part in answer.parts:
            for delta in self._texts(part):
                if isinstance(part, Say):
                    if await self._disturbed(http, response, fault, deltas):
                        return response
                    deltas += 1
                await self._send(response, self._chunk(body, [_choice(delta)]))
        for delta in self._call_deltas([part for part in answer.parts if isinstance(part, Use)]):
            await self._send(response, self._chunk(body, [_choice(delta)]))
        if await self._disturbed(http, response, fault, None):
            return response
        if not isinstance(fault, Break):
            await self._send(response, self._chunk(body, [_choice({}, _stop(answer))]))
            if not self.without_usage and (body.get("stream_options") or {}).get("include_usage"):
                await self._send(response, self._chunk(body, []) | {"usage": _usage(body, answer)})
        if self.says_done:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    def _texts(self, part: Any) -> Iterator[JsonObject]:
        match part:
            case Say(pieces=pieces):
                yield from ({"content": piece} for piece in pieces)
            case Thinking(text=text):
                match self.reasoning:
                    case "tags":
                        yield from ({"content": piece} for piece in in_pieces(f"<think>\n{text}\n</think>\n\n"))
                    case "parts":
                        thought = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
                        yield {"content": [thought]}
                    case "":
                        pass
                    case field:
                        yield from ({field: piece} for piece in in_pieces(text))

    def _call_deltas(self, calls: list[Use]) -> Iterator[JsonObject]:
        """Every call's beginning, and its arguments in thirds, in the way of `self.calls`."""
        for index, call in enumerate(calls):
            function, id = _function(call), self._id("call")
            arguments = str(function["arguments"])
            third = max(1, -(-len(arguments) // 3))
            pieces = [arguments[at : at + third] for at in range(0, len(arguments), third)]
            whole = {"index": index, "id": id, "type": "function", "function": function}
            match self.calls:
                case "whole":
                    yield {"tool_calls": [whole]}
                case "same_index":
                    yield {"tool_calls": [whole | {"index": 0, "id": ""}]}
                case "objects":
                    given = call.input if isinstance(call.input, Mapping) else arguments
                    yield {"tool_calls": [whole | {"function": {"name": call.name, "arguments": given}}]}
                case "legacy":
                    yield {"function_call": function}
                case "repeating":
                    for piece in pieces:
                        yield {"tool_calls": [whole | {"function": {"name": call.name, "arguments": piece}}]}
                case style:
                    first = whole | {"function": {"name": call.name, "arguments": ""}}
                    dropped = {"indexless": {"index"}, "idless": {"id", "index"}}.get(style, set())
                    yield {"tool_calls": [{key: one for key, one in first.items() if key not in dropped}]}
                    for piece in pieces:
                        more = {"index": index, "function": {"arguments": piece}}
                        yield {"tool_calls": [{key: one for key, one in more.items() if key not in dropped}]}

    def _chunk(self, body: JsonObject, choices: list[JsonObject]) -> JsonObject:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body["model"],
            "choices": choices,
        }

    async def _send(self, response: web.StreamResponse, event: JsonObject) -> None:
        shown = {key: value for key, value in event.items() if key != "type"}
        await response.write(f"data: {json.dumps(shown, ensure_ascii=False)}\n\n".encode("utf-8", "replace"))


def _joined(before: Any, more: Any) -> Any:
    """Texts as one; beside parts as another part."""
    if isinstance(before, list):
        return [*before, {"type": "text", "text": more}]
    return before + more if before else more


def _last_words(body: JsonObject) -> str:
    for message in reversed(body["messages"]):
        if message["role"] == "user":
            texts = [part["text"] for part in blocks_of(message) if part.get("type") == "text"]
            return "\n".join(texts)
    return ""


def _check_reasoning(messages: list[JsonObject], field: str, *, everywhere: bool) -> None:
    turn = 0 if everywhere else max(at for at, message in enumerate(messages) if message["role"] == "user")
    for at, message in enumerate(messages[turn:], start=turn):
        if message.get("tool_calls") and field not in message:
            raise Rejected(f"Missing `{field}` field in the assistant message at message index {at}.")


def _choice(delta: JsonObject, reason: str | None = None) -> JsonObject:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}


def _stop(answer: Answer) -> str:
    return _STOPS.get(answer.ends_with, answer.ends_with)


def _function(call: Use) -> JsonObject:
    given = call.input if isinstance(call.input, str) else json.dumps(call.input, ensure_ascii=False)
    return {"name": call.name, "arguments": given}


def _usage(body: JsonObject, answer: Answer) -> JsonObject:
    given = dict(answer.usage or {})
    read = given.get("input_tokens", tokens_of(body["messages"]))
    written = given.get("output_tokens", tokens_of([str(part) for part in answer.parts]))
    cached = given.get("cache_read_input_tokens", 0)
    return {
        "prompt_tokens": read + cached,
        "completion_tokens": written,
        "total_tokens": read + cached + written,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
