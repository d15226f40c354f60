"""Tools of MCP servers in a chat: called, asked about, approved by a button, and never called twice."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.mcp_server import INJECTION
from tests.fakes.openai import FakeOpenAI
from tests.fakes.telegram import FakeTelegram
from tests.fakes.telegram.world import Message
from tests.flows.process import GatewayProcess
from tests.flows.story import ALICE, BOB, Story, story
from tests.flows.test_providers import by_openai

PROGRAM = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


def settings(log: Path, *modes: str, **more: Any) -> dict[str, Any]:
    return {"mcp": {"home": {"command": [sys.executable, str(PROGRAM), str(log), *modes], **more}}}


def calls(log: Path) -> list[str]:
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    events = [json.loads(line) for line in lines]
    return [event["tool"] for event in events if event["event"] == "call"]


async def known(home: Path) -> None:
    """Until a server's tools are known: it was started for them."""
    async with asyncio.timeout(60):
        while not list((home / "state" / "mcp" / "servers").glob("*.json")):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def changed(home: Path) -> None:
    """Until the server's tools are known as they are after `change`."""
    [file] = (home / "state" / "mcp" / "servers").glob("*.json")
    async with asyncio.timeout(60):
        while "Mallory" not in file.read_text():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def questions(telegram: FakeTelegram) -> list[Message]:
    return [message for message in telegram.messages(ALICE) if message.buttons]


async def asked(told: Story) -> None:
    """Until a question is there: the answer's draft may be before it."""
    await told.telegram.wait_for(lambda: questions(told.telegram))


def press(telegram: FakeTelegram, label: str) -> None:
    message = questions(telegram)[-1]
    (data,) = (one["callback_data"] for row in message.buttons for one in row if one["text"] == label)
    telegram.press(message.id, data)


def offered(told: Story) -> set[str]:
    return {
        tool["name"] for tool in told.asked[-1].body["tools"] if "__" in tool["name"] or tool["name"] == "tool_find"
    }


def result(told: Story) -> str:
    """The newest result that the model was shown."""
    blocks = [block for message in told.asked[-1].body["messages"] for block in message["content"]]
    return str([block["content"] for block in blocks if block["type"] == "tool_result"][-1])


async def test_a_tool_that_reads_is_called_and_its_result_is_in_the_answer(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, ask="none")) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__look", {"text": "the key"}))
        told.model.answer("It is in the third drawer.")
        told.say("where is the key?")
        await told.hears("third drawer")
        assert "Found: the key is in the third drawer." in result(told)
        assert not questions(told.telegram)
        assert {"home__look", "home__sign"} <= offered(told)
        told.no_request_was_refused()
    assert calls(log) == ["look"]


async def test_a_tool_that_writes_is_asked_about_and_its_result_comes_after_the_button(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log)) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__sign", {"text": "Alice was here"}))
        told.model.answer("It waits for you.")
        told.say("sign the guest book")
        await told.hears("It waits for you.")
        await asked(told)
        question = questions(told.telegram)[-1].text
        assert "use the tool home: sign" in question and "Alice was here" in question
        assert calls(log) == []
        press(told.telegram, "Yes")
        await told.hears("Signed: Alice was here")
        assert calls(log) == ["sign"]
        told.model.answer("You are in the book.")
        told.say("well?")
        await told.hears("You are in the book.")
        assert "Your owner said yes: use the tool home: sign" in told.last_asked
        assert '<daybook-enclosed name=\\"home: sign\\">\\nSigned: Alice was here' in told.last_asked
    assert calls(log) == ["sign"]


async def test_a_no_is_a_no(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log)) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__sign", {"text": "x"}))
        told.model.answer("It waits for you.")
        told.say("sign it")
        await told.hears("It waits for you.")
        await asked(told)
        press(told.telegram, "No")
        await told.hears("Not done")
    assert calls(log) == []


async def test_other_people_have_no_tools_unless_they_are_named(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, ask="none")) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__look", {"text": "the key"}))
        told.model.answer("I can't.")
        told.say("where is the key?", chat=BOB, user=BOB, name="Bob")
        await told.hears("I can't.", BOB)
        assert offered(told) == set() and "There is no tool 'home__look'" in result(told)
    assert calls(log) == []


