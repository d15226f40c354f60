"""A server's refusal as an error by what the caller can do, in words for the person. Pure."""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent.formats.network import BadEnvironment
from agent.formats.parsing import load_json
from agent.formats.plain_text import repair_surrogates
from agent.languages.sentences import Sentence
from agent.model.base import (
    AccessDenied,
    AnswerTooLong,
    ContextOverflow,
    InvalidRequest,
    Json,
    ModelError,
    ModelNotFound,
    ThinkingRejected,
    TryLater,
)


@dataclass(frozen=True, slots=True)
class ApiKind:
    """What refusals name: the API, the key's variable, the path that is asked."""

    name: str
    key: str
    path: str


MESSAGES = ApiKind("Messages API", "ANTHROPIC_API_KEY", "/v1/messages")
CHAT_COMPLETIONS = ApiKind("chat completions API", "OPENAI_API_KEY", "/chat/completions")

_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "BadRequestError": 400,
    "exceed_context_size_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "NotFoundError": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
    "insufficient_quota": 402,
    "rate_limit_exceeded": 429,
    "context_length_exceeded": 400,
    "invalid_api_key": 401,
}
"""The API's error types (https://docs.anthropic.com/en/api/errors), and those of OpenAI, vLLM and llama.cpp: an error
inside a stream has no status."""

_MOST_READ = 16_000
"""Characters of a server's words that are looked at."""
_LONGEST_QUOTE = 300
_SAYING = ("message", "msg", "detail", "error", "errors", "error_message", "reason", "title")
"""Fields in which servers put their words."""
_DEEPEST = 5

_TOO_LONG = re.compile(
    r"prompt is too long|exceeds? (the )?(model's )?(available |maximum )?context|context (length|limit|window|size)"
    r"|exceed_context_size|context_length_exceeded|exceeds the maximum number of tokens allowed"
    r"|exceeded model token limit|prompt exceeds max length|range of input length|maximum prompt length"
    r"|reduce the length of the messages|`?max_new_tokens`? must be <=|max_tokens must be at least 1, got -",
    re.IGNORECASE,
)
"""Anthropic's own wording, and those of vLLM, llama.cpp, LM Studio, OpenRouter, OpenAI, Gemini, Kimi, GLM, Qwen, xAI,
Groq, TGI."""
_NUMBER = r"(\d[\d,]{0,12})(?![\d,])"
_WINDOWS = tuple(
    re.compile(words + _NUMBER, re.IGNORECASE)
    for words in (
        r"maximum context length (?:is|of) ",
        r"available context size \(",
        r"\bn_ctx\W{1,4}",
        r"context length of only ",
        r"context length \(",
        r"context window of ",
        r"\d tokens > ",
        r"context limit: \d{1,9} \+ \d{1,9} > ",
        r"maximum number of tokens allowed \(",
        r"exceeded model token limit: ",
        r"range of input length should be \[\d{1,3}, ?",
        r"maximum prompt length is ",
        r"`?max_new_tokens`? must be <= ",
    )
)
"""Before the number: vLLM and OpenAI, llama.cpp (twice), LM Studio, SGLang, llama-cpp-python, Anthropic (twice),
Gemini, Kimi, Qwen, xAI, TGI."""
_MOST_TOKENS = tuple(
    re.compile(words + _NUMBER, re.IGNORECASE)
    for words in (
        r"max_tokens: \d{1,9} > ",
        r"range of max_tokens is \[\d{1,3}, ?",
        r"supports at most ",
        r"`max_tokens` must be less than or equal to `?",
        r"max_(?:completion_)?tokens`? [^<]{0,150}expected a value <= ",
        r"maximum tokens you requested exceeds the model limit of ",
    )
)
"""Before the number: Anthropic, DeepSeek, OpenAI, Groq, Doubao, Bedrock."""
_PLACE = re.compile(r"\bmessages\.(\d{1,6})\.content\.(\d{1,6})\b")
_CREDIT = re.compile(
    r"credit balance|billing|insufficient[ _](funds|balance|credit|quota)|current[ _]quota"
    r"|budget(_| has been )exceeded",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"not found|does(n't| not) exist|no such|unknown|invalid model|not a valid model|not available|model_not_found",
    re.IGNORECASE,
)
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,400})", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_SECRET = re.compile(r"\b(sk|key|tok)-[\w-]{6,}")


