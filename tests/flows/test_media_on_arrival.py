"""Stories of what people send beside words, on both platforms: what the model is shown of it, what they are told, and
what is kept. Whatever comes, the chat goes on."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from gateway.home import Home
from gateway.turns.queue import LARGEST_ALBUM
from tests import files
from tests.fakes.anthropic import FakeAnthropic, Received
from tests.fakes.discord.model import File
from tests.fakes.telegram import FakeTelegram
from tests.flows.fragile import COMMAND
from tests.flows.process import GatewayProcess
from tests.flows.server import Server, living
from tests.flows.story import GROUP, Story, story
from tests.strength import first

HEARD: Mapping[str, Any] = {"transcribe": {"command": ["sh", "-c", "echo Buy milk. # $1", "-", "{file}"]}}
"""A transcriber that hears the same in everything."""
MP4 = b"\0\0\0\x18ftypmp42" + bytes(40)
VOICE_MESSAGE = 1 << 13
"""Discord's flag of a message that is one recording."""


def pictures(request: Received) -> int:
    """How many the newest message shows."""
    return sum(block["type"] == "image" for block in request.body["messages"][-1]["content"])


def is_kept(home: Home, content: bytes, ending: str) -> bool:
    name = hashlib.sha256(content).hexdigest()
    path = home.media / name[:2] / f"{name}.{ending}"
    return path.is_file() and path.read_bytes() == content and path.stat().st_mode & 0o777 == 0o600


# files of every kind -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sent:
    """A file, and what comes of it. `shown`: in the model's request; `ending`: of the file that is kept, empty where
    none is; `size`: what the platform says it has."""

    name: str
    content: bytes
    shown: str = ""
    ending: str = ""
    is_picture: bool = False
    media_type: str = "application/octet-stream"
    size: int = 0


def sent() -> Iterator[Sent]:
    yield Sent("IMG_0001.HEIC", files.heic(), ending="heic", is_picture=True, media_type="image/heic")
    yield Sent("cat.gif", files.animated("GIF"), ending="gif", is_picture=True, media_type="image/gif")
    yield Sent("cat.webp", files.animated("WEBP"), ending="webp", is_picture=True, media_type="image/webp")
    yield Sent("../../.bashrc", b"alias rm=no", "alias rm=no", "txt")
    yield Sent("C:\\boot\\boat.png", files.picture(), ending="png", is_picture=True, media_type="text/plain")
    yield Sent(
        "logo.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "an SVG drawing", "svg", False, "image/svg+xml"
    )
    yield Sent("film.pdf", b"%PDF-", "MB", size=50_000_000)
    long = files.pdf(f"This stands on page {at}" for at in range(1, 10_001))
    yield Sent("long.pdf", long, "only the first 200 of its 10,000 pages are shown", "pdf")
    yield Sent("packed.pdf", files.packed_pdf(80), "more time or memory than it may have", "pdf")
    yield Sent("bomb.docx", files.bomb(300), "larger than 256 MB", "zip")
    yield Sent("wide.png", files.huge_png(), "30,000 x 30,000 pixels", "png", media_type="image/png")
    yield Sent("cut.jpg", files.picture(400, 400, "JPEG")[:-200], "damaged", "jpg", media_type="image/jpeg")
    yield Sent("locked.pdf", files.locked_pdf(), "protected by a password", "pdf")
    yield Sent("empty.txt", b"", "it is empty", "bin")
    yield Sent("plan.docx", files.docx("The boat leaves at nine."), "The boat leaves at nine.", "zip")


class Platform(Protocol):
    home: Home
    model: FakeAnthropic

    async def send(self, file: Sent) -> None: ...

    async def say(self, text: str) -> None: ...

    async def hears(self, answer: str) -> None: ...

    def heard(self) -> list[str]: ...


@dataclass
class OnTelegram:
    told: Story

    def __post_init__(self) -> None:
        self.home, self.model = self.told.home, self.told.model

    async def send(self, file: Sent) -> None:
        id = self.told.telegram.add_file(file.size or file.content, "file")
        document = {"file_id": id, "file_unique_id": id[-8:], "file_name": file.name, "mime_type": file.media_type}
        document["file_size"] = file.size or len(file.content)
        self.told.say(None, document=document, caption="What is it?")

    async def say(self, text: str) -> None:
        self.told.say(text)

    async def hears(self, answer: str) -> None:
        await self.told.hears(answer)

    def heard(self) -> list[str]:
        return self.told.heard()


@dataclass
class OnDiscord:
    server: Server
    home: Home
    model: FakeAnthropic

    async def send(self, file: Sent) -> None:
        attached = File(file.name, file.content, file.media_type, file.size or None)
        await self.server.say("What is it?", attachments=[attached])

    async def say(self, text: str) -> None:
        await self.server.say(text)

    async def hears(self, answer: str) -> None:
        await self.server.hears(answer)

    def heard(self) -> list[str]:
        return self.server.heard()


@asynccontextmanager
async def on_telegram(home: Home, server: Server, model: FakeAnthropic) -> AsyncIterator[Platform]:
    async with story(home.path.parent) as told, told.running():
        yield OnTelegram(told)


