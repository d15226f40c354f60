"""Stories with a real model behind a real server, llama.cpp: what it says is nonsense, and does not matter."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.story import Story, story
from tests.servers.llama import MODEL, TOOLS_TEMPLATE, LlamaServer

pytestmark = [pytest.mark.full, pytest.mark.timeout(3600)]
ANSWER_S = 1200.0
"""Longest wait for an answer: a slow machine reads 20 tokens in a second."""
LONG = "The bicycle stands in the shed beside the river, and its lock has a code. " * 22
"""Some 375 of its tokens."""


def by_llama(server: LlamaServer, max_tokens: int, **more: Any) -> dict[str, Any]:
    settings = {"provider": "openai", "base_url": server.base_url, "name": MODEL, "api_key": None}
    return {**settings, "max_tokens": max_tokens, "timeout_s": 900, **more}


@asynccontextmanager
async def talking(folder: Path) -> AsyncIterator[Story]:
    async with story(folder) as told:
        in_few_words(told.workspace)
        yield told


def in_few_words(workspace: Path) -> None:
    """Makes the prompt short, of which the model reads 70 tokens in a second of a processor."""
    workspace.mkdir(parents=True, exist_ok=True)
    for name in ("AGENTS", "IDENTITY", "SOUL", "TOOLS", "USER"):
        (workspace / f"{name}.md").write_text("Be brief.\n")


async def hears(telegram: FakeTelegram, count: int) -> list[str]:
    """What the owner has heard once it is so many messages."""
    await telegram.wait_for(lambda: len(telegram.messages(OWNER)) >= count, ANSWER_S)
    return [one.text for one in telegram.messages(OWNER)]


async def sees_it_written(telegram: FakeTelegram) -> None:
    await telegram.wait_for(lambda: telegram.drafts, ANSWER_S)


def entries(home: Path) -> list[dict[str, Any]]:
    """Of all transcripts, in order."""
    files = sorted((home / "state" / "sessions").rglob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def times_written(home: Path, words: str) -> int:
    asked = [one for one in entries(home) if one.get("role") == "user"]
    return sum(words in json.dumps(one) for one in asked)


@pytest.mark.parametrize("template", ["", TOOLS_TEMPLATE], ids=["own-template", "template-with-tools"])
async def test_it_goes_on_after_calls_of_tools_and_its_answer_streams(tmp_path: Path, template: str) -> None:
    async with LlamaServer(8192, template=template, forever=True) as server, talking(tmp_path) as told:
        async with told.running():
            told.model.answer("Noting.", tool=("memory_append", {"text": "Alice's cat is called Luna."}))
            told.model.answer("Luna, noted.")
            told.say("Please remember that my cat is called Luna")
            await told.hears("Luna, noted.")
        told.configure(model=by_llama(server, 100), tools={"files": False, "web": False})
        async with told.running():
            told.say("What is my cat called?")
            answer = (await hears(told.telegram, 2))[1]
            prompt = (await server.slot())["prompt"]
        drafts = {one.text for one in told.telegram.drafts if answer.startswith(one.text.strip())}
        assert len(drafts) > 1, told.telegram.drafts
        assert server.requests == 1, "nothing of the request was refused"
        assert "What is my cat called?" in prompt and "Luna, noted." in prompt
        assert ("memory_search" in prompt and "<tool_response>" in prompt) == bool(template)


async def test_a_window_that_overflows_ends_in_a_summary_or_in_a_sentence(tmp_path: Path) -> None:
    """Its size is configured wrong, and the model's summaries may be worth nothing."""
    async with LlamaServer(1024) as server, talking(tmp_path) as told:
        told.configure(model=by_llama(server, 16, context_window=100_000))
        async with told.running():
            for count in range(1, 4):
                told.say(f"{count}. {LONG}")
                await hears(told.telegram, count)
                await told.idle()
        assert len(told.heard()) == 3
        is_shorter = any(one["type"] == "compaction" for one in entries(told.home.path))
        assert is_shorter or "This conversation has become too long for the model." in told.heard()[-1]
        assert server.requests <= 25, "a few for each message: it is not asked for ever"
        assert all(times_written(told.home.path, f"{count}. The bicycle") == 1 for count in range(1, 4))


async def test_stop_in_the_middle_of_an_answer_stops_the_server_too(tmp_path: Path) -> None:
    async with LlamaServer(4096, forever=True) as server, talking(tmp_path) as told:
        told.configure(model=by_llama(server, 150))
        async with told.running():
            told.say("Tell me a tale")
            await sees_it_written(told.telegram)
            told.say("/stop")
            await told.hears("Stopped.")
            async with asyncio.timeout(ANSWER_S):
                while (slot := await server.slot())["is_processing"]:
                    pass
            assert slot["next_token"][0]["n_decoded"] < 150
            before = len(told.heard())
            told.say("Two and two?")
            await hears(told.telegram, before + 1)
            await told.idle()
        assert server.requests == 2
        assert times_written(told.home.path, "Tell me a tale") == times_written(told.home.path, "Two and two?") == 1


async def test_a_server_that_is_started_again_in_the_middle_of_an_answer(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with LlamaServer(4096, forever=True) as server:
        gateway = GatewayProcess(telegram, model, {"model": by_llama(server, 100)}, start_now=False)
        in_few_words(gateway.workspace)
        async with gateway:
            await gateway.start()
            telegram.say("Tell me a tale")
            await gateway.while_alive(sees_it_written(telegram))
            await server.kill()
            await server.start()
            (first,) = await gateway.while_alive(hears(telegram, 1))  # it was tried again, for some seconds
            assert "can't reach the model's server" in first or "Say “go on” for the rest" in first
            telegram.say("Two and two?")
            await gateway.while_alive(hears(telegram, 2))
            await gateway.until_status(
                lambda status: not status["inbox"]["waiting"] and not status["outbox"]["waiting"]
            )
            assert len(telegram.messages(OWNER)) == 2
            assert times_written(gateway.home, "Tell me a tale") == times_written(gateway.home, "Two and two?") == 1
