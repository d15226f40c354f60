"""The real SDK over HTTP against a server that says exactly what is in the tables."""

from __future__ import annotations

import re

import pytest

from agent.model.anthropic.model import AnthropicModel
from agent.model.base import (
    Completed,
    ContextOverflow,
    Message,
    ModelError,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolSpec,
)
from agent.model.client import ResilientModel
from tests.agent.model.deviations import answers, errors, limits, markup, refusals
from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import RawServer, http, said, sse

ALL = [*answers.DEVIATIONS, *errors.DEVIATIONS, *limits.DEVIATIONS, *refusals.DEVIATIONS, *markup.DEVIATIONS]
MODEL = "local/qwen-3"
TOOLS = (
    ToolSpec("memory_append", "Add.", {"type": "object", "properties": {"text": {"type": "string"}}}),
    ToolSpec("memory_search", "Find.", {"type": "object", "properties": {"query": {"type": "string"}}}),
)


def request(deviation: Deviation) -> ModelRequest:
    hello = Message("user", ({"type": "text", "text": "Hello"},))
    return ModelRequest(MODEL, ("You are Daybook.",), (hello,), TOOLS, deviation.max_tokens, cache=deviation.cache)


@pytest.mark.parametrize("deviation", [one for one in ALL if one.error is None and one.text is not None], ids=str)
async def test_an_answer_is_read(deviation: Deviation) -> None:
    replies = [deviation.sends] if deviation.then is None else [deviation.sends, deviation.then]
    async with RawServer(replies, deviation.pages) as server:
        model = AnthropicModel("", server.base_url, window_s=120)
        events = [event async for event in model.stream(request(deviation))]
        await model.aclose()
    done = events[-1]
    assert isinstance(done, Completed)
    assert shown(events) == done.text == deviation.text
    done.text.encode()
    calls = tuple((block["name"], block["input"]) for block in done.content if block.get("type") == "tool_use")
    assert calls == deviation.calls
    assert len(done.invalid) == deviation.invalid
    assert done.stop_reason == (deviation.stop or ("tool_use" if calls else "end_turn"))
    if deviation.asked:
        assert tuple(body["max_tokens"] for body in server.bodies) == deviation.asked


@pytest.mark.parametrize("deviation", [one for one in ALL if one.error is not None], ids=str)
async def test_an_error_is_told(deviation: Deviation) -> None:
    replies = [deviation.sends] if deviation.then is None else [deviation.sends, deviation.then]
    async with RawServer(replies, deviation.pages) as server:
        model = AnthropicModel("", server.base_url, window_s=120)
        with pytest.raises(ModelError) as caught:
            async for _ in model.stream(request(deviation)):
                pass
        await model.aclose()
    error = caught.value
    assert type(error) is deviation.error, error
    assert re.search(deviation.says, str(error), re.IGNORECASE), error
    assert not deviation.unsaid or deviation.unsaid not in str(error)
    assert len(str(error)) < 700 and "\n" not in str(error)
    str(error).encode()
    if isinstance(error, ContextOverflow):
        assert error.window == deviation.window


@pytest.mark.parametrize("deviation", [one for one in ALL if one.error is None and one.text is None], ids=str)
async def test_the_window_is_learnt(deviation: Deviation) -> None:
    async with RawServer([deviation.sends], deviation.pages) as server:
        model = AnthropicModel("", server.base_url, window_s=120)
        assert await model.context_window(MODEL) == deviation.window
        await model.aclose()


async def test_where_a_server_knows_no_such_model_the_fallbacks_are_tried() -> None:
    (unknown,) = [one for one in refusals.DEVIATIONS if one.name == "LiteLLM: no such model under status 400"]
    async with RawServer([unknown.sends, http(sse(*said("I stand in.")))], unknown.pages) as server:
        model = AnthropicModel("", server.base_url, window_s=120)
        events = [event async for event in ResilientModel(model, ["llama-3"]).stream(request(unknown))]
        await model.aclose()
    assert isinstance(events[-1], Completed) and events[-1].text == "I stand in."
    assert [body["model"] for body in server.bodies] == [MODEL, "llama-3"]


def shown(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
