"""Stories of small texts and files that were made to hold the gateway up: whoever sends one is answered, and so is
everybody else, and the process still ends when it is told to (issue 11, 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.telegram import FakeTelegram
from tests.flows.process import GatewayProcess
from tests.flows.story import ALICE, BOB, GROUP

GROUPS = {"channels": {"telegram": {"groups": {GROUP: {"mention": "required"}}}}}
UNCLOSED = b"<!---->" * 40 + b"x"
"""A page's comments, as it seems; to a careless pattern, two to the power of 40 ways to read them."""
TEXTS = {
    "fillers before what is not to be written down": "不要" + "把" * 50,
    "quotations that do not end": "“" * 4_000,
    "brackets that do not close": "![[" * 1_300,
    "blank lines": "\n" * 4_000 + "[",
}


def document(telegram: FakeTelegram, content: bytes, name: str) -> Mapping[str, Any]:
    id = telegram.add_file(content, "file")
    return {"file_id": id, "file_unique_id": id[-8:], "file_name": name, "file_size": len(content)}


@pytest.mark.timeout(1800)
async def test_a_file_of_281_bytes_in_a_group_stops_nobody() -> None:
    assert len(UNCLOSED) == 281
    async with FakeTelegram() as telegram, FakeAnthropic() as model, GatewayProcess(telegram, model, GROUPS) as gateway:
        model.reply = lambda body: "I am here."
        caption = f"@{telegram.username} what is this?"
        telegram.say(None, chat=GROUP, user=BOB, document=document(telegram, UNCLOSED, "page.html"), caption=caption)
        await telegram.wait_for(lambda: telegram.messages(GROUP))
        telegram.say("Are you there?", chat=ALICE)
        await telegram.wait_for(lambda: telegram.messages(ALICE))
        assert [one.text for one in telegram.messages(GROUP)] == ["I am here."]
        assert [one.text for one in telegram.messages(ALICE)] == ["I am here."]
        assert any("page.html" in request.text for request in model.requests)
        assert await gateway.terminate() == 0


@pytest.mark.timeout(1800)
async def test_texts_that_were_made_to_stop_it_are_answered_and_so_is_the_next_chat() -> None:
    async with FakeTelegram() as telegram, FakeAnthropic() as model, GatewayProcess(telegram, model, GROUPS) as gateway:
        for number, text in enumerate(TEXTS.values(), start=1):
            model.reply = lambda body, answer=f"{text}{number}" + " " * 4_000: answer
            telegram.say(f"@{telegram.username} {text}", chat=GROUP, user=BOB)
            await telegram.wait_for(lambda at=number: any(str(at) in one.text for one in telegram.messages(GROUP)))
            model.reply = lambda body, answer=f"I am here, {number}.": answer
            telegram.say("Are you there?", chat=ALICE)
            await telegram.wait_for(lambda at=number: len(telegram.messages(ALICE)) == at)
        assert [one.text for one in telegram.messages(ALICE)] == [
            f"I am here, {at}." for at in range(1, len(TEXTS) + 1)
        ]
        assert await gateway.terminate() == 0
