"""Stories of a model behind chat completions: it remembers, another provider goes on, fallbacks stand in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.fakes.openai import FakeOpenAI
from tests.flows.story import Story, story

MODEL = "llama3.3"


@asynccontextmanager
async def served(folder: Path, **more: Any) -> AsyncIterator[tuple[Story, FakeOpenAI]]:
    async with FakeOpenAI() as server, story(folder) as told:
        server.reasoning = "reasoning_content"
        server.beside = _quiet_work
        told.configure(model=by_openai(server, **more))
        yield told, server


def by_openai(server: FakeOpenAI, **more: Any) -> dict[str, Any]:
    return {"provider": "openai", "base_url": server.base_url, "api_key": server.api_key, "name": MODEL, **more}


def by_anthropic(told: Story) -> dict[str, Any]:
    return {"provider": "anthropic", "base_url": told.model.base_url, "api_key": told.model.api_key, "name": None}


def _quiet_work(body: dict[str, Any]) -> str | None:
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    return "NO_REPLY" if tools & {"save_memory", "write_journal"} else None


def nothing_was_refused(*servers: Any) -> None:
    refused = [one.body for server in servers for one in server.requests if one.status == 400]
    assert not refused, refused


async def test_it_remembers_with_a_tool_and_another_provider_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path) as (told, server):
        async with told.running():
            server.answer("Noting.", thinking="A cat.", tool=("memory_append", {"text": "Alice's cat is called Luna."}))
            server.answer("Luna, noted.")
            told.say("Please remember that my cat is called Luna")
            await told.hears("Luna, noted.")
            assert "Alice's cat is called Luna." in told.log().read_text()
            assert "A cat." not in "\n".join(told.heard())

        told.configure(model=by_anthropic(told))
        async with told.running():
            told.model.answer("Looking.", thinking="Signed.", tool=("memory_search", {"query": "cat"}))
            told.model.answer("She is called Luna.")
            told.say("What is my cat called?")
            await told.hears("She is called Luna.")
            sent = told.last_asked
            assert "Luna, noted." in sent and "memory_append" in sent and "A cat." not in sent

        told.configure(model=by_openai(server))
        async with told.running():
            server.answer("A grey one.")
            told.say("And what colour?")
            await told.hears("A grey one.")
            last = json.dumps(server.bodies[-1], ensure_ascii=False)
            assert "She is called Luna." in last and "Signed." not in last
        nothing_was_refused(server, told.model)


async def test_a_model_without_tools_keeps_and_finds_notes(tmp_path: Path) -> None:
    async with served(tmp_path) as (told, server), told.running():
        server.no_tools = (400, f"registry.ollama.ai/library/{MODEL} does not support tools")
        server.answer("Hello Alice.")
        told.say("Good morning, how are you?")
        await told.hears("Hello Alice.")

        server.answer("I'll keep that.")
        told.say("Please remember that the bicycle lock code is 4711")
        await told.hears("I'll keep that.")
        assert "4711" in told.log().read_text()

        server.answer("It is 4711.")
        told.say("What is the bicycle lock code?")
        await told.hears("It is 4711.")
        assert "[Result of memory_search]" in server.requests[-1].text and "4711" in server.requests[-1].text
        assert sum(one.status == 400 for one in server.requests) == 1, "asked once whether it has tools"


async def test_another_provider_stands_in_where_the_first_is_not_there(tmp_path: Path) -> None:
    async with served(tmp_path) as (told, server):
        there = {"base_url": told.model.base_url, "api_key": told.model.api_key}
        told.configure(
            model=by_openai(server, fallbacks=["qwen", "anthropic:claude-haiku-5-5"], servers={"anthropic": there})
        )
        await server.__aexit__(None, None, None)
        async with told.running():
            told.model.answer("I stand in.")
            told.say("Hello?")
            await told.hears("I stand in.")
            assert told.asked[-1].body["model"] == "claude-haiku-5-5"
            assert server.api_key not in str(told.asked[-1].headers)
        told.no_request_was_refused()


async def test_a_chat_may_choose_a_model_of_the_other_provider(tmp_path: Path) -> None:
    async with served(tmp_path) as (told, server):
        servers = {"openai": {"base_url": server.base_url, "api_key": server.api_key}}
        told.configure(model={**by_anthropic(told), "servers": servers})
        async with told.running():
            told.say("/model openai:none")
            await told.hears("has no model none")
            told.say(f"/model openai:{MODEL}")
            await told.hears(f"openai:{MODEL}")
            server.answer("From the other one.")
            told.say("Who is there?")
            await told.hears("From the other one.")
        nothing_was_refused(server, told.model)


async def test_an_overflow_makes_the_conversation_shorter(tmp_path: Path) -> None:
    async with served(tmp_path, max_tokens=512) as (told, server), told.running():
        message = "This model's maximum context length is 24000 tokens. However, you requested 30000 tokens."
        server.fail(400, "context_length_exceeded", message=message)
        server.answer("Here I am.")
        told.say("Hello")
        await told.hears("Here I am.")
