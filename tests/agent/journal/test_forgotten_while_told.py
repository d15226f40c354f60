"""What is forgotten while a model tells a day is asked and written no more."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from agent.model.base import ContextOverflow, ModelError, ModelRequest, TryLater
from agent.model.client import ResilientModel
from agent.model.scripted import Hold, ScriptedAnswer, ScriptedModel, Step
from tests.agent.journal.diary import DAY, Diary, shown, told

LONG = "and so on " * 800
"""About two thousand tokens."""


class Slow:
    """Tells what it is shown; its first answer waits, and is `instead` where that is given."""

    def __init__(self, instead: ModelError | ScriptedAnswer | None = None) -> None:
        self.hold = Hold()
        self._instead = instead
        self._first = True

    def __call__(self, request: ModelRequest) -> Step:
        if not self._first:
            return told(request)
        self._first = False
        if isinstance(self._instead, ModelError):
            return ScriptedAnswer(breaks=self._instead, hold=self.hold)
        if self._instead is not None:
            return self._instead
        answer = told(request)
        assert isinstance(answer, ScriptedAnswer)
        return ScriptedAnswer(calls=answer.calls, hold=self.hold)


async def forgotten_meanwhile(diary: Diary, slow: Slow, *ids: str, until: timedelta = timedelta(0)) -> None:
    """What those messages say is forgotten while the first request is answered."""
    diary.model = ScriptedModel(behind=slow)
    writing = asyncio.create_task(diary.write(until=DAY + until))
    await slow.hold.reached.wait()
    await diary.forgets(*ids)
    slow.hold.released.set()
    await writing


def asked_later(diary: Diary) -> str:
    return "".join(shown(request) for request in diary.asked[1:])


async def test_what_is_forgotten_after_a_piece_was_told_is_not_written(diary: Diary) -> None:
    diary.says("my secret", "two")
    file = diary.workspace / "memory" / f"{DAY}.md"
    file.parent.mkdir()
    file.write_text("# 2026-11-21\n", "utf-8")
    file.chmod(0o400)
    await diary.write()
    await diary.forgets("e000001")
    file.chmod(0o600)
    await diary.write()
    assert "told secret" not in diary.log() and "told two" in diary.log()


async def test_neither_of_this_day_nor_of_those_behind_it(diary: Diary) -> None:
    diary.says("my secret", "two")
    diary.now += timedelta(days=1)
    diary.says("another secret", "four")
    tomorrow = timedelta(days=1)
    await forgotten_meanwhile(diary, Slow(), "e000001", "e000003", until=tomorrow)
    assert "my secret" in shown(diary.asked[0]) and "secret" not in asked_later(diary)
    assert "secret" not in diary.log() + diary.log(DAY + tomorrow)
    assert "told two" in diary.log() and "told four" in diary.log(DAY + tomorrow)


async def test_the_pieces_behind_the_one_that_is_told_do_not_hold_it(diary: Diary) -> None:
    diary.says(*(f"{LONG}{number}" for number in range(20)), "my secret", "last")
    await forgotten_meanwhile(diary, Slow(), "e000021")
    assert len(diary.asked) > 2 and "secret" not in asked_later(diary)
    assert "secret" not in diary.log() and "told last" in diary.log() and "told 0\n" in diary.log()


async def test_a_piece_that_is_too_large_is_halved_without_it(diary: Diary) -> None:
    diary.says(f"my secret {LONG}", *(LONG for _ in range(5)), "last")
    await forgotten_meanwhile(diary, Slow(ContextOverflow("too large")), "e000001")
    assert "secret" not in asked_later(diary) + diary.log() and "told last" in diary.log()


async def test_where_the_model_is_gone_the_extract_does_not_hold_it(diary: Diary) -> None:
    diary.says("my secret", "two")
    slow = Slow(TryLater("overloaded"))
    diary.model = ScriptedModel(behind=lambda request: slow(request) if not diary.asked[1:] else TryLater("still"))
    writing = asyncio.create_task(diary.write())
    await slow.hold.reached.wait()
    await diary.forgets("e000001")
    slow.hold.released.set()
    assert (await writing).extracts == 1
    assert "secret" not in diary.log() and "two" in diary.log()


async def test_a_retry_does_not_send_it_again(diary: Diary) -> None:
    diary.says("my secret", "two")

    async def waits(seconds: float) -> None:
        await diary.forgets("e000001")

    slow = Slow(ScriptedAnswer(breaks=TryLater("overloaded")))
    scripted = ScriptedModel(behind=slow)
    done = await diary.write(model=ResilientModel(scripted, sleep=waits))
    first, second = scripted.silent
    assert "my secret" in shown(first) and "secret" not in shown(second)
    assert done.told == 1 and "secret" not in diary.log() and "told two" in diary.log()


async def test_what_was_told_and_no_log_has_leaves_the_marks(diary: Diary) -> None:
    diary.says(f"my secret {LONG}", *(f"{LONG}{number}" for number in range(20)))
    diary.model = ScriptedModel(behind=lambda request: told(request) if not diary.asked[1:] else TryLater("gone"))
    await diary.write()
    assert b"told on" in diary.marks.read_bytes()
    diary.journal().forget([diary.talk], lambda line: "told on" in line)
    assert b"told on" not in diary.marks.read_bytes()
