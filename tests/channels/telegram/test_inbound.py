from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Address, Attachment, ChatKind, InboundMessage, Migrated, Origin, Quote, UnreadableEvent
from channels.telegram.inbound import TelegramIdentity, read

BOT = TelegramIdentity(42, "my_bot")
ALICE = {"id": 11111, "is_bot": False, "first_name": "Alice", "last_name": "Arnold"}
PRIVATE = {"id": 11111, "type": "private", "first_name": "Alice"}
GROUP = {"id": -1001, "type": "supergroup", "title": "Friends"}


def message(**fields: Any) -> dict[str, Any]:
    return {"message_id": 7, "date": 1_763_000_000, "chat": PRIVATE, "from": ALICE} | fields


def update(**fields: Any) -> dict[str, Any]:
    return {"update_id": 900, "message": message(**fields)}


def heard(**fields: Any) -> InboundMessage:
    event = read(update(**fields), BOT)
    assert isinstance(event, InboundMessage), event
    return event


def entity(text: str, part: str, kind: str, **more: Any) -> dict[str, Any]:
    offset = len(text[: text.index(part)].encode("utf-16-le")) // 2
    return {"type": kind, "offset": offset, "length": len(part.encode("utf-16-le")) // 2} | more


def in_group(text: str, *marked: tuple[str, str], **fields: Any) -> InboundMessage:
    entities = [entity(text, part, kind) for part, kind in marked]
    return heard(chat=GROUP, text=text, entities=entities, **fields)


def test_a_private_message() -> None:
    assert heard(text="hello") == InboundMessage(
        id="update:900",
        address=Address("telegram", "11111"),
        kind=ChatKind.PRIVATE,
        sender=heard(text="x").sender,
        text="hello",
        sent_at=datetime.fromtimestamp(1_763_000_000, UTC),
        platform_id="7",
    )
    assert (heard(text="x").sender.id, heard(text="x").sender.name) == ("11111", "Alice Arnold")


@pytest.mark.parametrize(
    ("text", "marked", "calls", "said"),
    [
        ("hello all", [], False, "hello all"),
        ("@my_bot hello", [("@my_bot", "mention")], True, "hello"),
        ("@My_Bot, hello", [("@My_Bot", "mention")], True, "hello"),
        ("🙂 hello @my_bot", [("@my_bot", "mention")], True, "🙂 hello @my_bot"),
        ("@my_bot2 hello", [("@my_bot2", "mention")], False, "@my_bot2 hello"),
        ("@my_bot hello", [], False, "@my_bot hello"),
        ("/new", [("/new", "bot_command")], True, "/new"),
        ("/new@my_bot now", [("/new@my_bot", "bot_command")], True, "/new now"),
        ("/new@other_bot", [("/new@other_bot", "bot_command")], False, "/new@other_bot"),
        ("say /new", [("/new", "bot_command")], False, "say /new"),
        ("@my_bot", [("@my_bot", "mention")], True, ""),
    ],
)
def test_who_is_called_is_read_from_entities(text: str, marked: list[tuple[str, str]], calls: bool, said: str) -> None:
    event = in_group(text, *marked)
    assert (event.calls_bot, event.text) == (calls, said)
    assert event.kind is ChatKind.GROUP
    assert event.group_name == "Friends"


def test_a_mention_without_a_user_name_is_by_id() -> None:
    for user, calls in ((42, True), (43, False)):
        mention = entity("Bot, hi", "Bot", "text_mention", user={"id": user})
        assert heard(chat=GROUP, text="Bot, hi", entities=[mention]).calls_bot is calls


def test_a_caption_is_the_text_and_its_entities_count() -> None:
    photo = [{"file_id": "s", "file_size": 10}, {"file_id": "l", "file_size": 99}]
    event = heard(
        chat=GROUP, photo=photo, caption="@my_bot look", caption_entities=[entity("@my_bot", "@my_bot", "mention")]
    )
    largest = Attachment("photo", size=99, media_type="image/jpeg", handle="l")
    assert (event.text, event.calls_bot, event.attachments) == ("look", True, (largest,))


def test_a_reply_to_the_bot_calls_it_and_quotes() -> None:
    own = {"message_id": 3, "from": {"id": 42, "is_bot": True, "first_name": "My Bot"}, "text": "At eight?"}
    event = in_group("yes", reply_to_message=own)
    assert event.calls_bot
    assert event.quote == Quote("My Bot", "At eight?")
    assert not in_group("/stop@other_bot", ("/stop@other_bot", "bot_command"), reply_to_message=own).calls_bot


def test_the_quoted_part_is_what_was_chosen() -> None:
    other = {"message_id": 3, "from": {"id": 5, "first_name": "Bob"}, "text": "Long story. At eight."}
    event = in_group("why?", reply_to_message=other, quote={"text": "At eight.", "position": 12})
    assert event.quote == Quote("Bob", "At eight.")
    assert not event.calls_bot


def test_a_topics_first_message_is_no_reply() -> None:
    opener = {"message_id": 70, "from": {"id": 42, "first_name": "My Bot"}, "forum_topic_created": {"name": "T"}}
    event = in_group("hi", message_thread_id=70, is_topic_message=True, reply_to_message=opener)
    assert (event.calls_bot, event.quote, event.address.thread_id) == (False, None, "70")


def test_threads_count_only_in_topics() -> None:
    assert in_group("hi", message_thread_id=70).address.thread_id is None
    assert in_group("hi", message_thread_id=1, is_topic_message=True).address.thread_id is None


def test_forwarded_text_is_somebody_elses() -> None:
    event = heard(text="/new now", forward_origin={"type": "hidden_user", "sender_user_name": "Bob", "date": 1})
    assert (event.text, event.quote) == ("", Quote("Bob", "/new now", forwarded=True))


def test_edits_say_what_they_replace() -> None:
    event = read({"update_id": 901, "edited_message": message(text="better", edit_date=1_763_000_100)}, BOT)
    assert isinstance(event, InboundMessage)
    assert (event.edit, event.platform_id, event.id) == (True, "7", "update:901")
    assert event.sent_at == datetime.fromtimestamp(1_763_000_100, UTC)


def test_a_paste_cut_by_the_client_goes_on() -> None:
    assert heard(text="x" * 4000).continues
    assert heard(text="🙂" * 2000).continues
    assert not heard(text="x" * 3999).continues


PLACE = {"latitude": 48.137154, "longitude": 11.5}
LIVE_PHOTO = {"file_id": "v", "photo": [{"file_id": "p", "width": 90, "height": 60, "file_size": 7}]}
OPTIONS = [{"text": "Tea", "voter_count": 0}, {"text": "Coffee", "voter_count": 1}]
TASKS = [{"id": 1, "text": "milk", "completion_date": 5}, {"id": 2, "text": "bread"}]


@pytest.mark.parametrize(
    ("fields", "attachment"),
    [
        (
            {"document": {"file_id": "d", "file_name": "a.pdf", "file_size": 5, "mime_type": "application/pdf"}},
            Attachment("document", "a.pdf", 5, "application/pdf", "d"),
        ),
        (
            {"document": {"file_id": "d", "file_name": "../../etc/\npasswd"}},
            Attachment("document", "../../etc/ passwd", handle="d"),
        ),
        ({"voice": {"file_id": "v", "file_size": 9}}, Attachment("voice", "", 9, "audio/ogg", "v")),
        (
            {"audio": {"file_id": "a", "performer": "Bach", "title": "Air", "mime_type": "audio/flac"}},
            Attachment("audio", media_type="audio/flac", handle="a", words="Bach, Air"),
        ),
        ({"video": {"file_id": "v", "file_name": "a.mov"}}, Attachment("video", "a.mov", None, "video/mp4", "v")),
        ({"video_note": {"file_id": "v", "length": 240}}, Attachment("video note", media_type="video/mp4", handle="v")),
        (
            {"animation": {"file_id": "a", "file_name": "a.mp4"}, "document": {"file_id": "a", "file_name": "a.mp4"}},
            Attachment("animation", "a.mp4", media_type="video/mp4", handle="a"),
        ),
        (
            {"live_photo": LIVE_PHOTO, "photo": LIVE_PHOTO["photo"]},
            Attachment("photo", "", 7, "image/jpeg", "p"),
        ),
        ({"live_photo": LIVE_PHOTO}, Attachment("photo", "", 7, "image/jpeg", "p")),
        (
            {"sticker": {"file_id": "s", "emoji": "🙂", "is_animated": False, "is_video": False}},
            Attachment("sticker", media_type="image/webp", handle="s", words="🙂"),
        ),
        ({"sticker": {"file_id": "s", "emoji": "🙂", "is_video": True}}, Attachment("sticker", words="🙂")),
        ({"location": PLACE}, Attachment("location", words="48.137154, 11.500000")),
        ({"location": PLACE | {"live_period": 60}}, Attachment("location", words="48.137154, 11.500000 (live)")),
        (
            {"venue": {"title": "Café", "address": "Main St 1", "location": PLACE}, "location": PLACE},
            Attachment("venue", words="Café, Main St 1, 48.137154, 11.500000"),
        ),
        (
            {"contact": {"first_name": "Bob", "last_name": "Bell", "phone_number": "+4989123"}},
            Attachment("contact", words="Bob Bell, +4989123"),
        ),
        ({"poll": {"question": "What?", "options": OPTIONS}}, Attachment("poll", words="What?: Tea; Coffee")),
        (
            {"checklist": {"title": "Shop", "tasks": TASKS}},
            Attachment("checklist", words="Shop: [x] milk; [ ] bread"),
        ),
        ({"dice": {"emoji": "🎲", "value": 4}}, Attachment("dice", words="🎲 4")),
        ({"game": {"title": "Chess", "description": "A game"}}, Attachment("game", words="Chess: A game")),
        ({"story": {"id": 1}}, Attachment("story")),
        ({"voice": {"file_id": 5, "mime_type": []}}, Attachment("voice", media_type="audio/ogg")),
    ],
)
def test_what_comes_with_a_message(fields: dict[str, Any], attachment: Attachment) -> None:
    event = heard(**fields)
    assert (event.attachments, event.text) == ((attachment,), "")


PHOTO = [{"file_id": "p", "width": 9, "height": 9}]


def test_forwarded_media_is_somebody_elses() -> None:
    """What a stranger says in a voice note is not said by who forwards it."""
    origin = {"type": "hidden_user", "sender_user_name": "Bob", "date": 1}
    event = heard(voice={"file_id": "v"}, caption="listen", forward_origin=origin)
    assert event.quote == Quote("Bob", "listen [voice]", forwarded=True)
    assert event.attachments == (Attachment("forwarded voice", media_type="audio/ogg", handle="v"),)
    assert heard(location=PLACE, forward_origin=origin).quote == Quote(
        "Bob", "[location 48.137154, 11.500000]", forwarded=True
    )


def test_the_files_of_a_quoted_message_can_be_fetched_too() -> None:
    """Somebody answers a photo with a question about it."""
    photo = {"message_id": 3, "from": {"id": 5, "first_name": "Bob"}, "photo": PHOTO, "caption": "my cat"}
    event = heard(text="what breed?", reply_to_message=photo)
    assert event.quote == Quote("Bob", "my cat [photo]")
    assert event.attachments == (Attachment("quoted photo", media_type="image/jpeg", handle="p"),)
    place = {"message_id": 3, "from": {"id": 5, "first_name": "Bob"}, "location": PLACE}
    event = heard(text="where?", reply_to_message=place)
    assert (event.quote, event.attachments) == (Quote("Bob", "[location 48.137154, 11.500000]"), ())


def test_what_is_quoted_from_another_chat_is_read_as_far_as_telegram_tells_it() -> None:
    external = {
        "origin": {"type": "channel", "chat": {"id": -7, "type": "channel", "title": "News"}, "date": 1},
        "document": {"file_id": "d", "file_name": "a.pdf"},
    }
    event = heard(text="true?", external_reply=external, quote={"text": "They say", "position": 0})
    assert event.quote == Quote("News", "They say [document a.pdf]")
    assert event.attachments == (Attachment("quoted document", "a.pdf", handle="d"),)


def test_a_live_location_that_moves_is_no_new_wording() -> None:
    moved = {"update_id": 9, "edited_message": message(location=PLACE | {"live_period": 60}, edit_date=1_763_000_050)}
    assert read(moved, BOT) is None


def test_messages_of_an_album_share_its_name() -> None:
    assert heard(photo=PHOTO, media_group_id="13579").album == "13579"
    assert heard(photo=PHOTO).album == ""
    edited = {"update_id": 9, "edited_message": message(photo=PHOTO, caption="better", media_group_id="13579")}
    event = read(edited, BOT)
    assert isinstance(event, InboundMessage)
    assert (event.edit, event.album, event.text) == (True, "", "better")


def test_topics_of_a_private_chat_are_answered_in_the_topic() -> None:
    opener = {"message_id": 70, "from": ALICE, "forum_topic_created": {"name": "Trip"}}
    event = heard(text="hi", message_thread_id=70, is_topic_message=True, reply_to_message=opener)
    assert (event.address, event.kind, event.quote) == (Address("telegram", "11111", "70"), ChatKind.PRIVATE, None)
    stop = {"chat": PRIVATE, "draft_id": 9, "message_thread_id": 70}
    stopped = read({"update_id": 5, "stopped_message_generation": stop}, BOT)
    assert isinstance(stopped, InboundMessage)
    assert stopped.address.thread_id == "70"
    pressed = read(
        {
            "update_id": 6,
            "callback_query": {
                "id": "1",
                "from": ALICE,
                "data": "/go",
                "message": message(message_thread_id=70, is_topic_message=True),
            },
        },
        BOT,
    )
    assert isinstance(pressed, InboundMessage)
    assert pressed.address.thread_id == "70"


def test_a_press_under_a_message_too_old_to_be_told_is_still_a_press() -> None:
    old = {"chat": PRIVATE, "message_id": 3, "date": 0}
    event = read({"update_id": 6, "callback_query": {"id": "1", "from": ALICE, "data": "/go", "message": old}}, BOT)
    assert isinstance(event, InboundMessage)
    assert (event.text, event.platform_id, event.origin) == ("/go", "3", Origin.COMMAND)


def test_rich_messages_are_read() -> None:
    blocks = [{"type": "heading", "text": "Plan"}, {"type": "paragraph", "text": ["Buy ", {"text": "milk"}]}]
    assert heard(rich_message={"blocks": blocks}).text == "Plan\nBuy milk"


@pytest.mark.parametrize(
    "fields",
    [
        {"new_chat_members": [ALICE]},
        {"pinned_message": {}},
        {"text": "mine", "from": {"id": 42, "is_bot": True, "first_name": "My Bot"}},
        {"text": "post", "chat": {"id": -5, "type": "channel", "title": "News"}},
        {"text": "admin", "chat": GROUP, "from": {"id": 1087968824, "is_bot": True}, "sender_chat": GROUP},
        {"text": "shop", "business_connection_id": "b"},
        {"text": "guest", "guest_query_id": "g"},
        {"text": "nobody", "from": None},
    ],
)
def test_what_no_person_said_to_the_bot_is_nothing(fields: dict[str, Any]) -> None:
    assert read(update(**fields), BOT) is None


def test_unknown_updates_are_nothing() -> None:
    for kind in ("business_message", "guest_message", "channel_post", "my_chat_member", "of_the_future"):
        assert read({"update_id": 1, kind: message(text="hi")}, BOT) is None


def test_bots_are_marked() -> None:
    assert heard(text="beep", **{"from": ALICE | {"is_bot": True}}).sender.is_bot


def test_both_signs_of_a_migration_are_one_event() -> None:
    group = {"id": -500, "type": "group", "title": "Friends"}
    expected = Migrated("migrated:-500:-1001", Address("telegram", "-500"), Address("telegram", "-1001"))
    assert read(update(chat=group, migrate_to_chat_id=-1001), BOT) == expected
    assert read(update(chat=GROUP, migrate_from_chat_id=-500), BOT) == expected


@pytest.mark.parametrize("field", ["migrate_to_chat_id", "migrate_from_chat_id"])
def test_only_a_group_becomes_another_chat(field: str) -> None:
    """A private chat that did would hand its person's talk to the chat with that id."""
    assert heard(text="hi", **{field: -1001}).address.chat_id == "11111"
    channel = {"id": -2001, "type": "channel", "title": "News"}
    assert read(update(chat=channel, text="hi", **{field: -1001}), BOT) is None


def test_the_stop_button_of_a_draft_is_a_command() -> None:
    event = read({"update_id": 5, "stopped_message_generation": {"chat": PRIVATE, "draft_id": 9}}, BOT)
    assert isinstance(event, InboundMessage)
    assert (event.text, event.sender.id, event.origin) == ("/stop", "11111", Origin.COMMAND)


@pytest.mark.parametrize(
    ("broken", "word"),
    [
        ({"update_id": 1, "message": {"chat": "x"}}, "chat"),
        ({"update_id": 1, "message": message(text="x", date=10**30)}, ""),
        ({"update_id": 1, "message": message(text="x", message_id="7")}, "message_id"),
        ({"message": message(text="x")}, "update_id"),
    ],
)
def test_what_cannot_be_read_is_kept(broken: dict[str, Any], word: str) -> None:
    event = read(broken, BOT)
    assert isinstance(event, UnreadableEvent)
    assert json.loads(event.raw) == broken
    assert word in event.why
    assert read(broken, BOT) == event


def test_entities_outside_the_text_lose_no_message() -> None:
    wrong = [{"type": "mention", "offset": 90, "length": 5}, {"type": "bold"}, "what", {"offset": -1, "length": 2}]
    assert heard(text="hi", entities=wrong).text == "hi"


@given(st.text(st.sampled_from(["a", "\x00", "\ud800", "\udc00", "\u202e", "🙂", "\r", " "]), max_size=50))
def test_text_can_always_be_stored(text: str) -> None:
    event = read(update(text=text), BOT)
    if isinstance(event, InboundMessage):
        assert event.text.encode().decode() == event.text
        assert "\x00" not in event.text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = [
    *("message_id", "date", "chat", "from", "text", "entities", "caption", "photo", "reply_to_message", "quote"),
    *("forward_origin", "external_reply", "message_thread_id", "is_topic_message", "rich_message", "venue"),
    *("voice", "sticker", "live_photo", "location", "contact", "poll", "checklist", "dice", "media_group_id"),
]


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4))
def test_no_update_raises(changed: dict[str, Any]) -> None:
    broken = update(text="hi") | {"message": message(text="hi") | changed}
    event = read(broken, BOT)
    assert event is None or event.id.startswith(("update:900", "migrated:"))
