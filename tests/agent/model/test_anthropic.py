"""The real SDK over HTTP against the strict fake."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from agent.model.anthropic.model import AnthropicModel
from agent.model.base import (
    AccessDenied,
    Block,
    Completed,
    ContextOverflow,
    InvalidRequest,
    Message,
    ModelError,
    ModelEvent,
    ModelNotFound,
    ModelRequest,
    Started,
    TextDelta,
    ThinkingRejected,
    ToolCallStarted,
    ToolSpec,
    TryLater,
    Usage,
)
from agent.model.client import closing
from tests.fakes.anthropic import FakeAnthropic, FakeModelInfo

MODEL = "claude-sonnet-5-5"
APPEND = ToolSpec(
    "memory_append", "Add to today's log.", {"type": "object", "properties": {"text": {"type": "string"}}}
)


@pytest.fixture
async def fake() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as fake:
        yield fake


@pytest.fixture
async def model(fake: FakeAnthropic) -> AsyncIterator[AnthropicModel]:
    model = AnthropicModel(fake.api_key, fake.base_url, window_s=120)
    yield model
    await model.aclose()


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def user(*blocks: Block | str) -> Message:
    return Message("user", tuple(text(block) if isinstance(block, str) else block for block in blocks))


def request(*messages: Message, **changes: object) -> ModelRequest:
    fields: dict[str, object] = {
        "model": MODEL,
        "system": ("You are Daybook.",),
        "messages": messages or (user("Hello"),),
        "tools": (APPEND,),
        "max_tokens": 1000,
    }
    return ModelRequest(**(fields | changes))  # type: ignore[arg-type]


async def events_of(model: AnthropicModel, asked: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.stream(asked)]


async def answer_of(model: AnthropicModel, asked: ModelRequest) -> Completed:
    last = (await events_of(model, asked))[-1]
    assert isinstance(last, Completed)
    return last


async def refused(model: AnthropicModel, asked: ModelRequest | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events_of(model, asked or request())
    return caught.value


def shown(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_text_streams_and_completes(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.answer(["Good ", "morning"], usage={"input_tokens": 11, "output_tokens": 3})
    events = await events_of(model, request())
    assert isinstance(events[0], Started)
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Good ", "morning"]
    done = events[-1]
    assert isinstance(done, Completed)
    assert done.content == (text("Good morning"),)
    assert (done.stop_reason, done.model, done.usage.output) == ("end_turn", MODEL, 3)


@pytest.mark.parametrize("one_byte", [False, True])
async def test_every_kind_of_block_is_kept_as_sent(fake: FakeAnthropic, model: AnthropicModel, one_byte: bool) -> None:
    fake.one_byte_chunks = one_byte
    fake.unknown_events = True
    redacted = {"type": "redacted_thinking", "data": "b64=="}
    novel = {"type": "hologram", "depth": 3, "layers": [{"a": None}]}
    fake.answer(
        "Ich notiere: Grüße 👋",
        thinking="Let me think.",
        blocks=[redacted, novel],
        tools=[("memory_append", {"text": "tea ☕"}), ("memory_append", {})],
    )
    events = await events_of(model, request())
    done = events[-1]
    assert isinstance(done, Completed)
    thinking, second, third, said, call, empty_call = done.content
    assert thinking["thinking"] == "Let me think."
    assert str(thinking["signature"]).startswith("fake-")
    assert (second, third, said) == (redacted, novel, text("Ich notiere: Grüße 👋"))
    assert (call["name"], call["input"], empty_call["input"]) == ("memory_append", {"text": "tea ☕"}, {})
    assert done.stop_reason == "tool_use"
    assert not done.invalid
    assert [event.name for event in events if isinstance(event, ToolCallStarted)] == ["memory_append"] * 2
    assert shown(events) == "Ich notiere: Grüße 👋"


async def test_signed_thinking_goes_back_unchanged(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.answer("Noted.", thinking="Keep it.", tool=("memory_append", {"text": "tea"}))
    first = await answer_of(model, request(user("I like tea")))
    result: Block = {"type": "tool_result", "tool_use_id": first.content[-1]["id"], "content": "done"}
    history = (user("I like tea"), Message("assistant", first.content), user(result))
    fake.answer("All right.")
    assert (await answer_of(model, request(*history))).content == (text("All right."),)
    edited = (user("I hate tea"), *history[1:])
    assert isinstance(await refused(model, request(*edited)), ThinkingRejected)


async def test_garbage_as_tool_input_is_told_and_kept_out(fake: FakeAnthropic, model: AnthropicModel) -> None:
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
async def test_stop_reasons_are_passed_on(fake: FakeAnthropic, model: AnthropicModel, stop_reason: str) -> None:
    fake.answer("So far", stop_reason=stop_reason)
    assert (await answer_of(model, request())).stop_reason == stop_reason


async def test_an_answer_of_nothing_is_an_answer(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.answer()
    done = await answer_of(model, request())
    assert (done.content, done.stop_reason) == ((), "end_turn")


async def test_a_server_without_usage_is_tolerated(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.without_usage = True
    assert (await answer_of(model, request())).usage == Usage()


async def test_cache_marks_let_the_next_call_read_the_prefix(fake: FakeAnthropic, model: AnthropicModel) -> None:
    history = [user("One")]
    first = await answer_of(model, request(*history))
    history += [Message("assistant", first.content), user("Two")]
    second = await answer_of(model, request(*history))
    assert first.usage.cache_write > 0
    assert second.usage.cache_read == first.usage.cache_write
    assert second.usage.input == 0


async def test_the_cache_holds_over_an_answer_of_many_blocks(fake: FakeAnthropic, model: AnthropicModel) -> None:
    """Fifty calls and their results are more than the 20 blocks that the server looks back."""
    first = await answer_of(model, request(user("Go")))
    calls: tuple[Block, ...] = tuple(
        {"type": "tool_use", "id": f"t{n}", "name": "memory_append", "input": {}} for n in range(50)
    )
    results: tuple[Block, ...] = tuple(
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": "ok"} for n in range(50)
    )
    second = await answer_of(model, request(user("Go"), Message("assistant", calls), Message("user", results)))
    assert second.usage.cache_read == first.usage.cache_write


@pytest.mark.parametrize(("cache", "mark"), [("5m", {"type": "ephemeral"}), ("1h", {"type": "ephemeral", "ttl": "1h"})])
async def test_the_prefix_is_marked_for_the_time_asked(
    fake: FakeAnthropic, model: AnthropicModel, cache: str, mark: Block
) -> None:
    await answer_of(model, request(cache=cache))
    body = fake.requests[0].body
    assert body["system"][-1]["cache_control"] == mark
    assert body["messages"][-1]["content"][-1]["cache_control"] == mark


async def test_no_marks_where_the_cache_is_off(fake: FakeAnthropic, model: AnthropicModel) -> None:
    await answer_of(model, request(cache="off", effort="low"))
    assert "cache_control" not in fake.requests[0].text
    assert fake.requests[0].body["output_config"] == {"effort": "low"}


async def test_effort_is_not_sent_unasked(fake: FakeAnthropic, model: AnthropicModel) -> None:
    await answer_of(model, request())
    assert "output_config" not in fake.requests[0].body


async def test_lone_surrogates_and_nul_do_not_break_a_call(fake: FakeAnthropic, model: AnthropicModel) -> None:
    await answer_of(model, request(user("broken \ud83d and \x00 here")))
    assert fake.requests[0].last_user_text == "broken ? and \x00 here"


@pytest.mark.parametrize(
    ("status", "kind", "message", "error", "says"),
    [
        (401, "", "invalid x-api-key", AccessDenied, "ANTHROPIC_API_KEY"),
        (402, "", "", AccessDenied, "credit"),
        (400, "", "Your credit balance is too low to access the Anthropic API", AccessDenied, "credit"),
        (403, "", "not on your plan", AccessDenied, "not on your plan"),
        (404, "", "model: x", ModelNotFound, MODEL),
        (404, "gone", "404 page", InvalidRequest, "base_url"),
        (400, "", "prompt is too long: 208310 tokens > 200000 maximum", ContextOverflow, "larger"),
        (400, "", "This model's maximum context length is 32768 tokens", ContextOverflow, "larger"),
        (413, "", "too big", ContextOverflow, "larger"),
        (400, "", "tools.0.custom.name: bad", InvalidRequest, "tools.0.custom.name"),
        (400, "", "messages.1: thinking block is bound to a different conversation", ThinkingRejected, "thinking"),
    ],
)
async def test_refusals_say_what_can_be_done(
    fake: FakeAnthropic,
    model: AnthropicModel,
    status: int,
    kind: str,
    message: str,
    error: type[ModelError],
    says: str,
) -> None:
    fake.fail(status, kind, message=message)
    caught = await refused(model)
    assert type(caught) is error
    assert says in str(caught)
    assert len(fake.requests) == 1, "the SDK must not retry by itself"


@pytest.mark.parametrize(
    ("status", "overloaded"), [(429, False), (408, False), (500, True), (502, True), (503, True), (529, True)]
)
async def test_passing_trouble_may_be_tried_later(
    fake: FakeAnthropic, model: AnthropicModel, status: int, overloaded: bool
) -> None:
    fake.fail(status, retry_after=7)
    caught = await refused(model)
    assert isinstance(caught, TryLater)
    assert (caught.overloaded, caught.retry_after) == (overloaded, 7.0)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", TryLater),
        ("rate_limit_error", TryLater),
        ("something_new", TryLater),
        ("authentication_error", AccessDenied),
        ("invalid_request_error", InvalidRequest),
    ],
)
async def test_an_error_event_within_the_stream(
    fake: FakeAnthropic, model: AnthropicModel, kind: str, error: type[ModelError]
) -> None:
    fake.error_event(kind)
    fake.answer("one two three four")
    assert type(await refused(model)) is error


async def test_a_stream_cut_is_no_answer(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.cut(after=2)
    fake.answer("one two three four")
    seen: list[ModelEvent] = []
    with pytest.raises(TryLater):
        async for event in model.stream(request()):
            seen.append(event)
    assert shown(seen) == "one two "
    assert (await answer_of(model, request())).content == (text("one two three four"),)


async def test_an_early_clean_end_is_no_answer(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.end_early(after=2)
    fake.answer("one two three four")
    assert isinstance(await refused(model), TryLater)


async def test_a_whole_answer_without_a_reason_is_an_answer(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.never_stop_reason()
    fake.answer("one two")
    done = await answer_of(model, request())
    assert (done.text, done.stop_reason) == ("one two", "end_turn")


async def test_a_silent_server_is_given_up(fake: FakeAnthropic) -> None:
    model = AnthropicModel(fake.api_key, fake.base_url, timeout_s=0.2)
    fake.stall(after=1)
    fake.answer("one two three")
    caught = await refused(model)
    assert isinstance(caught, TryLater)
    assert caught.overloaded
    assert "0.2 seconds" in str(caught)
    await model.aclose()


async def test_an_unreachable_server_is_named(fake: FakeAnthropic) -> None:
    await fake.__aexit__(None, None, None)
    model = AnthropicModel("key", fake.base_url)
    caught = await refused(model)
    assert isinstance(caught, TryLater)
    assert "127.0.0.1" in str(caught)
    await model.aclose()


async def test_closing_the_iterator_ends_the_call(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.hold(after=1)
    fake.answer("one two three")
    async with closing(model.stream(request())) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert await asyncio.wait_for(asyncio.wrap_future(fake.requests[0].outcome), 120) == "dropped"


async def test_cancelling_ends_the_call(fake: FakeAnthropic, model: AnthropicModel) -> None:
    hold = fake.hold(after=1)
    fake.answer("one two three")
    call = asyncio.create_task(events_of(model, request()))
    await fake.held(hold)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.wait_for(asyncio.wrap_future(fake.requests[0].outcome), 120) == "dropped"


async def test_orphans_never_reach_a_lenient_server(fake: FakeAnthropic, model: AnthropicModel) -> None:
    call: Block = {"type": "tool_use", "id": "t1", "name": "memory_append", "input": {}}
    asked = request(user("Hi"), Message("assistant", (call,)), user("and?"))
    caught = await refused(model, asked)
    assert type(caught) is InvalidRequest
    assert "t1" in str(caught)


async def test_the_window_comes_from_the_models_endpoint(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.models["small"] = FakeModelInfo("small", max_input_tokens=32_000)
    assert await model.context_window(MODEL) == 1_000_000
    assert await model.context_window("small") == 32_000
    assert await model.context_window("unknown") is None


async def test_no_window_where_the_server_cannot_say(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.models_endpoint = False
    assert await model.context_window(MODEL) is None
    fake.models_endpoint = True
    assert await model.context_window(MODEL) == 1_000_000, "a failure must not be kept"
    fake.models_endpoint = False
    assert await model.context_window(MODEL) == 1_000_000, "an answer must be kept"


async def test_a_missing_or_mangled_key_is_told_before_any_call(fake: FakeAnthropic) -> None:
    assert "ANTHROPIC_API_KEY" in str(await refused(AnthropicModel("")))
    mangled = await refused(AnthropicModel("sk-ant-ab\ncd", fake.base_url))
    assert isinstance(mangled, AccessDenied)
    assert "ab" not in str(mangled)
    assert fake.requests == []


async def test_the_key_shows_in_no_error(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.fail(400, message=f"Incorrect key {fake.api_key} or sk-other-secret-1234")
    caught = await refused(model)
    told = "".join(str(error) for error in (caught, caught.__cause__)) + repr(model)
    assert fake.api_key not in told
    assert "sk-other-secret-1234" not in str(caught)


async def test_nothing_of_the_environment_is_used(
    fake: FakeAnthropic, model: AnthropicModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-somebody-else")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-somebody-else")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    await answer_of(model, request())
    assert fake.requests[0].headers["x-api-key"] == fake.api_key
    assert "somebody" not in str(fake.requests[0].headers)


async def test_an_address_with_v1_is_understood(fake: FakeAnthropic) -> None:
    model = AnthropicModel(fake.api_key, f"{fake.base_url}/v1/")
    assert (await answer_of(model, request())).content == (text("Hello"),)
    await model.aclose()


async def test_one_connection_serves_one_call_after_the_other(fake: FakeAnthropic, model: AnthropicModel) -> None:
    for _ in range(3):
        await answer_of(model, request())
    assert len({seen.peer for seen in fake.requests}) == 1


def test_the_sdk_is_imported_only_when_it_is_needed() -> None:
    code = (
        "import sys, agent.model.anthropic.model as m; m.AnthropicModel('k'); "
        "print([n for n in ('anthropic', 'httpx2') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ}, check=True)
    assert run.stdout.strip() == "[]"


async def test_a_whole_message_instead_of_a_stream(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.streams = False
    fake.answer("Noted.", tool=("memory_append", {"text": "tea"}))
    events = [event async for event in model.stream(request(user("I like tea"), tools=(APPEND,)))]
    assert "Noted." in [event.text for event in events if isinstance(event, TextDelta)]
    completed = events[-1]
    assert isinstance(completed, Completed) and completed.stop_reason == "tool_use" and completed.usage.output > 0
    assert completed.content[-1]["input"] == {"text": "tea"}


async def test_a_stream_without_its_last_event(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.says_stop = False
    fake.answer("All of it.")
    events = [event async for event in model.stream(request(user("hi")))]
    assert isinstance(events[-1], Completed) and events[-1].text == "All of it."


async def test_a_model_whose_answers_are_shorter(fake: FakeAnthropic, model: AnthropicModel) -> None:
    """The limit that the server names is kept to from then on."""
    fake.models["small"] = FakeModelInfo("small", 32_000, 4096)
    asked = request(user("hi"), model="small", max_tokens=8192)
    for _ in range(2):
        events = [event async for event in model.stream(asked)]
        assert isinstance(events[-1], Completed)
    assert [body["max_tokens"] for body in fake.bodies] == [8192, 4096, 4096]
