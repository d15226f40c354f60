"""On disk before it is sent, in order per chat, and never twice without saying so."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from channels import split
from channels.message import (
    Address,
    AnswerLost,
    Button,
    ChatGone,
    NotSent,
    OutboundFile,
    OutboundMessage,
    OutcomeUnknown,
    Refused,
    SendError,
)
from channels.scripted import Edited, ScriptedChannel, Sent
from gateway.messages.outbox import REPEAT_MARK, Outbox
from gateway.store import inbox_rows, outbox_rows
from gateway.store.connection import Connection, Engine
from gateway.store.database import Database
from gateway.store.outbox_rows import OutboxRow
from tests.gateway.conftest import Gate, Moment, Sleeps, on_sqlite
from tests.gateway.turns.test_preview import ThreadsOfCutting


@dataclass
class Post:
    """An outbox with a scripted channel at its end, which may be started again as after a crash."""

    database: Database
    moment: Moment
    chat: ScriptedChannel = field(default_factory=lambda: ScriptedChannel("telegram", limit=40))
    slept: Sleeps = field(default_factory=Sleeps)
    moved: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.outbox = self._fresh()

    def _fresh(self) -> Outbox:
        return Outbox(
            self.database,
            self.moment.clock,
            {"telegram": self.chat},
            self.slept,
            first_chat=lambda _, chat: self.moved.get(chat, chat),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        """A process with this outbox; at the end it is killed where it stands."""
        self.outbox = self._fresh()
        task = asyncio.create_task(self.outbox.run())
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def write(self, text: str, chat: str = "1", *, key: str = "", edits: str = "", repeat: bool = False) -> None:
        address = Address("telegram", chat)
        drafts = self.outbox.drafts(key or f"{text}:{{}}", address, text, edits=edits, repeat=repeat)
        await self.outbox.write(drafts)

    async def drained(self) -> None:
        await self.until(lambda rows: not rows)

    async def until(self, reached: Callable[[tuple[OutboxRow, ...]], bool]) -> None:
        """Look at what is open, again and again, until it is as wanted."""
        while not reached(await self.open()):
            pass

    async def sending(self) -> None:
        await self.until(lambda rows: any(row.sending for row in rows))

    async def open(self) -> tuple[OutboxRow, ...]:
        return await self.database.run(outbox_rows.open_rows)

    def sent(self, chat: str = "1") -> list[str]:
        """What the platform was given to send, each time it was."""
        return [
            act.message.text
            for act in self.chat.history
            if isinstance(act, Sent) and act.message.address.chat_id == chat
        ]


@pytest.fixture
def post(database: Database, moment: Moment) -> Post:
    return Post(database, moment)


async def test_invariant_03_a_reply_is_on_disk_before_it_is_sent(post: Post, engine_of: Callable[[], Engine]) -> None:
    with post.chat.hold():
        async with post.running():
            await post.write("Hello")
            other = engine_of()
            (row,) = outbox_rows.open_rows(other.connection)
            other.close()
            assert row.text == "Hello"
            assert post.sent() == []


async def test_invariant_03_the_receipt_comes_after_the_send(post: Post) -> None:
    async with post.running():
        with post.chat.hold():
            await post.write("Hello")
            assert [row.text for row in await post.open()] == ["Hello"]
        await post.drained()
    assert post.sent() == ["Hello"]

    def receipt(connection: Connection) -> tuple[str, str]:
        row = connection.execute("SELECT state, platform_id FROM outbox").fetchone()
        return row["state"], row["platform_id"]

    (act,) = post.chat.history
    assert isinstance(act, Sent)
    assert await post.database.run(receipt) == ("sent", act.platform_id)


async def test_what_a_message_answers_is_forgotten_once_it_is_sent_or_given_up(post: Post) -> None:
    """It may hold a token, of a command from Discord's menu."""

    def answered(connection: Connection) -> list[tuple[str, str]]:
        return [tuple(row) for row in connection.execute("SELECT state, reply_to FROM outbox ORDER BY seq").fetchall()]

    address = Address("telegram", "1")
    for error in (NotSent("slow down", retry_after=3.0), ChatGone("gone")):
        post.chat.fail_next(error)
    with post.chat.hold():
        async with post.running():
            for text in ("one", "two"):
                await post.outbox.write(post.outbox.drafts(f"{text}:{{}}", address, text, answer_with="interaction:7"))
            await post.sending()
    assert await post.database.run(answered) == [("sending", "interaction:7"), ("waiting", "interaction:7")]
    async with post.running():
        await post.drained()
    assert sorted(await post.database.run(answered)) == [("failed", ""), ("sent", "")]
    assert {act.message.reply_to for act in post.chat.history if isinstance(act, Sent)} == {"interaction:7"}


