"""Checks a model's key and server: which models it has, and whether one of them answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlsplit

from agent.languages.sentences import Sentence
from agent.model.anthropic.model import ANTHROPIC_URL, entries_of
from agent.model.anthropic.request import key_headers
from agent.model.base import Json
from agent.model.errors import CHAT_COMPLETIONS, MESSAGES
from agent.model.openai.dialect import OPENAI_URL, api_root
from channels.checks import CheckResult, Outcome, ProbeReply, ServerClock
from gateway.setup.probe import get, post

_QUESTION = "Say hello in one short sentence."
_ANSWER_TOKENS = 300
"""Enough for a model that thinks first."""
_LOADING = 90.0
"""Seconds for an answer: a local server may have to load the model first."""
_MOST_NAMED = 8
_API = {"anthropic": MESSAGES.name, "openai": CHAT_COMPLETIONS.name}
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class ModelCheck(CheckResult):
    """`models`: what the server has, if it says so. `answer`: what the model said to a test question. `provider`:
    whose API it answered by."""

    models: tuple[str, ...] = ()
    answer: str = ""
    provider: str = ""


def check_model(provider: str, key: str, base_url: str | None, name: str, *, asks: bool = False) -> ModelCheck:
    """Lists the server's models and looks whether it has this one; with `asks`, asks it something, by the other
    provider's API if the server has that alone. Blocks."""
    if not key and base_url is None:
        fix = "set OPENAI_API_KEY in .env" if provider == "openai" else "set ANTHROPIC_API_KEY in .env"
        return ModelCheck(Outcome.MISSING, "no key is set", fix)
    if not (key.isascii() and (key.isprintable()) and " " not in key):
        return ModelCheck(Outcome.MALFORMED, "the key contains characters that keys never have", "copy it again")
    root = _root(base_url, provider)
    where = urlsplit(root).netloc
    headers = _headers(key, root, provider)
    reply = get(f"{root}/models/{quote(name, safe='/:')}", headers)
    if reply.status == 0:
        fix = "check your network and model.base_url"
        return ModelCheck(Outcome.UNREACHABLE, Sentence("can't reach {where}: {why}", where=where, why=reply.why), fix)
    clock = reply.clock(where)
    if reply.status in (401, 403):
        return ModelCheck(
            Outcome.REFUSED,
            Sentence("{where} doesn't accept the key", where=where),
            "create a new key and put it into .env",
            clock=clock,
        )
    if reply.status >= 500 or reply.status == 429:
        what = Sentence("{where} answered with status {status}", where=where, status=reply.status)
        return ModelCheck(Outcome.BUSY, what, "try again in a few minutes", clock=clock)
    models = list_models(provider, key, base_url)
    if reply.status == 404 and base_url is None:
        return ModelCheck(
            Outcome.NO_SUCH_MODEL,
            Sentence("{where} has no model {name}", where=where, name=name),
            _other(models),
            clock=clock,
            models=models,
        )
    is_listed = (reply.status == 200 and bool(reply.body.get("id"))) or name in models
    if not asks and (is_listed or base_url is None) and not _is_of_other_kind(reply.body, provider):
        return ModelCheck(Outcome.FINE, Sentence("{where} answers", where=where), clock=clock, models=models)
    # Some servers answer under any name, and some have the list of another kind: only a question tells.
    said = _ask(root, headers, name, _ANSWER_TOKENS if asks else 1, provider)
    if asks and provider == "anthropic" and base_url is not None and _has_no_such_path(said, name):
        other = check_model("openai", key, base_url, name, asks=True)
        if other.ok or other.outcome is Outcome.NO_SUCH_MODEL:
            return other
    return replace(
        _judged(said, where, key, name, models, clock=clock, asks=asks, api=_API[provider]), provider=provider
    )


def _is_of_other_kind(entry: Mapping[str, Json], provider: str) -> bool:
    """True if a model's entry has the other provider's form, as many servers with both APIs send it."""
    return entry.get("object" if provider == "anthropic" else "type") == "model"


def _has_no_such_path(reply: ProbeReply, name: str) -> bool:
    """True if the server has no such path; False if the model was not found."""
    said = str(reply.body)
    return reply.status in (404, 405) and name not in said and "not_found_error" not in said


def _is_wrong_address(reply: ProbeReply, name: str, models: Sequence[str]) -> bool:
    """True if the path is missing, or leads elsewhere, where no key is sent; False if only the model is missing."""
    leads_on = 300 <= reply.status < 400
    return leads_on or (_has_no_such_path(reply, name) and (not models or name in models))


