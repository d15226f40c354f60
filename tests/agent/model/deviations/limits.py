"""Limits, in the words in which servers tell them."""

from __future__ import annotations

from agent.model.base import AnswerTooLong, ContextOverflow
from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import http, said, sse

_FINE = http(sse(*said("Fine.")))
_NAME = "local/qwen-3"
_ONE = "/v1/models/local%2Fqwen-3"
_LIST = "/v1/models"


def _refused(
    message: str, kind: str = "invalid_request_error", status: str = "400 Bad Request", **more: object
) -> bytes:
    return http({"error": {"message": message, "type": kind, **more}}, status)


def _overflow(server: str, message: str, window: int | None, **more: object) -> Deviation:
    return Deviation(server, _refused(message, **more), error=ContextOverflow, window=window)  # type: ignore[arg-type]


def _longest(server: str, message: str, most: int, **more: object) -> Deviation:
    """The limit of an answer is obeyed with the next request."""
    sends = _refused(message, **more)  # type: ignore[arg-type]
    return Deviation(server, sends, then=_FINE, text="Fine.", asked=(8192, most))


def _window(server: str, pages: dict[str, object], window: int | None) -> Deviation:
    return Deviation(server, b"", pages={path: http(body) for path, body in pages.items()}, window=window)  # type: ignore[arg-type]


DEVIATIONS = [
    _overflow(
        "vLLM: the window",
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the "
        "messages, 10000 in the completion). Please reduce the length of the messages or completion.",
        16384,
        kind="BadRequestError",
    ),
    _overflow(
        "vLLM: the window, where the answer is too long for it",
        "'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context length is 64001 "
        "tokens and your request has 24235 input tokens (64000 > 64001 - 24235).",
        64001,
        kind="BadRequestError",
    ),
    _overflow(
        "llama.cpp: the window in its words",
        "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it",
        8192,
        kind="exceed_context_size_error",
    ),
    _overflow(
        "llama.cpp: the window in a field, under status 500",
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        4096,
        kind="exceed_context_size_error",
        status="500 Internal Server Error",
        n_prompt_tokens=14429,
        n_ctx=4096,
    ),
    _overflow("llama-cpp-python: the window", "Requested tokens (2285) exceed context window of 2048", 2048),
    _overflow(
        "LM Studio: the window",
        "Trying to keep the first 5210 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens, which is not enough.",
        4096,
    ),
    _overflow(
        "SGLang: the window", "The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8192
    ),
    _overflow("OpenRouter: a window with commas", "This endpoint's maximum context length is 32,768 tokens.", 32768),
    _overflow("Anthropic: the window", "prompt is too long: 208310 tokens > 200000 maximum", 200_000),
    _overflow(
        "Anthropic: the window and the answer",
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or "
        "`max_tokens` and try again",
        200_000,
    ),
    _overflow(
        "Gemini: the window",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        1048576,
    ),
    _overflow(
        "OpenAI: an overflow by its code",
        "Please reduce the length of the messages.",
        None,
        code="context_length_exceeded",
    ),
    _overflow(
        "LiteLLM: far behind in a long text",
        "litellm.BadRequestError: " + "x " * 400 + "maximum context length is 8192",
        8192,
    ),
    _overflow("a server: a number that is none", "maximum context length is 99999999999999999999999 tokens", None),
    _longest(
        "DeepSeek: the longest answer", "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]", 4096
    ),
    _longest(
        "OpenAI: the longest answer",
        "max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.",
        4096,
    ),
    _longest(
        "Anthropic: the longest answer",
        "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens",
        4096,
    ),
    _longest(
        "Groq: the longest answer",
        "`max_tokens` must be less than or equal to `4096`, the maximum value for `max_tokens` is less than the "
        "`context_window` for this model",
        4096,
    ),
    _longest(
        "Doubao: the longest answer",
        "The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a "
        "value <= 4096, but got 8192 instead.",
        4096,
    ),
    _longest(
        "Bedrock: the longest answer",
        "The maximum tokens you requested exceeds the model limit of 2048. Try again with a maximum tokens value that "
        "is lower than 2048.",
        2048,
    ),
    Deviation(
        "a server: a longest answer that does not help",
        _refused("max_tokens is too large: 8192. This model supports at most 9000 completion tokens"),
        error=AnswerTooLong,
        says=r"model\.max_tokens",
    ),
    _window("Anthropic: the window of a model", {_ONE: {"id": _NAME, "max_input_tokens": 200_000}}, 200_000),
    _window(
        "vLLM: the window in the list",
        {_LIST: {"data": [{"id": "x", "max_model_len": 1}, {"id": _NAME, "max_model_len": 32768}]}},
        32768,
    ),
    _window(
        "llama.cpp: the window of the one model",
        {_LIST: {"data": [{"id": "m.gguf", "meta": {"n_ctx": 8192, "n_ctx_train": 131072}}]}},
        8192,
    ),
    _window(
        "llama.cpp: the window that is served, not the one trained for",
        {_LIST: {"data": [{"id": _NAME, "meta": {"n_ctx_train": 131072}}]}},
        None,
    ),
    _window("OpenRouter: the window", {_LIST: {"data": [{"id": _NAME, "context_length": 65536}]}}, 65536),
    _window("Groq: the window", {_ONE: {"id": _NAME, "context_window": 65536}}, 65536),
    _window(
        "LM Studio: the window as it is loaded",
        {_ONE: {"id": _NAME, "max_context_length": 131072, "loaded_context_length": 4096}},
        4096,
    ),
    _window(
        "a mock: a model without a window, then the list",
        {_ONE: {"id": _NAME, "object": "model"}, _LIST: {"data": [{"id": _NAME, "max_model_len": 4096}]}},
        4096,
    ),
    _window(
        "a mock: another model's window is not ours",
        {_LIST: {"data": [{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}]}},
        None,
    ),
    _window(
        "a mock: windows that are none",
        {_ONE: {"max_input_tokens": -1}, _LIST: {"data": [{"id": _NAME, "max_model_len": "many", "meta": []}]}},
        None,
    ),
    _window("a mock: a list of odd things", {_ONE: [1], _LIST: {"data": {"id": 3}}}, None),
    _window("a mock: a list that is a list", {_LIST: [{"id": _NAME, "max_model_len": 4096}]}, 4096),
    _window("a mock: a window told as text", {_LIST: {"data": [{"id": _NAME, "max_model_len": "4096"}]}}, 4096),
    _window("a server that knows no models", {}, None),
]