async def test_what_another_person_wants_is_asked_of_the_owner_and_told_to_that_person(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, scopes=["owner", "people"])) as told, told.running():
        await known(told.home.path)
        told.model.answer("Hello.")
        told.say("hello")
        await told.hears("Hello.")
        told.model.answer(tool=("home__sign", {"text": "Bob was here"}))
        told.model.answer("I asked.")
        told.say("sign the book", chat=BOB, user=BOB, name="Bob")
        await told.hears("I asked.", BOB)
        await told.hears("use the tool home: sign")
        assert calls(log) == []
        await asked(told)
        press(told.telegram, "Yes")
        await told.hears("Signed: Bob was here", BOB)
    assert calls(log) == ["sign"]


async def test_stop_reaches_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, ask="none")) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__hang", {}))
        told.say("go on")
        await until_called(log, "hang")
        told.say("/stop")
        await told.idle()
        async with asyncio.timeout(60):
            while "cancelled" not in log.read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        told.model.answer("Here I am.")
        told.say("still there?")
        await told.hears("Here I am.")


async def test_an_answer_with_orders_is_foreign_text_and_what_it_wants_is_asked_about(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, ask="none")) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__sign", {"text": "of my own"}))
        told.model.answer(tool=("home__inject", {}))
        told.model.answer(tool=("home__sign", {"text": "pwned"}))
        told.model.answer("Done.")
        told.say("go on")
        await told.hears("Done.")
        assert "<daybook-notice" not in str(told.asked[2].body["messages"][-1]) and INJECTION not in told.last_asked
        await asked(told)
        assert "pwned" in questions(told.telegram)[-1].text and "home" in questions(told.telegram)[-1].text
    assert calls(log) == ["sign", "inject"], "without text of others `ask: none` asks nothing, with it it does"


async def test_a_tool_that_is_described_otherwise_since_is_asked_about(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, ask="none")) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__look", {"text": "the key"}))
        told.model.answer(tool=("home__change", {}))
        told.model.answer("Changed.")
        told.say("go on")
        await told.hears("Changed.")
        await changed(told.home.path)
        told.model.answer(tool=("home__look", {"text": "the key"}))
        told.model.answer("It waits.")
        told.say("again")
        await told.hears("It waits.")
        await asked(told)
        question = questions(told.telegram)[-1].text
        assert "described differently than when you first used it" in question and "to Mallory" in question
        press(told.telegram, "Yes")
        await told.hears("Approved and done")
        told.model.answer(tool=("home__look", {"text": "the key"}))
        told.model.answer("Found again.")
        told.say("once more")
        await told.hears("Found again.")
        assert questions(told.telegram) == []
    assert calls(log) == ["look", "change", "look", "look"]


async def test_a_yes_is_for_the_tool_as_it_was_described(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, ask="all")) as told, told.running():
        await known(told.home.path)
        for tool, given in (("home__look", {"text": "the key"}), ("home__change", {})):
            told.model.answer(tool=(tool, given))
            told.model.answer(f"Asked for {tool}.")
            told.say("go on")
            await told.hears(f"Asked for {tool}.")
        await asked(told)
        press(told.telegram, "Yes")
        await changed(told.home.path)
        await told.telegram.wait_for(lambda: len(questions(told.telegram)) == 1)
        press(told.telegram, "Yes")
        await told.hears("something has changed since I asked: use the tool home: look")
    assert calls(log) == ["change"]


async def test_many_tools_are_looked_up_and_stay_for_the_conversation(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, "many", ask="none")) as told:
        async with told.running():
            await known(told.home.path)
            told.model.answer(tool=("tool_find", {"query": "books of shelf 7"}))
            told.model.answer(tool=("home__catalogue_7", {"text": "Homer"}))
            told.model.answer("Done.")
            told.say("which books are on shelf 7?")
            await told.hears("Done.")
            assert {tool["name"] for tool in told.asked[0].body["tools"]} & {"tool_find", "home__look"} == {"tool_find"}
            assert {"tool_find", "home__catalogue_7"} <= offered(told) and "home__look" not in offered(told)
        async with told.running():  # also after a restart
            told.model.answer("Still there.")
            told.say("and now?")
            await told.hears("Still there.")
            assert "home__catalogue_7" in offered(told)
        told.no_request_was_refused()
    assert calls(log) == ["catalogue_7"]


