"""Servers of tools that want a login: the owner gets a link in their chat, opens it, and the next call works."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from tests import forked
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.mcp_http import FakeMcpHttp
from tests.fakes.oauth import FakeLoginServer, arrived, opened, query
from tests.fakes.telegram import FakeTelegram
from tests.fakes.telegram.world import Message
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.story import ALICE, BOB, Story, story
from tests.flows.test_canaries import kept
from tests.flows.test_mcp import asked, press, questions


@dataclass(slots=True)
class Far:
    """A server of tools, and the one at which its people log in."""

    http: FakeMcpHttp
    logins: FakeLoginServer

    def tools(self, **more: Any) -> dict[str, Any]:
        return {"mcp": {"far": {"url": self.http.url, **more}}}


@asynccontextmanager
async def far_away() -> AsyncIterator[Far]:
    async with FakeLoginServer() as logins, FakeMcpHttp(logins) as http:
        yield Far(http, logins)


def links(telegram: FakeTelegram, chat: int = ALICE) -> list[str]:
    """The links to log in that stand in a chat, oldest first."""
    entities = (one for message in telegram.messages(chat) for one in message.entities)
    return [str(one["url"]) for one in entities if one["type"] == "text_link" and "/authorize?" in one["url"]]


async def link(telegram: FakeTelegram, number: int = 1) -> str:
    await telegram.wait_for(lambda: len(links(telegram)) >= number)
    return links(telegram)[number - 1]


async def wants_login(home: Path) -> None:
    """Until the server was asked for its tools, and has said that it wants a login."""
    async with asyncio.timeout(60):
        while not list((home / "state" / "mcp" / "logins").glob("*.json")):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def offered(told: Story) -> set[str]:
    return {tool["name"] for tool in told.asked[-1].body["tools"] if "__" in tool["name"]}


async def asks(told: Story, question: str, tool: str, answer: str, **chat: Any) -> None:
    """Somebody asks, and the model calls a tool before it answers. Nothing else goes on before and after that."""
    await told.idle()
    told.model.answer(tool=(tool, {"text": "it"} if tool == "far__look" else {}))
    told.model.answer(answer)
    told.say(question, **chat)
    await told.hears(answer, chat.get("chat", ALICE))
    await told.idle()


async def test_a_first_need_brings_a_link_and_after_the_login_the_tools_are_there(tmp_path: Path) -> None:
    async with far_away() as far, story(tmp_path, tools=far.tools()) as told, told.running():
        await wants_login(told.home.path)
        await asks(told, "what is far away?", "far__login", "It waits for your login.")
        assert "needs its owner's login first" in told.last_asked
        invitation = await told.hears("To use far I need you to log in: 127.0.0.1")
        assert "daybook mcp login far" in invitation.text and not questions(told.telegram)
        status, page = await arrived(await opened(await link(told.telegram)), **{"Accept-Language": "de"})
        assert status == 200 and "Du bist bei far angemeldet" in page
        await told.hears("You are logged in to far at 127.0.0.1; it has 4 tools.")
        await asks(told, "and now?", "far__look", "May I?")
        assert "far__login" not in offered(told)
        await asked(told)
        assert "use the tool far: look for the first time" in questions(told.telegram)[-1].text
        press(told.telegram, "Yes")
        await told.hears("Found it far away")
        await asks(told, "and it?", "far__look", "It is far away.")
        assert not questions(told.telegram), "asked about once"
        assert len(links(told.telegram)) == 1
        told.no_request_was_refused()
        assert not told.telegram.messages(BOB) and far.logins.refused == []
        state = query(await link(told.telegram))["state"]
        seen = json.dumps([one.body for one in told.asked]) + "".join(one.read_text() for one in told.transcripts)
        assert state not in seen and "/authorize" not in seen and "canary" not in seen


async def test_a_grant_that_was_taken_back_is_asked_for_again_once(tmp_path: Path) -> None:
    async with far_away() as far, story(tmp_path, tools=far.tools()) as told:
        async with told.running():
            await wants_login(told.home.path)
            await asks(told, "what is far away?", "far__login", "It waits.")
            await arrived(await opened(await link(told.telegram)))
            await told.hears("You are logged in to far")
        far.logins.revoke()
        async with told.running():
            await asks(told, "look again", "far__look", "It waits once more.")
            await asked(told)
            assert len(links(told.telegram)) == 1, "nothing is needed of the server before the yes"
            press(told.telegram, "Yes")
            second = await link(told.telegram, 2)
            await told.hears("That didn't work (far needs its owner's login first: a link for it is in their private")
            await asks(told, "and again", "far__look", "It still waits.")
            assert len(links(told.telegram)) == 2, "one link is enough"
            assert not questions(told.telegram), "and one yes"
            await arrived(await opened(second))
            await told.telegram.wait_for(lambda: sum("You are logged in" in one for one in told.heard()) == 2)
            await asks(told, "once more", "far__look", "Here it is.")
            assert "Found it far away" in told.last_asked
    assert far.http.calls == ["look"]


async def test_a_no_is_told_and_the_next_need_asks_again(tmp_path: Path) -> None:
    async with far_away() as far, story(tmp_path, tools=far.tools()) as told, told.running():
        await wants_login(told.home.path)
        far.logins.declines = True
        await asks(told, "what is far away?", "far__login", "It waits.")
        await arrived(await opened(await link(told.telegram)))
        await told.hears("The login to far did not work: it was declined (access_denied).")
        await asks(told, "sorry, again", "far__login", "Look at your chat.")
        assert await link(told.telegram, 2) != await link(told.telegram)


async def test_what_another_person_needs_is_asked_of_the_owner_and_they_see_no_link(tmp_path: Path) -> None:
    tools_for_people = {"scopes": ["owner", "people"]}
    async with far_away() as far, story(tmp_path, tools=far.tools(**tools_for_people)) as told, told.running():
        told.model.answer("Hello.")
        told.say("hello")
        await told.hears("Hello.")
        await wants_login(told.home.path)
        await asks(told, "what is far away?", "far__login", "Its owner must log in.", chat=BOB, user=BOB, name="Bob")
        await link(told.telegram)
        assert links(told.telegram, BOB) == []
        far.logins.declines = True
        await arrived(await opened(await link(told.telegram)))
        await told.hears("did not work")
        await asks(told, "and now?", "far__login", "Not yet.", chat=BOB, user=BOB, name="Bob")
        assert len(links(told.telegram)) == 1, "others cannot have the owner asked again and again"


async def test_a_login_that_cannot_begin_is_said_to_the_model(tmp_path: Path) -> None:
    async with far_away() as far, story(tmp_path, tools=far.tools()) as told, told.running():
        await wants_login(told.home.path)
        far.logins.registers = False
        await asks(told, "what is far away?", "far__login", "It has no login for me.")
        assert "put a key of yours under headers" in told.last_asked and links(told.telegram) == []


async def test_the_page_takes_the_answer_and_only_with_its_state(tmp_path: Path) -> None:
    web = {"web": {"enabled": True, "port": 0}}
    async with far_away() as far, story(tmp_path, tools=far.tools(), channels=web) as told, told.running() as gateway:
        assert gateway.web is not None
        await gateway.web.begun.wait()
        await wants_login(told.home.path)
        await asks(told, "what is far away?", "far__login", "It waits.")
        back = await opened(await link(told.telegram))
        assert back.startswith(f"{gateway.web.address}/login/mcp?")
        wrong = back.replace(query(back)["state"], "x" * 43)
        assert (await arrived(wrong))[0] == 400
        embedded = {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        assert (await arrived(back, **embedded))[0] == 403, "only a person's browser goes there, no picture of a page"
        async with aiohttp.ClientSession() as browser, browser.head(back) as answer:
            assert answer.status == 401, "a preview that looks first uses nothing up"
        assert (await arrived(back))[0] == 200
        assert (await arrived(back))[0] == 400
        await told.hears("You are logged in to far")


async def test_in_the_terminal_the_address_is_pasted_with_and_without_a_gateway(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with far_away() as far, GatewayProcess(telegram, model, {"tools": far.tools()}) as gateway:
        await gateway.while_alive(wants_login(gateway.home))
        tested = await gateway.cli("mcp", "test", "far")
        assert tested.code == 1 and "far needs a login. `daybook mcp login far`" in tested.err
        assert (await gateway.cli("mcp", "list", "--json")).json()[0]["login"] == "needed"
        doctor = (await gateway.cli("doctor", "--json")).json()
        assert {"far needs a login"} == {one["message"] for one in doctor if one["check"] == "mcp"}

        out = await logs_in(gateway)
        assert "You are logged in at 127.0.0.1. far has 4 tools." in out
        listed = (await gateway.cli("mcp", "list", "--json")).json()[0]
        assert (listed["login"], listed["login_host"]) == ("done", "127.0.0.1")
        assert (await gateway.cli("mcp", "test", "far")).code == 0
        again = await gateway.cli("mcp", "login", "far")
        assert again.code == 1 and "ou are logged in at 127.0.0.1 already" in again.err

        model.answer(tool=("far__look", {"text": "it"}))
        model.answer("Here it is.")
        telegram.say("what is far away?")
        await gateway.while_alive(
            telegram.wait_for(lambda: [one for one in said(telegram) if "Here it is." in one.text])
        )
        assert (await gateway.cli("mcp", "logout", "far")).out == "Daybook is logged out of far.\n"
        await gateway.terminate()

        assert "far has 4 tools" in await logs_in(gateway)
        assert (await gateway.cli("mcp", "test", "far")).code == 0
        assert (await gateway.cli("mcp", "logout", "far")).out == "Daybook is logged out of far.\n"
        assert (await gateway.cli("mcp", "logout", "far")).out == "Daybook was not logged in at far.\n"
        assert far.logins.refused == []


async def logs_in(gateway: GatewayProcess) -> str:
    """`daybook mcp login far`, whose owner opens the link elsewhere and pastes first nonsense, then the address."""
    process = await forked.create_subprocess_exec(
        *gateway._command,
        "--home",
        str(gateway.home),
        "mcp",
        "login",
        "far",
        env=gateway.environ,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    out = b""
    async with asyncio.timeout(120):
        while b"/authorize?" not in out:
            out += await process.stdout.readline()
        address = next(line for line in out.decode().splitlines() if "/authorize?" in line)
        process.stdin.write(f"hello\n{await opened(address)}\n".encode())
        await process.stdin.drain()
        rest, _ = await process.communicate()
    assert process.returncode == 0
    return (out + rest).decode()


def said(telegram: FakeTelegram) -> list[Message]:
    return telegram.messages(OWNER)


async def test_killed_between_the_login_and_its_token_the_owner_is_asked_anew(
    telegram: FakeTelegram, model: FakeAnthropic
) -> None:
    async with far_away() as far, GatewayProcess(telegram, model, {"tools": far.tools()}) as gateway:
        await gateway.while_alive(wants_login(gateway.home))
        far.logins.may_answer.clear()
        first = await needed(gateway, telegram, model, 1)
        coming_back = asyncio.create_task(arrived(await opened(first)))
        await gateway.while_alive(far.logins.at_token.wait())
        await gateway.kill()
        await asyncio.wait([coming_back])
        assert coming_back.exception() is not None, "the browser sees that it broke off"
        far.logins.may_answer.set()
        await gateway.start()
        assert (await gateway.cli("mcp", "list", "--json")).json()[0]["login"] == "needed"
        await arrived(await opened(await needed(gateway, telegram, model, 2)))
        await gateway.while_alive(telegram.wait_for(lambda: [one for one in said(telegram) if "it has 4" in one.text]))
        assert not list((gateway.home / "state" / "mcp" / "logins").glob("*.new"))


async def needed(gateway: GatewayProcess, telegram: FakeTelegram, model: FakeAnthropic, number: int) -> str:
    answer = f"It waits {number}."
    model.answer(tool=("far__login", {}))
    model.answer(answer)
    telegram.say("what is far away?")
    await gateway.while_alive(telegram.wait_for(lambda: [one for one in said(telegram) if answer in one.text]))
    return await gateway.while_alive(link(telegram, number))


async def test_no_token_is_anywhere_but_in_its_file(telegram: FakeTelegram, model: FakeAnthropic) -> None:
    async with far_away() as far:
        settings = {
            "tools": far.tools(ask="none"),
            "log": {"level": "debug"},
            "channels": {"web": {"enabled": True, "port": 0}},
        }
        async with GatewayProcess(telegram, model, settings) as gateway:
            await gateway.while_alive(wants_login(gateway.home))
            await arrived(await opened(await needed(gateway, telegram, model, 1)))
            await gateway.while_alive(
                telegram.wait_for(lambda: [one for one in said(telegram) if "it has 4" in one.text])
            )
            far.logins.end_tokens()
            model.answer(tool=("far__look", {"text": "it"}))
            model.answer("Here it is.")
            telegram.say("look")
            await gateway.while_alive(
                telegram.wait_for(lambda: [one for one in said(telegram) if "Here it is." in one.text])
            )
            assert "refresh_token" in far.logins.calls
            commands = [["config", "show"], ["mcp", "list"], ["mcp", "test", "far"], ["doctor"], ["sessions", "list"]]
            ran = [await gateway.cli(*command) for command in commands]
            far.logins.revoke()
            ran += [await gateway.cli(*command) for command in commands]
            await gateway.terminate()
            files = set(gateway.home.rglob("logins/*.json"))
            assert len(files) == 1
            for one in files:
                one.unlink()
            shown = {
                "log": gateway.log,
                "commands": "".join(one.out + one.err for one in ran),
                "chat": "".join(one.text for one in said(telegram)),
                "model": "".join(one.text for one in model.requests),
                "disk": kept(gateway.home),
            }
    secret = far.logins.secrets
    assert len(secret) >= 5
    assert [(one, where) for one in secret for where, text in shown.items() if one in text] == []
