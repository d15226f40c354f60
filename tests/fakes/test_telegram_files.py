"""What the fake Telegram refuses of files, asked through the real library."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest, NetworkError, TelegramError

from tests import files
from tests.channels.telegram.pictures import EVERY_BYTE, png
from tests.fakes.telegram import FakeTelegram
from tests.fakes.test_telegram_fake import bot_for

ALICE = 11111


@pytest_asyncio.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as server:
        server.add_chat(ALICE)
        yield server


@pytest_asyncio.fixture
async def bot(telegram: FakeTelegram) -> AsyncIterator[Bot]:
    async with bot_for(telegram) as ready:
        yield ready


async def test_a_file_is_kept_byte_for_byte_and_can_be_sent_again_by_its_id(telegram: FakeTelegram, bot: Bot) -> None:
    sent = await bot.send_document(ALICE, EVERY_BYTE, filename="a.bin", caption="look")
    assert sent.document is not None
    assert (sent.caption, sent.document.file_name) == ("look", "a.bin")
    again = await bot.send_document(ALICE, sent.document.file_id)
    first, second = telegram.messages(ALICE)
    assert telegram.sent_file(first) == ("a.bin", EVERY_BYTE)
    assert telegram.sent_file(second)[1] == EVERY_BYTE
    assert again.document is not None
    fetched = await (await bot.get_file(sent.document.file_id)).download_as_bytearray()
    assert bytes(fetched) == EVERY_BYTE


@pytest.mark.parametrize(
    ("picture", "refusal"),
    [
        (b"no picture", "Image_process_failed"),
        (png(9000, 1001), "Photo_invalid_dimensions"),
        (png(2100, 100), "Photo_invalid_dimensions"),
        (png(padding=10 * 1024 * 1024), "File is too big"),
        (b"", "Image_process_failed"),
    ],
)
async def test_photos_are_looked_at(bot: Bot, picture: bytes, refusal: str) -> None:
    with pytest.raises(BadRequest) as refused:
        await bot.send_photo(ALICE, picture)
    assert refused.value.message.startswith(refusal)


async def test_what_is_wrong_with_a_document_is_refused(telegram: FakeTelegram, bot: Bot) -> None:
    too_long = {"caption": "x" * 1025}
    bad_button = {"reply_markup": InlineKeyboardMarkup([[InlineKeyboardButton("a", callback_data="x" * 65)]])}
    for arguments, said in ((too_long, "caption is too long"), (bad_button, "Button_data_invalid")):
        with pytest.raises(BadRequest, match=said):
            await bot.send_document(ALICE, b"x", **arguments)  # type: ignore[arg-type]
    for content, said in ((b"", "must be non-empty"), ("nonsense", "rong file identifier")):
        with pytest.raises(TelegramError, match=said):
            await bot.send_document(ALICE, content)
    with pytest.raises(BadRequest, match="Chat not found"):
        await bot.send_document(404404, b"x")
    await bot.send_document(ALICE, b"x", caption="x" * 1024)
    assert len(telegram.messages(ALICE)) == 1


async def test_more_than_fifty_megabytes_do_not_even_reach_the_method(bot: Bot) -> None:
    with pytest.raises(NetworkError, match="Request Entity Too Large"):
        await bot.send_document(ALICE, b"\0" * (50 * 1024 * 1024 + 1))


async def test_a_voice_note_is_opus_in_ogg_with_a_short_caption(telegram: FakeTelegram, bot: Bot) -> None:
    for content in (files.OGG, files.wav(), files.MP3, b"OggS\0"):
        with pytest.raises(BadRequest, match="rong type of voice"):
            await bot.send_voice(ALICE, content)
    with pytest.raises(BadRequest, match="aption is too long"):
        await bot.send_voice(ALICE, files.opus(), caption="x" * 1_025)
    sent = await bot.send_voice(ALICE, files.opus("hello"), caption="x" * 1_024)
    assert sent.voice is not None and sent.voice.mime_type == "audio/ogg"
    assert telegram.sent_file(telegram.messages(ALICE)[0])[1] == files.opus("hello")
    telegram.allow_no(ALICE, "voice")
    with pytest.raises(BadRequest, match="oice_messages_forbidden"):
        await bot.send_voice(ALICE, files.opus())


async def test_music_is_mp3(telegram: FakeTelegram, bot: Bot) -> None:
    with pytest.raises(BadRequest, match="rong type of audio"):
        await bot.send_audio(ALICE, files.wav())
    sent = await bot.send_audio(ALICE, files.MP3)
    assert sent.audio is not None
