"""Turns of an agent with real files, real tools and a scripted model."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.agent import Agent
from agent.calls import CUT_CALL, INTERRUPTED, MAX_RESULT_CHARS, STOPPED_CALL
from agent.clock import Clock
from agent.ending import CUT_OFF, DECLINED, EMPTY, TOO_LONG
from agent.loop import GO_ON
from agent.memory.scope import Audience, GroupLogs, Scope
from agent.model.base import (
    AccessDenied,
    Block,
    ContextOverflow,
    Json,
    Message,
    ModelEvent,
    ModelRequest,
    Restarted,
    TextDelta,
    ToolSpec,
    TryLater,
    Usage,
)
from agent.model.scripted import Answer, Call, Hold, ScriptedModel, Step
from agent.session.archive import NoSuchSession
from agent.session.transcript import NotJournaled
from agent.settings import AgentSettings, MemorySettings, ModelSettings, SessionSettings
from agent.tools.base import Arguments, Tool, ToolError
from agent.turn import (
    Discard,
    Document,
    End,
    EndKind,
    Joined,
    Picture,
    Said,
    SessionKey,
    StepDone,
    Text,
    TurnEvent,
    TurnRequest,
    nothing_said,
)

OWNER = SessionKey("main", "owner")
THOUGHT: Block = {"type": "thinking", "thinking": "hm", "signature": "s"}


class Home:
    """A home on disk, and the agents that come and go in it: each `agent()` is a process started anew."""

    def __init__(self, root: Path) -> None:
        self.workspace = root / "workspace"
        self.sessions = root / "sessions"
        self.workspace.mkdir()
        self.now = datetime(2026, 11, 21, 7, 30, tzinfo=UTC)
        self.clock = Clock(ZoneInfo("Europe/Berlin"), lambda: self.now)
        self.settings = AgentSettings()
        self.numbers = iter(range(1, 10_000))

    def agent(self, *answers: Step, otherwise: Step | None = None) -> tuple[Agent, ScriptedModel]:
        model = ScriptedModel(*answers, otherwise=otherwise)
        return Agent(self.settings, self.workspace, self.sessions, model, self.clock), model

    @property
    def owner(self) -> Scope:
        return Scope(Audience.OWNER, self.workspace)

    def said(self, text: str, id: str = "") -> Said:
        return Said(id or f"m{next(self.numbers)}", text, "Alice", "Telegram", self.now)

    def request(
        self,
        text: str = "hi",
        *tools: Tool,
        session: SessionKey = OWNER,
        scope: Scope | None = None,
        arrived: Callable[[], Sequence[Said]] = tuple,
    ) -> TurnRequest:
        one = self.said(text)

        async def since() -> Sequence[Said]:
            return arrived()

        return TurnRequest(f"turn-{one.id}", session, scope or self.owner, (one,), since, tools)

    def lines(self) -> list[dict[str, object]]:
        """The newest transcript's entries as they are on disk."""
        path = max(self.sessions.rglob("*.jsonl"))
        return [json.loads(line) for line in path.read_bytes().splitlines()][1:]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


async def events(agent: Agent, request: TurnRequest) -> list[TurnEvent]:
    return [event async for event in agent.turn(request)]


async def end(agent: Agent, request: TurnRequest) -> End:
    *before, last = await events(agent, request)
    assert isinstance(last, End) and not any(isinstance(event, End) for event in before)
    return last


def tool(name: str, run: Callable[[Arguments], object], reads_only: bool = False) -> Tool:
    async def call(arguments: Arguments) -> str:
        result = run(arguments)
        return str(await result if asyncio.iscoroutine(result) else result)

    schema: dict[str, Json] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    return Tool(ToolSpec(name, f"The {name}.", schema), call, reads_only=reads_only)


def results(message: Message) -> list[Json]:
    return [block["content"] for block in message.content if block.get("type") == "tool_result"]


def texts(message: Message) -> str:
    return "\n".join(str(block["text"]) for block in message.content if block.get("type") == "text")


# --- one turn ---------------------------------------------------------------------------------------------------------


