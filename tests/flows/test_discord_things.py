"""Stories of what Discord has beside plain text: posts, roles, replies, edits, files, and its ways to fail."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from gateway.home import Home
from tests import files
from tests.channels.discord.reader import read
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.discord import Channel
from tests.fakes.discord.model import SUPPRESS_EMBEDS
from tests.flows.server import OWNER, Server, living

FIVE_SCRIPTS = {
    "latin": "word ",
    "chinese": "漢字かな交じり文、",
    "cyrillic": "слово ",
    "arabic": "كلمة ",
    "emoji": "👩‍👩‍👧‍👦 ",
}


async def test_a_post_of_a_forum_is_a_talk_of_its_own(home: Home, server: Server, model: FakeAnthropic) -> None:
    forum = server.guild.forum("ideas")
    async with living(home, server, model):
        posts: list[Channel] = []
        for title, answer in (("boat", "It floats."), ("kite", "It flies.")):
            model.answer(answer)
            posts.append(forum.post(title, f"{server.discord.bot.mention} what of the {title}?", server.bob))
            await server.hears(answer, posts[-1])
        assert server.heard(posts[0]) == ["It floats."] and server.heard(posts[1]) == ["It flies."]
        assert "boat" not in str(model.requests[-1].body["messages"])


async def test_its_role_and_a_reply_call_the_bot(home: Home, server: Server, model: FakeAnthropic) -> None:
    own = next(role for role in server.guild.roles.values() if role.of_bot == server.discord.bot.id)
    async with living(home, server, model):
        model.answer("At your service.")
        await server.say(f"{own.mention} who is there?", server.general, server.bob)
        answer = await server.hears("At your service.", server.general)
        model.answer("And again.")
        await server.say("and you?", server.general, server.bob, reply_to=answer, ping=False)
        await server.hears("And again.", server.general)
        await server.say("not you", server.general, server.bob, reply_to=answer.reference)
    assert len(model.requests) == 2


async def test_a_role_that_was_given_to_it_calls_the_bot(home: Home, server: Server, model: FakeAnthropic) -> None:
    others = server.guild.role("Others", server.bob)
    async with living(home, server, model):
        helpers = server.guild.role("Helpers", server.bob, server.discord.bot)
        model.answer("I am one of them.")
        await server.say(f"{helpers.mention} who can help?", server.general, server.bob)
        await server.hears("I am one of them.", server.general)
        assert "@Helpers who can help?" in model.requests[-1].last_user_text
        await server.say(f"{others.mention} and you?", server.general, server.bob)
        model.answer("The last one.")
        await server.call("me too")
        await server.hears("The last one.", server.general)
    assert len(model.requests) == 2


async def test_an_edit_of_an_answered_message_is_offered_once(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        model.answer("Eleven.")
        said = await server.say("ten plus one?")
        await server.hears("Eleven.")
        await server.discord.edit(said, "ten plus two?")
        await server.hears("Answer the new version?")
        asked = server.discord.messages(server.dm)[-1]
        model.answer("Twelve.")
        await server.discord.press(server.owner, asked, next(one for one in asked.buttons if one.endswith("yes")))
        await server.hears("Twelve.")
    assert "ten plus two?" in model.requests[-1].last_user_text and len(model.requests) == 2


async def test_only_who_was_asked_may_press(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        model.answer("Eleven.")
        said = await server.call("ten plus one?")
        await server.hears("Eleven.", server.general)
        await server.discord.edit(said, f"{server.discord.bot.mention} ten plus two?")
        asked = await server.hears("Answer the new version?", server.general)
        yes = next(one for one in asked.buttons if one.endswith("yes"))
        pressed = await server.discord.press(server.owner, asked, yes)
        await server.discord.wait_for(lambda: pressed.followups)
        assert pressed.followups[0].ephemeral and asked.buttons
        model.answer("Twelve.")
        await server.discord.press(server.bob, asked, yes)
        await server.hears("Twelve.", server.general)
    assert len(model.requests) == 2


async def test_files_are_read_on_arrival(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        for name, content, media_type, expected in (
            ("plan.docx", files.docx("The boat leaves at nine."), "application/octet-stream", "leaves at nine"),
            ("../../boat.png", files.picture(), "text/plain", '"type": "image"'),
            ("bomb.docx", files.bomb(100), "application/octet-stream", "bomb.docx"),
            ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "drawing.svg"),
        ):
            model.answer(f"I have seen {name.rpartition('/')[2]}.")
            await server.say("look", attachments=[(name, content, media_type)])
            await server.hears(name.rpartition("/")[2])
            assert expected in model.requests[-1].text or "image" in str(model.requests[-1].body["messages"][-1])
    assert [request.status for request in model.requests] == [200] * 4


@pytest.mark.parametrize("phase", ["before a word", "in the stream", "between two tries", "while a preview hangs"])
async def test_stop_in_every_phase(home: Home, server: Server, model: FakeAnthropic, phase: str) -> None:
    """What is held or waited for is not let go before the next answer is there."""
    async with living(home, server, model):
        if phase == "between two tries":
            model.fail(529, retry_after=50)
        else:
            writing = model.hold(after=0 if "word" in phase else 2)
            model.answer(["The beginning, ", "and more, ", "and the end."])
        await server.say("tell me")
        if phase == "between two tries":
            await model.wait_for()
        else:
            await model.held(writing)
        if "stream" in phase or "preview" in phase:
            await server.hears("The beginning")
        if "preview" in phase:
            edits = server.discord.hold("PATCH", f"/{server.dm.id}/messages/")
        await server.say("/stop")
        if "preview" in phase:
            assert await asyncio.wrap_future(model.requests[0].outcome) == "dropped"
            edits.release()
        await server.discord.wait_for(lambda: "Stopped." in server.heard())
        model.answer("The next answer.")
        await server.say("and now?")
        await server.hears("The next answer.")
        assert "the end" not in "".join(server.heard())


async def test_typing_is_shown_while_it_works_and_stops(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        writing = model.hold(after=0)
        model.answer("Done.")
        await server.say("hello")
        await model.held(writing)
        await server.discord.wait_for(lambda: server.dm.typing)
        writing.release()
        await server.hears("Done.")
    signs = len(server.dm.typing)
    assert signs == len(server.discord.called("POST", f"/channels/{server.dm.id}/typing"))


async def test_a_preview_that_is_throttled_does_not_hold_up_the_answer(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model):
        writing = model.hold(after=2)
        model.answer(["The first words, ", "and more of them, ", "and the end."])
        await server.say("tell me")
        await model.held(writing)
        await server.hears("The first words")
        server.discord.throttle_next("PATCH", "/messages/", retry_after=2.0)
        writing.release()
        await server.hears("and the end.")
        assert len(server.heard()) == 1


async def test_an_answer_grows_by_at_most_one_edit_a_second(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        model.delta_delay = 0.05
        model.answer([f"word {number} " for number in range(80)])
        await server.say("at length")
        await server.hears("word 79")
        shown = server.discord.called("POST", f"/{server.dm.id}/messages$") + server.discord.called(
            "PATCH", "/messages/"
        )
    *previews, _final = shown
    assert len(previews) > 2
    assert all(later.at - earlier.at >= 1.0 for earlier, later in itertools.pairwise(previews))
    assert not [call for call in server.discord.calls if call.status == 429]


async def test_a_file_that_is_too_large_is_told_with_the_limit(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model):
        model.answer("It is too large for me.")
        said = await server.say(
            "Read this", attachments=[("film.pdf", b"%PDF-1.7 " + bytes(50_000_000), "application/pdf")]
        )
        await server.hears("It is too large for me.")
        asked = model.requests[-1].last_user_text
    assert "film.pdf" in asked and "20 MB" in asked and "Read this" in asked
    assert not server.discord.called("GET", f"/messages/{said.id}$")


@pytest.mark.parametrize("script", FIVE_SCRIPTS)
async def test_ten_thousand_characters_arrive_whole(
    home: Home, server: Server, model: FakeAnthropic, script: str
) -> None:
    one = FIVE_SCRIPTS[script]
    text = one * (10_000 // len(one))
    code = "\n".join(f"print({number})\n```" for number in range(40))
    async with living(home, server, model):
        model.answer(f"{text}\n\n````md\n{code}\n````\n\nThat is all.")
        await server.say("at length, please")
        await server.hears("That is all.")
    pieces = server.heard()
    assert all(len(piece.encode("utf-16-le")) <= 4000 for piece in pieces)
    whole = "".join("".join(read(piece) for piece in pieces).split())
    assert whole == "".join(f"{text}{code}Thatisall.".split())


async def test_code_with_fences_inside_stays_code_over_messages(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    inner = "\n".join(f"line {number}\n```\nfence {number}\n```" for number in range(150))
    async with living(home, server, model):
        model.answer(f"Here:\n\n````markdown\n{inner}\n````\n\nThat is all.")
        await server.say("show me")
        await server.hears("That is all.")
    pieces = server.heard()
    assert len(pieces) > 2 and all(piece.count("```") == 2 for piece in pieces)


@pytest.mark.parametrize("what", ["deleted", "forbidden", "blocked"])
async def test_a_chat_that_takes_nothing_costs_nobody_else_an_answer(
    home: Home, server: Server, model: FakeAnthropic, what: str
) -> None:
    doomed = server.guild.text("doomed") if what != "blocked" else server.discord.dm(server.bob)
    async with living(home, server, model, dm_policy="open"):
        writing = model.hold(after=1)
        model.answer("Nobody will read this.")
        await (server.say("hi", doomed, server.bob) if what == "blocked" else server.call("hi", doomed))
        await model.held(writing)
        if what == "deleted":
            server.discord.remove_channel(doomed)
        elif what == "forbidden":
            doomed.deny("send_messages")
        else:
            server.discord.close_dms(server.bob)
        writing.release()
        model.answer("You will read this.")
        await server.say("hello")
        await server.hears("You will read this.")
        assert "Nobody will read this." not in "".join(server.heard(doomed))


async def test_a_bot_never_answers_itself(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        model.answer(f"I am {server.discord.bot.mention}, and I say /status to myself.")
        await server.call("who are you?")
        await server.hears("to myself", server.general)
        model.answer("Just us two.")
        await server.say("and now?")
        await server.hears("Just us two.")
    assert len(model.requests) == 2


@pytest.mark.parametrize("how", ["op 7", "op 9", "no JSON", "refused twice", "gone for a moment", "odd events"])
async def test_a_connection_that_breaks_loses_nothing(
    home: Home, server: Server, model: FakeAnthropic, how: str
) -> None:
    discord = server.discord
    async with living(home, server, model):
        model.answer("First.")
        await server.say("one")
        await server.hears("First.")
        match how:
            case "op 7":
                discord.ask_reconnect()
            case "op 9":
                discord.invalidate()
            case "no JSON":
                discord.push_frame("this is no JSON")
            case "refused twice":
                discord.refuse_connections(2)
                discord.disconnect(1006)
            case "gone for a moment":
                await discord.close_gateway()
                await server.say("meanwhile")
                await discord.open_gateway()
            case _:
                for data in ({}, {"id": 5}, None, {"id": "x", "channel_id": str(server.dm.id), "author": 3}):
                    discord.push("MESSAGE_CREATE", data)
                    discord.push("INTERACTION_CREATE", data)
                    discord.push("NEVER_HEARD_OF", data)
        model.reply = lambda body: "Second."
        await server.say("two")
        # Not the first "Second.", which may answer what was said meanwhile.
        await discord.wait_for(lambda: asked_for_two(model) and "Second." in server.heard(), 120.0)
    assert asked_for_two(model) == 1


def asked_for_two(model: FakeAnthropic) -> int:
    return sum("two" in request.last_user_text.splitlines()[-1] for request in model.requests)


async def test_an_owner_speaks_as_anybody_in_a_server(home: Home, server: Server, model: FakeAnthropic) -> None:
    """What is private stays out of the server, whoever asks there and however."""
    async with living(home, server, model):
        await server.say("/remember CANARY is the code of the safe")
        await server.hears("Noted")
        for words in ("/memory safe", "/why", "/export", "/sessions", "/status", "/forget safe"):
            before = len(server.heard(server.general))
            await server.call(words, by=server.owner)
            await server.discord.wait_for(lambda count=before: len(server.heard(server.general)) > count)
        model.answer("I cannot say.")
        await server.call("what is the code of the safe?", by=server.owner)
        await server.hears("I cannot say.", server.general)
    assert "CANARY" not in "".join(server.heard(server.general))
    assert "CANARY" not in model.requests[-1].text
    assert str(OWNER) not in "".join(server.heard(server.general))


async def test_slow_mode_delays_and_loses_nothing(home: Home, server: Server, model: FakeAnthropic) -> None:
    slow = {"message": "This action cannot be performed due to slowmode rate limit.", "code": 20016, "global": False}
    async with living(home, server, model):
        refused = server.discord.fail_next(
            "POST",
            f"/channels/{server.general.id}/messages$",
            status=429,
            json=slow | {"retry_after": 0.8},
            headers={"Via": "1.1 google", "Retry-After": "1"},
        )
        model.answer("Slowly.")
        await server.call("hello")
        await server.hears("Slowly.", server.general)
        assert refused.hits == 1 and server.heard(server.general) == ["Slowly."]


async def test_an_answer_that_waits_is_not_overtaken_by_the_next(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model):
        late = server.discord.fail_next("POST", f"/channels/{server.dm.id}/messages$", drop="before", times=2)
        model.answer("First.")
        await server.say("one")
        await server.discord.wait_for(lambda: late.hits)
        writing = model.hold(after=2)
        model.answer(["Second ", "and at ", "length."])
        await server.say("two")
        await model.held(writing)
        await server.hears("Second")
        writing.release()
        await server.hears("length.")
        assert server.heard() == ["First.", "Second and at length."]


async def test_links_bring_no_previews_and_nobody_is_pinged(home: Home, server: Server, model: FakeAnthropic) -> None:
    async with living(home, server, model):
        model.answer(f"@everyone, {server.bob.mention}: see https://example.org and <@&{server.guild.id}>.")
        await server.call("hello")
        said = await server.hears("example.org", server.general)
        assert said.flags & SUPPRESS_EMBEDS
        assert said.pinged == set() and not said.pinged_roles and not said.mention_everyone


async def test_a_command_that_discord_knows_no_more_holds_nobody_up(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model):
        await server.discord.wait_for(lambda: server.discord.called("PUT", "/commands$"))
        gone = {"message": "Unknown interaction", "code": 10062}
        server.discord.fail_next("POST", "/callback$", status=404, json=gone, times=None)
        await server.discord.slash(server.owner, server.dm, "whoami")
        model.answer("Hello.")
        await server.say("hello")
        await server.hears("Hello.")
        told = await server.hears(str(OWNER))
        assert not told.ephemeral
    assert len(server.heard()) == 2


async def test_a_command_whose_own_way_is_closed_for_a_while_is_answered_for_its_giver_alone_then(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model):
        await server.discord.wait_for(lambda: server.discord.called("PUT", "/commands$"))
        closed = server.discord.fail_next("*", "/webhooks/", status=503, times=None)
        await server.discord.slash(server.owner, server.dm, "whoami")
        await server.discord.wait_for(lambda: closed.hits > 2)
        model.answer("Hello.")
        await server.say("hello")
        assert server.heard() == []
        closed.cancel()
        told = await server.hears(str(OWNER))
        assert told.ephemeral and server.discord.thinking(server.dm) == []
        await server.hears("Hello.")
    assert len(server.heard()) == 2


async def test_shut_out_by_cloudflare_it_waits_says_so_and_answers_later(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    other = server.guild.text("other")
    async with living(home, server, model) as gateway:
        sends = f"/channels/{server.dm.id}/messages$"
        shut = server.discord.throttle_next("POST", sends, retry_after=2.0, via=False, times=None)
        model.answer("Late, but here.")
        await server.say("hello")
        await server.discord.wait_for(lambda: shut.hits)
        status: Any = gateway.operations["status"]
        while "Cloudflare" not in (now := (await status({}))["channels"]["discord"])["last_error"]:
            pass
        assert now["state"] == "degraded"
        shut.cancel()
        asked = len(server.discord.calls)
        throttled = [call for call in server.discord.calls if call.status == 429][-1]
        model.answer("So am I.")
        await server.call("and you?", other)
        await server.hears("Late, but here.")
        await server.hears("So am I.", other)
        assert all(call.at - throttled.done >= 2.0 for call in server.discord.calls[asked:])
        assert (await status({}))["channels"]["discord"] == {"state": "ok", "last_error": ""}
