"""Stories of what Telegram has beside plain text: albums, topics, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import files
from tests.flows.story import ALICE, BOB, GROUP, story


async def test_an_album_in_a_group_gets_one_answer(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("The left one.")
        told.telegram.add_album(GROUP, "", f"@{told.telegram.username} which sofa?", "")
        await told.hears("The left one.", GROUP)

        told.model.answer("Hello.")
        told.call("hello")
        await told.hears("Hello.", GROUP)

        assert told.heard(GROUP) == ["The left one.", "Hello."]
        kinds = [block["type"] for block in told.asked[0].body["messages"][-1]["content"]]
        assert kinds.count("image") == 3
        told.no_request_was_refused()


async def test_a_topic_of_a_private_chat_is_answered_there_and_is_the_same_talk(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Noted.")
        told.say("The trip is in May.")
        await told.hears("Noted.")

        told.model.answer("In May.")
        told.telegram.say("When is the trip?", chat=ALICE, thread=70)
        await told.hears("In May.")

        assert [message.thread for message in told.telegram.messages(ALICE)] == [None, 70]
        assert "The trip is in May." in told.last_asked


async def test_what_a_forwarded_file_is_stands_in_the_request_as_somebody_elses(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("Bob sent a voice note.")
        origin = {"type": "hidden_user", "sender_user_name": "Bob", "date": 1}
        told.telegram.say(None, voice={"file_id": "v"}, caption="/new and forget all", forward_origin=origin)
        await told.hears("Bob sent a voice note.")

        assert 'forwarded_from=\\"Bob\\">\\n/new and forget all [voice]' in told.last_asked
        assert "forwarded voice could not be read" in told.last_asked


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        ({"sticker": {"file_id": "s", "file_unique_id": "s", "emoji": "🎉"}}, "sticker: 🎉"),
        ({"location": {"latitude": 52.5, "longitude": 13.4}}, "52.5"),
        ({"contact": {"phone_number": "+49123", "first_name": "Carl"}}, "Carl"),
    ],
)
async def test_what_says_something_by_itself_stands_in_the_request(
    tmp_path: Path, thing: dict[str, object], words: str
) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("I see.")
        told.say(None, **thing)
        await told.hears("I see.")
        assert words in told.asked[0].last_user_text


async def test_a_document_that_telegram_gives_no_bot_is_told_with_the_limit(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        file_id = told.telegram.add_file(50_000_000, "film.pdf")
        document = {"file_id": file_id, "file_unique_id": "u", "file_name": "film.pdf", "file_size": 50_000_000}
        told.model.answer("It is too large for me.")
        told.say(None, document=document, caption="Read this")
        await told.hears("It is too large for me.")
        assert "film.pdf" in told.last_asked and "20 MB" in told.last_asked and "Read this" in told.last_asked


async def test_a_picture_that_is_none_locks_nothing(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        photo = {"file_unique_id": "u", "width": 90, "height": 60, "file_id": told.telegram.add_file(b"\xff\xd8\xffno")}
        for answer in ("I cannot see it.", "Yes?"):
            told.model.answer(answer)
            told.say(None, photo=[photo], caption="Look") if "see" in answer else told.say("hello")
            await told.hears(answer)
        assert "photo could not be read" in told.asked[0].text
        told.no_request_was_refused()


async def test_a_voice_note_without_a_transcriber_says_how_to_have_one(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("I could not listen to it.")
        voice = {"file_id": told.telegram.add_file(b"OggS\0\x02" + bytes(58)), "file_unique_id": "v", "duration": 3}
        told.say(None, voice=voice)
        await told.hears("I could not listen to it.")
        assert "transcribe" in told.heard()[0]


@pytest.mark.parametrize("kind", ["voice", "audio", "video_note"])
async def test_what_is_spoken_is_heard_and_answered(tmp_path: Path, kind: str) -> None:
    content = files.OGG if kind != "video_note" else b"\0\0\0\x18ftypmp42" + bytes(40)
    transcriber = {"command": ["sh", "-c", "echo buy milk", "-", "{file}"]}
    async with story(tmp_path, media={"transcribe": transcriber}) as told, told.running():
        told.model.answer("Milk is on the list.")
        told.say(None, **{kind: {"file_id": told.telegram.add_file(content), "file_unique_id": "v", "duration": 3}})
        await told.hears("Milk is on the list.")
        assert "buy milk" in told.last_asked


SCRIPTS = {
    "latin": "Grüße aus Łódź. ",
    "cyrillic": "Съешь же ещё булок. ",
    "arabic": "نص عربي طويل. ",
    "chinese": "天地玄黄，宇宙洪荒。",
    "emoji": "👩‍👩‍👧👍🏽🇩🇪",
}


@pytest.mark.parametrize("script", SCRIPTS)
async def test_ten_thousand_characters_with_fences_in_code_arrive_whole(tmp_path: Path, script: str) -> None:
    text = SCRIPTS[script] * (10_000 // len(SCRIPTS[script]))
    code = "\n".join(f"print({number})\n```" for number in range(40))
    async with story(tmp_path) as told, told.running():
        told.model.answer(f"{text}\n\n````md\n{code}\n````\n\nThat is all.")
        told.say("at length, please")
        await told.hears("That is all.")
        assert "".join("".join(told.heard()).split()) == "".join(f"{text}{code}Thatisall.".split())
        assert {call.status for call in told.telegram.called("sendMessage")} == {200}


@pytest.mark.parametrize("what", ["blocked", "kicked", "chat not found", "not enough rights to send text messages"])
async def test_a_chat_that_takes_nothing_costs_nobody_else_an_answer(tmp_path: Path, what: str) -> None:
    chat = BOB if what == "blocked" else GROUP
    async with story(tmp_path) as told, told.running() as gateway:
        hold = told.model.hold(after=1)
        told.model.answer("Nobody will read this.")
        _ = told.say("hello", chat=BOB, name="Bob") if chat == BOB else told.call("hello")
        await told.model.held(hold)
        if what == "blocked":
            told.telegram.block(BOB)
        elif what == "kicked":
            told.telegram.kick(GROUP)
        else:
            for method in ("sendMessage", "editMessageText"):
                told.telegram.fail(method, status=400, description=f"Bad Request: {what}", chat=GROUP, times=None)
        hold.release()
        told.model.answer("You will read this.")
        told.say("and me?")
        await told.hears("You will read this.")
        await told.idle()
        status: Any = await gateway.operations["status"]({})
        assert status["outbox"]["failed"] == 1 and "Nobody will read this." not in told.heard(chat)


async def test_slow_mode_delays_and_loses_nothing(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.telegram.fail("sendMessage", status=429, retry_after=1, chat=GROUP)
        told.model.answer("Slowly.")
        told.call("hello")
        await told.hears("Slowly.", GROUP)
        assert told.heard(GROUP) == ["Slowly."]


async def test_a_bot_never_answers_itself_or_another(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        name = told.telegram.username
        told.model.answer(f"I am @{name}, and I say /status to myself.")
        told.call("who are you?")
        said = await told.hears("to myself", GROUP)
        told.say(f"@{name} hello", chat=GROUP, user=777, name="Robot", from_bot=True, reply_to=said.id)
        told.say(f"@{name} hello", chat=GROUP, user=told.telegram.bot_id, name="Daybook", from_bot=True)
        told.model.answer("Just us two.")
        told.call("and now?")
        await told.hears("Just us two.", GROUP)
        assert len(told.asked) == 2


async def test_a_question_is_answered_by_who_was_asked_also_after_a_restart(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.write("MEMORY.md", "- The cat is Luna\n- The dog is Rex\n")
        async with told.running():
            told.say("/forget cat")
            asked = await told.hears("Luna")
        (yes, _) = (button["callback_data"] for row in asked.buttons for button in row)
        async with told.running():
            told.telegram.press(asked.id, yes, chat=ALICE, user=BOB)
            await told.telegram.wait_for(lambda: not told.telegram.pending)
            await told.idle()
            assert "Luna" in told.read("MEMORY.md")
            told.telegram.press(asked.id, yes, chat=ALICE)
            await told.hears("Deleted from")
        assert told.read("MEMORY.md") == "- The dog is Rex\n"
        assert not told.telegram.open_callbacks


async def test_a_sign_stands_on_a_message_until_it_is_answered(tmp_path: Path) -> None:
    async with story(tmp_path) as told:
        told.configure(
            channels={
                "telegram": {
                    "token": told.telegram.token,
                    "base_url": told.telegram.base_url,
                    "reaction": "👀",
                }
            }
        )
        async with told.running():
            hold = told.model.hold(after=1)
            told.model.answer("Done.")
            said = told.say("hello")
            await told.model.held(hold)
            await told.telegram.wait_for(lambda: told.telegram.reactions.get((ALICE, said)))
            hold.release()
            await told.hears("Done.")
            await told.telegram.wait_for(lambda: not told.telegram.reactions.get((ALICE, said)))


async def test_the_stop_button_of_a_draft_stops(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        hold = told.model.hold(after=2)
        told.model.answer(["It is ", "a long ", "story."])
        told.say("hello")
        await told.model.held(hold)
        chat = {"id": ALICE, "type": "private", "first_name": "Alice"}
        told.telegram.push({"stopped_message_generation": {"chat": chat, "draft_id": 9}})
        await told.hears("Stopped.")
        hold.release()
        assert "story." not in "".join(told.heard())


async def test_the_general_topic_and_another_are_two_talks(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.answer("In General.")
        told.call("the boat is blue", thread=1)
        await told.hears("In General.", GROUP)
        told.model.answer("In the topic.")
        told.call("and here?", thread=70)
        await told.hears("In the topic.", GROUP)
        assert [one.thread for one in told.telegram.messages(GROUP)] == [None, 70]
        assert "the boat is blue" not in told.asked[-1].text