async def test_a_question_is_answered_and_remembered_by_the_next(home: Home) -> None:
    agent, model = home.agent(Answer(["Hel", "lo."], usage=Usage(100, 20)), "Luna.")
    assert await events(agent, home.request("My cat is Luna.")) == [
        Text("Hel"),
        Text("lo."),
        StepDone(),
        End(EndKind.REPLY, "Hello.", Usage(100, 20)),
    ]
    assert (await end(agent, home.request("Her name?"))).text == "Luna."
    first, answer, second = model.requests[1].messages
    assert texts(first) == "[2026-11-21 Sat 08:30 Europe/Berlin · Telegram · Alice]\nMy cat is Luna."
    assert texts(answer) == "Hello."
    assert texts(second).endswith("\nHer name?")


async def test_what_the_tools_wrote_is_on_disk(home: Home) -> None:
    agent, model = home.agent(Answer("I'll note it.", (Call("memory_append", {"text": "The cat is Luna."}),)), "Noted.")
    done = await events(agent, home.request("Remember: my cat is Luna."))
    assert done[:2] == [Text("I'll note it."), StepDone(("memory_append",))]
    assert done[-1] == End(EndKind.REPLY, "I'll note it.\n\nNoted.", Usage(20, 10))
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
            Answer("Looking.", (Call("look", {"n": turn}, f"id{turn}"),), (THOUGHT,)), Answer("Seen.", (), (THOUGHT,))
        )
        await end(agent, home.request(f"turn {turn}", tool("look", lambda arguments: arguments, reads_only=True)))
        asked += model.requests
    for before, after in itertools.pairwise(asked):
        assert after.messages[: len(before.messages)] == before.messages
    assert sum(block.get("type") == "thinking" for m in asked[-1].messages for block in m.content) == 9


async def test_thinking_stays_behind_when_the_model_changes(home: Home) -> None:
    agent, model = home.agent(Answer("One.", (), (THOUGHT,)), "Two.")
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
    calls = Answer(calls=(*reads, Call("memory_search", {"query": "canary"}), Call("list_files", {})))
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


# --- what models do ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        ("NO_REPLY", EndKind.SILENCE, ""),
        (" no_reply\n", EndKind.SILENCE, ""),
        ("Done. NO_REPLY", EndKind.REPLY, "Done."),
        ("No, thanks.", EndKind.REPLY, "No, thanks."),
        (Answer("Half a sen", stop_reason="max_tokens"), EndKind.REPLY, f"Half a sen\n\n{CUT_OFF}"),
        (Answer("", stop_reason="refusal"), EndKind.ERROR, DECLINED),
        (Answer("Some", stop_reason="model_context_window_exceeded"), EndKind.REPLY, f"Some\n\n{TOO_LONG}"),
        (Answer("", stop_reason="model_context_window_exceeded"), EndKind.ERROR, TOO_LONG),
        (Answer("Fine.", stop_reason="of_the_future"), EndKind.REPLY, "Fine."),
        (Answer("Fine.", stop_reason="stop_sequence"), EndKind.REPLY, "Fine."),
        (AccessDenied("The key is wrong; check it."), EndKind.ERROR, "The key is wrong; check it."),
        (TryLater("The model is overloaded."), EndKind.ERROR, "The model is overloaded."),
        (ContextOverflow("too long: 200001 tokens"), EndKind.ERROR, TOO_LONG),
    ],
)  # fmt: skip
async def test_every_answer_ends_in_words_or_silence(home: Home, answer: Step, kind: EndKind, text: str) -> None:
    agent, _ = home.agent(answer, "next")
    ended = await end(agent, home.request())
    assert (ended.kind, ended.text) == (kind, text)
    assert (await end(agent, home.request("and now?"))).text == "next"


@pytest.mark.parametrize(
    "empty", [Answer(""), Answer("", blocks=(THOUGHT,)), Answer(" \n "), Answer("\u200b\u2060"), Answer("\u3164")]
)
async def test_an_empty_answer_is_asked_for_once_more_then_told(home: Home, empty: Answer) -> None:
    agent, model = home.agent(empty, "Here.")
    assert (await end(agent, home.request())).text == "Here."
    assert "was empty" in texts(model.requests[1].messages[-1])
    agent, model = home.agent(empty, empty, "next")
    ended = await end(agent, home.request())
    assert (ended.kind, ended.text) == (EndKind.ERROR, EMPTY)
    assert (await end(agent, home.request())).text == "next"


async def test_an_empty_end_behind_words_is_no_empty_answer(home: Home) -> None:
    agent, _ = home.agent(Answer("All noted.", (Call("memory_append", {"text": "x"}),)), Answer(""))
    assert (await end(agent, home.request())).text == "All noted."