async def test_invariant_03_a_chunk_is_not_sent_before_its_predecessor(post: Post) -> None:
    text = "\n\n".join(f"Paragraph number {number}." for number in range(6))
    post.chat.fail_next(NotSent("slow down", retry_after=3.0), times=2)
    async with post.running():
        await post.write(text)
        await post.drained()
    assert len(post.sent()) > 2
    assert "\n\n".join(post.sent()) == text
    assert post.slept.asked == [3.0, 3.0]


async def test_a_reply_to_a_quiet_chat_is_begun_in_the_commit_that_writes_it_down(post: Post) -> None:
    async with post.running():
        await post.write("Hi")
        await post.drained()
        drafts = post.outbox.drafts("hello:{}", Address("telegram", "1"), "Hello")
        async with post.outbox.sending(drafts) as begin:
            await post.database.run(lambda connection: (outbox_rows.add(connection, drafts, ""), begin(connection)))
            assert [(row.sending, row.attempts) for row in await post.open()] == [(True, 1)]
        await post.drained()
    assert post.sent() == ["Hi", "Hello"]


async def test_what_is_written_before_the_outbox_runs_is_sent_once_and_without_a_mark(post: Post) -> None:
    await post.write("Hello")
    assert [row.sending for row in await post.open()] == [False]
    async with post.running():
        await post.drained()
    assert post.sent() == ["Hello"]


async def test_two_who_write_to_a_chat_at_once_are_each_sent_once(post: Post) -> None:
    async with post.running():
        for number in range(20):
            await asyncio.gather(post.write(f"{number} a"), post.write(f"{number} b"), post.write(f"{number} c"))
        await post.drained()
    assert post.sent() == [f"{number} {letter}" for number in range(20) for letter in "abc"]


async def test_a_send_that_was_begun_and_not_written_down_is_none(post: Post) -> None:
    async with post.running():
        with pytest.raises(RuntimeError):
            async with post.outbox.sending(post.outbox.drafts("k", Address("telegram", "1"), "lost")):
                raise RuntimeError
        await post.write("Hello")
        await post.drained()
    assert post.sent() == ["Hello"]


async def test_a_chat_keeps_its_order(post: Post) -> None:
    async with post.running():
        for number in range(30):
            await post.write(f"message {number}")
        await post.drained()
    assert post.sent() == [f"message {number}" for number in range(30)]


async def test_a_long_text_is_cut_beside_the_loop_and_is_then_at_hand(database: Database, moment: Moment) -> None:
    chat, there = ThreadsOfCutting("telegram", limit=40), Address("telegram", "1")
    outbox = Outbox(database, moment.clock, {"telegram": chat})
    await outbox.cut(there, "word " * 1_000)
    assert chat.threads and threading.main_thread() not in chat.threads
    before = split._pieces.cache_info().hits
    assert len(outbox.drafts("a:{}", there, "word " * 1_000)) > 100
    assert split._pieces.cache_info().hits == before + 1


async def test_a_rate_limit_holds_up_its_chat_and_no_other(database: Database, moment: Moment) -> None:
    gate = Gate()
    chat = ScriptedChannel("telegram")
    outbox = Outbox(database, moment.clock, {"telegram": chat}, gate)
    task = asyncio.create_task(outbox.run())
    chat.fail_next(NotSent("Too Many Requests", retry_after=30.0))
    await outbox.write(outbox.drafts("a:{}", Address("telegram", "1"), "limited"))
    await gate.reached.wait()
    await outbox.write(outbox.drafts("b:{}", Address("telegram", "2"), "free"))
    assert await chat.wait_heard(chat="2") == ["free"]
    assert chat.heard("1") == []
    gate.opened.set()
    assert await chat.wait_heard(chat="1") == ["limited"]
    task.cancel()
    await asyncio.wait({task})


