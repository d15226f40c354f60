"""The chat: what is said is kept and shown, on every page, once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket as sockets
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from channels.message import (
    Address,
    Attachment,
    Button,
    Health,
    NotFetched,
    NotSent,
    Origin,
    OutboundFile,
    OutboundMessage,
    PreviewStyle,
    Refused,
)
from channels.web import frames
from channels.web.channel import WebChannel
from channels.web.record import NotRecorded
from channels.web.uploads import Uploads
from tests.channels.web.browser import Browser, browser
from tests.channels.web.conftest import MAIN, TOKEN, Gate, House, answer

DONE = ((Button("Done", "/jobs done tea"), Button("In an hour", "/jobs snooze tea 1h")),)


# what is said


async def test_what_is_said_is_kept_before_the_page_hears_so(owner: Browser, house: House) -> None:
    async with owner.opened() as tab:
        id = await tab.say("hello <b>")
        await tab.told("kept", id)
        (message,) = house.received
        assert (message.id, message.platform_id, message.text) == (id, id, "hello <b>")
        assert (message.address, message.sender.id, message.origin) == (MAIN, "owner", Origin.CHAT)
        await tab.until(lambda: tab.said == ["hello <b>"])


async def test_what_cannot_be_kept_is_told_and_may_be_said_again(
    owner: Browser, channel: WebChannel, house: House
) -> None:
    async with owner.opened() as tab:
        house.failure = OSError("the disk is full")
        id = await tab.say("one")
        refused = await tab.told("refused", id)
        assert (refused["why"], refused["again"]) == ("the disk is full", True)
        assert channel.status.state is Health.DEGRADED and channel.status.is_connected
        house.failure = None
        await tab.say("one", id=id)
        await tab.told("kept", id)
        assert channel.status.state is Health.OK
        await tab.until(lambda: tab.said == ["one"])


async def test_said_again_after_a_lost_connection_it_is_said_once(owner: Browser, house: House) -> None:
    async with owner.opened() as tab:
        id = await tab.say("hello")
        await tab.told("kept", id)
    async with owner.opened() as tab:
        await tab.say("hello", id=id)
        await tab.told("kept", id)
        await tab.told("kept", await tab.say("another"))
        await tab.until(lambda: tab.said == ["hello", "another"])
    assert [one.text for one in house.received] == ["hello", "another"]


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "is empty"), (" \n\t ", "is empty"), ("x" * 1_000_000, "at most 100\N{NARROW NO-BREAK SPACE}000 characters")],
)
async def test_what_is_no_message(owner: Browser, house: House, text: str, why: str) -> None:
    async with owner.opened() as tab:
        refused = await tab.told("refused", await tab.say(text))
        assert why in refused["why"] and not refused["again"]
        await tab.told("kept", await tab.say("and this is one"))
    assert len(house.received) == 1


async def test_more_files_than_a_message_has(owner: Browser, house: House) -> None:
    file = await owner.upload(b"x", "x")
    async with owner.opened() as tab:
        assert "10 files" in (await tab.told("refused", await tab.say("", *[file] * 11)))["why"]
        await tab.told("kept", await tab.say("", *[file] * 10))


async def test_pages_on_several_chats(owner: Browser, house: House, channel: WebChannel) -> None:
    async with owner.opened() as main, owner.opened("work") as work:
        await work.told("kept", await work.say("to work"))
        await channel.send(answer("of work", chat=Address("web", "work")))
        await channel.send(answer("of main", key="k:0"))
        await work.hears("of work")
        await main.hears("of main")
        assert len(work.messages) == 2 and len(main.messages) == 1
    assert house.received[0].address == Address("web", "work")


# what is answered


async def test_a_reply_grows_on_every_page_and_stays_as_one_message(owner: Browser, channel: WebChannel) -> None:
    assert channel.capabilities(MAIN).preview is PreviewStyle.DRAFT
    async with owner.opened() as one, owner.opened() as two:
        async with channel.typing(MAIN):
            await channel.draft(1, OutboundMessage(MAIN, "**Hel", key="web:q:preview", preview=True))
            await channel.draft(1, OutboundMessage(MAIN, "**Hello**", key="web:q:preview", preview=True))
            async with owner.opened() as late:
                assert late.frames[0]["busy"]
                assert late.frames[0]["drafts"] == [{"turn": "web:q", "html": "<p><strong>Hello</strong></p>"}]
        await channel.send(OutboundMessage(MAIN, "**Hello!**", key="web:q:0"))
        for tab in (one, two):
            final = await tab.hears("<strong>Hello!</strong>")
            assert final["turn"] == "web:q"
            assert tab.of_type("draft")[-1] == {
                "type": "draft",
                "turn": "web:q",
                "html": "<p><strong>Hello</strong></p>",
            }
            assert [frame["on"] for frame in tab.of_type("busy")] == [True, False]
            assert len(tab.heard) == 1
    async with owner.opened() as later:
        assert (later.frames[0]["busy"], later.frames[0]["drafts"]) == (False, [])


async def test_a_preview_is_shown_until_its_message_stands_or_its_turn_is_over(
    owner: Browser, channel: WebChannel
) -> None:
    async def growing() -> list[str]:
        async with owner.opened() as late:
            return [one["turn"] for one in late.frames[0]["drafts"]]

    async with channel.typing(MAIN), channel.typing(MAIN):
        await channel.draft(1, OutboundMessage(MAIN, "one", key="web:q:preview"))
        await channel.draft(2, OutboundMessage(MAIN, "two", key="web:r:preview"))
        assert await growing() == ["web:q", "web:r"]
        await channel.send(answer("one.", key="web:q:0"))
        assert await growing() == ["web:r"]
    assert await growing() == [], "the other ended in silence"


async def test_typing_stops_whatever_happens(owner: Browser, channel: WebChannel) -> None:
    async with owner.opened() as tab:
        with pytest.raises(ValueError, match="inside"):
            async with channel.typing(MAIN), channel.typing(MAIN):
                raise ValueError("inside")
        await tab.until(lambda: tab.of_type("busy")[-1:] == [{"type": "busy", "on": False}])


async def test_nobody_needs_to_look(house: House, channel: WebChannel) -> None:
    assert channel.capabilities(MAIN).is_reachable
    await channel.send(answer("while you were away"))
    async with browser(house.address, TOKEN) as later, later.opened() as tab:
        assert tab.heard == ["<p>while you were away</p>"]


async def test_a_send_that_is_repeated_stands_once(owner: Browser, channel: WebChannel) -> None:
    message = answer("once", key="web:q:0")
    assert channel.repeat_window(message) > 86_400
    async with owner.opened() as tab:
        assert await channel.send(message) == await channel.send(message)
        await channel.send(answer("next", key="web:r:0"))
        await tab.hears("next")
        assert tab.heard == ["<p>once</p>", "<p>next</p>"]


async def test_an_error_says_that_it_is_one(owner: Browser, channel: WebChannel) -> None:
    await channel.send(answer("The model is down.", key="web:q:0:error"))
    async with owner.opened() as tab:
        assert [(one["error"], one["turn"]) for one in tab.messages] == [(True, "web:q")]


async def test_a_disk_that_takes_nothing_is_not_sent(channel: WebChannel, house: House) -> None:
    id = await channel.send(answer("before"))
    house.record.failure = NotRecorded("the disk is full")
    with pytest.raises(NotSent, match="the disk is full"):
        await channel.send(answer("hello", key="k:1"))
    with pytest.raises(NotSent, match="the disk is full"):
        await channel.edit(id, answer("after"))


async def test_a_message_that_is_changed_changes_where_it_stands(owner: Browser, channel: WebChannel) -> None:
    id = await channel.send(OutboundMessage(MAIN, "Tea!", key="k:0", buttons=DONE))
    async with owner.opened() as tab:
        await channel.edit(id, OutboundMessage(MAIN, "Tea was had."))
        await tab.hears("Tea was had.")
        assert [(one["html"], one["buttons"]) for one in tab.messages] == [("<p>Tea was had.</p>", [])]
    with pytest.raises(Refused):
        await channel.edit("0" * 32, answer("x"))


async def test_what_the_person_said_is_not_ours_to_change(owner: Browser, channel: WebChannel) -> None:
    async with owner.opened() as tab:
        id = await tab.say("mine")
        await tab.told("kept", id)
        with pytest.raises(Refused):
            await channel.edit(id, answer("yours"))


async def test_a_button_is_a_command_of_its_message(owner: Browser, channel: WebChannel, house: House) -> None:
    id = await channel.send(OutboundMessage(MAIN, "Tea!", key="k:0", buttons=DONE))
    async with owner.opened() as tab:
        await tab.told("kept", await tab.press("In an hour"))
        assert tab.said == [], "a press is nothing said"
    (pressed,) = house.received
    assert (pressed.text, pressed.platform_id, pressed.origin) == ("/jobs snooze tea 1h", id, Origin.COMMAND)


@pytest.mark.parametrize("data", ["/forget everything", "", "/jobs done tea\n"])
async def test_a_button_that_was_never_there(owner: Browser, channel: WebChannel, house: House, data: str) -> None:
    id = await channel.send(OutboundMessage(MAIN, "Tea!", key="k:0", buttons=DONE))
    async with owner.opened() as main, owner.opened("work") as work:
        for tab, pressed in ((main, data), (work, "/jobs done tea")):
            await tab.socket.send_json({"type": "press", "id": "0" * 16, "message": id, "data": pressed})
            assert (await tab.told("refused", "0" * 16))["why"] == "That button no longer works."
    assert house.received == []


async def test_a_file_of_ours(owner: Browser, channel: WebChannel, tmp_path: Path) -> None:
    (tmp_path / "cat").write_bytes(b"\x89PNG\r\n\x1a\n")
    await channel.send(OutboundMessage(MAIN, "a cat", key="k:0", file=OutboundFile(tmp_path / "cat", "cat.png", True)))
    async with owner.opened() as tab:
        (message,) = tab.messages
        assert message["html"] == "<p>a cat</p>"
        assert [(one["name"], one["image"]) for one in message["files"]] == [("cat.png", True)]
    with pytest.raises(Refused, match="cannot be read"):
        await channel.send(OutboundMessage(MAIN, "", key="k:1", file=OutboundFile(tmp_path / "gone", "gone.png", True)))


async def test_a_file_of_theirs_is_fetched(owner: Browser, channel: WebChannel, house: House, tmp_path: Path) -> None:
    async with owner.opened() as tab:
        await tab.told("kept", await tab.say("", await owner.upload(b"12345", "a.txt", "text/plain")))
    (attachment,) = house.received[0].attachments
    await channel.fetch(attachment, tmp_path / "to", 5)
    assert (tmp_path / "to").read_bytes() == b"12345"
    with pytest.raises(NotFetched, match="larger"):
        await channel.fetch(attachment, tmp_path / "to", 4)
    with pytest.raises(NotFetched, match="no longer kept"):
        await channel.fetch(Attachment("document", handle="0" * 32), tmp_path / "to", 5)


def test_what_is_too_long_is_cut(house: House) -> None:
    channel = house.channel()
    pieces = channel.split("word " * 10_000)
    assert len(pieces) > 1 and max(map(len, pieces)) <= 16_000
    assert channel.split(" \n") == []


# what is shown again


async def test_a_page_that_is_opened_again_shows_the_same_and_earlier_on_demand(
    owner: Browser, channel: WebChannel
) -> None:
    for number in range(220):
        await channel.send(answer(f"message {number}", key=f"k{number}:0"))
    async with owner.opened() as tab:
        opened = tab.frames[0]
        assert [one["html"] for one in opened["messages"]] == [f"<p>message {n}</p>" for n in range(170, 220)]
        assert opened["more"]
        for expected in (True, False):
            await tab.socket.send_json({"type": "older", "before": tab.messages[0]["number"]})
            count = len(tab.of_type("older"))
            await tab.until(lambda count=count: len(tab.of_type("older")) > count)
            assert tab.of_type("older")[-1]["more"] is expected
        assert tab.heard == [f"<p>message {n}</p>" for n in range(220)]


async def test_what_was_missed_comes_once(owner: Browser, channel: WebChannel) -> None:
    """A tab remembers what it was shown, as the page does; opened again, everything is there once."""
    async with owner.opened() as before:
        await channel.send(answer("one", key="a:0"))
        await before.hears("one")
    await channel.send(answer("two", key="b:0"))
    async with owner.opened() as after:
        after.frames[:0] = before.frames
        await channel.send(answer("three", key="c:0"))
        await after.hears("three")
        assert after.heard == ["<p>one</p>", "<p>two</p>", "<p>three</p>"]


async def test_the_commands_are_offered(owner: Browser) -> None:
    async with owner.opened() as tab:
        assert tab.frames[0]["commands"] == [{"name": "help", "usage": "", "description": "What I understand"}]


# what is no talk


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("not JSON", aiohttp.WSCloseCode.POLICY_VIOLATION),
        (b"\0\1\2", aiohttp.WSCloseCode.POLICY_VIOLATION),
    ],
)
@pytest.mark.parametrize("first", [True, False])
async def test_what_cannot_be_understood_ends_the_connection_and_no_other(
    owner: Browser, sent: str | bytes, code: int, first: bool
) -> None:
    async with owner.opened() as other:
        socket = await (owner.connect() if first else owner.enter())
        if not first:
            await socket.receive_json()
        await (socket.send_str(sent) if isinstance(sent, str) else socket.send_bytes(sent))
        closed = await socket.receive()
        assert (closed.type, closed.data) == (aiohttp.WSMsgType.CLOSE, code)
        await other.told("kept", await other.say("still here"))


async def test_a_frame_that_is_too_large_ends_its_connection_and_no_other(owner: Browser) -> None:
    async with owner.opened() as other:
        socket = await owner.connect()
        with contextlib.suppress(ConnectionError):  # it may be gone before all of it is sent
            await socket.send_str("x" * (frames.MAX_FRAME + 1))
            assert (await socket.receive()).data in (aiohttp.WSCloseCode.MESSAGE_TOO_BIG, None)
        await other.told("kept", await other.say("still here"))


async def test_a_frame_of_an_unknown_kind_is_told_and_the_talk_goes_on(owner: Browser, house: House) -> None:
    async with owner.opened() as tab:
        for sent in ({"type": "fly"}, {"type": "open", "chat": "work"}, {"type": "say", "text": "without an id"}):
            await tab.socket.send_json(sent)
        await tab.told("kept", await tab.say("hello"))
        failed = [frame["why"] for frame in tab.of_type("failed")]
    assert ["fly" in failed[0], failed[1], "id" in failed[2]] == [True, "a chat is open already", True]
    assert [one.text for one in house.received] == ["hello"]


async def test_who_does_not_say_first_which_chat_it_is(owner: Browser) -> None:
    socket = await owner.connect()
    await socket.send_json({"type": "say", "id": "0" * 16, "text": "hello"})
    assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_a_page_that_reads_nothing_is_cut_off_and_holds_up_nobody(owner: Browser, channel: WebChannel) -> None:
    address = urlsplit(owner.address)
    (cookie,) = [f"{one.key}={one.value}" for one in owner.http.cookie_jar]
    head = (
        f"GET /ws HTTP/1.1\r\nHost: {address.netloc}\r\nOrigin: {owner.address}\r\nCookie: {cookie}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    opening = json.dumps({"type": "open", "chat": "main", "key": owner.key}).encode()
    slow = sockets.create_connection((address.hostname, address.port))
    slow.sendall(head.encode() + bytes([0x81, 0x80 | len(opening), 0, 0, 0, 0]) + opening)
    text = "word " * 3_000
    async with owner.opened() as tab:
        for number in range(2_000):  # more than the system's own buffers hold together with ours
            await channel.send(answer(text, key=f"k{number}:0"))
            if not number % 50:
                await tab.until(lambda number=number: len(tab.of_type("message")) > number)
        await tab.told("kept", await tab.say("after"))
    await asyncio.to_thread(_read_to_the_end, slow)


def _read_to_the_end(slow: sockets.socket) -> None:
    """Raises `TimeoutError` where it is still connected."""
    slow.settimeout(120)
    with slow, contextlib.suppress(ConnectionError):
        while slow.recv(1 << 20):
            pass


# the end


async def test_an_end_says_goodbye_and_takes_nothing_more(house: House) -> None:
    channel = house.channel()
    async with house.running(channel) as running, browser(house.address, TOKEN) as one, one.opened() as tab:
        running.cancel()
        await asyncio.wait({running})
        refused = await tab.told("refused", await tab.say("too late"))
        assert refused["again"] and "stopping" in refused["why"]
        await channel.send(answer("What was ready is still shown."))
        await tab.hears("What was ready")
        async with asyncio.timeout(120):
            await channel.aclose()
        assert await tab.gone() == aiohttp.WSCloseCode.GOING_AWAY


async def test_what_waits_to_be_kept_at_the_end_is_refused_and_may_be_said_again(house: House) -> None:
    channel, reached = house.channel(), asyncio.Event()

    async def never(_: object) -> None:
        reached.set()
        await asyncio.Event().wait()

    house.begun.clear()
    running = asyncio.create_task(channel.run(never))
    await house.begun.wait()
    async with browser(house.address, TOKEN) as one, one.opened() as tab, one.opened() as other:
        ids = [await tab.say("one"), await other.say("two")]
        await reached.wait()
        running.cancel()
        for who, id in zip((tab, other), ids, strict=True):
            assert (await who.told("refused", id))["again"]
        await asyncio.wait({running})
    await channel.aclose()


async def test_an_end_waits_for_no_page_that_does_not_answer(house: House) -> None:
    channel = house.channel()
    async with house.running(channel) as running, browser(house.address, TOKEN) as one:
        silent = [await one.enter() for _ in range(20)]
        await asyncio.gather(*(socket.receive_json() for socket in silent))
        running.cancel()
        async with asyncio.timeout(120):
            await channel.aclose()


async def test_it_can_be_started_again(house: House) -> None:
    channel = house.channel()
    for number in range(2):
        house.begun.clear()
        task = asyncio.create_task(channel.run(house.receive))
        await house.begun.wait()
        async with browser(house.address, TOKEN) as one, one.opened() as tab:
            await tab.told("kept", await tab.say(f"start {number}"))
        task.cancel()
        await asyncio.wait({task})
        assert channel.status.state is Health.OFF
    await channel.aclose()
    assert [one.text for one in house.received] == ["start 0", "start 1"]


# what is forgotten


async def test_what_is_forgotten_changes_on_every_open_page(owner: Browser, channel: WebChannel, house: House) -> None:
    async with owner.opened() as tab, owner.opened() as other, owner.opened("work") as elsewhere:
        id = await tab.say("my secret")
        await other.until(lambda: other.said)
        await house.record.forget(id, "[forgotten]")
        for one in (tab, other):
            await one.until(lambda one=one: one.said == ["[forgotten]"])
        await channel.send(answer("the end", chat=Address("web", "work")))
        await elsewhere.hears("the end")
        assert elsewhere.said == []


@pytest.mark.parametrize("kind", ["opened", "older"])
async def test_a_page_that_is_just_shown_what_is_being_forgotten_ends_with_the_mark(
    owner: Browser, channel: WebChannel, house: House, kind: str
) -> None:
    """It was read before, and is shown after."""
    id = await channel.send(answer("secret"))
    async with owner.opened() as tab:
        house.record.gate = gate = Gate()
        if kind == "older":
            await tab.socket.send_json({"type": "older", "before": 1_000})
            opening = None
        else:
            opening = asyncio.create_task(_last_of(owner, channel))
        async with asyncio.timeout(120):
            await gate.reached.wait()
        forgetting = asyncio.create_task(house.record.forget(id, "mark"))
        while house.record.entries[0].text != "mark":  # noqa: ASYNC110
            await asyncio.sleep(0)
        for _ in range(20):  # whoever could go first, goes
            await asyncio.sleep(0)
        gate.opened.set()
        await forgetting
        await channel.send(answer("the end", key="z:0"))
        await tab.hears("the end")
        assert tab.heard == ["<p>mark</p>", "<p>the end</p>"]
        if opening is not None:
            assert await opening == ["<p>mark</p>", "<p>the end</p>"]


async def _last_of(owner: Browser, channel: WebChannel) -> list[str]:
    async with owner.opened() as late:
        await late.hears("the end")
        return late.heard


async def test_an_edit_that_is_being_drawn_does_not_bring_back_what_is_forgotten(
    owner: Browser, channel: WebChannel, house: House
) -> None:
    """A long text is drawn beside the loop, a short one at once."""
    id = await channel.send(answer("short"))
    async with owner.opened() as tab:
        editing = asyncio.create_task(channel.edit(id, answer("secret " * 4_000)))
        while not house.record.entries[0].text.startswith("secret"):  # noqa: ASYNC110
            await asyncio.sleep(0)
        await house.record.forget(id, "mark")
        await editing
        await channel.send(answer("the end", key="z:0"))
        await tab.hears("the end")
        assert tab.heard[0] == "<p>mark</p>"


# what nobody says


async def test_an_upload_that_nobody_says_goes_after_a_day_while_it_runs(house: House) -> None:
    sleep = Gate()
    channel = house.channel(sleep=sleep)
    async with house.running(channel), browser(house.address, TOKEN) as owner, owner.opened() as tab:
        async with asyncio.timeout(120):
            await sleep.reached.wait()  # the look at the start is over
        said, unsaid = [await owner.upload(b"x", "note.txt") for _ in range(2)]
        await tab.told("kept", await tab.say("here", said))
        for file in (house.folder / "web").iterdir():
            os.utime(file, (0, 0))
        late = await owner.upload(b"y", "late.txt")
        sleep.opened.set()
        async with asyncio.timeout(120):
            while (house.folder / "web" / unsaid["handle"]).exists():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        names = {file.name for file in (house.folder / "web").iterdir()}
        assert names == {said["handle"], late["handle"]}


async def test_an_upload_that_is_said_late_counts_as_new(house: House, owner: Browser) -> None:
    """A look for names may have been made a moment before."""
    late = await owner.upload(b"x", "note.txt")
    file = house.folder / "web" / late["handle"]
    os.utime(file, (0, 0))
    async with owner.opened() as tab:
        await tab.told("kept", await tab.say("here", late))
    Uploads(house.folder / "web").prune(frozenset())
    assert file.exists()
