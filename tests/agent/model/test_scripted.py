"""The scripted model keeps the seam's promises, so that tests built on it mean something."""

from __future__ import annotations

import asyncio

import pytest

from agent.model.base import Completed, Message, ModelEvent, ModelRequest, TextDelta, ToolCallStarted, TryLater
from agent.model.scripted import Call, Hold, ScriptedAnswer, ScriptedModel

REQUEST = ModelRequest("m", (), (Message("user", ({"type": "text", "text": "Hello"},)),), (), 100)


async def events_of(model: ScriptedModel) -> list[ModelEvent]:
    return [event async for event in model.stream(REQUEST)]


async def test_answers_come_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel("Hi", lambda asked: f"{asked.model}!", otherwise="Again")
    said = [event.text for _ in range(4) for event in await events_of(model) if isinstance(event, TextDelta)]
    assert said == ["Hi", "m!", "Again", "Again"]
    assert model.requests == [REQUEST] * 4


async def test_calls_have_ids_of_their_own_and_garbage_is_told() -> None:
    model = ScriptedModel(ScriptedAnswer("So:", calls=(Call("a", {"x": 1}), Call("b", "{oops"))))
    events = await events_of(model)
    done = events[-1]
    assert isinstance(done, Completed)
    assert [event.name for event in events if isinstance(event, ToolCallStarted)] == ["a", "b"]
    first, second = done.content[1:]
    assert (first["input"], second["input"], done.stop_reason) == ({"x": 1}, {}, "tool_use")
    assert first["id"] != second["id"]
    assert done.invalid == {second["id"]: "{oops"}


async def test_errors_are_raised_and_a_break_comes_after_the_text() -> None:
    model = ScriptedModel(TryLater("Down."), ScriptedAnswer("Half", breaks=TryLater("Cut.")))
    with pytest.raises(TryLater, match="Down"):
        await events_of(model)
    seen: list[ModelEvent] = []
    with pytest.raises(TryLater, match="Cut"):
        async for event in model.stream(REQUEST):
            seen.append(event)
    assert seen == [TextDelta("Half")]


@pytest.mark.parametrize(("at", "before"), [(0, []), (1, ["One "]), (9, ["One ", "two"])])
async def test_a_held_stream_stands_where_it_was_told_to(at: int, before: list[str]) -> None:
    hold = Hold()
    model = ScriptedModel(ScriptedAnswer(["One ", "two"], hold=hold, hold_at=at))
    seen: list[str] = []

    async def listen() -> None:
        async for event in model.stream(REQUEST):
            if isinstance(event, TextDelta):
                seen.append(event.text)

    listening = asyncio.create_task(listen())
    await hold.reached.wait()
    assert seen == before
    hold.released.set()
    await listening
    assert seen == ["One ", "two"]


async def test_a_script_that_is_used_up_says_so() -> None:
    with pytest.raises(AssertionError, match="no answer for call 1"):
        await events_of(ScriptedModel())
