"""Retries, fallbacks and their bounds, with a scripted model and a clock that only writes down how long it slept."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.anthropic.model import AnthropicModel
from agent.model.base import (
    AccessDenied,
    Block,
    Completed,
    Message,
    ModelEvent,
    ModelNotFound,
    ModelRequest,
    Restarted,
    TextDelta,
    ThinkingRejected,
    TryLater,
)
from agent.model.client import ResilientModel, RoutedModel, closing, duration, without_thinking
from agent.model.scripted import Hold, ScriptedAnswer, ScriptedModel
from tests.fakes.anthropic import FakeAnthropic

THOUGHT: Block = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def request(*messages: Message) -> ModelRequest:
    asked = messages or (Message("user", (text("Hello"),)),)
    return ModelRequest("claude-sonnet-5-5", ("rules",), asked, (), 100)


class Patience:
    """Sleeps at once and notes how long it should have been."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def patience() -> Patience:
    return Patience()


def resilient(model: ScriptedModel, patience: Patience, *fallbacks: str, jitter: float = 1.0) -> ResilientModel:
    return ResilientModel(model, fallbacks, attempts=3, longest_wait=60, sleep=patience, jitter=lambda: jitter)


async def events_of(model: ResilientModel, asked: ModelRequest | None = None) -> list[ModelEvent]:
    return [event async for event in model.stream(asked or request())]


def restarts(events: list[ModelEvent]) -> list[Restarted]:
    return [event for event in events if isinstance(event, Restarted)]


def final_text(events: list[ModelEvent]) -> str:
    """What a person ends up with: everything before the last restart is void."""
    shown = ""
    for event in events:
        match event:
            case Restarted():
                shown = ""
            case TextDelta(said):
                shown += said
    return shown


async def test_a_good_answer_passes_through(patience: Patience) -> None:
    events = await events_of(resilient(ScriptedModel("Hi"), patience))
    assert [type(event) for event in events] == [TextDelta, Completed]
    assert patience.slept == []


async def test_a_broken_stream_is_made_again_without_doubling(patience: Patience) -> None:
    model = ScriptedModel(
        ScriptedAnswer(text=["One ", "two"], breaks=TryLater("The connection broke.")), "One two three"
    )
    events = await events_of(resilient(model, patience))
    assert final_text(events) == "One two three"
    assert [(told.wait, told.why) for told in restarts(events)] == [
        (1.0, "The connection broke. Trying again in 1 second.")
    ]
    assert isinstance(events[-1], Completed)


async def test_waits_grow_and_end(patience: Patience) -> None:
    model = ScriptedModel(otherwise=TryLater("Down."))
    with pytest.raises(TryLater, match=r"Down\. I tried several times\. Please send your message again"):
        await events_of(resilient(model, patience))
    assert patience.slept == [1.0, 2.0]
    assert len(model.requests) == 3


async def test_jitter_shortens_a_wait_of_our_own_but_never_the_servers(patience: Patience) -> None:
    model = ScriptedModel(TryLater("Down."), TryLater("Limit.", retry_after=8), "Hi")
    await events_of(resilient(model, patience, jitter=0.0))
    assert patience.slept == [0.5, 8.0]


async def test_a_delay_that_is_too_long_is_told_and_not_waited_for(patience: Patience) -> None:
    model = ScriptedModel(TryLater("The server limits how often it may be asked.", retry_after=600))
    with pytest.raises(TryLater, match=r"Try again in 10 minutes\.") as caught:
        await events_of(resilient(model, patience, "claude-haiku-5-5"))
    assert caught.value.retry_after == 600
    assert patience.slept == []


async def test_an_overloaded_model_gives_way_to_the_next(patience: Patience) -> None:
    busy = TryLater("The model is overloaded.", overloaded=True)
    model = ScriptedModel(busy, busy, busy, "Hi")
    events = await events_of(resilient(model, patience, "claude-opus-5-5", "claude-haiku-5-5"))
    assert [asked.model for asked in model.requests] == ["claude-sonnet-5-5"] * 3 + ["claude-opus-5-5"]
    assert restarts(events)[-1].model == "claude-opus-5-5"
    assert "Switching to claude-opus-5-5" in restarts(events)[-1].why


async def test_a_long_delay_of_an_overloaded_model_is_not_waited_for_where_another_may_answer(
    patience: Patience,
) -> None:
    model = ScriptedModel(TryLater("Overloaded.", retry_after=600, overloaded=True), "Hi")
    await events_of(resilient(model, patience, "claude-haiku-5-5"))
    assert model.requests[-1].model == "claude-haiku-5-5"
    assert patience.slept == [0.0]


async def test_an_unknown_model_gives_way_at_once(patience: Patience) -> None:
    model = ScriptedModel(ModelNotFound("No such model."), "Hi")
    await events_of(resilient(model, patience, "claude-haiku-5-5"))
    assert [asked.model for asked in model.requests] == ["claude-sonnet-5-5", "claude-haiku-5-5"]


