"""The adapter over HTTP and the gateway: what people write, and what they see."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.discord.rate_limit import SHORT
from channels.message import (
    Address,
    AnswerLost,
    Button,
    ChatGone,
    ChatKind,
    NotFetched,
    NotSent,
    OutboundFile,
    OutboundMessage,
    OutcomeUnknown,
    Refused,
    TooLong,
)
from tests.channels.discord.conftest import House, address
from tests.fakes.discord.faults import Limits, rule


async def test_a_private_talk(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        said = await house.discord.say(alice, dm, "hello")
        heard = await house.receiver.message("hello")
        assert heard.kind is ChatKind.PRIVATE and heard.sender.id == str(alice.id)
        sent = await channel.send(OutboundMessage(heard.address, "**hi**", "k1", heard.platform_id))
        seen = await house.discord.next_message(dm)
        assert (seen.content, seen.reference, seen.pinged) == ("**hi**", said, set())
        await channel.edit(sent, OutboundMessage(address(dm), "hi https://example.org", "k1"))
        assert (seen.content, seen.link_previews) == ("hi https://example.org", [])


async def test_a_server_a_thread_and_a_post(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    general = guild.text("general")
    thread = general.thread("plan")
    forum = guild.forum("ideas")
    async with house.running() as channel:
        await house.discord.say(alice, general, "just talking")
        await house.discord.say(alice, general, "what now?", mentions=[house.discord.bot])
        await house.discord.say(alice, general, "and now?", mentions=[guild.bot_role])
        await house.discord.say(alice, thread, "in the thread", mentions=[house.discord.bot])
        post = forum.post("A boat", "let us build one", alice)

        assert not (await house.receiver.message("just talking")).calls_bot
        called = await house.receiver.message("what now?")
        assert called.calls_bot and called.kind is ChatKind.GROUP and called.server == str(guild.id)
        assert called.group_name == "Home #general"
        assert (await house.receiver.message("and now?")).calls_bot
        threaded = await house.receiver.message("in the thread")
        assert (threaded.address.chat_id, threaded.parent_chat) == (str(thread.id), str(general.id))
        assert threaded.group_name == "Home #general › plan"
        posted = await house.receiver.message("let us build one")
        assert (posted.address.chat_id, posted.parent_chat) == (str(post.id), str(forum.id))

        await channel.send(OutboundMessage(threaded.address, "there", "k"))
        assert (await house.discord.next_message(thread)).content == "there"
        reply = await house.discord.next_message(thread)
        await house.discord.say(alice, thread, "thanks", reply_to=reply, ping=False)
        thanks = await house.receiver.message("thanks")
        assert thanks.calls_bot and thanks.quote is not None and thanks.quote.text == "there"


async def test_what_nobody_wants_to_hear_is_not_passed_on(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Elsewhere")
    wanted, other = guild.text("wanted"), guild.text("other")
    thread = wanted.thread("more")
    async with house.running(hears=lambda _server, chat: chat == str(wanted.id)):
        await house.discord.say(alice, other, "not for us")
        await house.discord.say(alice, wanted, "for us")
        await house.discord.say(alice, thread, "for us too")
        await house.receiver.message("for us too")
    assert house.receiver.texts == ["for us", "for us too"]


async def test_an_edit_is_a_new_wording(house: House) -> None:
    alice = house.discord.user("Alice")
    async with house.running():
        said = await house.discord.say(alice, house.discord.dm(alice), "helo")
        await house.receiver.message("helo")
        await house.discord.edit(said, "hello")
        edit = await house.receiver.message("hello")
        assert edit.edit and edit.platform_id == str(said.id)


async def test_the_same_key_is_sent_once(house: House) -> None:
    """A lost answer is no more than a delay: the nonce tells Discord that it is the same message."""
    dm = house.discord.dm(house.discord.user("Alice"))
    async with house.running() as channel:
        message = OutboundMessage(address(dm), "once", "turn:0")
        house.discord.fail_next("POST", "/messages", drop="after")
        with pytest.raises(AnswerLost):
            await channel.send(message)
        sent = await channel.send(message)
        assert [(one.content, str(one.id)) for one in house.discord.messages(dm)] == [("once", sent)]
        with pytest.raises(OutcomeUnknown):
            house.discord.fail_next("POST", "/messages", drop="after")
            await channel.send(OutboundMessage(address(dm), "without a key"))


async def test_a_server_out_of_order_is_asked_again(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    async with house.running() as channel:
        house.discord.fail_next("POST", "/messages", status=503)
        with pytest.raises(NotSent):
            await channel.send(OutboundMessage(address(dm), "hi", "k"))
        await channel.send(OutboundMessage(address(dm), "hi", "k"))
        assert [one.content for one in house.discord.messages(dm)] == ["hi"]


async def test_a_rate_limit_of_the_front_is_told_with_its_delay(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    async with house.running() as channel:
        house.discord.throttle_next("POST", "/messages", retry_after=7.0, via=False)
        with pytest.raises(NotSent) as refused:
            await channel.send(OutboundMessage(address(dm), "hi", "k"))
        assert refused.value.retry_after >= 7.0 and not isinstance(refused.value, AnswerLost)


def refused(where: str, what: str) -> dict[str, object]:
    return {
        "code": 50035,
        "message": "Invalid Form Body",
        "errors": {where: {"_errors": [{"code": "X", "message": what}]}},
    }


@pytest.mark.parametrize(
    "body",
    [
        refused("content", "That is no text"),
        {"code": 50006, "message": "Cannot send an empty message"},
        {"code": 200000, "message": "Message was blocked by automatic moderation"},
        {"code": 50109, "message": "The request body contains invalid JSON."},
    ],
)
async def test_a_refusal_that_is_about_the_text_gets_the_plain_attempt_once(
    house: House, body: dict[str, object]
) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    text = "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    async with house.running() as channel:
        house.discord.fail_next("POST", "/messages", status=400, json=body)
        id = await channel.send(OutboundMessage(address(dm), text, "k"))
        assert dm.messages[int(id)].content == text
        house.discord.fail_next("PATCH", "/messages", status=400, json=body)
        await channel.edit(id, OutboundMessage(address(dm), f"{text}\n", "k"))
        assert dm.messages[int(id)].content == text
        house.discord.fail_next("POST", "/messages", status=400, json=body, times=2)
        with pytest.raises(Refused) as given_up:
            await channel.send(OutboundMessage(address(dm), text, "k2"))
        assert type(given_up.value) is Refused


async def test_a_text_that_is_too_long_is_said_to_be(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    async with house.running() as channel:
        with pytest.raises(TooLong):
            await channel.send(OutboundMessage(address(dm), "x" * 2001, "k"))
        id = await channel.send(OutboundMessage(address(dm), "x", "k2"))
        with pytest.raises(TooLong):
            await channel.edit(id, OutboundMessage(address(dm), "x" * 2001, "k"))
    assert len(house.discord.called("POST", "/messages")) == 2, "no attempt with the same length"


async def test_a_refusal_that_is_about_buttons_is_not_tried_again(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    async with house.running() as channel:
        house.discord.fail_next("POST", "/messages", status=400, json=refused("components", "Too many"))
        with pytest.raises(Refused):
            await channel.send(OutboundMessage(address(dm), "hi", "k"))
    assert dm.messages == {} and len(house.discord.called("POST", "/messages")) == 1


async def test_refusals_say_why(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    dm, general = house.discord.dm(alice), guild.text("general")
    async with house.running() as channel:
        general.deny("send_messages")
        with pytest.raises(ChatGone, match="lacks a permission"):
            await channel.send(OutboundMessage(address(general), "hi", "k1"))
        general.allow("send_messages")
        general.deny("view_channel")
        with pytest.raises(ChatGone, match="can't see"):
            await channel.send(OutboundMessage(address(general), "hi", "k2"))
        house.discord.close_dms(alice)
        with pytest.raises(ChatGone, match="doesn't accept messages from this bot"):
            await channel.send(OutboundMessage(address(dm), "hi", "k3"))
        guild.text("gone").delete()
        with pytest.raises(Refused, match="is gone"):
            await channel.send(OutboundMessage(Address("discord", "12345"), "hi", "k4"))
        with pytest.raises(Refused, match="not a Discord chat"):
            await channel.send(OutboundMessage(Address("discord", "general"), "hi", "k5"))


async def test_a_message_that_is_gone_is_answered_without_naming_it(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        said = await house.discord.say(alice, dm, "hello")
        await house.discord.delete(said)
        await channel.send(OutboundMessage(address(dm), "hi", "k", str(said.id)))
        seen = await house.discord.next_message(dm)
        assert (seen.content, seen.reference) == ("hi", None)
        with pytest.raises(Refused, match="is gone"):
            await channel.edit("123456", OutboundMessage(address(dm), "hi", "k"))


async def test_an_owner_is_reached_by_the_persons_id(house: House) -> None:
    alice = house.discord.user("Alice")
    async with house.running() as channel:
        to_person = Address("discord", str(alice.id))
        sent = await channel.send(OutboundMessage(to_person, "Good morning", "k"))
        await channel.edit(sent, OutboundMessage(to_person, "Good morning!", "k"))
        assert [one.content for one in house.discord.messages(house.discord.dm(alice))] == ["Good morning!"]


async def test_nobody_is_pinged(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    general = guild.text("general")
    async with house.running() as channel:
        said = await house.discord.say(alice, general, "hello")
        text = f"@everyone @here {alice.mention} <@{alice.id}>"
        await channel.send(OutboundMessage(address(general), text, "k", str(said.id)))
        seen = await house.discord.next_message(general)
        assert seen.pinged == set() and not seen.pinged_everyone and not seen.pinged_roles


async def test_files_go_out(house: House, tmp_path: Path) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    file = tmp_path / "x.bin"
    file.write_bytes(b"figures")
    async with house.running() as channel:
        outbound = OutboundFile(file, "figures.csv")
        await channel.send(OutboundMessage(address(dm), "here", "k", file=outbound))
        seen = await house.discord.next_message(dm)
        assert [(one.name, one.content) for one in seen.attachments] == [("figures.csv", b"figures")]
        assert seen.content == "here"
        file.write_bytes(b"\0" * (11 << 20))
        with pytest.raises(Refused, match="larger than Discord accepts"):
            await channel.send(OutboundMessage(address(dm), "", "k2", file=outbound))
        with pytest.raises(Refused, match="cannot be read"):
            await channel.send(OutboundMessage(address(dm), "", "k3", file=OutboundFile(tmp_path / "none", "none")))


async def test_files_come_in_never_more_than_wanted(house: House, tmp_path: Path) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        said = await house.discord.say(alice, dm, "look", attachments=[("../a.png", b"12345", "image/png")])
        (attachment,) = (await house.receiver.message("look")).attachments
        assert (attachment.kind, attachment.size) == ("photo", 5)
        target = tmp_path / "a"
        await channel.fetch(attachment, target, 5)
        assert target.read_bytes() == b"12345"
        expired = replace(attachment, handle=attachment.handle.replace("/attachments/", "/expired/"))
        await channel.fetch(expired, target, 5)
        with pytest.raises(NotFetched, match="larger"):
            await channel.fetch(attachment, target, 4)
        next(iter(house.discord.files.values())).size = 1  # Discord may say what it likes
        with pytest.raises(NotFetched, match="larger"):
            await channel.fetch(attachment, target, 4)
        await house.discord.delete(said)
        with pytest.raises(NotFetched, match="is gone"):
            await channel.fetch(expired, target, 5)


async def test_a_file_is_fetched_from_the_address_it_came_with(house: House, tmp_path: Path) -> None:
    """Without another call; a server in Discord's place may not know the one for a single message."""
    alice = house.discord.user("Alice")
    async with house.running() as channel:
        said = await house.discord.say(
            alice, house.discord.dm(alice), "look", attachments=[("a.png", b"1", "image/png")]
        )
        (attachment,) = (await house.receiver.message("look")).attachments
        await house.discord.delete(said)
        await channel.fetch(attachment, tmp_path / "a", 5)
        assert (tmp_path / "a").read_bytes() == b"1"


