"""Refusals in shapes of their own. Each is told in the server's words, and as what it is."""

from __future__ import annotations

from agent.model.base import AccessDenied, ContextOverflow, InvalidRequest, ModelNotFound, TryLater
from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import http, said, sse, started, text_block

_PAGE = "<!DOCTYPE html>\n<html><head><title>502 Bad\n Gateway</title></head><body><h1>nginx</h1></body></html>"
_LOGIN = "<html><head><title>Sign in &amp; go on</title></head><body>Please sign in</body></html>"
_MODELS = http({"object": "list", "data": [{"id": "llama-3"}, {"id": "qwen-2.5"}, {"id": 7}, "odd"]})
_KNOWN = {"/v1/models": _MODELS}
_UNKNOWN = {"message": "The model `local/qwen-3` does not exist.", "type": "NotFoundError", "param": None, "code": 404}
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
        says="limits how often",
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
    Deviation("a server: nothing at all", http(""), error=TryLater, says="broke off"),
    Deviation(
        "a server: a clean end without an end",
        http(sse(started(), *text_block("So far"))),
        error=TryLater,
        says="broke off",
    ),
    Deviation(
        "a server: JSON that is cut",
        http(sse(started()) + b'data: {"type": "content_\n\n'),
        error=TryLater,
        says="cannot be read",
    ),
    # a name that nobody knows
    Deviation(
        "vLLM: no such model",
        http({"object": "error", **_UNKNOWN}, "404 Not Found"),
        pages=_KNOWN,
        error=ModelNotFound,
        says=r"local/qwen-3.*/model.*llama-3, qwen-2\.5",
    ),
    Deviation(
        "vLLM: no such model, in an error object",
        http({"error": _UNKNOWN}, "404 Not Found"),
        error=ModelNotFound,
        says="does not know a model named local/qwen-3",
    ),
    Deviation(
        "LiteLLM: no such model under status 400",
        http(
            {
                "error": {
                    "message": "/v1/messages: Invalid model name passed in model=local/qwen-3. Call `/v1/models`",
                    "type": "None",
                    "param": "None",
                    "code": "400",
                }
            },
            "400 Bad Request",
        ),
        pages=_KNOWN,
        error=ModelNotFound,
        says="llama-3",
    ),
    Deviation(
        "OpenRouter: no such model",
        http({"error": {"message": "local/qwen-3 is not a valid model ID", "code": 400}}, "400 Bad Request"),
        error=ModelNotFound,
        says="local/qwen-3",
    ),
    Deviation(
        "Ollama: no such model",
        http(
            {
                "type": "error",
                "error": {"type": "not_found_error", "message": 'model "local/qwen-3" not found, try pulling it first'},
            },
            "404 Not Found",
        ),
        error=ModelNotFound,
        says="local/qwen-3",
    ),
    Deviation(
        "OpenAI: no such model by its code",
        http(
            {
                "error": {
                    "message": "You do not have access to it.",
                    "type": "invalid_request_error",
                    "code": "model_not_found",
                }
            },
            "404 Not Found",
        ),
        error=ModelNotFound,
        says="local/qwen-3",
    ),
    Deviation(
        "LM Studio: no such model under status 200",
        http(sse({"error": {"message": "Model local/qwen-3 not found"}})),
        error=ModelNotFound,
        says="local/qwen-3",
    ),
    Deviation(
        "a refusal that only mentions the model",
        http({"error": {"message": "local/qwen-3 does not support tools", "code": 400}}, "400 Bad Request"),
        error=InvalidRequest,
        says="does not support tools",
    ),
    Deviation(
        "FastAPI: no such address",
        http({"detail": "Not Found"}, "404 Not Found"),
        error=InvalidRequest,
        says=r"no Messages API.*model\.base_url",
    ),
    Deviation(
        "nginx: no such address",
        http(_PAGE, "404 Not Found", "text/html"),
        error=InvalidRequest,
        says=r"no Messages API.*model\.base_url",
    ),
    Deviation(
        "a web server: no POST here",
        http({"detail": "Method Not Allowed"}, "405 Method Not Allowed"),
        error=InvalidRequest,
        says=r"no Messages API.*model\.base_url",
    ),
    # money
    Deviation(
        "DeepSeek: the balance is used up",
        http({"error": {"message": "Insufficient Balance", "type": "unknown_error"}}, "402 Payment Required"),
        error=AccessDenied,
        says="no credit left.*Insufficient Balance",
    ),
    Deviation(
        "OpenAI: the quota is used up",
        http(
            {
                "error": {
                    "message": "You exceeded your current quota, please check your plan and billing details.",
                    "type": "insufficient_quota",
                    "param": None,
                    "code": "insufficient_quota",
                }
            },
            "429 Too Many Requests",
        ),
        error=AccessDenied,
        says="no credit left",
    ),
    Deviation(
        "Moonshot: an account without a balance",
        http(
            {
                "error": {
                    "message": "Your account is suspended, insufficient balance",
                    "type": "exceeded_current_quota_error",
                }
            },
            "429 Too Many Requests",
        ),
        error=AccessDenied,
        says="no credit left",
    ),
    Deviation(
        "LiteLLM: the budget is exceeded",
        http(
            {
                "error": {
                    "message": "Budget has been exceeded! Current cost: 1.2, Max budget: 1.0",
                    "type": "budget_exceeded",
                }
            },
            "400 Bad Request",
        ),
        error=AccessDenied,
        says="Budget has been exceeded",
    ),
    Deviation(
        "Gemini: a quota for each minute",
        http(
            {"error": {"message": "Quota exceeded for requests per minute", "status": "RESOURCE_EXHAUSTED"}},
            "429 Too Many Requests",
            headers={"retry-after": "12"},
        ),
        error=TryLater,
        says="limits how often",
    ),
    # others
    Deviation(
        "a proxy: a redirect",
        http("", "308 Permanent Redirect", headers={"location": "https://llm.example/v1/messages"}),
        error=InvalidRequest,
        says=r"redirects to https://llm\.example(?!/v1/messages).*model\.base_url",
    ),
    Deviation(
        "a proxy: a redirect within the server",
        http("", "301 Moved", headers={"location": "/api/v1/messages?key=1"}),
        error=InvalidRequest,
        says=r"redirects to http://127\.0\.0\.1:\d+/api\b",
        unsaid="key=1",
    ),
    Deviation(
        "a proxy: no cache marks",
        http(
            {"error": {"message": "messages.0.content.0.cache_control: Extra inputs are not permitted"}},
            "400 Bad Request",
        ),
        error=InvalidRequest,
        says=r"Extra inputs.*model\.cache: off",
    ),
    Deviation(
        "a proxy: no cache marks, and none were sent",
        http({"error": {"message": "cache_control is odd"}}, "400 Bad Request"),
        cache="off",
        error=InvalidRequest,
        says=r"cache_control is odd\.$",
    ),
    Deviation(
        "llama.cpp: the model is being loaded",
        http(
            {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, "503 Service Unavailable"
        ),
        error=TryLater,
        says="Loading model",
    ),
    Deviation(
        "Cloudflare: the origin is down",
        http("error code: 521", "521 Down", "text/plain"),
        error=TryLater,
        says=r"\(521\): error code: 521",
    ),
]
