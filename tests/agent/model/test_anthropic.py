"""The real SDK over HTTP against the strict fake."""

from __future__ import annotations

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
    ModelNotFound,
    ThinkingRejected,
    ToolCallStarted,
    TryLater,
    Usage,
)
from tests.agent.model.asking import MODEL, answer_of, events_of, refused, request, shown, text, user
from tests.fakes.anthropic import FakeAnthropic, FakeModelInfo


@pytest.fixture
async def fake() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as fake:
        yield fake


@pytest.fixture
async def model(fake: FakeAnthropic) -> AsyncIterator[AnthropicModel]:
    model = AnthropicModel(fake.api_key, fake.base_url, window_s=120)
    yield model
    await model.aclose()


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


@pytest.mark.parametrize(
    ("status", "kind", "message", "error", "says"),
    [
        (401, "", "invalid x-api-key", AccessDenied, "ANTHROPIC_API_KEY"),
        (402, "", "", AccessDenied, "credit"),
        (400, "", "Your credit balance is too low to access the Anthropic API", AccessDenied, "credit"),
        (403, "", "not on your plan", AccessDenied, "not on your plan"),
        (404, "", "model: x", ModelNotFound, MODEL),
        (404, "gone", "404 page", InvalidRequest, "base_url"),
        (400, "", "prompt is too long: 208310 tokens > 200000 maximum", ContextOverflow, "too long for the model"),
        (400, "", "This model's maximum context length is 32768 tokens", ContextOverflow, "too long for the model"),
        (413, "", "too big", ContextOverflow, "too long for the model"),
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


def test_the_sdk_is_imported_only_when_it_is_needed() -> None:
    code = (
        "import sys, agent.model.anthropic.model as m; m.AnthropicModel('k'); "
        "print([n for n in ('anthropic', 'httpx2') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ}, check=True)
    assert run.stdout.strip() == "[]"


async def test_a_stream_without_its_last_event(fake: FakeAnthropic, model: AnthropicModel) -> None:
    fake.says_stop = False
    fake.answer("All of it.")
    events = [event async for event in model.stream(request(user("hi")))]
    assert isinstance(events[-1], Completed) and events[-1].text == "All of it."