async def test_buttons_are_pressed_also_after_a_restart(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    rows = ((Button("Yes", "/answer K7F3 yes"), Button("No", "/answer K7F3 no")),)
    async with house.running() as channel:
        await channel.send(OutboundMessage(address(dm), "Shall I?", "k", buttons=rows))
    asked = house.discord.messages(dm)[0]
    async with house.running() as channel:
        pressed = await house.discord.press(alice, asked, "/answer K7F3 no")
        heard = await house.receiver.message("/answer K7F3 no")
        assert (heard.platform_id, heard.sender.id) == (str(asked.id), str(alice.id))
        await house.discord.wait_for(lambda: pressed.acknowledged)
        await channel.edit(str(asked.id), OutboundMessage(address(dm), "No, then.", "k", heard.answer_with))
        assert (asked.content, asked.buttons) == ("No, then.", [])


async def test_a_question_that_one_person_sees_is_answered_there(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Home")
    general = guild.text("general")
    rows = ((Button("Yes", "/answer K7F3 yes"),),)
    async with house.running() as channel:
        await house.discord.wait_for(lambda: any(call.method == "PUT" for call in house.discord.calls))
        await house.discord.slash(alice, general, "status")
        asked = await house.receiver.message("/status")
        await channel.send(OutboundMessage(asked.address, "Shall I?", "k", asked.answer_with, rows))
        (question,) = house.discord.messages(general, seen_by=alice)
        await house.discord.press(alice, question, "/answer K7F3 yes")
        pressed = await house.receiver.message("/answer K7F3 yes")
        await channel.edit(pressed.platform_id, OutboundMessage(pressed.address, "Done.", "k2", pressed.answer_with))
        await channel.send(OutboundMessage(pressed.address, "And more.", "k3", pressed.answer_with))
        seen = house.discord.messages(general, seen_by=alice)
        assert [(one.content, one.ephemeral) for one in seen] == [("Done.", True), ("And more.", True)]


async def test_signs(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        said = await house.discord.say(alice, dm, "hello")
        async with channel.typing(address(dm)):
            await house.discord.wait_for(lambda: dm.typing)
        await channel.react(address(dm), str(said.id), "👀")
        await channel.react(address(dm), str(said.id), "👍")
        assert list(said.reactions) == ["👍"]
        await channel.react(address(dm), str(said.id), "")
        assert said.reactions == {}
        await channel.react(address(dm), "123", "👀")
        with pytest.raises(Refused):
            await channel.draft(1, OutboundMessage(address(dm), "…"))


async def test_a_preview_leaves_room_for_the_final_text(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    window = SHORT - 1.0  # the longest that the library waits for, so that eight edits fit into it on a slow machine
    house.discord.limits = Limits((rule("PATCH", r"^/channels/\d+/messages/\d+$", 5, window),))
    async with house.running() as channel:
        sent = await channel.send(OutboundMessage(address(dm), "0", "k", preview=True))
        refused = 0
        for number in range(8):
            try:
                await channel.edit(sent, OutboundMessage(address(dm), f"{number}", "k", preview=True))
            except NotSent as error:
                assert error.retry_after > 0
                refused += 1
        assert refused > 0
        final = asyncio.create_task(channel.edit(sent, OutboundMessage(address(dm), "final", "k")))
        await house.discord.wait_for(lambda: [one.content for one in house.discord.messages(dm)] == ["final"])
        final.cancel()  # the library keeps who took the last room until there is more
        assert not [one for one in house.discord.calls if one.status == 429]


async def test_nothing_is_sent_before_there_is_a_connection(house: House) -> None:
    channel = house.channel()
    dm = address(house.discord.dm(house.discord.user("Alice")))
    assert not channel.capabilities(dm).is_reachable
    with pytest.raises(NotSent):
        await channel.send(OutboundMessage(dm, "hi", "k"))
    await channel.aclose()
