from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from channels.message import (
    Address,
    Attachment,
    Button,
    ChatKind,
    Event,
    Health,
    InboundMessage,
    NotFetched,
    NotSent,
    Origin,
    OutboundMessage,
    OutcomeUnknown,
    PreviewStyle,
    Receive,
    Refused,
)
from channels.scripted import ScriptedChannel, Typing

HERE = Address("scripted", "1")


@asynccontextmanager
async def running(channel: ScriptedChannel, receive: Receive) -> AsyncIterator[None]:
    task = asyncio.create_task(channel.run(receive))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_what_is_said_is_offered_and_what_is_sent_is_heard() -> None:
    channel = ScriptedChannel()

    async def echo(events: Sequence[Event]) -> None:
        for event in events:
            assert isinstance(event, InboundMessage)
            await channel.send(OutboundMessage(event.address, f"you said {event.text}"))

    async with running(channel, echo):
        channel.say("one")
        channel.say("two")
        assert await channel.wait_heard(2) == ["you said one", "you said two"]
    assert channel.heard(chat="2") == []


async def test_a_file_is_fetched_as_it_was_attached_or_not_at_all(tmp_path: Path) -> None:
    channel = ScriptedChannel()
    photo, gone = channel.attach(b"pixels", "cat.jpg", "photo"), channel.attach(NotFetched("it is gone"))
    await channel.fetch(photo, tmp_path / "cat", most=6)
    assert (tmp_path / "cat").read_bytes() == b"pixels"
    for attachment, most in ((photo, 5), (gone, 5), (Attachment("location", words="48.1, 11.6"), 5)):
        with pytest.raises(NotFetched):
            await channel.fetch(attachment, tmp_path / "nothing", most=most)
    assert not (tmp_path / "nothing").exists()


async def test_a_pressed_button_says_what_it_stands_for() -> None:
    channel = ScriptedChannel()
    heard: list[Event] = []

    async def receive(events: Sequence[Event]) -> None:
        heard.extend(events)

    async with running(channel, receive):
        id = await channel.send(OutboundMessage(HERE, "Sure?", buttons=((Button("Yes", "/answer K7F3 yes"),),)))
        channel.press(id, "Yes", sender="22222")
        await channel.wait_until(lambda: bool(heard))
    (press,) = heard
    assert isinstance(press, InboundMessage)
    assert (press.text, press.platform_id, press.sender.id) == ("/answer K7F3 yes", id, "22222")
    assert press.origin is Origin.COMMAND


async def test_what_was_refused_is_offered_again_by_the_next_run() -> None:
    channel = ScriptedChannel()
    seen: list[Event] = []

    async def full_disk(events: Sequence[Event]) -> None:
        raise OSError("disk full")

    async def works(events: Sequence[Event]) -> None:
        seen.extend(events)

    said = channel.say("keep me")
    with pytest.raises(OSError):
        await channel.run(full_disk)
    assert channel.status.state is Health.DOWN
    async with running(channel, works):
        await channel.wait_until(lambda: bool(seen))
    assert seen == [said]


async def test_edits_replace_and_missing_messages_are_refused() -> None:
    channel = ScriptedChannel()
    sent = await channel.send(OutboundMessage(HERE, "draft"))
    await channel.edit(sent, OutboundMessage(HERE, "final"))
    assert channel.heard() == ["final"]
    with pytest.raises(Refused):
        await channel.edit("999", OutboundMessage(HERE, "final"))


async def test_ordered_failures_come_in_order_and_may_have_delivered() -> None:
    channel = ScriptedChannel()
    channel.fail_next(NotSent("slow down", retry_after=3))
    channel.fail_next(OutcomeUnknown("cut"), delivered=True)
    with pytest.raises(NotSent):
        await channel.send(OutboundMessage(HERE, "a"))
    with pytest.raises(OutcomeUnknown):
        await channel.send(OutboundMessage(HERE, "b"))
    await channel.send(OutboundMessage(HERE, "c"))
    assert channel.heard() == ["b", "c"]


async def test_a_held_platform_takes_nothing_until_released() -> None:
    channel = ScriptedChannel()
    with channel.hold():
        sending = asyncio.create_task(channel.send(OutboundMessage(HERE, "later")))
        await asyncio.sleep(0)
        assert channel.heard() == []
    await sending
    assert channel.heard() == ["later"]


async def test_drafts_are_shown_but_not_kept() -> None:
    channel = ScriptedChannel(preview=PreviewStyle.DRAFT, drafts_in_groups=False)
    await channel.draft(1, OutboundMessage(HERE, "thinking"))
    assert channel.drafts() == ["thinking"]
    assert channel.heard() == []
    group = channel.say("hello", chat="-5", group=True)
    assert group.kind is ChatKind.GROUP
    assert channel.capabilities(group.address).preview is PreviewStyle.EDIT
    with pytest.raises(Refused):
        await channel.draft(2, OutboundMessage(group.address, "no"))


async def test_typing_always_stops() -> None:
    channel = ScriptedChannel()
    with pytest.raises(RuntimeError):
        async with channel.typing(HERE):
            assert channel.is_typing()
            raise RuntimeError
    assert channel.history == [Typing(HERE, on=True), Typing(HERE, on=False)]
    assert not channel.is_typing()


async def test_too_long_or_empty_is_refused_like_a_platform_would() -> None:
    channel = ScriptedChannel(limit=10)
    for text in ("x" * 11, "  "):
        with pytest.raises(Refused):
            await channel.send(OutboundMessage(HERE, text))
