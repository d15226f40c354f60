"""The adapter with the real library over HTTP against the strict fake."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import pytest

from agent.languages.codes import ALL_LANGUAGES
from channels.message import (
    Address,
    Button,
    ChatGone,
    Event,
    Health,
    InboundMessage,
    Migrated,
    NotSent,
    Origin,
    OutboundMessage,
    OutcomeUnknown,
    PreviewStyle,
    Refused,
    SendError,
    SourceFailed,
    TooLong,
    UnreadableEvent,
)
from tests.channels.telegram.desk import ALICE, GROUP, Desk
from tests.fakes.telegram import FakeTelegram

MENUS = 2 * len(ALL_LANGUAGES)
"""In private chats and in groups."""


async def test_a_message_comes_in_and_its_answer_goes_out(desk: Desk) -> None:
    async with desk.running():
        said = desk.telegram.say("hello")
        (event,) = await desk.received()
        assert isinstance(event, InboundMessage)
        assert (event.text, event.address, event.sender.id) == ("hello", ALICE, "11111")
        assert event.id == f"update:{said['update_id']}"
        sent = await desk.channel.send(
            OutboundMessage(ALICE, "**Hi** [there](https://example.org)", reply_to=event.platform_id)
        )
        answer = await desk.telegram.next_message(11111)
        assert desk.channel.status.state is Health.OK
    assert (answer.text, str(answer.id), str(answer.reply_to)) == ("Hi there", sent, event.platform_id)
    assert [entity["type"] for entity in answer.entities] == ["bold", "text_link"]
    assert desk.telegram.called("sendMessage")[0].params.object("link_preview_options") == {"is_disabled": True}
    assert desk.channel.status.state is Health.OFF


async def test_invariant_01_an_update_is_confirmed_only_after_it_was_received(desk: Desk) -> None:
    """What `receive` refuses stays with Telegram, and the next run offers it again."""

    def full_disk(events: Sequence[Event]) -> None:
        raise OSError("disk full")

    desk.telegram.say("keep me")
    desk.refuse = full_disk
    with pytest.raises(OSError, match="disk full"):
        await desk.channel.run(desk.receive)
    assert desk.channel.status.state is Health.DOWN
    assert len(desk.telegram.pending) == 1
    desk.refuse = lambda events: None
    async with desk.running():
        (event,) = await desk.received()
        assert isinstance(event, InboundMessage)
        assert event.text == "keep me"
        await desk.telegram.wait_for(lambda: not desk.telegram.pending)


async def test_invariant_01_telegram_is_not_asked_again_before_the_updates_are_received(desk: Desk) -> None:
    stored = asyncio.Event()
    received = asyncio.Event()

    async def slow_disk(events: Sequence[Event]) -> None:
        received.set()
        await stored.wait()

    desk.telegram.say("slowly")
    running = asyncio.create_task(desk.channel.run(slow_disk))
    async with asyncio.timeout(120):
        await received.wait()
        await desk.channel.send(OutboundMessage(ALICE, "a call after it"))
        assert len(desk.telegram.pending) == 1
        assert len(desk.telegram.called("getUpdates")) == 1
        stored.set()
        await desk.telegram.wait_for(lambda: not desk.telegram.pending)
    running.cancel()
    await asyncio.wait([running])


async def test_a_poison_update_does_not_block_those_behind_it(desk: Desk) -> None:
    desk.telegram.push({"message": {"chat": "what?"}})
    desk.telegram.push({"message": {"message_id": 5, "date": 10**30, "chat": {"id": 1, "type": "private"}, "from": {}}})
    desk.telegram.say("after it")
    async with desk.running():
        first, second, third = await desk.received(3)
        await desk.telegram.wait_for(lambda: not desk.telegram.pending)
    assert isinstance(first, UnreadableEvent)
    assert isinstance(second, UnreadableEvent)
    assert '"what?"' in first.raw
    assert isinstance(third, InboundMessage)


@pytest.mark.parametrize("status", [401, 404])
async def test_a_wrong_token_is_said_once_and_for_all(desk: Desk, status: int) -> None:
    desk.telegram.fail("getMe", status=status)
    with pytest.raises(SourceFailed) as failed:
        await desk.channel.run(desk.receive)
    assert failed.value.fatal
    assert "channels.telegram.token" in str(failed.value)
    assert desk.telegram.token not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__
    assert desk.channel.status.state is Health.DOWN


@pytest.mark.parametrize("status", [401, 404])
async def test_one_rejection_of_a_token_that_worked_is_survived(desk: Desk, status: int) -> None:
    desk.telegram.fail("getUpdates", status=status, times=2)
    async with desk.running():
        desk.telegram.say("still there?")
        await desk.received()
        assert desk.channel.status.state is Health.OK
    assert len(desk.pauses) == 2


async def test_a_token_revoked_for_good_ends_the_channel(desk: Desk) -> None:
    desk.telegram.fail("getUpdates", status=401, times=None)
    with pytest.raises(SourceFailed) as failed:
        async with asyncio.timeout(120):
            await desk.channel.run(desk.receive)
    assert failed.value.fatal


@pytest.mark.parametrize("method", ["getMe", "getUpdates"])
@pytest.mark.parametrize("fault", ["500", "502 html", "502 odd", "not json", "no result", "odd result", "abort"])
async def test_faults_of_the_server_are_survived_and_seen(desk: Desk, method: str, fault: str) -> None:
    telegram = desk.telegram
    {
        "500": lambda: telegram.fail(method, status=500, times=4),
        "502 html": lambda: telegram.junk(method, times=4),
        "502 odd": lambda: telegram.junk(method, status=502, body='["bad gateway"]', times=4),
        "not json": lambda: telegram.junk(method, status=200, body="{", times=4),
        "no result": lambda: telegram.junk(method, status=200, body='{"ok": true}', times=4),
        "odd result": lambda: telegram.junk(method, status=200, body='{"ok": true, "result": 5}', times=4),
        "abort": lambda: telegram.abort(method, times=4),
    }[fault]()
    async with desk.running():
        telegram.say("through all that")
        await desk.received()
        assert desk.channel.status.state is Health.OK
    assert [status.state for status in desk.troubles] == [Health.DEGRADED] * 4
    assert all(status.last_error and telegram.token not in status.last_error for status in desk.troubles)
    assert all(0.4 < pause <= 8 for pause in desk.pauses)


async def test_a_poller_too_many_is_waited_out_then_told_and_never_given_up(desk: Desk) -> None:
    conflict = desk.telegram.fail("getUpdates", status=409, times=None)
    async with desk.running():
        await desk.until(lambda: sum(desk.pauses) > 55)
        assert desk.channel.status.state is Health.OK
        await desk.until(lambda: sum(desk.pauses) > 130)
        assert desk.channel.status.state is Health.DEGRADED
        assert "another process" in desk.channel.status.last_error
        conflict.cancel()
        desk.telegram.say("alone again")
        await desk.received()
        assert desk.channel.status.state is Health.OK


async def test_the_pause_that_telegram_asks_for_is_taken(desk: Desk) -> None:
    desk.telegram.fail("getUpdates", status=429, retry_after=7)
    async with desk.running():
        desk.telegram.say("hi")
        await desk.received()
    assert desk.pauses == [7.5]


async def test_a_long_outage_is_down_and_ends(desk: Desk) -> None:
    outage = desk.telegram.fail("getUpdates", status=503, times=None)
    async with desk.running():
        await desk.until(lambda: sum(desk.pauses) > 200)
        assert desk.channel.status.state is Health.DOWN
        outage.cancel()
        await desk.polled()
        desk.telegram.say("back")
        await desk.received()
        assert desk.channel.status.state is Health.OK


async def test_a_server_that_goes_away_and_comes_back(desk: Desk) -> None:
    async with desk.running():
        desk.telegram.say("one")
        await desk.received(1)
        await desk.telegram.stop()
        await desk.until(lambda: len(desk.pauses) >= 4)
        await desk.telegram.start()
        desk.telegram.say("two")
        await desk.received(2)


async def test_a_proxy_in_the_environment_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with FakeTelegram() as telegram:
        desk = Desk(telegram)
        async with desk.running():
            telegram.say("hi")
            await desk.received()
        await desk.channel.aclose()


async def test_the_token_is_never_logged(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    desk.telegram.fail("getUpdates", status=401)
    desk.telegram.junk("getUpdates")
    desk.telegram.abort("getUpdates")
    with caplog.at_level(logging.INFO):
        logging.getLogger("httpx").setLevel(logging.WARNING)
        async with desk.running():
            desk.telegram.say("hi")
            await desk.received()
    assert caplog.text
    assert desk.telegram.token not in caplog.text


async def test_the_menu_has_the_owners_commands_only_in_private(desk: Desk) -> None:
    async with desk.running():
        await desk.telegram.wait_for(lambda: len(desk.telegram.called("setMyCommands")) == MENUS)
    async with desk.running():
        await desk.telegram.wait_for(lambda: len(desk.telegram.called("getMyCommands")) == 2 * MENUS)
    assert len(desk.telegram.called("setMyCommands")) == MENUS, "an unchanged menu is not set again"
    menus = {scope: [one["command"] for one in commands] for scope, commands in desk.telegram.commands.items()}
    assert menus["all_private_chats"] == menus["all_private_chats/de"] == ["help", "pair"]
    assert menus["all_group_chats"] == menus["all_group_chats/ja"] == ["help"]


async def test_the_menu_is_in_the_language_of_who_opens_it(desk: Desk) -> None:
    async with desk.running():
        await desk.telegram.wait_for(lambda: len(desk.telegram.called("setMyCommands")) == MENUS)
    told = {scope: commands[0]["description"] for scope, commands in desk.telegram.commands.items()}
    assert told["all_private_chats"] == "list the commands" and told["all_group_chats/de"] == "alle Befehle"
    languages = [scope.partition("/")[2] for scope in told if scope.startswith("all_private_chats")]
    assert sorted(languages) == sorted(["", *ALL_LANGUAGES[1:]]), "English for everybody else"


async def test_a_person_comes_with_the_language_of_their_app(desk: Desk) -> None:
    desk.telegram.languages[11111] = "pt-br"
    async with desk.running():
        desk.telegram.say("oi")
        (message,) = await desk.received()
    assert isinstance(message, InboundMessage) and message.sender.language == "pt-br"


async def test_a_refused_menu_harms_nothing(desk: Desk) -> None:
    desk.telegram.fail("setMyCommands", status=500, times=None)
    async with desk.running():
        await desk.telegram.wait_for(lambda: len(desk.telegram.called("setMyCommands")) == MENUS)
        desk.telegram.say("hi")
        await desk.received()


# What goes out


async def refusal(desk: Desk, address: Address = ALICE, text: str = "hi") -> SendError:
    with pytest.raises(SendError) as failed:
        await desk.channel.send(OutboundMessage(address, text))
    assert desk.telegram.token not in str(failed.value)
    assert failed.value.__suppress_context__ or failed.value.__context__ is None
    return failed.value


async def test_429_is_not_sent_with_telegrams_own_delay(desk: Desk) -> None:
    desk.telegram.fail("sendMessage", status=429, retry_after=33)
    error = await refusal(desk)
    assert isinstance(error, NotSent)
    assert error.retry_after == 33


async def test_an_error_that_the_bot_api_tells_is_not_sent(desk: Desk) -> None:
    desk.telegram.fail("sendMessage", status=500, description="Internal Server Error: restart")
    assert isinstance(await refusal(desk), NotSent)


async def test_a_server_that_is_not_there_is_not_sent(desk: Desk) -> None:
    await desk.telegram.stop()
    assert isinstance(await refusal(desk), NotSent)


@pytest.mark.parametrize("fault", ["abort", "gateway html", "junk"])
async def test_an_answer_that_is_lost_leaves_the_outcome_unknown(desk: Desk, fault: str) -> None:
    if fault == "abort":
        desk.telegram.abort_after("sendMessage")
    elif fault == "gateway html":
        desk.telegram.junk("sendMessage", after_effect=True)
    else:
        desk.telegram.junk("sendMessage", status=200, body='{"ok": true, "result": {}}', after_effect=True)
    assert isinstance(await refusal(desk), OutcomeUnknown)
    assert len(desk.telegram.messages(11111)) == 1


async def test_an_answer_that_is_late_leaves_the_outcome_unknown(desk: Desk) -> None:
    impatient = Desk(desk.telegram, answer_timeout=0.2)
    hold = desk.telegram.hold("sendMessage", after_effect=True)
    assert isinstance(await refusal(impatient), OutcomeUnknown)
    hold.release()
    await impatient.channel.aclose()


@pytest.mark.parametrize("address", [Address("telegram", "404404"), Address("telegram", "alice")])
async def test_unknown_chats_are_refused(desk: Desk, address: Address) -> None:
    assert isinstance(await refusal(desk, address), Refused)


async def test_a_person_who_blocked_the_bot_is_refused(desk: Desk) -> None:
    desk.telegram.block(11111)
    error = await refusal(desk)
    assert isinstance(error, Refused)
    assert "blocked" in str(error)


async def test_text_refused_as_markup_is_sent_once_as_plain_text(desk: Desk) -> None:
    desk.telegram.fail("sendMessage", status=400, description="Bad Request: can't parse entities: no")
    await desk.channel.send(OutboundMessage(ALICE, "**bold** [x](https://example.org)"))
    (message,) = desk.telegram.messages(11111)
    assert message.text == "bold x (https://example.org)"


async def test_plain_text_refused_as_markup_is_sent_once_more(desk: Desk) -> None:
    desk.telegram.fail("sendMessage", status=400, description="Bad Request: can't parse entities: no")
    await desk.channel.send(OutboundMessage(ALICE, "no markup at all"))
    (message,) = desk.telegram.messages(11111)
    assert message.text == "no markup at all"


async def test_markup_refused_without_markup_is_refused(desk: Desk) -> None:
    desk.telegram.fail("sendMessage", status=400, description="Bad Request: can't parse entities: no", times=None)
    assert isinstance(await refusal(desk, text="**bold**"), Refused)
    assert len(desk.telegram.called("sendMessage")) == 2


@pytest.mark.parametrize(
    "description",
    [
        "Bad Request: text must be encoded in UTF-8",
        "Bad Request: strings must be encoded in UTF-8",
        "Bad Request: ENTITY_BOUNDS_INVALID",
        "Bad Request: ENTITIES_TOO_LONG",
        "Bad Request: message text is empty",
        "Bad Request: MESSAGE_EMPTY",
        "Bad Request: can't parse MessageEntity: Unsupported type specified",
        "Bad Request: Wrong HTTP URL specified",
        "Bad Request: something that no server has said so far",
    ],
)
async def test_a_refusal_that_is_about_the_text_gets_the_plain_attempt_once(desk: Desk, description: str) -> None:
    desk.telegram.fail("sendMessage", status=400, description=description)
    id = await desk.channel.send(OutboundMessage(ALICE, "**bold** [x](https://example.org)"))
    (message,) = desk.telegram.messages(11111)
    assert (message.text, message.entities) == ("bold x (https://example.org)", [])
    desk.telegram.fail("editMessageText", status=400, description=description)
    await desk.channel.edit(id, OutboundMessage(ALICE, "**bolder** [x](https://example.org)"))
    (message,) = desk.telegram.messages(11111)
    assert (message.text, message.entities) == ("bolder x (https://example.org)", [])
    before = len(desk.telegram.called("sendMessage"))
    desk.telegram.fail("sendMessage", status=400, description=description, times=2)
    assert type(await refusal(desk)) is Refused
    assert len(desk.telegram.called("sendMessage")) == before + 2


@pytest.mark.parametrize(
    "description",
    [
        "Bad Request: message is too long",
        "Bad Request: MESSAGE_TOO_LONG",
        "Bad Request: text is too long",
        "Bad Request: message caption is too long",
    ],
)
async def test_a_text_that_is_too_long_is_said_to_be(desk: Desk, description: str) -> None:
    desk.telegram.fail("sendMessage", status=400, description=description)
    assert isinstance(await refusal(desk), TooLong)
    assert len(desk.telegram.called("sendMessage")) == 1
    id = await desk.channel.send(OutboundMessage(ALICE, "one"))
    desk.telegram.fail("editMessageText", status=400, description=description)
    with pytest.raises(TooLong):
        await desk.channel.edit(id, OutboundMessage(ALICE, "two"))


@pytest.mark.parametrize(
    ("status", "description", "kind"),
    [
        (403, "Forbidden: bot was blocked by the user", ChatGone),
        (403, "Forbidden: bot was kicked from the supergroup chat", ChatGone),
        (403, "Forbidden: user is deactivated", ChatGone),
        (400, "Bad Request: chat not found", ChatGone),
        (400, "Bad Request: PEER_ID_INVALID", ChatGone),
        (400, "Bad Request: not enough rights to send text messages to the chat", ChatGone),
        (400, "Bad Request: have no rights to send a message", ChatGone),
        (400, "Bad Request: not enough rights to send photos to the chat", Refused),
        (400, "Bad Request: TOPIC_CLOSED", Refused),
        (400, "Bad Request: BUTTON_DATA_INVALID", Refused),
        (400, "Bad Request: message to be replied not found", Refused),
    ],
)
async def test_a_refusal_that_is_about_something_else_is_not_tried_again(
    desk: Desk, status: int, description: str, kind: type[Refused]
) -> None:
    desk.telegram.fail("sendMessage", status=status, description=description)
    assert type(await refusal(desk)) is kind
    assert len(desk.telegram.called("sendMessage")) == 1


async def test_a_deleted_topic_is_answered_in_its_chat(desk: Desk) -> None:
    desk.telegram.add_chat(-1001234567890)
    await desk.channel.send(OutboundMessage(Address("telegram", "-1001234567890", "77"), "hi"))
    (message,) = desk.telegram.messages(-1001234567890)
    assert message.thread is None


async def test_topics_are_answered_in_the_topic_and_general_in_the_chat(desk: Desk) -> None:
    desk.telegram.say("hi", chat=-1001234567890, thread=7)
    for thread in ("7", "1"):
        await desk.channel.send(OutboundMessage(Address("telegram", "-1001234567890", thread), f"to {thread}"))
    assert [(m.text, m.thread) for m in desk.telegram.messages(-1001234567890)] == [("to 7", 7), ("to 1", None)]


async def test_a_reply_to_a_message_that_is_gone_is_sent_all_the_same(desk: Desk) -> None:
    await desk.channel.send(OutboundMessage(ALICE, "hi", reply_to="99999"))
    assert desk.telegram.messages(11111)[0].reply_to is None


async def test_a_moved_group_gets_its_message_and_the_move_is_told(desk: Desk) -> None:
    desk.telegram.say("hi", chat=-500, chat_type="group")
    async with desk.running():
        await desk.received()
        desk.telegram.migrate(-500, -1009)
        await desk.channel.send(OutboundMessage(Address("telegram", "-500"), "found you"))
        moves = [event for event in await desk.received(2) if isinstance(event, Migrated)]
        assert desk.telegram.messages(-1009)[0].text == "found you"
        await desk.telegram.wait_for(lambda: not desk.telegram.pending)
        moves = [event for event in desk.events if isinstance(event, Migrated)]
    assert {move.id for move in moves} == {"migrated:-500:-1009"}
    assert (moves[0].old.chat_id, moves[0].new.chat_id) == ("-500", "-1009")


@pytest.mark.parametrize("known", [True, False], ids=["told of the move", "the edit learns of it"])
async def test_an_edit_never_reaches_another_message_of_a_group_that_moved(desk: Desk, known: bool) -> None:
    """The ids of a supergroup's messages count anew: the same may be another message of ours."""
    old, new = Address("telegram", "-500"), Address("telegram", "-1009")
    desk.telegram.say("hi", chat=-500, chat_type="group")
    async with desk.running():
        await desk.received()
        before = await desk.channel.send(OutboundMessage(old, "an answer that is being"))
        desk.telegram.migrate(-500, -1009)
        if known:
            await desk.received(3)
        else:
            desk.telegram.drop_pending()
        assert await desk.channel.send(OutboundMessage(new, "another")) == before
        with pytest.raises(Refused, match="became a supergroup"):
            await desk.channel.edit(before, OutboundMessage(old, "an answer that is being written"))
        after = await desk.channel.send(OutboundMessage(old, "anew"))
        await desk.channel.edit(after, OutboundMessage(old, "anew and edited"))
        moves = [event for event in await desk.received(2) if isinstance(event, Migrated)]
    assert {move.id for move in moves} == {"migrated:-500:-1009"}
    assert [message.text for message in desk.telegram.messages(-1009) if message.text] == ["another", "anew and edited"]