async def test_a_paused_answer_is_continued(home: Home) -> None:
    agent, model = home.agent(Answer("First half", stop_reason="pause_turn"), "second half.")
    assert (await end(agent, home.request())).text == "First half\n\nsecond half."
    assert GO_ON in str(model.requests[1].messages[-1].content)


async def test_an_answer_paused_in_a_tool_of_the_servers_is_sent_back_as_it_is(home: Home) -> None:
    search: Block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tea"}}
    agent, model = home.agent(
        Answer(blocks=({"type": "text", "text": "Looking."}, search), stop_reason="pause_turn"), "Found it."
    )
    assert (await end(agent, home.request())).text == "Looking.\n\nFound it."
    assert model.requests[1].messages[-1].role == "assistant"
    assert model.requests[1].messages[-1].content[-1] == search


async def test_a_cut_call_is_not_run(home: Home) -> None:
    ran: list[Arguments] = []
    agent, model = home.agent(Answer("", (Call("look", {"n": 1}),), stop_reason="max_tokens"), "Shorter.")
    ended = await end(agent, home.request("x", tool("look", ran.append)))
    assert ended.text == "Shorter." and not ran
    assert results(model.requests[1].messages[-1]) == [CUT_CALL]


async def test_calls_that_cannot_be_run_get_an_error_that_says_why(home: Home) -> None:
    def broken(_: Arguments) -> str:
        raise RuntimeError("a secret inside")

    def refuses(_: Arguments) -> str:
        raise ToolError("There is no such note.")

    calls = (
        Call("nothing", {}), Call("look", "{garbage"), Call("look", {"n": "three"}), Call("look", {"m": 1}),
        Call("broken", {}), Call("refuses", {}), Call("look", {"n": 4}),
    )  # fmt: skip
    agent, model = home.agent(Answer("", calls), "ok")
    tools = tool("look", lambda arguments: "seen"), tool("broken", broken), tool("refuses", refuses)
    await end(agent, home.request("x", *tools))
    told = [str(result) for result in results(model.requests[1].messages[-1])]
    assert "no tool 'nothing'" in told[0] and "memory_append" in told[0]
    assert "not valid JSON: {garbage" in told[1]
    assert "'n' must be an integer" in told[2]
    assert "no argument 'm'" in told[3]
    assert "broke (RuntimeError)" in told[4] and "secret" not in told[4]
    assert told[5:] == ["There is no such note.", "seen"]
    flags = [block.get("is_error", False) for block in model.requests[1].messages[-1].content]
    assert flags == [True] * 6 + [False]


async def test_fifty_calls_in_one_answer(home: Home) -> None:
    agent, model = home.agent(Answer("", tuple(Call("look", {"n": n}) for n in range(50))), "ok")
    await end(agent, home.request("x", tool("look", lambda arguments: arguments["n"], reads_only=True)))
    assert sorted(int(str(result)) for result in results(model.requests[1].messages[-1])) == list(range(50))


async def test_calls_that_only_read_run_side_by_side_and_others_alone_in_order(home: Home) -> None:
    both = asyncio.Barrier(2)
    order: list[str] = []

    async def meet(arguments: Arguments) -> str:
        await both.wait()
        order.append("read")
        return "met"

    async def write(arguments: Arguments) -> str:
        order.append(f"write {arguments['n']}")
        return "written"

    calls = (Call("write", {"n": 1}), Call("meet"), Call("meet"), Call("write", {"n": 2}), Call("write", {"n": 3}))
    agent, _ = home.agent(Answer("", calls), "ok")
    await end(agent, home.request("x", tool("meet", meet, reads_only=True), tool("write", write)))
    assert order == ["write 1", "read", "read", "write 2", "write 3"]


async def test_ids_that_a_server_uses_again_are_made_distinct(home: Home) -> None:
    same = Answer("", (Call("look", {"n": 1}, "call_0"), Call("look", {"n": 2}, "call_0"), Call("look", {}, "bad id!")))
    agent, model = home.agent(same, same, "ok")
    await end(agent, home.request("x", tool("look", lambda arguments: arguments.get("n"))))
    content = [block for message in model.requests[-1].messages for block in message.content]
    ids = [block["id"] for block in content if block.get("type") == "tool_use"]
    assert len(set(map(str, ids))) == 6
    assert [block["tool_use_id"] for block in content if block.get("type") == "tool_result"] == ids