async def test_the_servers_own_delay_is_obeyed(post: Post) -> None:
    post.chat.fail_next(NotSent("Too Many Requests", retry_after=17.0))
    async with post.running():
        await post.write("Hello")
        await post.drained()
    assert post.slept.asked == [17.0]
    assert post.sent() == ["Hello"]


async def test_without_a_delay_the_waits_grow(post: Post) -> None:
    post.chat.fail_next(NotSent("no route to host"), times=6)
    async with post.running():
        await post.write("Hello")
        await post.drained()
    waits = post.slept.asked
    assert len(waits) == 6
    assert waits[5] > waits[2] > waits[0] > 0


async def test_what_a_platform_refuses_is_given_up_and_the_next_goes_on(post: Post) -> None:
    post.chat.fail_next(ChatGone("the bot was blocked by the user"))
    async with post.running():
        await post.write("lost")
        await post.write("next")
        await post.drained()
    assert post.sent() == ["next"]
    counts = await post.outbox.counts()
    assert (counts.waiting, counts.failed, counts.repeated) == (0, 1, 0)
    assert (await post.database.run(outbox_rows.delivery, "lost")).error == "the bot was blocked by the user"


@pytest.mark.parametrize("delivered", [True, False])
async def test_invariant_03_an_unknown_outcome_is_repeated_once_and_marked(post: Post, delivered: bool) -> None:
    post.chat.fail_next(OutcomeUnknown("the connection ended"), delivered=delivered)
    async with post.running():
        await post.write("Hello")
        await post.drained()
    assert post.sent() == ["Hello"] * delivered + [f"{REPEAT_MARK}Hello"]
    assert (await post.outbox.counts()).repeated == 1


async def test_invariant_03_a_second_unknown_outcome_is_not_repeated(post: Post) -> None:
    post.chat.fail_next(OutcomeUnknown("the connection ended"), delivered=True, times=2)
    async with post.running():
        await post.write("Hello")
        await post.write("next")
        await post.drained()
    assert post.sent()[:3] == ["Hello", f"{REPEAT_MARK}Hello", "next"]
    assert "couldn't deliver one of my messages here (the connection ended)" in " ".join(post.sent()[3:])


async def test_certain_failures_after_a_doubtful_one_do_not_lose_it(post: Post) -> None:
    post.chat.fail_next(OutcomeUnknown("the connection ended"))
    post.chat.fail_next(NotSent("no route to host"), times=3)
    async with post.running():
        await post.write("Hello")
        await post.drained()
    assert post.sent() == [f"{REPEAT_MARK}Hello"]


async def test_an_edit_of_unknown_outcome_is_made_again_without_a_mark(post: Post) -> None:
    preview = await post.chat.send(OutboundMessage(Address("telegram", "1"), "Hel…"))
    post.chat.fail_next(OutcomeUnknown("the connection ended"), delivered=True, times=3)
    async with post.running():
        await post.write("Hello", edits=preview)
        await post.drained()
    assert post.chat.heard() == ["Hello"]
    assert len([act for act in post.chat.history if isinstance(act, Edited)]) == 4
    assert (await post.outbox.counts()).repeated == 0


async def test_a_preview_that_is_gone_is_replaced_by_a_message(post: Post) -> None:
    async with post.running():
        await post.write("Hello", edits="gone")
        await post.drained()
    assert post.sent() == ["Hello"]


async def test_a_reply_whose_preview_may_stand_is_marked_and_survives_a_doubtful_send(post: Post) -> None:
    post.chat.fail_next(OutcomeUnknown("the connection ended"))
    async with post.running():
        await post.write("Hello", repeat=True)
        await post.drained()
    assert post.sent() == [f"{REPEAT_MARK}Hello"]


async def test_a_written_reply_is_sent_by_the_next_process(post: Post) -> None:
    await post.write("Hello")
    async with post.running():
        await post.drained()
    assert post.sent() == ["Hello"]


async def test_invariant_03_a_send_cut_by_a_crash_is_made_once_more_and_marked(post: Post) -> None:
    with post.chat.hold():
        async with post.running():
            await post.write("Hello")
            await post.sending()
    async with post.running():
        await post.drained()
    async with post.running():
        assert await post.open() == ()
    assert post.sent() == [f"{REPEAT_MARK}Hello"]


