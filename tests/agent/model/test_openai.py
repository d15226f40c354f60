"""What chat completions servers do each in its own way: the real SDK over HTTP against the strict fake's switches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import get_args
from zoneinfo import ZoneInfo

import pytest

from agent.clock import Clock
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
    Started,
    ToolCallStarted,
    ToolSpec,
    TryLater,
)
from agent.model.openai.model import CAREFUL_WINDOW, OpenAIModel
from tests.agent.model.asking import APPEND, answer_of, events_of, refused, request, shown, text, user
from tests.fakes import openai as fakes
from tests.fakes.anthropic import FakeAnthropic, FakeModelInfo
from tests.fakes.openai import FakeOpenAI

MODEL = "llama3.3"
CLOCK = Clock(ZoneInfo("Europe/Berlin"), lambda: datetime(2026, 11, 23, 12, tzinfo=UTC))
TOOLS = (
    APPEND,
    ToolSpec("memory_search", "Find.", {"type": "object", "properties": {"query": {"type": "string"}}}),
    ToolSpec("memory_get", "Read.", {"type": "object", "properties": {"path": {"type": "string"}}}),
)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
PICTURE: Block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


@pytest.fixture
async def fake() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
async def model(fake: FakeOpenAI) -> AsyncIterator[OpenAIModel]:
    model = OpenAIModel(fake.api_key, fake.base_url, window_s=120, clock=CLOCK)
    yield model
    await model.aclose()


def asked(*messages: Message, **changes: object) -> object:
    return request(*messages, **({"model": MODEL} | changes))


def call(id: str, **arguments: str) -> Block:
    return {"type": "tool_use", "id": id, "name": "memory_append", "input": arguments}


def result(id: str, content: object = "done", **more: object) -> Block:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


# requests


async def test_a_conversation_goes_out_in_the_other_form(fake: FakeOpenAI, model: OpenAIModel) -> None:
    history = (
        user("I like tea", PICTURE),
        Message("assistant", (text("Noting."), call("t1", text="tea"), call("t2", text="Tee"))),
        Message("user", (result("t1"), result("t2", "no room", is_error=True), text("and cake"))),
    )
    await answer_of(model, asked(*history, system=("You are Daybook.", " ", "Be brief."), effort="max"))
    body = fake.bodies[0]
    system, question, said, first, second, more = body["messages"]
    assert system == {"role": "system", "content": "You are Daybook.\n\nBe brief."}
    assert question["content"][0] == {"type": "text", "text": "I like tea"}
    assert question["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert said["content"] == "Noting." and len({one["id"] for one in said["tool_calls"]}) == 2
    assert [one["tool_call_id"] for one in (first, second)] == [one["id"] for one in said["tool_calls"]]
    assert (first["content"], second["content"]) == ("done", "Error: no room")
    assert more == {"role": "user", "content": "and cake"}
    assert body["tools"][0]["function"]["parameters"]["type"] == "object"
    assert (body["max_tokens"], body["stream_options"], body["reasoning_effort"]) == (
        1000,
        {"include_usage": True},
        "xhigh",
    )
    assert "cache" not in json.dumps(body)


async def test_a_picture_in_a_result_follows_in_a_message_of_the_user(fake: FakeOpenAI, model: OpenAIModel) -> None:
    shot = result("t1", [text("A chart."), PICTURE])
    await answer_of(model, asked(user("Look"), Message("assistant", (call("t1"),)), Message("user", (shot,))))
    told, picture = fake.bodies[0]["messages"][-2:]
    assert told["role"] == "tool" and told["content"].startswith("A chart.")
    assert [part["type"] for part in picture["content"]] == ["image_url"]


async def test_what_another_provider_made_is_left_out_or_put_in_words(fake: FakeOpenAI, model: OpenAIModel) -> None:
    searched: list[Block] = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "tides"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s",
            "content": [{"title": "Tides", "url": "https://t.test"}],
        },
    ]
    thought: Block = {"type": "thinking", "thinking": "secret musing", "signature": "signed"}
    redacted: Block = {"type": "redacted_thinking", "data": "b64"}
    history = (user("Hi"), Message("assistant", (thought, redacted, *searched, text("High at ten."))), user("Thanks"))
    await answer_of(model, asked(*history))
    said = fake.bodies[0]["messages"][2]["content"]
    assert "tides" in said and "https://t.test" in said and said.endswith("High at ten.")
    assert "musing" not in fake.requests[0].text and "b64" not in fake.requests[0].text


async def test_an_answer_of_thinking_alone_leaves_no_empty_message(fake: FakeOpenAI, model: OpenAIModel) -> None:
    thought: Block = {"type": "thinking", "thinking": "hm", "signature": "signed"}
    await answer_of(model, asked(user("One"), Message("assistant", (thought,)), user("Two")))
    assert [one["role"] for one in fake.bodies[0]["messages"]] == ["system", "user"]
    assert fake.bodies[0]["messages"][1]["content"] == "One\n\nTwo"


async def test_a_tool_that_anthropics_server_runs_is_not_offered(fake: FakeOpenAI, model: OpenAIModel) -> None:
    search = ToolSpec("web_search", "", {}, server="web_search_20250305")
    await answer_of(model, asked(tools=(search,)))
    await answer_of(model, asked(tools=(search, APPEND)))
    assert "tools" not in fake.bodies[0]
    assert [one["function"]["name"] for one in fake.bodies[1]["tools"]] == ["memory_append"]


# answers


@pytest.mark.parametrize("style", [one for one in get_args(fakes.Calls) if one != "legacy"])
async def test_calls_are_read_however_they_stream(fake: FakeOpenAI, model: OpenAIModel, style: fakes.Calls) -> None:
    fake.calls = style
    given = [{"text": "tea ☕"}, {"text": "cake"}, {"text": 'a "quoted" one'}]
    fake.answer("Noting.", tools=[("memory_append", one) for one in given])
    events = await events_of(model, asked())
    done = events[-1]
    assert isinstance(done, Completed)
    calls = [block for block in done.content if block.get("type") == "tool_use"]
    assert [block["input"] for block in calls] == given
    assert len({block["id"] for block in calls}) == 3 and not done.invalid
    assert [event.name for event in events if isinstance(event, ToolCallStarted)] == ["memory_append"] * 3
    assert (done.text, done.stop_reason) == ("Noting.", "tool_use")


async def test_one_call_in_the_oldest_form(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.calls = "legacy"
    fake.answer(tool=("memory_append", {"text": "tea"}))
    done = await answer_of(model, asked())
    assert (done.content[0]["name"], done.content[0]["input"]) == ("memory_append", {"text": "tea"})


@pytest.mark.parametrize("where", [one for one in get_args(fakes.Reasoning) if one])
@pytest.mark.parametrize("streams", [True, False])
async def test_reasoning_is_kept_out_of_the_answer(
    fake: FakeOpenAI, model: OpenAIModel, where: fakes.Reasoning, streams: bool
) -> None:
    fake.reasoning, fake.streams = where, streams
    fake.answer("Ten o'clock.", thinking="The person asks about the tide.")
    events = await events_of(model, asked())
    done = events[-1]
    assert isinstance(done, Completed)
    assert shown(events) == done.text == "Ten o'clock."


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_goes_back_within_its_turn_only(
    fake: FakeOpenAI, model: OpenAIModel, field: fakes.Reasoning
) -> None:
    fake.reasoning, fake.needs_reasoning = field, "turn"
    fake.answer("Noting.", thinking="Keep it.", tool=("memory_append", {"text": "tea"}))
    first = await answer_of(model, asked(user("I like tea")))
    history = (user("I like tea"), Message("assistant", first.content), user(result(str(first.content[-1]["id"]))))
    fake.answer("Noted.")
    last = await answer_of(model, asked(*history))
    assert fake.bodies[1]["messages"][2][field] == "Keep it."
    await answer_of(model, asked(*history, Message("assistant", last.content), user("And cake")))
    assert "Keep it." not in fake.requests[2].text


async def test_a_server_that_wants_all_reasoning_gets_it(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.reasoning, fake.needs_reasoning = "reasoning_content", "all"
    fake.answer("Noting.", thinking="Keep it.", tool=("memory_append", {"text": "tea"}))
    first = await answer_of(model, asked(user("I like tea")))
    kept = user(result(str(first.content[-1]["id"])))
    others = (Message("assistant", (call("t1"),)), user(result("t1")), Message("assistant", (text("Yes."),)))
    history = (user("Hi"), *others, user("I like tea"), Message("assistant", first.content), kept)
    assert (await answer_of(model, asked(*history, Message("assistant", (text("Noted."),)), user("And?")))).text
    assert "Keep it." in fake.requests[-1].text
    assert [one.status for one in fake.requests] == [200, 400, 200]


async def test_words_after_results_go_where_no_user_may_follow_a_tool(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.user_after_tool = False
    more = Message("user", (result("t1"), text("and cake")))
    await answer_of(model, asked(user("I like tea"), Message("assistant", (call("t1"),)), more))
    assert [one["role"] for one in fake.bodies[-1]["messages"]][-3:] == ["tool", "assistant", "user"]


async def test_its_reasoning_never_reaches_anthropic(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.reasoning = "reasoning_content"
    fake.answer("Noting.", thinking="Keep it.", tool=("memory_append", {"text": "tea"}))
    first = await answer_of(model, asked(user("I like tea")))
    async with FakeAnthropic() as other:
        anthropic = AnthropicModel(other.api_key, other.base_url, window_s=120)
        history = (user("I like tea"), Message("assistant", first.content), user(result(str(first.content[-1]["id"]))))
        await answer_of(anthropic, request(*history))
        await anthropic.aclose()
        assert "Keep it." not in other.requests[0].text and len(other.requests) == 1


async def test_cached_input_is_counted_apart(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.answer("Hi.", usage={"input_tokens": 11, "output_tokens": 3, "cache_read_input_tokens": 40})
    usage = (await answer_of(model, asked())).usage
    assert (usage.input, usage.cache_read, usage.output, usage.context) == (11, 40, 3, 54)


async def test_a_server_that_counts_nothing_is_estimated(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.without_usage = True
    fake.answer("word " * 400)
    events = await events_of(model, asked(user("tea " * 1000)))
    start, done = events[0], events[-1]
    assert isinstance(start, Started) and isinstance(done, Completed)
    assert 900 < start.usage.input == done.usage.input < 2000
    assert 300 < done.usage.output < 900


async def test_a_stream_without_its_last_line(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.says_done = False
    fake.answer("All of it.")
    done = await answer_of(model, asked())
    assert done.text == "All of it." and done.usage.input > 0


# what a server does not take


async def test_fields_that_a_server_refuses_are_left_out_from_then_on(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.limit, fake.no_stream_options, fake.no_effort = "max_completion_tokens", True, True
    for _ in range(2):
        assert (await answer_of(model, asked(effort="low"))).text == "Hello"
    statuses = [one.status for one in fake.requests]
    assert statuses == [400, 400, 400, 200, 200]
    last = fake.bodies[-1]
    assert last["max_completion_tokens"] == 1000
    assert not {"max_tokens", "stream_options", "reasoning_effort"} & set(last)


async def test_a_template_without_a_system_role_gets_the_rules_from_the_user(
    fake: FakeOpenAI, model: OpenAIModel
) -> None:
    fake.no_system = True
    assert (await answer_of(model, asked(user("Hello there")))).text.endswith("Hello there")
    assert fake.bodies[-1]["messages"] == [{"role": "user", "content": "You are Daybook.\n\nHello there"}]


REFUSALS = [
    (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    (400, "deepseek-reasoner does not support Function Calling"),
    (400, "`tool calling` is not supported with this model"),
    (404, "No endpoints found that support tool use. To learn more about provider routing, visit the docs."),
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (500, "tools param requires --jinja flag"),
    (422, "tools: Extra inputs are not permitted"),
]


@pytest.mark.parametrize(("status", "words"), REFUSALS)
async def test_a_model_without_tools_answers_in_words(
    fake: FakeOpenAI, model: OpenAIModel, status: int, words: str
) -> None:
    fake.no_tools = (status, words)
    for _ in range(2):
        assert (await answer_of(model, asked(user("How are you?"), tools=(APPEND,)))).text == "How are you?"
    assert [one.status for one in fake.requests] == [status, 200, 200]
    assert "cannot call tools" in fake.requests[-1].text


async def test_without_tools_the_words_of_the_person_do_the_memory_work(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.no_tools = REFUSALS[0]
    await answer_of(model, asked(user("How are you?"), tools=TOOLS))
    before = len(fake.requests)

    wishes = {
        "Please remember that my cat is called Luna.": ("memory_append", "Luna"),
        "What is my cat called?": ("memory_search", "cat"),
        "What did I note today?": ("memory_get", "2026-11-23"),
    }
    for wish, (name, part) in wishes.items():
        done = await answer_of(model, asked(user(wish), tools=TOOLS))
        (block,) = done.content
        assert (block["name"], done.stop_reason) == (name, "tool_use")
        assert part in json.dumps(block["input"])
    assert len(fake.requests) == before, "nothing was to be asked yet"

    found = Message("user", (result(str(block["id"]), "- 09:12 Luna saw the vet"),))
    fake.answer("She saw the vet.")
    done = await answer_of(model, asked(user(wish), Message("assistant", done.content), found, tools=TOOLS))
    assert done.text == "She saw the vet."
    assert "[Result of memory_get]" in fake.requests[-1].text and "Luna saw the vet" in fake.requests[-1].text


async def test_without_tools_a_flush_is_written_down_as_it_is_said(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.no_tools = REFUSALS[0]
    fake.answer("2026-11-23 Luna saw the vet")
    done = await answer_of(model, asked(user("Write down"), tools=TOOLS, purpose="flush"))
    assert [(one["name"], one["input"]) for one in done.content] == [
        ("memory_append", {"text": "2026-11-23 Luna saw the vet"})
    ]
    fake.answer("NO_REPLY")
    done = await answer_of(model, asked(user("Write down"), tools=TOOLS, purpose="flush"))
    assert done.text == "NO_REPLY"


async def test_a_refused_schema_is_no_missing_support_for_tools(fake: FakeOpenAI, model: OpenAIModel) -> None:
    fake.fail(400, "invalid_request_error", message="Invalid schema for function 'x': 'oneOf' is not supported.")
    assert type(await refused(model, asked())) is InvalidRequest
    assert len(fake.requests) == 1


# refusals


@pytest.mark.parametrize(
    ("status", "kind", "message", "error", "says"),
    [
        (401, "invalid_api_key", "Incorrect API key provided: sk-abc123456.", AccessDenied, "OPENAI_API_KEY"),
        (402, "", "Insufficient Balance", AccessDenied, "credit"),
        (429, "insufficient_quota", "You exceeded your current quota, please check your plan.", AccessDenied, "credit"),
        (403, "", "Country, region, or territory not supported", AccessDenied, "Country"),
        (404, "model_not_found", f"The model `{MODEL}` does not exist", ModelNotFound, MODEL),
        (404, "gone", "404 page not found", InvalidRequest, "no chat completions API"),
        (
            400,
            "context_length_exceeded",
            "Your input exceeds the context window of this model.",
            ContextOverflow,
            "long",
        ),
        (400, "", "Invalid request: Your request exceeded model token limit: 8192", ContextOverflow, "too long"),
        (400, "", "Prompt exceeds max length", ContextOverflow, "too long"),
        (400, "", "Range of input length should be [1, 30720]", ContextOverflow, "too long"),
        (
            400,
            "",
            "This model's maximum prompt length is 131072 but the request contains 200000",
            ContextOverflow,
            "long",
        ),
        (400, "", "Please reduce the length of the messages or completion.", ContextOverflow, "too long"),
        (413, "", "Payload Too Large", ContextOverflow, "too long"),
        (400, "", "Invalid 'messages[0].content'", InvalidRequest, "messages"),
    ],
)
async def test_refusals_say_what_can_be_done(
    fake: FakeOpenAI, model: OpenAIModel, status: int, kind: str, message: str, error: type[ModelError], says: str
) -> None:
    fake.fail(status, kind, message=message)
    caught = await refused(model, asked())
    assert type(caught) is error, caught
    assert says in str(caught) and "sk-abc" not in str(caught)
    assert len(fake.requests) == 1, "the SDK must not retry by itself"


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 32768 tokens. However, you requested 40000 tokens.", 32_768),
        ("Your request exceeded model token limit: 8192", 8_192),
        ("Range of input length should be [1, 30720]", 30_720),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 and 512", 4_096),
    ],
)
async def test_the_window_is_learnt_from_a_refusal(
    fake: FakeOpenAI, model: OpenAIModel, message: str, window: int
) -> None:
    fake.fail(400, "invalid_request_error", message=message)
    caught = await refused(model, asked())
    assert isinstance(caught, ContextOverflow) and caught.window == window


async def test_an_unknown_model_is_answered_with_those_there_are(fake: FakeOpenAI, model: OpenAIModel) -> None:
    caught = await refused(model, asked(model="gpt-none"))
    assert isinstance(caught, ModelNotFound)
    assert "gpt-none" in str(caught) and "It has: llama3.3" in str(caught)


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource", "network_error"])
async def test_an_answer_that_the_server_gave_up_is_none(fake: FakeOpenAI, model: OpenAIModel, reason: str) -> None:
    fake.answer("So far", stop_reason=reason)
    caught = await refused(model, asked())
    assert isinstance(caught, TryLater) and caught.overloaded


# the window


@pytest.mark.parametrize("field", ["max_model_len", "context_length", "context_window", "n_ctx"])
async def test_the_window_comes_from_the_list_of_models(fake: FakeOpenAI, model: OpenAIModel, field: str) -> None:
    fake.window_field = field
    assert await model.context_window(MODEL) == 131_072


async def test_the_window_comes_from_ollama_and_llama_cpp(fake: FakeOpenAI, model: OpenAIModel) -> None:
    assert await model.context_window(MODEL) == CAREFUL_WINDOW
    fake.ollama = {"models": [{"name": MODEL, "model": MODEL, "context_length": 16_384}]}
    assert await model.context_window(MODEL) == 16_384, "a careful guess must not be kept"
    fake.models["other"] = FakeModelInfo("other")
    fake.ollama, fake.props = None, {"default_generation_settings": {"n_ctx": 8_192}}
    assert await model.context_window("other") == 8_192


# keys and addresses


async def test_a_server_without_keys_needs_none(fake: FakeOpenAI) -> None:
    fake.keyless = True
    model = OpenAIModel("", fake.base_url, clock=CLOCK)
    assert (await answer_of(model, asked())).text == "Hello"
    await model.aclose()


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
async def test_any_form_of_the_address_will_do(fake: FakeOpenAI, path: str) -> None:
    model = OpenAIModel(fake.api_key, fake.base_url + path, clock=CLOCK)
    assert (await answer_of(model, asked())).text == "Hello"
    await model.aclose()


async def test_nothing_of_the_environment_is_used(
    fake: FakeOpenAI, model: OpenAIModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "of-somebody-else")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await answer_of(model, asked())
    assert "somebody" not in str(fake.requests[0].headers)


def test_the_sdk_is_imported_only_when_it_is_needed() -> None:
    code = "import sys, gateway.models; print([n for n in ('anthropic', 'openai', 'httpx2') if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ}, check=True)
    assert run.stdout.strip() == "[]"