async def test_a_move_learnt_while_not_running_is_told_by_the_next_run(desk: Desk) -> None:
    desk.telegram.say("hi", chat=-500, chat_type="group")
    desk.telegram.migrate(-500, -1009)
    desk.telegram.drop_pending()
    await desk.channel.send(OutboundMessage(Address("telegram", "-500"), "found you"))
    async with desk.running():
        desk.telegram.say("and now")
        events = await desk.received(2)
    assert isinstance(events[0], Migrated)


async def test_a_move_that_nobody_takes_now_is_told_later_and_its_message_is_sent_all_the_same(desk: Desk) -> None:
    def refuse(events: Sequence[Event]) -> None:
        if all(isinstance(event, Migrated) for event in events):
            raise OSError("the disk is full")

    desk.telegram.say("hi", chat=-500, chat_type="group")
    async with desk.running():
        await desk.received()
        desk.refuse = refuse
        desk.telegram.migrate(-500, -1009)
        desk.telegram.drop_pending()
        await desk.channel.send(OutboundMessage(Address("telegram", "-500"), "found you"))
        assert desk.telegram.messages(-1009)[0].text == "found you"
        desk.telegram.say("and now")
        events = await desk.received(3)
    assert isinstance(events[1], Migrated)


async def test_a_move_may_be_told_by_updates_while_a_send_tells_it(desk: Desk) -> None:
    by_send, by_updates = asyncio.Event(), asyncio.Event()

    async def receive(events: Sequence[Event]) -> None:
        await desk.receive(events)
        if [type(event) for event in events] == [Migrated]:
            by_send.set()
            await by_updates.wait()
        elif by_send.is_set():
            by_updates.set()

    desk.telegram.say("hi", chat=-500, chat_type="group")
    running = asyncio.create_task(desk.channel.run(receive))
    await desk.received()
    desk.telegram.migrate(-500, -1009)
    desk.telegram.drop_pending()
    sending = asyncio.create_task(desk.channel.send(OutboundMessage(Address("telegram", "-500"), "found you")))
    await by_send.wait()
    desk.telegram.say("and now")
    await sending
    assert [message.text for message in desk.telegram.messages(-1009)] == ["found you"]
    running.cancel()
    await asyncio.wait([running])


