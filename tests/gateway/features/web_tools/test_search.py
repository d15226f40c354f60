"""Searches against servers that answer as the real ones do, and as they do not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiohttp import web

from agent.model.base import Completed, ModelRequest, Usage
from gateway.features.web_tools.page import SearchUnavailable, WebResult
from gateway.features.web_tools.search import Brave, ModelSearch, SearXng

SEARXNG = {
    "query": "tea",
    "results": [
        {
            "title": "Green <b>tea</b>",
            "url": "https://tea.example/green",
            "content": "Tea &amp; water.\nOf Japan",
            "publishedDate": "2026-03-04T00:00:00",
        },
        {"title": "No address"},
        {"url": "https://tea.example/black", "title": None, "content": 7},
        "nonsense",
    ],
}
BRAVE = {
    "type": "search",
    "web": {
        "results": [
            {
                "title": "Green tea",
                "url": "https://tea.example/green",
                "description": "<strong>Tea</strong> of Japan",
                "page_age": "2026-03-04T10:11:12",
            }
        ]
    },
}


class Engine:
    """Refuses what SearXNG and Brave refuse: another format, a missing or wrong key."""

    def __init__(self) -> None:
        self.base_url = ""
        self.queries: list[Mapping[str, str]] = []
        self.answer: web.Response | None = None

    async def searxng(self, request: web.Request) -> web.Response:
        self.queries.append(dict(request.query))
        if request.query.get("format") != "json":
            return web.Response(status=403)
        return self.answer or web.json_response(SEARXNG)

    async def brave(self, request: web.Request) -> web.Response:
        self.queries.append(dict(request.query))
        if request.headers.get("X-Subscription-Token") != "the key":
            return web.json_response({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}, status=422)
        if not 1 <= len(request.query["q"]) <= 400 or not 1 <= int(request.query["count"]) <= 20:
            return web.Response(status=422)
        return self.answer or web.json_response(BRAVE)


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    one = Engine()
    app = web.Application()
    app.add_routes([web.get("/search", one.searxng), web.get("/res/v1/web/search", one.brave)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    one.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield one
    await runner.cleanup()


async def test_searxng(engine: Engine) -> None:
    found = await SearXng(engine.base_url + "/").results("green tea", "")
    assert found[0] == WebResult("Green tea", "https://tea.example/green", "Tea & water. Of Japan", "2026-03-04")
    assert [one.address for one in found] == ["https://tea.example/green", "https://tea.example/black"]
    assert engine.queries == [{"q": "green tea", "format": "json"}]


async def test_brave(engine: Engine) -> None:
    (found,) = await Brave("the key", engine.base_url).results("green tea " * 100, "")
    assert found == WebResult("Green tea", "https://tea.example/green", "Tea of Japan", "2026-03-04")


async def test_a_wrong_key_is_named_and_not_shown(engine: Engine) -> None:
    with pytest.raises(SearchUnavailable, match=r"tools\.web_search\.api_key") as problem:
        await Brave("wrong-key-77", engine.base_url).results("tea", "")
    assert "wrong-key-77" not in str(problem.value) and "wrong-key-77" not in repr(Brave("wrong-key-77"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (web.Response(status=429), "too many searches"),
        (web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}), "302"),
        (web.Response(text="<html>"), "not what such servers answer"),
        (web.Response(text="[1]"), "not what such servers answer"),
        (web.Response(text="{" * 100_000), "not what such servers answer"),
    ],
)
async def test_an_odd_answer_is_a_sentence(engine: Engine, answer: web.Response, why: str) -> None:
    engine.answer = answer
    with pytest.raises(SearchUnavailable, match=why):
        await SearXng(engine.base_url).results("tea", "")


@pytest.mark.parametrize("answer", ["{}", '{"results": null}', '{"results": {}}', '{"results": []}'])
async def test_nothing_found(engine: Engine, answer: str) -> None:
    engine.answer = web.Response(text=answer)
    assert await SearXng(engine.base_url).results("tea", "") == []


async def test_no_server() -> None:
    with pytest.raises(SearchUnavailable, match="cannot be reached"):
        await SearXng("http://127.0.0.1:9").results("tea", "")


# the model's own server -----------------------------------------------------------------------------------------------


class Searching:
    """A model whose server searches by itself."""

    def __init__(self, content: list[dict[str, Any]]) -> None:
        self.content = content
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[Completed]:
        self.requests.append(request)
        yield Completed(tuple(self.content), "end_turn", Usage(10, 5), request.model)

    async def context_window(self, model: str) -> int | None:
        return None

    async def aclose(self) -> None: ...


async def test_the_models_server_searches_in_a_call_of_its_own() -> None:
    url = "https://tea.example/green"
    model = Searching(
        [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tea"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": [
                    {
                        "type": "web_search_result",
                        "url": url,
                        "title": "Green tea",
                        "encrypted_content": "…",
                        "page_age": "April 30, 2026",
                    }
                ],
            },
            {
                "type": "text",
                "text": "It is green.",
                "citations": [{"type": "web_search_result_location", "url": url, "cited_text": "Tea is green"}],
            },
        ]
    )
    found = await ModelSearch(model, "claude").results("green tea", "main:owner")
    assert found == [WebResult("Green tea", url, "Tea is green", "April 30, 2026")]
    (request,) = model.requests
    assert (request.purpose, request.session, request.tools[0].server) == (
        "web_search",
        "main:owner",
        "web_search_20250305",
    )


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "I cannot search."}],
        [{"type": "web_search_tool_result", "content": {"type": "web_search_tool_result_error", "error_code": "x"}}],
    ],
)
async def test_a_server_that_does_not_search(content: list[dict[str, Any]]) -> None:
    with pytest.raises(SearchUnavailable, match="searched nothing"):
        await ModelSearch(Searching(json.loads(json.dumps(content))), "claude").results("tea", "")
