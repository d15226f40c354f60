"""The fake is as strict as the original: what it refuses, how it counts, how it breaks."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import pytest

from tests import files
from tests.fakes.anthropic import FakeAnthropic, FakeModelInfo

JsonObject = dict[str, Any]
MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.fixture
async def fake() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as fake:
        yield fake


async def post(
    fake: FakeAnthropic, body: JsonObject, headers: dict[str, str] | None = None
) -> tuple[int, JsonObject, dict[str, str]]:
    sent = {"x-api-key": fake.api_key, "anthropic-version": "2026-10-21"} if headers is None else headers
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{fake.base_url}/v1/messages", json=body, headers=sent) as answer,
    ):
        return answer.status, await answer.json(), {name.lower(): value for name, value in answer.headers.items()}


def text(said: str, **more: object) -> JsonObject:
    return {"type": "text", "text": said, **more}


def use(call: str) -> JsonObject:
    return {"type": "tool_use", "id": call, "name": "t", "input": {}}


def result(call: str) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": call, "content": "ok"}


def user(*blocks: JsonObject | str) -> JsonObject:
    return {"role": "user", "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def assistant(*blocks: JsonObject | str) -> JsonObject:
    return {**user(*blocks), "role": "assistant"}


def body(*messages: JsonObject, **changes: object) -> JsonObject:
    plain = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": list(messages) or [user("Hello")]}
    return {name: value for name, value in (plain | changes).items() if value is not None}


def png(width: int, height: int) -> JsonObject:
    data = files.picture(width, height)
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def broken(image: JsonObject) -> JsonObject:
    half = base64.b64decode(image["source"]["data"])[:60]
    return {**image, "source": image["source"] | {"data": base64.b64encode(half).decode()}}


def tool(name: str = "t", kind: str = "object") -> JsonObject:
    return {"name": name, "description": "d", "input_schema": {"type": kind}}


async def test_a_valid_request_with_everything_is_taken(fake: FakeAnthropic) -> None:
    talk = [user("Hi", png(100, 100)), assistant("Well.", use("a"), use("b")), user(result("b"), result("a"), "And?")]
    asked = body(*talk, tools=[tool()], system=[text("rules", **MARK)], output_config={"effort": "low"})
    status, answer, _ = await post(fake, asked)
    assert (status, answer["content"], answer["stop_reason"]) == (200, [text("And?")], "end_turn")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (body(max_tokens=None), "max_tokens"),
        (body(model=None), "model"),
        (body(messages=[]), "messages"),
        (body(max_tokens=128_001), "max_tokens"),
        (body({"role": "tool", "content": "x"}), "role"),
        (body({"role": "system", "content": "x"}), "first message"),
        (body(assistant("x"), user("y")), "first message"),
        (body(user("x"), user("y")), "alternate"),
        (body(user("")), "non-empty"),
        (body(user(" \n")), "non-whitespace"),
        (body(user()), "non-empty content"),
        (body(system=""), None),
        (body(system=[text("")]), "non-empty"),
        (body(user("x"), assistant(use("a")), user("y")), "without `tool_result`"),
        (body(user("x"), assistant(use("a"), use("b")), user(result("a"))), "without `tool_result`"),
        (body(user(result("a"))), "unexpected `tool_use_id`"),
        (body(user("x"), assistant(use("a")), user("y", result("a"))), "must come first"),
        (
            body(
                user("x"), assistant(use("a")), user({**result("a"), "is_error": True, "content": [{"type": "image"}]})
            ),
            "must be type `text` if `is_error`",
        ),
        (body(user("x"), assistant(use("a")), user(result("a"), result("a"))), "single result"),
        (body(user("x"), assistant(use("a"), use("a")), user(result("a"))), "unique"),
        (body(user("x"), assistant("y")), "prefill"),
        (body(user("x"), assistant("y ")), "trailing whitespace"),
        (body(temperature=0.5), "sampling"),
        (body(user(*[text("x", **MARK)] * 5)), "maximum of 4"),
        (body(unknown_field=1), "Extra inputs"),
        (body(tools=[tool("a b")]), "pattern"),
        (body(tools=[tool(), tool()]), "unique"),
        (body(tools=[tool(kind="array")]), "object"),
        (body(tools=[tool()], tool_choice={"type": "any"}), "forced tool use"),
        (body(thinking={"type": "enabled", "budget_tokens": 1000}), "thinking"),
        (
            body(user("x"), assistant({"type": "thinking", "thinking": "", "signature": "x"}, "y"), user("z")),
            "signature",
        ),
        (body(user({"type": "thinking", "thinking": "x", "signature": "y"})), "not allowed in a user message"),
        (body(user(png(9000, 10))), "dimensions"),
        (body(user(*[png(2100, 10)] * 21)), "dimensions"),
        (
            body(user({"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}})),
            "messages.0.content.0.image.source.base64.media_type",
        ),
        (body(user(broken(png(60, 40)))), "Could not process image"),
        (body(user(png(10, 10) | {"name": "cat"})), "Extra inputs"),
        (body(user({"type": "image", "source": {"type": "kept", "path": "a"}})), "Input tag 'kept'"),
    ],
)
async def test_what_the_original_refuses(fake: FakeAnthropic, asked: JsonObject, says: str | None) -> None:
    status, answer, headers = await post(fake, asked)
    if says is None:
        assert status == 200
        return
    assert (status, answer["type"], answer["error"]["type"]) == (400, "error", "invalid_request_error")
    assert says in answer["error"]["message"]
    assert answer["request_id"] == headers["request-id"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"anthropic-version": "2026-10-21"}, 401),
        ({"x-api-key": "wrong", "anthropic-version": "2026-10-21"}, 401),
        ({"x-api-key": "right"}, 400),
        ({"authorization": "Bearer right", "anthropic-version": "2026-10-21"}, 200),
    ],
)
async def test_keys_and_versions(headers: dict[str, str], status: int) -> None:
    async with FakeAnthropic(api_key="right") as fake:
        assert (await post(fake, body(), headers))[0] == status


async def test_a_prompt_over_the_window_is_refused(fake: FakeAnthropic) -> None:
    fake.models["small"] = FakeModelInfo("small", max_input_tokens=100)
    status, answer, _ = await post(fake, body(user("word " * 200), model="small"))
    assert status == 400
    assert answer["error"]["message"].startswith("prompt is too long: ")
    assert (await post(fake, body(model="nobody")))[1]["error"]["type"] == "not_found_error"


def thinking_edited(talk: list[JsonObject], asked: JsonObject) -> None:
    talk[1]["content"][0]["thinking"] += "!"


def system_changed(talk: list[JsonObject], asked: JsonObject) -> None:
    asked["system"] = "other rules"


def earlier_edited(talk: list[JsonObject], asked: JsonObject) -> None:
    talk[0] = user("Something else")


def model_switched(talk: list[JsonObject], asked: JsonObject) -> None:
    asked["model"] = "claude-opus-5-5"


@pytest.mark.parametrize("change", [thinking_edited, system_changed, earlier_edited, model_switched])
async def test_thinking_is_bound_to_what_was_before_it(
    fake: FakeAnthropic, change: Callable[[list[JsonObject], JsonObject], None]
) -> None:
    fake.answer("Yes.", thinking="Let me see.")
    first = (await post(fake, body(system="rules")))[1]
    talk = [{"role": "user", "content": "Hello"}, assistant(*first["content"]), user(text("And?", **MARK))]
    asked = body(system=[text("rules", **MARK)], messages=talk)
    assert (await post(fake, asked))[0] == 200, "marks and the short form of text change nothing"
    change(talk, asked)
    assert (await post(fake, asked))[0] == 400


async def test_the_cache_reads_what_was_written(fake: FakeAnthropic) -> None:
    first = (await post(fake, body(system=[text("rules " * 50, **MARK)])))[1]["usage"]
    again = (await post(fake, body(user("Other"), system=[text("rules " * 50, **MARK)])))[1]["usage"]
    other = (await post(fake, body(system=[text("other " * 50, **MARK)])))[1]["usage"]
    assert first["cache_creation_input_tokens"] == again["cache_read_input_tokens"] > 0
    assert again["cache_creation_input_tokens"] == 0
    assert other["cache_read_input_tokens"] == 0
    whole = (await post(fake, body(cache_control={"type": "ephemeral"})))[1]["usage"]
    assert (whole["input_tokens"], whole["cache_creation_input_tokens"] > 0) == (0, True)


async def test_a_fault_uses_up_no_answer_and_times_are_counted(fake: FakeAnthropic) -> None:
    fake.fail(429, retry_after=3, times=2)
    fake.answer("Here.")
    for _ in range(2):
        status, answer, headers = await post(fake, body())
        assert (status, answer["error"]["type"], headers["retry-after"]) == (429, "rate_limit_error", "3")
    assert (await post(fake, body()))[1]["content"] == [text("Here.")]


async def test_waiting_finds_past_and_coming_requests(fake: FakeAnthropic) -> None:
    await post(fake, body(user("first")))
    assert (await fake.wait_for(lambda seen: seen.last_user_text == "first")).status == 200
    coming = asyncio.create_task(fake.wait_for(lambda seen: "second" in seen.text))
    await post(fake, body(user("first again")))
    assert not coming.done()
    await post(fake, body(user("second")))
    assert (await coming).last_user_text == "second"


async def test_beside_synchronous_code() -> None:
    with FakeAnthropic.in_thread() as fake:
        fake.reply = lambda asked: f"{len(asked['messages'])} message"
        assert (await post(fake, body()))[1]["content"] == [text("1 message")]
        assert fake.wait().status == 200
