"""Whatever a model answers, or fails to, a turn ends in words, in silence or in a sentence that says why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent.agent import Agent
from agent.model.base import (
    AccessDenied,
    Block,
    ContextOverflow,
    ModelEvent,
    ModelRequest,
    Restarted,
    TextDelta,
    TryLater,
    Usage,
)
from agent.model.scripted import Call, ScriptedAnswer, ScriptedModel, Step
from agent.settings import AgentSettings, ModelSettings, SessionSettings
from agent.tools.base import ToolError
from agent.turn.loop import GO_ON
from agent.turn.outcome import CUT_OFF, DECLINED, EMPTY, TOO_LONG
from agent.turn.tool_calls import CUT_CALL, MAX_RESULT_CHARS
from agent.values import ReplyText, ResultKind, TextReset, TurnResult
from tests.agent.home import OWNER, Home, Numbered, end, events, results, texts, tool

THOUGHT: Block = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        ("NO_REPLY", ResultKind.SILENCE, ""),
        (" no_reply\n", ResultKind.SILENCE, ""),
        ("Done. NO_REPLY", ResultKind.REPLY, "Done."),
        ("No, thanks.", ResultKind.REPLY, "No, thanks."),
        (ScriptedAnswer("Half a sen", stop_reason="max_tokens"), ResultKind.REPLY, f"Half a sen\n\n{CUT_OFF}"),
        (ScriptedAnswer("", stop_reason="refusal"), ResultKind.ERROR, DECLINED),
        (ScriptedAnswer("Some", stop_reason="model_context_window_exceeded"), ResultKind.REPLY, f"Some\n\n{TOO_LONG}"),
        (ScriptedAnswer("", stop_reason="model_context_window_exceeded"), ResultKind.ERROR, TOO_LONG),
        (ScriptedAnswer("Fine.", stop_reason="of_the_future"), ResultKind.REPLY, "Fine."),
        (ScriptedAnswer("Fine.", stop_reason="stop_sequence"), ResultKind.REPLY, "Fine."),
        (AccessDenied("The key is wrong; check it."), ResultKind.ERROR, "The key is wrong; check it."),
        (TryLater("The model is overloaded."), ResultKind.ERROR, "The model is overloaded."),
    ],
)  # fmt: skip
async def test_every_answer_ends_in_words_or_silence(home: Home, answer: Step, kind: ResultKind, text: str) -> None:
    agent, _ = home.agent(answer, "next")
    ended = await end(agent, home.request())
    assert (ended.kind, ended.text) == (kind, text)
    assert (await end(agent, home.request("and now?"))).text == "next"


@pytest.mark.parametrize(
    "empty",
    [
        ScriptedAnswer(""),
        ScriptedAnswer("", blocks=(THOUGHT,)),
        ScriptedAnswer(" \n "),
        ScriptedAnswer("\u200b\u2060"),
        ScriptedAnswer("\u3164"),
    ],
)
async def test_an_empty_answer_is_asked_for_once_more_then_told(home: Home, empty: ScriptedAnswer) -> None:
    agent, model = home.agent(empty, "Here.")
    assert (await end(agent, home.request())).text == "Here."
    assert "was empty" in texts(model.requests[1].messages[-1])
    agent, model = home.agent(empty, empty, "next")
    ended = await end(agent, home.request())
    assert (ended.kind, ended.text) == (ResultKind.ERROR, EMPTY)
    assert (await end(agent, home.request())).text == "next"


async def test_an_empty_end_behind_words_is_no_empty_answer(home: Home) -> None:
    agent, _ = home.agent(ScriptedAnswer("All noted.", (Call("memory_append", {"text": "x"}),)), ScriptedAnswer(""))
    assert (await end(agent, home.request())).text == "All noted."


async def test_a_paused_answer_is_continued(home: Home) -> None:
    agent, model = home.agent(ScriptedAnswer("First half", stop_reason="pause_turn"), "second half.")
    assert (await end(agent, home.request())).text == "First half\n\nsecond half."
    assert GO_ON in str(model.requests[1].messages[-1].content)


async def test_an_answer_paused_in_a_tool_of_the_servers_is_sent_back_as_it_is(home: Home) -> None:
    search: Block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tea"}}
    agent, model = home.agent(
        ScriptedAnswer(blocks=({"type": "text", "text": "Looking."}, search), stop_reason="pause_turn"), "Found it."
    )
    assert (await end(agent, home.request())).text == "Looking.\n\nFound it."
    assert model.requests[1].messages[-1].role == "assistant"
    assert model.requests[1].messages[-1].content[-1] == search


async def test_a_cut_call_is_not_run(home: Home) -> None:
    ran: list[Numbered] = []
    agent, model = home.agent(ScriptedAnswer("", (Call("look", {"n": 1}),), stop_reason="max_tokens"), "Shorter.")
    ended = await end(agent, home.request("x", tool("look", ran.append)))
    assert ended.text == "Shorter." and not ran
    assert results(model.requests[1].messages[-1]) == [CUT_CALL]


async def test_calls_that_cannot_be_run_get_an_error_that_says_why(home: Home) -> None:
    def broken(_: Numbered) -> str:
        raise RuntimeError("a secret inside")

    def refuses(_: Numbered) -> str:
        raise ToolError("There is no such note.")

    calls = (
        Call("nothing", {}), Call("look", "{garbage"), Call("look", {"n": "three"}), Call("look", {"m": 1}),
        Call("broken", {}), Call("refuses", {}), Call("look", {"n": 4}),
    )  # fmt: skip
    agent, model = home.agent(ScriptedAnswer("", calls), "ok")
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
    agent, model = home.agent(ScriptedAnswer("", tuple(Call("look", {"n": n}) for n in range(50))), "ok")
    await end(agent, home.request("x", tool("look", lambda arguments: arguments.n, reads_only=True)))
    assert sorted(int(str(result)) for result in results(model.requests[1].messages[-1])) == list(range(50))


async def test_calls_that_only_read_run_side_by_side_and_others_alone_in_order(home: Home) -> None:
    both = asyncio.Barrier(2)
    order: list[str] = []

    async def meet(arguments: Numbered) -> str:
        await both.wait()
        order.append("read")
        return "met"

    async def write(arguments: Numbered) -> str:
        order.append(f"write {arguments.n}")
        return "written"

    calls = (Call("write", {"n": 1}), Call("meet"), Call("meet"), Call("write", {"n": 2}), Call("write", {"n": 3}))
    agent, _ = home.agent(ScriptedAnswer("", calls), "ok")
    await end(agent, home.request("x", tool("meet", meet, reads_only=True), tool("write", write)))
    assert order == ["write 1", "read", "read", "write 2", "write 3"]


async def test_ids_that_a_server_uses_again_are_made_distinct(home: Home) -> None:
    same = ScriptedAnswer(
        "", (Call("look", {"n": 1}, "call_0"), Call("look", {"n": 2}, "call_0"), Call("look", {}, "bad id!"))
    )
    agent, model = home.agent(same, same, "ok")
    await end(agent, home.request("x", tool("look", lambda arguments: arguments.n)))
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
    ran: list[Numbered] = []
    agent, model = home.agent(otherwise=Call("look"))
    ended = await end(agent, home.request("x", tool("look", ran.append)))
    assert ended.kind is ResultKind.ERROR and "3 steps" in ended.text
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
    assert done[:3] == [ReplyText("Half a"), TextReset("The model is busy."), ReplyText("Whole.")]
    assert isinstance(done[-1], TurnResult) and done[-1].text == "Whole."


async def test_a_failure_behind_words_keeps_the_words(home: Home) -> None:
    agent, _ = home.agent(ScriptedAnswer("On it.", (Call("look"),)), TryLater("The model is down."))
    ended = await end(agent, home.request("x", tool("look", lambda _: "z")))
    assert (ended.kind, ended.text) == (ResultKind.ERROR, "On it.\n\nThe model is down.")


async def test_where_one_message_does_not_fit_a_new_talk_is_no_help(home: Home) -> None:
    agent, _ = home.agent(otherwise=ContextOverflow("too long: 200001 tokens"))
    ended = await end(agent, home.request())
    assert ended.kind is ResultKind.ERROR and "/new" not in ended.text and "`model.context_window`" in ended.text


async def test_a_request_too_large_is_refused_before_it_is_sent(home: Home) -> None:
    home.settings = AgentSettings(model=ModelSettings(context_window=8_000))
    agent, model = home.agent(otherwise=ScriptedAnswer("ok", usage=Usage()))
    for _ in range(20):
        ended = await end(agent, home.request("word " * 1_000))
        if ended.kind is ResultKind.ERROR:
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
