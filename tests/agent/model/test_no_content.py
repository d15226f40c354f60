"""A server that keeps a connection busy and says nothing."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock
from agent.model.answering import AnswerReader
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import Completed, Model, NoContent, Restarted, TryLater
from agent.model.client import ResilientModel
from agent.model.openai.model import OpenAIModel
from agent.model.openai.stream import ChunkReader
from tests.agent.model.asking import refused, request
from tests.fakes.raw_http import Event, RawServer, http, said, sse, started, text_block

Make = Callable[..., Model]
ANTHROPIC: Make = AnthropicModel
OPENAI: Make = partial(OpenAIModel, clock=Clock(ZoneInfo("Europe/Berlin")))


def _of_a_block(**delta: object) -> Event:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def _of_a_choice(**delta: object) -> Event:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


_BEGUN = (started(), *itertools.islice(text_block(), 1))
ENDLESS: dict[str, tuple[Sequence[Event], Event]] = {
    "pings": ((started(),), {"type": "ping"}),
    "empty text": (_BEGUN, _of_a_block(type="text_delta", text="")),
    "empty thoughts": (_BEGUN, _of_a_block(type="thinking_delta", thinking="")),
    "an input of nothing": (_BEGUN, _of_a_block(type="input_json_delta", partial_json="")),
    "counts": (_BEGUN, {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 1}}),
    "nothing known": ((), {"type": "hologram"}),
}
ENDLESS_CHUNKS: dict[str, Event] = {
    "a role": _of_a_choice(role="assistant"),
    "empty text": _of_a_choice(content=""),
    "empty reasoning": _of_a_choice(reasoning_content="", content=None),
    "no choices": {"choices": []},
    "counts": {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 0}},
}


async def _coming(events: Iterable[Event]) -> AsyncGenerator[Event, None]:
    for event in events:
        await asyncio.sleep(0)
        yield event


async def _given_up(events: Iterable[Event]) -> bool:
    reader = AnswerReader(0.005, is_makers=False)
    try:
        async for _ in reader.read(_coming(events), request()):
            pass
    except NoContent:
        return True
    return False


@pytest.mark.parametrize(("begin", "again"), ENDLESS.values(), ids=ENDLESS)
async def test_an_answer_of_signs_of_life_is_given_up(begin: Sequence[Event], again: Event) -> None:
    assert await _given_up(itertools.chain(begin, itertools.repeat(again)))


@pytest.mark.parametrize("again", ENDLESS_CHUNKS.values(), ids=ENDLESS_CHUNKS)
async def test_chunks_of_signs_of_life_are_given_up(again: Event) -> None:
    chunks = ChunkReader("m", 10)
    assert await _given_up(event for chunk in itertools.repeat(again) for event in (*chunks.feed(chunk), {}))


@pytest.mark.parametrize("make", [ANTHROPIC, OPENAI])
async def test_comments_on_a_connection_are_signs_of_life(make: Make) -> None:
    async with RawServer([itertools.chain([http(b"")], itertools.repeat(b": OPENROUTER PROCESSING\n\n"))]) as server:
        model = make("key", server.base_url, timeout_s=0.2)
        caught = await refused(model)
        assert isinstance(caught, TryLater)
        await model.aclose()


async def test_it_is_asked_once_and_then_the_fallback_answers() -> None:
    endless = itertools.chain([http(b"")], itertools.repeat(b": alive\n\n"))
    async with RawServer([endless, http(sse(*said("I stand in.")))]) as server:
        model = ResilientModel(AnthropicModel("key", server.base_url, timeout_s=0.2), ["other"])
        events = [event async for event in model.stream(request())]
        await model.aclose()
    assert [body["model"] for body in server.bodies] == [request().model, "other"]
    (restarted,) = [event for event in events if isinstance(event, Restarted)]
    assert "Switching to other" in restarted.why
    assert isinstance(events[-1], Completed)


async def test_without_a_fallback_the_person_is_told_at_once() -> None:
    async with RawServer([itertools.chain([http(b"")], itertools.repeat(b": alive\n\n"))]) as server:
        model = ResilientModel(AnthropicModel("key", server.base_url, timeout_s=0.2))
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
    begin = sse(*_BEGUN) if make is ANTHROPIC else b""
    async with RawServer([itertools.chain([http(begin)], words, [end])]) as server:
        model = make("key", server.base_url, timeout_s=60)
        events = [event async for event in model.stream(request())]
        await model.aclose()
    assert isinstance(done := events[-1], Completed)
    assert done.text == "tea " * 50
