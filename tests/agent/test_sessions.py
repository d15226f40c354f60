"""Sessions: begun, left in the log, exported, reported on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from agent.media.pictures import Picture
from agent.model.base import Usage
from agent.model.scripted import Call, Hold, ScriptedAnswer
from agent.session.archive import NoSuchSession
from agent.settings import AgentSettings, MemorySettings
from agent.values import AttachedDocument, SessionKey
from tests.agent.home import OWNER, Home, end, texts, tool


async def test_a_new_session_leaves_the_talk_in_the_daily_log(home: Home) -> None:
    agent, model = home.agent("It flies at nine.", "Fresh.", "Back.")
    await end(agent, home.request("When is my flight to Lisbon?"))
    old = (await agent.sessions(OWNER))[0]
    fresh = (await agent.new_session(OWNER, home.owner)).info
    log = (home.workspace / "memory" / "2026-11-21.md").read_text()
    assert "## 08:30 talk when-is-my-flight-to-lisbon\n" in log or "## 08:30 talk-when-is-my-flight-to-lisbon\n" in log
    assert "Alice: When is my flight to Lisbon?" in log and "Assistant: It flies at nine." in log
    assert "[2026" not in log
    await end(agent, home.request("hi"))
    assert len(model.requests[1].messages) == 1 and "flight to Lisbon" in model.requests[1].system[1]
    assert {info.id for info in await agent.sessions(OWNER)} == {old.id, fresh.id}
    assert (await agent.switch(OWNER, home.owner, old.id[-4:])).id == old.id
    await end(agent, home.request("go on"))
    assert texts(model.requests[2].messages[0]).endswith("flight to Lisbon?")


async def test_a_new_session_after_a_crash_in_it_notes_the_talk_once(home: Home) -> None:
    agent, _ = home.agent("ok")
    await end(agent, home.request("the milk is out"))
    (path,) = home.sessions.rglob("*.jsonl")
    await agent.new_session(OWNER, home.owner)
    for other in home.sessions.rglob("*.jsonl"):
        if other != path:
            other.unlink()
    agent, _ = home.agent()
    await agent.new_session(OWNER, home.owner)
    assert (home.workspace / "memory" / "2026-11-21.md").read_text().count("Alice: the milk is out") == 1


async def test_a_new_session_of_nothing_leaves_no_trace_in_the_log(home: Home) -> None:
    agent, _ = home.agent("ok")
    await agent.new_session(OWNER, home.owner)
    await agent.new_session(OWNER, home.owner)
    assert not (home.workspace / "memory").exists()
    assert (await end(agent, home.request())).text == "ok"


async def test_the_snapshot_is_of_the_last_fifteen_without_tools(home: Home) -> None:
    agent, _ = home.agent(Call("look"), otherwise="fine")
    for number in range(10):
        await end(agent, home.request(f"say {number}", tool("look", lambda _: "tool text")))
    await agent.new_session(OWNER, home.owner)
    log = (home.workspace / "memory" / "2026-11-21.md").read_text()
    assert log.count("\n- ") == 15 and "tool text" not in log and "say 9" in log and "Alice: say 2" not in log


async def test_a_talk_as_markdown(home: Home) -> None:
    agent, _ = home.agent(ScriptedAnswer("Let me see.", (Call("look", {"n": 1}),)), "Yes.")
    await end(agent, home.request("Is it there?", tool("look", lambda _: "found")))
    text = await agent.export(OWNER)
    assert "**Alice** · 2026-11-21 08:30\n\nIs it there?" in text
    assert "`look` gave: found" in text and text.endswith("Yes.\n")
    with pytest.raises(NoSuchSession):
        await agent.export(SessionKey("main", "owner/none"))


async def test_a_talk_as_markdown_names_what_came_along(home: Home) -> None:
    agent, _ = home.agent("Nice.", "Thanks.")
    picture = Picture("photo cat.png", f"media/aa/{'a' * 64}.png", f"media/aa/{'a' * 64}.png")
    said = replace(home.said("", id="a"), pictures=(picture,), documents=(AttachedDocument("bill.pdf", "12 EUR"),))
    await end(agent, replace(home.request(), id="a", said=(said,)))
    await end(agent, replace(home.request(), id="b", said=(replace(said, id="b", text="Look"),)))
    text = await agent.export(OWNER)
    assert "08:30\n\n[bill.pdf]\n[photo cat.png]\n\n" in text and "\n\nLook\n[bill.pdf]\n[photo cat.png]" in text
    assert "12 EUR" not in text


async def test_a_transcript_beyond_use_does_not_stop_the_talk(home: Home) -> None:
    agent, _ = home.agent("one")
    await end(agent, home.request())
    (path,) = home.sessions.rglob("*.jsonl")
    path.write_bytes(b"\0" * 500)
    home.now += timedelta(minutes=1)
    agent, model = home.agent("two")
    assert (await end(agent, home.request())).text == "two"
    assert path.read_bytes() == b"\0" * 500 and len(model.requests[0].messages) == 1


async def test_reports(home: Home) -> None:
    (home.workspace / "MEMORY.md").write_text("".join(f"- fact {number}\n" for number in range(300)))
    agent, _ = home.agent(
        ScriptedAnswer("", (Call("memory_search", {"query": "fact"}),)), ScriptedAnswer("Seven.", usage=Usage(2_500, 5))
    )
    early = await agent.context_report(OWNER, home.owner)
    assert early.session == "" and early.messages == 0 and not list(home.sessions.rglob("*.jsonl"))
    assert await agent.why(OWNER) is None and await agent.last_activity(OWNER) is None
    await end(agent, home.request("how many?"))
    now = await agent.context_report(OWNER, home.owner)
    (memory,) = (file for file in now.files if file.path == "MEMORY.md")
    assert (memory.lines, memory.total_lines, memory.is_cut) == (((1, 200),), 300, True)
    assert memory.modified is not None and [share.name for share in now.system] == ["rules", "skills", "MEMORY.md"]
    assert now.messages == 4 and now.projected == 2_505 and now.counted and now.fixed == early.fixed > 1_000
    assert now.budget.flush_at < now.budget.compact_at < now.budget.window == 200_000
    why = await agent.why(OWNER)
    assert why is not None and why.tools == ("memory_search",) and why.files[0].path == "MEMORY.md"
    assert await agent.last_activity(OWNER) == home.clock.now()


async def test_chats_do_not_wait_for_one_another(home: Home) -> None:
    hold = Hold()
    agent, _ = home.agent(ScriptedAnswer("slow", hold=hold), "quick")
    slow = asyncio.create_task(end(agent, home.request(session=SessionKey("main", "owner/a"))))
    await hold.reached.wait()
    assert (await end(agent, home.request(session=SessionKey("main", "owner/b")))).text == "quick"
    hold.released.set()
    assert (await slow).text == "slow"


async def test_memory_settings_reach_the_prompt(home: Home) -> None:
    home.settings = AgentSettings(memory=MemorySettings(max_index_lines=1), files_tools=False)
    (home.workspace / "MEMORY.md").write_text("one\ntwo\n")
    agent, model = home.agent("ok")
    await end(agent, home.request())
    assert "two" not in model.requests[0].system[1]
    assert not {"read_file", "write_file"} & {spec.name for spec in model.requests[0].tools}