async def test_a_long_result_is_capped_and_says_so(home: Home) -> None:
    agent, model = home.agent(Call("look"), "ok")
    await end(agent, home.request("x", tool("look", lambda _: "y" * 200_000 + "\ud800")))
    (result,) = results(model.requests[1].messages[-1])
    assert len(str(result)) < MAX_RESULT_CHARS + 100 and "of 200,001 characters" in str(result)


async def test_an_endless_loop_of_tools_ends(home: Home) -> None:
    home.settings = AgentSettings(session=SessionSettings(max_tool_rounds=3))
    ran: list[Arguments] = []
    agent, model = home.agent(otherwise=Call("look"))
    ended = await end(agent, home.request("x", tool("look", ran.append)))
    assert ended.kind is EndKind.ERROR and "3 steps" in ended.text
    assert len(model.requests) == 4 and len(ran) == 3
    assert "used all 3 steps" in texts(model.requests[3].messages[-1])
    agent, model = home.agent("Sorry.")
    assert (await end(agent, home.request("stop that"))).text == "Sorry."


async def test_the_last_call_for_an_answer_is_heard(home: Home) -> None:
    home.settings = AgentSettings(session=SessionSettings(max_tool_rounds=2))
    agent, _ = home.agent(Call("look"), Call("look"), "This is what I have.")
    assert (await end(agent, home.request("x", tool("look", lambda _: "z")))).text == "This is what I have."


