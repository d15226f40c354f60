"""What is forgotten while a model reads the talk is in nothing that is made of its answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.memory.forget import ForgetPlan
from agent.model.base import ModelRequest, TryLater
from agent.model.client import ResilientModel
from agent.model.scripted import Call, Hold, Reply, ScriptedAnswer, Step
from tests.agent.long_conversation import OWNER, SUMMARY, LongTalk, told

WORD = "Zanzibar"


class Slow:
    """A model whose first answer of a kind is made of what it was shown, and waits; later ones come at once."""

    def __init__(self, talk: LongTalk, purpose: str) -> None:
        self.hold = Hold()
        self._first = True
        self._after = talk.behind.get(purpose, "NO_REPLY")
        talk.behind[purpose] = self

    def __call__(self, request: ModelRequest) -> Reply:
        seen = WORD if WORD in told(request) else "nothing of it"
        waits, self._first = self.hold if self._first else None, False
        match request.purpose:
            case "flush":
                return ScriptedAnswer(calls=(Call("memory_append", {"text": f"They spoke of {seen}."}),), hold=waits)
            case "consolidation":
                found = {"history_entry": f"They spoke of {seen}.", "memory_update": []}
                return ScriptedAnswer(calls=(Call("save_memory", found),), hold=waits)
            case _:
                assert isinstance(SUMMARY, str)
                return ScriptedAnswer(f"{SUMMARY}\n- {seen}", hold=waits)


async def forget(talk: LongTalk) -> None:
    await talk.agent.forget(lambda key: True, talk.scope, "", ForgetPlan(WORD, ()))


def written(talk: LongTalk) -> str:
    """All of memory, and of the transcripts what was written after the word was said."""
    memory = "".join(path.read_text() for path in talk.workspace.rglob("*.md"))
    return memory + str([entry.get("summary") for entry in talk.entries("compaction")])


@pytest.mark.parametrize("purpose", ["flush", "compaction"])
async def test_nothing_is_written_of_words_forgotten_in_the_meantime(tmp_path: Path, purpose: str) -> None:
    talk = LongTalk(tmp_path)
    slow = Slow(talk, purpose)
    await talk.say(f"My boat lies in {WORD}")
    talking = asyncio.create_task(talk.until("compaction"))
    await slow.hold.reached.wait()
    await forget(talk)
    slow.hold.released.set()
    await talking
    assert WORD not in written(talk)
    assert talk.entries("compaction")


@pytest.mark.parametrize("purpose", ["flush", "compaction", "consolidation"])
async def test_a_retry_does_not_send_them(tmp_path: Path, purpose: str) -> None:
    talk = LongTalk(tmp_path)

    async def waits(seconds: float) -> None:
        await forget(talk)

    model = ResilientModel(talk.model, sleep=waits)
    talk.agent = Agent(talk.settings, talk.workspace, talk.sessions, model, talk.watch.clock)
    answer = talk.behind.get(purpose, "NO_REPLY")
    overloaded: list[Reply] = [TryLater("overloaded")]
    talk.behind[purpose] = lambda request: overloaded.pop() if overloaded else answered(answer, request)
    async with talk.behind_it():
        await talk.say(f"My boat lies in {WORD}")
        await talk.until("compaction")
        await talk.agent.new_session(OWNER, talk.scope)
        await talk.agent.idle()
        await talk.say("Hello")
    first, *later = talk.asked_for(purpose)
    assert WORD in told(first) and later and not any(WORD in told(request) for request in later)
    assert WORD not in written(talk)


def answered(step: Step, request: ModelRequest) -> Reply:
    return step(request) if callable(step) else step


async def test_what_an_ended_talk_leaves_is_read_anew(tmp_path: Path) -> None:
    talk = LongTalk(tmp_path)
    slow = Slow(talk, "consolidation")
    async with talk.behind_it():
        await talk.say(f"My boat lies in {WORD}")
        await talk.agent.new_session(OWNER, talk.scope)
        await slow.hold.reached.wait()
        await forget(talk)
        slow.hold.released.set()
        await talk.agent.idle()
        await talk.say("Hello")
    history = talk.read("memory/HISTORY.md")
    assert WORD not in history and "nothing of it" in history