@dataclass(frozen=True, slots=True)
class ServerMessage:
    """A refusal: its text, types and codes, and a window if a field names it."""

    text: str = ""
    kind: str = ""
    codes: str = ""
    window: int | None = None
    is_error: bool = False
    """True if it came in an error object."""
    is_page: bool = False
    """True for a web page."""

    @property
    def all(self) -> str:
        return f"{self.text} {self.kind} {self.codes}"


def said_in(body: Json) -> ServerMessage:
    """Reads a body: JSON, or text that may be JSON."""
    if isinstance(body, str):
        text = body.strip()
        try:
            given = load_json(text) if text[:1] in "{[" and text else text
        except ValueError:
            given = text
        if isinstance(given, str):
            return _page(text) if text.startswith("<") else ServerMessage(_clean(text))
        body = given
    error = _error_in(body)
    kind = error.get("type") or (body.get("type") if isinstance(body, Mapping) else "")
    codes = " ".join(str(error.get(key)) for key in ("code", "status", "param") if error.get(key))
    return ServerMessage(
        _clean("; ".join(_words_in(body))),
        kind if isinstance(kind, str) and kind != "error" else "",
        repair_surrogates(codes)[:200],
        _size(error.get("n_ctx")),
        bool(error) and not (isinstance(body, Mapping) and set(body) <= {"detail"}),
    )


def status_of(said: ServerMessage) -> int:
    """The HTTP status of an error; 500 for an unknown one."""
    if said.kind in _STATUS_OF_TYPE:
        return _STATUS_OF_TYPE[said.kind]
    first = said.codes.partition(" ")[0]
    return int(first) if re.fullmatch(r"[45]\d\d", first) else 500


def refusal(
    status: int,
    said: ServerMessage,
    *,
    model: str,
    secret: str = "",
    wait: float | None = None,
    api: ApiKind = MESSAGES,
) -> ModelError:
    because = _because(quoted(said.text, secret))
    if status != 429 and (most := _number_after(_MOST_TOKENS, said.text)):
        return AnswerTooLong(
            Sentence(
                "The model can't give answers that long{because}. Set model.max_tokens in config.yaml to at most "
                "{most}.",
                because=because,
                most=most,
            ),
            most=most,
        )
    if status == 413 or (status not in (401, 402, 429) and _TOO_LONG.search(said.all)):
        window = said.window or _number_after(_WINDOWS, said.text)
        return ContextOverflow(Sentence("The conversation is too long for the model."), window=window)
    if status == 402 or (status in (400, 403, 429) and _is_about_money(said, wait)):
        return AccessDenied(
            Sentence(
                "The model account is out of credit{because}. Add credit where you created the API key.",
                because=because,
            )
        )
    if status == 429:
        return TryLater(Sentence("The model's server is getting too many requests."), retry_after=wait)
    if status in (400, 404, 500) and _names_model(status, said, model):
        return ModelNotFound(
            Sentence(
                "The model's server has no model named {model}. Choose another with /model or in config.yaml.",
                model=model,
            )
        )
    if status >= 500 or status in (408, 409, 425):
        return TryLater(_down(status, because), retry_after=wait, overloaded=status >= 500)
    if status == 401:
        return AccessDenied(
            Sentence(
                "The model's server rejected the API key. Check {key} in .env (or model.api_key in config.yaml), then "
                "try again.",
                key=api.key,
            )
        )
    if status == 403:
        return AccessDenied(
            Sentence("The API key isn't allowed to do this{because}. Use another key or model.", because=because)
        )
    if status in (404, 405):
        return _wrong_address(api)
    if _is_about_thinking(said.text.casefold()):
        return ThinkingRejected(
            Sentence("The model's server refused earlier thinking in this conversation{because}.", because=because)
        )
    return InvalidRequest(
        Sentence("The model's server refused the request ({status}){because}.", status=status, because=because),
        at=_place(said.text),
    )


def unexpected(said: ServerMessage, secret: str, api: ApiKind = MESSAGES) -> InvalidRequest:
    """The error for a body of status 200 that is no answer."""
    if said.is_page:
        return InvalidRequest(
            Sentence(
                "There is no {api} at the configured address: it shows a web page{because}. Check model.base_url in "
                "config.yaml.",
                api=api.name,
                because=_because(quoted(said.text, secret)),
            )
        )
    if not said.text:
        return _wrong_address(api)
    return InvalidRequest(
        Sentence("Instead of an answer, the model's server sent: {text}.", text=quoted(said.text, secret).rstrip("."))
    )


