"""What a person sees of a talk, for every way in which a message can end."""

from __future__ import annotations

import asyncio
import io
import os
import signal

import pytest

from channels.terminal import Final, TerminalMessageNotKept, TerminalPreview
from gateway.rpc.protocol import MessageOutcome, OperationError
from gateway.terminal.repl import Repl
from gateway.terminal.screen import Screen
from gateway.terminal.stdin import InputLines


class Gateway:
    """The other side of a talk: what it was told, and what became of it."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.outcomes: dict[str, MessageOutcome] = {}
        self.gone = asyncio.Event()

    async def say(self, text: str, message_id: str) -> None:
        if self.gone.is_set():
            raise TerminalMessageNotKept("the gateway has stopped")
        await self.said.put((text, message_id))

    async def outcome(self, message_id: str) -> MessageOutcome:
        if self.gone.is_set():
            raise OperationError("nobody is there")
        return self.outcomes.get(message_id, MessageOutcome(done=False))

    async def ended(self) -> None:
        await self.gone.wait()


class Told(io.StringIO):
    """Standard error that can be waited for."""

    def __init__(self, written: asyncio.Event) -> None:
        super().__init__()
        self._written = written

    def write(self, text: str) -> int:
        self._written.set()
        return super().write(text)


class Person(InputLines):
    """Says one thing, and then thinks until the gateway ends."""

    def __init__(self, says: str) -> None:
        super().__init__(io.StringIO(says), prompt=False)
        self.thinks = asyncio.Event()

    async def next(self, unless: asyncio.Future[None] | None = None) -> str | None:
        if (line := await super().next()) is not None:
            return line
        assert unless is not None
        self.thinks.set()
        await asyncio.wait({unless})
        return None


class Gone(io.StringIO):
    """Standard output into a pipe that nobody reads any more."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


class Talk:
    """A conversation with its gateway, in memory."""

    def __init__(self, *, live: bool = False) -> None:
        self.gateway = Gateway()
        self.told = asyncio.Event()
        self.screen = Screen(io.StringIO(), Told(self.told), live=live)
        self.conversation = Repl(self.gateway, self.screen)

    async def asked(self, text: str = "hello") -> tuple[asyncio.Task[None], str]:
        """Ask, up to where the gateway has the message; the question and the message's id."""
        question = asyncio.create_task(self.conversation.ask(text))
        said, message_id = await self.gateway.said.get()
        assert said == text
        return question, message_id

    @property
    def printed(self) -> tuple[str, str]:
        out, err = self.screen.out, self.screen.err
        assert isinstance(out, io.StringIO)
        assert isinstance(err, io.StringIO)
        return out.getvalue(), err.getvalue()


async def test_only_the_reply_is_printed_without_previews() -> None:
    talk = Talk()
    question, message_id = await talk.asked()
    await talk.screen.show(TerminalPreview("Hi"))
    await talk.screen.show(Final("f", "Hi there", message_id, "t:0"))
    await question
    assert talk.printed == ("Hi there\n", "")
    assert not talk.conversation.failed


async def test_a_reply_to_a_lost_client_is_told_apart() -> None:
    talk = Talk()
    await talk.screen.show(Final("f0", "before anything was asked", "old", "t0:0"))
    question, message_id = await talk.asked()
    await talk.screen.show(Final("f1", "you missed this", "old", "t1:0"))
    assert not question.done()
    await talk.screen.show(Final("f2", "Hi", message_id, "t2:0"))
    await question
    assert talk.printed == ("Hi\n", "(earlier) before anything was asked\n(earlier) you missed this\n")


async def test_an_error_goes_to_stderr_and_counts() -> None:
    talk = Talk()
    question, message_id = await talk.asked()
    await talk.screen.show(Final("f", "The model is down.", message_id, "t:0:error"))
    await question
    assert talk.printed == ("", "The model is down.\n")
    assert talk.conversation.failed


async def test_a_recorded_silence_ends_the_waiting() -> None:
    talk = Talk()
    question, message_id = await talk.asked()
    talk.gateway.outcomes[message_id] = MessageOutcome(True, "silence", "t")
    await question
    assert talk.printed == ("", "")
    assert not talk.conversation.failed


async def test_a_message_that_joined_a_running_turn_is_answered_by_that_turn() -> None:
    talk = Talk()
    question, message_id = await talk.asked()
    talk.gateway.outcomes[message_id] = MessageOutcome(False, "", "terminal:another")
    await talk.screen.show(Final("f", "Both answered", "another", "terminal:another:0"))
    await question
    assert talk.printed == ("Both answered\n", "")


async def test_a_gateway_that_goes_away_is_told() -> None:
    talk = Talk()
    question, _ = await talk.asked()
    talk.gateway.gone.set()
    with pytest.raises(TerminalMessageNotKept, match="answered later"):
        await question