async def test_only_what_is_being_sent_is_marked_as_such_and_each_attempt_counts_once(post: Post) -> None:
    with post.chat.hold():
        async with post.running():
            await post.write("Hello")
            await post.sending()
            await post.write("and goodbye")
            assert [(row.sending, row.attempts) for row in await post.open()] == [(True, 1), (False, 0)]


async def test_a_send_cut_by_a_crash_is_not_marked_where_the_platform_knows_a_repeat(post: Post) -> None:
    post.chat = ScriptedChannel("telegram", repeat_window=120.0)
    with post.chat.hold():
        async with post.running():
            await post.write("Hello")
            await post.sending()
    async with post.running():
        await post.drained()
    assert post.sent() == ["Hello"]


@pytest.mark.parametrize("seconds", [121, -3600])  # and after the clock was put back, nobody knows
async def test_what_the_platform_has_forgotten_meanwhile_is_marked(post: Post, seconds: int) -> None:
    post.chat = ScriptedChannel("telegram", repeat_window=120.0)
    with post.chat.hold():
        async with post.running():
            await post.write("Hello")
            await post.sending()
    post.moment.pass_(timedelta(seconds=seconds))
    async with post.running():
        await post.drained()
    assert post.sent() == [f"{REPEAT_MARK}Hello"]


async def test_a_lost_answer_is_asked_for_again_without_a_mark(post: Post) -> None:
    post.chat = ScriptedChannel("telegram", repeat_window=120.0)
    post.chat.fail_next(AnswerLost("cut"), delivered=True, times=2)
    async with post.running():
        await post.write("Hello")
        await post.drained()
    assert post.sent() == ["Hello"]


async def test_each_piece_of_what_answers_a_command_says_so(post: Post) -> None:
    drafts = post.outbox.drafts("a:{}", Address("telegram", "1"), "word " * 20, reply_to="5", answer_with="menu:7")
    assert len(drafts) > 1 and {draft.reply_to for draft in drafts} == {"menu:7"}


async def test_a_crash_between_certain_failures_marks_nothing(database: Database, moment: Moment) -> None:
    gate = Gate()
    chat = ScriptedChannel("telegram")
    chat.fail_next(NotSent("no route to host"))
    first = Outbox(database, moment.clock, {"telegram": chat}, gate)
    task = asyncio.create_task(first.run())
    await first.write(first.drafts("a:{}", Address("telegram", "1"), "Hello"))
    await gate.reached.wait()
    task.cancel()
    await asyncio.wait({task})
    second = Outbox(database, moment.clock, {"telegram": chat})
    task = asyncio.create_task(second.run())
    assert await chat.wait_heard() == ["Hello"]
    task.cancel()
    await asyncio.wait({task})