async def test_edits_replace_and_an_unchanged_text_is_no_error(desk: Desk) -> None:
    sent = await desk.channel.send(OutboundMessage(ALICE, "one"))
    for _ in range(2):
        await desk.channel.edit(sent, OutboundMessage(ALICE, "**two**"))
    (message,) = desk.telegram.messages(11111)
    assert (message.text, message.edits) == ("two", 1)
    with pytest.raises(Refused):
        await desk.channel.edit("4711", OutboundMessage(ALICE, "three"))
    desk.telegram.fail("editMessageText", status=429, retry_after=5)
    with pytest.raises(NotSent) as failed:
        await desk.channel.edit(sent, OutboundMessage(ALICE, "four"))
    assert failed.value.retry_after == 5


async def test_buttons_are_shown_pressed_and_answered(desk: Desk) -> None:
    sent = await desk.channel.send(OutboundMessage(ALICE, "Sure?", buttons=((Button("Yes", "/yes 1"),),)))
    async with desk.running():
        query = desk.telegram.press(int(sent), "/yes 1")
        (event,) = await desk.received()
        await desk.telegram.wait_for(lambda: query in desk.telegram.callback_answers)
    assert isinstance(event, InboundMessage)
    assert (event.text, event.origin, event.address, event.sender.id) == ("/yes 1", Origin.COMMAND, ALICE, "11111")


