"""A server that keeps a connection busy and says nothing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import Completed, Model, NoContent, Restarted, TryLater
from agent.model.client import ResilientModel
from agent.model.openai.model import OpenAIModel
from tests.agent.model.asking import refused, request
from tests.fakes.raw_http import Event, RawServer, http, said, sse, started, text_block

Make = Callable[..., Model]
ANTHROPIC: Make = AnthropicModel
OPENAI: Make = partial(OpenAIModel, clock=Clock(ZoneInfo("Europe/Berlin")))


def _of_a_block(**delta: object) -> Event:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def _of_a_choice(**delta: object) -> Event:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


_BEGUN = sse(started(), *itertools.islice(text_block(), 1))
ENDLESS: dict[str, tuple[Make, bytes, bytes]] = {
    "Anthropic: pings": (ANTHROPIC, sse(started()), sse({"type": "ping"})),
    "Anthropic: comments": (ANTHROPIC, b"", b": keep-alive\n\n"),
    "Anthropic: empty text": (ANTHROPIC, _BEGUN, sse(_of_a_block(type="text_delta", text=""))),
    "Anthropic: empty thoughts": (ANTHROPIC, _BEGUN, sse(_of_a_block(type="thinking_delta", thinking=""))),
    "Anthropic: an input of nothing": (ANTHROPIC, _BEGUN, sse(_of_a_block(type="input_json_delta", partial_json=""))),
    "Anthropic: counts": (
        ANTHROPIC,
        _BEGUN,
        sse({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 1}}),
    ),
    "OpenAI: comments": (OPENAI, b"", b": OPENROUTER PROCESSING\n\n"),
    "OpenAI: a role": (OPENAI, b"", sse(_of_a_choice(role="assistant"))),
    "OpenAI: empty text": (OPENAI, b"", sse(_of_a_choice(content=""))),
    "OpenAI: empty reasoning": (OPENAI, b"", sse(_of_a_choice(reasoning_content="", content=None))),
    "OpenAI: no choices": (OPENAI, b"", sse({"choices": []})),
    "OpenAI: counts": (OPENAI, b"", sse({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 0}})),
}


@pytest.mark.parametrize(("make", "begin", "again"), ENDLESS.values(), ids=ENDLESS)
async def test_a_server_that_only_shows_that_it_lives_is_given_up(make: Make, begin: bytes, again: bytes) -> None:
    async with RawServer([itertools.chain([http(begin)], itertools.repeat(again))]) as server:
        model = make("key", server.base_url, timeout_s=0.05)
        caught = await refused(model)
        assert isinstance(caught, NoContent)
        assert "0.5 seconds" in str(caught)
        await model.aclose()


async def test_it_is_asked_once_and_then_the_fallback_answers() -> None:
    endless = itertools.chain([http(b"")], itertools.repeat(b": alive\n\n"))
    async with RawServer([endless, http(sse(*said("I stand in.")))]) as server:
        model = ResilientModel(AnthropicModel("key", server.base_url, timeout_s=0.05), ["other"])
        events = [event async for event in model.stream(request())]
        await model.aclose()
    assert [body["model"] for body in server.bodies] == [request().model, "other"]
    (restarted,) = [event for event in events if isinstance(event, Restarted)]
    assert "Switching to other" in restarted.why
    assert isinstance(events[-1], Completed)


async def test_without_a_fallback_the_person_is_told_at_once() -> None:
    async with RawServer([itertools.chain([http(b"")], itertools.repeat(b": alive\n\n"))]) as server:
        model = ResilientModel(AnthropicModel("key", server.base_url, timeout_s=0.05))
        caught = await refused(model)
        await model.aclose()
    assert isinstance(caught, TryLater)
    assert "said nothing" in str(caught)
    assert len(server.bodies) == 1


@pytest.mark.parametrize("make", [ANTHROPIC, OPENAI])
async def test_pings_between_words_are_no_silence(make: Make) -> None:
    """Content keeps an answer alive, however much else comes with it."""
    word = sse(*itertools.islice(text_block("tea "), 1, 2)) if make is ANTHROPIC else sse(_of_a_choice(content="tea "))
    end = sse(*said("", stop_reason="end_turn")[-2:]) if make is ANTHROPIC else sse("[DONE]")
    words = (piece for _ in range(50) for piece in (b": alive\n\n", word))
    begin = _BEGUN if make is ANTHROPIC else b""
    async with RawServer([itertools.chain([http(begin)], words, [end])]) as server:
        model = make("key", server.base_url, timeout_s=60)
        events = [event async for event in model.stream(request())]
        await model.aclose()
    assert isinstance(done := events[-1], Completed)
    assert done.text == "tea " * 50
