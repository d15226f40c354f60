"""Files both ways, with the real library over HTTP against the strict fake."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import (
    Address,
    Attachment,
    Button,
    InboundMessage,
    NotFetched,
    NotSent,
    OutboundFile,
    OutboundMessage,
    OutcomeUnknown,
    Refused,
    SendError,
)
from channels.telegram.channel import TelegramChannel
from tests import files
from tests.channels.telegram.desk import ALICE, Desk
from tests.channels.telegram.pictures import EVERY_BYTE, png

MB = 1_000_000
FORUM = -1001234567890


# in ------------------------------------------------------------------------------------------------------------------


async def fetched(desk: Desk, attachment: Attachment, to: Path, most: int = 50 * MB) -> bytes:
    await desk.channel.fetch(attachment, to, most)
    return await asyncio.to_thread(to.read_bytes)


async def not_fetched(desk: Desk, attachment: Attachment, to: Path, most: int = 50 * MB) -> NotFetched:
    with pytest.raises(NotFetched) as failed:
        await desk.channel.fetch(attachment, to, most)
    assert desk.telegram.token not in str(failed.value)
    assert failed.value.__suppress_context__ or failed.value.__context__ is None
    assert not await asyncio.to_thread(to.exists)
    return failed.value


def document(file_id: str, size: int | None = None) -> Attachment:
    return Attachment("document", "a.bin", size, handle=file_id)


async def test_what_a_person_sends_is_fetched_as_it_is(desk: Desk, tmp_path: Path) -> None:
    file_id = desk.telegram.add_file(EVERY_BYTE, "notes.pdf")
    sent = {"file_id": file_id, "file_size": len(EVERY_BYTE), "file_name": "notes.pdf", "mime_type": "application/pdf"}
    async with desk.running():
        desk.telegram.say(None, document=sent, caption="read this")
        (event,) = await desk.received()
    assert isinstance(event, InboundMessage)
    (attachment,) = event.attachments
    assert attachment == Attachment("document", "notes.pdf", len(EVERY_BYTE), "application/pdf", file_id)
    assert await fetched(desk, attachment, tmp_path / "notes") == EVERY_BYTE
    assert await fetched(desk, replace(attachment, size=None), tmp_path / "again", len(EVERY_BYTE)) == EVERY_BYTE


async def test_telegrams_own_limit_is_told_with_the_size(desk: Desk, tmp_path: Path) -> None:
    film = desk.telegram.add_file(34 * MB)
    error = await not_fetched(desk, document(film, 34 * MB), tmp_path / "film")
    assert str(error) == "Telegram lets bots download at most 20 MB; this file has 34 MB"
    assert not error.passing
    assert "bigger" in str(await not_fetched(desk, document(film), tmp_path / "film"))


async def test_never_more_than_is_allowed(desk: Desk, tmp_path: Path) -> None:
    """Neither where the size is told, which is not even asked for, nor where it is told wrong."""
    file_id = desk.telegram.add_file(3 * MB)
    error = await not_fetched(desk, document(file_id, 3 * MB), tmp_path / "file", 2 * MB)
    assert str(error) == "I take files of at most 2 MB; it has 3 MB"
    assert not desk.telegram.called("getFile")
    for told in (None, 5):
        error = await not_fetched(desk, document(file_id, told), tmp_path / "file", 2 * MB)
        assert not error.passing


FAULTS: dict[str, Callable[[Desk], object]] = {
    "getFile 500": lambda desk: desk.telegram.fail("getFile", status=500),
    "getFile 429": lambda desk: desk.telegram.fail("getFile", status=429, retry_after=5),
    "getFile 401": lambda desk: desk.telegram.fail("getFile", status=401),
    "getFile html": lambda desk: desk.telegram.junk("getFile"),
    "getFile odd": lambda desk: desk.telegram.junk("getFile", status=200, body='{"ok": true}'),
    "getFile empty": lambda desk: desk.telegram.junk("getFile", status=200, body='{"ok": true, "result": {}}'),
    "getFile abort": lambda desk: desk.telegram.abort("getFile"),
    "getFile busy": lambda desk: desk.telegram.fail(
        "getFile", status=400, description="Bad Request: wrong file_id or the file is temporarily unavailable"
    ),
    "download 502": lambda desk: desk.telegram.junk("download"),
    "download 404": lambda desk: desk.telegram.junk("download", status=404),
    "download abort": lambda desk: desk.telegram.abort("download", times=2),  # the first is repeated at once
    "download half": lambda desk: desk.telegram.abort_after("download"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_what_passes_is_told_as_passing_and_a_later_try_succeeds(desk: Desk, tmp_path: Path, fault: str) -> None:
    file_id = desk.telegram.add_file(EVERY_BYTE)
    FAULTS[fault](desk)
    assert (await not_fetched(desk, document(file_id), tmp_path / "file")).passing
    assert await fetched(desk, document(file_id), tmp_path / "file") == EVERY_BYTE


async def test_a_server_that_is_not_there_passes(desk: Desk, tmp_path: Path) -> None:
    await desk.telegram.stop()
    assert (await not_fetched(desk, document("x"), tmp_path / "file")).passing


async def test_what_will_never_be_there_is_told_so(desk: Desk, tmp_path: Path) -> None:
    desk.telegram.fail("getFile", status=400, description="Bad Request: invalid file_id")
    for attachment in (document("x"), Attachment("location", words="48.1, 11.6")):
        assert not (await not_fetched(desk, attachment, tmp_path / "file")).passing


async def test_a_local_servers_own_files_are_read_only_from_this_machine(desk: Desk, tmp_path: Path) -> None:
    """A server elsewhere that names a path must not make us read our own disk."""
    secret = tmp_path / "on the server.bin"
    secret.write_bytes(EVERY_BYTE)
    local = document(desk.telegram.add_local_file(secret))
    assert await fetched(desk, local, tmp_path / "file") == EVERY_BYTE
    assert not (await not_fetched(desk, local, tmp_path / "small", 10)).passing
    elsewhere = TelegramChannel(
        desk.telegram.token, base_url=desk.telegram.base_url, base_file_url="https://files.example.org/file/bot"
    )
    with pytest.raises(NotFetched, match="without --local"):
        await elsewhere.fetch(local, tmp_path / "other", MB)
    await elsewhere.aclose()
    secret.unlink()
    assert "can't read" in str(await not_fetched(desk, local, tmp_path / "gone"))


async def test_a_full_disk_is_the_callers_to_see(desk: Desk, tmp_path: Path) -> None:
    file_id = desk.telegram.add_file(EVERY_BYTE)
    with pytest.raises(FileNotFoundError):
        await desk.channel.fetch(document(file_id), tmp_path / "no folder" / "file", MB)


async def test_a_download_that_is_no_longer_wanted_leaves_nothing(desk: Desk, tmp_path: Path) -> None:
    hold = desk.telegram.hold("download")
    fetching = asyncio.create_task(
        desk.channel.fetch(document(desk.telegram.add_file(EVERY_BYTE)), tmp_path / "file", MB)
    )
    await hold.wait()
    fetching.cancel()
    await asyncio.wait([fetching])
    assert fetching.cancelled()
    assert not (tmp_path / "file").exists()
    hold.release()


# out -----------------------------------------------------------------------------------------------------------------


def outbound(path: Path, content: bytes, *, name: str = "", image: bool = False, text: str = "") -> OutboundMessage:
    path.write_bytes(content)
    return OutboundMessage(ALICE, text, file=OutboundFile(path, name or path.name, image))


async def refused(desk: Desk, message: OutboundMessage) -> SendError:
    with pytest.raises(SendError) as failed:
        await desk.channel.send(message)
    assert desk.telegram.token not in str(failed.value)
    return failed.value


async def test_a_document_arrives_with_its_name_and_caption(desk: Desk, tmp_path: Path) -> None:
    sent = await desk.channel.send(outbound(tmp_path / "list.csv", EVERY_BYTE, text="The **list**"))
    (message,) = desk.telegram.messages(11111)
    assert (str(message.id), message.caption) == (sent, "The list")
    assert [entity["type"] for entity in message.extra["caption_entities"]] == ["bold"]
    assert desk.telegram.sent_file(message) == ("list.csv", EVERY_BYTE)


async def test_a_picture_is_shown_and_what_cannot_be_shown_is_a_document(desk: Desk, tmp_path: Path) -> None:
    pictures = {
        "shown": png(),
        "too long a strip": png(3000, 100),
        "too many pixels": png(6000, 6000),
        "too heavy": png(padding=10 * MB),
        "no picture": b"<svg/>",
    }
    for name, content in pictures.items():
        await desk.channel.send(outbound(tmp_path / name, content, image=True))
    await desk.channel.send(outbound(tmp_path / "to be downloaded", png()))
    messages = desk.telegram.messages(11111)
    assert ["photo" in message.extra for message in messages] == [True, False, False, False, False, False]
    assert [desk.telegram.sent_file(message)[1] for message in messages] == [*pictures.values(), png()]
    assert len(desk.telegram.called("sendPhoto")) == 3, "what is no picture or too heavy is not tried as one"


async def test_where_photos_are_forbidden_the_picture_is_a_document(desk: Desk, tmp_path: Path) -> None:
    desk.telegram.allow_no(11111, "photo")
    await desk.channel.send(outbound(tmp_path / "cat.png", png(), image=True))
    desk.telegram.allow_no(11111, "document")
    error = await refused(desk, outbound(tmp_path / "dog.png", png(), image=True))
    assert isinstance(error, Refused)
    assert "ot enough rights" in str(error)
    assert len(desk.telegram.messages(11111)) == 1


def spoken(path: Path, content: bytes) -> OutboundMessage:
    path.write_bytes(content)
    return OutboundMessage(ALICE, "", file=OutboundFile(path, path.name, is_voice=True))


async def test_speech_is_a_voice_note_a_song_or_a_document(desk: Desk, tmp_path: Path) -> None:
    for name, content in (("a.ogg", files.opus()), ("b.mp3", files.MP3), ("c.wav", files.wav()), ("d.ogg", files.OGG)):
        await desk.channel.send(spoken(tmp_path / name, content))
    await desk.channel.send(outbound(tmp_path / "e.ogg", files.opus()))
    messages = desk.telegram.messages(11111)
    kinds = [next(iter(message.extra)) for message in messages]
    assert kinds == ["voice", "audio", "document", "document", "document"], "what is sent as a file stays one"
    assert desk.telegram.sent_file(messages[0])[1] == files.opus()
    assert desk.telegram.sent_file(messages[2]) == ("c.wav", files.wav())


async def test_who_takes_no_voice_notes_gets_a_document(desk: Desk, tmp_path: Path) -> None:
    desk.telegram.allow_no(11111, "voice")
    await desk.channel.send(spoken(tmp_path / "a.ogg", files.opus()))
    (message,) = desk.telegram.messages(11111)
    assert desk.telegram.sent_file(message) == ("a.ogg", files.opus())
    assert len(desk.telegram.called("sendVoice")) == 1


async def test_a_file_goes_to_its_topic_or_where_that_is_gone_to_its_chat(desk: Desk, tmp_path: Path) -> None:
    said = desk.telegram.say("hi", chat=FORUM, thread=7)["message"]["message_id"]
    buttons = ((Button("Good", "/good 1"),),)
    for thread in ("7", "1", "99"):
        message = outbound(tmp_path / "a.txt", b"x")
        to = Address("telegram", str(FORUM), thread)
        await desk.channel.send(replace(message, address=to, reply_to=str(said), buttons=buttons))
    sent = desk.telegram.messages(FORUM)
    assert [message.thread for message in sent] == [7, None, None]
    assert {message.reply_to for message in sent} == {said}
    assert sent[0].buttons[0][0]["callback_data"] == "/good 1"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\tax.pdf", "tax.pdf"),
        ("a\nb\x00.txt", "a_b_.txt"),
        ("invoice\u202efdp.exe", "invoice_fdp.exe"),
        ("../..", "file"),
        ("x" * 300 + ".pdf", "x" * 96 + ".pdf"),
        ("Übersicht 界.md", "Übersicht 界.md"),
    ],
)
async def test_a_name_that_is_a_path_or_worse_is_made_decent(desk: Desk, tmp_path: Path, name: str, shown: str) -> None:
    await desk.channel.send(outbound(tmp_path / "f", b"x", name=name))
    (message,) = desk.telegram.messages(11111)
    assert desk.telegram.sent_file(message)[0] == shown


async def test_what_is_too_large_empty_or_gone_is_refused_before_it_is_sent(desk: Desk, tmp_path: Path) -> None:
    film = OutboundMessage(ALICE, "", file=OutboundFile(tmp_path / "film.mp4", "film.mp4"))
    assert "cannot be read" in str(await refused(desk, film))
    with (tmp_path / "film.mp4").open("wb") as file:
        file.truncate(73 * MB)
    error = await refused(desk, film)
    assert str(error) == "Telegram takes files of at most 50 MB from bots; film.mp4 has 73 MB"
    assert isinstance(error, Refused)
    assert "empty" in str(await refused(desk, outbound(tmp_path / "none.txt", b"")))
    assert not desk.telegram.called("sendDocument")


@pytest.mark.parametrize("html", [False, True])
async def test_413_is_refused_and_not_tried_for_ever(desk: Desk, tmp_path: Path, html: bool) -> None:
    if html:
        desk.telegram.junk("sendDocument", status=413, body="<html>413 Request Entity Too Large</html>")
    else:
        desk.telegram.fail("sendDocument", status=413)
    error = await refused(desk, outbound(tmp_path / "a.zip", b"x"))
    assert isinstance(error, Refused)
    assert "too large" in str(error)


async def test_an_upload_fails_as_a_text_does(desk: Desk, tmp_path: Path) -> None:
    message = outbound(tmp_path / "a.txt", b"x")
    desk.telegram.fail("sendDocument", status=429, retry_after=9)
    error = await refused(desk, message)
    assert isinstance(error, NotSent)
    assert error.retry_after == 9
    desk.telegram.abort_after("sendDocument")
    assert isinstance(await refused(desk, message), OutcomeUnknown)
    assert len(desk.telegram.messages(11111)) == 1
    desk.telegram.block(11111)
    assert isinstance(await refused(desk, message), Refused)


async def test_an_upload_whose_answer_is_late_has_an_unknown_outcome(desk: Desk, tmp_path: Path) -> None:
    impatient = Desk(desk.telegram, answer_timeout=0.1)
    hold = desk.telegram.hold("sendDocument", after_effect=True)
    assert isinstance(await refused(impatient, outbound(tmp_path / "a.txt", b"x")), OutcomeUnknown)
    hold.release()
    await impatient.channel.aclose()


async def test_a_caption_refused_as_markup_is_sent_once_as_plain_text(desk: Desk, tmp_path: Path) -> None:
    desk.telegram.fail("sendDocument", status=400, description="Bad Request: can't parse entities: no")
    await desk.channel.send(outbound(tmp_path / "a.txt", b"x", text="**look**"))
    assert desk.telegram.messages(11111)[0].caption == "look"
    too_long = outbound(tmp_path / "a.txt", b"x", text="word " * 300)
    assert isinstance(await refused(desk, too_long), Refused)


async def test_a_file_for_a_group_that_moved_finds_it(desk: Desk, tmp_path: Path) -> None:
    desk.telegram.say("hi", chat=-500, chat_type="group")
    desk.telegram.migrate(-500, -1009)
    await desk.channel.send(replace(outbound(tmp_path / "a.txt", b"x"), address=Address("telegram", "-500")))
    assert desk.telegram.sent_file(desk.telegram.messages(-1009)[0]) == ("a.txt", b"x")
