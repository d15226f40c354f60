"""What holds for every provider: the real SDKs over HTTP, each against its strict fake."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock
from agent.model.anthropic.model import AnthropicModel
from agent.model.base import (
    AccessDenied,
    Block,
    Completed,
    InvalidRequest,
    Message,
    Model,
    ModelEvent,
    Started,
    TextDelta,
    TryLater,
)
from agent.model.client import closing
from agent.model.openai.model import OpenAIModel
from tests.agent.model.asking import APPEND, MODEL, answer_of, events_of, refused, request, shown, text, user
from tests.fakes.anthropic import FakeAnthropic, FakeModelInfo
from tests.fakes.openai import FakeOpenAI

Make = Callable[..., Model]


@pytest.fixture(params=["anthropic", "openai"])
async def fake(request: pytest.FixtureRequest) -> AsyncIterator[FakeAnthropic]:
    if request.param == "anthropic":
        async with FakeAnthropic() as fake:
            yield fake
    else:
        async with FakeOpenAI() as fake:
            fake.models[MODEL] = FakeModelInfo(MODEL)
            yield fake


@pytest.fixture
def make(fake: FakeAnthropic) -> Make:
    if isinstance(fake, FakeOpenAI):
        return partial(OpenAIModel, clock=Clock(ZoneInfo("Europe/Berlin")))
    return AnthropicModel


@pytest.fixture
async def model(fake: FakeAnthropic, make: Make) -> AsyncIterator[Model]:
    model = make(fake.api_key, fake.base_url, window_s=120)
    yield model
    await model.aclose()


async def test_text_streams_and_completes(fake: FakeAnthropic, model: Model) -> None:
    fake.answer(["Good ", "morning"], usage={"input_tokens": 11, "output_tokens": 3})
    events = await events_of(model, request())
    assert isinstance(events[0], Started)
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Good ", "morning"]
    done = events[-1]
    assert isinstance(done, Completed)
    assert done.content == (text("Good morning"),)
    assert (done.stop_reason, done.model, done.usage.output) == ("end_turn", MODEL, 3)


async def test_garbage_as_tool_input_is_told_and_kept_out(fake: FakeAnthropic, model: Model) -> None:
    fake.answer(
        tools=[("memory_append", '{"text": "unfin'), ("memory_append", "[1, 2]"), ("memory_append", {"text": "x"})]
    )
    done = await answer_of(model, request())
    broken, listed, good = done.content
    assert (broken["input"], listed["input"], good["input"]) == ({}, {}, {"text": "x"})
    assert done.invalid == {broken["id"]: '{"text": "unfin', listed["id"]: "[1, 2]"}


@pytest.mark.parametrize(
    "stop_reason", ["max_tokens", "refusal", "pause_turn", "model_context_window_exceeded", "novel"]
)
async def test_stop_reasons_are_passed_on(fake: FakeAnthropic, model: Model, stop_reason: str) -> None:
    fake.answer("So far", stop_reason=stop_reason)
    assert (await answer_of(model, request())).stop_reason == stop_reason


async def test_an_answer_of_nothing_is_an_answer(fake: FakeAnthropic, model: Model) -> None:
    fake.answer()
    done = await answer_of(model, request())
    assert (done.content, done.stop_reason) == ((), "end_turn")


async def test_lone_surrogates_and_nul_do_not_break_a_call(fake: FakeAnthropic, model: Model) -> None:
    await answer_of(model, request(user("broken \ud83d and \x00 here")))
    assert fake.requests[0].last_user_text == "broken ? and \x00 here"


@pytest.mark.parametrize(
    ("status", "overloaded"), [(429, False), (408, False), (500, True), (502, True), (503, True), (529, True)]
)
async def test_passing_trouble_may_be_tried_later(
    fake: FakeAnthropic, model: Model, status: int, overloaded: bool
) -> None:
    fake.fail(status, retry_after=7)
    caught = await refused(model)
    assert isinstance(caught, TryLater)
    assert (caught.overloaded, caught.retry_after) == (overloaded, 7.0)


async def test_a_stream_cut_is_no_answer(fake: FakeAnthropic, model: Model) -> None:
    fake.cut(after=2)
    fake.answer("one two three four")
    seen: list[ModelEvent] = []
    with pytest.raises(TryLater):
        async for event in model.stream(request()):
            seen.append(event)
    assert shown(seen) == "one two "
    assert (await answer_of(model, request())).content == (text("one two three four"),)


async def test_an_early_clean_end_is_no_answer(fake: FakeAnthropic, model: Model) -> None:
    fake.end_early(after=2)
    fake.answer("one two three four")
    assert isinstance(await refused(model), TryLater)


async def test_a_whole_answer_without_a_reason_is_an_answer(fake: FakeAnthropic, model: Model) -> None:
    fake.never_stop_reason()
    fake.answer("one two")
    done = await answer_of(model, request())
    assert (done.text, done.stop_reason) == ("one two", "end_turn")


async def test_a_silent_server_is_given_up(fake: FakeAnthropic, make: Make) -> None:
    model = make(fake.api_key, fake.base_url, timeout_s=0.2)
    fake.stall(after=1)
    fake.answer("one two three")
    caught = await refused(model)
    assert isinstance(caught, TryLater)
    assert caught.overloaded
    assert "0.2 seconds" in str(caught)
    await model.aclose()


async def test_an_unreachable_server_is_named(fake: FakeAnthropic, make: Make) -> None:
    await fake.__aexit__(None, None, None)
    model = make("key", fake.base_url)
    caught = await refused(model)
    assert isinstance(caught, TryLater)
    assert "127.0.0.1" in str(caught)
    await model.aclose()


async def test_closing_the_iterator_ends_the_call(fake: FakeAnthropic, model: Model) -> None:
    fake.hold(after=1)
    fake.answer("one two three")
    async with closing(model.stream(request())) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert await asyncio.wait_for(asyncio.wrap_future(fake.requests[0].outcome), 120) == "dropped"


async def test_cancelling_ends_the_call(fake: FakeAnthropic, model: Model) -> None:
    hold = fake.hold(after=1)
    fake.answer("one two three")
    call = asyncio.create_task(events_of(model, request()))
    await fake.held(hold)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.wait_for(asyncio.wrap_future(fake.requests[0].outcome), 120) == "dropped"


async def test_orphans_never_reach_a_lenient_server(fake: FakeAnthropic, model: Model) -> None:
    call: Block = {"type": "tool_use", "id": "t1", "name": "memory_append", "input": {}}
    asked = request(user("Hi"), Message("assistant", (call,)), user("and?"))
    caught = await refused(model, asked)
    assert type(caught) is InvalidRequest
    assert "400" in str(caught) and "tool" in str(caught)


async def test_a_missing_or_mangled_key_is_told_before_any_call(fake: FakeAnthropic, make: Make) -> None:
    assert "_API_KEY" in str(await refused(make("")))
    mangled = await refused(make("sk-ab\ncd", fake.base_url))
    assert isinstance(mangled, AccessDenied)
    assert "ab" not in str(mangled)
    assert fake.requests == []


async def test_the_key_shows_in_no_error(fake: FakeAnthropic, model: Model) -> None:
    fake.fail(400, message=f"Incorrect key {fake.api_key} or sk-other-secret-1234")
    caught = await refused(model)
    told = "".join(str(error) for error in (caught, caught.__cause__)) + repr(model)
    assert fake.api_key not in told
    assert "sk-other-secret-1234" not in str(caught)


async def test_an_address_with_v1_is_understood(fake: FakeAnthropic, make: Make) -> None:
    model = make(fake.api_key, f"{fake.base_url}/v1/")
    assert (await answer_of(model, request())).content == (text("Hello"),)
    await model.aclose()


async def test_one_connection_serves_one_call_after_the_other(fake: FakeAnthropic, model: Model) -> None:
    for _ in range(3):
        await answer_of(model, request())
    assert len({seen.peer for seen in fake.requests}) == 1


async def test_a_whole_message_instead_of_a_stream(fake: FakeAnthropic, model: Model) -> None:
    fake.streams = False
    fake.answer("Noted.", tool=("memory_append", {"text": "tea"}))
    events = [event async for event in model.stream(request(user("I like tea"), tools=(APPEND,)))]
    assert "Noted." in [event.text for event in events if isinstance(event, TextDelta)]
    completed = events[-1]
    assert isinstance(completed, Completed) and completed.stop_reason == "tool_use" and completed.usage.output > 0
    assert completed.content[-1]["input"] == {"text": "tea"}


async def test_a_model_whose_answers_are_shorter(fake: FakeAnthropic, model: Model) -> None:
    """The limit that the server names is kept to from then on."""
    fake.models["small"] = FakeModelInfo("small", 32_000, 4096)
    asked = request(user("hi"), model="small", max_tokens=8192)
    for _ in range(2):
        events = [event async for event in model.stream(asked)]
        assert isinstance(events[-1], Completed)
    assert [body["max_tokens"] for body in fake.bodies] == [8192, 4096, 4096]
