"""Refusals in shapes of their own. Each is told in the server's words, and as what it is."""

from __future__ import annotations

from agent.model.base import ContextOverflow, InvalidRequest, TryLater
from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import http, said, sse, started, text_block

_PAGE = "<!DOCTYPE html>\n<html><head><title>502 Bad\n Gateway</title></head><body><h1>nginx</h1></body></html>"
_LOGIN = "<html><head><title>Sign in &amp; go on</title></head><body>Please sign in</body></html>"
_OVER = {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"}

DEVIATIONS = [
    # no `"type": "error"`
    Deviation(
        "llama.cpp: an error object alone",
        http(
            {"error": {"code": 400, "message": "Failed to parse tools: bad schema", "type": "invalid_request_error"}},
            "400 Bad Request",
        ),
        error=InvalidRequest,
        says="Failed to parse tools: bad schema",
    ),
    Deviation(
        "llama.cpp: an error under status 200",
        http({"error": {"code": 400, "message": "image input is not supported", "type": "invalid_request_error"}}),
        error=InvalidRequest,
        says="image input is not supported",
    ),
    Deviation(
        "llama.cpp: an overflow under status 200",
        http({"error": _OVER | {"n_prompt_tokens": 14429, "n_ctx": 8192}}),
        error=ContextOverflow,
        window=8192,
    ),
    Deviation(
        "LiteLLM: an error within the stream",
        http(
            sse(
                started(),
                *text_block("So"),
                {"error": {"message": "litellm.APIError: upstream is gone", "code": "500"}},
            )
        ),
        error=TryLater,
        says="upstream is gone",
    ),
    Deviation(
        "LiteLLM: an overflow within the stream",
        http(
            sse(
                {
                    "error": {
                        "message": "litellm.ContextWindowExceededError: prompt is too long: 9000 tokens > 8192 maximum",
                        "type": None,
                        "param": None,
                        "code": "400",
                    }
                }
            )
        ),
        error=ContextOverflow,
        window=8192,
    ),
    Deviation(
        "LM Studio: an error that is a text",
        http({"error": "Model crashed, see logs"}, "400 Bad Request"),
        error=InvalidRequest,
        says="Model crashed, see logs",
    ),
    Deviation(
        "LM Studio: an error event without an error",
        http(sse(started()) + b'event: error\ndata: {"message": "The model has crashed"}\n\n'),
        error=TryLater,
        says="The model has crashed",
    ),
    Deviation(
        "a proxy: an error event that is plain text",
        http(sse(started()) + b"event: error\ndata: upstream timed out\n\n"),
        error=TryLater,
        says="upstream timed out",
    ),
    Deviation(
        "vLLM: an error with its message at the top",
        http(
            {
                "object": "error",
                "message": "chat template is missing",
                "type": "BadRequestError",
                "param": None,
                "code": 400,
            },
            "400 Bad Request",
        ),
        error=InvalidRequest,
        says="chat template is missing",
    ),
    Deviation(
        "a proxy: an error within an error",
        http({"error": {"error": {"message": "deep down"}}}, "400 Bad Request"),
        error=InvalidRequest,
        says="deep down",
    ),
    Deviation(
        "OpenRouter: a rate limit within the stream",
        http(sse({"error": {"code": 429, "message": "Rate limited"}})),
        error=TryLater,
        says="too many requests",
    ),
    Deviation(
        "a proxy: a null error is none", http(sse({"type": "ping", "error": None}, *said("Fine."))), text="Fine."
    ),
    # bodies of other kinds
    Deviation(
        "FastAPI: a detail",
        http({"detail": "Only one request at a time"}, "400 Bad Request"),
        error=InvalidRequest,
        says="Only one request at a time",
    ),
    Deviation(
        "FastAPI: a list of details",
        http(
            {"detail": [{"loc": ["body", "tools", 0], "msg": "field required", "type": "value_error.missing"}]},
            "422 Unprocessable Entity",
        ),
        error=InvalidRequest,
        says=r"body\.tools\.0: field required",
    ),
    Deviation(
        "FastAPI: a detail under status 200",
        http({"detail": "no worker is alive"}),
        error=InvalidRequest,
        says="no worker is alive",
    ),
    Deviation(
        "a proxy: plain text",
        http("tool calls are off here\n", "400 Bad Request", "text/plain"),
        error=InvalidRequest,
        says="tool calls are off here",
    ),
    Deviation(
        "a proxy: plain text under status 200",
        http("upstream is asleep", kind="text/plain"),
        error=InvalidRequest,
        says="upstream is asleep",
    ),
    Deviation(
        "Gemini: a list",
        http(
            [{"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT"}}], "400 Bad Request"
        ),
        error=InvalidRequest,
        says="API key not valid",
    ),
    Deviation(
        "a proxy: errors in a list",
        http({"errors": [{"message": "one"}, {"message": "two"}]}, "400 Bad Request"),
        error=InvalidRequest,
        says="one",
    ),
    Deviation("a proxy: no body at all", http("", "400 Bad Request"), error=InvalidRequest, says=r"\(400\)"),
    Deviation(
        "a proxy: half a character in its words",
        http('{"error": "bad \\ud83d"}', "400 Bad Request", "application/json"),
        error=InvalidRequest,
        says="bad \ufffd",
    ),
    Deviation(
        "a proxy: bytes that are not UTF-8",
        http(b"caf\xe9 is shut", "400 Bad Request", "text/plain"),
        error=InvalidRequest,
        says="is shut",
    ),
    Deviation(
        "a proxy: JSON too deep to be read",
        http("[" * 100_000, "400 Bad Request", "application/json"),
        error=InvalidRequest,
        says=r"\(400\)",
    ),
    Deviation(
        "a proxy: its words are endless",
        http({"error": {"message": "x" * 100_000}}, "400 Bad Request"),
        error=InvalidRequest,
        says="xxx…",
    ),
    Deviation(
        "nginx: a web page",
        http(_PAGE, "502 Bad Gateway", "text/html"),
        error=TryLater,
        says="502 Bad Gateway",
        unsaid="<",
    ),
    Deviation(
        "a portal: a web page under status 200",
        http(_LOGIN, kind="text/html"),
        error=InvalidRequest,
        says=r"web page.*Sign in & go on.*model\.base_url",
    ),
    Deviation("a portal: a web page told as a stream", http(_LOGIN), error=InvalidRequest, says="web page.*Sign in"),
    Deviation(
        "OpenAI's API: an answer of another kind",
        http({"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "Hi"}}]}),
        error=InvalidRequest,
        says=r"no Messages API.*model\.base_url",
    ),
    Deviation(
        "a mock: an empty object", http("{}", kind="application/json"), error=InvalidRequest, says=r"no Messages API"
    ),
    Deviation("a server: nothing at all", http(""), error=TryLater, says="was cut off"),
    Deviation(
        "a server: a clean end without an end",
        http(sse(started(), *text_block("So far"))),
        error=TryLater,
        says="was cut off",
    ),
    Deviation(
        "a server: JSON that is cut",
        http(sse(started()) + b'data: {"type": "content_\n\n'),
        error=TryLater,
        says="can't read",
    ),
]