def _wrong_address(api: ApiKind) -> InvalidRequest:
    return InvalidRequest(
        Sentence("There is no {api} at the configured address. Check model.base_url in config.yaml.", api=api.name)
    )


def redirect(target: str, secret: str, api: ApiKind = MESSAGES) -> InvalidRequest:
    if where := quoted(target.removesuffix("/").removesuffix(api.path), secret):
        return InvalidRequest(
            Sentence(
                "The configured address redirects to {where}. Set model.base_url in config.yaml to that.", where=where
            )
        )
    return InvalidRequest(
        Sentence("The configured address redirects to another. Set model.base_url in config.yaml to that.")
    )


@contextlib.contextmanager
def client_made() -> Iterator[None]:
    """Turns what making a client raises into `ModelError`: the environment is foreign, so it may be anything."""
    try:
        yield
    except BadEnvironment as problem:
        why = Sentence(problem.english, **problem.values)
        raise InvalidRequest(Sentence("I can't ask the model's server. {why}", why=why)) from problem
    except Exception as error:
        said = str(error) or type(error).__name__
        raise InvalidRequest(
            Sentence("I can't make a connection to the model's server: {why}", why=said[:_LONGEST_QUOTE])
        ) from error


def quoted(text: str, secret: str) -> str:
    """A server's text in one short line, without anything like a key."""
    clean = _clean(text)
    if secret:
        clean = clean.replace(secret, "***")
    clean = _SECRET.sub("***", clean)
    return clean if len(clean) <= _LONGEST_QUOTE else clean[: _LONGEST_QUOTE - 1] + "…"


def _error_in(body: Json, depth: int = 0) -> Mapping[str, Json]:
    if isinstance(body, list) and depth < _DEEPEST:
        return next((error for item in body[:1] if (error := _error_in(item, depth + 1))), {})
    if not isinstance(body, Mapping):
        return {}
    inner = body.get("error")
    if isinstance(inner, Mapping | list) and depth < _DEEPEST:
        return _error_in(inner, depth + 1)
    return body


def _words_in(body: Json, depth: int = 0) -> Iterator[str]:
    if isinstance(body, str):
        if body.strip():
            yield body.strip()
    elif isinstance(body, list):
        for item in body[:3] if depth < _DEEPEST else ():
            yield from _words_in(item, depth + 1)
    elif isinstance(body, Mapping) and depth < _DEEPEST:
        for field in _SAYING:
            if words := list(_words_in(body.get(field), depth + 1)):
                place = body.get("loc")
                where = ".".join(map(str, place)) if isinstance(place, list) else ""
                yield from (f"{where}: {word}" if where else word for word in words)
                return


def _page(text: str) -> ServerMessage:
    title = _TITLE.search(text[:_MOST_READ])
    words = title[1] if title else _TAG.sub(" ", text[:_MOST_READ])
    return ServerMessage(_clean(html.unescape(words)), is_page=True)


def _clean(text: str) -> str:
    return repair_surrogates(" ".join(text[:_MOST_READ].split()))


def _size(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else None


def _number_after(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        if found := pattern.search(text):
            return _size(int(found[1].replace(",", "")))
    return None


def _is_about_money(said: ServerMessage, wait: float | None) -> bool:
    """True for a spent quota, except one of a minute: then a server says how long to wait."""
    words = said.all.lower()
    return bool(_CREDIT.search(words)) or ("quota" in words and wait is None and " per " not in words)


def _is_about_thinking(said: str) -> bool:
    behind = said.partition("thinking")[2]
    return any(word in behind for word in ("signature", "bound to", "block")) or (
        "thinking" in said.partition("signature")[2]
    )


def _names_model(status: int, said: ServerMessage, model: str) -> bool:
    if said.kind == "not_found_error" and status == 404:
        return True
    if not said.is_error or not _UNKNOWN_MODEL.search(said.all):
        return False
    return model.lower() in said.text.lower() or "model_not_found" in said.all


def _down(status: int, because: str) -> str:
    if status == 529:
        return Sentence("The model is overloaded.")
    return Sentence("The model's server had an error ({status}){because}.", status=status, because=because)


def _place(said: str) -> tuple[int, int] | None:
    match = _PLACE.search(said)
    return (int(match[1]), int(match[2])) if match else None


def _because(said: str) -> str:
    return f": {said.rstrip('.')}" if said else ""
