"""A message that its platform does not take comes in smaller pieces, or its chat is told that it does not come."""

from __future__ import annotations

import re
import sqlite3

import pytest

from agent.languages.codes import Language
from agent.languages.registry import LANGUAGES
from agent.languages.sentences import Sentence
from channels.message import Address, Button, OutboundMessage, Refused
from channels.scripted import Edited, ScriptedChannel, Sent
from gateway.messages.outbox import REPEAT_MARK
from gateway.store import chat_rows, outbox_rows
from gateway.store.database import Database
from gateway.store.outbox_rows import OutboxRow
from tests.gateway.conftest import Moment
from tests.gateway.messages.test_outbox import Post
from tests.languages import SAID


@pytest.fixture
def post(database: Database, moment: Moment) -> Post:
    return Post(database, moment)


async def test_what_is_given_up_for_good_leaves_a_sentence_once(post: Post) -> None:
    text = "\n\n".join(f"Paragraph {number} of what nobody takes" for number in range(3))
    post.chat.fail_next(Refused("text must be encoded in UTF-8"), times=3)
    async with post.running():
        await post.write(text, key="turn:{}")
        await post.write("next")
        await post.drained()
    after, *notice_pieces = post.sent()
    notice = " ".join(notice_pieces)
    assert after == "next" and "text must be encoded in UTF-8" in notice and "/export" in notice
    assert (await post.outbox.counts()).failed == 3
    delivery = await post.database.run(outbox_rows.delivery, "turn")
    assert (delivery.sent, delivery.failed) == (0, 3), "the sentence is no piece of it"


async def test_why_is_said_in_the_language_of_the_chat(post: Post) -> None:
    said = ScriptedChannel("telegram").say(SAID[Language("fr")])
    await post.database.run(chat_rows.spoke, said, "2026-11-21T12:00:00Z", "2026-11-21")
    post.chat.fail_next(Refused(Sentence("Telegram refuses this: it is too large")), times=1)
    async with post.running():
        await post.write("lost")
        await post.drained()
    notice = " ".join(post.sent())
    assert "Telegram le refuse : c'est trop gros" in notice and "/export" in notice


async def test_a_sentence_that_is_refused_leaves_none(post: Post) -> None:
    post.chat = ScriptedChannel("telegram", limit=10_000)
    post.chat.fail_next(Refused("no"), times=2)
    async with post.running():
        await post.write("lost")
        await post.drained()
    assert post.sent() == [] and (await post.outbox.counts()).failed == 2


async def test_a_sentence_is_in_the_language_of_its_chat(post: Post) -> None:
    said = ScriptedChannel("telegram").say("Ich habe heute keine Zeit für dich und den Hund")
    await post.database.run(chat_rows.spoke, said, "2026-11-21T12:00:00Z", "2026-11-21")
    post.chat.fail_next(Refused("no"))
    async with post.running():
        await post.write("lost")
        await post.drained()
    assert " ".join(post.sent()) == LANGUAGES[Language("de")].chat.undelivered.format(why="no")


class Boaster(ScriptedChannel):
    """A platform that takes less than it says."""

    def split(self, text: str) -> list[str]:
        return [text]


PARAGRAPHS = [f"Paragraph {number:02}: **{'words ' * 12}**" for number in range(20)]


def paragraphs(texts: list[str]) -> list[int]:
    return [int(number) for number in re.findall(r"Paragraph (\d\d)", "\n".join(texts))]


async def test_what_is_too_long_is_cut_smaller_in_order_and_before_what_follows(post: Post) -> None:
    post.chat = Boaster("telegram", limit=500)
    async with post.running():
        with post.chat.hold():
            await post.write("\n\n".join(PARAGRAPHS), key="turn:{}")
            await post.write("next")
        await post.drained()
    *pieces, last = post.sent()
    assert last == "next" and paragraphs(pieces) == [*range(20)]
    counts = await post.outbox.counts()
    assert (counts.waiting, counts.failed, counts.repeated) == (0, 0, 0)
    assert (await post.database.run(outbox_rows.delivery, "turn")).sent == len(pieces) < 10


async def test_a_preview_that_gets_too_long_becomes_the_first_piece(post: Post) -> None:
    post.chat = Boaster("telegram", limit=500)
    address, buttons = Address("telegram", "1"), ((Button("Yes", "/yes"),),)
    preview = await post.chat.send(OutboundMessage(address, PARAGRAPHS[0]))
    text = "\n\n".join(PARAGRAPHS)
    async with post.running():
        await post.outbox.write(post.outbox.drafts("turn:{}", address, text, edits=preview, buttons=buttons))
        await post.drained()
    assert paragraphs(post.chat.heard("1")) == [*range(20)]
    acts = [act for act in post.chat.history if isinstance(act, Sent | Edited)]
    assert [type(act) for act in acts[:3]] == [Sent, Edited, Sent]
    assert [act.message.buttons for act in acts] == [()] * (len(acts) - 1) + [buttons]


async def test_what_no_cut_makes_short_enough_is_given_up_in_few_attempts(post: Post) -> None:
    post.chat = Boaster("telegram", limit=100)
    async with post.running():
        await post.write("\n\n".join(PARAGRAPHS), key="turn:{}")
        await post.drained()
    assert 0 < (await post.outbox.counts()).failed < 12, "among them the sentence"
    (row,) = await post.database.run(_rows_of, "undelivered:turn:0")
    assert row == "failed" and post.sent() == []


def _rows_of(connection: sqlite3.Connection, key: str) -> list[str]:
    return [row["state"] for row in connection.execute("SELECT state FROM outbox WHERE key = ?", (key,))]


@pytest.mark.parametrize("after", range(1, 5))
async def test_a_cut_stands_over_a_crash(post: Post, after: int) -> None:
    """The process ends when so many pieces have their receipt: each of the others comes from the next one."""
    post.chat = Boaster("telegram", limit=500)

    def reached(rows: tuple[OutboxRow, ...]) -> bool:
        return len([act for act in post.chat.history if isinstance(act, Sent)]) >= after

    async with post.running():
        await post.write("\n\n".join(PARAGRAPHS), key="turn:{}")
        await post.write("next")
        await post.until(reached)
    async with post.running():
        await post.drained()
    marked = [text for text in post.sent() if text.startswith(REPEAT_MARK)]
    once = [text for text in post.sent() if text not in marked and REPEAT_MARK + text not in marked]
    assert len(marked) <= 1, "what was being sent when it ended"
    assert paragraphs(sorted([*once, *marked], key=lambda text: paragraphs([text]) or [99])) == [*range(20)]
    assert post.sent()[-1] == "next"
