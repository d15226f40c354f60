"""A Bot API that lacks what can be done without, or reads the documentation in another way: the talk goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from channels.message import Button, InboundMessage, NotSent, OutboundMessage, PreviewStyle, Refused, SendError
from channels.telegram.api import connect
from channels.telegram.inbound import ALLOWED_UPDATES, TelegramIdentity, read
from channels.telegram.poller import Poller
from tests.channels.telegram.desk import ALICE, GROUP, Desk
from tests.fakes.telegram import FakeTelegram

LACKING: list[dict[str, Any]] = [
    {"status": 404, "body": '{"ok":false,"error_code":404,"description":"Not Found"}'},
    {"status": 403, "body": '{"ok":false,"error_code":403,"description":"Forbidden: no"}'},
    {"status": 501, "body": "<html>"},
    {"status": 200, "body": ""},
    {"status": 200, "body": '{"ok":true}'},
]


@pytest.mark.parametrize("answer", LACKING)
async def test_edits_instead_of_drafts_that_come_to_nothing(desk: Desk, answer: dict[str, Any]) -> None:
    desk.telegram.junk("sendMessageDraft", times=None, **answer)
    for _ in range(2):
        with pytest.raises(SendError):
            await desk.channel.draft(1, OutboundMessage(ALICE, "So far"))
    assert desk.channel.capabilities(ALICE).preview is PreviewStyle.EDIT


@pytest.mark.parametrize("answer", LACKING)
async def test_whole_messages_instead_of_edits_that_come_to_nothing(desk: Desk, answer: dict[str, Any]) -> None:
    sent = await desk.channel.send(OutboundMessage(ALICE, "So far"))
    desk.telegram.junk("editMessageText", times=None, **answer)
    errors: list[SendError] = []
    for _ in range(3):
        with pytest.raises(SendError) as failed:
            await desk.channel.edit(sent, OutboundMessage(ALICE, "All of it"))
        errors.append(failed.value)
        if desk.channel.capabilities(GROUP).preview is PreviewStyle.NONE:
            break
    assert isinstance(errors[-1], Refused)
    assert desk.channel.capabilities(GROUP).preview is PreviewStyle.NONE


async def test_edits_are_tried_again_where_nothing_is_answered(desk: Desk) -> None:
    sent = await desk.channel.send(OutboundMessage(ALICE, "So far"))
    desk.telegram.fail("*", status=500, times=8)
    for _ in range(4):
        with pytest.raises(NotSent):
            await desk.channel.edit(sent, OutboundMessage(ALICE, "All of it"))
    assert desk.channel.capabilities(GROUP).preview is PreviewStyle.EDIT


async def test_an_edit_that_changes_nothing_is_not_sent(desk: Desk) -> None:
    sent = await desk.channel.send(OutboundMessage(ALICE, "Some **words**"))
    await desk.channel.edit(sent, OutboundMessage(ALICE, "Some **words**"))
    await desk.channel.edit(sent, OutboundMessage(ALICE, "Other words"))
    await desk.channel.edit(sent, OutboundMessage(ALICE, "Other words"))
    await desk.channel.edit(sent, OutboundMessage(ALICE, "Some **words**"))
    assert [call.params.text("text") for call in desk.telegram.called("editMessageText")] == [
        "Other words",
        "Some words",
    ]


async def test_a_press_that_cannot_be_answered_holds_nothing_up(desk: Desk) -> None:
    hold = desk.telegram.hold("answerCallbackQuery")
    async with desk.running():
        sent = await desk.channel.send(OutboundMessage(ALICE, "Sure?", buttons=((Button("Yes", "yes"),),)))
        desk.telegram.press(int(sent), "yes")
        desk.telegram.say("next")
        await desk.until(lambda: any(isinstance(one, InboundMessage) and one.text == "next" for one in desk.events))
        hold.release()


@pytest.mark.parametrize("result", ['{"message_id":77}', '{"message_id":77,"date":"now","chat":5,"from":[]}'])
async def test_of_a_sent_message_only_the_id_counts(desk: Desk, result: str) -> None:
    body = f'{{"ok":true,"result":{result}}}'
    desk.telegram.junk("sendMessage", status=200, body=body, after_effect=True)
    assert await desk.channel.send(OutboundMessage(ALICE, "Hi")) == "77"
    assert len(desk.telegram.called("sendMessage")) == 1


async def test_a_refusal_under_the_status_200(desk: Desk) -> None:
    body = '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}'
    desk.telegram.junk("sendMessage", status=200, body=body)
    with pytest.raises(Refused, match="blocked"):
        await desk.channel.send(OutboundMessage(ALICE, "Hi"))


@pytest.mark.parametrize(
    ("body", "seconds"),
    [("", 3.0), ("<html>", 3.0), ('{"ok":false}', 3.0), ('{"ok":false,"parameters":{"retry_after":1.5}}', 2.0)],
)
async def test_a_429_was_never_sent(desk: Desk, body: str, seconds: float) -> None:
    desk.telegram.junk("sendMessage", status=429, body=body)
    with pytest.raises(NotSent) as refused:
        await desk.channel.send(OutboundMessage(ALICE, "Hi"))
    assert refused.value.retry_after == seconds


def test_numbers_as_json_has_them() -> None:
    message = {
        "message_id": 5.0,
        "date": 1_790_000_000.25,
        "chat": {"id": 11111.0, "type": "private"},
        "from": {"id": 11111.0, "first_name": "A"},
        "text": "hi",
    }
    event = read({"update_id": 7.0, "message": message}, TelegramIdentity(1, "bot"))
    assert isinstance(event, InboundMessage)
    assert (event.id, event.platform_id, event.address.chat_id) == ("update:7", "5", "11111")


async def test_after_a_long_silence_updates_may_begin_anywhere() -> None:
    async with FakeTelegram() as telegram:
        heard: list[object] = []
        quiet = asyncio.Event()

        async def pause(seconds: float) -> None:
            quiet.set()
            await asyncio.sleep(0)

        async def deliver(updates: Sequence[object]) -> None:
            heard.extend(updates)

        telegram.say("hello")
        poller = Poller(
            lambda: connect(telegram.token, telegram.base_url, read_timeout=5.0, connections=2),
            allowed_updates=ALLOWED_UPDATES,
            report=lambda status: None,
            pause=pause,
            long_poll=0,
            forget_after=0.0,
        )
        polling = asyncio.create_task(poller.run(deliver))
        async with asyncio.timeout(120):
            await telegram.bell.until(
                lambda: (
                    [call.params.integer("offset") > 0 for call in telegram.called("getUpdates")][-3:] == [False] * 3
                    and bool(heard)
                ),
                5.0,
            )
        polling.cancel()
        await asyncio.wait([polling])
    assert len(heard) == 1
