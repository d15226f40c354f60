"""The fake is used through the real python-telegram-bot, so that what it says is what the library expects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeChat,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    MessageEntity,
    ReplyParameters,
    Update,
)
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken, NetworkError, RetryAfter
from telegram.request import HTTPXRequest

from tests.fakes.telegram import FakeTelegram, units

ALICE = 11111
FORUM = -1002


def bot_for(telegram: FakeTelegram, token: str = "") -> Bot:
    def request() -> HTTPXRequest:
        return HTTPXRequest(connection_pool_size=8, httpx_kwargs={"trust_env": False})

    return Bot(
        token or telegram.token,
        base_url=telegram.base_url,
        base_file_url=telegram.base_file_url,
        request=request(),
        get_updates_request=request(),
    )


@pytest_asyncio.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as server:
        yield server


@pytest_asyncio.fixture
async def bot(telegram: FakeTelegram) -> AsyncIterator[Bot]:
    async with bot_for(telegram) as ready:
        yield ready


async def test_a_person_writes_and_sees_the_answer(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.say("hello")
    [update] = await bot.get_updates()
    assert update.message is not None and update.message.text == "hello"
    await bot.send_message(ALICE, "hi", reply_parameters=ReplyParameters(update.message.message_id))
    seen = await telegram.next_message(ALICE)
    assert (seen.text, seen.reply_to) == ("hi", update.message.message_id)


async def test_get_me_describes_the_bot(telegram: FakeTelegram, bot: Bot) -> None:
    me = await bot.get_me()
    assert (me.id, me.username, me.is_bot) == (telegram.bot_id, "daybook_test_bot", True)
