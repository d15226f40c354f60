"""Every field that the library knows of a message is decided: read, or left out for a reason."""

from __future__ import annotations

from typing import Any

import pytest
import telegram

from channels.message import InboundMessage
from channels.telegram.inbound import TelegramIdentity, read

BOT = TelegramIdentity(42, "my_bot")
PERSON = {"id": 11111, "is_bot": False, "first_name": "Alice"}
BOB = {"id": 5, "first_name": "Bob"}
NEWS = {"id": -5, "type": "channel", "title": "News"}
PHOTO = [{"file_id": "p", "width": 9, "height": 9}]
PLACE = {"latitude": 48, "longitude": 11.5}
STORY = {"chat": NEWS, "id": 1}
OPTIONS = [
    {"text": "Tea", "voter_count": 3, "persistent_id": "a"},
    {"text": "Coffee", "voter_count": 1, "persistent_id": "b"},
]
POLL = {"question": "What?", "options": OPTIONS, "total_voter_count": 4}
QUIZ = POLL | {"is_closed": True, "correct_option_ids": [1], "description": "Think", "explanation": "It is black."}
TASKS = [{"id": 1, "text": "milk", "completion_date": 5}, {"id": 2, "text": "bread"}]
LIST = {"title": "Shop", "tasks": TASKS}
MENU = [[{"text": "Buy", "url": "https://a.org"}, {"text": "Like", "callback_data": "x"}]]
GIFT = {"gift": {"id": "1", "sticker": {"emoji": "🧸"}, "star_count": 15}, "text": "For you"}
UNIQUE = {"gift": {"base_name": "Bear", "number": 7}}
PRIZE = {"chats": [NEWS], "winners_selection_date": 1_763_000_000, "winner_count": 2, "prize_star_count": 500}
PAID = {"star_count": 9, "paid_media": [{"type": "preview"}, {"type": "video"}]}

SHOWN: dict[str, list[tuple[dict[str, Any], str]]] = {
    "text": [({"text": "seen"}, "seen")],
    "entities": [({"text": "seen", "entities": [{"type": "code", "offset": 0, "length": 4}]}, "`seen`")],
    "caption": [({"photo": PHOTO, "caption": "seen"}, "seen [photo]")],
    "caption_entities": [
        ({"caption": "seen", "caption_entities": [{"type": "code", "offset": 0, "length": 4}]}, "`seen`")
    ],
    "link_preview_options": [({"text": "a", "link_preview_options": {"url": "https://a.org"}}, "a\nhttps://a.org")],
    "reply_markup": [({"text": "a", "reply_markup": {"inline_keyboard": MENU}}, "a\n[Buy](https://a.org)")],
    "animation": [({"animation": {"file_id": "a", "file_name": "a.mp4"}}, "[animation a.mp4]")],
    "audio": [({"audio": {"file_id": "a", "performer": "Bach", "title": "Air"}}, "[audio Bach, Air]")],
    "checklist": [({"checklist": LIST}, "[checklist Shop: [x] milk; [ ] bread]")],
    "contact": [({"contact": {"first_name": "Bob", "phone_number": "+49"}}, "[contact Bob, +49]")],
    "dice": [({"dice": {"emoji": "🎲", "value": 4}}, "[dice 🎲 4]")],
    "document": [({"document": {"file_id": "d", "file_name": "a.pdf"}}, "[document a.pdf]")],
    "game": [
        ({"game": {"title": "Chess", "description": "For two", "text": "Bob: 9"}}, "[game Chess: For two - Bob: 9]")
    ],
    "gift": [({"gift": GIFT}, "[gift 🧸, 15 stars, For you]")],
    "unique_gift": [({"unique_gift": UNIQUE}, "[gift Bear #7]")],
    "giveaway": [({"giveaway": PRIZE}, "[giveaway 500 stars, 2 winners, drawn 2025-11-13 02:13 UTC]")],
    "giveaway_winners": [
        (
            {"giveaway_winners": {"prize_description": "a mug", "winner_count": 1, "winners": [BOB]}},
            "[giveaway a mug, 1 winner, Bob]",
        )
    ],
    "invoice": [
        (
            {"invoice": {"title": "Mug", "description": "Blue", "currency": "EUR", "total_amount": 1250}},
            "[invoice Mug: Blue, 12.50 EUR]",
        ),
        ({"invoice": {"title": "Mug", "currency": "JPY", "total_amount": 900}}, "[invoice Mug, 900 JPY]"),
    ],
    "live_photo": [({"live_photo": {"file_id": "v", "photo": PHOTO}}, "[photo]")],
    "location": [({"location": PLACE}, "[location 48, 11.500000]")],
    "paid_media": [({"paid_media": PAID}, "[paid media 9 stars: preview, video]")],
    "photo": [({"photo": PHOTO}, "[photo]")],
    "poll": [
        ({"poll": POLL | {"total_voter_count": 0}}, "[poll What?: Tea; Coffee]"),
        ({"poll": POLL}, "[poll What?: Tea, 3 votes; Coffee, 1 vote]"),
        ({"poll": QUIZ}, "[poll What?: Tea, 3 votes; Coffee, 1 vote, right - Think - It is black. (closed)]"),
    ],
    "sticker": [({"sticker": {"file_id": "s", "emoji": "🙂"}}, "[sticker 🙂]")],
    "story": [({"story": STORY}, "[story of News]")],
    "venue": [
        ({"venue": {"title": "Café", "address": "Main St", "location": PLACE}}, "[venue Café, Main St, 48, 11.500000]")
    ],
    "video": [({"video": {"file_id": "v", "file_name": "a.mov"}}, "[video a.mov]")],
    "video_note": [({"video_note": {"file_id": "v"}}, "[video note]")],
    "voice": [({"voice": {"file_id": "v"}}, "[voice]")],
}
"""Read in the message itself, forwarded, and answered."""

