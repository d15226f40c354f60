"""A long talk through the real SDK against the strict fake: signed thinking, tools, restarts, empty answers, a lost
line. The fake refuses whatever the API would refuse; a turn that ends in words was therefore always valid."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.agent import Agent
from agent.clock import Clock
from agent.memory.scope import Audience, Scope
from agent.model.anthropic.model import AnthropicModel
from agent.settings import AgentSettings
from agent.values import ResultKind, SessionKey, TurnRequest, TurnResult, UserMessage
from tests.agent.streamed import ignored
from tests.fakes.anthropic import FakeAnthropic

KEY = SessionKey("main", "owner")


@pytest.fixture
async def fake() -> AsyncIterator[FakeAnthropic]:
    async with FakeAnthropic() as fake:
        yield fake


class Talk:
    """One session, whose every turn is served by a process started anew."""

    def __init__(self, root: Path, fake: FakeAnthropic) -> None:
        self.root = root
        self.fake = fake
        self.turns = 0
        (root / "workspace").mkdir()

    async def say(self, text: str, model_name: str | None = None) -> TurnResult:
        self.turns += 1
        model = AnthropicModel(self.fake.api_key, self.fake.base_url, window_s=120)
        clock = Clock(ZoneInfo("UTC"))
        agent = Agent(AgentSettings(), self.root / "workspace", self.root / "sessions", model, clock)
        said = (UserMessage(f"m{self.turns}", text, "Alice", "Telegram", datetime.now(UTC)),)
        scope = Scope(Audience.OWNER, self.root / "workspace")
        request = TurnRequest(f"t{self.turns}", KEY, scope, said, model=model_name)
        try:
            end = await agent.turn(request, ignored)
        finally:
            await model.aclose()
        return end

    def thoughts(self) -> int:
        """Thinking blocks in the newest request."""
        messages = self.fake.bodies[-1]["messages"]
        return sum(block["type"] == "thinking" for message in messages for block in message["content"])

    @property
    def journal(self) -> Path:
        (path,) = (self.root / "sessions").rglob("*.jsonl")
        return path


@pytest.fixture
def talk(tmp_path: Path, fake: FakeAnthropic) -> Talk:
    return Talk(tmp_path, fake)


async def test_signed_thinking_goes_back_unchanged_over_tools_edits_and_restarts(
    talk: Talk, fake: FakeAnthropic
) -> None:
    for turn in range(3):
        fake.answer(tool=("memory_append", {"text": f"note {turn}"}), thinking="I should note it.")
        fake.answer("Noted.", thinking="Done.")
        assert (await talk.say(f"remember {turn}")).text == "Noted."
        (talk.root / "workspace" / "MEMORY.md").write_text(f"edited by hand {turn}\n")
    assert talk.thoughts() == 5


async def test_an_answer_of_nothing_but_thinking_does_not_poison_the_talk(talk: Talk, fake: FakeAnthropic) -> None:
    fake.answer("", thinking="Hm.")
    fake.answer("Here.", thinking="Now.")
    assert (await talk.say("hello")).text == "Here."
    fake.answer("Again.")
    assert (await talk.say("and again")).text == "Again."


async def test_another_model_or_a_lost_line_costs_the_thinking_not_the_talk(talk: Talk, fake: FakeAnthropic) -> None:
    fake.answer("One.", thinking="first")
    await talk.say("one")
    fake.answer("Two.", thinking="second")
    assert (await talk.say("two", "claude-opus-5-5")).text == "Two."
    assert talk.thoughts() == 0
    fake.answer("Three.", thinking="third")
    await talk.say("three", "claude-opus-5-5")
    assert talk.thoughts() == 1
    lines = talk.journal.read_bytes().splitlines(keepends=True)
    talk.journal.write_bytes(b"".join([lines[0], b"damaged\n", *lines[2:]]))
    fake.answer("Four.")
    assert (await talk.say("four", "claude-opus-5-5")).text == "Four."
    assert talk.thoughts() == 0


async def test_a_refused_key_is_said_and_the_talk_goes_on(talk: Talk, fake: FakeAnthropic) -> None:
    fake.fail(401, "authentication_error")
    end = await talk.say("hello")
    assert end.kind is ResultKind.ERROR and end.text and fake.api_key not in end.text
    fake.answer("Hello.")
    assert (await talk.say("again")).text == "Hello."


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": ""},
        {"type": "text", "text": "\n\n"},
        {"type": "text", "text": "So.", "citations": None},
        {"type": "redacted_thinking", "data": "abc"},
    ],
)
async def test_blocks_beside_a_call_are_valid_to_send_back(
    tmp_path: Path, fake: FakeAnthropic, block: dict[str, object]
) -> None:
    talk = Talk(tmp_path, fake)
    fake.answer(blocks=[block], tool=("memory_append", {"text": "likes tea"}))
    fake.answer("Noted.")
    assert (await talk.say("I like tea")).text.endswith("Noted.")
    fake.answer("Tea.")
    assert (await talk.say("What do I like?")).text == "Tea."
    assert {request.status for request in fake.requests} == {200}