async def test_drafts_are_shown_in_private_and_a_chat_that_refuses_them_gets_edits(desk: Desk) -> None:
    assert desk.channel.capabilities(ALICE).preview is PreviewStyle.DRAFT
    assert desk.channel.capabilities(GROUP).preview is PreviewStyle.EDIT
    await desk.channel.draft(5, OutboundMessage(ALICE, "**think**ing"))
    shown = desk.telegram.draft(11111)
    assert shown is not None
    assert shown.text == "thinking"
    desk.telegram.fail("sendMessageDraft", status=429, retry_after=2)
    with pytest.raises(NotSent):
        await desk.channel.draft(5, OutboundMessage(ALICE, "more"))
    assert desk.channel.capabilities(ALICE).preview is PreviewStyle.DRAFT
    desk.telegram.fail("sendMessageDraft", status=400, description="Bad Request: TEXTDRAFT_PEER_INVALID")
    with pytest.raises(Refused):
        await desk.channel.draft(5, OutboundMessage(ALICE, "more"))
    assert desk.channel.capabilities(ALICE).preview is PreviewStyle.EDIT
    assert desk.channel.capabilities(Address("telegram", "22222")).preview is PreviewStyle.DRAFT


async def test_a_server_without_drafts_is_asked_once(desk: Desk) -> None:
    desk.telegram.fail("sendMessageDraft", status=404, times=None)
    for _ in range(2):
        with pytest.raises(Refused):
            await desk.channel.draft(5, OutboundMessage(ALICE, "hm"))
    assert len(desk.telegram.called("sendMessageDraft")) == 1
    assert desk.channel.capabilities(ALICE).preview is PreviewStyle.EDIT


