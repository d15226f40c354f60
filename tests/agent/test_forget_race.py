"""`/forget` in random interleavings with everything that reads and writes a scope: turns of two sessions, their tools,
flush, compaction, consolidation, the journal, the summary of a day, an agent that leaves a session."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable
from datetime import date
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.memory.forget import ForgetPlan
from agent.memory.redaction_lock import StaleRead
from agent.model.base import ModelEvent, ModelRequest
from agent.model.scripted import Call, Reply, ScriptedAnswer
from agent.session.transcript import Transcript
from agent.values import SessionKey, TurnRequest, TurnResult, UserMessage
from tests import strength
from tests.agent.long_conversation import OWNER, SUMMARY, LongTalk, counted, told
from tests.agent.streamed import streamed

WORD = "Zanzibar"
DAY = date(2026, 11, 21)
SESSIONS = (OWNER, SessionKey("main", "other"))
FILLER = "word " * 400


def sees(request: ModelRequest) -> str:
    return WORD if WORD in told(request) + "".join(request.system) else "nothing of it"


class Race:
    """Everything at once. The model is as slow as the dice say, and repeats what it sees wherever it can."""

    def __init__(self, root: Path, seed: int) -> None:
        self._dice = random.Random(seed)
        self._talk = LongTalk(root)
        self._scripted = self._talk.model
        self._scripted._otherwise = self._answer
        self._scripted._behind = self._behind
        self._agent = Agent(
            self._talk.settings, self._talk.workspace, self._talk.sessions, self, self._talk.watch.clock
        )
        self._number = 0
        self._is_forgotten = False
        self.leaks: list[str] = []
        self.repeats = 0
        """How often it was seen before it was forgotten: a race in which nobody saw it shows nothing."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        seen = WORD in sees(request)
        self._note(seen, f"a request of {request.purpose or 'a turn'}")
        self.repeats += seen
        async for event in self._scripted.stream(request):
            await self._a_while()
            yield event

    async def context_window(self, model: str) -> int | None:
        return await self._scripted.context_window(model)

    async def aclose(self) -> None: ...

    async def run(self) -> None:
        behind = asyncio.create_task(self._agent.run())
        try:
            for session in SESSIONS:
                await self._say(session, f"My boat lies in {WORD}")
            async with asyncio.TaskGroup() as group:
                for session in SESSIONS:
                    group.create_task(self._conversation(session))
                group.create_task(self._journal())
                group.create_task(self._forget())
            await self._agent.idle()
        finally:
            behind.cancel()
            await asyncio.wait({behind})
            self._agent.close()

    def left(self) -> str:
        """What memory, and the transcripts as they read, still say."""
        memory = "".join(path.read_text("utf-8") for path in self._talk.workspace.rglob("*.md"))
        transcripts = (Transcript.read(path) for path in self._talk.sessions.rglob("*.jsonl"))
        return memory + "".join(str(transcript.entries) for transcript in transcripts)

    async def _conversation(self, session: SessionKey) -> None:
        for _ in range(self._dice.randrange(2, 5)):
            await self._a_while()
            act = self._dice.choice(["say", "say", "say", "remember", "new"])
            if act == "new":
                await self._agent.new_session(session, self._talk.scope)
            else:
                await self._say(session, "Remember where it lies" if act == "remember" else f"And now? {FILLER}")

    async def _journal(self) -> None:
        for _ in range(2):
            await self._a_while()
            await self._agent.journal.write(lambda key: self._talk.scope, DAY, DAY)
            made = await self._agent.summary(OWNER, self._talk.scope, DAY, ())
            self._note(made is not None and WORD in made.text, "the day's summary")

    async def _forget(self) -> None:
        for _ in range(self._dice.randrange(12)):
            await self._a_while()
        await self._agent.forget(lambda key: True, self._talk.scope, "", ForgetPlan(WORD, ()))
        self._is_forgotten = True

    async def _say(self, session: SessionKey, text: str) -> None:
        self._number += 1
        said = UserMessage(f"m{self._number}", text, "Alice", "Telegram", self._talk.watch.clock.now())
        request = TurnRequest(f"t{self._number}", session, self._talk.scope, (said,))
        reading = self._agent.reading(self._talk.scope)
        *_, result = [event async for event in streamed(self._agent, request)]
        while True:
            try:
                async with reading.writing():
                    assert isinstance(result, TurnResult)
                    return self._note(WORD in result.text, "a reply")
            except StaleRead:
                reading = self._agent.reading(self._talk.scope)
                *_, result = [event async for event in streamed(self._agent, request)]

    async def _a_while(self) -> None:
        for _ in range(self._dice.choice([0, 1, 3, 20])):
            await asyncio.to_thread(int)

    def _note(self, leaks: bool, what: str) -> None:
        if leaks and self._is_forgotten:
            self.leaks.append(what)

    def _answer(self, request: ModelRequest) -> Reply:
        text = f"I see {sees(request)}."
        is_told = any(block.get("type") == "tool_result" for block in request.messages[-1].content)
        calls = () if is_told or self._dice.random() < 0.4 else (Call("memory_append", {"text": text}),)
        return ScriptedAnswer(text, calls=calls, usage=counted(request))

    def _behind(self, request: ModelRequest) -> Reply:
        text = f"They spoke of {sees(request)}."
        is_told = any(block.get("type") == "tool_result" for block in request.messages[-1].content)
        match request.purpose:
            case "compaction":
                return f"{SUMMARY}\n{text}"
            case "consolidation":
                return Call("save_memory", {"history_entry": text, "memory_update": []})
            case "flush":
                return "NO_REPLY" if is_told else Call("memory_append", {"text": text})
            case _:
                return f"- 09:00 {text}"


async def _raced(work: Awaitable[None]) -> None:
    async with asyncio.timeout(60):
        await work


@pytest.mark.parametrize("seed", range(24 if strength.is_full else 8))
async def test_what_is_forgotten_is_neither_sent_nor_kept_whatever_runs_beside(tmp_path: Path, seed: int) -> None:
    race = Race(tmp_path, seed)
    await _raced(race.run())
    assert race.repeats
    assert not race.leaks
    assert WORD not in race.left()
