"""The fake is used through the real python-telegram-bot, so that what it says is what the library expects."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
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
from telegram.error import (
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)
from telegram.request import HTTPXRequest

from tests.fakes.telegram import FakeTelegram, units
from tests.fakes.telegram.markup import checked_text, cut
from tests.fakes.telegram.methods import METHODS
from tests.fakes.telegram.wire import ApiError, Params
from tests.fakes.telegram.world import World

ALICE = 11111
GROUP = -1001
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


@pytest_asyncio.fixture
async def raw(telegram: FakeTelegram) -> AsyncIterator[httpx.AsyncClient]:
    base = f"{telegram.base_url}{telegram.token}/"
    async with httpx.AsyncClient(base_url=base, trust_env=False) as client:
        yield client


def text_of(update: Update) -> str | None:
    assert update.message is not None
    return update.message.text


# Receiving


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


async def test_updates_come_again_until_a_higher_offset_confirms_them(telegram: FakeTelegram, bot: Bot) -> None:
    first, second = telegram.say("one"), telegram.say("two")
    for _ in range(2):
        assert [text_of(update) for update in await bot.get_updates()] == ["one", "two"]
    assert telegram.confirmed_offset == 0
    assert [text_of(update) for update in await bot.get_updates(offset=first["update_id"] + 1)] == ["two"]
    assert [update["update_id"] for update in telegram.pending] == [second["update_id"]]
    assert telegram.confirmed_offset == first["update_id"] + 1


async def test_limit_and_negative_offset(telegram: FakeTelegram, bot: Bot) -> None:
    for text in "abc":
        telegram.say(text)
    assert [text_of(update) for update in await bot.get_updates(limit=2)] == ["a", "b"]
    assert [text_of(update) for update in await bot.get_updates(offset=-1)] == ["c"]
    assert len(telegram.pending) == 1


async def test_a_long_poll_is_woken_by_a_message(telegram: FakeTelegram, bot: Bot) -> None:
    poll = asyncio.create_task(bot.get_updates(timeout=30))
    await telegram.wait_for(lambda: telegram.polling)
    telegram.say("wake up")
    assert [text_of(update) for update in await poll] == ["wake up"]


async def test_a_second_poller_ends_the_first_with_a_conflict(telegram: FakeTelegram, bot: Bot) -> None:
    older = asyncio.create_task(bot.get_updates(timeout=30))
    await telegram.wait_for(lambda: telegram.polling)
    assert await bot.get_updates(timeout=0) == ()
    with pytest.raises(Conflict, match="terminated by other getUpdates request; make sure that only one"):
        await older


async def test_a_poller_that_died_is_no_conflict(telegram: FakeTelegram, bot: Bot) -> None:
    poll = asyncio.create_task(bot.get_updates(timeout=30))
    await telegram.wait_for(lambda: telegram.polling)
    poll.cancel()
    await telegram.wait_for(lambda: not telegram.polling)
    assert await bot.get_updates(timeout=0) == ()
    assert [call.status for call in telegram.called("getUpdates")] == [200]


async def test_allowed_updates_are_remembered_for_what_comes_later(telegram: FakeTelegram, bot: Bot) -> None:
    sent = telegram.say("first")["message"]["message_id"]
    await bot.get_updates(allowed_updates=["message"])
    telegram.edit(sent, "second")
    assert [update.edited_message for update in await bot.get_updates()] == [None]
    await bot.get_updates(allowed_updates=[])
    telegram.edit(sent, "third")
    assert [bool(update.edited_message) for update in await bot.get_updates()] == [False, True]


async def test_a_poison_update_reaches_the_bot_as_it_is(telegram: FakeTelegram, raw: httpx.AsyncClient) -> None:
    telegram.push({"message": {"message_id": "not a number"}})
    [update] = (await raw.get("getUpdates")).json()["result"]
    assert update["message"] == {"message_id": "not a number"}


async def test_a_mention_carries_its_entity_in_utf16_units(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.say(**telegram.mention("😀 {bot} hello"), chat=GROUP)
    [update] = await bot.get_updates()
    assert update.message is not None and update.message.chat.type == "supergroup"
    assert list(update.message.parse_entities().values()) == ["@daybook_test_bot"]


async def test_commands_and_mentions_are_found_as_telegram_finds_them(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.say("😀 /new@daybook_test_bot @bobby a/b x@example.org", chat=GROUP)
    [update] = await bot.get_updates()
    assert update.message is not None
    assert list(update.message.parse_entities().values()) == ["/new@daybook_test_bot", "@bobby"]


async def test_a_message_in_a_topic_looks_like_a_reply_to_the_topic(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.say("in a topic", chat=FORUM, thread=7)
    telegram.say("in General", chat=FORUM, thread=1)
    topic, general = [update.message for update in await bot.get_updates()]
    assert topic is not None and general is not None and topic.reply_to_message is not None
    assert (topic.message_thread_id, topic.is_topic_message, topic.chat.is_forum) == (7, True, True)
    assert topic.reply_to_message.forum_topic_created is not None
    assert (general.message_thread_id, general.is_topic_message, general.chat.is_forum) == (None, None, True)


async def test_a_paste_is_cut_by_the_client(telegram: FakeTelegram, bot: Bot) -> None:
    with pytest.raises(ValueError, match="paste"):
        telegram.say("x" * 4097)
    telegram.paste("x" * 5000)
    assert [len(text_of(update) or "") for update in await bot.get_updates()] == [4096, 904]


# Sending


async def refused(work: object) -> str:
    """The description of the error that the Bot API answers with."""
    with pytest.raises(TelegramError) as caught:
        await work  # type: ignore[misc]
    return caught.value.message


async def test_texts_that_are_refused(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    assert await refused(bot.send_message(ALICE, "")) == "Message text is empty"
    assert await refused(bot.send_message(ALICE, " \n​ ")) == "Text must be non-empty"
    assert await refused(bot.send_message(ALICE, "x" * 4097)) == "Message is too long"
    assert await refused(bot.send_message(ALICE, "😀" * 2049)) == "Message is too long"
    assert await refused(bot.send_message(ALICE, "x" * 32769)) == "Text is too long"
    assert await refused(bot.send_message(22222, "x")) == "Chat not found"
    assert telegram.messages(ALICE) == []
    await bot.send_message(ALICE, "😀" * 2048 + "   \n")
    assert units(telegram.messages(ALICE)[0].text) == 4096


async def test_a_number_stays_a_text(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    assert (await bot.send_message(ALICE, "42")).text == "42"


@pytest.mark.parametrize(
    ("entities", "why"),
    [
        ([("bold", 0, 6)], "Entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 6"),
        ([("bold", 6, 1)], "Entity begins after the end of the text at UTF-16 offset 6"),
        ([("bold", 1, 1)], "Entity begins in a middle of a UTF-16 symbol at byte offset 0"),
        ([("bold", 0, 1)], "Entity ends in a middle of a UTF-16 symbol at byte offset 0"),
        ([("bold", 2, 0)], "Can't parse entities: empty entity at UTF-16 offset 2"),
        ([("sparkle", 2, 1)], "Can't parse MessageEntity: Unsupported type specified"),
        ([("text_link", 2, 1)], "Can't parse MessageEntity: Can't find field \"url\""),
        ([("bold", 2, 2), ("italic", 3, 2)], "Can't parse entities: italic and bold overlap at offset 3"),
        ([("pre", 2, 3), ("bold", 3, 1)], "Can't parse entities: bold inside pre at offset 3"),
        ([("bold", 2, 3), ("code", 3, 1)], "Can't parse entities: code inside bold at offset 3"),
        ([("bold", 2, 1)] * 101, "Can't parse entities: 101 entities are more than 100"),
    ],
)
async def test_entities_that_are_refused(
    telegram: FakeTelegram, bot: Bot, entities: list[tuple[str, int, int]], why: str
) -> None:
    telegram.add_chat(ALICE)
    marked = [MessageEntity(kind, offset, length) for kind, offset, length in entities]
    assert (
        await refused(bot.send_message(ALICE, "😀abc", entities=marked)) == why.capitalize()
    )  # as the library prints it
    assert telegram.calls[-1].error == f"Bad Request: {why[0].lower()}{why[1:]}"


async def test_nested_entities_are_shown(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    marked = [
        MessageEntity("blockquote", 0, 9),
        MessageEntity("code", 0, 3),
        MessageEntity("bold", 4, 5),
        MessageEntity("text_link", 4, 2, url="https://example.org"),
    ]
    await bot.send_message(ALICE, "abc defgh", entities=marked)
    [seen] = telegram.messages(ALICE)
    assert [entity["type"] for entity in seen.entities] == ["blockquote", "code", "bold", "text_link"]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("localhost", "Entity URL 'localhost' is invalid: Wrong HTTP URL"),
        ("javascript:alert(1)", "Entity URL 'javascript:alert(1)' is invalid: Unsupported URL protocol"),
    ],
)
async def test_links_that_are_refused(telegram: FakeTelegram, bot: Bot, url: str, why: str) -> None:
    telegram.add_chat(ALICE)
    link = MessageEntity("text_link", 0, 1, url=url)
    assert await refused(bot.send_message(ALICE, "x", entities=[link])) == why.capitalize()


@pytest.mark.parametrize("mode", ["HTML", "MarkdownV2"])
async def test_markup_strings_are_refused(telegram: FakeTelegram, bot: Bot, mode: str) -> None:
    telegram.add_chat(ALICE)
    assert "Can't parse entities" in await refused(bot.send_message(ALICE, "x", parse_mode=mode))


async def test_replies_to_messages_that_are_gone(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    assert await refused(bot.send_message(ALICE, "x", reply_to_message_id=99)) == "Message to be replied not found"
    await bot.send_message(ALICE, "x", reply_parameters=ReplyParameters(99, allow_sending_without_reply=True))
    assert telegram.messages(ALICE)[0].reply_to is None


async def test_topics(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.say("hello", chat=FORUM, thread=7)
    sent = await bot.send_message(FORUM, "in the topic", message_thread_id=7)
    assert (sent.message_thread_id, sent.is_topic_message) == (7, True)
    await bot.send_message(FORUM, "in General")
    for thread in (8, 1):
        assert await refused(bot.send_message(FORUM, "x", message_thread_id=thread)) == "Message thread not found"
    assert await bot.send_chat_action(FORUM, "typing", message_thread_id=1)
    assert [message.text for message in telegram.messages(FORUM, 7)] == ["in the topic"]
    assert [message.text for message in telegram.messages(FORUM)] == ["in the topic", "in General"]


async def test_editing(telegram: FakeTelegram, bot: Bot) -> None:
    theirs = telegram.say("hello")["message"]["message_id"]
    sent = await bot.send_message(ALICE, "draft")
    await bot.edit_message_text("final", ALICE, sent.message_id)
    [seen] = telegram.messages(ALICE)
    assert (seen.id, seen.text, seen.edits) == (sent.message_id, "final", 1)
    assert (await refused(bot.edit_message_text("final", ALICE, sent.message_id))).startswith(
        "Message is not modified: specified new message content and reply markup are exactly the same"
    )
    assert await refused(bot.edit_message_text("x" * 4097, ALICE, sent.message_id)) == "Message_too_long"
    assert await refused(bot.edit_message_text("x", ALICE, theirs)) == "Message can't be edited"
    await bot.delete_message(ALICE, sent.message_id)
    assert await refused(bot.edit_message_text("x", ALICE, sent.message_id)) == "Message to edit not found"
    assert await refused(bot.delete_message(ALICE, sent.message_id)) == "Message to delete not found"
    assert telegram.messages(ALICE) == []


async def test_a_draft_shows_until_the_final_message(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    telegram.add_chat(GROUP)
    await bot.send_message_draft(ALICE, 5, "so f")
    await bot.send_message_draft(ALICE, 5, "so far")
    shown = telegram.draft(ALICE)
    assert shown is not None and (shown.draft_id, shown.text) == (5, "so far")
    assert telegram.messages(ALICE) == []
    await bot.send_message(ALICE, "so far, so good")
    assert telegram.draft(ALICE) is None
    assert [draft.text for draft in telegram.drafts] == ["so f", "so far"]
    assert await refused(bot.send_message_draft(ALICE, 0, "x")) == "Random_id_invalid"
    assert await refused(bot.send_message_draft(GROUP, 5, "x")) == "Textdraft_peer_invalid"


async def test_buttons_are_pressed_and_answered_once(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    too_long = InlineKeyboardMarkup([[InlineKeyboardButton("ok", callback_data="ü" * 33)]])
    assert await refused(bot.send_message(ALICE, "sure?", reply_markup=too_long)) == "Button_data_invalid"
    markup = InlineKeyboardMarkup([[InlineKeyboardButton("ok", callback_data="yes")]])
    sent = await bot.send_message(ALICE, "sure?", reply_markup=markup)
    query = telegram.press(sent.message_id, "yes")
    [update] = await bot.get_updates()
    assert update.callback_query is not None and update.callback_query.data == "yes"
    await bot.answer_callback_query(query, "done")
    assert telegram.callback_answers[query]["text"] == "done"
    assert (await refused(bot.answer_callback_query(query))).startswith("Query is too old")


async def test_reactions(telegram: FakeTelegram, bot: Bot) -> None:
    message = telegram.say("hello")["message"]["message_id"]
    await bot.set_message_reaction(ALICE, message, "👀")
    assert telegram.reactions[ALICE, message] == [{"type": "emoji", "emoji": "👀"}]
    assert await refused(bot.set_message_reaction(ALICE, message, "x")) == "Reaction_invalid"
    assert await refused(bot.set_message_reaction(ALICE, 99, "👀")) == "Message to react not found"


async def test_commands_by_scope(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    await bot.set_my_commands([BotCommand("help", "What I can do")])
    await bot.set_my_commands([BotCommand("new", "Start over")], scope=BotCommandScopeChat(ALICE), language_code="de")
    assert telegram.commands["default"] == [{"command": "help", "description": "What I can do"}]
    assert [command["command"] for command in telegram.commands[f"chat:{ALICE}/de"]] == ["new"]
    assert [command.command for command in await bot.get_my_commands()] == ["help"]
    await bot.delete_my_commands()
    assert "default" not in telegram.commands
    assert await refused(bot.set_my_commands([BotCommand("Help", "x")])) == "Bot_command_invalid"
    assert await refused(bot.set_my_commands([BotCommand("a", "x")] * 101)) == "Bot_commands_too_much"
    assert await refused(bot.set_my_commands([], scope=BotCommandScopeChat(999))) == "Chat not found"


async def test_files(telegram: FakeTelegram, bot: Bot) -> None:
    small, big = telegram.add_file(b"content", "a.txt"), telegram.add_file(20 * 1024 * 1024 + 1)
    fetched = await bot.get_file(small)
    assert bytes(await fetched.download_as_bytearray()) == b"content"
    assert await refused(bot.get_file(big)) == "File is too big"
    assert await refused(bot.get_file("nonsense")) == "Wrong file_id or the file is temporarily unavailable"


async def test_people_who_block_and_groups_that_throw_out(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    telegram.block(ALICE)
    telegram.kick(GROUP)
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await bot.send_message(ALICE, "x")
    with pytest.raises(Forbidden, match="bot was kicked"):
        await bot.send_message(GROUP, "x")
    assert [update.my_chat_member is not None for update in await bot.get_updates()] == [True, True]
    telegram.unblock(ALICE)
    await bot.send_message(ALICE, "x")


async def test_a_group_that_became_a_supergroup(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.say("hello", chat=-55, chat_type="group")
    telegram.migrate(-55, GROUP)
    moved, arrived = [update.message for update in (await bot.get_updates())[1:]]
    assert moved is not None and arrived is not None
    assert (moved.chat_id, moved.migrate_to_chat_id) == (-55, GROUP)
    assert (arrived.chat_id, arrived.migrate_from_chat_id) == (GROUP, -55)
    with pytest.raises(ChatMigrated) as caught:
        await bot.send_message(-55, "x")
    assert caught.value.new_chat_id == GROUP
    await bot.send_message(GROUP, "x")


# The wire


async def test_tokens_and_methods(telegram: FakeTelegram, raw: httpx.AsyncClient) -> None:
    wrong = await raw.get(f"{telegram.base_url}123:{'A' * 35}/getMe")
    assert (wrong.status_code, wrong.json()) == (401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
    malformed = await raw.get(f"{telegram.base_url}nonsense/getMe")
    assert (malformed.status_code, malformed.json()["description"]) == (404, "Not Found")
    unknown = await raw.post("sendTelepathy")
    assert (unknown.status_code, unknown.json()["description"]) == (404, "Not Found: method not found")
    stranger = bot_for(telegram, "123:" + "A" * 35)
    with pytest.raises(InvalidToken):
        await stranger.initialize()
    await stranger.shutdown()


async def test_every_encoding_of_parameters(telegram: FakeTelegram, raw: httpx.AsyncClient) -> None:
    telegram.add_chat(ALICE)
    entities = '[{"type":"bold","offset":0,"length":2}]'
    form = {"chat_id": str(ALICE), "text": "42", "entities": entities}
    await raw.get("SENDMESSAGE", params=form)
    await raw.post("sendMessage", data=form)
    await raw.post("sendMessage", data=form, files={"unused": ("a.txt", b"\x00\xff")})
    await raw.post(
        "sendMessage",
        json={"chat_id": ALICE, "text": "42", "entities": [{"type": "bold", "offset": 0, "length": 2}]},
    )
    seen = telegram.messages(ALICE)
    assert [(message.text, message.entities[0]["type"]) for message in seen] == [("42", "bold")] * 4
    assert [call.params["chat_id"] for call in telegram.called("sendMessage", ALICE)] == [ALICE] * 4


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/x-www-form-urlencoded", b"chat_id=11111&text=%ff%fe"),
        ("application/json", b'{"chat_id": 11111, "text": "\\ud800"}'),
        ("application/json", b'{"chat_id": 11111, "text": "\xff"}'),
    ],
)
async def test_text_that_is_no_utf8(raw: httpx.AsyncClient, content_type: str, body: bytes) -> None:
    answer = await raw.post("sendMessage", content=body, headers={"content-type": content_type})
    assert (answer.status_code, answer.json()["description"]) == (
        400,
        "Bad Request: strings must be encoded in UTF-8",
    )


async def test_json_that_is_no_object(raw: httpx.AsyncClient) -> None:
    for body in (b"[1]", b"{", b"nonsense"):
        answer = await raw.post("sendMessage", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["ok"]) == (400, False)


# Faults


async def test_an_error_before_and_after_the_effect(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    telegram.fail("sendMessage", status=500)
    with pytest.raises(NetworkError, match="Internal Server Error"):
        await bot.send_message(ALICE, "one")
    assert telegram.messages(ALICE) == []
    telegram.fail("sendMessage", status=502, after_effect=True)
    with pytest.raises(NetworkError, match="Bad Gateway"):
        await bot.send_message(ALICE, "two")
    assert [message.text for message in telegram.messages(ALICE)] == ["two"]
    assert [call.status for call in telegram.called("sendMessage")] == [500, 502]


async def test_a_fault_meets_its_chat_and_its_number_of_calls(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    telegram.add_chat(GROUP)
    fault = telegram.fail("sendMessage", status=429, retry_after=7, times=2, chat=ALICE)
    await bot.send_message(GROUP, "x")
    for _ in range(2):
        with pytest.raises(RetryAfter):
            await bot.send_message(ALICE, "x")
        assert telegram.calls[-1].error == "Too Many Requests: retry after 7"
    await bot.send_message(ALICE, "x")
    assert fault.hits == 2


async def test_connections_cut_before_and_after_the_effect(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    telegram.abort("sendMessage")
    with pytest.raises(NetworkError):
        await bot.send_message(ALICE, "lost")
    telegram.abort_after("sendMessage")
    with pytest.raises(NetworkError):
        await bot.send_message(ALICE, "arrived")
    assert [message.text for message in telegram.messages(ALICE)] == ["arrived"]
    assert [call.status for call in telegram.called("sendMessage")] == [0, 0]


async def test_junk_instead_of_json(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.junk("getUpdates")
    with pytest.raises(NetworkError, match="Bad Gateway"):
        await bot.get_updates()
    telegram.junk("getUpdates", status=200, body='{"ok": tru')
    with pytest.raises(TelegramError, match="Invalid server response"):
        await bot.get_updates()


async def test_a_late_answer(telegram: FakeTelegram, raw: httpx.AsyncClient) -> None:
    telegram.delay("getMe", 0.05)
    before = time.monotonic()
    await raw.get("getMe")
    assert time.monotonic() - before >= 0.05


async def test_a_held_call_is_carried_out_although_its_caller_died(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    hold = telegram.hold("sendMessage", chat=ALICE)
    send = asyncio.create_task(bot.send_message(ALICE, "last words"))
    await hold.wait()
    assert telegram.messages(ALICE) == []
    send.cancel()
    hold.release()
    assert (await telegram.next_message(ALICE)).text == "last words"
    await telegram.wait_for(lambda: telegram.called("sendMessage"))


async def test_a_hold_lets_calls_go_one_by_one(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    hold = telegram.hold("sendMessage")
    sends = [asyncio.create_task(bot.send_message(ALICE, text)) for text in "ab"]
    await telegram.wait_for(lambda: hold.waiting == 2)
    hold.release(1)
    await telegram.next_message(ALICE)
    await telegram.wait_for(lambda: hold.waiting == 1)
    assert len(telegram.messages(ALICE)) == 1
    hold.release()
    await asyncio.gather(*sends)
    assert (len(telegram.messages(ALICE)), hold.arrived) == (2, 2)


async def test_floods_are_answered_with_a_delay_per_chat(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.add_chat(ALICE)
    telegram.add_chat(22222)
    telegram.flood(per_chat_per_second=0.01, burst=2, signs=(3, 100.0))
    for _ in range(2):
        await bot.send_message(ALICE, "x")
    with pytest.raises(RetryAfter):
        await bot.send_message(ALICE, "x")
    assert re.fullmatch(r"Too Many Requests: retry after (1\d\d|200)", telegram.calls[-1].error)
    await bot.send_message(22222, "x")
    for _ in range(3):
        await bot.send_chat_action(ALICE, "typing")
    with pytest.raises(RetryAfter):
        await bot.send_message_draft(ALICE, 1, "x")


async def test_the_port_can_close_and_open_again(telegram: FakeTelegram, bot: Bot) -> None:
    telegram.say("kept")
    poll = asyncio.create_task(bot.get_updates(offset=-1, timeout=30))
    assert [text_of(update) for update in await poll] == ["kept"]
    await telegram.stop()
    with pytest.raises(NetworkError):
        await bot.get_updates()
    await telegram.start()
    assert [text_of(update) for update in await bot.get_updates()] == ["kept"]


async def test_a_wait_that_fails_tells_what_happened(telegram: FakeTelegram, bot: Bot) -> None:
    with pytest.raises(TimeoutError, match="getMe -> 200"):
        await telegram.wait_for(lambda: False, timeout=0.01)


def test_in_a_thread_for_code_without_a_loop() -> None:
    with FakeTelegram.in_thread() as telegram:
        telegram.say("hello")
        url = f"{telegram.base_url}{telegram.token}/"
        with httpx.Client(base_url=url, trust_env=False) as client:
            [update] = client.get("getUpdates").json()["result"]
            assert update["message"]["text"] == "hello"
            client.post("sendMessage", json={"chat_id": ALICE, "text": "hi"})
        assert telegram.next_message(ALICE).text == "hi"
        telegram.close_port()
        with httpx.Client(base_url=url, trust_env=False) as client, pytest.raises(httpx.ConnectError):
            client.get("getMe")
        telegram.open_port()
        with httpx.Client(base_url=url, trust_env=False) as client:
            assert client.get("getMe").json()["ok"] is True
        with pytest.raises(TimeoutError):
            telegram.wait_for(lambda: telegram.called("deleteMessage"), timeout=0.01)


# Text


@given(st.text(max_size=60), st.integers(1, 9))
def test_a_cut_text_is_whole_again_when_joined(text: str, limit: int) -> None:
    pieces = cut(text, limit + 1)
    assert "".join(pieces) == text
    assert all(units(piece) <= limit + 1 for piece in pieces)


@given(st.text(st.sampled_from("a😀\r\x00 \n‮"), max_size=12), st.integers(-1, 20), st.integers(-1, 20))
def test_an_accepted_entity_lies_on_symbols_of_the_shown_text(text: str, offset: int, length: int) -> None:
    try:
        shown, entities = checked_text(text, [{"type": "bold", "offset": offset, "length": length}], "")
    except ApiError:
        return
    for entity in entities:
        encoded = shown.encode("utf-16-le")
        piece = encoded[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])]
        assert len(piece) == 2 * entity["length"] > 0
        assert piece.decode("utf-16-le") in shown


FIELDS = ["type", "offset", "length", "url", "user", "id", "emoji", "command", "description", "text", "chat_id"]
FIELDS += ["message_id", "inline_keyboard", "callback_data"]
NONSENSE = st.recursive(
    st.sampled_from([None, True, 0, -1, 1, 2.5, ALICE, "", "x", "typing", "text_link", "text_mention", "chat"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner),
    max_leaves=6,
)
PARAMETERS = ["chat_id", "text", "entities", "parse_mode", "message_thread_id", "reply_parameters", "reply_markup"]
PARAMETERS += ["reply_to_message_id", "draft_id", "message_id", "action", "reaction", "commands", "scope", "file_id"]
PARAMETERS += ["language_code", "callback_query_id", "link_preview_options"]


@given(st.sampled_from(sorted(METHODS)), st.dictionaries(st.sampled_from(PARAMETERS), NONSENSE), st.booleans())
def test_nonsense_is_refused_in_the_api_s_own_words(method: str, values: dict[str, object], known: bool) -> None:
    world = World(1, "daybook_test_bot")
    world.say("hello")
    params = Params(values | {"chat_id": ALICE} if known else values)
    try:
        METHODS[method](world, params)
    except ApiError as error:
        assert error.description.startswith("Bad Request: ")