async def test_the_last_models_error_is_raised_when_all_are_down(patience: Patience) -> None:
    model = ScriptedModel(otherwise=lambda asked: TryLater(f"{asked.model} is down.", overloaded=True))
    with pytest.raises(TryLater, match="claude-haiku-5-5 is down"):
        await events_of(resilient(model, patience, "claude-haiku-5-5"))
    assert len(model.requests) == 6


async def test_what_cannot_be_helped_is_raised_at_once(patience: Patience) -> None:
    model = ScriptedModel(AccessDenied("No credit."))
    with pytest.raises(AccessDenied):
        await events_of(resilient(model, patience, "claude-haiku-5-5"))
    assert len(model.requests) == 1


async def test_another_model_gets_no_thinking(patience: Patience) -> None:
    history = (
        Message("user", (text("Hello"),)),
        Message("assistant", (THOUGHT, text("Hi"))),
        Message("user", (text("And?"),)),
    )
    model = ScriptedModel(ModelNotFound("No such model."), "Hi")
    await events_of(resilient(model, patience, "claude-haiku-5-5"), request(*history))
    assert model.requests[0].messages == history
    assert model.requests[1].messages == (history[0], Message("assistant", (text("Hi"),)), history[2])


async def test_refused_thinking_is_left_out_once(patience: Patience) -> None:
    history = (Message("user", (text("Hello"),)), Message("assistant", (THOUGHT,)), Message("user", (text("And?"),)))
    model = ScriptedModel(ThinkingRejected("Bound to another talk."), "Hi")
    await events_of(resilient(model, patience), request(*history))
    assert model.requests[1].messages == (Message("user", (text("Hello"), text("And?"))),)
    with pytest.raises(ThinkingRejected):
        await events_of(resilient(ScriptedModel(otherwise=ThinkingRejected("Still.")), patience), request(*history))


async def test_closing_reaches_the_call(patience: Patience) -> None:
    hold = Hold()
    inner = ScriptedModel(ScriptedAnswer(text=["One ", "two"], hold=hold, hold_at=1))
    ended = asyncio.Event()

    class Watched(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            try:
                async for event in inner.stream(request):
                    yield event
            finally:
                ended.set()

    async with closing(ResilientModel(Watched()).stream(request())) as events:
        assert await anext(events) == TextDelta("One ")
    assert ended.is_set()


async def test_over_http_a_cut_stream_ends_in_one_whole_answer(patience: Patience) -> None:
    async with FakeAnthropic() as fake:
        fake.cut(after=2)
        fake.fail(529)
        fake.answer("one two three four")
        inner = AnthropicModel(fake.api_key, fake.base_url)
        events = await events_of(ResilientModel(inner, sleep=patience))
        await inner.aclose()
    assert final_text(events) == "one two three four"
    assert [type(event) for event in events].count(Completed) == 1
    assert [seen.status for seen in fake.requests] == [200, 529, 200]


async def test_over_http_signatures_of_another_talk_do_not_lock_the_session(patience: Patience) -> None:
    async with FakeAnthropic() as fake:
        inner = AnthropicModel(fake.api_key, fake.base_url)
        history = (
            Message("user", (text("Hello"),)),
            Message("assistant", (THOUGHT, text("Hi"))),
            Message("user", (text("And?"),)),
        )
        events = await events_of(ResilientModel(inner, sleep=patience), request(*history))
        await inner.aclose()
    assert final_text(events) == "And?"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.2, "1 second"),
        (59.1, "60 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (601, "11 minutes"),
        (7200, "2 hours"),
    ],
)
def test_durations_for_people(seconds: float, said: str) -> None:
    assert duration(seconds) == said


blocks = st.sampled_from([text("a"), THOUGHT, {"type": "redacted_thinking", "data": "x"}])
messages = st.lists(st.lists(blocks, min_size=1, max_size=3), min_size=1, max_size=8).map(
    lambda contents: tuple(Message("user" if at % 2 == 0 else "assistant", tuple(c)) for at, c in enumerate(contents))
)


@given(messages)
def test_without_thinking_roles_alternate_and_nothing_else_goes(history: tuple[Message, ...]) -> None:
    left = without_thinking(request(*history)).messages
    assert all(one.role != two.role for one, two in itertools.pairwise(left))
    assert all(message.content for message in left)
    said = [block for message in left for block in message.content]
    assert said == [block for message in history for block in message.content if block["type"] == "text"]


async def test_a_server_that_is_not_there_gives_way_to_another_provider_only(patience: Patience) -> None:
    gone = [ScriptedAnswer(breaks=TryLater("I can't reach it.")) for _ in range(3)]
    model = ScriptedModel(*gone, "I stand in.")
    made = ResilientModel(
        model, ["other", "openai:llama3.3:70b"], providers=("anthropic", "openai"), attempts=3, sleep=patience
    )
    events = await events_of(made)
    assert restarts(events)[-1].model == "openai:llama3.3:70b"
    assert final_text(events) == "I stand in."


