"""What a person sees while a reply is being written."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.values import ReplyText, StepCompleted, TextReset
from channels.message import (
    Address,
    AnswerLost,
    NotSent,
    OutboundMessage,
    OutcomeUnknown,
    PreviewStyle,
    Refused,
    SendError,
)
from channels.scripted import Drafted, Edited, ScriptedChannel, Sent
from gateway.store import outbox_rows
from gateway.store.database import Database
from gateway.turns.preview import LivePreview, StreamedReply

HERE = Address("telegram", "1")


def shown_while(pieces: Sequence[str]) -> list[str]:
    """What of a streamed text was to be seen after each piece, and at its end."""
    reply = StreamedReply()
    seen = []
    for piece in pieces:
        reply.feed(ReplyText(piece))
        seen.append(reply.text)
    reply.feed(StepCompleted())
    return [*seen, reply.text]


def cut(text: str, places: Sequence[int]) -> list[str]:
    marks = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in itertools.pairwise(marks)]


_silences = st.builds(
    lambda before, case, after: (
        before + "".join(u if b else u.lower() for u, b in zip("NO_REPLY", case, strict=True)) + after
    ),
    st.text(" \n\t*_`\"'„“「([", max_size=4),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.text(" \n\t*_`\"'“”」.!)]", max_size=4),
)
_places = st.lists(st.integers(0, 1000), max_size=12)


@given(text=_silences, places=_places)
def test_invariant_10_however_the_token_is_cut_nothing_is_shown(text: str, places: list[int]) -> None:
    assert set(shown_while(cut(text, places))) == {""}


@given(
    text=st.text("NO_REPLYno reply.\n", max_size=40).filter(lambda text: "no_reply" not in text.lower()), places=_places
)
def test_invariant_10_of_every_other_text_all_is_shown(text: str, places: list[int]) -> None:
    shown = shown_while(cut(text, places))
    assert shown[-1] == text.strip()
    assert all(text.strip().startswith(piece) for piece in shown)


@given(
    text=st.text("abc \n", min_size=1).map(str.strip).filter(bool),
    around=st.sampled_from(["{}", "**{}**", "`{}`", "{}.", '"{}"', "„{}“"]),
    is_first=st.booleans(),
    places=_places,
)
def test_invariant_10_a_token_beside_real_text_is_never_seen(
    text: str, around: str, is_first: bool, places: list[int]
) -> None:
    token = around.format("NO_REPLY")
    shown = shown_while(cut(f"{token}\n\n{text}" if is_first else f"{text}\n\n{token}", places))
    assert shown[-1] == text
    assert not any("N" in piece or "*" in piece for piece in shown)


def test_steps_are_paragraphs_and_a_broken_stream_leaves_no_trace() -> None:
    reply = StreamedReply()
    reply.feed(ReplyText("Let me look."))
    reply.feed(StepCompleted(("memory_search",)))
    reply.feed(ReplyText("You said th"))
    assert reply.text == "Let me look.\n\nYou said th"
    reply.feed(TextReset("The server is slow; one moment."))
    assert reply.text == "Let me look."
    assert reply.shown == "Let me look.\n\n_The server is slow; one moment._"
    reply.feed(ReplyText("You said so."))
    reply.feed(StepCompleted())
    assert reply.shown == "Let me look.\n\nYou said so."


def test_a_silent_step_leaves_no_empty_paragraph() -> None:
    reply = StreamedReply()
    reply.feed(StepCompleted(("memory_append",)))
    reply.feed(ReplyText("Noted."))
    reply.feed(StepCompleted())
    assert reply.text == "Noted."


class ThreadsOfCutting(ScriptedChannel):
    """Knows in which threads it was asked to cut a text."""

    threads: frozenset[threading.Thread] = frozenset()

    def split(self, text: str) -> list[str]:
        self.threads |= {threading.current_thread()}
        return super().split(text)


@asynccontextmanager
async def open_preview(
    database: Database, chat: ScriptedChannel, reply: StreamedReply, turn: str = "turn-1"
) -> AsyncIterator[LivePreview]:
    stood = await database.run(outbox_rows.preview_of, turn)
    async with LivePreview(database, chat, HERE, turn, "", stood, closing=600.0).open(reply) as preview:
        yield preview


async def write(reply: StreamedReply, preview: LivePreview, text: str) -> None:
    reply.feed(ReplyText(text))
    preview.changed()


async def test_drafts_grow_with_the_reply_and_leave_no_message(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.DRAFT), StreamedReply()
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        await chat.wait_until(lambda: chat.drafts() == ["Hello"])
        await write(reply, preview, ", you")
        await chat.wait_until(lambda: chat.drafts() == ["Hello", "Hello, you"])
    assert preview.message == ""
    assert chat.heard() == []
    assert len({act.draft_id for act in chat.history if isinstance(act, Drafted)}) == 1


async def test_a_long_reply_is_cut_beside_the_loop(database: Database) -> None:
    chat, reply = ThreadsOfCutting("telegram", preview=PreviewStyle.DRAFT, limit=600), StreamedReply()
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "word " * 1_000)
        await chat.wait_until(lambda: bool(chat.drafts()))
    assert chat.threads and threading.main_thread() not in chat.threads


async def test_edits_are_of_one_message_which_is_on_disk(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT), StreamedReply()
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        await chat.wait_until(lambda: chat.heard() == ["Hello"])
        await write(reply, preview, ", you")
        await chat.wait_until(lambda: chat.heard() == ["Hello, you"])
    (sent,) = [act for act in chat.history if isinstance(act, Sent)]
    assert preview.message == sent.platform_id
    assert await database.run(outbox_rows.preview_of, "turn-1") == sent.platform_id


async def test_a_quick_answer_needs_no_preview_of_its_own(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT), StreamedReply()
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
    assert chat.history == []
    assert await database.run(outbox_rows.preview_of, "turn-1") is None


async def test_a_channel_without_previews_sees_nothing(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.NONE), StreamedReply()
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        await asyncio.sleep(0)
    assert chat.history == []


async def test_the_same_text_is_not_shown_twice(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.DRAFT), StreamedReply()
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        await chat.wait_until(lambda: chat.drafts() == ["Hello"])
        await write(reply, preview, " ")
        await write(reply, preview, "NO_REPL")
        await write(reply, preview, "ISH")
        await chat.wait_until(lambda: len(chat.drafts()) > 1)
    assert chat.drafts() == ["Hello", "Hello NO_REPLISH"]


async def test_a_long_preview_shows_its_end(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.DRAFT, limit=40), StreamedReply()
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "The beginning of it all.\n\nThe middle of it, too.\n\nThe end.")
        await chat.wait_until(lambda: bool(chat.drafts()))
    assert chat.drafts()[0].startswith("… ")
    assert chat.drafts()[0].endswith("The end.")


@pytest.mark.parametrize("error", [NotSent("slow down"), Refused("no"), OutcomeUnknown("cut")])
async def test_a_lost_preview_is_no_matter(database: Database, error: SendError) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.DRAFT), StreamedReply()
    chat.fail_next(error)
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        while preview.uncertain is False and not chat.drafts():
            await write(reply, preview, ".")
            await asyncio.sleep(0)
    assert chat.drafts()


async def test_a_preview_of_unknown_outcome_is_neither_repeated_nor_edited(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT), StreamedReply()
    chat.fail_next(OutcomeUnknown("cut"), delivered=True)
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        await chat.wait_until(lambda: bool(chat.heard()))
        await write(reply, preview, ", you")
    assert (preview.message, preview.uncertain) == ("", True)
    assert chat.heard() == ["Hello"]
    assert await database.run(outbox_rows.preview_of, "turn-1") == ""


async def test_a_preview_that_was_certainly_not_sent_leaves_room_for_another(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT), StreamedReply()
    chat.fail_next(Refused("no right to write here"))
    async with open_preview(database, chat, reply) as preview:
        while not chat.heard():
            await write(reply, preview, "a")
            await asyncio.sleep(0)
    assert not preview.uncertain
    assert await database.run(outbox_rows.preview_of, "turn-1") == preview.message != ""


async def test_after_a_crash_the_known_preview_is_edited_on(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT), StreamedReply()
    known = await chat.send(OutboundMessage(HERE, "Hel"))
    await database.run(outbox_rows.open_preview, "turn-1", "telegram")
    await database.run(outbox_rows.preview_shown, "turn-1", known)
    async with open_preview(database, chat, reply) as preview:
        assert preview.message == known
        await write(reply, preview, "Hello, you")
        await chat.wait_until(lambda: chat.heard() == ["Hello, you"])


async def test_after_a_crash_in_the_act_no_second_preview_is_made(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT), StreamedReply()
    await database.run(outbox_rows.open_preview, "turn-1", "telegram")
    async with open_preview(database, chat, reply) as preview:
        assert preview.uncertain
        await write(reply, preview, "Hello")
    assert chat.history == []


async def test_after_a_crash_in_the_act_the_preview_is_found_where_the_platform_knows_a_repeat(
    database: Database,
) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT, repeat_window=120.0), StreamedReply()
    standing = await chat.send(OutboundMessage(HERE, "Hel", key="turn-1:preview"))
    await database.run(outbox_rows.open_preview, "turn-1", "telegram")
    async with open_preview(database, chat, reply) as preview:
        assert (preview.message, preview.uncertain) == (standing, False)
        await write(reply, preview, "Hello, you")
        await chat.wait_until(lambda: chat.heard() == ["Hello, you"])


async def test_a_preview_whose_answer_was_lost_is_asked_for_again(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT, repeat_window=120.0), StreamedReply()
    chat.fail_next(AnswerLost("cut"), delivered=True)
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        await chat.wait_until(lambda: bool(chat.heard()))
    assert preview.message and not preview.uncertain
    assert chat.heard() == ["Hello"]
    assert await database.run(outbox_rows.preview_of, "turn-1") == preview.message


async def test_a_reply_waits_for_the_id_of_its_preview_while_the_platform_is_out_of_order(database: Database) -> None:
    """Else it would come as a message of its own, marked as perhaps a repeat."""
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT, repeat_window=120.0), StreamedReply()
    chat.fail_next(AnswerLost("cut"), delivered=True)
    chat.fail_next(NotSent("out of order"))
    chat.fail_next(AnswerLost("out of order"))
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        await chat.wait_until(lambda: bool(chat.heard()))
    assert preview.message and not preview.uncertain
    assert chat.heard() == ["Hello"]


async def test_a_preview_in_flight_is_waited_for_since_its_id_is_wanted(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT), StreamedReply()
    preview = LivePreview(database, chat, HERE, "turn-1", "", None, closing=600.0)

    async def turn() -> None:
        async with preview.open(reply):
            await write(reply, preview, "Hello")
            while await database.run(outbox_rows.preview_of, "turn-1") is None:
                pass

    with chat.hold():
        task = asyncio.create_task(turn())
        while await database.run(outbox_rows.preview_of, "turn-1") is None:
            pass
        assert not task.done()
    await task
    assert preview.message != ""
    assert not any(isinstance(act, Edited) for act in chat.history)


async def test_no_preview_overtakes_what_waits_to_be_sent(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.EDIT), StreamedReply()
    waiting, looked = ["an earlier reply"], asyncio.Event()

    def is_clear() -> bool:
        looked.set()
        return not waiting

    async with LivePreview(database, chat, HERE, "turn-1", "", None, is_clear).open(reply) as preview:
        await write(reply, preview, "Hello")
        await looked.wait()
        assert chat.heard() == []
        await chat.send(OutboundMessage(HERE, waiting.pop()))
        await chat.wait_until(lambda: chat.heard() == ["an earlier reply", "Hello"])


class _Broken(ScriptedChannel):
    def __init__(self) -> None:
        super().__init__("telegram", preview=PreviewStyle.DRAFT)
        self.broke = asyncio.Event()

    async def draft(self, draft_id: int, message: OutboundMessage) -> None:
        self.broke.set()
        raise ZeroDivisionError("a bug")


async def test_a_preview_that_breaks_takes_nothing_with_it(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    chat, reply = _Broken(), StreamedReply()
    async with open_preview(database, chat, reply) as preview:
        await write(reply, preview, "Hello")
        await chat.broke.wait()
    assert "a preview failed" in caplog.text


async def test_what_fails_inside_comes_out_as_it_is(database: Database) -> None:
    chat, reply = ScriptedChannel("telegram", preview=PreviewStyle.DRAFT), StreamedReply()
    with pytest.raises(OSError, match="No space left"):
        async with open_preview(database, chat, reply):
            raise OSError("No space left on device")
