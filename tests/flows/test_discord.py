"""People in Discord: a whole gateway between a strict Discord and a strict model, also killed and started again."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from channels.discord.outbound import nonce
from gateway.home import Home
from gateway.messages.outbox import REPEAT_MARK
from gateway.server import Gateway
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import Channel, Message, User
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import COMMAND, GatewayProcess
from tests.flows.server import OWNER, Server, living
from tests.strength import first


async def test_a_talk_in_private_and_in_a_server(home: Home, server: Server, model: FakeAnthropic) -> None:
    thread = server.general.thread("boat")
    async with living(home, server, model):
        model.answer("In private.")
        await server.say("hello")
        await server.hears("In private.")

        await server.say("the boat is blue", server.general, server.bob)
        model.answer("It is blue.")
        called = await server.call("which colour?")
        seen = await server.hears("It is blue.", server.general)
        assert seen.reference is called and seen.pinged == set()
        asked = model.requests[-1].last_user_text
        assert "the boat is blue" in asked and "Bob" in asked and "which colour?" in asked
        assert "hello" not in str(model.requests[-1].body)

        model.answer("A thread of its own.")
        await server.call("and here?", thread)
        await server.hears("A thread of its own.", thread)
        assert "It is blue." not in str(model.requests[-1].body)
    assert len(model.requests) == 3


async def test_a_long_answer_is_begun_and_sent_whole_as_a_document(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    answer = "\n\n".join(f"**Paragraph** {n:04} " + "words of it " * 30 for n in range(80)).strip()
    async with living(home, server, model):
        model.answer([answer[:3000], answer[3000:]])
        await server.say("tell me everything")
        beginning = await server.hears("whole answer is in the file")
        document = await server.discord.wait_for(
            lambda: next((one for one in server.discord.messages(server.dm) if one.attachments), None)
        )
    assert server.heard() == [beginning.content, ""] and beginning.content.startswith("**Paragraph** 0000")
    assert document is not None
    (file,) = document.attachments
    assert file.name.startswith("answer-") and file.name.endswith(".md")
    assert server.discord.files[file.id].content.decode() == answer


async def test_what_is_not_for_the_bot(home: Home, server: Server, model: FakeAnthropic) -> None:
    elsewhere = server.discord.guild("Elsewhere").text("general")
    robot = server.discord.user("Robot", bot=True)
    async with living(home, server, model):
        await server.call("hi", elsewhere)
        await server.call("hi", by=robot)
        await server.say("hi", server.general, server.bob, webhook=True, mentions=[server.discord.bot])
        await server.say("", server.general, server.bob, type=7)
        await server.say("just talking", server.general, server.bob)
        model.answer("For me.")
        await server.call("to you")
        await server.hears("For me.", server.general)
    assert len(model.requests) == 1 and server.heard(elsewhere) == []


async def test_a_channel_that_is_not_on_the_list(home: Home, server: Server, model: FakeAnthropic) -> None:
    listed = server.guild.text("bots")
    post = server.guild.forum("ideas").post("A boat", "let us build one", server.bob)
    guilds = {
        str(server.guild.id): {"channels": [str(listed.id)], "mention": "optional", "allow": [str(server.bob.id)]}
    }
    async with living(home, server, model, guilds=guilds):
        await server.call("not here")
        await server.call("nor here", post)
        await server.say("nor by her", listed, server.owner)
        model.answer("Here.")
        await server.say("without a mention", listed, server.bob)
        await server.hears("Here.", listed)
    assert len(model.requests) == 1
    assert server.heard(server.general) == server.heard(post) == []


async def test_a_stranger_is_offered_pairing(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        await server.say("hello?", server.discord.dm(server.bob), server.bob)
        await server.hears("daybook pair approve", server.discord.dm(server.bob))
    assert model.requests == []


async def test_a_long_answer_grows_by_edits_and_ends_formatted(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model):
        writing = model.hold(after=2)
        model.answer(["The first words, ", "and more of them, ", "and the end.\n\n| a | b |\n|---|---|\n| 1 | 2 |"])
        await server.say("tell me")
        await model.held(writing)
        growing = await server.hears("The first words")
        writing.release()
        done = await server.hears("and the end.")
        assert done is growing and done.edits >= 1 and "```" in done.content
        assert len(server.heard()) == 1


async def test_an_answer_of_many_messages_keeps_its_code(home: Home, server: Server, model: FakeAnthropic) -> None:
    code = "\n".join(f"print({number})  # line {number}" for number in range(200))
    async with living(home, server, model):
        model.answer(f"Here it is.\n\n```python\n{code}\n```\n\nThat is all.")
        await server.say("code, please")
        await server.hears("That is all.")
    pieces = server.heard()
    assert len(pieces) > 2 and all(len(piece) <= 2000 for piece in pieces)
    assert all(piece.count("```") == 2 and "```python" in piece for piece in pieces)
    assert [f"line {number}" in "".join(pieces) for number in range(200)] == [True] * 200


async def test_commands_from_the_menu(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        await server.discord.wait_for(lambda: any(call.method == "PUT" for call in server.discord.calls))
        await server.discord.slash(server.owner, server.dm, "whoami")
        answer = await server.hears(str(OWNER))
        assert answer.ephemeral
        await server.discord.slash(server.bob, server.general, "help")
        await server.hears("/new", server.general)
        assert server.discord.messages(server.general, seen_by=server.owner) == []
    async with living(home, server, model):
        pass
    puts = [call for call in server.discord.calls if call.method == "PUT" and call.path.endswith("/commands")]
    assert len(puts) == 1


@asynccontextmanager
async def menu_of(home: Home, server: Server, model: FakeAnthropic, **discord: Any) -> AsyncIterator[Gateway]:
    async with living(home, server, model, **discord) as gateway:
        await server.discord.wait_for(lambda: server.discord.called("PUT", "/commands$"))
        yield gateway


async def answered(server: Server, by: User, chat: Channel, name: str, text: str = "") -> Message:
    """The answer to a command, which its giver alone sees, and nobody waits for any more."""
    given = await server.discord.slash(by, chat, name, {"text": text} if text else None)
    await server.discord.wait_for(lambda: given.answer is not None and given.answer.content)
    assert given.answer is not None and given.answer.ephemeral and not server.discord.thinking(chat)
    return given.answer


async def test_a_member_who_is_not_listed_is_told_so(home: Home, server: Server, model: FakeAnthropic) -> None:
    guilds = {str(server.guild.id): {"mention": "required", "allow": [OWNER]}}
    async with menu_of(home, server, model, guilds=guilds):
        told = await answered(server, server.bob, server.general, "status")
        assert "you aren't one of them" in told.content
        assert "Commands" not in (await answered(server, server.bob, server.general, "help")).content
        model.answer("Hello, Alice.")
        await server.call("hello", by=server.owner)
        await server.hears("Hello, Alice.", server.general)
        assert "/status" not in str(model.requests[-1].body)
    assert len(model.requests) == 1


async def test_a_stranger_without_a_free_code_is_told_so(home: Home, server: Server, model: FakeAnthropic) -> None:
    dm = server.discord.dm(server.bob)
    async with menu_of(home, server, model):
        assert "daybook pair approve" in (await answered(server, server.bob, dm, "help")).content
        for _ in range(2):
            assert "can't give you a new code" in (await answered(server, server.bob, dm, "help")).content
    assert model.requests == []


@pytest.mark.parametrize("policy", ["off", "allowlist"])
async def test_a_stranger_where_none_are_wanted(home: Home, server: Server, model: FakeAnthropic, policy: str) -> None:
    async with menu_of(home, server, model, dm_policy=policy):
        told = await answered(server, server.bob, server.discord.dm(server.bob), "help")
        assert "I only answer people my owner has approved" in told.content


async def test_commands_given_too_often_are_answered_each(home: Home, server: Server, model: FakeAnthropic) -> None:
    guilds = {str(server.guild.id): {"mention": "required", "per_minute": 1}}
    async with menu_of(home, server, model, guilds=guilds):
        assert "/new" in (await answered(server, server.bob, server.general, "help")).content
        for _ in range(2):
            assert "more than I can answer here" in (await answered(server, server.bob, server.general, "help")).content


async def test_a_command_that_the_model_is_to_understand(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with menu_of(home, server, model):
        model.answer("When would that be?")
        told = await answered(server, server.owner, server.dm, "remind", "me of the boat some day")
        assert "I'll answer in the chat" in told.content
        await server.hears("When would that be?")


async def test_a_question_with_buttons_outlives_a_restart(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        await server.say("/remember The boat is blue")
        await server.hears("Noted")
        await server.say("/forget boat")
        await server.discord.wait_for(lambda: server.discord.messages(server.dm)[-1].buttons)
    asked = server.discord.messages(server.dm)[-1]
    async with living(home, server, model):
        yes = next(one for one in asked.buttons if "yes" in one)
        await server.discord.press(server.owner, asked, yes)
        await server.discord.wait_for(lambda: not asked.buttons)
    assert "boat" not in "".join(one.read_text("utf-8") for one in home.workspace("workspace").rglob("memory/*.md"))


async def test_what_was_said_while_it_was_away(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        for chat in (server.dm, server.general):
            model.answer("First.")
            await (server.say("first") if chat is server.dm else server.call("first"))
            await server.hears("First.", chat)
    await server.say("are you there?")
    await server.say("talk of others", server.general, server.bob)
    await server.call("and here?")
    model.reply = lambda body: "I am back."
    for _ in range(2):
        async with living(home, server, model):
            await server.hears("I am back.")
            await server.hears("I am back.", server.general)
            model.reply = lambda body: "Never a second time."
    assert server.heard() == server.heard(server.general) == ["First.", "I am back."]
    assert any("talk of others" in request.last_user_text for request in model.requests)


async def test_nothing_is_answered_twice_after_a_resume(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        model.reply = lambda body: "Once."
        await server.say("one")
        await server.hears("Once.")
        server.discord.disconnect(1006)
        await server.discord.wait_for(lambda: not server.discord.connected)
        await server.say("two")
        await server.discord.wait_for(lambda: len(server.heard()) == 2)
        server.discord.invalidate()
        await server.discord.wait_for(lambda: len(server.discord.identifies) == 2, 120.0)
        await server.say("three")
        await server.discord.wait_for(lambda: len(server.heard()) == 3)
    assert len(model.requests) == 3


@asynccontextmanager
async def killable(
    server: Server, model: FakeAnthropic, command: tuple[str, ...] = COMMAND
) -> AsyncIterator[GatewayProcess]:
    settings = {"owners": [f"discord:{OWNER}"], "channels": {"discord": server.settings()}}
    async with FakeTelegram() as telegram, GatewayProcess(telegram, model, settings, command=command) as gateway:
        await gateway.while_alive(server.discord.until_connected())
        yield gateway


@pytest.mark.parametrize("at", ["before it was sent", "after it was sent"])
async def test_killed_in_the_act_of_sending(server: Server, model: FakeAnthropic, at: str) -> None:
    """The same nonce again: Discord knows it, nothing is doubled, and no mark is needed."""
    async with killable(server, model) as gateway:
        sends = server.discord.hold("POST", "/messages$", after_effect="after" in at)
        model.answer("Said once.")
        await server.say("hello")
        await gateway.while_alive(sends.wait())
        await gateway.kill()
        sends.release()
        await gateway.start()
        await gateway.while_alive(server.hears("Said once."))
        model.answer("The last answer.")
        await server.say("and now?")
        await gateway.while_alive(server.hears("The last answer."))
        assert server.heard() == ["Said once.", "The last answer."]
        assert not [one for one in server.heard() if REPEAT_MARK.strip() in one]


async def test_killed_while_a_preview_is_being_sent(server: Server, model: FakeAnthropic) -> None:
    """Its id never came back; the nonce brings it, and the answer is its last edit."""
    async with killable(server, model) as gateway:
        sends = server.discord.hold("POST", "/messages$", after_effect=True)
        writing = model.hold(after=2)
        model.answer(["It is ", "a long ", "story."])
        await server.say("hello")
        await model.held(writing)
        await gateway.while_alive(sends.wait())
        await gateway.kill()
        sends.release()
        model.answer(["It is ", "a long ", "story."])
        await gateway.start()
        await gateway.while_alive(server.hears("a long story."))
        model.answer("The last answer.")
        await server.say("and now?")
        await gateway.while_alive(server.hears("The last answer."))
        assert server.heard() == ["It is a long story.", "The last answer."]


WITHOUT_ZSTD = "import sys; sys.modules.update({'zstandard': None, 'compression.zstd': None})\n"
"""The library chooses as it is imported, by what is installed; there is no switch. So this is no fork (`-u`)."""
RUN = "from gateway.__main__ import main; main()"


@pytest.mark.parametrize(("transport", "before"), first(("zstd-stream", ""), ("zlib-stream", WITHOUT_ZSTD)))
async def test_a_talk_over_either_compression(
    server: Server, model: FakeAnthropic, transport: str, before: str
) -> None:
    for number in range(300):
        server.guild.text(f"room-{number}-{'x' * 60}")
    async with killable(server, model, (sys.executable, "-u", "-c", before + RUN)) as gateway:
        (connection,) = server.discord.connections
        assert connection.compress == transport
        for number, words in enumerate(("short", "long " * 390, "漢字かな " * 300)):
            model.answer(f"Heard {number}.")
            await server.say(words)
            await gateway.while_alive(server.hears(f"Heard {number}."))
            assert words.strip() in model.requests[-1].last_user_text
        server.discord.ask_reconnect()
        await gateway.while_alive(server.discord.wait_for(lambda: server.discord.resumes))
        model.answer("Resumed.")
        await server.call("and here?")
        await gateway.while_alive(server.hears("Resumed.", server.general))


async def test_other_channels_go_on_without_discord(server: Server, model: FakeAnthropic) -> None:
    server.discord.allow_intents()
    settings = {"channels": {"discord": server.settings()}}
    async with FakeTelegram() as telegram, GatewayProcess(telegram, model, settings) as gateway:
        model.answer("Telegram lives.")
        telegram.say("hello")
        await gateway.while_alive(telegram.wait_for(lambda: telegram.messages(11111)))
        status = await gateway.until_status(lambda status: status["channels"]["discord"]["state"] == "down")
        assert status["channels"]["telegram"]["state"] == "ok"
        assert "Message Content Intent" in status["channels"]["discord"]["last_error"]
        assert server.discord.token not in gateway.log
        assert "WARNING discord.client" not in gateway.log


async def test_one_person_in_telegram_and_discord_has_one_talk(server: Server, model: FakeAnthropic) -> None:
    """Also over a kill; each answer comes where it was asked for, and a file goes from one to the other."""
    settings = {
        "owners": ["telegram:11111"],
        "people": {"alice": ["telegram:11111", f"discord:{OWNER}"]},
        "channels": {"discord": server.settings()},
    }
    async with FakeTelegram() as telegram, GatewayProcess(telegram, model, settings) as gateway:
        await gateway.while_alive(server.discord.until_connected())
        model.answer("Noted, Luna.")
        telegram.say("My cat is called Luna.")
        await gateway.while_alive(telegram.wait_for(lambda: telegram.messages(11111)))
        while (await gateway.cli("status", "--json")).json()["outbox"]["waiting"]:
            pass
        await gateway.restart()
        await gateway.while_alive(server.discord.until_connected())

        (gateway.workspace / "cat.txt").write_text("Luna")
        model.answer(tool=("send_message", {"text": "From there", "to": "telegram:11111", "files": ["cat.txt"]}))
        model.answer("She is called Luna.")
        await server.say("What is my cat called?")
        await gateway.while_alive(server.hears("She is called Luna."))
        await gateway.while_alive(telegram.wait_for(lambda: len(telegram.messages(11111)) == 3))
        assert "My cat is called Luna." in str(model.requests[-1].body)
        assert server.heard() == ["She is called Luna."]
        assert [one.text for one in telegram.messages(11111)][:2] == ["Noted, Luna.", "From there"]
        assert telegram.sent_file(telegram.messages(11111)[2]) == ("cat.txt", b"Luna")

        model.answer(tool=("send_message", {"text": "And back", "to": f"discord:{server.dm.id}", "files": ["cat.txt"]}))
        model.answer("Done.")
        telegram.say("Send it to my Discord")
        await gateway.while_alive(server.hears("And back"))
        sessions = (await gateway.cli("sessions", "list", "--json")).json()
        assert [session["key"] for session in sessions] == ["main/owner"]


def test_a_nonce_fits() -> None:
    assert len(nonce("turn:discord:message:1234567890123456789:0")) <= 25
    assert nonce("a") != nonce("b")