def list_models(provider: str, key: str, base_url: str | None) -> tuple[str, ...]:
    """The names of the server's models; empty if it does not say. Blocks."""
    root = _root(base_url, provider)
    page = "" if provider == "openai" else "?limit=1000"
    reply = get(f"{root}/models{page}", _headers(key, root, provider))
    names = [entry.get("id") for entry in entries_of(reply.body)] if reply.status == 200 else []
    return tuple(name for name in names if isinstance(name, str) and name.isprintable())


def _root(base_url: str | None, provider: str) -> str:
    if provider == "openai":
        return api_root(base_url)
    return f"{(base_url or ANTHROPIC_URL).rstrip('/').removesuffix('/v1')}/v1"


def _headers(key: str, root: str, provider: str) -> dict[str, str]:
    if provider == "openai":
        return {"Authorization": f"Bearer {key}"} if key else {}
    return {"anthropic-version": "2023-06-01", **key_headers(key, urlsplit(root).hostname or "")}


def _ask(root: str, headers: Mapping[str, str], name: str, tokens: int, provider: str) -> ProbeReply:
    body: dict[str, Json] = {"model": name, "messages": [{"role": "user", "content": _QUESTION}]}
    if provider != "openai":
        return post(f"{root}/messages", headers, {**body, "max_tokens": tokens}, _LOADING)
    limit = {} if root == OPENAI_URL else {"max_tokens": tokens}  # its newer models refuse the field
    return post(f"{root}/chat/completions", headers, {**body, **limit}, _LOADING)


def _judged(
    reply: ProbeReply,
    where: str,
    key: str,
    name: str,
    models: tuple[str, ...],
    *,
    clock: ServerClock | None,
    asks: bool,
    api: str,
) -> ModelCheck:
    is_api = "choices" in reply.body or "content" in reply.body
    if (reply.status == 200 and not is_api) or _is_wrong_address(reply, name, models):
        what = Sentence("{where} is no {api} at the address that is set", where=where, api=api)
        fix = "set model.base_url to where it has one, often ending in /v1, or model.provider to the kind that it is"
        return ModelCheck(Outcome.NO_API, what, fix, clock=clock, models=models)
    if reply.status == 200:
        answer = _answer_in(reply.body)
        text = Sentence("the model {name} answers", name=name) if asks else Sentence("{where} answers", where=where)
        return ModelCheck(Outcome.FINE, text, clock=clock, models=models, answer=answer.strip()[:_LONGEST])
    if reply.status == 0:
        return ModelCheck(
            Outcome.UNREACHABLE,
            Sentence("the model {name} doesn't answer: {why}", name=name, why=reply.why),
            "try again",
            clock=clock,
            models=models,
        )
    if reply.status in (401, 403):
        return ModelCheck(
            Outcome.REFUSED,
            Sentence("{where} doesn't accept the key", where=where),
            "create a new key and put it into .env",
            clock=clock,
        )
    if reply.status in (400, 404) and models and name not in models:
        return ModelCheck(
            Outcome.NO_SUCH_MODEL,
            Sentence("{where} has no model {name}", where=where, name=name),
            _other(models),
            clock=clock,
            models=models,
        )
    error = reply.body.get("error")
    why = str(error.get("message") or "") if isinstance(error, Mapping) else ""
    shown = f": {(why.replace(key, '***') if key else why)[:_LONGEST]}" if why else ""
    what = Sentence("{where} answered with status {status}{shown}", where=where, status=reply.status, shown=shown)
    return ModelCheck(Outcome.BUSY, what, "try again in a few minutes", clock=clock, models=models)


def _answer_in(body: Mapping[str, Json]) -> str:
    choices = body.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        message = choices[0].get("message")
        said = message.get("content") if isinstance(message, Mapping) else None
        return said if isinstance(said, str) else ""
    content = body.get("content")
    blocks = content if isinstance(content, list) else []
    return " ".join(str(block["text"]) for block in blocks if isinstance(block, Mapping) and block.get("text"))


def _other(models: Sequence[str]) -> str:
    if not models:
        return "correct model.name"
    names = ", ".join(models[:_MOST_NAMED])
    if len(models) <= _MOST_NAMED:
        return Sentence("set model.name to one that it has: {names}", names=names)
    return Sentence(
        "set model.name to one that it has: {names} and {more} more", names=names, more=len(models) - _MOST_NAMED
    )
