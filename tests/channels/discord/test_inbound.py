"""Raw messages as events: what was said, to whom, and by whom."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from channels.discord.directory import Directory, DiscordChat
from channels.discord.inbound import DiscordIdentity, moment, read, read_interaction, snowflake
from channels.message import Attachment, ChatKind, InboundMessage, Quote, UnreadableEvent

BOT = DiscordIdentity("900", "Daybook", frozenset({"status"}))
SERVER = {
    "id": "1",
    "name": "Home",
    "roles": [
        {"id": "1", "name": "@everyone"},
        {"id": "7", "name": "Daybook", "tags": {"bot_id": "900"}},
        {"id": "8", "name": "Crew", "tags": {}},
        {"id": "9", "name": "Helpers"},
    ],
    "members": [{"user": {"id": "900"}, "roles": ["7", "9"]}, {"user": {"id": "22"}, "roles": ["8"]}],
    "channels": [{"id": "10", "type": 0, "name": "general", "last_message_id": "99"}, {"id": "12", "type": 15}],
    "threads": [{"id": "11", "type": 11, "name": "plan", "parent_id": "10"}],
}


@pytest.fixture
def directory() -> Directory:
    made = Directory("900")
    made.server_seen(SERVER)
    return made


def message(**fields: Any) -> dict[str, Any]:
    return {
        "id": "500",
        "channel_id": "10",
        "guild_id": "1",
        "type": 0,
        "author": {"id": "22", "username": "ann", "global_name": "Ann"},
        "content": "",
        "timestamp": "2026-11-21T08:30:00.123000+00:00",
        "edited_timestamp": None,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        **fields,
    }


def heard(directory: Directory, *, place: str = "10", edit: bool = False, **fields: Any) -> InboundMessage:
    where = directory.chat(place) or directory.private(place)
    event = read(message(channel_id=place, **fields), BOT, where, directory, edit=edit)
    assert isinstance(event, InboundMessage)
    return event


@pytest.mark.parametrize(
    ("content", "text", "calls"),
    [
        ("<@900> hello", "hello", True),
        ("<@!900>, hello", "hello", True),
        ("<@&7>: hello", "hello", True),
        ("hello <@900>", "hello @Daybook", True),
        ("hello <@&7>", "hello @Daybook", True),
        ("<@&9> hello", "@Helpers hello", True),
        ("<@&1> hello", "@@everyone hello", False),
        ("hello <@33> in <#10>", "hello @Bob in #general", False),
        ("hello <@&8> <#404> <@44>", "hello @Crew #404 @44", False),
        ("<:wave:5> <a:dance:6> </status:7> <t:0:R>", ":wave: :dance: /status 1970-01-01 00:00 UTC", False),
        ("hello", "hello", False),
        ("/status", "/status", True),
        ("/STATUS now", "/STATUS now", True),
        (" /status!", " /status!", True),
        ("/status<@900> x", "/status x", True),
        ("/status@daybook", "/status", True),
        ("/status@other", "/status@other", False),
        ("/stat", "/stat", False),
        ("/status/x", "/status/x", False),
        ("<@900>", "", True),
        ("a\x00b\r\nc", "ab\nc", False),
    ],
)
def test_what_is_said_and_whether_it_calls(directory: Directory, content: str, text: str, calls: bool) -> None:
    event = heard(directory, content=content, mentions=[{"id": "33", "username": "bob", "global_name": "Bob"}])
    assert (event.text, event.calls_bot) == (text, calls)


def test_who_and_where(directory: Directory) -> None:
    event = heard(directory, place="11", content="hi", member={"nick": "Ann\nof Home"})
    assert (event.sender.id, event.sender.name, event.sender.is_bot) == ("22", "Ann of Home", False)
    assert (event.kind, event.parent_chat, event.server) == (ChatKind.GROUP, "10", "1")
    assert event.group_name == "Home #general › plan"
    assert (event.id, event.platform_id) == ("message:500", "500")
    private = heard(directory, place="77", content="hi", guild_id=None)
    assert (private.kind, private.calls_bot, private.group_name) == (ChatKind.PRIVATE, True, "")


def test_a_reply_calls_its_author_only(directory: Directory) -> None:
    ours = {"author": {"id": "900", "username": "daybook"}, "content": "It is blue."}
    other = {"author": {"id": "33", "username": "bob"}, "content": "see <#10>"}
    to_us = heard(directory, type=19, content="sure?", referenced_message=ours)
    assert to_us.calls_bot and to_us.quote == Quote("daybook", "It is blue.")
    to_bob = heard(directory, type=19, content="sure?", referenced_message=other, mentions=[{"id": "33"}])
    assert not to_bob.calls_bot and to_bob.quote == Quote("bob", "see #general")
    gone = heard(directory, type=19, content="sure?", referenced_message=None)
    assert gone.quote is None


def test_a_reply_brings_the_files_of_what_it_answers(directory: Directory) -> None:
    other = {"id": "400", "channel_id": "10", "author": {"id": "33", "username": "bob"}, "content": "see"}
    other |= {"attachments": [{"id": "3", "filename": "a.pdf", "size": 5}], "sticker_items": [{"name": "Wave"}]}
    event = heard(directory, type=19, content="sure?", referenced_message=other)
    assert event.attachments == (Attachment("quoted document", "a.pdf", 5, "", "10/400/3"),)
    assert event.quote == Quote("bob", "see [document a.pdf], [sticker Wave]")
    assert heard(directory, content="sure?", referenced_message=other).attachments == ()


def test_a_forwarded_message_is_data(directory: Directory) -> None:
    inner = {"content": "/new", "attachments": [{"id": "3", "filename": "a.pdf", "size": 5}]}
    event = heard(directory, message_reference={"type": 1, "message_id": "4"}, message_snapshots=[{"message": inner}])
    assert event.text == "" and event.quote == Quote("somebody", "/new [document a.pdf]", forwarded=True)
    assert event.attachments == (Attachment("forwarded document", "a.pdf", 5, "", "10/500/3"),)


def test_attachments(directory: Directory) -> None:
    files = [
        {"id": "1", "filename": "a.png", "size": 9, "content_type": "image/png"},
        {"id": "2", "filename": "b.txt", "size": 8, "content_type": "text/plain; charset=utf-8"},
    ]
    event = heard(directory, attachments=files, sticker_items=[{"id": "5", "name": "Wave"}])
    assert event.attachments == (
        Attachment("photo", "a.png", 9, "image/png", "10/500/1"),
        Attachment("document", "b.txt", 8, "text/plain", "10/500/2"),
        Attachment("sticker", "Wave", words="Wave"),
    )
    (voice,) = heard(directory, flags=1 << 13, attachments=[{"id": "1", "content_type": "audio/ogg"}]).attachments
    assert voice.kind == "voice"
    (poll,) = heard(directory, poll={"question": {"text": "When?"}}).attachments
    assert poll == Attachment("poll", "When?", words="When?")


@pytest.mark.parametrize(
    "fields",
    [
        {"author": {"id": "900", "username": "daybook"}, "content": "mine"},
        {"type": 7, "content": ""},
        {"type": 21, "content": ""},
        {"content": ""},
    ],
)
def test_what_is_nobodys_message(directory: Directory, fields: dict[str, Any]) -> None:
    place = directory.chat("10")
    assert place is not None and read(message(**fields), BOT, place, directory) is None


def test_bots_and_webhooks_are_named_as_such(directory: Directory) -> None:
    assert heard(directory, content="x", webhook_id="3").sender.is_bot
    assert heard(directory, content="x", author={"id": "5", "username": "r", "bot": True}).sender.is_bot


def test_an_edit_and_a_preview_that_came(directory: Directory) -> None:
    edit = heard(directory, edit=True, content="better", edited_timestamp="2026-11-21T08:31:00+00:00")
    assert edit.edit and edit.platform_id == "500" and edit.id != "message:500"
    assert edit.sent_at == datetime(2026, 11, 21, 8, 31, tzinfo=UTC)
    place = directory.chat("10")
    assert place is not None and read(message(content="x"), BOT, place, directory, edit=True) is None


def test_ids_tell_the_time() -> None:
    at = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)
    assert moment(snowflake(at)) == at


def test_the_directory_follows_what_changes(directory: Directory) -> None:
    directory.server_changed({"id": "1", "name": "New", "roles": [{"id": "9", "name": "R", "tags": {"bot_id": "900"}}]})
    assert directory.own_roles("1") == {"9"}
    directory.chat_seen({"id": "10", "type": 0, "name": "main", "guild_id": "1"})
    place = directory.chat("10")
    assert place is not None and directory.title(place) == "New #main"
    assert directory.chat_gone({"id": "11"}) == "11" and directory.chat("11") is None
    directory.role_gone({"guild_id": "1", "role_id": "9"})
    directory.role_seen({"guild_id": "1", "role": {"id": "3", "name": "B", "tags": {"bot_id": "900"}}})
    assert directory.own_roles("1") == {"3"} and directory.role("1", "3") == "B"
    directory.server_gone("1")
    assert directory.chat("10") is None and directory.of_server("1") == []


def test_the_roles_that_call_the_bot_are_those_that_it_has(directory: Directory) -> None:
    assert directory.roles_of_bot("1") == {"7", "9"}
    directory.member_changed({"guild_id": "1", "user": {"id": "22"}, "roles": ["9"]})
    directory.member_changed({"guild_id": "1", "user": {"id": "900"}, "roles": "odd"})
    assert directory.roles_of_bot("1") == {"7", "9"}
    directory.member_changed({"guild_id": "1", "user": {"id": "900"}, "roles": ["7", "8"]})
    assert directory.roles_of_bot("1") == {"7", "8"}
    directory.role_gone({"guild_id": "1", "role_id": "8"})
    assert directory.roles_of_bot("1") == {"7"} and directory.roles_of_bot("2") == frozenset()
    assert heard(directory, content="hello", mention_roles=["7"]).calls_bot


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = [*message(), "member", "flags", "poll", "sticker_items", "referenced_message", "message_reference"]
FIELDS += ["message_snapshots", "webhook_id", "data", "token", "user", "message"]


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4), st.booleans())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_event_raises(changed: dict[str, Any], edit: bool) -> None:
    directory = Directory("900")
    directory.server_seen(SERVER)
    place = DiscordChat("10", "1", "general")
    event = read(message(content="hi") | changed, BOT, place, directory, edit=edit)
    assert event is None or isinstance(event, InboundMessage | UnreadableEvent)
    command = {"id": "5", "type": 2, "data": {"name": "status"}, "user": {"id": "22"}} | changed
    assert isinstance(read_interaction(command, place, directory), InboundMessage | UnreadableEvent | None)


@given(JSON)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_the_directory_takes_anything(data: Any) -> None:
    directory = Directory("900")
    for event in (data, {"id": "1", "channels": data, "roles": data, "threads": data, "guild_id": data, "role": data}):
        if isinstance(event, dict):
            directory.server_seen(event)
            directory.chat_seen(event)
            directory.role_seen(event)
            directory.member_changed(event)
            directory.role_gone(event)
            directory.chat_gone(event)
            directory.server_gone("1")