async def test_a_name_with_a_provider_is_asked_there() -> None:
    here, there = ScriptedModel("Here."), ScriptedModel("There.")
    routed = RoutedModel({"anthropic": here, "openai": there}, "anthropic")
    for name, said in (("claude", "Here."), ("openai:llama3.3:70b", "There.")):
        asked = dataclasses.replace(request(), model=name)
        events = [event async for event in routed.stream(asked)]
        assert isinstance(events[-1], Completed) and events[-1].text == said
    assert there.requests[0].model == "llama3.3:70b"


class Asked:
    """Waits as a gateway keeps them, in the order of what was noted."""

    def __init__(self, **left: float) -> None:
        self.seconds = {name.replace("_", "-"): seconds for name, seconds in left.items()}
        self.noted: list[tuple[str, float]] = []

    def left(self, model: str) -> float:
        return self.seconds.get(model, 0.0)

    def standing(self, model: str) -> object:
        return self.seconds.get(model)

    async def begin(self, model: str, seconds: float) -> object:
        if seconds < self.left(model):
            return None
        self.seconds[model] = seconds
        self.noted.append((model, seconds))
        return seconds

    def end(self, model: str, wait: object) -> None:
        if self.seconds.get(model) == wait:
            self.seconds.pop(model, None)


async def test_what_the_server_asks_is_noted_before_it_is_waited_for_and_ends_with_it() -> None:
    waits = Asked()
    seen: list[float] = []

    async def sleep(_: float) -> None:
        seen.append(waits.left("claude-sonnet-5-5"))

    model = ScriptedModel(TryLater("Limit.", retry_after=8), TryLater("Down."), "Hi")
    await events_of(ResilientModel(model, sleep=sleep, jitter=lambda: 0.0, waits=waits))
    assert waits.noted == [("claude-sonnet-5-5", 8.0)] and seen == [8.0, 0.0]
    assert waits.seconds == {}


async def test_a_call_waits_as_the_server_asked_for_another_but_never_longer_than_it_may(patience: Patience) -> None:
    waits = Asked(claude_sonnet_5_5=1e9)
    model = ScriptedModel("Hi")
    events = await events_of(ResilientModel(model, longest_wait=60, sleep=patience, waits=waits))
    assert patience.slept == [60] and waits.seconds == {}
    assert restarts(events)[0].why == "The model's server has asked me to wait. Trying again in 60 seconds."


async def test_a_fallback_waits_for_its_own_server_only(patience: Patience) -> None:
    waits = Asked(claude_opus_5_5=20.0)
    model = ScriptedModel(ModelNotFound("No such model."), "Hi")
    events = await events_of(ResilientModel(model, ["claude-opus-5-5"], sleep=patience, waits=waits))
    assert patience.slept == [0.0, 20.0] and final_text(events) == "Hi"
    assert [asked.model for asked in model.requests] == ["claude-sonnet-5-5", "claude-opus-5-5"]


async def test_a_stopped_wait_goes_on_for_the_next_call() -> None:
    waits, slept = Asked(), asyncio.Event()

    async def sleep(_: float) -> None:
        slept.set()
        await asyncio.Event().wait()

    model = ResilientModel(ScriptedModel(TryLater("Limit.", retry_after=8)), sleep=sleep, waits=waits)
    call = asyncio.create_task(events_of(model))
    await slept.wait()
    call.cancel()
    await asyncio.wait({call})
    assert waits.left("claude-sonnet-5-5") >= 8


async def test_a_wait_that_ends_leaves_a_longer_one_of_another_call_and_goes_on_with_it() -> None:
    waits, slept = Asked(), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 1:
            await waits.begin("claude-sonnet-5-5", 40)  # another call was refused, too

    model = ScriptedModel(TryLater("Limit.", retry_after=8), "Hi")
    await events_of(ResilientModel(model, sleep=sleep, jitter=lambda: 0.0, waits=waits))
    assert slept == [8.0, 40.0] and waits.seconds == {}


async def test_a_retry_waits_as_long_as_the_server_asked_for_another_call_where_it_alone_would_wait_less() -> None:
    waits, slept = Asked(), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    class Refused(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            if not slept:
                await waits.begin(request.model, 40)
            async for event in super().stream(request):
                yield event

    model = Refused(TryLater("Limit.", retry_after=8), "Hi")
    await events_of(ResilientModel(model, sleep=sleep, jitter=lambda: 0.0, waits=waits))
    assert slept == [8.0, 40.0]
    assert waits.noted == [("claude-sonnet-5-5", 40)], "a shorter one shortens none"
