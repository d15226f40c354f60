"""Talks with servers of others, over HTTP: limits that they name, counts that cannot be right, calls as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from agent.agent import Agent
from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.model.anthropic.model import AnthropicModel
from agent.report import ContextReport
from agent.settings import AgentSettings, ModelSettings
from agent.values import ReplyText, ResultKind, SessionKey, TurnRequest, TurnResult, UserMessage
from tests.agent.streamed import streamed
from tests.fakes.raw_http import RawServer, ended, http, said, sse, started, text_block

KEY = SessionKey("main", "owner")


class Talk:
    """One session with one server. `shown` is all that streamed in the newest turn."""

    def __init__(self, root: Path, server: RawServer, settings: AgentSettings | None = None) -> None:
        self.workspace = root / "workspace"
        self.workspace.mkdir()
        self.shown = ""
        self._model = AnthropicModel("", server.base_url, window_s=120)
        clock = Clock(ZoneInfo("UTC"))
        settings = settings or AgentSettings(model=ModelSettings(name="local"))
        self._agent = Agent(settings, self.workspace, root / "sessions", self._model, clock)
        self._turns = 0

    async def say(self, text: str) -> TurnResult:
        self._turns += 1
        words = (UserMessage(f"m{self._turns}", text, "Alice", "Telegram", datetime.now(UTC)),)
        events = [one async for one in streamed(self._agent, TurnRequest(f"t{self._turns}", KEY, self._scope, words))]
        self.shown = "".join(event.text for event in events if isinstance(event, ReplyText))
        assert isinstance(events[-1], TurnResult)
        return events[-1]

    async def report(self) -> ContextReport:
        return await self._agent.context_report(KEY, self._scope)

    async def aclose(self) -> None:
        await self._model.aclose()

    @property
    def _scope(self) -> Scope:
        return Scope(Audience.OWNER, self.workspace)


def counting(tokens: int) -> bytes:
    usage = {"input_tokens": tokens, "output_tokens": 1}
    return http(sse(started(usage=usage), *text_block("Fine."), *ended()))


async def test_a_window_that_a_refusal_names_is_kept_to(tmp_path: Path) -> None:
    """vLLM refuses the sum of question and answer: a shorter answer is all that it takes."""
    refused = (
        "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 12000 "
        "tokens and your request has 4900 input tokens (8192 > 12000 - 4900)."
    )
    async with RawServer(
        [http({"error": {"message": refused}}, "400 Bad Request"), http(sse(*said("Fine.")))]
    ) as server:
        talk = Talk(tmp_path, server)
        assert (await talk.say("Hello")).text == "Fine."
        assert [body["max_tokens"] for body in server.bodies] == [8192, 3000]
        assert (await talk.report()).budget.window == 12_000
        assert (await talk.say("And now?")).text == "Fine."
        assert len(server.bodies) == 3, "what was learnt is not asked for again"
        await talk.aclose()


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "500 Internal Server Error"])
async def test_an_overflow_that_is_told_without_a_type_compacts(tmp_path: Path, status: str) -> None:
    error = {"code": 400, "message": "the request exceeds the available context size", "n_ctx": 9000}

    def answer(body: Mapping[str, Any]) -> bytes:
        size = len(json.dumps(body)) // 4
        if size > 9_000:
            return http({"error": error | {"n_prompt_tokens": size}}, status)
        asked = json.dumps(body["messages"][-1])
        return http(sse(*said("We spoke of a long walk in the hills." if "summar" in asked.lower() else "Fine.")))

    async with RawServer([answer]) as server:
        talk = Talk(tmp_path, server)
        for number in range(8):
            ended = await talk.say(f"{number}: " + "a walk in the hills " * 400)
            assert ended.kind is ResultKind.REPLY, ended.text
        report = await talk.report()
        assert report.compactions >= 1 and report.budget.window == 9_000
        await talk.aclose()


async def test_one_message_that_does_not_fit_is_told_which_key_to_set(tmp_path: Path) -> None:
    error = {"message": "This model's maximum context length is 2048 tokens.", "type": "BadRequestError", "code": 400}
    async with RawServer([http({"error": error}, "400 Bad Request")]) as server:
        talk = Talk(tmp_path, server)
        end = await talk.say("Hello")
        await talk.aclose()
    assert end.kind is ResultKind.ERROR
    assert "/new" not in end.text and "2,048" in end.text
    assert all(key in end.text for key in ("model.context_window", "model.max_tokens", "session.reserve_tokens"))


@pytest.mark.parametrize("tokens", [3, 10_000_000])
async def test_a_count_that_cannot_be_right_is_not_believed(tmp_path: Path, tokens: int) -> None:
    async with RawServer([counting(tokens)]) as server:
        talk = Talk(tmp_path, server)
        before = (await talk.report()).fixed
        for _ in range(3):
            assert (await talk.say("a walk in the hills " * 100)).text == "Fine."
        report = await talk.report()
        await talk.aclose()
    assert len(server.bodies) == 3, "nothing was flushed or shortened"
    assert before + 1_500 < report.projected < before + 3_000
    assert not report.counted


async def test_a_count_that_can_be_right_is_believed(tmp_path: Path) -> None:
    async with RawServer([counting(2_000)]) as server:
        talk = Talk(tmp_path, server)
        await talk.say("Hello")
        report = await talk.report()
        await talk.aclose()
    assert report.counted and report.projected == 2_005


async def test_a_call_written_as_text_is_run_and_not_shown(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "memory_append", "arguments": {"text": "likes tea"}}\n</tool_call><|im_end|>'
    text = f"<think>Noting.</think>Noting it.\n{call}"
    pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
    async with RawServer([http(sse(*said(*pieces))), http(sse(*said("Noted.<|im_end|>")))]) as server:
        talk = Talk(tmp_path, server)
        end = await talk.say("Remember that I like tea.")
        await talk.aclose()
    assert end.text == "Noting it.\n\nNoted."
    assert talk.shown == "Noting it.\nNoted."
    assert any("likes tea" in log.read_text() for log in talk.workspace.rglob("memory/*.md"))
    results = server.bodies[1]["messages"][-1]["content"]
    assert results[0]["type"] == "tool_result" and not results[0].get("is_error")


async def test_a_call_that_nobody_can_read_is_told_to_the_model(tmp_path: Path) -> None:
    async with RawServer([http(sse(*said("<tool_call>{broken</tool_call>"))), http(sse(*said("Sorry.")))]) as server:
        talk = Talk(tmp_path, server)
        assert (await talk.say("Hello")).text == "Sorry."
        await talk.aclose()
    (result,) = server.bodies[1]["messages"][-1]["content"]
    assert result["is_error"] and "not valid JSON" in str(result["content"])