class _Watched(ScriptedChannel):
    """Tells when an edit has reached it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.editing = asyncio.Event()

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        self.editing.set()
        await super().edit(platform_id, message)


async def test_an_edit_cut_by_a_crash_is_made_again_without_a_mark(post: Post) -> None:
    post.chat = chat = _Watched("telegram")
    preview = await post.chat.send(OutboundMessage(Address("telegram", "1"), "Hel…"))
    with post.chat.hold():
        async with post.running():
            await post.write("Hello", edits=preview)
            await chat.editing.wait()
    async with post.running():
        await post.drained()
    assert post.chat.heard() == ["Hello"]


async def test_what_is_written_twice_under_one_key_is_sent_once(post: Post) -> None:
    async with post.running():
        await post.write("Hello", key="turn:{}")
        await post.write("Hello", key="turn:{}")
        await post.drained()
    assert post.sent() == ["Hello"]


async def test_only_the_first_piece_answers_and_edits(post: Post) -> None:
    text = "First paragraph, long.\n\nSecond paragraph, long."
    drafts = post.outbox.drafts("turn:{}", Address("telegram", "1"), text, reply_to="7", edits="8")
    assert [(draft.reply_to, draft.edits) for draft in drafts] == [("7", "8"), ("", "")]
    assert len({draft.key for draft in drafts}) == 2


async def test_buttons_stand_under_the_last_piece_and_files_follow_it(post: Post, tmp_path: Path) -> None:
    yes = ((Button("Yes", "/answer K7F3 yes"),),)
    report = OutboundFile(tmp_path / "report.pdf", "report.pdf")
    drafts = post.outbox.drafts("long:{}", Address("telegram", "1"), "word " * 12, buttons=yes, files=[report])
    await post.outbox.write(drafts)
    async with post.running():
        await post.chat.wait_heard(3)
    sent = [(bool(message.text), message.buttons, message.file) for message in post.chat.standing().values()]
    assert sent == [(True, (), None), (True, yes, None), (False, (), report)]


async def test_invariant_03_a_file_of_unknown_outcome_is_repeated_once_and_marked(post: Post, tmp_path: Path) -> None:
    report = OutboundFile(tmp_path / "report.pdf", "report.pdf")
    post.chat.fail_next(OutcomeUnknown("cut"), delivered=True)
    await post.outbox.write(post.outbox.drafts("file:{}", Address("telegram", "1"), "", files=[report]))
    async with post.running():
        await post.drained()
    assert post.chat.heard() == ["", REPEAT_MARK]


async def test_a_channel_that_is_off_keeps_its_replies(database: Database, moment: Moment) -> None:
    off = Outbox(database, moment.clock, {})
    task = asyncio.create_task(off.run())
    await off.write(off.drafts("a:{}", Address("telegram", "1"), "Hello"))
    await asyncio.sleep(0)
    await off.drained()
    assert (await off.counts()).waiting == 1
    task.cancel()
    await asyncio.wait({task})


class _Breaking(ScriptedChannel):
    """A channel with a bug in it."""

    bugs = 1

    async def send(self, message: OutboundMessage) -> str:
        if self.bugs:
            self.bugs -= 1
            raise ZeroDivisionError("a bug")
        return await super().send(message)

    async def edit(self, platform_id: str, message: OutboundMessage) -> None:
        raise ZeroDivisionError("a bug")


async def test_a_channel_that_breaks_does_not_block_its_chat(post: Post) -> None:
    post.chat = _Breaking("telegram")
    async with post.running():
        await post.write("Hello")
        await post.write("next")
        await post.drained()
    assert post.sent() == [f"{REPEAT_MARK}Hello", "next"]


async def test_an_edit_that_breaks_becomes_a_message(post: Post) -> None:
    chat = _Breaking("telegram")
    chat.bugs = 0
    post.chat = chat
    async with post.running():
        await post.write("Hello", edits="8")
        await post.drained()
    assert post.sent() == ["Hello"]


@on_sqlite
async def test_a_disk_that_refuses_only_delays(post: Post) -> None:
    await post.write("Hello")

    connection = await post.database.run(lambda connection: connection)

    class Room(Sleeps):
        async def __call__(self, seconds: float) -> None:
            await super().__call__(seconds)
            if len(self.asked) == 3:
                connection.execute("PRAGMA query_only = 0")

    post.slept = Room()
    connection.execute("PRAGMA query_only = 1")
    async with post.running():
        assert await post.chat.wait_heard() == ["Hello"]
        await post.drained()
    assert len(post.slept.asked) >= 3


async def test_a_chat_that_moves_keeps_its_order_and_sends_nothing_twice(post: Post) -> None:
    async with post.running():
        with post.chat.hold():
            for number in range(3):
                await post.write(f"old {number}", chat="1")
            await post.sending()
            await post.database.run(inbox_rows.move_chat, "telegram", "1", "-100")
            post.moved["-100"] = "1"
            post.outbox.wake_chat(Address("telegram", "-100"))
            await post.write("new", chat="-100")
        await post.drained()
    everything = [act.message.text for act in post.chat.history if isinstance(act, Sent)]
    assert everything == ["old 0", "old 1", "old 2", "new"]


async def test_a_reply_that_waited_in_a_chat_that_moved_is_sent_to_the_new_one(post: Post) -> None:
    await post.write("Hello", chat="1", edits="8")
    await post.database.run(inbox_rows.move_chat, "telegram", "1", "-100")
    async with post.running():
        await post.drained()
    assert post.chat.heard("-100") == ["Hello"]


@pytest.mark.parametrize("error", [NotSent("x", retry_after=1.0), OutcomeUnknown("x"), Refused("x")])
async def test_the_house_lives_on_after_any_failure(post: Post, error: SendError) -> None:
    post.chat.fail_next(error)
    async with post.running() as task:
        await post.write("one")
        await post.write("two", chat="2")
        await post.drained()
        assert not task.done()
    assert post.sent("2") != []