class Stumbling(ScriptedModel):
    """Streams half an answer, breaks off and begins again."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta("Half a")
        yield Restarted("The model is busy.", 30.0, "other")
        async for event in super().stream(request):
            yield event


async def test_a_restarted_stream_takes_its_text_back(home: Home) -> None:
    agent = Agent(home.settings, home.workspace, home.sessions, Stumbling("Whole."), home.clock)
    done = await events(agent, home.request())
    assert done[:3] == [Text("Half a"), Discard("The model is busy."), Text("Whole.")]
    assert isinstance(done[-1], End) and done[-1].text == "Whole."


async def test_a_failure_behind_words_keeps_the_words(home: Home) -> None:
    agent, _ = home.agent(Answer("On it.", (Call("look"),)), TryLater("The model is down."))
    ended = await end(agent, home.request("x", tool("look", lambda _: "z")))
    assert (ended.kind, ended.text) == (EndKind.ERROR, "On it.\n\nThe model is down.")


async def test_a_request_too_large_is_refused_before_it_is_sent(home: Home) -> None:
    home.settings = AgentSettings(model=ModelSettings(context_window=8_000))
    agent, model = home.agent(otherwise=Answer("ok", usage=Usage()))
    for _ in range(20):
        ended = await end(agent, home.request("word " * 1_000))
        if ended.kind is EndKind.ERROR:
            break
    assert ended.text == TOO_LONG and len(model.requests) < 10
    await agent.new_session(OWNER, home.owner)
    assert (await end(agent, home.request("hello"))).text == "ok"


async def test_a_megabyte_and_its_opposite(home: Home) -> None:
    agent, model = home.agent(otherwise="ok")
    for text in ("x" * 1_000_000, "", "   ", "\0\ud800\u202e"):
        assert (await end(agent, home.request(text))).text == "ok"
    said = [texts(message) for message in model.requests[-1].messages if message.role == "user"]
    assert "of 1,000,000 characters" in said[0] and len(said[0]) < 210_000
    assert said[1].endswith("(no text)") and said[2].endswith("(no text)")
    said[3].encode()


# --- steering, stopping, taking up ------------------------------------------------------------------------------------


async def test_what_is_said_meanwhile_joins_between_steps(home: Home) -> None:
    waiting: list[Said] = []

    def arrived() -> list[Said]:
        taken, waiting[:] = list(waiting), []
        return taken

    def say(_: Arguments) -> str:
        waiting.append(home.said("make it two", id="late"))
        return "looked"

    agent, model = home.agent(Call("look"), "Two, then.")
    done = await events(agent, home.request("one please", tool("look", say), arrived=arrived))
    assert Joined(("late",)) in done
    assert done[-1] == End(EndKind.REPLY, "Two, then.", Usage(20, 10), ("late",))
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
    agent, model = home.agent(Answer(["Once upon", " a time"], hold=hold, hold_at=1))
    request = home.request("tell me a story")

    async def consume() -> None:
        async with aclosing(agent.turn(request)) as stream:
            async for _ in stream:
                pass

    running = asyncio.create_task(consume())
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
    assert (await end(agent, request)).kind is EndKind.ERROR


async def test_a_turn_stopped_in_a_tool_gives_its_calls_results(home: Home) -> None:
    inside = asyncio.Event()

    async def hang(_: Arguments) -> str:
        inside.set()
        await asyncio.Event().wait()
        return "never"

    agent, model = home.agent(Answer("On it.", (Call("look"), Call("hang"), Call("look"))))
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
    look = tool("look", lambda arguments: ran.append(int(str(arguments["n"]))) or f"saw {arguments['n']}")
    agent, _ = home.agent(
        Answer("First.", (Call("look", {"n": 1}, "a"), Call("look", {"n": 2}, "b"))),
        Answer("Then.", (Call("look", {"n": 3}, "c"),)),
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
            Answer("First.", (Call("look", {"n": 1}, "a"), Call("look", {"n": 2}, "b"))),
            Answer("Then.", (Call("look", {"n": 3}, "c"),)),
            "Done.",
        ]
        made = sum(b'"role":"assistant"' in line for line in lines[1:count])
        agent, model = home.agent(*answers[made:])
        again = await end(agent, request)
        assert (again.kind, again.text) == (EndKind.REPLY, whole.text)
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
    with pytest.raises(NotJournaled):
        await end(agent, home.request())


# --- sessions ---------------------------------------------------------------------------------------------------------


async def test_a_new_session_leaves_the_talk_in_the_daily_log(home: Home) -> None:
    agent, model = home.agent("It flies at nine.", "Fresh.", "Back.")
    await end(agent, home.request("When is my flight to Lisbon?"))
    old = (await agent.sessions(OWNER))[0]
    fresh = (await agent.new_session(OWNER, home.owner)).info
    log = (home.workspace / "memory" / "2026-11-21.md").read_text()
    assert f"## 08:30 talk-when-is-my-flight-to-lisbon-{old.id}" in log.replace(" (", "-").replace("talk ", "talk-")
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
    agent, _ = home.agent(Answer("Let me see.", (Call("look", {"n": 1}),)), "Yes.")
    await end(agent, home.request("Is it there?", tool("look", lambda _: "found")))
    text = await agent.export(OWNER)
    assert "**Alice** · 2026-11-21 08:30\n\nIs it there?" in text
    assert "`look` gave: found" in text and text.endswith("Yes.\n")
    with pytest.raises(NoSuchSession):
        await agent.export(SessionKey("main", "owner/none"))


async def test_a_talk_as_markdown_names_what_came_along(home: Home) -> None:
    agent, _ = home.agent("Nice.", "Thanks.")
    picture = Picture("photo cat.png", f"media/aa/{'a' * 64}.png", f"media/aa/{'a' * 64}.png")
    said = replace(home.said("", id="a"), pictures=(picture,), documents=(Document("bill.pdf", "12 EUR"),))
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
    agent, _ = home.agent(Answer("", (Call("memory_search", {"query": "fact"}),)), "Seven.")
    early = await agent.context_report(OWNER, home.owner)
    assert early.session == "" and early.messages == 0 and not list(home.sessions.rglob("*.jsonl"))
    assert await agent.why(OWNER) is None and await agent.last_activity(OWNER) is None
    await end(agent, home.request("how many?"))
    now = await agent.context_report(OWNER, home.owner)
    (memory,) = (file for file in now.files if file.path == "MEMORY.md")
    assert (memory.lines, memory.total_lines, memory.is_cut) == ((1, 200), 300, True)
    assert memory.modified is not None and [share.name for share in now.system] == ["rules", "skills", "MEMORY.md"]
    assert now.messages == 4 and now.projected == 15 and now.fixed == early.fixed > 1_000
    assert now.budget.flush_at < now.budget.compact_at < now.budget.window == 200_000
    why = await agent.why(OWNER)
    assert why is not None and why.tools == ("memory_search",) and why.files[0].path == "MEMORY.md"
    assert await agent.last_activity(OWNER) == home.clock.now()


async def test_chats_do_not_wait_for_one_another(home: Home) -> None:
    hold = Hold()
    agent, _ = home.agent(Answer("slow", hold=hold), "quick")
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