async def test_a_person_sees_the_reply_grow_and_nothing_twice() -> None:
    talk = Talk(live=True)
    question, message_id = await talk.asked()
    for text in ("He", "Hello", "Hello wor"):
        await talk.screen.show(TerminalPreview(text))
    await talk.screen.show(Final("f", "Hello world", message_id, "t:0"))
    await question
    assert talk.printed[0] == "Hello world\n"


async def test_a_reply_that_began_anew_is_printed_anew() -> None:
    talk = Talk(live=True)
    await talk.screen.show(TerminalPreview("One tho"))
    await talk.screen.show(Final("f", "Another", "", "t:0"))
    assert talk.printed[0] == "One tho\nAnother\n"


async def test_no_text_can_command_the_terminal() -> None:
    talk = Talk(live=True)
    await talk.screen.show(Final("f", "a\x1b[2Jb\x07\x9bc\r\td", "", "t:0"))
    assert talk.printed[0] == "a[2Jbc\td\n"


async def test_ctrl_c_stops_what_runs_and_else_says_how_to_leave() -> None:
    talk = Talk(live=True)
    async with talk.conversation.stopping_with_ctrl_c():
        os.kill(os.getpid(), signal.SIGINT)
        await talk.told.wait()
        assert "Ctrl-D quits" in talk.printed[1]
        question, message_id = await talk.asked("a long story")
        os.kill(os.getpid(), signal.SIGINT)
        assert (await talk.gateway.said.get())[0] == "/stop"
        await talk.screen.show(Final("f", "Once", message_id, "t:0"))
        await question


async def test_lines_are_said_one_after_another_and_the_end_is_the_end() -> None:
    talk = Talk()
    piping = asyncio.create_task(talk.conversation.pipe(InputLines(io.StringIO("one\n  \ntwo"), prompt=False)))
    for expected in ("one", "two"):
        said, message_id = await talk.gateway.said.get()
        assert said == expected
        assert talk.gateway.said.empty()
        await talk.screen.show(Final("f", f"re: {said}", message_id, "t:0"))
    await piping
    assert talk.printed[0] == "re: one\nre: two\n"


async def test_what_arrives_at_the_prompt_stands_below_it_and_the_prompt_is_shown_again() -> None:
    talk, person = Talk(live=True), Person("hello")
    sitting = asyncio.create_task(talk.conversation.at_terminal(person))
    _, message_id = await talk.gateway.said.get()
    await talk.screen.show(Final("f0", "Hi", message_id, "t:0"))
    await person.thinks.wait()
    await talk.screen.show(TerminalPreview("Take"))
    await talk.screen.show(Final("f1", "Take the tea out", "", "run:0"))
    talk.gateway.gone.set()
    await sitting
    assert talk.printed[0] == "Hi\n\nTake the tea out\n> "


async def test_a_prompt_ends_with_the_gateway() -> None:
    talk = Talk(live=True)
    read, write = os.pipe()
    with os.fdopen(read) as source, os.fdopen(write, "w"):
        sitting = asyncio.create_task(talk.conversation.at_terminal(InputLines(source, prompt=False)))
        talk.gateway.gone.set()
        await sitting
        os.write(write, b"\n")  # lets the reading thread end
    assert "The gateway has stopped" in talk.printed[1]
    assert talk.conversation.failed


async def test_a_reader_that_has_gone_ends_the_waiting_and_the_reply_is_kept() -> None:
    talk = Talk()
    talk.screen.out = Gone()
    question, message_id = await talk.asked()
    with pytest.raises(BrokenPipeError):  # as the channel needs it, to keep the reply for the next who looks
        await talk.screen.show(Final("f", "Hello!", message_id, "t:0"))
    with pytest.raises(BrokenPipeError):
        await question


async def test_a_letter_that_the_terminal_does_not_have_stops_no_reply() -> None:
    talk = Talk()
    talk.screen.out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    question, message_id = await talk.asked()
    await talk.screen.show(Final("f", "thé", message_id, "t:0"))
    await question
    assert talk.screen.out.buffer.getvalue() == b"th?\n"  # type: ignore[attr-defined]


async def test_a_line_of_the_log_waits_until_the_reply_is_written() -> None:
    told = asyncio.Event()
    out, err = io.StringIO(), Told(told)
    screen = Screen(out, err, live=True)
    await screen.show(TerminalPreview("Once upon"))
    screen.write("WARNING one\n")
    screen.write("WARNING two\n")
    assert (out.getvalue(), err.getvalue()) == ("Once upon", "")
    await screen.show(Final("id", "Once upon a time.", "", "turn:0"))
    assert out.getvalue() == "Once upon a time.\n" and err.getvalue() == "WARNING one\nWARNING two\n"
    screen.write("WARNING three\n")
    assert err.getvalue().endswith("two\nWARNING three\n")
