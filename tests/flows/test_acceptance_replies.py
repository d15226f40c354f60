"""What a person sees of an answer in Telegram: cut right, in order, once, and shown while it grows."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fakes.telegram import Message, units
from tests.flows.story import ALICE, BOB, GROUP, Story, story


def marks(message: Message, kind: str) -> list[str]:
    """The texts that stand under entities of a kind."""
    data = message.text.encode("utf-16-le")
    return [
        data[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le")
        for one in message.entities
        if one["type"] == kind
    ]


def final(told: Story, chat: int = ALICE) -> list[Message]:
    return told.telegram.messages(chat)


async def test_a_long_answer_with_code_and_emoji_is_split_right_and_in_order(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {n:03} 👩‍👩‍👧‍👦 " + "words of it " * 12 for n in range(90)]
    code = "```python\n" + "\n".join(f"line_{n:04} = '😀'" for n in range(400)) + "\n```"
    answer = "\n\n".join([*paragraphs[:45], code, *paragraphs[45:]])
    assert len(answer) > 20_000
    async with story(tmp_path) as told, told.running():
        told.model.answer(answer)
        told.say("Tell me everything")
        await told.hears("Paragraph 089")
        await told.idle()

        sent = final(told)
        assert all(units(message.text) <= 4096 for message in sent) and len(sent) >= 5
        assert [message.id for message in sent] == sorted(message.id for message in sent)
        whole = "\n".join(message.text for message in sent)
        assert re.findall(r"Paragraph (\d+) 👩‍👩‍👧‍👦", whole) == [f"{n:03}" for n in range(90)]
        in_code = [mark for message in sent for mark in marks(message, "pre")]
        assert len(in_code) >= 2
        assert re.findall(r"line_(\d+) = '😀'", "\n".join(in_code)) == [f"{n:04}" for n in range(400)]
        assert "```" not in whole


async def test_an_answer_of_more_than_eight_messages_is_begun_and_sent_whole_as_a_document(tmp_path: Path) -> None:
    answer = "\n\n".join(f"**Paragraph** {n:04} 😀 " + "words of it " * 30 for n in range(150)).strip()
    async with story(tmp_path) as told, told.running():
        told.model.answer(answer)
        told.say("Tell me everything")
        await told.hears("Paragraph 0000")
        await told.idle()

        beginning, document = final(told)
        assert "whole answer is in the file" in beginning.text and units(beginning.text) <= 4096
        assert marks(beginning, "bold")[0] == "Paragraph"
        file = document.extra["document"]
        assert re.fullmatch(r"answer-\d{4}-\d\d-\d\d-\d{4}\.md", file["file_name"])
        _, content = told.telegram.files[file["file_id"]]
        assert content.decode() == answer


async def test_markdown_becomes_entities_and_html_stays_text(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer(
            "# Title\n\n**bold** and *slanted* and `code` <b>not html</b> & co\n\n- one\n- two\n\n[site](https://example.org)"
        )
        told.say("format")
        message = await told.hears("Title")
        assert marks(message, "bold")[-1] == "bold" and marks(message, "italic") == ["slanted"]
        assert marks(message, "code") == ["code"] and "<b>not html</b> & co" in message.text
        assert "**" not in message.text and "https://example.org" in str(message.entities)


async def test_what_telegram_refuses_as_markup_is_sent_once_more_as_plain_text(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.telegram.fail("sendMessage", status=400, description="Bad Request: can't parse entities: broken")
        told.model.answer("Some **bold** words.")
        told.say("go")
        message = await told.hears("words.")
        assert not message.entities and len(final(told)) == 1
        assert len(told.telegram.called("sendMessage")) == 2


async def test_a_private_answer_grows_in_drafts_and_ends_as_one_message(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        hold = told.model.hold(after=2)
        told.model.answer(["One, ", "two, ", "three."])
        told.say("count")
        await told.model.held(hold)
        await told.telegram.wait_for(
            lambda: (draft := told.telegram.draft(ALICE)) and draft.text.strip() == "One, two,"
        )
        assert told.heard() == []
        hold.release()
        await told.hears("One, two, three.")
        assert told.heard() == ["One, two, three."] and told.telegram.draft(ALICE) is None


async def test_where_drafts_are_refused_edits_take_their_place(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.telegram.fail("sendMessageDraft", status=400, description="Bad Request: method not available", times=None)
        hold = told.model.hold(after=2)
        told.model.answer(["One, ", "two, ", "three."])
        told.say("count")
        await told.model.held(hold)
        await told.hears("One, two,")
        hold.release()
        await told.hears("One, two, three.")
        assert told.heard() == ["One, two, three."]


async def test_a_group_sees_edits_of_one_message_that_answers_its_caller(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        hold = told.model.hold(after=2)
        told.model.answer(["One, ", "two, ", "three."])
        asked = told.say(f"@{told.telegram.username} count", chat=GROUP, user=BOB, name="Bob")
        await told.model.held(hold)
        await told.hears("One, two,", GROUP)
        hold.release()
        message = await told.hears("One, two, three.", GROUP)
        assert len(final(told, GROUP)) == 1 and message.reply_to == asked
        assert not told.telegram.drafts


async def test_a_preview_that_is_throttled_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        throttled = told.telegram.fail("sendMessageDraft", status=429, retry_after=60, times=None)
        hold = told.model.hold(after=1)
        told.model.answer(["Some ", "answer."])
        told.say("go")
        await told.model.held(hold)
        await told.telegram.wait_for(lambda: throttled.hits)
        hold.release()
        await told.hears("Some answer.")


async def test_typing_is_shown_while_working_and_stops(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        hold = told.model.hold(after=0)
        told.model.answer("Done.")
        told.say("go")
        await told.telegram.wait_for(lambda: told.telegram.typing)
        assert told.telegram.typing[0].chat == ALICE
        hold.release()
        await told.hears("Done.")
        await told.idle()
        shown = len(told.telegram.called("sendChatAction"))
        told.say("/whoami")  # a command shows no typing
        await told.idle()
        assert len(told.telegram.called("sendChatAction")) == shown


async def test_an_answer_to_a_message_that_is_gone_is_sent_all_the_same(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        hold = told.model.hold(after=0)
        told.model.answer("Here.")
        asked = told.say(f"@{told.telegram.username} hello", chat=GROUP, user=BOB, name="Bob")
        await told.model.held(hold)
        with told.telegram.bell.lock:
            del told.telegram.chats[GROUP].messages[asked]
        hold.release()
        await told.hears("Here.", GROUP)
        assert len(final(told, GROUP)) == 1


async def test_someone_who_blocked_the_bot_costs_nobody_else_an_answer(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.reply = lambda body: "For you."
        told.say("hello", chat=BOB, name="Bob")
        await told.hears("For you.", BOB)
        hold = told.model.hold(after=0)
        told.say("bye", chat=BOB, name="Bob")
        await told.model.held(hold)
        told.telegram.block(BOB)
        hold.release()
        told.say("me?")
        await told.hears("For you.")
        await told.idle()


async def test_replies_keep_their_order_over_limits_and_errors(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.telegram.fail("sendMessage", status=429, retry_after=1, chat=ALICE)
        told.telegram.fail("sendMessage", status=502, chat=BOB)
        told.model.reply = lambda body: str(body["messages"][-1]["content"][-1]["text"]).splitlines()[-1] + "!"
        for number in range(4):
            told.say(f"number {number}")
        told.say("number 9", chat=BOB, name="Bob")
        await told.hears("number 3!")
        await told.idle()
        assert told.heard() == [f"number {number}!" for number in range(4)]
        assert [text.removeprefix("↻ (may be a repeat) ") for text in told.heard(BOB)] == ["number 9!"]