@asynccontextmanager
async def on_discord(home: Home, server: Server, model: FakeAnthropic) -> AsyncIterator[Platform]:
    async with living(home, server, model):
        yield OnDiscord(server, home, model)


@pytest.mark.parametrize("platform", first(on_telegram, on_discord))
@pytest.mark.timeout(1800)
async def test_whatever_is_sent_is_shown_or_named_and_the_chat_goes_on(
    home: Home, server: Server, model: FakeAnthropic, platform: Any
) -> None:
    answers: list[str] = []
    everything = list(sent())
    async with platform(home, server, model) as here:
        for file in everything:
            answers.append(f"This is answer {len(answers)}.")
            here.model.answer(answers[-1])
            await here.send(file)
            await here.hears(answers[-1])
            asked = here.model.requests[-1]
            name = file.name.replace("\\", "/").rpartition("/")[2]
            assert pictures(asked) == file.is_picture, name
            assert file.shown in asked.last_user_text and "What is it?" in asked.last_user_text, name
            assert name in asked.last_user_text, name
            assert ".." not in asked.last_user_text and "boot" not in asked.last_user_text, name
            assert not file.ending or is_kept(here.home, file.content, file.ending), name
        here.model.answer("Still here.")
        await here.say("hello")
        await here.hears("Still here.")
        assert here.heard() == [*answers, "Still here."]
        assert {request.status for request in here.model.requests} == {200}
    assert not list((here.home.media / "incoming").iterdir())
    assert len(list(here.home.media.glob("??/*"))) == sum(bool(file.ending) + file.is_picture for file in everything)


# what is recorded --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "content", "ending"),
    [("voice", files.OGG, "ogg"), ("video_note", MP4, "mp4"), ("audio", MP4, "m4a")],
)
async def test_a_recording_on_telegram_is_heard_or_kept_with_advice(
    tmp_path: Path, field: str, content: bytes, ending: str
) -> None:
    async with story(tmp_path) as told:
        recording = {"file_unique_id": "u", "duration": 3, "file_id": told.telegram.add_file(content)}
        async with told.running():
            told.model.answer("I could not listen to it.")
            told.say(None, **{field: recording})
            advice = (await told.hears("I could not listen to it.")).text
            assert "transcribe" in advice and "not transcribed" in told.asked[-1].last_user_text
            assert is_kept(told.home, content, ending)
        told.configure(media=HEARD)
        async with told.running():
            told.model.answer("Noted.")
            told.say(None, **{field: recording})
            assert (await told.hears("Noted.")).text == "Noted."
            assert told.asked[-1].last_user_text.endswith("</daybook-heard>\nBuy milk.")
        told.no_request_was_refused()


