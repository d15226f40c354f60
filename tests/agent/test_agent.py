"""Turns of an agent with real files, real tools and a scripted model."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta

import pytest

from agent.memory.scope import Audience, Scope
from agent.model.base import Block, ModelRequest, Usage
from agent.model.scripted import Call, ScriptedAnswer
from agent.settings import GroupLogs
from agent.tools.base import ConversationConsent
from agent.values import ReplyText, ResultKind, SessionKey, StepCompleted, TurnResult
from tests.agent.home import Home, end, events, results, texts, tool

THOUGHT: Block = {"type": "thinking", "thinking": "hm", "signature": "s"}


async def test_a_question_is_answered_and_remembered_by_the_next(home: Home) -> None:
    agent, model = home.agent(ScriptedAnswer(["Hel", "lo."], usage=Usage(100, 20)), "Luna.")
    assert await events(agent, home.request("My cat is Luna.")) == [
        ReplyText("Hel"),
        ReplyText("lo."),
        StepCompleted(),
        TurnResult(ResultKind.REPLY, "Hello.", Usage(100, 20)),
    ]
    assert (await end(agent, home.request("Her name?"))).text == "Luna."
    first, answer, second = model.requests[1].messages
    assert texts(first) == "[2026-11-21 Sat 08:30 Europe/Berlin · Telegram · Alice]\nMy cat is Luna."
    assert texts(answer) == "Hello."
    assert texts(second).endswith("\nHer name?")


async def test_what_the_tools_wrote_is_on_disk(home: Home) -> None:
    agent, model = home.agent(
        ScriptedAnswer("I'll note it.", (Call("memory_append", {"text": "The cat is Luna."}),)), "Noted."
    )
    done = await events(agent, home.request("Remember: my cat is Luna."))
    assert done[:2] == [ReplyText("I'll note it."), StepCompleted(("memory_append",))]
    assert done[-1] == TurnResult(ResultKind.REPLY, "I'll note it.\n\nNoted.", Usage(20, 10))
    assert "The cat is Luna." in (home.workspace / "memory" / "2026-11-21.md").read_text()
    assert "Added" in str(results(model.requests[1].messages[-1])[0])


async def test_invariant_09_the_prefix_is_the_same_bytes_over_turns_restarts_and_edits(home: Home) -> None:
    (home.workspace / "MEMORY.md").write_text("first\n")
    seen = []
    for turn in range(4):
        agent, model = home.agent(Call("memory_append", {"text": f"note {turn}"}), "ok")
        await end(agent, home.request(f"turn {turn}"))
        seen += [(request.system, request.tools) for request in model.requests]
        (home.workspace / "MEMORY.md").write_text(f"edited {turn}\n")
        home.now += timedelta(hours=7)
    assert len(seen) == 8 and len({repr(prefix) for prefix in seen}) == 1
    assert "first" in seen[0][0][1]


async def test_earlier_messages_are_sent_again_as_they_were(home: Home) -> None:
    asked: list[ModelRequest] = []
    for turn in range(5):
        agent, model = home.agent(
            ScriptedAnswer("Looking.", (Call("look", {"n": turn}, f"id{turn}"),), (THOUGHT,)),
            ScriptedAnswer("Seen.", (), (THOUGHT,)),
        )
        await end(agent, home.request(f"turn {turn}", tool("look", lambda arguments: arguments, reads_only=True)))
        asked += model.requests
    for before, after in itertools.pairwise(asked):
        assert after.messages[: len(before.messages)] == before.messages
    assert sum(block.get("type") == "thinking" for m in asked[-1].messages for block in m.content) == 9


async def test_thinking_stays_behind_when_the_model_changes(home: Home) -> None:
    agent, model = home.agent(ScriptedAnswer("One.", (), (THOUGHT,)), "Two.")
    await end(agent, home.request())
    await end(agent, replace(home.request(), model="another"))
    assert model.requests[1].model == "another"
    assert not any(block.get("type") == "thinking" for m in model.requests[1].messages for block in m.content)


async def test_a_change_on_disk_is_told_once_and_over_a_restart(home: Home) -> None:
    memory = home.workspace / "MEMORY.md"
    memory.write_text("The cat is Luna.\n")
    agent, model = home.agent("a", "b")
    await end(agent, home.request())
    memory.write_text("The cat is Luna.\nThe dog is Rex.\n")
    agent, model = home.agent("b", "c")
    await end(agent, home.request())
    await end(agent, home.request())
    told = [texts(message) for message in model.requests[1].messages if message.role == "user"]
    assert ["The dog is Rex." in text for text in told] == [False, True, False]
    assert "Luna" not in told[1]


async def test_what_the_session_wrote_itself_is_not_told_to_it(home: Home) -> None:
    agent, model = home.agent(Call("memory_append", {"text": "The cat is Luna."}), "ok", "ok")
    await end(agent, home.request())
    await end(agent, home.request("and?"))
    assert "Luna" not in texts(model.requests[-1].messages[-1])


async def test_an_edit_by_hand_just_before_our_own_write_is_still_told(home: Home) -> None:
    log = home.workspace / "memory" / "2026-11-21.md"
    log.parent.mkdir()
    log.write_text("# 2026-11-21\n\n- 08:00 old\n")

    def edit(request: ModelRequest) -> Call:
        log.write_text(log.read_text() + "- 08:29 by hand\n")
        return Call("memory_append", {"text": "by the model"})

    agent, model = home.agent(edit, "ok", "ok")
    await end(agent, home.request())
    await end(agent, home.request("and?"))
    assert "by hand" in texts(model.requests[-1].messages[-1])


async def test_another_talk_s_entry_in_the_same_log_is_told(home: Home) -> None:
    agent, model = home.agent("a", Call("memory_append", {"text": "from work"}), "ok", "b")
    await end(agent, home.request())
    await end(agent, home.request(session=SessionKey("main", "owner/work")))
    await end(agent, home.request())
    assert "from work" in texts(model.requests[-1].messages[-1])


async def test_a_new_day_brings_the_log_that_others_wrote(home: Home) -> None:
    agent, model = home.agent("a", "b")
    await end(agent, home.request())
    home.now += timedelta(days=1)
    folder = home.workspace / "memory"
    folder.mkdir(exist_ok=True)
    (folder / "2026-11-22.md").write_text("# 2026-11-22\n\n- 00:01 by the nightly journal\n")
    await end(agent, home.request())
    newest = texts(model.requests[-1].messages[-1])
    assert newest.startswith("[2026-11-22 Sun 08:30") and "by the nightly journal" in newest


async def test_invariant_08_no_private_byte_in_a_group_s_or_another_person_s_request(home: Home) -> None:
    for name in ("USER.md", "MEMORY.md", "memory/2026-11-21.md", "memory/notes/n.md", "people/bob/USER.md"):
        path = home.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"canary of {name}\n")
    group = Scope(Audience.GROUP, home.workspace, "telegram--1")
    alice = Scope(Audience.PERSON, home.workspace, "alice")
    paths = ("MEMORY.md", "../MEMORY.md", "../../MEMORY.md", "people/bob/USER.md", "memory/2026-11-21.md")
    reads = [Call(name, {"path": path}) for name in ("read_file", "memory_get") for path in paths]
    calls = ScriptedAnswer(calls=(*reads, Call("memory_search", {"query": "canary"}), Call("list_files", {})))
    agent, model = home.agent("hello", otherwise=None)
    await end(agent, home.request())
    for key, scope in ((SessionKey("main", "group/telegram--1"), group), (SessionKey("main", "person/alice"), alice)):
        model.then(calls, "done", "again")
        await end(agent, home.request(session=key, scope=scope))
        (home.workspace / "MEMORY.md").write_text("canary changed\n")
        await end(agent, home.request(session=key, scope=scope))
    for request in model.requests[1:]:
        assert "canary of" not in repr(request) and "canary changed" not in repr(request)


async def test_a_shared_group_sees_the_owner_s_log_and_nothing_else(home: Home) -> None:
    (home.workspace / "memory").mkdir()
    (home.workspace / "memory" / "2026-11-21.md").write_text("# 2026-11-21\n\n- 08:00 the owner's day\n")
    (home.workspace / "MEMORY.md").write_text("private\n")
    scope = Scope(Audience.GROUP, home.workspace, "telegram--1", GroupLogs.SHARED)
    agent, model = home.agent("ok")
    await end(agent, home.request(session=SessionKey("main", "group/telegram--1"), scope=scope))
    system = "".join(model.requests[0].system)
    assert "the owner's day" in system and "private\n" not in system


async def test_a_yes_that_cannot_be_kept_makes_no_failure_of_what_is_done(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    agent, _ = home.agent("Hello.")
    await end(agent, home.request())
    (file,) = home.sessions.rglob("*.jsonl")
    file.unlink()
    file.mkdir()
    await agent.allow(ConversationConsent(home.request().session.path, file.stem, "example.org"))
    assert "the owner's yes to example.org is not kept" in caplog.text
