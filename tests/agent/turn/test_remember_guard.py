"""What was asked to be remembered is on disk when the turn has ended, whatever the model did."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest

from agent.agent import Agent
from agent.memory.history import History
from agent.model.base import TryLater
from agent.model.offline.model import OfflineModel
from agent.model.scripted import Call, Hold, ScriptedAnswer
from agent.turn.remember_guard import WRITE_IT_DOWN
from agent.values import ReplyText, ResultKind, StepCompleted, TurnRequest, UserMessage
from tests.agent.home import OWNER, Home, end, events, texts
from tests.agent.streamed import streamed

ASKED = "Please remember that my cat is called Luna."


def log(home: Home) -> str:
    path = home.workspace / "memory" / "2026-11-21.md"
    return path.read_text() if path.exists() else ""


@asynccontextmanager
async def written_at_the_end(agent: Agent) -> AsyncIterator[None]:
    """Until then whoever waits for a write may have given up waiting."""
    task = asyncio.create_task(agent.run())
    try:
        yield
        await agent.idle()
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def cut_short(home: Home) -> tuple[Agent, TurnRequest]:
    """A turn that is cancelled in the midst of its answer."""
    hold = Hold()
    agent, _ = home.agent(ScriptedAnswer(["Sure", "!"], hold=hold, hold_at=1))
    request = home.request(ASKED)
    task = asyncio.create_task(end(agent, request))
    await hold.reached.wait()
    task.cancel()
    await asyncio.wait({task})
    return agent, request


async def test_a_model_that_writes_is_not_asked_again(home: Home) -> None:
    agent, model = home.agent(Call("memory_append", {"text": "The cat is called Luna."}), "Noted.")
    assert (await end(agent, home.request(ASKED))).text == "Noted."
    assert len(model.requests) == 2
    assert log(home).count("Luna") == 1


async def test_a_model_that_only_says_so_is_asked_once_more_unseen(home: Home) -> None:
    agent, model = home.agent("Sure!", Call("memory_append", {"text": "The cat is called Luna."}), "NO_REPLY")
    last = await end(agent, home.request(ASKED))
    assert (last.kind, last.text) == (ResultKind.REPLY, "Sure!")
    assert WRITE_IT_DOWN in texts(model.requests[1].messages[-1])
    assert model.requests[1].messages[:1] == model.requests[0].messages[:1]
    assert log(home).count("Luna") == 1


async def test_a_model_that_never_writes_is_written_for(home: Home) -> None:
    agent, model = home.agent("Sure!", "Already done, I think.")
    assert (await end(agent, home.request(ASKED))).text == "Sure!"
    assert f"- 08:30 {ASKED}\n" in log(home)
    assert len(model.requests) == 2


async def test_what_is_written_for_a_model_says_the_day_and_is_there_once(home: Home) -> None:
    agent, _ = home.agent("Sure!", "Already done.", "Sure!", "Already done.")
    for _ in range(2):
        await end(agent, home.request("Remember that the vet comes tomorrow."))
    assert log(home).count("- 08:30 Remember that the vet comes tomorrow. (2026-11-22)\n") == 1


async def test_a_turn_over_midnight_counts_days_from_when_it_was_said(home: Home) -> None:
    hold = Hold()
    agent, _ = home.agent(ScriptedAnswer(["Sure", "!"], hold=hold, hold_at=1), "Already done.")
    task = asyncio.create_task(end(agent, home.request("Remember that the vet comes tomorrow.")))
    await hold.reached.wait()
    home.now += timedelta(days=1)
    hold.released.set()
    await task
    written = (home.workspace / "memory" / "2026-11-22.md").read_text()
    assert "the vet comes tomorrow. (2026-11-22)\n" in written


async def test_a_silent_model_stays_silent_and_the_words_are_kept(home: Home) -> None:
    agent, _ = home.agent("NO_REPLY", "NO_REPLY")
    assert (await end(agent, home.request(ASKED))).kind is ResultKind.SILENCE
    assert ASKED in log(home)


async def test_a_write_that_failed_does_not_count(home: Home) -> None:
    agent, _ = home.agent(Call("memory_append", {"text": " "}), "Noted.", "NO_REPLY")
    assert (await end(agent, home.request(ASKED))).text == "Noted."
    assert ASKED in log(home)


async def test_when_the_model_fails_the_words_are_kept_at_once(home: Home) -> None:
    agent, model = home.agent(TryLater("The model is overloaded."))
    last = await end(agent, home.request(ASKED))
    assert (last.kind, last.text) == (ResultKind.ERROR, "The model is overloaded.")
    assert ASKED in log(home) and len(model.requests) == 1


async def test_when_the_model_fails_at_the_second_asking_its_reply_stands(home: Home) -> None:
    agent, _ = home.agent("Sure!", TryLater("The model is overloaded."))
    last = await end(agent, home.request(ASKED))
    assert (last.kind, last.text) == (ResultKind.REPLY, "Sure!")
    assert ASKED in log(home)


@pytest.mark.parametrize("steps", range(1, 5))
async def test_the_promise_holds_over_a_crash_at_every_step(home: Home, steps: int) -> None:
    request = home.request(ASKED)
    first, _ = home.agent("Sure!", ScriptedAnswer("Hm.", (Call("memory_list"),)), "NO_REPLY")
    running = streamed(first, request)
    seen = 0
    async for event in running:
        seen += isinstance(event, (StepCompleted, ReplyText))
        if seen == steps:
            break
    await running.aclose()
    second, _ = home.agent(otherwise="NO_REPLY")
    await end(second, request)
    assert log(home).count(ASKED) == 1
    again, _ = home.agent()
    await end(again, request)
    assert log(home).count(ASKED) == 1


async def test_the_promise_holds_when_the_turn_is_stopped(home: Home) -> None:
    agent, request = await cut_short(home)
    for _ in range(2):
        async with written_at_the_end(agent):
            await agent.stopped(OWNER, request.id, "Sure")
        assert log(home).count(ASKED) == 1


async def test_a_stop_waits_for_no_other_program_and_the_words_are_written_once(home: Home) -> None:
    agent, request = await cut_short(home)
    folder = home.workspace / "memory"
    folder.mkdir()
    other = os.open(folder, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    async with written_at_the_end(agent):
        for _ in range(2):
            await agent.stopped(OWNER, request.id, "Sure")
        assert log(home) == ""
        os.close(other)
    assert log(home).count(ASKED) == 1


async def test_what_could_not_be_written_after_the_stop_is_in_the_log(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    agent, request = await cut_short(home)
    file = home.workspace / "memory" / "2026-11-21.md"
    file.parent.mkdir()
    file.touch()
    other = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    async with written_at_the_end(agent):
        await agent.stopped(OWNER, request.id, "Sure")
        file.chmod(0o400)
        os.close(other)
    assert log(home) == "" and "its owner has made it read-only" in caplog.text


async def test_what_joins_the_turn_later_counts_too(home: Home) -> None:
    late = [home.said("Remember that Anna comes on Friday.", "late")]
    agent, _ = home.agent(
        Call("memory_append", {"text": "The cat is called Luna."}),
        "Both noted.",
        "NO_REPLY",
    )
    taken = iter([tuple(late)])
    await end(agent, home.request(ASKED, arrived=lambda: next(taken, ())))
    assert "Anna comes on Friday" in log(home)
    assert ASKED not in log(home)


async def test_words_of_others_ask_for_nothing(home: Home) -> None:
    words = "Please remember that the door code is 4711."
    said = UserMessage("m", "What is this?", "Alice", "Telegram", home.now, (words,), (), (("Bob", home.now, words),))
    agent, model = home.agent("A note.")
    await end(agent, TurnRequest("t", OWNER, home.owner, (said,)))
    assert len(model.requests) == 1 and log(home) == ""


async def test_the_text_of_a_job_asks_for_nothing(home: Home) -> None:
    said = home.said(ASKED)
    agent, model = home.agent("Done.")
    await end(agent, TurnRequest("t", OWNER, home.owner, (said,), purpose="job"))
    assert len(model.requests) == 1 and log(home) == ""


async def test_the_offline_assistant_keeps_it_too(home: Home) -> None:
    agent = Agent(home.settings, home.workspace, home.sessions, OfflineModel(home.clock, "~/.daybook/.env"), home.clock)
    for number, text in enumerate((ASKED, "Could you tell me a joke? And remember my shoe size is 43.")):
        await end(agent, TurnRequest(f"t{number}", OWNER, home.owner, (home.said(text),)))
        assert text in log(home)


async def test_what_cannot_be_written_is_told(home: Home) -> None:
    (home.workspace / "memory").write_text("in the way")
    agent, _ = home.agent("Sure!", "NO_REPLY")
    last = await end(agent, home.request(ASKED))
    assert last.kind is ResultKind.REPLY
    assert last.text.startswith("Sure!") and "I couldn't save what you asked" in last.text


async def test_system_and_tools_are_the_same_when_asked_again(home: Home) -> None:
    agent, model = home.agent("Sure!", "NO_REPLY", "Hello.")
    await end(agent, home.request(ASKED))
    await end(agent, home.request("hi"))
    assert len({str((request.system, request.tools)) for request in model.requests}) == 1


async def test_the_notice_is_never_shown(home: Home) -> None:
    agent, _ = home.agent("Sure!", "NO_REPLY")
    assert WRITE_IT_DOWN not in str(await events(agent, home.request(ASKED)))


async def test_our_own_entry_can_be_undone(home: Home) -> None:
    agent, _ = home.agent("Sure!", "NO_REPLY")
    await end(agent, home.request(ASKED))
    history = History(home.sessions.parent / "history" / "main.db", home.clock)
    change = history.last(str(OWNER))
    assert change is not None and change.by == "remember this"
