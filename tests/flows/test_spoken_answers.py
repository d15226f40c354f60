"""A voice note comes, and the answer comes as text and as a voice; whatever becomes of the voice, the text is there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.home import Home
from tests import files
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.bell import Bell
from tests.fakes.discord.model import File
from tests.fakes.openai_media import KEY, SPEECH_MODEL, VOICE, OpenAiMedia
from tests.fakes.parking import Parking
from tests.fakes.telegram import FakeTelegram, Message
from tests.flows.process import OWNER, GatewayProcess
from tests.flows.server import Server, living
from tests.flows.story import ALICE, GROUP, Story, story
from tests.flows.test_media_on_arrival import HEARD, VOICE_MESSAGE
from tests.flows.test_web import WEB, at_the_page


@pytest.fixture
async def speech() -> AsyncIterator[OpenAiMedia]:
    async with OpenAiMedia().serving() as serving:
        yield serving


def media(speech: OpenAiMedia, **more: Any) -> dict[str, Any]:
    speaker = {"base_url": speech.base_url, "model": SPEECH_MODEL, "voice": VOICE, "api_key": KEY}
    return {**HEARD, "speak": speaker | more}


def say_aloud(telegram: FakeTelegram, chat: int = ALICE, **more: Any) -> None:
    file = {"file_unique_id": "u", "duration": 3, "file_id": telegram.add_file(files.OGG)}
    telegram.say(None, chat=chat, voice=file, **more)


def voices(telegram: FakeTelegram, chat: int = ALICE) -> list[Message]:
    return [message for message in telegram.messages(chat) if "voice" in message.extra]


async def hears_voice(told: Story, chat: int = ALICE, number: int = 1) -> Message:
    found = await told.telegram.wait_for(lambda: voices(told.telegram, chat)[number - 1 : number])
    return found[0]


async def test_on_telegram_a_voice_note_is_answered_with_text_and_then_a_voice_note(
    tmp_path: Path, speech: OpenAiMedia
) -> None:
    async with story(tmp_path, media=media(speech)) as told, told.running():
        told.model.answer("**Noted:** [milk](https://example.org/milk) 🥛.\n\n```\ncode\n```\n\nAnything else?")
        say_aloud(told.telegram)
        text = await told.hears("Anything else?")
        voice = await hears_voice(told)
        assert voice.id > text.id and "code" in text.text
        assert told.telegram.sent_file(voice)[1] == files.opus("Noted: milk .\nAnything else?")

        told.model.answer("In writing.")
        told.say("And in writing?")
        await told.hears("In writing.")
        told.model.answer("Aloud again.")
        say_aloud(told.telegram)
        await hears_voice(told, number=2)
        assert speech.spoken == ["Noted: milk .\nAnything else?", "Aloud again."], "a text is answered with text"
        assert len(told.heard()) == 5


async def test_on_discord_a_voice_message_is_answered_with_text_and_a_sound(
    home: Home, server: Server, model: FakeAnthropic, speech: OpenAiMedia
) -> None:
    recording = File("voice-message.ogg", files.OGG, "audio/ogg", extra={"duration_secs": 3.0, "waveform": "AAAA"})
    async with living(home, server, model, top={"media": media(speech)}):
        model.answer("Noted.")
        await server.say("", attachments=[recording], flags=VOICE_MESSAGE)
        await server.hears("Noted.")

        def sent() -> list[Any]:
            return [one for one in server.discord.messages(server.dm) if one.author is server.discord.bot]

        await server.discord.wait_for(lambda: len(sent()) == 2, 120.0)
    text, sound = sent()
    (attached,) = sound.attachments
    assert (text.content, sound.content) == ("Noted.", "")
    assert attached.name.endswith(".ogg") and attached.content == files.opus("Noted.")


async def test_on_the_page_a_recording_is_answered_with_text_and_a_player(
    telegram: FakeTelegram, model: FakeAnthropic, speech: OpenAiMedia
) -> None:
    async with (
        GatewayProcess(telegram, model, {**WEB, "media": media(speech)}) as gateway,
        at_the_page(gateway) as one,
        one.opened() as tab,
    ):
        model.answer("Noted.")
        await tab.say("", await one.upload(files.OGG, "memo.ogg", "audio/ogg"))
        await tab.hears("Noted.")
        answer = (await tab.until(lambda: [it for it in tab.messages if it["by"] == "daybook" and it["files"]]))[0]
        (sound,) = answer["files"]
        assert (sound["audio"], sound["image"], answer["html"]) == (True, False, "")
        async with one.get(await one.path_of(sound["url"])) as got:
            assert got.headers["Content-Type"] == "audio/ogg"
            assert got.headers["Content-Disposition"].startswith("inline")
            assert await got.read() == files.opus("Noted.")
        async with one.opened() as reloaded:
            assert reloaded.messages == tab.messages


async def test_a_group_hears_it_too_and_a_forwarded_recording_is_answered_in_writing(
    tmp_path: Path, speech: OpenAiMedia
) -> None:
    async with story(tmp_path, media=media(speech)) as told, told.running():
        told.model.answer("All of you: noted.")
        say_aloud(told.telegram, GROUP, caption=f"@{told.telegram.username}")
        await hears_voice(told, GROUP)
        told.model.answer("Bob wants milk.")
        origin = {"type": "hidden_user", "sender_user_name": "Bob", "date": 1}
        say_aloud(told.telegram, forward_origin=origin)
        await told.hears("Bob wants milk.")
        told.model.answer("NO_REPLY")
        say_aloud(told.telegram)
        await told.idle()
        told.model.answer("```\nonly code\n```")
        say_aloud(told.telegram)
        await told.hears("only code")
        told.model.answer("Last.")
        say_aloud(told.telegram)
        await hears_voice(told)
    assert speech.spoken == ["All of you: noted.", "Last."]


async def test_always_means_each_answer_and_never_none(tmp_path: Path, speech: OpenAiMedia) -> None:
    async with story(tmp_path, media=media(speech, when="always")) as told:
        async with told.running():
            told.model.answer("Hello, Alice.")
            told.say("hello")
            await hears_voice(told)
            told.model.fail(400, message="no")
            told.say("what?")
            await told.telegram.wait_for(lambda: len(told.heard()) == 3)
        told.configure(media=media(speech, when="never"))
        async with told.running():
            told.model.answer("Noted.")
            say_aloud(told.telegram)
            await told.hears("Noted.")
            await told.idle()
    assert speech.spoken == ["Hello, Alice."], "neither errors nor answers after it was turned off"


async def test_a_program_speaks_and_what_is_no_opus_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "speech.mp3").write_bytes(files.MP3)  # only its beginning, which no converter reads
    program = ["sh", "-c", f"cp '{tmp_path}/speech.mp3' $1", "-", "{file}"]
    async with story(tmp_path, media={**HEARD, "speak": {"command": program}}) as told, told.running():
        told.model.answer("Noted.")
        say_aloud(told.telegram)
        await told.hears("Noted.")
        song = (await told.telegram.wait_for(lambda: told.telegram.messages(ALICE)[1:]))[0]
        assert told.telegram.sent_file(song)[1] == files.MP3 and "audio" in song.extra


FAULTS: Mapping[str, Mapping[str, Any]] = {
    "status": {"status": 500},
    "html": {"body": b"<!doctype html><p>Log in</p>"},
    "empty": {"body": b""},
    "endless": {"megabytes": 100},
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_speech_that_fails_leaves_the_text_and_no_word_of_it(
    tmp_path: Path, speech: OpenAiMedia, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with story(tmp_path, media=media(speech)) as told, told.running():
        for name, value in FAULTS[fault].items():
            setattr(speech, name, value)
        told.model.answer("Noted.")
        say_aloud(told.telegram)
        await told.hears("Noted.")
        async with asyncio.timeout(120):
            while "is not said aloud" not in caplog.text:  # noqa: ASYNC110  a log rings no bell
                await asyncio.sleep(0.01)
        speech.status, speech.body, speech.megabytes = 200, None, 0
        told.model.answer("Now again.")
        say_aloud(told.telegram)
        await hears_voice(told)
        assert [text for text in told.heard() if text] == ["Noted.", "Now again."]
    assert KEY not in caplog.text


async def test_the_next_answer_does_not_wait_for_a_voice(tmp_path: Path, speech: OpenAiMedia) -> None:
    async with story(tmp_path, media=media(speech)) as told, told.running():
        speech.hold = Parking(Bell())
        told.model.answer("Noted.")
        say_aloud(told.telegram)
        await told.hears("Noted.")
        await speech.hold.wait()
        told.model.answer("Right away.")
        told.say("And now?")
        await told.hears("Right away.")
        assert not voices(told.telegram)
        speech.hold.release()
        await hears_voice(told)
        assert [message.text for message in told.telegram.messages(ALICE)] == ["Noted.", "Right away.", ""]


async def test_what_is_forgotten_meanwhile_is_not_said_aloud(tmp_path: Path, speech: OpenAiMedia) -> None:
    async with story(tmp_path, media=media(speech)) as told, told.running():
        speech.hold = Parking(Bell())
        told.model.answer("The code is 4711.")
        say_aloud(told.telegram)
        await told.hears("4711")
        await speech.hold.wait()
        told.say("/forget 4711")
        question = await told.hears("I found this about")
        told.telegram.press(question.id, question.buttons[0][0]["callback_data"])
        await told.hears("Deleted from")
        speech.hold.release()
        told.model.answer("The next one.")
        say_aloud(told.telegram)
        voice = await hears_voice(told)
        assert told.telegram.sent_file(voice)[1] == files.opus("The next one.")


async def test_a_person_without_voice_notes_gets_a_file_and_a_blocked_one_no_complaint(
    tmp_path: Path, speech: OpenAiMedia
) -> None:
    async with story(tmp_path, media=media(speech)) as told, told.running():
        told.model.answer("One.")
        say_aloud(told.telegram)
        await hears_voice(told)
        told.telegram.allow_no(ALICE, "voice")
        told.model.answer("Two.")
        say_aloud(told.telegram)
        await told.telegram.wait_for(lambda: "document" in told.telegram.messages(ALICE)[-1].extra)
        told.telegram.allow_no(ALICE, "voice", "document")
        told.model.answer("Three.")
        say_aloud(told.telegram)
        await told.hears("Three.")
        await told.telegram.wait_for(lambda: len(told.telegram.called("sendDocument")) == 2)
        told.model.answer("Four.")
        told.say("Still there?")
        await told.hears("Four.")
        assert [text for text in told.heard() if text] == ["One.", "Two.", "Three.", "Four."]


@pytest.mark.parametrize("point", ["speaking", "sending"])
async def test_killed_at_any_point_a_voice_is_sent_once_and_the_text_not_again(
    telegram: FakeTelegram, model: FakeAnthropic, speech: OpenAiMedia, point: str, store: str
) -> None:
    async with GatewayProcess(telegram, model, {"media": media(speech)}) as gateway:
        model.answer("Noted.")
        if point == "speaking":
            speech.hold = Parking(Bell())
        say_aloud(telegram, OWNER)
        await gateway.while_alive(telegram.wait_for(lambda: telegram.messages(OWNER)))
        if speech.hold is not None:
            await gateway.while_alive(speech.hold.wait())
        else:
            await gateway.while_alive(telegram.wait_for(lambda: voices(telegram, OWNER)))
        await gateway.until_status(lambda status: not status["outbox"]["waiting"])  # nothing is cut in the very act
        await gateway.kill()
        if speech.hold is not None:
            speech.hold.release()
        await gateway.start()
        await gateway.while_alive(telegram.wait_for(lambda: voices(telegram, OWNER)))
        model.answer("Still here.")
        telegram.say("hello", chat=OWNER)
        await gateway.while_alive(telegram.wait_for(lambda: len(telegram.messages(OWNER)) == 3))
        assert [message.text for message in telegram.messages(OWNER)] == ["Noted.", "", "Still here."]
        folder = gateway.home / "state" / "speech"
        if store == "postgresql":  # others may be recording: it is removed an hour later
            for one in folder.glob("*"):
                os.utime(one, (0, 0))
            await gateway.restart()
        assert not list(folder.glob("*"))


async def test_the_terminal_has_the_text_alone(
    telegram: FakeTelegram, model: FakeAnthropic, speech: OpenAiMedia
) -> None:
    async with GatewayProcess(telegram, model, {"media": media(speech, when="always")}) as gateway:
        model.answer("In writing.")
        assert (await gateway.cli("chat", "-m", "hello")).out.strip() == "In writing."
        model.answer("Aloud.")
        telegram.say("hello", chat=OWNER)
        await gateway.while_alive(telegram.wait_for(lambda: voices(telegram, OWNER)))
    assert speech.spoken == ["Aloud."]


async def test_what_a_restart_interrupted_is_spoken_unless_hours_have_passed(
    tmp_path: Path, speech: OpenAiMedia
) -> None:
    async with story(tmp_path, media=media(speech)) as told:
        told.moment = datetime(2026, 11, 23, 8, tzinfo=UTC)
        for answer, hours, number in (("One.", 0, 2), ("Two.", 2, 3)):
            speech.hold = Parking(Bell())
            async with told.running():
                told.model.answer(answer)
                say_aloud(told.telegram)
                await told.hears(answer)
                await speech.hold.wait()
            speech.hold.release()
            told.moment += timedelta(hours=hours)
            async with told.running():
                if not hours:
                    await hears_voice(told)
                told.model.answer("Next.")
                say_aloud(told.telegram)
                await hears_voice(told, number=number)
                await told.idle()
        assert [told.telegram.sent_file(one)[1] for one in voices(told.telegram)] == [
            files.opus(text) for text in ("One.", "Next.", "Next.")
        ]