EVENTS: dict[str, tuple[dict[str, Any], str]] = {
    "checklist_tasks_added": (
        {"checklist_tasks_added": {"checklist_message": {"checklist": LIST}, "tasks": [{"id": 3, "text": "tea"}]}},
        "Shop: added: tea",
    ),
    "checklist_tasks_done": (
        {
            "checklist_tasks_done": {
                "checklist_message": {"checklist": LIST},
                "marked_as_done_task_ids": [1, 9],
                "marked_as_not_done_task_ids": [2],
            }
        },
        "Shop: done: milk; done: task 9; not done: bread",
    ),
    "poll_option_added": (
        {"poll_option_added": {"poll_message": {"poll": POLL}, "option_text": "Milk"}},
        "What?: added: Milk",
    ),
    "poll_option_deleted": ({"poll_option_deleted": {"option_text": "Milk"}}, "removed: Milk"),
}
"""Done to another message."""

ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "reply_to_message": ({"reply_to_message": {"message_id": 3, "from": BOB, "text": "seen"}}, "Bob: seen"),
    "external_reply": ({"external_reply": {"origin": {"chat": NEWS}, "story": STORY}}, "News: [story of News]"),
    "quote": (
        {"reply_to_message": {"message_id": 3, "from": BOB, "text": "Long. seen"}, "quote": {"text": "seen"}},
        "Bob: seen",
    ),
    "reply_to_story": ({"reply_to_story": STORY}, "News: [story of News]"),
    "reply_to_checklist_task_id": (
        {"reply_to_message": {"message_id": 3, "from": BOB, "checklist": LIST}, "reply_to_checklist_task_id": 2},
        "Bob: [checklist Shop: [x] milk; [ ] bread] [about: bread]",
    ),
    "reply_to_poll_option_id": (
        {
            "reply_to_message": {"message_id": 3, "from": BOB, "poll": POLL | {"total_voter_count": 0}},
            "reply_to_poll_option_id": "b",
        },
        "Bob: [poll What?: Tea; Coffee] [about: Coffee]",
    ),
}

DECIDES = {
    *("business_connection_id", "direct_messages_topic", "edit_date", "forum_topic_created", "forward_origin"),
    *("from_user", "guest_query_id", "is_topic_message", "media_group_id", "message_thread_id"),
    *("migrate_from_chat_id", "migrate_to_chat_id", "sender_business_bot", "sender_chat"),
}
"""Who writes, where, and whether to us."""

NOT_READ = {
    "who wrote, for a channel or with another's help": {"author_signature", "sender_tag", "via_bot"},
    "how it is drawn": {"effect_id", "has_media_spoiler", "show_caption_above_media"},
    "how it was sent": {"has_protected_content", "is_automatic_forward", "is_from_offline"},
    "what it cost or brought": {"boost_added", "is_paid_post", "paid_star_count", "sender_boost_count"},
    "messages of businesses and guests, which are not asked for": {"guest_bot_caller_chat", "guest_bot_caller_user"},
    "suggestions for channels": {
        f"suggested_post_{one}" for one in ("approval_failed", "approved", "declined", "info", "paid", "refunded")
    },
    "payments to bots that sell, and answers to buttons that we do not send": {
        *("successful_payment", "refunded_payment", "passport_data", "web_app_data", "users_shared", "chat_shared"),
        *("connected_website", "write_access_allowed", "managed_bot_created"),
    },
    "notices that people read elsewhere": {
        *("channel_chat_created", "chat_background_set", "chat_owner_changed", "chat_owner_left"),
        *("delete_chat_photo", "direct_message_price_changed", "forum_topic_closed", "forum_topic_edited"),
        *("forum_topic_reopened", "general_forum_topic_hidden", "general_forum_topic_unhidden", "gift_upgrade_sent"),
        *("giveaway_completed", "giveaway_created", "group_chat_created", "left_chat_member"),
        *("message_auto_delete_timer_changed", "new_chat_members", "new_chat_photo", "new_chat_title"),
        *("paid_message_price_changed", "pinned_message", "proximity_alert_triggered", "supergroup_chat_created"),
        *("video_chat_ended", "video_chat_participants_invited", "video_chat_scheduled", "video_chat_started"),
    },
}


