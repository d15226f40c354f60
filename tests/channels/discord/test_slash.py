"""Commands from the menu: known to Discord, acknowledged in time, answered where only their giver sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from channels.discord.channel import DiscordChannel
from channels.discord.inbound import snowflake
from channels.message import (
    AnswerLost,
    Button,
    Event,
    NotSent,
    OutboundMessage,
    OutcomeUnknown,
    Receive,
    Refused,
    Source,
)
from tests.channels.discord.conftest import House, address
from tests.fakes.discord import Channel
from tests.fakes.discord.model import User


async def menu(house: House) -> None:
    await house.discord.wait_for(lambda: any(call.path.endswith("/commands") for call in house.discord.calls))


def of_server(house: House) -> tuple[User, User, Channel]:
    """Alice, Bob, and a channel that both read."""
    return house.discord.user("Alice"), house.discord.user("Bob"), house.discord.guild("Home").text("general")


def seen_by(house: House, chat: Channel, person: User | None) -> list[tuple[str, bool]]:
    """The texts that somebody sees, and whether they alone do."""
    return [(one.content, one.ephemeral) for one in house.discord.messages(chat, seen_by=person)]


def out_of_order(house: House, how: str, method: str, path: str) -> Callable[[], None]:
    """Lets calls fail until what is returned is called."""
    match how:
        case "silent":
            return house.discord.hold(method, path).release
        case "long wait":
            return house.discord.throttle_next(method, path, retry_after=300.0, times=None).cancel
        case "cut":
            return house.discord.fail_next(method, path, drop="before", times=None).cancel
        case _:
            return house.discord.fail_next(method, path, status=503, times=None).cancel


async def test_the_menu_is_put_there_once(house: House) -> None:
    for _ in range(3):
        async with house.running():
            await menu(house)
    puts = [call for call in house.discord.calls if call.method == "PUT" and call.path.endswith("/commands")]
    assert len(puts) == 1
    assert [one["name"] for one in puts[0].json] == ["status", "memory", "export"]
    assert puts[0].json[2]["contexts"] == [1]


async def test_the_menu_is_in_the_languages_of_discords_apps(house: House) -> None:
    async with house.running():
        await menu(house)
        await house.discord.wait_for(lambda: "memory" in house.discord.command_names())
    memory = house.discord.find_command(None, "memory")
    assert memory["description"] == "search my memory" and memory["options"][0]["description"] == "QUERY"
    told = memory["description_localizations"]
    assert {"de", "es-ES", "es-419", "fr", "ja", "zh-CN", "zh-TW"} <= told.keys() and "en-GB" not in told
    assert told["de"] == "mein Gedächtnis durchsuchen" and told["es-419"] == told["es-ES"]
    assert memory["options"][0]["description_localizations"]["fr"] == "MOTS"


async def test_who_gives_a_command_comes_with_the_language_of_their_app(house: House) -> None:
    alice, _, general = of_server(house)
    alice.locale = "pt-BR"
    async with house.running():
        await menu(house)
        await house.discord.slash(alice, general, "status")
        assert (await house.receiver.message("/status")).sender.language == "pt-BR"


async def test_a_command_that_is_typed_in_another_language_calls_the_bot(house: House) -> None:
    alice, _, general = of_server(house)
    general.guild.locale = "de"
    async with house.running():
        await house.discord.say(alice, general, "/suche das Boot")
        await house.discord.say(alice, general, "/搜索")
        await house.discord.say(alice, general, "/finde das Boot")
        heard = [await house.receiver.message(text) for text in ("/suche das Boot", "/搜索", "/finde das Boot")]
    assert [one.calls_bot for one in heard] == [True, True, False]
    assert {one.sender.language for one in heard} == {"de"}


async def test_a_command_is_answered_for_its_giver_only(house: House) -> None:
    alice, bob, guild = house.discord.user("Alice"), house.discord.user("Bob"), house.discord.guild("Home")
    general = guild.text("general")
    async with house.running() as channel:
        await menu(house)
        given = await house.discord.slash(alice, general, "memory", {"text": "the boat"})
        heard = await house.receiver.message("/memory the boat")
        assert heard.sender.id == str(alice.id) and heard.calls_bot and heard.answer_with
        for number in range(3):
            await channel.send(OutboundMessage(heard.address, f"part {number}", f"k{number}", heard.answer_with))
        seen = house.discord.messages(general, seen_by=alice)
        assert [(one.content, one.ephemeral) for one in seen] == [(f"part {number}", True) for number in range(3)]
        assert house.discord.messages(general, seen_by=bob) == []
        assert not house.discord.failed(given) and house.discord.thinking(general) == []


async def test_an_answer_waits_until_discord_knows_that_the_command_came(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        await menu(house)
        callbacks = house.discord.hold("POST", "/callback")
        await house.discord.slash(alice, dm, "status")
        heard = await house.receiver.message("/status")
        answer = asyncio.create_task(channel.send(OutboundMessage(heard.address, "fine", "k", heard.answer_with)))
        await callbacks.wait()
        assert not answer.done()
        callbacks.release()
        await answer
        assert [(one.content, one.ephemeral) for one in house.discord.messages(dm)] == [("fine", True)]


async def test_a_slow_disk_is_not_waited_for(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await menu(house)
        house.receiver.gate = asyncio.Event()
        given = await house.discord.slash(alice, dm, "status")
        await house.discord.wait_for(lambda: given.acknowledged)
        assert house.receiver.texts == []
        house.receiver.gate.set()
        await house.receiver.message("/status")


async def test_a_command_that_the_disk_refused_is_not_acknowledged(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    channel = house.channel()

    async def refuse(_events: Sequence[Event]) -> None:
        raise OSError("disk full")

    task = asyncio.create_task(channel.run(refuse))
    await menu(house)
    await house.discord.until_connected()
    given = await house.discord.slash(alice, dm, "status")
    async with asyncio.timeout(120):
        await asyncio.wait([task])
    assert isinstance(task.exception(), OSError) and given.acknowledged is None
    await channel.aclose()


async def test_a_command_is_answered_in_its_place_by_whoever_answers(house: House) -> None:
    """Each part by another process, or after a restart."""
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await menu(house)
        await house.discord.slash(alice, dm, "status")
        heard = await house.receiver.message("/status")
    for number in range(3):
        async with house.running() as channel:
            await channel.send(OutboundMessage(address(dm), f"part {number}", f"k{number}", heard.answer_with))
    seen = [(one.content, one.ephemeral) for one in house.discord.messages(dm)]
    assert seen == [(f"part {number}", True) for number in range(3)]
    assert house.discord.thinking(dm) == []


@asynccontextmanager
async def beside(house: House) -> AsyncIterator[DiscordChannel]:
    """Another process with the same bot, which sends without a connection to the gateway."""

    logged_in = asyncio.Event()

    async def elsewhere(_source: Source, _receive: Receive) -> None:
        logged_in.set()

    channel = DiscordChannel(house.discord.token, api_url=house.discord.api_url, shards=1, run_shard=elsewhere)
    task = asyncio.create_task(channel.run(house.receiver))
    await logged_in.wait()
    try:
        yield channel
    finally:
        task.cancel()
        await asyncio.wait([task])
        await channel.aclose()


async def test_who_answers_first_acknowledges_a_command_that_another_heard(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await menu(house)
        callbacks = house.discord.hold("POST", "/callback")
        given = await house.discord.slash(alice, dm, "status")
        heard = await house.receiver.message("/status")
        await callbacks.wait()
        async with beside(house) as other:
            answer = asyncio.create_task(other.send(OutboundMessage(heard.address, "fine", "k", heard.answer_with)))
            await house.discord.wait_for(lambda: callbacks.waiting == 2)
            callbacks.release()
            await answer
        assert [(one.content, one.ephemeral) for one in house.discord.messages(dm)] == [("fine", True)]
        assert not house.discord.failed(given) and house.discord.thinking(dm) == []


async def test_who_heard_a_command_takes_no_answer_of_another_away(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    house.shards = 1
    async with house.running() as channel, beside(house) as other:
        await menu(house)
        await house.discord.slash(alice, dm, "status")
        heard = await house.receiver.message("/status")
        for number, one in enumerate((other, channel, other)):
            await one.send(OutboundMessage(heard.address, f"part {number}", f"k{number}", heard.answer_with))
        seen = [(one.content, one.ephemeral) for one in house.discord.messages(dm)]
        assert seen == [(f"part {number}", True) for number in range(3)]


async def test_a_command_that_nobody_acknowledged_or_whose_time_is_over_is_answered_in_the_chat(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await menu(house)
        house.discord.fail_next("POST", "/callback$", status=404, json={"message": "Unknown", "code": 10062}, times=2)
        await house.discord.slash(alice, dm, "status")
        missed = await house.receiver.message("/status")
    async with house.running() as channel:
        await channel.send(OutboundMessage(address(dm), "plainly", "k", missed.answer_with))
        assert [(one.content, one.ephemeral) for one in house.discord.messages(dm)] == [("plainly", False)]

        await house.discord.slash(alice, dm, "status")
        late = await house.receiver.until(lambda: house.receiver.messages[1:])
        house.discord.pass_time(16 * 60.0)
        await channel.send(OutboundMessage(address(dm), "late", "k2", late[0].answer_with))
        assert [one.content for one in house.discord.messages(dm)] == ["plainly", "late"]
    async with house.running() as channel:
        await channel.send(OutboundMessage(address(dm), "later", "k3", late[0].answer_with))
        assert [one.content for one in house.discord.messages(dm)] == ["plainly", "late", "later"]


@pytest.mark.parametrize("how", ["silent", "out of order", "long wait"])
async def test_an_answer_waits_until_discord_says_how_far_its_command_is(house: House, how: str) -> None:
    """After a restart. It is for its giver alone, so it does not go to the channel meanwhile."""
    alice, bob, general = of_server(house)
    async with house.running():
        await menu(house)
        await house.discord.slash(alice, general, "status")
        heard = await house.receiver.message("/status")
    house.answer_timeout = 0.4
    async with house.running() as channel:
        mend = out_of_order(house, how, "GET", "/webhooks/")
        answer = OutboundMessage(address(general), "fine", "k", heard.answer_with)
        for _ in range(3):
            with pytest.raises(NotSent):
                await channel.send(answer)
        mend()
        await channel.send(answer)
        assert seen_by(house, general, alice) == [("fine", True)]
        assert seen_by(house, general, bob) == [] == house.discord.thinking(general)


@pytest.mark.parametrize("restarts", [True, False])
async def test_an_answer_whose_placeholder_is_gone_is_for_its_giver_alone(house: House, restarts: bool) -> None:
    alice, bob, general = of_server(house)
    async with house.running() as channel:
        await menu(house)
        given = await house.discord.slash(alice, general, "status")
        heard = await house.receiver.message("/status")
        await house.discord.wait_for(lambda: given.acknowledged)
        assert given.answer is not None
        house.discord.remove_message(given.answer)
        answer = OutboundMessage(address(general), "fine", "k", heard.answer_with)
        if not restarts:
            await channel.send(answer)
    if restarts:
        async with house.running() as channel:
            await channel.send(answer)
    assert seen_by(house, general, alice) == [("fine", True)]
    assert seen_by(house, general, bob) == []


@pytest.mark.parametrize("restarts", [True, False])
async def test_the_answer_to_a_press_whose_message_is_gone_is_for_who_pressed_alone(
    house: House, restarts: bool
) -> None:
    alice, bob, general = of_server(house)
    async with house.running() as channel:
        yes = ((Button("Yes", "/answer K yes"),),)
        await channel.send(OutboundMessage(address(general), "Shall I?", "k", buttons=yes))
        (asked,) = house.discord.messages(general)
        await house.discord.press(alice, asked, "/answer K yes")
        pressed = await house.receiver.message("/answer K yes")
        await house.discord.wait_for(lambda: house.discord.interactions[0].acknowledged)
        house.discord.remove_message(asked)
        done = OutboundMessage(address(general), "Done.", "k2", pressed.answer_with)
        if not restarts:
            with pytest.raises(Refused):
                await channel.edit(str(asked.id), done)
            await channel.send(done)
    if restarts:
        async with house.running() as channel:
            with pytest.raises(Refused):
                await channel.edit(str(asked.id), done)
            await channel.send(done)
    assert seen_by(house, general, alice) == [("Done.", True)]
    assert seen_by(house, general, bob) == []
    assert not house.discord.called("GET", "/webhooks/"), "a press needs no look"


async def test_no_call_is_made_for_a_command_that_was_given_too_long_ago(house: House) -> None:
    dm = house.discord.dm(house.discord.user("Alice"))
    old = f"interaction:{snowflake(datetime.now(UTC) - timedelta(minutes=15))}:2:{'t' * 86}"
    async with house.running() as channel:
        await channel.send(OutboundMessage(address(dm), "late", "k", old))
    assert seen_by(house, dm, None) == [("late", False)]
    assert not house.discord.called("POST", "/callback$") + house.discord.called("GET", "/webhooks/")


async def test_a_command_in_a_server_that_is_not_listed_is_none_of_ours(house: House) -> None:
    alice, guild = house.discord.user("Alice"), house.discord.guild("Elsewhere")
    dm = house.discord.dm(alice)
    async with house.running(hears=lambda _server, _chat: False):
        await menu(house)
        given = await house.discord.slash(alice, guild.text("general"), "status")
        await house.discord.slash(alice, dm, "memory", {"text": "x"})
        await house.receiver.message("/memory x")
        assert given.acknowledged is None


async def test_what_cannot_be_read_is_not_promised_an_answer(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running():
        await menu(house)
        house.discord.mangle("INTERACTION_CREATE", replace={"user": "nobody"})
        given = await house.discord.slash(alice, dm, "status")
        await house.receiver.until(lambda: house.receiver.events)
        await house.discord.slash(alice, dm, "memory", {"text": "x"})
        await house.receiver.message("/memory x")
        assert given.acknowledged is None and house.discord.thinking(dm) == []


async def test_a_sign_whose_answer_was_lost_is_given_again(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        await menu(house)
        for number, lost in enumerate(("before", "after")):
            house.discord.fail_next("POST", "/callback$", drop=lost)  # type: ignore[arg-type]
            await house.discord.slash(alice, dm, "memory", {"text": lost})
            heard = await house.receiver.message(f"/memory {lost}")
            await channel.send(OutboundMessage(heard.address, lost, f"k{number}", heard.answer_with))
        assert [(one.content, one.ephemeral) for one in house.discord.messages(dm)] == [
            ("before", True),
            ("after", True),
        ]
        assert house.discord.thinking(dm) == []


@pytest.mark.parametrize("lost", ["before", "after"])
async def test_an_answer_whose_receipt_was_lost_is_given_again_in_its_place(house: House, lost: str) -> None:
    alice, bob, general = of_server(house)
    async with house.running() as channel:
        await menu(house)
        house.discord.fail_next("PATCH", "/webhooks/", drop=lost, times=2)  # type: ignore[arg-type]
        await house.discord.slash(alice, general, "status")
        heard = await house.receiver.message("/status")
        answer = OutboundMessage(heard.address, "fine", "k", heard.answer_with)
        for _ in range(2):
            with pytest.raises(AnswerLost):
                await channel.send(answer)
        await channel.send(answer)
        assert seen_by(house, general, alice) == [("fine", True)]
        assert seen_by(house, general, bob) == [] == house.discord.thinking(general)


async def test_an_acknowledgement_that_discord_has_and_did_not_confirm_counts(house: House) -> None:
    alice, bob, general = of_server(house)
    house.answer_timeout = 0.4
    async with house.running() as channel:
        await menu(house)
        house.discord.hold("POST", "/callback$", after_effect=True)
        await house.discord.slash(alice, general, "status")
        heard = await house.receiver.message("/status")
        await channel.send(OutboundMessage(heard.address, "fine", "k", heard.answer_with))
        assert seen_by(house, general, alice) == [("fine", True)]
        assert seen_by(house, general, bob) == [] == house.discord.thinking(general)


@pytest.mark.parametrize("how", ["silent", "out of order", "cut", "long wait"])
async def test_an_answer_that_is_not_taken_for_a_while_waits(house: House, how: str) -> None:
    alice, bob, general = of_server(house)
    house.answer_timeout = 0.4
    async with house.running() as channel:
        await menu(house)
        mend = out_of_order(house, how, "PATCH", "/webhooks/")
        await house.discord.slash(alice, general, "status")
        heard = await house.receiver.message("/status")
        answer = OutboundMessage(heard.address, "fine", "k", heard.answer_with)
        for _ in range(3):
            with pytest.raises(NotSent):
                await channel.send(answer)
        assert [one for one in house.discord.messages(general) if one.content] == []
        mend()
        await channel.send(answer)
        assert seen_by(house, general, alice) == [("fine", True)]
        assert seen_by(house, general, bob) == [] == house.discord.thinking(general)


async def test_a_further_answer_that_perhaps_came_is_for_its_giver_alone_too(house: House) -> None:
    alice, bob, general = of_server(house)
    async with house.running() as channel:
        await menu(house)
        await house.discord.slash(alice, general, "status")
        heard = await house.receiver.message("/status")
        await channel.send(OutboundMessage(heard.address, "fine", "k", heard.answer_with))
        house.discord.fail_next("POST", "/webhooks/", status=503, times=2)
        more = OutboundMessage(heard.address, "and more", "k2", heard.answer_with)
        for _ in range(2):
            with pytest.raises(OutcomeUnknown):
                await channel.send(more)
        await channel.send(more)
        assert seen_by(house, general, alice) == [("fine", True), ("and more", True)]
        assert seen_by(house, general, bob) == []


async def test_an_answer_whose_look_is_refused_is_given_plainly_to_its_giver_alone(house: House) -> None:
    alice, bob, general = of_server(house)
    async with house.running() as channel:
        await menu(house)
        await house.discord.slash(alice, general, "status")
        heard = await house.receiver.message("/status")
        house.discord.fail_next("PATCH", "/webhooks/", status=400, json={"message": "Invalid Form Body", "code": 50035})
        await channel.send(OutboundMessage(heard.address, "*fine*", "k", heard.answer_with))
        assert seen_by(house, general, alice) == [("*fine*", True)]
        assert seen_by(house, general, bob) == [] == house.discord.thinking(general)


@pytest.mark.parametrize("how", ["unknown", "webhook gone", "never told"])
async def test_an_answer_to_a_command_that_discord_does_not_know_comes_in_the_chat(house: House, how: str) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    if how == "never told":
        house.answer_timeout = 0.4
    async with house.running() as channel:
        await menu(house)
        match how:
            case "unknown":
                error = {"message": "Unknown interaction", "code": 10062}
                house.discord.fail_next("POST", "/callback$", status=404, json=error, times=None)
            case "webhook gone":
                house.discord.fail_next("PATCH", "/webhooks/", status=404, json={"message": "gone", "code": 10015})
            case _:
                house.discord.hold("POST", "/callback$")
        await house.discord.slash(alice, dm, "status")
        heard = await house.receiver.message("/status")
        await channel.send(OutboundMessage(heard.address, "fine", "k", heard.answer_with))
        await channel.send(OutboundMessage(heard.address, "and more", "k2", heard.answer_with))
        seen = [one for one in house.discord.messages(dm) if one.content]
        assert [(one.content, one.ephemeral) for one in seen] == [("fine", False), ("and more", False)]


async def test_a_press_whose_message_is_not_changed_its_own_way(house: House) -> None:
    alice = house.discord.user("Alice")
    dm = house.discord.dm(alice)
    async with house.running() as channel:
        await channel.send(OutboundMessage(address(dm), "Shall I?", "k", buttons=((Button("Yes", "/answer K yes"),),)))
        (asked,) = house.discord.messages(dm)
        house.discord.fail_next("PATCH", "/webhooks/", status=503, times=None)
        await house.discord.press(alice, asked, "/answer K yes")
        pressed = await house.receiver.message("/answer K yes")
        done = OutboundMessage(pressed.address, "Done.", "k2", pressed.answer_with)
        with pytest.raises(AnswerLost):
            await channel.edit(str(asked.id), done)
        await channel.edit(str(asked.id), done)
        assert (asked.content, asked.buttons) == ("Done.", [])