async def test_typing_goes_on_in_its_topic_and_always_stops(desk: Desk) -> None:
    desk.telegram.say("hi", chat=-1001234567890, thread=7)
    with pytest.raises(RuntimeError):
        async with desk.channel.typing(Address("telegram", "-1001234567890", "7")):
            await desk.telegram.wait_for(lambda: len(desk.telegram.typing) >= 2)
            raise RuntimeError
    signs = len(desk.telegram.called("sendChatAction"))
    assert {(sign.chat, sign.thread, sign.action) for sign in desk.telegram.typing} == {(-1001234567890, 7, "typing")}
    await desk.channel.send(OutboundMessage(ALICE, "something else"))
    assert len(desk.telegram.called("sendChatAction")) <= signs + 1
    assert set(desk.pauses) == {4.0}


async def test_typing_pauses_when_told_and_never_raises(desk: Desk) -> None:
    desk.telegram.fail("sendChatAction", status=429, retry_after=9)
    desk.telegram.fail("sendChatAction", status=500)
    async with desk.channel.typing(ALICE):
        await desk.telegram.wait_for(lambda: bool(desk.telegram.typing))
    assert desk.pauses[:2] == [9, 4.0]


async def test_typing_where_no_chat_can_be_is_no_error(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    async with desk.channel.typing(Address("telegram", "alice")):
        await desk.channel.send(OutboundMessage(ALICE, "meanwhile"))
    assert not desk.telegram.called("sendChatAction")
    assert not caplog.records


async def test_an_odd_answer_to_a_small_courtesy_stops_nothing(desk: Desk) -> None:
    desk.telegram.junk("answerCallbackQuery", status=200, body="{}")
    desk.telegram.junk("getMyCommands", status=200, body="[]", times=None)
    sent = await desk.channel.send(OutboundMessage(ALICE, "Sure?", buttons=((Button("Yes", "yes"),),)))
    async with desk.running():
        desk.telegram.press(int(sent), "yes")
        await desk.received(1)
        desk.telegram.say("go on")
        await desk.received(2)


async def test_a_long_answer_is_split_into_messages_that_telegram_takes(desk: Desk) -> None:
    answer = "# Title 🙂\n\n" + "A **bold** sentence with 🙂 in it. " * 400 + "\n\n```py\n" + "x = '🙂'\n" * 900 + "```"
    pieces = desk.channel.split(answer)
    for piece in pieces:
        await desk.channel.send(OutboundMessage(ALICE, piece))
    shown = desk.telegram.messages(11111)
    assert len(shown) == len(pieces) > 4
    assert sum(message.text.count("🙂") for message in shown) == answer.count("🙂")
    assert sum(message.text.count("x = ") for message in shown) == 900


async def test_a_reaction_is_put_changed_and_taken_away(desk: Desk) -> None:
    said = desk.telegram.say("hi")["message"]["message_id"]
    shown = []
    for emoji in ("👀", "❤️", "✅", ""):
        await desk.channel.react(ALICE, str(said), emoji)
        shown.append([one["emoji"] for one in desk.telegram.reactions.get((11111, said), [])])
    assert shown == [["👀"], ["❤"], ["❤"], []], "what Telegram has no reaction for is not tried"
    assert {call.status for call in desk.telegram.called("setMessageReaction")} == {200}


async def test_a_reaction_that_fails_is_nobodys_concern(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    said = desk.telegram.say("hi")["message"]["message_id"]
    desk.telegram.fail("setMessageReaction", status=400, description="Bad Request: REACTION_INVALID")
    desk.telegram.abort("setMessageReaction")
    desk.telegram.junk("setMessageReaction", status=200, body="[]")
    for _ in range(3):
        await desk.channel.react(ALICE, str(said), "👀")
    await desk.channel.react(ALICE, "4711", "👀")
    await desk.channel.react(Address("telegram", "alice"), "x", "👀")
    assert not caplog.records
    assert desk.telegram.token not in caplog.text


async def test_an_edit_without_buttons_takes_them_away(desk: Desk) -> None:
    sent = await desk.channel.send(OutboundMessage(ALICE, "Sure?", buttons=((Button("Yes", "/yes 1"),),)))
    await desk.channel.edit(sent, OutboundMessage(ALICE, "Sure?"))
    (message,) = desk.telegram.messages(11111)
    assert (message.text, message.buttons) == ("Sure?", [])


@pytest.mark.parametrize("data", ["", "/answer " + "界" * 19])
async def test_a_button_that_carries_too_much_or_nothing_is_refused_before_it_is_sent(desk: Desk, data: str) -> None:
    message = OutboundMessage(ALICE, "Sure?", buttons=((Button("Yes", data),),))
    with pytest.raises(Refused, match=r"'Yes' carries \d+ bytes; Telegram takes 1 to 64"):
        await desk.channel.send(message)
    with pytest.raises(Refused, match="carries"):
        await desk.channel.edit("5", message)
    assert not desk.telegram.called("sendMessage")


async def test_a_press_in_a_topic_comes_from_the_topic_and_from_who_pressed(desk: Desk) -> None:
    forum = Address("telegram", "-1001234567890", "7")
    desk.telegram.say("hi", chat=-1001234567890, thread=7)
    sent = await desk.channel.send(OutboundMessage(forum, "Sure?", buttons=((Button("Yes", "/yes 1"),),)))
    async with desk.running():
        desk.telegram.press(int(sent), "/yes 1", chat=-1001234567890, user=22222)
        event = (await desk.received(2))[1]
    assert isinstance(event, InboundMessage)
    assert (event.address, event.sender.id, event.platform_id) == (forum, "22222", sent)


@pytest.mark.parametrize(
    "description",
    [
        "Bad Request: chat not found",
        "Bad Request: not enough rights to send text messages to the chat",
        "Bad Request: CHAT_WRITE_FORBIDDEN",
        "Bad Request: TOPIC_CLOSED",
    ],
)
async def test_what_may_never_be_sent_is_refused_with_the_reason(desk: Desk, description: str) -> None:
    desk.telegram.fail("sendMessage", status=400, description=description)
    error = await refusal(desk)
    assert isinstance(error, Refused)
    assert description.split(": ")[1].casefold() in str(error).casefold()


@pytest.mark.parametrize("description", ["bot was kicked from the group chat", "user is deactivated"])
async def test_a_chat_that_is_closed_to_the_bot_is_refused(desk: Desk, description: str) -> None:
    desk.telegram.fail("sendMessage", status=403, description=f"Forbidden: {description}")
    assert isinstance(await refusal(desk), Refused)


ALPHABETS = {
    "latin": "Grüße aus Łódź und São Paulo. ",
    "cyrillic": "Съешь же ещё этих мягких булок. ",
    "arabic": "نص عربي طويل فيه كلمات كثيرة. ",
    "chinese": "天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。",
    "emoji": "👩‍👩‍👧👍🏽🇩🇪🏴󠁧󠁢󠁥󠁮󠁧󠁿",
}


@pytest.mark.parametrize("alphabet", ALPHABETS)
async def test_ten_thousand_characters_of_any_script_arrive_whole(desk: Desk, alphabet: str) -> None:
    """Without a single paragraph to cut at, and with a fence inside a fence behind it."""
    words = ALPHABETS[alphabet]
    fences = "\n\n````md\n```py\n" + "x = 1\n" * 900 + "```\n````\n\n**end**"
    for piece in desk.channel.split(words * (10_000 // len(words)) + fences):
        await desk.channel.send(OutboundMessage(ALICE, piece))
    shown = desk.telegram.messages(11111)
    whole = "".join(message.text for message in shown)
    squeezed = "".join(words.split())
    assert "".join(whole.split()).startswith(squeezed * (10_000 // len(words)))
    assert whole.count("x = 1") == 900
    assert shown[-1].text.endswith("end")
    assert whole.count("```") == 2, "the inner fence is code, the outer one is drawn"
    assert {call.status for call in desk.telegram.called("sendMessage")} == {200}
