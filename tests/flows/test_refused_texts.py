"""What becomes of an answer whose text the platform does not take: it comes otherwise, or the chat is told."""

from __future__ import annotations

import re
from pathlib import Path

from tests.flows.story import ALICE, story

TEXT = "\n\n".join(f"Paragraph {number:02} " + "with **some** words " * 8 for number in range(18))


async def test_an_answer_that_is_too_long_for_a_chat_comes_in_smaller_pieces(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Hello!")
        told.say("hi")
        await told.hears("Hello!")
        told.telegram.refuse_text(ALICE, longest=900)
        told.model.answer(TEXT)
        told.say("Tell me everything")
        told.model.answer("And that was all.")
        told.say("Is that all?")
        await told.hears("And that was all.")
        await told.idle()
        _, *pieces, last = told.heard()
        assert last == "And that was all."
        assert re.findall(r"Paragraph (\d\d)", "\n".join(pieces)) == [f"{number:02}" for number in range(18)]
        assert all(len(piece) <= 900 for piece in pieces) and "**" not in "".join(pieces)


async def test_an_answer_that_is_never_taken_leaves_a_sentence(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Hello!")
        told.say("hi")
        await told.hears("Hello!")
        told.telegram.refuse_text(ALICE, forbidden="text must be encoded in UTF-8")
        told.model.answer("This is the forbidden word.")
        told.say("Say it")
        notice = await told.hears("I couldn't deliver one of my messages")
        assert "ext must be encoded in utf-8" in notice.text.casefold()
        await told.idle()
        assert len(told.heard()) == 2
        attempts = [one for one in told.telegram.called("sendMessage") if "forbidden word" in one.params.text("text")]
        assert len(attempts) == 2, "as it is, and once as plain text"