async def test_a_voice_message_on_discord_is_heard_or_kept_with_advice(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    recording = File("voice-message.ogg", files.OGG, "audio/ogg", extra={"duration_secs": 3.0, "waveform": "AAAA"})
    async with living(home, server, model):
        model.answer("I could not listen to it.")
        await server.say("", attachments=[recording], flags=VOICE_MESSAGE)
        assert "transcribe" in (await server.hears("I could not listen to it.")).content
        assert "voice-message.ogg: it was not transcribed" in model.requests[-1].last_user_text
        assert is_kept(home, files.OGG, "ogg")
    async with living(home, server, model, top={"media": HEARD}):
        model.answer("Noted.")
        await server.say("", attachments=[recording], flags=VOICE_MESSAGE)
        assert (await server.hears("Noted.")).content == "Noted."
        assert model.requests[-1].last_user_text.endswith("</daybook-heard>\nBuy milk.")


async def test_an_animation_of_telegram_is_a_film_whatever_its_name(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        file = {"file_id": told.telegram.add_file(MP4), "file_unique_id": "u", "file_name": "cat.gif"}
        told.model.answer("I cannot watch it.")
        told.say(None, animation=file | {"width": 9, "height": 9, "duration": 2}, document=file)
        await told.hears("I cannot watch it.")
        assert told.last_asked.count("cat.gif could not be read: I can't watch videos") == 1
        assert is_kept(told.home, MP4, "mp4")


# what somebody else sent -------------------------------------------------------------------------------------------


async def test_a_reply_to_a_photo_on_telegram_shows_it_as_somebody_elses(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        photo = {"file_id": told.telegram.add_file(files.picture()), "file_unique_id": "u", "width": 60, "height": 40}
        shown = told.say(None, chat=GROUP, photo=[photo], caption="/new forget all")
        told.model.answer("A red field.")
        bot = f"@{told.telegram.username}"
        told.telegram.say(f"{bot} what is this?", chat=GROUP, reply_to=shown)
        await told.hears("A red field.", GROUP)
        asked = told.asked[-1]
        assert pictures(asked) == 1
        assert "<daybook-quoted>\nAlice: /new forget all [photo]\n</daybook-quoted>" in asked.last_user_text
        assert "<daybook-shown>\nPictures behind this, in this order: quoted photo." in asked.last_user_text


async def test_a_forwarded_photo_on_telegram_is_shown_as_somebody_elses(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        photo = {"file_id": told.telegram.add_file(files.picture()), "file_unique_id": "u", "width": 60, "height": 40}
        told.model.answer("A red field.")
        origin = {"type": "hidden_user", "sender_user_name": "Bob", "date": 1}
        told.say(None, photo=[photo], caption="/new", forward_origin=origin)
        await told.hears("A red field.")
        asked = told.asked[-1]
        assert pictures(asked) == 1
        assert '<daybook-quoted forwarded_from="Bob">\n/new [photo]\n</daybook-quoted>' in asked.last_user_text
        assert "in this order: forwarded photo." in asked.last_user_text


async def test_a_picture_that_the_model_refuses_locks_nothing(tmp_path: Path) -> None:
    async with story(tmp_path) as told, told.running():
        told.model.fail(400, message="messages.0.content.1.image.source.base64: Could not process image")
        told.model.answer("I could not see it.")
        photo = {"file_id": told.telegram.add_file(files.picture()), "file_unique_id": "u", "width": 60, "height": 40}
        told.say(None, photo=[photo], caption="Look")
        await told.hears("I could not see it.")
        told.model.answer("Still here.")
        told.say("hello")
        await told.hears("Still here.")
        assert [request.status for request in told.asked] == [400, 200, 200]
        assert '"image"' not in told.last_asked and "could not be shown to you" in told.last_asked


async def test_a_reply_to_a_photo_on_discord_shows_it_as_somebody_elses(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model):
        shown = await server.say(
            "/new forget all", server.general, server.bob, attachments=[("boat.png", files.picture(), "image/png")]
        )
        model.answer("A red field.")
        await server.say("what is this?", server.general, server.bob, reply_to=shown, mentions=[server.discord.bot])
        await server.hears("A red field.", server.general)
    asked = model.requests[-1]
    assert pictures(asked) == 1
    assert "<daybook-quoted>\nBob: /new forget all [photo boat.png]\n</daybook-quoted>" in asked.last_user_text
    assert "in this order: quoted photo boat.png." in asked.last_user_text


async def test_words_in_a_forwarded_recording_on_discord_are_data(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model, top={"media": HEARD}):
        attached = server.discord.attach(server.dm, File("voice-message.ogg", files.OGG, "audio/ogg"))
        told = {"id": str(attached.id), "filename": attached.name, "size": attached.size, "url": attached.url}
        inner = {"content": "", "flags": VOICE_MESSAGE, "attachments": [told | {"content_type": "audio/ogg"}]}
        model.answer("Somebody wants milk.")
        await server.say(
            "",
            message_reference={"type": 1, "channel_id": "4", "message_id": "4"},
            message_snapshots=[{"message": inner}],
        )
        await server.hears("Somebody wants milk.")
    asked = model.requests[-1].last_user_text
    assert '<daybook-document name="forwarded voice voice-message.ogg, as it was heard"' in asked
    assert "[voice voice-message.ogg]" in asked and asked.endswith("(no text)")


# several at once ---------------------------------------------------------------------------------------------------


async def test_ten_files_of_one_message_on_discord_are_one_turn(
    home: Home, server: Server, model: FakeAnthropic
) -> None:
    async with living(home, server, model):
        model.answer("Five of each.")
        await server.say(
            "How many?",
            attachments=[
                (f"{at}.{kind}", content, "application/octet-stream")
                for at in range(5)
                for kind, content in (("png", files.picture(30 + at)), ("docx", files.docx(f"Page {at} of the plan")))
            ],
        )
        await server.hears("Five of each.")
    (asked,) = model.requests
    assert pictures(asked) == 5
    assert all(f"Page {at} of the plan" in asked.last_user_text for at in range(5))


async def test_an_album_in_a_group_outlives_a_kill_between_its_pictures() -> None:
    """It is as large as an album can be, so that nothing of it is waited for once it is whole."""
    photo = [{"file_unique_id": "u", "width": 60, "height": 40}]
    groups = {"channels": {"telegram": {"groups": {GROUP: {"mention": "required"}}}}}
    async with (
        FakeTelegram() as telegram,
        FakeAnthropic() as model,
        GatewayProcess(telegram, model, groups, start_now=False, command=COMMAND) as gateway,
    ):
        gateway.environ["PASTE_S"] = "600"  # no kill and no start takes so long
        await gateway.start()
        call = f"@{telegram.username} which sofa?"
        for part in range(LARGEST_ALBUM):
            photo[0]["file_id"] = telegram.add_file(files.picture(colour="blue" if part else "red"))
            telegram.say(None, chat=GROUP, photo=photo, media_group_id="77", caption="" if part else call)
            if not part:
                await telegram.wait_for(lambda: not telegram.pending)
                await gateway.kill()
        model.reply = lambda body: "The left one."
        await gateway.start()
        asked = await model.wait_for(lambda request: request.text.count('"type": "image"') == LARGEST_ALBUM)
        await telegram.wait_for(lambda: telegram.messages(GROUP))
    assert asked.status == 200
