"""The local socket, both ends, over a real one."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.model.base import Json
from channels.message import Address, Event, InboundMessage, NotSent, OutboundMessage, OutcomeUnknown
from channels.terminal import Final, Shown, TerminalChannel, TerminalMessageNotKept, TerminalPreview
from gateway.rpc.client import NotRunning, connect
from gateway.rpc.protocol import MAX_REQUEST, OperationError, Params
from gateway.rpc.server import serve

MAIN = Address("terminal", "main")


@dataclass
class House:
    """A gateway as far as the socket sees it."""

    path: Path
    terminal: TerminalChannel = field(default_factory=TerminalChannel)
    kept: list[InboundMessage] = field(default_factory=list)
    full: bool = False

    async def receive(self, events: Sequence[Event]) -> None:
        if self.full:
            raise OSError("the disk is full")
        self.kept += [event for event in events if isinstance(event, InboundMessage)]

    async def somebody_looks(self) -> None:
        async with asyncio.timeout(120):
            while not self.terminal.capabilities(MAIN).is_reachable:  # noqa: ASYNC110 - the terminal tells nobody
                await asyncio.sleep(0)

    async def echo(self, params: Params) -> Json:
        return {"got": dict(params)}

    async def refuse(self, _: Params) -> Json:
        raise OperationError("there is no such thing")

    async def break_down(self, _: Params) -> Json:
        raise RuntimeError("a bug with a secret in it")

    async def outcome(self, params: Params) -> Json:
        return {"done": True, "outcome": "silence", "turn": f"terminal:{params['id']}"}


@asynccontextmanager
async def open_house(path: Path) -> AsyncIterator[House]:
    house = House(path)
    operations = {
        "echo": house.echo,
        "refuse": house.refuse,
        "break": house.break_down,
        "chat.outcome": house.outcome,
    }
    running = asyncio.create_task(house.terminal.run(house.receive))
    try:
        async with serve(path, operations, house.terminal):
            yield house
    finally:
        running.cancel()
        await asyncio.wait({running})


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path / "gateway.sock") as house:
        yield house


class Desk:
    def __init__(self) -> None:
        self.seen: list[Shown] = []
        self._changed = asyncio.Event()

    async def show(self, shown: Shown) -> None:
        self.seen.append(shown)
        self._changed.set()

    async def until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            self._changed.clear()
            await self._changed.wait()

    @property
    def finals(self) -> list[str]:
        return [shown.text for shown in self.seen if isinstance(shown, Final)]


async def call(house: House, operation: str, **params: Json) -> Json:
    async with connect(house.path) as connection:
        return await connection.call(operation, params)


# questions


async def test_an_operation_answers_over_the_socket(house: House) -> None:
    assert await call(house, "echo", text="ä\n\ud800", number=1) == {"got": {"text": "ä\n\ud800", "number": 1}}


async def test_one_connection_takes_several_questions(house: House) -> None:
    async with connect(house.path) as connection:
        for number in range(3):
            assert await connection.call("echo", {"n": number}) == {"got": {"n": number}}


async def test_what_fails_is_told_and_a_bug_keeps_its_details(house: House) -> None:
    with pytest.raises(OperationError, match="there is no such thing"):
        await call(house, "refuse")
    with pytest.raises(OperationError, match="doesn't know 'dance'"):
        await call(house, "dance")
    with pytest.raises(OperationError, match="The gateway's log") as raised:
        await call(house, "break")
    assert "secret" not in str(raised.value)


async def raw(path: Path, data: bytes) -> list[dict[str, Json]]:
    """What the server says to bytes, until it closes."""
    reader, writer = await asyncio.open_unix_connection(str(path), limit=MAX_REQUEST)
    writer.write(data)
    writer.write_eof()
    lines = (await reader.read()).splitlines()
    writer.close()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"nonsense\n", "not JSON"),
        (b"[1]\n", "not a JSON object"),
        (b'{"call": 1}\n', "doesn't know 1"),
        (b'{"call": "echo", "params": []}\n', "doesn't know"),
        (b"{" * 100_000 + b"\n", "not JSON"),
        (b'"' + b"x" * (MAX_REQUEST + 10) + b'"\n', "larger than"),
    ],
)
async def test_nonsense_is_refused_and_the_others_live(house: House, data: bytes, says: str) -> None:
    greeting, answer = await raw(house.path, data)
    assert greeting["daybook"] == 1
    assert says in str(answer["error"])
    assert await call(house, "echo") == {"got": {}}


async def test_a_line_that_breaks_off_is_no_request(house: House) -> None:
    assert len(await raw(house.path, b'{"call": "echo"')) == 1


# the socket itself


async def test_the_socket_is_its_owners_alone_and_goes_with_the_gateway(tmp_path: Path) -> None:
    path = tmp_path / "s"
    async with open_house(path):
        assert path.stat().st_mode & 0o777 == 0o600
    assert not path.exists()


async def test_a_socket_left_over_is_no_gateway_and_does_not_stop_the_next(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with pytest.raises(NotRunning):
        async with connect(path):
            pass
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with pytest.raises(NotRunning):
        async with connect(path):
            pass
    async with open_house(path) as house:
        assert await call(house, "echo") == {"got": {}}


async def test_a_path_too_long_for_a_socket_works(tmp_path: Path) -> None:
    folder = tmp_path / ("ä" * 60) / ("b" * 60)
    folder.mkdir(parents=True)
    async with open_house(folder / "gateway.sock") as house:
        assert (folder / "gateway.sock").exists()
        assert await call(house, "echo") == {"got": {}}
    assert not (folder / "gateway.sock").exists()


async def test_another_version_or_another_program_is_told_apart(tmp_path: Path) -> None:
    async def greet(line: bytes) -> None:
        async def on_connection(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(line)
            writer.close()

        server = await asyncio.start_unix_server(on_connection, str(tmp_path / "s"))
        async with server, connect(tmp_path / "s"):
            pass

    with pytest.raises(OperationError, match=r"another version \(9\.0\)"):
        await greet(b'{"daybook": 99, "version": "9.0"}\n')
    with pytest.raises(OperationError, match="is not a Daybook gateway"):
        await greet(b"SSH-2.0\n")


async def test_invariant_13_a_connection_that_says_nothing_does_not_hold_up_the_end(tmp_path: Path) -> None:
    async with asyncio.timeout(120):
        async with open_house(tmp_path / "s"):
            reader, writer = await asyncio.open_unix_connection(str(tmp_path / "s"))
            await reader.readline()
        assert await reader.read() == b""
        writer.close()


# talks


async def test_a_talk_goes_both_ways(house: House) -> None:
    desk = Desk()
    async with connect(house.path) as connection, connection.chat("work", desk) as talk:
        await talk.say("hello", "m1")
        work = Address("terminal", "work")
        await house.terminal.draft(1, OutboundMessage(work, "Hi"))
        await house.terminal.send(OutboundMessage(work, "Hi there", key="t:0", reply_to="m1"))
        assert (await talk.outcome("m1")).turn == "terminal:m1"
    assert [(message.id, message.text, message.address.chat_id) for message in house.kept] == [("m1", "hello", "work")]
    assert desk.seen[0] == TerminalPreview("Hi")
    assert isinstance(final := desk.seen[1], Final)
    assert (final.text, final.reply_to, final.key) == ("Hi there", "m1", "t:0")


async def test_messages_of_one_talk_keep_their_order(house: House) -> None:
    async with connect(house.path) as connection, connection.chat("main", Desk()) as talk:
        await asyncio.gather(*(talk.say(str(number), f"m{number}") for number in range(20)))
    assert [message.text for message in house.kept] == [str(number) for number in range(20)]


async def test_what_cannot_be_kept_is_told_over_the_socket(house: House) -> None:
    house.full = True
    async with connect(house.path) as connection, connection.chat("main", Desk()) as talk:
        with pytest.raises(TerminalMessageNotKept, match="the disk is full"):
            await talk.say("hello", "m1")


async def test_a_reply_is_sent_when_the_person_has_it_and_not_before(house: House) -> None:
    """A client that is lost after a reply was written to it and before it said so may or may not have shown it."""
    reader, writer = await asyncio.open_unix_connection(str(house.path))
    await reader.readline()
    writer.write(b'{"chat": "main"}\n')
    await house.somebody_looks()
    sending = asyncio.create_task(house.terminal.send(OutboundMessage(MAIN, "Hello")))
    assert json.loads(await reader.readline())["final"] == "Hello"
    assert not sending.done()
    writer.close()
    with pytest.raises(OutcomeUnknown):
        await sending


async def test_a_reply_to_a_client_that_left_is_not_sent(house: House) -> None:
    async with connect(house.path) as connection, connection.chat("main", Desk()) as talk:
        await talk.say("hello", "m1")
    with pytest.raises(NotSent):
        await house.terminal.send(OutboundMessage(MAIN, "Hello", reply_to="m1"))
    assert not house.terminal.capabilities(MAIN).is_reachable


async def test_who_leaves_right_after_a_reply_has_acknowledged_it(house: House) -> None:
    desk = Desk()
    async with connect(house.path) as connection, connection.chat("main", desk):
        await house.somebody_looks()
        sending = asyncio.create_task(house.terminal.send(OutboundMessage(MAIN, "Hello")))
        await desk.until(lambda: bool(desk.finals))
    await sending


async def test_a_talk_ends_when_the_gateway_does(tmp_path: Path) -> None:
    async with asyncio.timeout(120):
        async with open_house(tmp_path / "s"):
            context = connect(tmp_path / "s")
            connection = await context.__aenter__()
            chat = connection.chat("main", Desk())
            talk = await chat.__aenter__()
        await talk.ended()
        with pytest.raises(TerminalMessageNotKept, match="has stopped"):
            await talk.say("anybody there?", "m1")
        await chat.__aexit__(None, None, None)
        await context.__aexit__(None, None, None)
