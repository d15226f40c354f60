"""The terminal as a channel, without a gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from channels.message import (
    Address,
    Button,
    Event,
    Health,
    InboundMessage,
    NotSent,
    OutboundMessage,
    OutcomeUnknown,
    PreviewStyle,
)
from channels.terminal import Busy, Final, Shown, TerminalChannel, TerminalMessageNotKept, TerminalPreview

MAIN = Address("terminal", "main")


class Desk:
    """Whoever looks, and what they saw. `broken` is raised in place of showing."""

    def __init__(self, broken: Exception | None = None) -> None:
        self.seen: list[Shown] = []
        self.broken = broken

    async def show(self, shown: Shown) -> None:
        if self.broken:
            raise self.broken
        self.seen.append(shown)

    @property
    def finals(self) -> list[str]:
        return [shown.text for shown in self.seen if isinstance(shown, Final)]


class House:
    """What stands behind `receive`."""

    def __init__(self) -> None:
        self.kept: list[InboundMessage] = []
        self.failure: Exception | None = None

    async def receive(self, events: Sequence[Event]) -> None:
        if self.failure:
            raise self.failure
        self.kept += [event for event in events if isinstance(event, InboundMessage)]


@asynccontextmanager
async def running(terminal: TerminalChannel, house: House) -> AsyncIterator[None]:
    task = asyncio.create_task(terminal.run(house.receive))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_what_is_said_is_kept_before_say_returns() -> None:
    terminal, house = TerminalChannel("Ann"), House()
    async with running(terminal, house):
        message_id = await terminal.say("hello", "work")
        assert terminal.status.state is Health.OK
    (message,) = house.kept
    assert (message.id, message.platform_id, message.text) == (message_id, message_id, "hello")
    assert (message.address, message.sender.id, message.sender.name) == (Address("terminal", "work"), "owner", "Ann")


async def test_what_cannot_be_kept_is_told_and_the_next_is_taken() -> None:
    terminal, house = TerminalChannel(), House()
    async with running(terminal, house):
        house.failure = OSError("the disk is full")
        with pytest.raises(TerminalMessageNotKept, match="the disk is full"):
            await terminal.say("one")
        assert terminal.status.state is Health.DEGRADED and terminal.status.is_connected
        house.failure = None
        await terminal.say("two")
        assert terminal.status.state is Health.OK
    assert [message.text for message in house.kept] == ["two"]


async def test_text_that_no_file_can_hold_is_mended() -> None:
    terminal, house = TerminalChannel(), House()
    async with running(terminal, house):
        await terminal.say("a\ud800b\0c \U0001f600 \u200f")
    assert house.kept[0].text == "a�bc \U0001f600 \u200f"


async def test_everyone_who_looks_sees_a_reply_and_its_preview() -> None:
    terminal, one, two, other = TerminalChannel(), Desk(), Desk(), Desk()
    with terminal.attach("main", one), terminal.attach("main", two), terminal.attach("other", other):
        async with terminal.typing(MAIN):
            await terminal.draft(1, OutboundMessage(MAIN, "Hel"))
        final_id = await terminal.send(OutboundMessage(MAIN, "Hello", key="k:0", reply_to="m1"))
    expected = [Busy(True), TerminalPreview("Hel"), Busy(False), Final(final_id, "Hello", "m1", "k:0")]
    assert one.seen == two.seen == expected
    assert other.seen == []


async def test_of_buttons_it_is_told_what_they_would_say() -> None:
    terminal, desk = TerminalChannel(), Desk()
    buttons = ((Button("Done", "/jobs done #3"),), (Button("In an hour", "/jobs snooze #3 1h"),))
    with terminal.attach("main", desk):
        await terminal.send(OutboundMessage(MAIN, "Tea", buttons=buttons))
    assert desk.finals == ["Tea\n(Done: /jobs done #3 · In an hour: /jobs snooze #3 1h)"]


async def test_while_nobody_looks_nothing_is_sent() -> None:
    terminal, desk = TerminalChannel(), Desk()
    with terminal.attach("other", Desk()):
        assert not terminal.capabilities(MAIN).is_reachable
        with pytest.raises(NotSent):
            await terminal.send(OutboundMessage(MAIN, "Hello"))
    with terminal.attach("main", desk):
        assert terminal.capabilities(MAIN).is_reachable
        await terminal.send(OutboundMessage(MAIN, "Hello"))
    assert desk.finals == ["Hello"]
    assert not terminal.capabilities(MAIN).is_reachable


async def test_who_left_before_the_reply_does_not_count() -> None:
    terminal = TerminalChannel()
    with terminal.attach("main", Desk(ConnectionResetError())):
        with pytest.raises(NotSent):
            await terminal.send(OutboundMessage(MAIN, "Hello"))
        assert not terminal.capabilities(MAIN).is_reachable


async def test_who_was_lost_in_the_act_may_have_seen_it() -> None:
    terminal = TerminalChannel()
    with terminal.attach("main", Desk(OutcomeUnknown("lost"))), pytest.raises(OutcomeUnknown):
        await terminal.send(OutboundMessage(MAIN, "Hello"))


async def test_one_who_surely_saw_it_is_enough() -> None:
    terminal, desk = TerminalChannel(), Desk()
    with terminal.attach("main", Desk(OutcomeUnknown("lost"))), terminal.attach("main", desk):
        await terminal.send(OutboundMessage(MAIN, "Hello"))
    assert desk.finals == ["Hello"]


async def test_typing_never_fails_and_always_stops() -> None:
    terminal, desk = TerminalChannel(), Desk()
    lost = Desk(OutcomeUnknown("lost"))
    with terminal.attach("main", lost), terminal.attach("main", desk), pytest.raises(ValueError, match="inside"):
        async with terminal.typing(MAIN), terminal.typing(MAIN):
            raise ValueError("inside")
    assert desk.seen[-1] == Busy(False)


async def test_after_the_close_nothing_is_taken_and_nobody_waits() -> None:
    terminal = TerminalChannel()
    waiting = asyncio.create_task(terminal.say("too late"))
    await asyncio.sleep(0)
    await terminal.aclose()
    with pytest.raises(TerminalMessageNotKept):
        await waiting
    with pytest.raises(TerminalMessageNotKept):
        await terminal.say("later still")


def test_previews_are_drafts_and_nothing_is_cut() -> None:
    terminal = TerminalChannel()
    assert terminal.capabilities(MAIN).preview is PreviewStyle.DRAFT
    assert terminal.split("x" * 100_000) == ["x" * 100_000]
    assert terminal.split(" \n") == []
