"""Search engines: a SearXNG server, Brave's service, or the model's own server."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import aiohttp

from agent.formats import http
from agent.formats.parsing import load_json
from agent.model.base import Message, Model, ModelError, ModelRequest, ToolSpec
from agent.model.client import ask
from gateway.features.web_tools.page import SearchUnavailable, WebResult

BRAVE = "https://api.search.brave.com"
_SECONDS = 20.0
_MOST = 10
_ASK = """Search the web once for exactly this: {query}
Then say in one line for each useful result what it says about it, citing it. Nothing else."""
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_SPELLED = {
    401: "the key is wrong",
    402: "the account has no credit",
    403: "access is refused",
    429: "too many searches",
}


@dataclass(frozen=True, slots=True)
class SearXng:
    """A server at `base_url` whose settings allow the format JSON."""

    base_url: str

    async def results(self, query: str, session: str) -> list[WebResult]:
        url = f"{self.base_url.rstrip('/')}/search"
        found = await _asked(url, {"q": query, "format": "json"}, {}, "tools.web_search.base_url")
        return [
            _result(row, "title", "url", "content", "publishedDate")
            for row in _listed(found, "results")
            if row.get("url")
        ][:_MOST]


@dataclass(frozen=True, slots=True)
class Brave:
    api_key: str = field(repr=False)
    base_url: str = BRAVE

    async def results(self, query: str, session: str) -> list[WebResult]:
        url = f"{self.base_url.rstrip('/')}/res/v1/web/search"
        headers = {"X-Subscription-Token": self.api_key}
        found = await _asked(url, {"q": query[:400], "count": str(_MOST)}, headers, "tools.web_search.api_key")
        web = found.get("web")
        rows = _listed(web, "results") if isinstance(web, Mapping) else []
        return [_result(row, "title", "url", "description", "page_age") for row in rows if row.get("url")][:_MOST]


@dataclass(frozen=True, slots=True)
class ModelSearch:
    """Anthropic's server searches, in a separate call: the conversation keeps plain results."""

    model: Model
    name: str

    async def results(self, query: str, session: str) -> list[WebResult]:
        request = ModelRequest(
            model=self.name,
            system=(),
            messages=(Message("user", ({"type": "text", "text": _ASK.format(query=query)},)),),
            tools=(ToolSpec("web_search", "", {}, server="web_search_20250305"),),
            max_tokens=2_000,
            purpose="web_search",
            session=session,
            cache="off",
        )
        try:
            answer = await ask(self.model, request)
        except ModelError as error:
            raise SearchUnavailable(f"The search failed: {error}") from error
        snippets: dict[str, str] = {}
        rows: list[Mapping[str, object]] = []
        for block in answer.content:
            if block.get("type") == "text":
                for cited in _listed(block, "citations"):
                    snippets.setdefault(str(cited.get("url")), str(cited.get("cited_text") or ""))
            elif block.get("type") == "web_search_tool_result":
                rows += _listed(block, "content")
        if not rows:
            raise SearchUnavailable("The model's server searched nothing: its web search may be off for this account.")
        return [
            _result({**row, "cited": snippets.get(str(row.get("url")), "")}, "title", "url", "cited", "page_age")
            for row in rows
            if row.get("url")
        ][:_MOST]


async def _asked(url: str, query: Mapping[str, str], headers: Mapping[str, str], key: str) -> Mapping[str, object]:
    try:
        async with http.open_session("") as session, asyncio.timeout(_SECONDS):
            body = await http.get(session, url, _SECONDS, connect=10, query=query, headers=headers)
        found = await asyncio.to_thread(load_json, body)
    except http.RefusedCall as refusal:
        why = _SPELLED.get(refusal.status, "it refuses the search")
        raise SearchUnavailable(
            f"The search server answers {refusal.status}: {why}; see {key} in config.yaml."
        ) from refusal
    except (http.Unreachable, TimeoutError) as problem:
        raise SearchUnavailable(f"The search server cannot be reached ({problem or 'no answer in time'}).") from problem
    except (ValueError, aiohttp.ClientError) as problem:
        raise SearchUnavailable("The search server's answer is not what such servers answer.") from problem
    if not isinstance(found, Mapping):
        raise SearchUnavailable("The search server's answer is not what such servers answer.")
    return found


def _listed(found: Mapping[str, object], name: str) -> Sequence[Mapping[str, object]]:
    rows = found.get(name)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def _result(row: Mapping[str, object], title: str, address: str, snippet: str, date: str) -> WebResult:
    def text(name: str, most: int) -> str:
        value = row.get(name)
        plain = html.unescape(_TAG.sub("", value[: 4 * most])) if isinstance(value, str) else ""
        return " ".join(plain.split())[:most]

    return WebResult(text(title, 200), text(address, 500), text(snippet, 500), text(date, 30).partition("T")[0])