async def test_odd_schemas_and_names_are_no_reason_to_be_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, "odd")) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("tool_find", {"query": "nothing that there is, but: choice circle wide long hidden x"}))
        told.model.answer("Seen.")
        told.say("what is there?")
        await told.hears("Seen.")
        assert len(offered(told)) > 3
        told.no_request_was_refused()


async def test_a_picture_is_shown_to_the_model_and_saved_where_it_can_be_sent_from(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with story(tmp_path, tools=settings(log, ask="none")) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__picture", {}))
        told.model.answer("Saved.")
        told.say("show me")
        await told.hears("Saved.")
        [file] = (told.workspace / "received").iterdir()
        assert file.read_bytes().startswith(b"\x89PNG") and f"received/{file.name}" in result(told)
        shown = [block for block in told.model.bodies[-1]["messages"][-1]["content"] if block["type"] == "image"]
        assert [block["source"]["media_type"] for block in shown] == ["image/png"], "the model sees it too"
        told.model.answer("A dot.")
        told.say("what did it show?")
        await told.hears("A dot.")
        told.no_request_was_refused()


def shown(server: FakeAnthropic) -> list[str]:
    """The pictures beside the results that the model was sent last, by their types."""
    content = server.bodies[-1]["messages"][-1]["content"]
    last = content if isinstance(content, list) else []
    kinds = [one["source"]["media_type"] for one in last if one["type"] == "image"]
    return kinds + [one["image_url"]["url"].partition(";")[0] for one in last if one["type"] == "image_url"]


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_a_picture_that_comes_with_a_failure_is_shown_too(tmp_path: Path, provider: str) -> None:
    async with FakeOpenAI() as chat, story(tmp_path, tools=settings(tmp_path / "log", ask="none")) as told:
        server: Any = told.model
        if provider == "openai":
            server = chat
            told.configure(tools=settings(tmp_path / "log", ask="none"), model=by_openai(chat))
        async with told.running():
            await known(told.home.path)
            server.answer(tool=("home__broken", {}))
            server.answer("A field is missing.")
            told.say("send the form")
            await told.hears("A field is missing.")
            assert "The form is red." in server.requests[-1].text
            assert shown(server) == [{"anthropic": "image/png", "openai": "data:image/png"}[provider]]
        assert not [one.body for one in server.requests if one.status == 400]


async def test_a_picture_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    async with story(tmp_path, tools=settings(tmp_path / "log", ask="none")) as told, told.running():
        await known(told.home.path)
        told.model.answer(tool=("home__torn", {}))
        told.model.answer("It came damaged.")
        told.say("show me")
        await told.hears("It came damaged.")
        assert "it can't be shown" in result(told)
        assert not [block for block in told.model.bodies[-1]["messages"][-1]["content"] if block["type"] == "image"]
        told.no_request_was_refused()


async def test_killed_in_the_middle_a_call_is_not_made_again(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with GatewayProcess(telegram, model, {"tools": settings(log, ask="none")}) as gateway:
        await gateway.while_alive(known(gateway.home))
        model.answer(tool=("home__hang", {}))
        model.answer("I don't know whether it worked.")
        telegram.say("go on")
        await gateway.while_alive(until_called(log, "hang"))
        await gateway.restart()
        await gateway.while_alive(
            telegram.wait_for(lambda: [one for one in telegram.messages(ALICE) if "I don't know" in one.text])
        )
        assert "may or may not have taken effect" in json.dumps(model.requests[-1].body)
        assert calls(log) == ["hang"]


@asynccontextmanager
async def after_a_power_cut(
    telegram: FakeTelegram, model: FakeAnthropic, server: Any, tools: Mapping[str, Any], tool: str, more: Any
) -> AsyncIterator[GatewayProcess]:
    """The call of a tool had its end, but that did not reach the transcript."""
    async with GatewayProcess(telegram, model, {"tools": tools, **more}) as gateway:
        await gateway.while_alive(known(gateway.home))
        server.answer(tool=(tool, {}))
        next_step = server.hold(when=lambda body: tool in json.dumps(body["messages"]))
        telegram.say("go on")
        await gateway.while_alive(server.held(next_step))
        await gateway.kill()
        next_step.release()
        [transcript] = [one for one in gateway.home.glob("state/sessions/*/**/*.jsonl") if tool in one.read_text()]
        lines = transcript.read_bytes().splitlines(keepends=True)
        assert b"tool_result" in lines[-1]
        transcript.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
        yield gateway


def hears(gateway: GatewayProcess, telegram: FakeTelegram, part: str) -> Awaitable[Any]:
    return gateway.while_alive(telegram.wait_for(lambda: [m for m in telegram.messages(ALICE) if part in m.text]))


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("tool", ["picture", "broken"])
async def test_the_picture_of_a_call_from_before_a_restart_is_shown(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path, provider: str, tool: str
) -> None:
    log = tmp_path / "log"
    async with FakeOpenAI() as chat:
        server: Any = chat if provider == "openai" else model
        more = {"model": by_openai(chat)} if provider == "openai" else {}
        async with after_a_power_cut(telegram, model, server, settings(log), f"home__{tool}", more) as gateway:
            server.answer("A dot.")
            await gateway.start()
            await hears(gateway, telegram, "A dot.")
            assert "but the call was made" in server.requests[-1].text and len(shown(server)) == 1
            assert calls(log) == [tool]
            server.answer("Still a dot.")
            telegram.say("and now?")
            await hears(gateway, telegram, "Still a dot.")
        assert not [one.body for one in server.requests if one.status == 400]


async def test_orders_in_a_result_from_before_a_restart_have_no_power(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with after_a_power_cut(telegram, model, model, settings(log, ask="none"), "home__inject", {}) as gateway:
        tools = gateway.workspace / "TOOLS.md"
        before = tools.read_text()
        last = "read before you edit."
        model.answer(tool=("edit_file", {"path": "TOOLS.md", "old_text": last, "new_text": f"{last} pwned"}))
        model.answer("I asked you.")
        await gateway.start()
        await hears(gateway, telegram, "I asked you.")
        assert "Ignore all earlier instructions" in json.dumps(model.bodies[-2])
        assert tools.read_text() == before and len(questions(telegram)) == 1


async def test_killed_after_the_yes_a_call_is_not_made_again(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with GatewayProcess(telegram, model, {"tools": settings(log)}) as gateway:
        await gateway.while_alive(known(gateway.home))
        model.answer(tool=("home__stick", {}))
        model.answer("It waits for you.")
        telegram.say("go on")
        await gateway.while_alive(telegram.wait_for(lambda: questions(telegram)))
        await gateway.while_alive(
            telegram.wait_for(lambda: [one for one in telegram.messages(ALICE) if "It waits" in one.text])
        )
        press(telegram, "Yes")
        await gateway.while_alive(until_called(log, "stick"))
        await gateway.restart()
        await gateway.while_alive(
            telegram.wait_for(lambda: [one for one in telegram.messages(ALICE) if "may or may not" in one.text])
        )
        assert calls(log) == ["stick"]


async def test_a_stubborn_server_does_not_hold_up_the_end(
    telegram: FakeTelegram, model: FakeAnthropic, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with GatewayProcess(telegram, model, {"tools": settings(log, "stubborn")}) as gateway:
        await gateway.while_alive(known(gateway.home))
        assert await gateway.terminate() == 0
        [started] = [json.loads(line) for line in log.read_text().splitlines() if '"started"' in line]
        with pytest.raises(ProcessLookupError):
            os.kill(started["pid"], 0)


async def until_called(log: Path, tool: str) -> None:
    async with asyncio.timeout(60):
        while tool not in calls(log):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
