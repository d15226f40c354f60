"""An answer that would flood a chat is begun there and sent whole as a document."""

from __future__ import annotations

import re

import pytest

from agent.model.scripted import Hold, ScriptedAnswer
from channels.message import OutboundFile, PreviewStyle
from channels.scripted import ScriptedChannel
from gateway.messages.outbound_files import MOST_MESSAGES
from tests.gateway.conftest import Daybook
from tests.gateway.turns.test_turns import settled

LIMIT = 600
NOTE = "_(This is just the beginning. The whole answer is in the file below.)_"


def paragraphs(number: int) -> str:
    """So many that each fills a message of its own."""
    return "\n\n".join(f"Part {part}. " + "words " * 80 for part in range(1, number + 1)).strip()


def documents(daybook: Daybook) -> list[OutboundFile]:
    return [message.file for message in daybook.chat.standing().values() if message.file]


@pytest.fixture
def chat(daybook: Daybook) -> ScriptedChannel:
    daybook.chat = ScriptedChannel("telegram", limit=LIMIT)
    return daybook.chat


async def test_an_answer_of_too_many_messages_is_a_document(daybook: Daybook, chat: ScriptedChannel) -> None:
    answer = paragraphs(MOST_MESSAGES + 1)
    daybook.model.then(answer)
    async with daybook.running() as gateway:
        chat.say("Tell me everything")
        await chat.wait_heard(2)
        await settled(gateway)
    beginning, empty = chat.heard()
    assert beginning.startswith("Part 1.") and beginning.endswith(f"\n\n{NOTE}")
    (file,) = documents(daybook)
    assert (empty, file.name, file.is_image) == ("", "answer-2026-11-21-0830.md", False)
    assert file.path.read_text() == answer
    assert daybook.home.outgoing in file.path.parents


async def test_an_answer_of_as_many_messages_as_one_reads_stays_in_the_chat(
    daybook: Daybook, chat: ScriptedChannel
) -> None:
    daybook.model.then(paragraphs(MOST_MESSAGES))
    async with daybook.running() as gateway:
        chat.say("Tell me much")
        await chat.wait_heard(MOST_MESSAGES)
        await settled(gateway)
    assert len(chat.heard()) == MOST_MESSAGES and documents(daybook) == []


@pytest.mark.parametrize("largest", [0, 1000])
async def test_where_the_document_cannot_be_sent_the_answer_is_split(daybook: Daybook, largest: int) -> None:
    daybook.chat = ScriptedChannel("telegram", limit=LIMIT, largest_file=largest)
    daybook.model.then(paragraphs(10))
    async with daybook.running():
        daybook.chat.say("Tell me everything")
        await daybook.chat.wait_heard(10)
    assert documents(daybook) == [] and "Part 10." in daybook.chat.heard()[-1]


async def test_where_the_document_cannot_be_written_the_answer_is_split(
    daybook: Daybook, chat: ScriptedChannel
) -> None:
    daybook.model.then(paragraphs(10))
    async with daybook.running():
        daybook.home.outgoing.write_text("not a folder")
        chat.say("Tell me everything")
        await chat.wait_heard(10)
    assert documents(daybook) == []


async def test_the_beginning_closes_its_code_and_takes_the_place_of_the_preview(daybook: Daybook) -> None:
    daybook.chat = chat = ScriptedChannel("telegram", limit=LIMIT, preview=PreviewStyle.EDIT)
    answer = "```python\n" + "\n".join(f"line_{n:04} = {n}" for n in range(500)) + "\n```"
    hold = Hold()
    daybook.model.then(ScriptedAnswer((answer[:3000], answer[3000:]), hold=hold, hold_at=1))
    async with daybook.running() as gateway:
        chat.say("All of it")
        await chat.wait_heard()
        hold.released.set()
        await chat.wait_heard(2)
        await settled(gateway)
    beginning, _ = chat.heard()
    assert re.fullmatch(r"```python\n(line_\d+ = \d+\n)+```\n\n" + re.escape(NOTE), beginning)
    assert documents(daybook)[0].path.read_text() == answer


async def test_a_note_that_hardly_fits_is_a_message_of_its_own(daybook: Daybook) -> None:
    daybook.chat = chat = ScriptedChannel("telegram", limit=60)
    daybook.model.then("A sentence of words. " * 60)
    async with daybook.running() as gateway:
        chat.say("Tell me")
        await chat.wait_until(lambda: bool(documents(daybook)))
        await settled(gateway)
    assert chat.heard()[0].startswith("A sentence of words.")
    assert all(len(text) <= 60 for text in chat.heard())
    assert len(documents(daybook)) == 1
