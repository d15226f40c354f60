"""Stories of replies while they are written: topics side by side, stopping, steering, broken streams, rate limits."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.flows.story import ALICE, BOB, GROUP, story


async def test_two_topics_stream_at_once_and_stay_apart(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        first, second = told.model.hold(after=2), told.model.hold(after=2)
        told.model.reply = lambda body: "Seven is odd. " * 12 if "seven" in str(body["messages"]) else "Eight is. " * 12
        told.call("tell me of seven", thread=7)
        await told.model.held(first)
        told.call("tell me of eight", thread=8)
        await told.model.held(second)
        await told.hears("Seven", GROUP, 7)
        await told.hears("Eight", GROUP, 8)

        first.release()
        second.release()

        await told.hears(("Seven is odd. " * 12).strip(), GROUP, 7)
        await told.hears(("Eight is. " * 12).strip(), GROUP, 8)
        assert len(told.heard(GROUP, 7)) == len(told.heard(GROUP, 8)) == 1


async def test_stop_ends_a_stream_at_once_and_the_next_message_is_answered(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        hold = told.model.hold(after=1)
        told.model.answer(["Once upon a time ", "there was ", "a very long tale."])
        told.say("Tell me a tale")
        await told.model.held(hold)

        told.say("/stop")
        await told.hears("Stopped.")
        told.model.answer("Four.")
        told.say("Two and two?")
        await told.hears("Four.")

        assert not any("very long tale" in text for text in told.heard())
        told.no_request_was_refused()


async def test_stop_ends_a_tool_that_waits_and_the_next_message_is_answered(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        folder = told.workspace / "memory"
        folder.mkdir(exist_ok=True)
        with held(folder):
            told.model.answer(tool=("memory_append", {"text": "eggs"}))
            told.say("Put eggs on the list")
            await told.model.wait_for()
            while not any(b"tool_use" in file.read_bytes() for file in told.transcripts):  # noqa: ASYNC110 (disks ring no bell)
                await asyncio.sleep(0.01)
            told.say("/stop")
            await told.hears("Stopped.")
            told.model.answer("Four.")
            told.say("Two and two?")
            await told.hears("Four.")

        results = [block for block in told.asked[-1].body["messages"][2]["content"] if block["type"] == "tool_result"]
        assert len(results) == 1 and results[0]["is_error"]
        told.no_request_was_refused()


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Another program that has the folder's lock."""
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)


async def test_a_message_sent_while_tools_run_steers_the_turn(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer(["I'll note ", "it."], tool=("memory_append", {"text": "eggs"}))
        told.model.answer("Noted eggs, and milk too.")
        hold = told.model.hold(after=1)
        told.say("Put eggs on the list")
        await told.model.held(hold)
        told.say("and milk!")
        await told.telegram.wait_for(lambda: not told.telegram.pending)
        hold.release()
        await told.hears("and milk too.")

        newest = told.asked[-1].body["messages"][-1]["content"]
        assert newest[0]["type"] == "tool_result"
        assert newest[-1]["text"].endswith("and milk!")
        assert len(told.asked) == 2
        told.no_request_was_refused()


async def test_a_broken_stream_is_made_again_and_shown_once(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.cut(after=2)
        told.model.answer(["The answer ", "is ", "forty-two."])
        told.say("What is the answer?")
        await told.hears("forty-two.")

        assert told.heard() == ["The answer is forty-two."]
        assert len(told.asked) == 2


async def test_a_rate_limited_reply_waits_while_another_chat_goes_on(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        limited = told.telegram.fail("sendMessage", status=429, retry_after=1, times=None, chat=ALICE)
        told.model.reply = lambda body: "for Alice" if "slow" in str(body["messages"]) else "for Bob"
        told.say("slow one")
        await told.telegram.wait_for(lambda: told.telegram.called("sendMessage", ALICE))
        told.say("quick one", chat=BOB, name="Bob")

        await told.hears("for Bob", BOB)
        assert told.heard() == []
        limited.cancel()
        await told.hears("for Alice")
        assert told.heard() == ["for Alice"]
