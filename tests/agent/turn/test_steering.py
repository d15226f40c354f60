"""What is said, stopped or cut off while a turn runs, and how it is taken up."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from agent.model.base import Usage
from agent.model.scripted import Call, Hold, ScriptedAnswer
from agent.session.transcript import TranscriptNotWritten
from agent.turn.tool_calls import INTERRUPTED, STOPPED_CALL
from agent.values import ResultKind, TurnResult, UserMessage, nothing_said
from tests.agent.home import OWNER, Home, Numbered, end, events, results, texts, tool
from tests.agent.streamed import ignored


async def test_what_is_said_meanwhile_joins_between_steps(home: Home) -> None:
    waiting: list[UserMessage] = []

    def arrived() -> list[UserMessage]:
        taken, waiting[:] = list(waiting), []
        return taken

    def say(_: Numbered) -> str:
        waiting.append(home.said("make it two", id="late"))
        return "looked"

    agent, model = home.agent(Call("look"), "Two, then.")
    done = await events(agent, home.request("one please", tool("look", say), arrived=arrived))
    assert done[-1] == TurnResult(ResultKind.REPLY, "Two, then.", Usage(20, 10))
    assert results(model.requests[1].messages[-1]) == ["looked"]
    assert texts(model.requests[1].messages[-1]).endswith("Alice]\nmake it two")


async def test_a_message_that_had_joined_is_not_answered_again_on_its_own(home: Home) -> None:
    late = home.said("make it two", id="late")
    offered = [[late]]
    agent, _ = home.agent(Call("look"), "Two.")
    first = home.request("one", tool("look", lambda _: "z"), arrived=lambda: offered.pop(0) if offered else ())
    await end(agent, first)
    agent, model = home.agent()
    again = await end(agent, replace(first, id="turn-late", said=(late,), arrived=nothing_said))
    assert again.text == "Two." and not model.requests


async def test_a_stopped_turn_is_closed_in_the_journal(home: Home) -> None:
    hold = Hold()
    agent, model = home.agent(ScriptedAnswer(["Once upon", " a time"], hold=hold, hold_at=1))
    request = home.request("tell me a story")

    running = asyncio.create_task(agent.turn(request, ignored))
    await hold.reached.wait()
    running.cancel()
    await asyncio.wait([running])
    assert len(home.lines()) == 1
    await agent.stopped(OWNER, request.id, "Once upon")
    await agent.stopped(OWNER, request.id, "Once upon")
    agent, model = home.agent("Sure.")
    await end(agent, home.request("another"))
    assert [message.role for message in model.requests[0].messages] == ["user", "assistant", "user"]
    assert texts(model.requests[0].messages[1]) == "Once upon\n\n[Stopped here by the person]"
    assert (await end(agent, request)).kind is ResultKind.ERROR


async def test_a_turn_stopped_in_a_tool_gives_its_calls_results(home: Home) -> None:
    inside = asyncio.Event()

    async def hang(_: Numbered) -> str:
        inside.set()
        await asyncio.Event().wait()
        return "never"

    agent, model = home.agent(ScriptedAnswer("On it.", (Call("look"), Call("hang"), Call("look"))))
    request = home.request("x", tool("look", lambda _: "seen"), tool("hang", hang))
    running = asyncio.create_task(end(agent, request))
    await inside.wait()
    running.cancel()
    await asyncio.wait([running])
    await agent.stopped(OWNER, request.id, "On it.")
    model.then("ok")
    await end(agent, home.request("next", tool("look", lambda _: "seen"), tool("hang", hang)))
    sent = model.requests[-1].messages
    assert results(sent[2]) == ["seen", STOPPED_CALL, STOPPED_CALL]
    assert [message.role for message in sent] == ["user", "assistant", "user", "assistant", "user"]
    assert texts(sent[3]) == "[Stopped here by the person]"


async def test_stopping_what_never_began_or_had_ended_changes_nothing(home: Home) -> None:
    agent, _ = home.agent("Done.")
    await agent.stopped(OWNER, "none", "")
    request = home.request()
    await end(agent, request)
    before = home.lines()
    await agent.stopped(OWNER, request.id, "Done.")
    await agent.stopped(OWNER, "another", "x")
    assert home.lines() == before


async def test_invariant_04_a_turn_is_taken_up_from_every_step_of_its_journal(home: Home) -> None:
    """The bytes on disk after each step, as a crash right then leaves them, and a new process."""
    ran: list[int] = []
    look = tool("look", lambda arguments: ran.append(int(str(arguments.n))) or f"saw {arguments.n}")
    agent, _ = home.agent(
        ScriptedAnswer("First.", (Call("look", {"n": 1}, "a"), Call("look", {"n": 2}, "b"))),
        ScriptedAnswer("Then.", (Call("look", {"n": 3}, "c"),)),
        "Done.",
    )
    request = home.request("go", look)
    whole = await end(agent, request)
    (path,) = home.sessions.rglob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 1 + 1 + 2 + 1 + 1 + 1 and ran == [1, 2, 3]
    finished = {1: 0, 2: 0, 3: 0, 4: 1, 5: 2, 6: 2, 7: 3, 8: 3}
    for count in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        ran.clear()
        answers = [
            ScriptedAnswer("First.", (Call("look", {"n": 1}, "a"), Call("look", {"n": 2}, "b"))),
            ScriptedAnswer("Then.", (Call("look", {"n": 3}, "c"),)),
            "Done.",
        ]
        made = sum(b'"role":"assistant"' in line for line in lines[1:count])
        agent, model = home.agent(*answers[made:])
        again = await end(agent, request)
        assert (again.kind, again.text) == (ResultKind.REPLY, whole.text)
        assert not set(ran) & set(range(1, finished[count] + 1)), "a tool that had finished is not run again"
        assert len(model.requests) == 3 - made
        entries = home.lines()
        assert sum(entry.get("meta", {}).get("said") == ["m1"] for entry in entries) == 1  # type: ignore[attr-defined]
        interrupted = sum(INTERRUPTED in json.dumps(entry) for entry in entries)
        assert interrupted == {3: 2, 4: 1, 6: 1}.get(count, 0)


async def test_a_disk_that_takes_nothing_raises_and_loses_nothing(home: Home) -> None:
    agent, _ = home.agent("ok", "later")
    await end(agent, home.request())
    (path,) = home.sessions.rglob("*.jsonl")
    before = path.read_bytes()
    moved = path.rename(path.with_suffix(".away"))
    path.mkdir()
    request = home.request("on a bad day")
    with pytest.raises(OSError):
        await end(agent, request)
    path.rmdir()
    moved.rename(path)
    assert path.read_bytes() == before
    assert (await end(agent, request)).text == "later"


async def test_sessions_that_cannot_be_made_say_so(home: Home) -> None:
    home.sessions.write_text("a file in the way")
    agent, _ = home.agent("ok")
    with pytest.raises(TranscriptNotWritten):
        await end(agent, home.request())
