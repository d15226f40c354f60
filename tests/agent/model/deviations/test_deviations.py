"""The real SDKs over HTTP against a server that says exactly what is in the tables, of the one API and the other."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import (
    Completed,
    ContextOverflow,
    Message,
    ModelError,
    ModelRequest,
    ToolSpec,
)
from agent.model.client import ResilientModel
from agent.model.openai.model import OpenAIModel
from tests.agent.model.asking import shown
from tests.agent.model.deviations import completions, refusals
from tests.agent.model.deviations.deviation import Deviation
from tests.fakes.raw_http import RawServer, http, said, sse

MESSAGES, COMPLETIONS = "Messages", "chat completions"
ALL = [
    *((one, MESSAGES) for one in completions.THERE),
    *((one, COMPLETIONS) for one in completions.DEVIATIONS),
]
ANSWERS = [(one, api) for one, api in ALL if one.error is None and one.text is not None]
ERRORS = [(one, api) for one, api in ALL if one.error is not None]
WINDOWS = [(one, api) for one, api in ALL if one.error is None and one.text is None]
MODEL = "local/qwen-3"
TOOLS = (
    ToolSpec("memory_append", "Add.", {"type": "object", "properties": {"text": {"type": "string"}}}),
    ToolSpec("memory_search", "Find.", {"type": "object", "properties": {"query": {"type": "string"}}}),
)


def request(deviation: Deviation) -> ModelRequest:
    hello = Message("user", ({"type": "text", "text": "Hello"},))
    return ModelRequest(MODEL, ("You are Daybook.",), (hello,), TOOLS, deviation.max_tokens, cache=deviation.cache)


def model_of(api: str, server: RawServer) -> AnthropicModel | OpenAIModel:
    if api == MESSAGES:
        return AnthropicModel("", server.base_url, window_s=120)
    return OpenAIModel("", server.base_url, clock=Clock(ZoneInfo("Europe/Berlin")), window_s=120)


@pytest.mark.parametrize(("deviation", "api"), ANSWERS, ids=str)
async def test_an_answer_is_read(deviation: Deviation, api: str) -> None:
    replies = [deviation.sends] if deviation.then is None else [deviation.sends, deviation.then]
    async with RawServer(replies, deviation.pages) as server:
        model = model_of(api, server)
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
        assert (
            tuple(body.get("max_tokens") or body["max_completion_tokens"] for body in server.bodies) == deviation.asked
        )


@pytest.mark.parametrize(("deviation", "api"), ERRORS, ids=str)
async def test_an_error_is_told(deviation: Deviation, api: str) -> None:
    replies = [deviation.sends] if deviation.then is None else [deviation.sends, deviation.then]
    async with RawServer(replies, deviation.pages) as server:
        model = model_of(api, server)
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


@pytest.mark.parametrize(("deviation", "api"), WINDOWS, ids=str)
async def test_the_window_is_learnt(deviation: Deviation, api: str) -> None:
    async with RawServer([deviation.sends], deviation.pages) as server:
        model = model_of(api, server)
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