def heard(**fields: Any) -> InboundMessage:
    private = {"id": 11111, "type": "private", "first_name": "Alice"}
    message = {"message_id": 7, "date": 1_763_000_000, "chat": private, "from": PERSON} | fields
    event = read({"update_id": 900, "message": message}, BOT)
    assert isinstance(event, InboundMessage), event
    return event


@pytest.mark.parametrize(("fields", "seen"), [one for cases in SHOWN.values() for one in cases])
def test_what_is_on_the_screen_is_read_wherever_it_stands(fields: dict[str, Any], seen: str) -> None:
    event = heard(**fields)
    assert " ".join(filter(None, [event.text, *(one.shown for one in event.attachments)])) == seen
    forwarded = heard(**fields, forward_origin={"type": "hidden_user", "sender_user_name": "Bob", "date": 1})
    assert forwarded.quote is not None and forwarded.quote.text == seen
    answered = heard(text="why?", reply_to_message={"message_id": 3, "from": BOB} | fields)
    assert answered.quote is not None and answered.quote.text == seen


@pytest.mark.parametrize("field", list(EVENTS))
def test_what_is_done_to_another_message_is_read(field: str) -> None:
    fields, seen = EVENTS[field]
    (attachment,) = heard(**fields).attachments
    assert attachment.words == seen


@pytest.mark.parametrize("field", list(ANSWERS))
def test_what_is_answered_is_read(field: str) -> None:
    fields, seen = ANSWERS[field]
    quote = heard(text="why?", **fields).quote
    assert quote is not None
    assert f"{quote.author}: {quote.text}" == seen


def test_every_field_of_a_message_is_decided() -> None:
    left_out = set().union(*NOT_READ.values())
    decided = SHOWN.keys() | EVENTS.keys() | ANSWERS.keys() | DECIDES | left_out
    assert decided == {name for name in telegram.Message.__slots__ if not name.startswith("_")}


@pytest.mark.parametrize(
    ("kind", "read_of_it", "left_out"),
    [
        (
            telegram.Poll,
            "question question_entities options total_voter_count is_closed correct_option_ids description "
            "description_entities explanation explanation_entities",
            "allows_multiple_answers allows_revoting close_date country_codes explanation_media id is_anonymous media "
            "members_only type",
        ),
        (
            telegram.PollOption,
            "text text_entities voter_count persistent_id",
            "added_by_chat added_by_user addition_date media",
        ),
        (telegram.Checklist, "title title_entities tasks", "others_can_add_tasks others_can_mark_tasks_as_done"),
        (telegram.ChecklistTask, "id text text_entities completion_date", "completed_by_chat completed_by_user"),
        (
            telegram.ChecklistTasksDone,
            "checklist_message marked_as_done_task_ids marked_as_not_done_task_ids",
            "",
        ),
        (telegram.ChecklistTasksAdded, "checklist_message tasks", ""),
        (telegram.Story, "chat id", ""),
        (telegram.TextQuote, "text entities", "is_manual position"),
        (telegram.Game, "title description text text_entities", "animation photo"),
        (telegram.Contact, "first_name last_name phone_number", "user_id vcard"),
        (telegram.Invoice, "title description currency total_amount", "start_parameter"),
        (telegram.PaidMediaInfo, "star_count paid_media", ""),
        (telegram.Dice, "emoji value", ""),
        (telegram.LinkPreviewOptions, "url", "is_disabled prefer_large_media prefer_small_media show_above_text"),
        (
            telegram.MessageEntity,
            "type offset length url user language unix_time",
            "custom_emoji_id date_time_format",
        ),
    ],
)
def test_every_field_of_what_is_read_is_decided(kind: type, read_of_it: str, left_out: str) -> None:
    slots = {name for one in kind.__mro__ for name in getattr(one, "__slots__", ()) if not name.startswith("_")}
    assert {*read_of_it.split(), *left_out.split()} == slots - {"api_kwargs"}


def test_what_a_reply_from_elsewhere_tells_is_read_like_a_message() -> None:
    read_alike = SHOWN.keys() | {"chat", "message_id", "origin", "has_media_spoiler"}
    assert {name for name in telegram.ExternalReplyInfo.__slots__ if not name.startswith("_")} <= read_alike


def test_every_kind_of_entity_is_decided() -> None:
    marked = {"blockquote", "code", "date_time", "expandable_blockquote", "pre", "spoiler", "strikethrough"}
    marked |= {"text_link", "text_mention"}
    as_written = {"cashtag", "custom_emoji", "email", "hashtag", "phone_number", "url", "bold", "italic", "underline"}
    assert marked | as_written | {"bot_command", "mention"} == {
        str(one.value) for one in telegram.MessageEntity.ALL_TYPES
    }  # type: ignore[attr-defined]
