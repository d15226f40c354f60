"""Refusals whose meaning is found in their words: no such model, no money, another address, a field not known."""

from __future__ import annotations

from agent.model.base import AccessDenied, InvalidRequest, ModelNotFound, TryLater
from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import http, sse

_PAGE = "<!DOCTYPE html>\n<html><head><title>502 Bad\n Gateway</title></head><body><h1>nginx</h1></body></html>"
_MODELS = http({"object": "list", "data": [{"id": "llama-3"}, {"id": "qwen-2.5"}, {"id": 7}, "odd"]})
_KNOWN = {"/v1/models": _MODELS}
_UNKNOWN = {"message": "The model `local/qwen-3` does not exist.", "type": "NotFoundError", "param": None, "code": 404}

DEVIATIONS = [
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
        says="has no model named local/qwen-3",
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
        says="out of credit.*Insufficient Balance",
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
        says="out of credit",
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
        says="out of credit",
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
        says="too many requests",
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
        "a proxy: a redirect with a password",
        http("", "307 Temporary Redirect", headers={"location": "http://ann:hunter22@llm.example/v1/messages"}),
        error=InvalidRequest,
        says=r"redirects to http://llm\.example\.",
        unsaid="hunter22",
    ),
    Deviation(
        "a proxy: a redirect to nowhere",
        http("", "302 Found", headers={"location": "http://[bad"}),
        error=InvalidRequest,
        says=r"redirects to .*model\.base_url",
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
